/*
 * A trace by column: samples are read in batches, and each requested column takes its cells from a
 * batch. The cells are the same as in the rows of trace.c, but empty where int64 cannot hold them.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/common/work.h"
#include "fs/views/model/categories.h"
#include "fs/views/sums/threads.h"
#include "fs/views/sums/tracelength.h"
#include "fs/views/tables/tracefacts.h"

enum { BATCH = 512 };

struct reading {
	struct pmfs_trace_contexts contexts;
	uint64_t origin;
	size_t n;               /* samples in the batch */
	uint32_t places[BATCH]; /* where the tree has their contexts, or PM_NONE */
	struct pm_sample batch[BATCH];
};

/* An unsigned integer of a strip, which is empty if int64 cannot hold it. */
static inline void set(struct pm_strip *s, size_t i, uint64_t value, bool known)
{
	s->values[i] = (int64_t)value;
	s->known[i] = known && value <= INT64_MAX;
}

static inline void set_signed(struct pm_strip *s, size_t i, uint64_t value, bool known)
{
	s->values[i] = (int64_t)value;
	s->known[i] = known;
}

/* ---- columns ---- */

static void add_times(struct reading *b, struct pm_strip *s)
{
	for (size_t i = 0; i < b->n; i++) {
		uint64_t time = b->batch[i].time_ns;
		bool known = pmfs_is_time(time, b->origin);
		if (time < b->origin)
			set_signed(s, i, time - b->origin, known);
		else
			set(s, i, time - b->origin, known);
	}
}

static void add_durations(struct reading *b, struct pm_strip *s)
{
	for (size_t i = 0; i < b->n; i++)
		set(s, i, b->batch[i].duration_ns, b->batch[i].duration_ns != PM_NO_TIME);
}

static void add_timestamps(struct reading *b, struct pm_strip *s)
{
	for (size_t i = 0; i < b->n; i++)
		set(s, i, b->batch[i].time_ns, true);
}

static void add_contexts(struct reading *b, struct pm_strip *s)
{
	for (size_t i = 0; i < b->n; i++) {
		uint64_t number = b->batch[i].context;
		set(s, i, number, b->places[i] != PM_NONE || number == 0);
	}
}

static void add_categories(struct reading *b, struct pm_strip *s)
{
	const uint8_t *categories = b->contexts.categories;
	for (size_t i = 0; i < b->n; i++)
		set_signed(s, i, pmfs_category_of(categories, b->places[i], b->batch[i].context),
			true);
}

/* A column whose cells are looked up by context. */
static void add_of_context(
	const struct reading *b, const uint32_t *array, uint32_t mask, struct pm_strip *s)
{
	for (size_t i = 0; i < b->n; i++) {
		bool known = b->places[i] != PM_NONE;
		set_signed(s, i, known ? array[b->places[i]] & mask : 0, known);
	}
}

static void add_self(struct reading *b, struct pm_strip *s)
{
	for (size_t i = 0; i < b->n; i++)
		set_signed(s, i, b->batch[i].self_ns, b->batch[i].self_ns != PM_NO_SELF);
}

static void add_numbers(struct reading *b, struct pm_strip *s)
{
	for (size_t i = 0; i < b->n; i++)
		set(s, i, b->batch[i].seq, true);
}

/* ---- batches ---- */

void pmfs_strips_advance(struct pm_strip *strips, uint32_t n_columns, uint64_t n)
{
	for (uint32_t c = 0; c < n_columns; c++)
		if (strips[c].values)
			strips[c] = (struct pm_strip){strips[c].values + n, strips[c].known + n};
}

/* Looks up the context of a sample unless it is that of the previous one, which is common. */
static void find_places(struct reading *b)
{
	uint64_t number = 0;
	uint32_t place = PM_NONE;
	for (size_t i = 0; i < b->n; i++) {
		if (b->batch[i].context != number) {
			number = b->batch[i].context;
			place = pm_tree_find_sample(b->contexts.tree, number);
		}
		b->places[i] = place;
	}
}

static void add_calls(struct reading *b, struct pm_strip *strips)
{
	if (strips[PMFS_TRACE_SELF].values)
		add_self(b, &strips[PMFS_TRACE_SELF]);
	if (strips[PMFS_TRACE_SEQ].values)
		add_numbers(b, &strips[PMFS_TRACE_SEQ]);
}

static void add_batch(struct reading *b, uint32_t category, struct pm_strip *strips)
{
	const uint32_t *function_of = b->contexts.identity->of;
	const struct pm_tree *tree = b->contexts.tree;
	if (strips[PMFS_TRACE_TIME].values)
		add_times(b, &strips[PMFS_TRACE_TIME]);
	if (strips[PMFS_TRACE_DURATION].values)
		add_durations(b, &strips[PMFS_TRACE_DURATION]);
	if (strips[PMFS_TRACE_TIMESTAMP].values)
		add_timestamps(b, &strips[PMFS_TRACE_TIMESTAMP]);
	if (strips[PMFS_TRACE_CONTEXT].values)
		add_contexts(b, &strips[PMFS_TRACE_CONTEXT]);
	if (strips[PMFS_TRACE_DEPTH].values)
		add_of_context(b, tree->depth, UINT32_MAX, &strips[PMFS_TRACE_DEPTH]);
	if (category == PMFS_TRACE_CALL_CATEGORY)
		add_calls(b, strips);
	if (strips[category].values)
		add_categories(b, &strips[category]);
	if (strips[category + 1].values)
		add_of_context(b, function_of, ~PMFS_OF_FLAGS, &strips[category + 1]);
	if (strips[category + 2].values)
		add_of_context(b, tree->frame, UINT32_MAX, &strips[category + 2]);
}

static bool needs_places(const struct pm_strip *strips, uint32_t category)
{
	return strips[PMFS_TRACE_CONTEXT].values || strips[PMFS_TRACE_DEPTH].values ||
		strips[category].values || strips[category + 1].values ||
		strips[category + 2].values;
}

/* Rows of a thread's trace. */
struct wanted {
	uint32_t thread;
	uint64_t from, to;
	bool in_full; /* a row that cannot be read is an error, else it is empty */
};

/* Adds the rows from w->from on, and moves it behind those that could be read. */
static int add_all(struct reading *b, struct pmfs_model *m, struct wanted *w,
	struct pm_strip *strips, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	uint32_t category = pmfs_trace_category(m);
	bool places = needs_places(strips, category);
	while (w->from < w->to) {
		size_t room = w->to - w->from < BATCH ? (size_t)(w->to - w->from) : BATCH;
		if (pm_work_cancelled())
			return pm_error_plain(err, -ENOMEM);
		int64_t n = p->ops->samples(p, w->thread, w->from, b->batch, room, err);
		if (n < 0)
			return (int)n;
		if (n == 0)
			return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET,
				"a trace ends before its last sample");
		b->n = (size_t)n;
		if (places)
			find_places(b);
		add_batch(b, category, strips);
		pmfs_strips_advance(strips, category + 3, (uint64_t)n);
		w->from += (uint64_t)n;
	}
	return 0;
}

static void add_empty(struct pm_strip *strips, uint32_t n_columns, uint64_t n)
{
	for (uint32_t c = 0; c < n_columns; c++) {
		if (!strips[c].values)
			continue;
		memset(strips[c].values, 0, (size_t)n * sizeof(*strips[c].values));
		memset(strips[c].known, 0, (size_t)n);
	}
}

static int add_rows(struct reading *b, struct pmfs_model *m, struct wanted *w,
	struct pm_strip *strips, struct pm_error *err)
{
	struct pm_error error = {.offset = PM_NO_OFFSET};
	int r = add_all(b, m, w, strips, &error);
	if (!w->in_full && pmfs_is_unreadable(r)) {
		add_empty(strips, pmfs_trace_category(m) + 3, w->to - w->from);
		return 0;
	}
	if (r < 0 && err && !err->code)
		*err = error;
	return r;
}

static int make_strips(
	struct pmfs_model *m, struct wanted *w, const struct pm_strip *strips, struct pm_error *err)
{
	struct pm_strip rest[PMFS_TRACE_MOST_COLUMNS];
	struct reading *b = malloc(sizeof(*b));
	if (!b)
		return pmfs_no_memory(err);
	memcpy(rest, strips, (pmfs_trace_category(m) + 3) * sizeof(*rest));
	int r = pmfs_trace_contexts(m, &b->contexts, err);
	if (r == 0)
		r = pmfs_time_origin(m, &b->origin, err);
	if (r == 0)
		r = add_rows(b, m, w, rest, err);
	free(b);
	return r;
}

int pmfs_trace_strips(struct pmfs_model *m, uint32_t thread, uint64_t from, uint64_t to,
	const struct pm_strip *strips, struct pm_error *err)
{
	return make_strips(m, &(struct wanted){thread, from, to, true}, strips, err);
}

int pmfs_trace_strips_if_readable(struct pmfs_model *m, uint32_t thread, uint64_t from, uint64_t to,
	const struct pm_strip *strips, struct pm_error *err)
{
	return make_strips(m, &(struct wanted){thread, from, to, false}, strips, err);
}
