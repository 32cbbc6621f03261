/*
 * trace.csv of a thread, one row per sample or call. A row's position is the sample's index;
 * samples are read in batches.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/common/number.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/threads.h"
#include "fs/views/sums/tracelength.h"
#include "fs/views/tables/tracefacts.h"

static uint32_t trace_length(
	struct pmfs_trace_lengths *lengths, const struct pmfs_trace_contexts *c, uint32_t context)
{
	uint32_t bytes = __atomic_load_n(&lengths->bytes[context], __ATOMIC_RELAXED);
	return bytes ? bytes : pmfs_trace_length_compute(lengths, c, context);
}

enum {
	TIME = PMFS_TRACE_TIME,
	DURATION = PMFS_TRACE_DURATION,
	TIMESTAMP = PMFS_TRACE_TIMESTAMP,
	CONTEXT = PMFS_TRACE_CONTEXT,
	CATEGORY = PMFS_TRACE_CATEGORY,
	SELF = PMFS_TRACE_SELF,
	SEQ = PMFS_TRACE_SEQ,
	CALL_CATEGORY = PMFS_TRACE_CALL_CATEGORY,
	N_COLUMNS = CATEGORY + 3,
};

struct trace_rows {
	const struct pm_profile *profile;
	struct pmfs_trace_contexts contexts;
	uint64_t origin;
	uint64_t number; /* of the last row's context, and where the tree has it */
	uint32_t context;
	const struct pm_tap *tap; /* while it is measured, or NULL */
	void *piece;              /* of the tap */
	uint32_t n, i;
	struct pm_sample batch[512];
};

static int trace_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	struct trace_rows *t = malloc(sizeof(*t));
	if (!t)
		return pmfs_no_memory(err);
	rows->own = t;
	t->profile = pmfs_model_profile(m);
	t->number = 0;
	t->context = PM_NONE;
	t->n = t->i = 0;
	t->tap = NULL;
	int r = pmfs_trace_contexts(m, &t->contexts, err);
	return r < 0 ? r : pmfs_time_origin(m, &t->origin, err);
}

static int fetch(struct trace_rows *t, const struct pm_rows *rows, struct pm_error *err)
{
	size_t room = sizeof(t->batch) / sizeof(*t->batch);
	int64_t n = t->profile->ops->samples(
		t->profile, (uint32_t)rows->table->a, rows->at, t->batch, room, err);
	t->i = 0;
	t->n = n > 0 ? (uint32_t)n : 0;
	if (t->tap && n > 0)
		t->tap->take(t->piece, t->batch, (size_t)n);
	return n < 0 ? (int)n : n > 0;
}

/* Remembers the context of a row: runs of equal ones are common. */
static void find_context(struct trace_rows *t, uint64_t number)
{
	if (number == t->number)
		return;
	t->number = number;
	t->context = pm_tree_find_sample(t->contexts.tree, number);
}

/*
 * Fills the cells of the context, from context_id on and from the category on: context 0 has only
 * an id and a category, an unknown context has nothing.
 */
static void set_context(const struct trace_rows *t, struct pm_rows *rows, struct pm_cell *id,
	struct pm_cell *category)
{
	const struct pm_tree *tree = t->contexts.tree;
	pm_set_text(category,
		pmfs_category_name(
			pmfs_category_of(t->contexts.categories, t->context, t->number)));
	if (t->context != PM_NONE) {
		pm_set_u64(&id[0], t->number);
		pm_set_u64(&id[1], tree->depth[t->context]);
		pm_set_lasting(&category[1], pmfs_trace_function(&t->contexts, t->context));
		pmfs_set_name(&category[2], tree, pm_tree_frame(tree, t->context), rows->scratch);
		return;
	}
	pm_set_empty(&id[0]);
	pm_set_empty(&id[1]);
	pm_set_empty(&category[1]);
	pm_set_empty(&category[2]);
	if (t->number == 0)
		pm_set_u64(&id[0], 0);
}

static int trace_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct trace_rows *t = rows->own;
	if (t->i == t->n) {
		int r = fetch(t, rows, err);
		if (r <= 0)
			return r;
	}
	const struct pm_sample *s = &t->batch[t->i++];
	bool calls = t->profile->traces_are_calls;
	rows->at++;
	pmfs_set_time(&cells[TIME], s->time_ns, t->origin);
	if (s->duration_ns == PM_NO_TIME)
		pm_set_empty(&cells[DURATION]);
	else
		pm_set_u64(&cells[DURATION], s->duration_ns);
	pm_set_u64(&cells[TIMESTAMP], s->time_ns);
	find_context(t, s->context);
	set_context(t, rows, &cells[CONTEXT], &cells[calls ? CALL_CATEGORY : CATEGORY]);
	if (calls) {
		if (s->self_ns == PM_NO_SELF)
			pm_set_empty(&cells[SELF]);
		else
			pm_set_i64(&cells[SELF], (int64_t)s->self_ns);
		pm_set_u64(&cells[SEQ], s->seq);
	}
	return 1;
}

/*
 * The length of a row: three times, the part that depends only on the context, separators, line
 * feed. 0 if out of memory.
 */
static uint64_t trace_row_bytes(
	struct trace_rows *t, struct pmfs_trace_lengths *lengths, const struct pm_sample *s)
{
	uint64_t time = s->time_ns - t->origin;
	uint64_t bytes = pm_u64_length(s->time_ns) + N_COLUMNS;
	if (pmfs_is_time(s->time_ns, t->origin))
		bytes +=
			s->time_ns < t->origin ? pm_i64_length((int64_t)time) : pm_u64_length(time);
	if (s->duration_ns != PM_NO_TIME)
		bytes += pm_u64_length(s->duration_ns);
	find_context(t, s->context);
	if (t->context != PM_NONE) {
		uint32_t of_context = trace_length(lengths, &t->contexts, t->context);
		if (of_context == 0)
			return 0;
		bytes += of_context;
	} else if (s->context == 0) {
		bytes += strlen("0idle");
	}
	if (t->profile->traces_are_calls)
		bytes += (s->self_ns == PM_NO_SELF ? 0 : pm_i64_length((int64_t)s->self_ns)) +
			pm_u64_length(s->seq) + (CALL_CATEGORY - CATEGORY);
	return bytes;
}

/* Measuring starts with an empty batch, and reads on without gaps. */
static void tap_begin(struct trace_rows *t, const struct pm_rows *rows)
{
	const struct pm_tap *tap = pmfs_model_tap(pmfs_model_of(rows->table->self));
	if (t->tap || t->n > 0 || !tap)
		return;
	t->piece = tap->begin(tap->self, (uint32_t)rows->table->a, rows->at);
	t->tap = t->piece ? tap : NULL;
}

static void trace_done(struct pm_rows *rows)
{
	struct trace_rows *t = rows->own;
	if (t->tap)
		t->tap->end(t->piece);
	free(t);
}

static int64_t trace_measure(struct pm_rows *rows, enum pm_form form, uint64_t to, uint64_t most,
	uint64_t *bytes, struct pm_error *err)
{
	struct trace_rows *t = rows->own;
	struct pmfs_trace_lengths *lengths;
	int64_t n = 0;
	int r = pmfs_trace_lengths(pmfs_model_of(rows->table->self), form, &lengths, err);
	if (r < 0)
		return r;
	tap_begin(t, rows);
	for (; (uint64_t)n < most && rows->at < to; n++, rows->at++) {
		if (t->i == t->n) {
			r = fetch(t, rows, err);
			if (r <= 0)
				return r < 0 ? r : n;
		}
		uint64_t row = trace_row_bytes(t, lengths, &t->batch[t->i++]);
		if (row == 0)
			return pmfs_no_memory(err);
		*bytes += row;
	}
	return n;
}

static int trace_texts(
	const struct pm_table *table, pm_text_fn *each, void *context, struct pm_error *err)
{
	return pmfs_trace_texts(pmfs_model_of(table->self), 0, each, context, err);
}

static int trace_strips(const struct pm_table *table, uint64_t from, uint64_t to,
	const struct pm_strip *strips, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(table->self);
	return pmfs_trace_strips(m, (uint32_t)table->a, from, to, strips, err);
}

static int trace_bounds(const struct pm_table *table, uint64_t from, uint64_t to,
	struct pm_cell *least, struct pm_cell *greatest, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(table->self);
	struct pmfs_trace_range range = {.n = 0};
	int r = pmfs_trace_range_add(&range, m, (uint32_t)table->a, from, to, err);
	return r < 0 ? r : pmfs_trace_range_cells(&range, m, least, greatest, err);
}

/* ---- weighed samples: time_ns,duration_ns,period,timestamp_ns,context_id,depth,event,… ---- */

enum { W_PERIOD = 2, W_TIMESTAMP, W_CONTEXT, W_DEPTH, W_EVENT, W_CATEGORY, W_N };

static int weighed_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct trace_rows *t = rows->own;
	if (t->i == t->n) {
		int r = fetch(t, rows, err);
		if (r <= 0)
			return r;
	}
	const struct pm_sample *s = &t->batch[t->i++];
	rows->at++;
	pmfs_set_time(&cells[TIME], s->time_ns, t->origin);
	pm_set_empty(&cells[DURATION]);
	if (s->weight == PM_NO_WEIGHT)
		pm_set_empty(&cells[W_PERIOD]);
	else
		pm_set_i64(&cells[W_PERIOD], s->weight);
	pm_set_u64(&cells[W_TIMESTAMP], s->time_ns);
	pm_set_lasting(&cells[W_EVENT], t->profile->events[s->event].name);
	find_context(t, s->context);
	set_context(t, rows, &cells[W_CONTEXT], &cells[W_CATEGORY]);
	return 1;
}

static int weighed_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, const struct pm_threads *threads)
{
	static const struct pm_table_type type = {
		.start = trace_start, .next = weighed_next, .done = trace_done, .dense = true};
	static const char *const columns[] = {"time_ns", "duration_ns", "period", "timestamp_ns",
		"context_id", "depth", "event", "category", "function", "name", NULL};
	*ret = pmfs_table_plain(m, &type, columns);
	ret->a = item;
	ret->end = threads->threads[item].n_samples;
	ret->types = "iiiiiitttt";
	return 0;
}

int pmfs_thread_trace_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.start = trace_start,
		.next = trace_next,
		.done = trace_done,
		.measure = trace_measure,
		.texts = trace_texts,
		.strips = trace_strips,
		.bounds = trace_bounds,
		.dense = true};
	static const char *const of_samples[] = {"time_ns", "duration_ns", "timestamp_ns",
		"context_id", "depth", "category", "function", "name", NULL};
	static const char *const of_calls[] = {"time_ns", "duration_ns", "timestamp_ns",
		"context_id", "depth", "self_ns", "seq", "category", "function", "name", NULL};
	bool calls = pmfs_model_profile(m)->traces_are_calls;
	const struct pm_threads *threads;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0)
		return r;
	if (pmfs_model_profile(m)->samples_are_weighed)
		return weighed_table(m, item, ret, threads);
	*ret = pmfs_table_plain(m, &type, calls ? of_calls : of_samples);
	ret->a = item;
	ret->end = threads->threads[item].n_samples;
	ret->decoded = calls;
	return 0;
}
