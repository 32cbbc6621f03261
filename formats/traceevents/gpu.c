/*
 * What GPUs did: which call launched each kernel or copy and how long that waited (launches.csv),
 * kernels by name (gpu.csv), and when a stream had nothing to do (gpu-gaps.csv).
 */
#include <stdlib.h>

#include "formats/common/sort.h"
#include "formats/traceevents/traceevents.h"

/* Rows of all three tables; times are relative to the origin. */
struct launch {
	int64_t launch_ns, kernel_ns;
	uint32_t launch, kernel, stream; /* functions, a thread */
};

/* Of all launches. */
struct launches {
	struct launch *rows;
	struct pm_bytes *functions, *threads; /* names */
};

struct launch_row {
	int64_t launch_ns, kernel_ns, delay_ns;
	struct pm_bytes stream, launch, kernel;
};

struct operation {
	uint64_t launches, total_ns, mean_ns, max_ns;
	double share;
	struct pm_bytes category, kernel;
};

struct gap {
	int64_t time_ns, gap_ns;
	uint32_t host; /* PM_NONE: what the host ran is not looked for */
	struct pm_bytes stream, before, after;
};

#define RECORDS_OF(type, name)                                                                     \
	static int name##_record(                                                                  \
		struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)                 \
	{                                                                                          \
		const struct type *all = rows->table->self;                                        \
		(void)err;                                                                         \
		if (rows->at >= rows->table->end)                                                  \
			return 0;                                                                  \
		ret->p = &all[rows->at];                                                           \
		return 1;                                                                          \
	}

static int launch_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	const struct launches *all = rows->table->self;
	(void)err;
	if (rows->at >= rows->table->end)
		return 0;
	const struct launch *l = &all->rows[rows->at];
	struct launch_row *row = ret->room;
	*row = (struct launch_row){.launch_ns = l->launch_ns,
		.kernel_ns = l->kernel_ns,
		.delay_ns = l->kernel_ns - l->launch_ns,
		.stream = all->threads[l->stream],
		.launch = all->functions[l->launch],
		.kernel = all->functions[l->kernel]};
	ret->p = row;
	return 1;
}

RECORDS_OF(operation, operation)
RECORDS_OF(gap, gap)

static const struct pm_column launch_columns[] = {
	PM_COLUMN(struct launch_row, launch_ns, "launch_ns"),
	PM_COLUMN(struct launch_row, kernel_ns, "kernel_ns"),
	PM_COLUMN(struct launch_row, delay_ns, "delay_ns"),
	PM_COLUMN(struct launch_row, stream, "stream"),
	PM_COLUMN(struct launch_row, launch, "launch"),
	PM_COLUMN(struct launch_row, kernel, "kernel"),
};

static const struct pm_column operation_columns[] = {
	PM_COLUMN(struct operation, launches, "launches"),
	PM_COLUMN(struct operation, total_ns, "total_ns"),
	PM_COLUMN(struct operation, mean_ns, "mean_ns"),
	PM_COLUMN(struct operation, max_ns, "max_ns"),
	PM_COLUMN(struct operation, share, "share"),
	PM_COLUMN(struct operation, category, "operation"),
	PM_COLUMN(struct operation, kernel, "kernel"),
};

static const struct pm_column gap_columns[] = {
	PM_COLUMN(struct gap, time_ns, "time_ns"),
	PM_COLUMN(struct gap, gap_ns, "duration_ns"),
	PM_COLUMN_OR_NONE(struct gap, host, "host_context_id"),
	PM_COLUMN(struct gap, stream, "stream"),
	PM_COLUMN(struct gap, before, "before"),
	PM_COLUMN(struct gap, after, "after"),
};

static const struct pm_sheet launch_sheet =
	PM_SHEET("launches.csv", launch_columns, launch_record, .dense = true);
static const struct pm_sheet operation_sheet =
	PM_SHEET("gpu.csv", operation_columns, operation_record, .dense = true);
static const struct pm_sheet gap_sheet =
	PM_SHEET("gpu-gaps.csv", gap_columns, gap_record, .dense = true);

/* process=0/thread=7, as the directory of the thread is called. */
static struct pm_bytes stream_name(struct tev_reading *t, uint32_t thread)
{
	const struct tev_thread *th = &t->threads[thread];
	if (th->shown.p)
		return th->shown;
	const struct tev_process *p = &t->processes[th->process];
	pm_text_clear(&t->scratch);
	pm_text_str(&t->scratch, "process=");
	pm_text_i64(&t->scratch, p->number);
	pm_text_str(&t->scratch, "/thread=");
	pm_text_i64(&t->scratch, th->number);
	if (t->scratch.failed)
		tev_no_memory(t);
	else
		t->threads[thread].shown = pm_rec_copy(t->r, pm_text_view(&t->scratch));
	return th->shown;
}

/* ---- launches ---- */

/* By correlation, the launch before what it launched, in the order of the file. */
static int by_correlation(const void *a, const void *b)
{
	const struct tev_link *x = a, *y = b;
	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	if (x->is_gpu != y->is_gpu)
		return x->is_gpu ? 1 : -1;
	return (x->call > y->call) - (x->call < y->call);
}

static int by_launch(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;
	if (x->launch_ns != y->launch_ns)
		return x->launch_ns < y->launch_ns ? -1 : 1;
	return (x->kernel_ns > y->kernel_ns) - (x->kernel_ns < y->kernel_ns);
}

/* Joins calls on GPUs with their launches; returns the number of rows. */
static size_t join_links(struct tev_reading *t, struct launches *all)
{
	const struct tev_link *launch = NULL;
	size_t n = 0;
	for (size_t i = 0; i < t->n_links && pm_rec_goes_on(t->r); i++) {
		const struct tev_link *l = &t->links[i];
		launch = l->is_gpu ? launch : l;
		if (!l->is_gpu || !launch || launch->correlation != l->correlation)
			continue;
		const struct tev_call *from = &t->calls.items[launch->call];
		const struct tev_call *to = &t->calls.items[l->call];
		all->threads[to->thread] = stream_name(t, to->thread);
		all->rows[n++] = (struct launch){.launch_ns = from->ts - t->origin,
			.kernel_ns = to->ts - t->origin,
			.launch = from->function,
			.kernel = to->function,
			.stream = to->thread};
	}
	return n;
}

static void add_launches(struct tev_reading *t)
{
	struct launches *all = pm_rec_alloc(t->r, sizeof(*all));
	size_t n = 0;
	for (size_t i = 0; i < t->n_links; i++)
		n += t->links[i].is_gpu;
	if (!all || pm_sort(t->links, t->n_links, sizeof(*t->links), by_correlation) < 0) {
		tev_no_memory(t);
		return;
	}
	all->rows = pm_rec_alloc(t->r, n * sizeof(*all->rows) + 1);
	all->functions = pm_rec_alloc(t->r, t->n_functions * sizeof(*all->functions) + 1);
	all->threads = pm_rec_alloc(t->r, t->n_threads * sizeof(*all->threads) + 1);
	if (!all->rows || !all->functions || !all->threads)
		return;
	for (size_t i = 0; i < t->n_functions; i++)
		all->functions[i] = t->functions[i].name;
	n = join_links(t, all);
	free(t->links);
	t->links = NULL;
	t->n_links = 0;
	if (n == 0)
		return;
	if (pm_sort(all->rows, n, sizeof(*all->rows), by_launch) < 0)
		tev_no_memory(t);
	pm_rec_sheet(t->r, &launch_sheet, all, n);
	pm_rec_note(t->r, "launches.csv",
		"what was launched on GPUs, by which call, and how long it waited (delay_ns), by "
		"correlation");
	pm_rec_recipe(t->r, "How long do kernels and copies wait after their launch?",
		"awk -F, 'NR > 1 { n++; s += $3; m = $3 > m ? $3 : m } END { printf \"%.2f us on "
		"average, %.2f us at most\\n\", s / n / 1e3, m / 1e3 }' launches.csv");
}

/* ---- operations, gaps ---- */

static int by_total(const void *a, const void *b)
{
	const struct operation *x = a, *y = b;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return pm_bytes_compare(x->kernel, y->kernel);
}

/* Calls that are work of a GPU, not annotations, which contain it. */
static bool is_operation(const struct tev_reading *t, const struct tev_call *c)
{
	const struct tev_function *f = &t->functions[c->function];
	return f->is_gpu && !f->is_annotation;
}

static void add_operations(struct tev_reading *t)
{
	struct operation *by = calloc(t->n_functions + 1, sizeof(*by));
	uint64_t total = 0;
	size_t n = 0;
	if (!by) {
		tev_no_memory(t);
		return;
	}
	for (size_t i = 0; i < t->calls.n && pm_rec_goes_on(t->r); i++) {
		const struct tev_call *c = &t->calls.items[i];
		if (!is_operation(t, c))
			continue;
		struct operation *o = &by[c->function];
		uint64_t ns = (uint64_t)tev_call_dur(&t->calls, (uint32_t)i);
		o->launches++;
		o->total_ns += ns;
		o->max_ns = ns > o->max_ns ? ns : o->max_ns;
		total += ns;
	}
	for (size_t i = 0; i < t->n_functions; i++) {
		struct operation o = by[i];
		if (o.launches == 0)
			continue;
		o.mean_ns = o.total_ns / o.launches;
		o.share = total ? (double)o.total_ns / (double)total : 0;
		o.category = t->functions[i].cat;
		o.kernel = t->functions[i].name;
		by[n++] = o;
	}
	if (pm_sort(by, n, sizeof(*by), by_total) < 0)
		tev_no_memory(t);
	struct operation *rows = pm_rec_alloc(t->r, n * sizeof(*rows) + 1);
	if (rows && n > 0) {
		memcpy(rows, by, n * sizeof(*rows));
		pm_rec_sheet(t->r, &operation_sheet, rows, n);
		pm_rec_recipe(t->r,
			"Which kernels and copies take longest in all? (times, ns, name)",
			"cut -d, -f 1,2,7- gpu.csv | head");
	}
	free(by);
}

enum { MOST_GAPS = 1000 };

static int by_length(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;
	if (x->gap_ns != y->gap_ns)
		return x->gap_ns > y->gap_ns ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Keeps the longest ones; the shortest of these is not known before the list is full. */
static void keep_gap(struct tev_reading *t, struct gap *gaps, size_t *n, struct gap gap)
{
	gaps[(*n)++] = gap;
	if (*n < 2 * MOST_GAPS)
		return;
	if (pm_sort(gaps, *n, sizeof(*gaps), by_length) < 0)
		tev_no_memory(t);
	*n = MOST_GAPS;
}

void tev_gpu_gaps(struct tev_reading *t, uint32_t thread, const uint32_t *order, size_t n)
{
	const struct tev_call *before = NULL;
	int64_t end = 0;
	for (size_t i = 0; i < n; i++) {
		const struct tev_call *c = &t->calls.items[order[i]];
		if (!is_operation(t, c))
			continue;
		if (!t->gaps)
			t->gaps = calloc(2 * MOST_GAPS, sizeof(struct gap));
		if (!t->gaps) {
			tev_no_memory(t);
			return;
		}
		if (before && c->ts > end)
			keep_gap(t, t->gaps, &t->n_gaps,
				(struct gap){.time_ns = end - t->origin,
					.gap_ns = c->ts - end,
					.host = PM_NONE,
					.stream = stream_name(t, thread),
					.before = t->functions[before->function].name,
					.after = t->functions[c->function].name});
		int64_t ends = c->ts + tev_call_dur(&t->calls, order[i]);
		if (!before || ends > end) {
			end = ends;
			before = c;
		}
	}
}

void tev_gpu_tables(struct tev_reading *t)
{
	if (t->n_links)
		add_launches(t);
	add_operations(t);
}

void tev_gpu_gap_table(struct tev_reading *t)
{
	size_t n = t->n_gaps < MOST_GAPS ? t->n_gaps : MOST_GAPS;
	if (n == 0)
		return;
	if (pm_sort(t->gaps, t->n_gaps, sizeof(struct gap), by_length) < 0)
		tev_no_memory(t);
	struct gap *rows = pm_rec_alloc(t->r, n * sizeof(*rows));
	if (!rows)
		return;
	memcpy(rows, t->gaps, n * sizeof(*rows));
	for (size_t i = 0; i < n; i++) { /* as path of threads.csv */
		pm_text_clear(&t->scratch);
		pm_text_str(&t->scratch, "threads/");
		pm_text_bytes(&t->scratch, rows[i].stream);
		rows[i].stream = pm_rec_copy(t->r, pm_text_view(&t->scratch));
	}
	if (t->scratch.failed)
		tev_no_memory(t);
	pm_rec_sheet(t->r, &gap_sheet, rows, n);
	pm_rec_note(t->r, "gpu-gaps.csv",
		"when GPU streams had nothing to do, the longest 1,000 gaps first");
}
