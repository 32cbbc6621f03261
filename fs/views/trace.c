/*
 * A thread's trace.csv: what ran when, one row a sample or call. A row's position is the sample's
 * index; samples are read in batches.
 */
#include <stdlib.h>

#include "fs/views/catalog.h"
#include "fs/views/tables.h"
#include "fs/views/threads.h"

struct trace_rows {
	const struct pm_profile *profile;
	const struct pm_tree *tree;
	uint64_t origin;
	uint64_t number; /* of the last row's context, and where the tree has it */
	uint32_t context;
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
	int r = pmfs_model_tree(m, &t->tree, err);
	return r < 0 ? r : pmfs_time_origin(m, &t->origin, err);
}

static int fetch(struct trace_rows *t, const struct pm_rows *rows, struct pm_error *err)
{
	size_t room = sizeof(t->batch) / sizeof(*t->batch);
	int64_t n = t->profile->ops->samples(
		t->profile, (uint32_t)rows->table->a, rows->at, t->batch, room, err);
	t->i = 0;
	t->n = n > 0 ? (uint32_t)n : 0;
	return n < 0 ? (int)n : n > 0;
}

/* The context's id if the tree knows it or nothing ran; its index or PM_NONE. */
static struct pm_cell context_cell(struct trace_rows *t, uint64_t number)
{
	if (number != t->number) {
		t->number = number;
		t->context = pm_tree_find(t->tree, number);
	}
	return t->context != PM_NONE || number == 0 ? pm_cell_u64(number) : pm_cell_empty();
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
	rows->at++;
	*cells++ = pmfs_time_cell(s->time_ns, t->origin);
	*cells++ = pmfs_known_cell(s->duration_ns, PM_NO_TIME);
	*cells++ = pm_cell_u64(s->time_ns);
	*cells++ = context_cell(t, s->context);
	*cells++ =
		t->context == PM_NONE ? pm_cell_empty() : pm_cell_u64(t->tree->depth[t->context]);
	if (t->profile->traces_are_calls) {
		*cells++ = pm_cell_i64((int64_t)s->self_ns);
		*cells++ = pm_cell_u64(s->seq);
	}
	*cells++ = t->context == PM_NONE
		? pm_cell_empty()
		: pm_cell_text(pmfs_frame_name(
			  t->tree, pm_tree_frame(t->tree, t->context), rows->scratch));
	return 1;
}

static int trace_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = trace_start, .next = trace_next, .dense = true};
	static const char *const of_samples[] = {
		"time_ns", "duration_ns", "timestamp_ns", "context_id", "depth", "name", NULL};
	static const char *const of_calls[] = {"time_ns", "duration_ns", "timestamp_ns",
		"context_id", "depth", "self_ns", "seq", "name", NULL};
	bool calls = pmfs_model_profile(m)->traces_are_calls;
	const struct pm_threads *threads;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0)
		return r;
	*ret = pmfs_table_plain(m, &type, calls ? of_calls : of_samples);
	ret->a = item;
	ret->end = threads->threads[item].n_samples;
	return 0;
}

PMFS_TABLE_DOCUMENT(trace_csv, PM_DOC_CSV, trace_table)
PMFS_TABLE_DOCUMENT(trace_tsv, PM_DOC_TSV, trace_table)

static bool has_trace(struct pmfs_model *m, uint32_t item)
{
	const struct pm_threads *threads;
	return pmfs_model_threads(m, &threads, NULL) == 0 && threads->threads[item].has_trace;
}

const struct pmfs_view pmfs_thread_trace_csv = {
	.name = "trace.csv",
	.about = "What ran when: one row a sample or call, in time order.",
	.present = has_trace,
	.document = trace_csv,
};

const struct pmfs_view pmfs_thread_trace_tsv = {
	.name = "trace.tsv",
	.present = has_trace,
	.document = trace_tsv,
};
