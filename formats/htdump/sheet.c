/*
 * Sheets: the columns in which the events of each class version are shown, and which of them are
 * time series. Names come from the traced program: a number is appended to one that is taken.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"

static const char *const own_columns[] = {"seq", "timestamp", "id", "time_ns"};
enum { N_OWN = 4 };

/* Names of one sheet, and the number to try for the next field with that name. */
struct taken {
	struct pm_strtab names;
	uint32_t *next;
	size_t n_next, room;
};

static int taken_add(struct taken *t, struct pm_bytes name, uint32_t *ret_index, bool *ret_fresh)
{
	uint32_t before = t->names.n;
	*ret_index = pm_strtab_add(&t->names, name);
	*ret_fresh = t->names.n > before;
	if (*ret_index == PM_NONE)
		return -ENOMEM;
	if (!*ret_fresh)
		return 0;
	if (pm_list_room(&t->next, t->n_next, &t->room, sizeof(*t->next)) < 0)
		return -ENOMEM;
	t->next[t->n_next++] = 2;
	return 0;
}

/* `name`, or `name_2` and so on, as a string. */
static const char *column_name(struct htd_opened *src, struct taken *t, struct pm_bytes name)
{
	uint32_t first, other;
	bool fresh;
	const char *p = pm_arena_printf(&src->arena, "%.*s", (int)name.len, (const char *)name.p);
	if (taken_add(t, name, &first, &fresh) < 0)
		return NULL;
	while (p && !fresh) {
		p = pm_arena_printf(&src->arena, "%.*s_%u", (int)name.len, (const char *)name.p,
			t->next[first]++);
		if (p && taken_add(t, pm_bytes_of(p), &other, &fresh) < 0)
			return NULL;
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

static int sheet_fill(struct htd_opened *src, const struct htd_klass *k, struct htd_sheet *sheet,
	struct taken *taken)
{
	const char **columns = pm_arena_array(&src->arena, k->n_columns + N_OWN, sizeof(*columns));
	char *types = pm_arena_array(&src->arena, k->n_columns + N_OWN + 1, 1);
	uint32_t n = N_OWN, unused;
	bool fresh;
	sheet->cell = pm_arena_array(&src->arena, k->n_columns + 1, sizeof(*sheet->cell));
	if (!columns || !types || !sheet->cell)
		return -ENOMEM;
	for (uint32_t i = 0; i < N_OWN; i++) {
		columns[i] = own_columns[i];
		types[i] = 'i';
		if (taken_add(taken, pm_bytes_of(own_columns[i]), &unused, &fresh) < 0)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < k->n_columns; i++)
		n += !is_last(k->columns[i].field);
	for (uint32_t i = 0, number = N_OWN; i < k->n_columns; i++) {
		const struct htd_flat *f = k->columns[i].field;
		sheet->cell[i] = is_last(f) ? n++ : number++;
		types[sheet->cell[i]] = type_letter(f);
		columns[sheet->cell[i]] = column_name(src, taken, f->name);
		if (!columns[sheet->cell[i]])
			return -ENOMEM;
	}
	sheet->columns = columns;
	sheet->types = types;
	sheet->n_columns = k->n_columns + N_OWN;
	return 0;
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

/* Whether it is a class of the traced program with values over time. */
static bool has_counters(const struct htd_klass *k)
{
	return htd_is_own_class(k) && k->events.n_events > 0 && !htd_is_call_class(k);
}

static int counters_add(struct htd_opened *src, uint32_t klass)
{
	const struct htd_klass *k = &src->stream.table.klasses[klass];
	for (uint32_t i = 0; has_counters(k) && i < k->n_columns; i++) {
		if (!htd_is_number(k->columns[i].field))
			continue;
		if (pm_list_room(&src->counters, src->n_counters, &src->counter_room,
			    sizeof(*src->counters)) < 0)
			return -ENOMEM;
		src->counters[src->n_counters++] = (struct htd_counter){klass, i};
	}
	return 0;
}

int htd_sheets_init(struct htd_opened *src)
{
	const struct htd_table *t = &src->stream.table;
	struct taken names = {.next = NULL};
	int r = 0;
	src->sheets = calloc(t->n_klasses + 1, sizeof(*src->sheets));
	if (!src->sheets)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < t->n_klasses; i++) {
		struct taken taken = {.next = NULL};
		struct htd_sheet *sheet = &src->sheets[i];
		uint32_t index;
		bool fresh;
		*sheet = (struct htd_sheet){.nth = 1};
		r = taken_add(&names, t->klasses[i].name, &index, &fresh);
		if (r == 0 && !fresh)
			sheet->nth = names.next[index]++;
		if (r == 0)
			r = sheet_fill(src, &t->klasses[i], sheet, &taken);
		if (r == 0)
			r = counters_add(src, i);
		pm_strtab_done(&taken.names);
		free(taken.next);
	}
	pm_strtab_done(&names.names);
	free(names.next);
	return r;
}

void htd_sheets_done(struct htd_opened *src)
{
	for (size_t i = 0; src->sheets && i < src->stream.table.n_klasses; i++)
		htd_order_done(&src->sheets[i].order);
	free(src->sheets);
	free(src->counters);
	src->sheets = NULL;
	src->counters = NULL;
	src->n_counters = src->counter_room = 0;
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
