/*
 * gpu.csv: operations of GPUs. gpu-gaps.csv: when streams of GPUs had nothing to do, what they ran
 * before and after, and what the host ran meanwhile.
 */
#include <math.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/model.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/gpu.h"
#include "fs/views/sums/threads.h"

/* ---- gpu.csv: a row's position is its number ---- */

static int gpu_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_gpu *t;
	int r = pmfs_gpu(pmfs_model_of(rows->table->self), &t, err);
	if (r < 0 || rows->at >= t->n)
		return r;
	const struct pmfs_gpu_row *g = &t->rows[rows->at++];
	const struct pmfs_function *function = pmfs_function_at(t->functions, g->row);
	double launches = (double)g->launches, total_ns = (double)g->total_ns;
	cells[0] = pmfs_cell(g->launches);
	cells[1] = pmfs_cell(g->total_ns);
	cells[2] = pmfs_cell(launches > 0 ? total_ns / launches : NAN);
	cells[3] = pmfs_cell(g->max_ns);
	cells[4] = pmfs_cell(t->total_ns > 0 ? total_ns / t->total_ns : NAN);
	cells[5] = pmfs_cell(g->bytes);
	cells[6] = pmfs_cell(total_ns > 0 ? (double)g->bytes / total_ns * 1e9 : NAN);
	cells[7] = pm_cell_str(g->operation);
	cells[8] = pm_cell_lasting(t->functions->tree->texts[function->module]);
	cells[9] = pm_cell_lasting(function->name);
	return 1;
}

int pmfs_gpu_table(struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = gpu_next, .dense = true};
	static const char *const columns[] = {"launches", "total_ns", "mean_ns", "max_ns", "share",
		"bytes", "bytes_per_sec", "operation", "module", "kernel", NULL};
	(void)item;
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	return 0;
}

int pmfs_has_gpu(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	return pmfs_gpu_has(m, err);
}

/* ---- gpu-gaps.csv: a row's position is its index ---- */

enum { MOST_GAPS = 1000 };

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
	struct pm_arena *a;
	const struct pm_profile *p;
	const struct pm_threads *threads;
	const struct pm_tree *tree;
	const uint8_t *categories;
	struct gaps *found;
};

/* The context of a sample in which something runs, or PM_NONE. */
static uint32_t busy_context(const struct search *s, const struct pm_sample *sample)
{
	uint32_t context = pm_tree_find_sample(s->tree, sample->context);
	return context == PM_NONE || s->categories[context] == PMFS_IDLE ? PM_NONE : context;
}

/* The same of a stream; calls on it may also say what its work is for. */
static uint32_t operation(const struct search *s, const struct pm_sample *sample)
{
	uint32_t context = busy_context(s, sample);
	bool other = context != PM_NONE && s->p->gpu_frames &&
		!pmfs_is_gpu_work(pm_tree_frame(s->tree, context));
	return other ? PM_NONE : context;
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
static void keep_longest(struct search *s)
{
	struct gaps *g = s->found;
	pm_build_check(s->a, pm_sort(g->rows, g->n, sizeof(*g->rows), by_length));
	g->n = g->n < MOST_GAPS ? g->n : MOST_GAPS;
}

/* The sample that is next; NULL at the end, and where it cannot be read. */
static const struct pm_sample *next_of(const struct search *s, struct pmfs_samples *c)
{
	const struct pm_sample *sample;
	int r = 0;
	if (s->threads->threads[c->thread].has_trace)
		r = pmfs_samples_peek(c, &sample, NULL);
	if (pm_is_passing(r))
		pm_build_fail(s->a, r);
	return r > 0 ? sample : NULL;
}

/* The cursor whose next sample is the earliest; PM_NONE at the end of all. */
static uint32_t earliest(const struct search *s, struct pmfs_samples *cursors, uint32_t n)
{
	uint32_t first = PM_NONE;
	uint64_t ns = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct pm_sample *sample = next_of(s, &cursors[i]);
		if (sample && (first == PM_NONE || sample->time_ns < ns)) {
			first = i;
			ns = sample->time_ns;
		}
	}
	return first;
}

/* Gaps of a stream and its lanes, which follow it. */
static void find_gaps(struct search *s, uint32_t stream, uint32_t n_lanes)
{
	struct gaps *g = s->found;
	struct pm_arena *scratch = pm_arena_scratch(s->a);
	struct pmfs_samples *cursors =
		pm_arena_array(scratch, (size_t)n_lanes + 1, sizeof(*cursors));
	uint64_t end = 0, process = pmfs_thread_process(s->threads, stream);
	uint32_t before = PM_NONE, next;
	for (uint32_t i = 0; i <= n_lanes; i++) {
		cursors[i].profile = s->p;
		cursors[i].thread = stream + i;
	}
	while ((next = earliest(s, cursors, n_lanes + 1)) != PM_NONE) {
		const struct pm_sample *sample = &cursors[next].batch[cursors[next].i++];
		uint32_t context = operation(s, sample);
		if (context == PM_NONE)
			continue;
		if (before != PM_NONE && sample->time_ns > end) {
			g->rows[g->n++] = (struct gap){.time_ns = end,
				.gap_ns = sample->time_ns - end,
				.process = process,
				.stream = stream,
				.before = before,
				.after = context,
				.host = PM_NONE};
			if (g->n == 2 * MOST_GAPS)
				keep_longest(s);
		}
		if (before == PM_NONE || end_of(sample) >= end) {
			before = context;
			end = end_of(sample);
		}
	}
	pm_arena_done(scratch);
}

static void find_all_gaps(struct search *s)
{
	const struct pm_thread *threads = s->threads->threads;
	for (uint32_t i = 0, next; i < s->threads->n; i = next) {
		bool runs = pm_time_of(s->threads, i) == PM_TIME_GPUS;
		for (next = i + 1; next < s->threads->n && threads[next].is_lane; next++) {
			enum pm_time time = pm_time_of(s->threads, next);
			if (time != PM_TIME_PROCESSORS && time != PM_TIME_GPUS)
				break;
			runs |= time == PM_TIME_GPUS;
		}
		if (runs)
			find_gaps(s, i, next - i - 1);
	}
	keep_longest(s);
}

/* ---- the host ---- */

static bool sample_at(const struct search *s, uint32_t thread, uint64_t i, struct pm_sample *ret)
{
	int64_t n = s->p->ops->samples(s->p, thread, i, ret, 1, NULL);
	if (pm_is_passing((int)n))
		pm_build_fail(s->a, (int)n);
	return n > 0;
}

static uint64_t time_at(const struct search *s, uint32_t thread, uint64_t i)
{
	struct pm_sample sample;
	return sample_at(s, thread, i, &sample) ? sample.time_ns : UINT64_MAX;
}

/* What a thread runs at a time; PM_NONE if nothing, or if it is not known. */
static uint32_t context_at(const struct search *s, uint32_t thread, uint64_t ns)
{
	uint64_t n = s->threads->threads[thread].n_samples;
	uint64_t next = PM_LOWER_BOUND(i, 0, n, time_at(s, thread, i) <= ns);
	struct pm_sample sample;
	if (next == 0 || !sample_at(s, thread, next - 1, &sample))
		return PM_NONE;
	return end_of(&sample) > ns ? busy_context(s, &sample) : PM_NONE;
}

static uint64_t middle(const struct gap *gap)
{
	return gap->time_ns + gap->gap_ns / 2;
}

static int by_middle(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;
	return (middle(x) > middle(y)) - (middle(x) < middle(y));
}

/* Calls that have begun, innermost last. */
struct calls {
	struct open_call {
		uint64_t end;
		uint32_t context;
	} * open;
	size_t n, room;
};

/* The innermost call that runs at a time, which is not before that of the one asked for last. */
static uint32_t innermost(struct calls *c, uint64_t ns)
{
	while (c->n > 0 && c->open[c->n - 1].end <= ns)
		c->n--;
	return c->n > 0 ? c->open[c->n - 1].context : PM_NONE;
}

/* Notes what a thread calls in the middle of gaps: wanted[n], in order. */
static void find_calls(const struct search *s, uint32_t thread, struct gap **wanted, uint32_t n)
{
	struct pm_arena *scratch = pm_arena_scratch(s->a);
	struct pmfs_samples cursor = {s->p, thread};
	struct calls calls = {.n = 0};
	const struct pm_sample *sample;
	uint32_t at = 0;
	while (at < n && (sample = next_of(s, &cursor)) != NULL) {
		for (; at < n && middle(wanted[at]) < sample->time_ns; at++)
			wanted[at]->host = innermost(&calls, middle(wanted[at]));
		innermost(&calls, sample->time_ns);
		uint32_t context = busy_context(s, sample);
		if (context != PM_NONE) {
			pm_list_grow(
				scratch, &calls.open, calls.n, &calls.room, sizeof(*calls.open));
			calls.open[calls.n++] = (struct open_call){end_of(sample), context};
		}
		cursor.i++;
	}
	for (; at < n; at++)
		wanted[at]->host = innermost(&calls, middle(wanted[at]));
	pm_arena_done(scratch);
}

/*
 * In the middle of each gap: of the first of the threads that runs anything, of the process or, as
 * devices may be processes of their own, of the others.
 */
static void find_host(struct search *s, bool own_process)
{
	struct gaps *g = s->found;
	struct gap *wanted[MOST_GAPS];
	for (uint32_t i = 0; i < s->threads->n; i++) {
		const struct pm_thread *t = &s->threads->threads[i];
		if (!t->has_trace || t->is_lane || pm_time_of(s->threads, i) != PM_TIME_PROCESSORS)
			continue;
		pm_build_proceed(s->a);
		uint64_t process = pmfs_thread_process(s->threads, i);
		uint32_t n = 0;
		for (uint32_t k = 0; k < g->n; k++)
			if (g->rows[k].host == PM_NONE &&
				(g->rows[k].process == process) == own_process)
				wanted[n++] = &g->rows[k];
		for (uint32_t k = 0; k < n && !s->p->traces_are_calls; k++)
			wanted[k]->host = context_at(s, i, middle(wanted[k]));
		if (s->p->traces_are_calls && n > 0)
			find_calls(s, i, wanted, n);
	}
}

/* ---- the table ---- */

/* While hosts are found, the order of the rows is that of time. */
static void build_gaps(struct pm_arena *a, void *m, void *part, struct pm_error *err)
{
	struct gaps *g = part;
	struct search s = {.a = a, .p = pmfs_model_profile(m), .found = g};
	pm_build_check(a, pmfs_model_tree(m, &s.tree, err));
	pm_build_check(a, pmfs_categories(m, &s.categories, err));
	pm_build_check(a, pmfs_model_threads(m, &s.threads, err));
	g->rows = pm_arena_array(a, 2 * MOST_GAPS, sizeof(*g->rows));
	find_all_gaps(&s);
	pm_build_check(a, pm_sort(g->rows, g->n, sizeof(*g->rows), by_middle));
	find_host(&s, true);
	if (s.p->gpu_frames)
		find_host(&s, false);
	keep_longest(&s);
}

enum { NAME_WIDTH = 60 }; /* those of kernels have 1,000 characters and more */

static int gaps_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct gaps), .what = "idle gaps of GPUs", .build = build_gaps};
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_functions *f;
	const struct gaps *g;
	const char *path;
	uint64_t origin;
	int r = pmfs_model_part(m, PMFS_PART_GPU_GAPS, &type, &g, err);
	if (r < 0 || rows->at >= g->n || (r = pmfs_functions(m, &f, err)) < 0 ||
		(r = pmfs_time_origin(m, &origin, err)) < 0)
		return r;
	const struct gap *gap = &g->rows[rows->at++];
	if ((r = pmfs_thread_path(m, gap->stream, &path, err)) < 0)
		return r;
	uint32_t before = pmfs_function_of(f->identity, gap->before);
	uint32_t after = pmfs_function_of(f->identity, gap->after);
	pmfs_add_bare_cut(rows->scratch, f->identity->functions[before].name, NAME_WIDTH);
	size_t len = rows->scratch->len;
	pmfs_add_bare_cut(rows->scratch, f->identity->functions[after].name, NAME_WIDTH);
	pmfs_set_time(&cells[0], gap->time_ns, origin);
	pm_set_u64(&cells[1], gap->gap_ns);
	if (gap->host == PM_NONE)
		pm_set_empty(&cells[2]);
	else
		pm_set_u64(&cells[2], pm_tree_number(f->tree, gap->host));
	cells[3] = pm_cell_lasting(pm_bytes_of(path));
	const uint32_t rows_of[] = {f->row[before], f->row[after]};
	for (unsigned i = 0; i < 2; i++)
		cells[4 + i] = rows_of[i] == PM_NONE ? pm_cell_empty()
						     : pm_cell_u64(pmfs_function_id(f, rows_of[i]));
	struct pm_bytes names = pm_text_view(rows->scratch);
	pm_set_text(&cells[6], (struct pm_bytes){names.p, len});
	pm_set_text(&cells[7], (struct pm_bytes){names.p + len, names.len - len});
	return 1;
}

int pmfs_gpu_gaps_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = gaps_next};
	static const char *const columns[] = {"time_ns", "duration_ns", "host_context_id", "stream",
		"before_id", "after_id", "before", "after"};
	(void)item;
	(void)err;
	*ret = (struct pm_table){.type = &type,
		.self = m,
		.columns = columns,
		.n_columns = sizeof(columns) / sizeof(*columns),
		.types = "??itiitt"};
	return 0;
}

int pmfs_has_gpu_gaps(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	(void)item;
	if (pmfs_model_unfiltered(m)) /* what a filter leaves out is no idle time */
		return 0;
	if (!pm_profile_has(p, threads) || !p->ops->samples || p->samples_are_weighed)
		return 0;
	int r = pmfs_gpu_has(m, err);
	return r <= 0         ? r
		: p->ops->has ? p->ops->has(p, PM_HAS_TRACES, err)
			      : pmfs_some_thread_has_trace(m, 0, err);
}
