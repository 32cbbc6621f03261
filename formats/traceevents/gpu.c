/* Which call launched each kernel or copy on a GPU, and how long that waited: launches.csv. */
#include "formats/common/sort.h"
#include "formats/traceevents/traceevents.h"

struct launch { /* times are relative to the origin */
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

static const struct pm_column launch_columns[] = {
	PM_COLUMN(struct launch_row, launch_ns, "launch_ns"),
	PM_COLUMN(struct launch_row, kernel_ns, "kernel_ns"),
	PM_COLUMN(struct launch_row, delay_ns, "delay_ns"),
	PM_COLUMN(struct launch_row, stream, "stream"),
	PM_COLUMN(struct launch_row, launch, "launch"),
	PM_COLUMN(struct launch_row, kernel, "kernel"),
};

static const struct pm_sheet launch_sheet =
	PM_SHEET("launches.csv", launch_columns, launch_record, .dense = true);

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
	t->threads[thread].shown = pm_rec_copy(t->r, pm_text_view(&t->scratch));
	return th->shown;
}

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

void tev_launches(struct tev_reading *t)
{
	struct launches *all = pm_rec_keep(t->r, &t->arena, sizeof(*all));
	const struct tev_link *launch = NULL;
	size_t n = 0;
	for (size_t i = 0; i < t->n_links; i++)
		n += t->links[i].is_gpu;
	pm_build_check(&t->arena, pm_sort(t->links, t->n_links, sizeof(*t->links), by_correlation));
	all->rows = pm_rec_keep(t->r, &t->arena, n * sizeof(*all->rows));
	all->functions = pm_rec_keep(t->r, &t->arena, t->n_functions * sizeof(*all->functions));
	all->threads = pm_rec_keep(t->r, &t->arena, t->n_threads * sizeof(*all->threads));
	for (size_t i = 0; i < t->n_functions; i++)
		all->functions[i] = t->functions[i].name;
	/* Calls on GPUs are joined with their launches. */
	n = 0;
	for (size_t i = 0; i < t->n_links; i++) {
		const struct tev_link *l = &t->links[i];
		pm_rec_proceed(t->r, &t->arena);
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
	pm_arena_free(&t->arena, t->links);
	if (n == 0)
		return;
	pm_build_check(&t->arena, pm_sort(all->rows, n, sizeof(*all->rows), by_launch));
	pm_rec_sheet(t->r, &launch_sheet, all, n);
	pm_rec_note(t->r, "launches.csv",
		"what was launched on GPUs, by which call, how long it waited (delay_ns)");
	pm_rec_recipe(t->r, "How long do kernels and copies wait after their launch?",
		"awk -F, 'NR > 1 { n++; s += $3; m = $3 > m ? $3 : m } END { printf \"%.2f us on "
		"average, %.2f us at most\\n\", s / n / 1e3, m / 1e3 }' launches.csv");
}
