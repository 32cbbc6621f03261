/*
 * profile.db, cct.db (its transpose, without the summary) and trace.db.
 */
#include "tests/hpctoolkit/writer_private.h"

static bool is_first(const struct hpctkw_database *w)
{
	return w->style.generation == HPCTKW_FIRST;
}

/* The head of a file's first section, `gap` bytes, and the table; the offset of its rows. */
static size_t write_table(struct out *o, size_t n, size_t size, size_t gap)
{
	size_t head = out_room(o, 0x10 + gap);
	size_t rows = out_room(o, n * size);
	out_set(o, head + 0x00, 8, rows);
	out_set(o, head + 0x08, 4, n);
	out_set(o, head + 0x0c, 1, size);
	hpctkw_end_section(o, 0, head);
	return rows;
}

static int compare_in_profile(const void *a, const void *b)
{
	const struct value *x = a, *y = b;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

static int compare_in_cct(const void *a, const void *b)
{
	const struct value *x = a, *y = b;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return (x->profile > y->profile) - (x->profile < y->profile);
}

/* How a block's numbers are laid out: sizes of keys in its values and in its index. */
struct shape {
	unsigned value_key, index_key;
	bool of_context; /* the index is by metric, values are by profile */
};

static uint32_t index_key(const struct shape *s, const struct value *v)
{
	return s->of_context ? v->metric : v->context;
}

/* Values, then index, at the end; the description of the block goes to `at`. */
static void write_block(
	struct out *o, size_t at, const struct shape *s, const struct value *values, size_t n)
{
	size_t value_size = s->value_key + 8, index_size = s->index_key + 8, n_index = 0;
	out_align(o, 2);
	size_t values_at = out_room(o, n * value_size);
	out_align(o, 4);
	size_t index_at = o->n;
	for (size_t i = 0; i < n; i++) {
		size_t value = values_at + i * value_size;
		out_set(o, value, s->value_key,
			s->of_context ? values[i].profile : values[i].metric);
		out_set_f64(o, value + s->value_key, values[i].value);
		if (i > 0 && index_key(s, &values[i]) == index_key(s, &values[i - 1]))
			continue;
		size_t entry = out_room(o, index_size);
		out_set(o, entry, s->index_key, index_key(s, &values[i]));
		out_set(o, entry + s->index_key, 8, i);
		n_index++;
	}
	out_set(o, at + 0x00, 8, n);
	out_set(o, at + 0x08, 8, values_at);
	out_set(o, at + 0x10, s->of_context ? 2 : 4, n_index);
	out_set(o, at + 0x18, 8, index_at);
}

/* Where the description of a block goes: into the row, or behind a pointer from it. */
static size_t block_place(const struct hpctkw_database *w, struct out *o, size_t row)
{
	if (!is_first(w))
		return row;
	out_align(o, 8);
	size_t at = out_room(o, 0x20);
	out_set(o, row, 8, at);
	return at;
}

static size_t write_tuple(const struct hpctkw_database *w, struct out *o, const struct profile *p)
{
	size_t skip = is_first(w) ? 2 : 8;
	out_align(o, 8);
	size_t at = out_room(o, skip + p->ids.n * 0x10);
	out_set(o, at, 2, p->ids.n);
	for (size_t i = 0; i < p->ids.n; i++) {
		const struct identity *id = &p->ids.items[i];
		size_t to = at + skip + i * 0x10;
		if (is_first(w)) {
			out_set(o, to, 2, id->kind | (id->real ? 0u : 3u << 14));
		} else {
			out_set(o, to, 1, id->kind);
			out_set(o, to + 0x02, 2, (id->real ? 1u : 0u) | o->garbage << 8);
		}
		out_set(o, to + 0x04, 4, id->logical);
		out_set(o, to + 0x08, 8, id->physical);
	}
	return at;
}

void hpctkw_write_profile(const struct hpctkw_database *w, struct out *o)
{
	static const size_t sizes[] = {
		[HPCTKW_FIRST] = 0x10,
		[HPCTKW_APRIL] = 0x28,
		[HPCTKW_JUNE] = 0x28,
		[HPCTKW_RELEASED] = 0x30,
	};
	const struct shape shape = {.value_key = 2, .index_key = 4, .of_context = false};
	bool widened = w->style.generation == HPCTKW_RELEASED;
	size_t size = sizes[w->style.generation] + (widened ? w->style.wider : 0u);
	hpctkw_write_header(o, "prof", 2);
	size_t rows = write_table(o, w->profiles.n, size, 0);
	size_t tuples = o->n;
	for (size_t i = 0; i < w->profiles.n; i++) {
		const struct profile *p = &w->profiles.items[i];
		size_t tuple = p->ids.n ? write_tuple(w, o, p) : 0;
		out_set(o, rows + i * size + (is_first(w) ? 0x08 : 0x20), 8, tuple);
		if (widened)
			out_set(o, rows + i * size + 0x28, 4, i == 0);
	}
	hpctkw_end_section(o, 1, tuples);
	for (size_t i = 0; i < w->profiles.n; i++) {
		const struct profile *p = &w->profiles.items[i];
		if (p->values.n)
			qsort(p->values.items, p->values.n, sizeof(*p->values.items),
				compare_in_profile);
		write_block(o, block_place(w, o, rows + i * size), &shape, p->values.items,
			p->values.n);
	}
	memcpy(o->p + out_room(o, 8), "_prof.db", 8);
}

void hpctkw_write_cct(const struct hpctkw_database *w, struct out *o)
{
	struct shape shape = {.value_key = 4, .index_key = 2, .of_context = true};
	if (is_first(w))
		shape = (struct shape){.value_key = 2, .index_key = 4, .of_context = true};
	size_t size = (is_first(w) ? 8u : 0x20u) + w->style.wider, n = 0, n_contexts = 1;
	struct value *all = NULL;
	for (uint32_t p = 1; p < w->profiles.n; p++)
		for (size_t i = 0; i < w->profiles.items[p].values.n; i++) {
			all = hpctkw_grow(all, n, sizeof(*all));
			all[n] = w->profiles.items[p].values.items[i];
			all[n++].profile = p;
		}
	if (n)
		qsort(all, n, sizeof(*all), compare_in_cct);
	for (size_t i = 0; i < w->contexts.n; i++)
		if (w->contexts.items[i].id >= n_contexts)
			n_contexts = (size_t)w->contexts.items[i].id + 1;
	if (n && all[n - 1].context >= n_contexts)
		n_contexts = (size_t)all[n - 1].context + 1;
	hpctkw_write_header(o, "ctxt", 1);
	out_align(o, 0x10);
	size_t rows = write_table(o, n_contexts, size, 0);
	for (size_t c = 0, i = 0; c < n_contexts; c++) {
		size_t first = i;
		while (i < n && all[i].context == c)
			i++;
		write_block(o, block_place(w, o, rows + c * size), &shape, all ? all + first : NULL,
			i - first);
	}
	memcpy(o->p + out_room(o, 8), "__ctx.db", 8);
	free(all);
}

static void write_line(struct out *o, size_t row, uint32_t profile, const struct profile *p)
{
	out_set(o, row + 0x00, 4, profile);
	out_set(o, row + 0x08, 8, o->n);
	for (size_t i = 0; i < p->samples.n; i++) {
		size_t at = out_room(o, 0x0c);
		out_set(o, at + 0x00, 8, p->samples.items[i].time_ns);
		out_set(o, at + 0x08, 4, p->samples.items[i].context);
	}
	out_set(o, row + 0x10, 8, o->n);
}

void hpctkw_write_trace(const struct hpctkw_database *w, struct out *o)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t n = 0, row, size = 0x18 + w->style.wider;
	for (size_t i = 0; i < w->profiles.n; i++) {
		const struct profile *p = &w->profiles.items[i];
		n += p->has_trace;
		for (size_t k = 0; k < p->samples.n; k++) {
			uint64_t time = p->samples.items[k].time_ns;
			first = time < first ? time : first;
			last = time > last ? time : last;
		}
	}
	if (n == 0)
		return;
	hpctkw_write_header(o, "trce", 1);
	size_t head = o->n;
	row = write_table(o, n, size, is_first(w) ? 0 : 0x10);
	if (!is_first(w)) {
		out_set(o, head + 0x10, 8, first);
		out_set(o, head + 0x18, 8, last);
	}
	for (uint32_t i = 0; i < w->profiles.n; i++)
		if (w->profiles.items[i].has_trace) {
			write_line(o, row, i, &w->profiles.items[i]);
			row += size;
		}
	if (!is_first(w))
		memcpy(o->p + out_room(o, 8), "trace.db", 8);
}
