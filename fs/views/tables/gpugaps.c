/*
 * gpu-gaps.csv: when streams of GPUs had nothing to do, what they ran before and after, and what
 * the host ran meanwhile. A row's position is its index.
 */
#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/gpu.h"
#include "fs/views/sums/threads.h"

enum { MOST_GAPS = 1000, BATCH = 256 };

struct gap {
	uint64_t time_ns, gap_ns, process;
	uint32_t stream;              /* its thread, of that process */
	uint32_t before, after, host; /* contexts; PM_NONE: not known */
};

struct gaps {
	uint32_t n;
	struct gap *rows; /* longest first */
};

struct search {
	const struct pm_profile *p;
	const struct pm_threads *threads;
	const struct pm_tree *tree;
	const uint8_t *categories;
	struct gaps *found;
};

/* The context of a sample in which something runs, or PM_NONE. */
static uint32_t busy_context(const struct search *s, const struct pm_sample *sample)
{
	uint32_t context =
		sample->context == 0 ? PM_NONE : pm_tree_find_sample(s->tree, sample->context);
	return context == PM_NONE || s->categories[context] == PMFS_IDLE ? PM_NONE : context;
}

static uint64_t end_of(const struct pm_sample *sample)
{
	uint64_t end, ns = sample->duration_ns == PM_NO_TIME ? 0 : sample->duration_ns;
	return __builtin_add_overflow(sample->time_ns, ns, &end) ? UINT64_MAX : end;
}

/* ---- gaps ---- */

static int by_length(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;
	if (x->gap_ns != y->gap_ns)
		return x->gap_ns > y->gap_ns ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->stream > y->stream) - (x->stream < y->stream);
}

/* Leaves the longest ones. */
static int keep_longest(struct gaps *g)
{
	if (pm_sort(g->rows, g->n, sizeof(*g->rows), by_length) < 0)
		return -ENOMEM;
	g->n = g->n < MOST_GAPS ? g->n : MOST_GAPS;
	return 0;
}

/* A stream that cannot be read has the gaps before that. */
static int find_gaps(struct search *s, uint32_t stream, struct pm_error *err)
{
	struct pm_sample batch[BATCH];
	uint32_t before = PM_NONE;
	uint64_t end = 0, at = 0, process = pmfs_thread_process(s->threads, stream);
	for (int64_t n; (n = s->p->ops->samples(s->p, stream, at, batch, BATCH, NULL)) > 0;
		at += (uint64_t)n) {
		if (pm_work_cancelled())
			return pmfs_no_memory(err);
		for (int64_t i = 0; i < n; i++) {
			struct gaps *g = s->found;
			uint32_t context = busy_context(s, &batch[i]);
			if (context == PM_NONE)
				continue;
			if (before != PM_NONE && batch[i].time_ns > end) {
				g->rows[g->n++] = (struct gap){.time_ns = end,
					.gap_ns = batch[i].time_ns - end,
					.process = process,
					.stream = stream,
					.before = before,
					.after = context,
					.host = PM_NONE};
				if (g->n == 2 * MOST_GAPS && keep_longest(g) < 0)
					return pmfs_no_memory(err);
			}
			if (before == PM_NONE || end_of(&batch[i]) >= end) {
				before = context;
				end = end_of(&batch[i]);
			}
		}
		if (n < 0)
			break;
	}
	return 0;
}

/* ---- the host ---- */

static uint64_t time_at(const struct search *s, uint32_t thread, uint64_t i)
{
	struct pm_sample sample;
	int64_t n = s->p->ops->samples(s->p, thread, i, &sample, 1, NULL);
	return n > 0 ? sample.time_ns : UINT64_MAX;
}

/* What a thread runs at a time; PM_NONE if nothing, or if it is not known. */
static uint32_t context_at(const struct search *s, uint32_t thread, uint64_t ns)
{
	uint64_t n = s->threads->threads[thread].n_samples;
	uint64_t next = PM_LOWER_BOUND(i, 0, n, time_at(s, thread, i) <= ns);
	struct pm_sample sample;
	if (next == 0 || s->p->ops->samples(s->p, thread, next - 1, &sample, 1, NULL) <= 0)
		return PM_NONE;
	return end_of(&sample) > ns ? busy_context(s, &sample) : PM_NONE;
}

/* In the middle of each gap: of the first of the process's threads that runs anything. */
static int find_host(struct search *s, struct pm_error *err)
{
	for (uint32_t i = 0; i < s->threads->n; i++) {
		const struct pm_thread *t = &s->threads->threads[i];
		if (!t->has_trace || t->is_lane || pm_time_of(s->threads, i) != PM_TIME_PROCESSORS)
			continue;
		if (pm_work_cancelled())
			return pmfs_no_memory(err);
		uint64_t process = pmfs_thread_process(s->threads, i);
		for (uint32_t k = 0; k < s->found->n; k++) {
			struct gap *gap = &s->found->rows[k];
			if (gap->host == PM_NONE && gap->process == process)
				gap->host = context_at(s, i, gap->time_ns + gap->gap_ns / 2);
		}
	}
	return 0;
}

/* ---- the table ---- */

static void gaps_done(void *part)
{
	free(((struct gaps *)part)->rows);
}

static int gaps_fill(void *owner, void *part, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct search s = {.p = pmfs_model_profile(m), .found = part};
	int r = s.p->ops->tree(s.p, &s.tree, err);
	if (r < 0 || (r = pmfs_categories(m, &s.categories, err)) < 0 ||
		(r = pmfs_model_threads(m, &s.threads, err)) < 0)
		return r;
	s.found->rows = malloc(2 * MOST_GAPS * sizeof(*s.found->rows));
	if (!s.found->rows)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < s.threads->n; i++)
		if (s.threads->threads[i].has_trace && pm_time_of(s.threads, i) == PM_TIME_GPUS)
			r = find_gaps(&s, i, err);
	if (r == 0 && keep_longest(s.found) < 0)
		r = pmfs_no_memory(err);
	return r < 0 ? r : find_host(&s, err);
}

static int gaps_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct gaps), gaps_fill, gaps_done, .what = "idle gaps of GPUs"};
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_identity *id;
	const struct gaps *g;
	const char *path;
	uint64_t origin;
	int r = pmfs_model_part(m, PMFS_PART_GPU_GAPS, &type, &g, err);
	if (r < 0 || rows->at >= g->n || (r = pmfs_identity(m, &id, err)) < 0 ||
		(r = pmfs_time_origin(m, &origin, err)) < 0)
		return r;
	const struct gap *gap = &g->rows[rows->at++];
	if ((r = pmfs_thread_path(m, gap->stream, &path, err)) < 0)
		return r;
	pmfs_set_time(&cells[0], gap->time_ns, origin);
	cells[1] = pm_cell_u64(gap->gap_ns);
	cells[2] = gap->host == PM_NONE ? pm_cell_empty()
					: pm_cell_u64(pm_tree_number(id->tree, gap->host));
	cells[3] = pm_cell_lasting(pm_bytes_of(path));
	cells[4] = pm_cell_lasting(id->functions[pmfs_function_of(id, gap->before)].name);
	cells[5] = pm_cell_lasting(id->functions[pmfs_function_of(id, gap->after)].name);
	return 1;
}

int pmfs_gpu_gaps_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = gaps_next};
	static const char *const columns[] = {
		"time_ns", "duration_ns", "host_context_id", "stream", "before", "after"};
	(void)item;
	(void)err;
	*ret = (struct pm_table){.type = &type,
		.self = m,
		.columns = columns,
		.n_columns = sizeof(columns) / sizeof(*columns),
		.types = "??ittt"};
	return 0;
}

int pmfs_has_gpu_gaps(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	(void)item;
	if (pmfs_model_unfiltered(m)) /* what a filter leaves out is no idle time */
		return 0;
	if (!p->ops->threads || !p->ops->samples || p->traces_are_calls || p->samples_are_weighed)
		return 0;
	int r = pmfs_gpu_has(m, err);
	return r <= 0         ? r
		: p->ops->has ? p->ops->has(p, PM_HAS_TRACES, err)
			      : pmfs_some_thread_has_trace(m, 0, err);
}
