/*
 * Sheets: the columns in which the events of each class version are shown, and which of them are
 * time series. Names come from the traced program: a number is appended to one that is taken.
 */
#include "formats/htdump/htdump.h"

#include "formats/common/list.h"

static const char *const own_columns[] = {"seq", "timestamp", "id", "time_ns"};
enum { N_OWN = 4 };

/* Names of one sheet, and how often each has been asked for. */
struct taken {
	struct pm_strtab names;
	uint32_t *times;
	size_t room;
};

/* How often the name has been taken. */
static uint32_t take(struct taken *t, struct pm_bytes name)
{
	uint32_t known = t->names.n, i = pm_strtab_add(&t->names, name);
	pm_list_grow(t->names.home, &t->times, i, &t->room, sizeof(*t->times));
	if (i == known)
		t->times[i] = 0;
	return ++t->times[i];
}

/* `name`, or `name_2` and so on, as a string. */
static const char *column_name(struct pm_arena *a, struct taken *t, struct pm_bytes name)
{
	const char *p = pm_arena_printf(a, "%.*s", (int)name.len, (const char *)name.p);
	for (uint32_t n = take(t, name); n > 1; n = take(t, name)) {
		p = pm_arena_printf(a, "%.*s_%u", (int)name.len, (const char *)name.p, n);
		if (pm_strtab_find(&t->names, pm_bytes_of(p)) == PM_NONE) {
			take(t, pm_bytes_of(p));
			break;
		}
	}
	return p;
}

static bool is_last(const struct htd_flat *f)
{
	return f->kind == HTD_KIND_TEXT || f->kind == HTD_KIND_ARRAY;
}

static char type_letter(const struct htd_flat *f)
{
	switch ((enum htd_kind)f->kind) {
	case HTD_KIND_UNSIGNED:
	case HTD_KIND_SIGNED: return 'i';
	case HTD_KIND_REAL: return 'f';
	case HTD_KIND_POINTER:
	case HTD_KIND_TEXT:
	case HTD_KIND_ARRAY: break;
	}
	return 't';
}

static void sheet_fill(
	struct pm_arena *a, const struct htd_klass *k, struct htd_sheet *sheet, struct taken *taken)
{
	const char **columns = pm_arena_array(a, k->n_columns + N_OWN, sizeof(*columns));
	char *types = pm_arena_array(a, k->n_columns + N_OWN + 1, 1);
	uint32_t n = N_OWN;
	sheet->cell = pm_arena_array(a, k->n_columns, sizeof(*sheet->cell));
	for (uint32_t i = 0; i < N_OWN; i++) {
		columns[i] = own_columns[i];
		types[i] = 'i';
		take(taken, pm_bytes_of(own_columns[i]));
	}
	for (uint32_t i = 0; i < k->n_columns; i++)
		n += !is_last(k->columns[i].field);
	for (uint32_t i = 0, number = N_OWN; i < k->n_columns; i++) {
		const struct htd_flat *f = k->columns[i].field;
		sheet->cell[i] = is_last(f) ? n++ : number++;
		types[sheet->cell[i]] = type_letter(f);
		columns[sheet->cell[i]] = column_name(a, taken, f->name);
	}
	sheet->columns = columns;
	sheet->types = types;
	sheet->n_columns = k->n_columns + N_OWN;
}

bool htd_is_own_class(const struct htd_klass *k)
{
	static const char *const library[] = {"Event", "CallstackBaseEvent", "CallstackIntEvent",
		"CallstackStringEvent", "SystemInfoEvent", "StringMappingEvent"};
	for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); i++)
		if (pm_bytes_equal(htd_bare(k->name), pm_bytes_of(library[i])))
			return false;
	return !k->fixed;
}

bool htd_is_call_class(const struct htd_klass *k)
{
	bool duration = false, thread = false;
	for (uint32_t i = 0; i < k->n_columns; i++) {
		struct pm_bytes name = k->columns[i].field->name;
		duration = duration || pm_bytes_equal(name, pm_bytes_of("duration"));
		thread = thread || pm_bytes_equal(name, pm_bytes_of("thread_id"));
	}
	return duration && thread;
}

/* Of classes of the traced program, numbers are values over time. */
static void counters_add(struct pm_arena *a, struct htd_opened *src, uint32_t klass)
{
	const struct htd_klass *k = &src->stream.table.klasses[klass];
	if (!htd_is_own_class(k) || k->events.n_events == 0 || htd_is_call_class(k))
		return;
	for (uint32_t i = 0; i < k->n_columns; i++) {
		if (!htd_is_number(k->columns[i].field))
			continue;
		pm_list_grow(a, &src->counters, src->n_counters, &src->counter_room,
			sizeof(*src->counters));
		src->counters[src->n_counters++] = (struct htd_counter){klass, i};
	}
}

static void orders_done(void *opened)
{
	const struct htd_opened *src = opened;
	for (size_t i = 0; i < src->stream.table.n_klasses; i++)
		pm_part_done(&src->sheets[i].order);
}

void htd_sheets_init(struct pm_arena *a, struct htd_opened *src)
{
	const struct htd_table *t = &src->stream.table;
	struct pm_arena *scratch = pm_arena_scratch(a), *of_sheet = pm_arena_scratch(a);
	struct taken names = {.names.home = scratch};
	src->sheets = pm_arena_array(a, t->n_klasses, sizeof(*src->sheets));
	src->counters = NULL;
	src->n_counters = src->counter_room = 0;
	pm_arena_owns(a, orders_done, src);
	for (uint32_t i = 0; i < t->n_klasses; i++) {
		struct taken taken = {.names.home = of_sheet};
		src->sheets[i].nth = take(&names, t->klasses[i].name);
		sheet_fill(a, &t->klasses[i], &src->sheets[i], &taken);
		counters_add(a, src, i);
		pm_arena_done(of_sheet);
	}
	pm_arena_done(scratch);
}

struct pm_cell htd_data_type_cell(uint8_t data_type)
{
	switch (data_type) {
	case HTD_STRUCT: return pm_cell_str("STRUCT");
	case HTD_STRING: return pm_cell_str("STRING");
	case HTD_INTEGER: return pm_cell_str("INTEGER");
	case HTD_FLOAT: return pm_cell_str("FLOAT");
	case HTD_DOUBLE: return pm_cell_str("DOUBLE");
	case HTD_POINTER: return pm_cell_str("POINTER");
	case HTD_UNSIGNED: return pm_cell_str("UNSIGNED_INTEGER");
	default: return pm_cell_u64(data_type);
	}
}
