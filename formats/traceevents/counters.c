/*
 * Counters: numbers over time. Each number of a counter's `args` is kept, 24 bytes; counters are
 * apart by process, name and id, and have a column for each name of a number.
 */

#include "formats/common/sort.h"
#include "formats/traceevents/traceevents.h"
#include "profmount/limits.h"

enum { BEFORE_FIELDS = 2 /* columns: seq, time_ns */ };

struct tev_number {
	int64_t ts;
	double value;
	uint32_t seq;
	uint16_t counter, field;
};

struct tev_counter {
	uint32_t process;
	struct pm_bytes name;
	const char *columns[BEFORE_FIELDS + PM_LIMIT_COUNTER_FIELDS];
	size_t lengths[BEFORE_FIELDS + PM_LIMIT_COUNTER_FIELDS]; /* of columns of numbers */
	bool fields[BEFORE_FIELDS + PM_LIMIT_COUNTER_FIELDS];
	uint32_t n_columns;
	const struct tev_number *numbers; /* once all are known */
	int64_t origin;
};

/* ---- while events are read ---- */

static bool has_text(const struct pm_scan_value *v)
{
	return v->kind == PM_SCAN_TEXT || v->kind == PM_SCAN_NUMBER;
}

/* NAME, or NAME[ID], as Chrome shows them. */
static struct pm_bytes name_of(
	struct tev_reading *t, const struct tev_event *e, const struct pm_scan_value *id)
{
	pm_text_clear(&t->key);
	pm_text_bytes(&t->key, pm_rec_json_text(&e->name, &t->scratch));
	if (has_text(id)) {
		pm_text_char(&t->key, '[');
		pm_text_bytes(&t->key, pm_rec_json_text(id, &t->scratch));
		pm_text_char(&t->key, ']');
	}
	return pm_rec_copy(t->r, pm_text_view(&t->key));
}

/* Its index; PM_NONE if there are too many. */
static uint32_t counter_of(struct tev_reading *t, const struct tev_event *e, uint32_t process)
{
	const struct pm_scan_value *id = has_text(&e->local_id) ? &e->local_id : &e->id;
	pm_text_clear(&t->key);
	pm_text_u64(&t->key, process);
	pm_text_char(&t->key, ' ');
	if (has_text(id)) {
		pm_text_u64(&t->key, id->text.len);
		pm_text_char(&t->key, ' ');
		pm_text_bytes(&t->key, id->text);
	}
	pm_text_char(&t->key, ' ');
	pm_text_bytes(&t->key, e->name.text);
	uint32_t i = pm_strtab_add(&t->counter_keys, pm_text_view(&t->key));
	if (i >= PM_LIMIT_COUNTERS)
		return PM_NONE;
	if (i == t->n_counters) {
		struct tev_counter *c = pm_rec_keep(t->r, &t->arena, sizeof(*c));
		pm_items_grow(&t->arena, &t->counters, i, &t->counter_room, sizeof(*t->counters));
		*c = (struct tev_counter){.process = process,
			.name = name_of(t, e, id),
			.columns = {"seq", "time_ns"},
			.n_columns = BEFORE_FIELDS};
		t->counters[t->n_counters++] = c;
	}
	return i;
}

/* The column of a number; 0 if there are too many, or it can be called nothing. */
static uint32_t column_of(struct tev_reading *t, struct tev_counter *c, struct pm_bytes key)
{
	struct pm_scan_value v = {.kind = PM_SCAN_TEXT, .text = key};
	v.escaped = key.len && memchr(key.p, '\\', key.len);
	key = pm_rec_json_text(&v, &t->scratch);
	uint32_t i = BEFORE_FIELDS;
	while (i < c->n_columns &&
		(c->lengths[i] != key.len ||
			(key.len && memcmp(c->columns[i], key.p, key.len) != 0)))
		i++;
	if (i < c->n_columns)
		return i;
	if (i == BEFORE_FIELDS + PM_LIMIT_COUNTER_FIELDS ||
		(key.len && memchr(key.p, '\0', key.len))) {
		t->n_columnless++;
		return 0;
	}
	char *name = pm_rec_keep(t->r, &t->arena, key.len + 1);
	if (key.len)
		memcpy(name, key.p, key.len);
	c->columns[i] = name;
	c->lengths[i] = key.len;
	c->fields[i] = true;
	c->n_columns = i + 1;
	return i;
}

void tev_count(struct tev_reading *t, const struct tev_event *e, uint32_t process)
{
	struct pm_scan s = pm_scan_of(e->args.text);
	struct pm_scan_value v;
	struct pm_bytes key;
	int64_t whole;
	if (e->args.kind != PM_SCAN_OBJECT || e->args.too_long)
		return;
	uint32_t counter = counter_of(t, e, process);
	if (counter == PM_NONE)
		return;
	pm_scan_enter(&s);
	while (pm_scan_key(&s, &key)) {
		/* Some writers put numbers into quotes. */
		if (pm_scan_value(&s, &v) != PM_SCAN_NUMBER &&
			(v.kind != PM_SCAN_TEXT ||
				pm_scan_decimal(v.text, 0, &whole) == PM_DECIMAL_NONE))
			continue;
		uint32_t column = column_of(t, t->counters[counter], key);
		if (column == 0)
			continue;
		pm_items_grow(
			&t->arena, &t->numbers, t->n_numbers, &t->number_room, sizeof(*t->numbers));
		t->numbers[t->n_numbers++] = (struct tev_number){.ts = e->ts,
			.value = pm_scan_double(v.text),
			.seq = t->n_events,
			.counter = (uint16_t)counter,
			.field = (uint16_t)column};
	}
}

/* ---- the series ---- */

/* A row is what one event says; a position is that of its first number. */
static int next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct tev_counter *c = rows->table->self;
	(void)err;
	if (rows->at >= rows->table->end)
		return 0;
	const struct tev_number *first = &c->numbers[rows->at];
	for (uint32_t i = BEFORE_FIELDS; i < c->n_columns; i++)
		cells[i] = pm_cell_empty();
	cells[0] = pm_cell_u64(first->seq);
	cells[1] = pm_cell_u64((uint64_t)first->ts - (uint64_t)c->origin);
	rows->row = rows->at;
	for (const struct tev_number *n = first;
		rows->at < rows->table->end && n->seq == first->seq; n++, rows->at++)
		cells[n->field] = pm_cell_f64(n->value);
	return 1;
}

static int by_counter(const void *a, const void *b)
{
	const struct tev_number *x = a, *y = b;
	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* NAME, or NAME (PROCESS) where there are several processes with counters. */
static struct pm_bytes series_name(struct tev_reading *t, const struct tev_counter *c, bool several)
{
	const struct tev_process *p = &t->processes[c->process];
	struct pm_bytes process = p->name.len ? p->name : p->text;
	if (!several)
		return c->name;
	pm_text_clear(&t->scratch);
	pm_text_bytes(&t->scratch, c->name);
	pm_text_str(&t->scratch, " (");
	pm_text_bytes(&t->scratch, process);
	if (!p->is_text)
		pm_text_printf(
			&t->scratch, "%s%lld", process.len ? " " : "process ", (long long)p->pid);
	pm_text_char(&t->scratch, ')');
	return pm_rec_copy(t->r, pm_text_view(&t->scratch));
}

void tev_counter_series(struct tev_reading *t)
{
	static const struct pm_table_type type = {.next = next};
	struct tev_number *numbers = pm_rec_keep(t->r, &t->arena, t->n_numbers * sizeof(*numbers));
	bool several = false;
	if (t->counter_keys.n > PM_LIMIT_COUNTERS)
		pm_rec_remark(t->r,
			"Of %u counters, those after the first %u are in raw/counters.csv alone.",
			t->counter_keys.n, PM_LIMIT_COUNTERS);
	if (t->n_columnless)
		pm_rec_remark(t->r,
			"%llu numbers of counters are in raw/counters.csv alone: a counter has %d "
			"columns at most.",
			(unsigned long long)t->n_columnless, PM_LIMIT_COUNTER_FIELDS);
	if (t->n_numbers == 0)
		return;
	pm_build_check(&t->arena, pm_sort(t->numbers, t->n_numbers, sizeof(*numbers), by_counter));
	memcpy(numbers, t->numbers, t->n_numbers * sizeof(*numbers));
	for (size_t i = 1; i < t->n_counters; i++)
		several |= t->counters[i]->process != t->counters[0]->process;
	for (size_t first = 0, end; first < t->n_numbers; first = end) {
		pm_rec_proceed(t->r, &t->arena);
		struct tev_counter *c = t->counters[numbers[first].counter];
		uint64_t rows = 0;
		for (end = first;
			end < t->n_numbers && numbers[end].counter == numbers[first].counter; end++)
			rows += end == first || numbers[end].seq != numbers[end - 1].seq;
		c->numbers = &numbers[first];
		c->origin = t->origin;
		pm_rec_series(t->r,
			&(struct pm_series){.kind = PM_SERIES_COUNTER,
				.name = series_name(t, c, several),
				.table = {.type = &type,
					.columns = c->columns,
					.n_columns = c->n_columns,
					.self = c,
					.end = end - first},
				.n = rows,
				.seq = 0,
				.time = 1,
				.fields = c->fields});
	}
}
