/*
 * Times, counts and bytes are exclusive costs of functions, in metrics with hpcrun's names for GPU
 * operations; where frames say what is work of a GPU, all costs of those. The durations of single
 * launches are only in the traces of GPU streams, which are used if their sum equals the measured
 * time. Where no metric measures GPUs, as in windows, all is from these traces.
 */
#include "fs/views/sums/gpu.h"

#include <math.h>
#include <string.h>

#include "formats/common/affix.h"
#include "formats/common/list.h"
#include "formats/common/quantity.h"
#include "formats/common/sort.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"

/* Names of metrics: `GKER (sec)`, `GKER:COUNT`, `GXCOPY:H2D (B)`. */
static const struct {
	const char *metric, *operation;
} operations[] = {
	{"GKER", "kernel"},
	{"GXCOPY", "copy"},
	{"GICOPY", "implicit copy"},
	{"GMEM", "alloc"},
	{"GMSET", "memset"},
	{"GSYNC", "sync"},
};

enum { N_OPERATIONS = sizeof(operations) / sizeof(*operations) };

/* Durations of a function in the traces of GPU streams. */
struct launches {
	uint64_t n, sum_ns, max_ns;
	uint32_t context; /* the first of them */
};

/* Names that say what a GPU does, as they begin. */
static const struct {
	const char *name, *operation;
} placeholders[] = {
	{"<gpu kernel", "kernel"},
	{"<gpu copy", "copy"},
	{"<gpu alloc", "alloc"},
	{"<gpu delete", "alloc"},
	{"<gpu memset", "memset"},
	{"<gpu sync", "sync"},
};

enum { N_PLACEHOLDERS = sizeof(placeholders) / sizeof(*placeholders) };

/* Modules of frames that are work of a GPU: categories of trace events. */
static const struct {
	const char *part, *operation;
} modules[] = {
	{"memcpy", "copy"},
	{"memset", "memset"},
};

/* While rows are made. */
struct making {
	struct pm_arena *a;
	struct pmfs_gpu *ret;
	size_t room;
	const struct pmfs_functions *functions;
	struct launches *launches; /* by function */
};

/* ---- metrics ---- */

/* The rest of a metric's name after the operation, or NULL if it is for another operation. */
static const char *part_of(const struct pm_metric *metric, uint32_t operation, size_t *ret_len)
{
	size_t len = strlen(operations[operation].metric);
	if (metric->name.len < len ||
		memcmp(metric->name.p, operations[operation].metric, len) != 0)
		return NULL;
	const char *rest = (const char *)metric->name.p + len;
	*ret_len = metric->name.len - len;
	return *ret_len == 0 || rest[0] == ':' || rest[0] == ' ' ? rest : NULL;
}

static bool is_time(const struct pm_metric *metric, uint32_t operation)
{
	size_t len;
	const char *part = part_of(metric, operation, &len);
	return part && (len == 0 || part[0] == ' ') && pm_unit_ns(metric->unit) > 0;
}

/* Of work of a GPU, whatever it is. */
static bool is_any_time(const struct pm_metric *metric, uint32_t operation)
{
	(void)operation;
	return pm_unit_ns(metric->unit) > 0;
}

static bool is_count(const struct pm_metric *metric, uint32_t operation)
{
	size_t len;
	const char *part = part_of(metric, operation, &len);
	return part && len == strlen(":COUNT") && memcmp(part, ":COUNT", len) == 0;
}

/* Excludes resources of kernels, which are added up over launches (LMEM_ACUMU). */
static bool is_bytes(const struct pm_metric *metric, uint32_t operation)
{
	size_t len;
	const char *part = part_of(metric, operation, &len);
	return part && len > 0 && part[0] == ':' && !memmem(part, len, "ACUMU", 5) &&
		pm_bytes_equal(metric->unit, pm_bytes_of("B"));
}

/* Adds up the exclusive costs of a row for metrics of this kind; NaN if there are none. */
static pm_number cost_of(const struct pmfs_functions *f, uint32_t row, uint32_t operation,
	bool (*is_kind)(const struct pm_metric *metric, uint32_t operation))
{
	pm_number sum = NAN;
	for (uint32_t i = 0; i < f->columns->n; i++) {
		const struct pmfs_column *c = &f->columns->columns[i];
		pm_number cell = pmfs_function_cell(f, row, i);
		if (c->role != PM_ROLE_EXCLUSIVE || !c->flat || isnan(cell) ||
			!is_kind(c->flat, operation))
			continue;
		double ns = pm_unit_ns(c->flat->unit), scale = ns > 0 ? ns : 1;
		pmfs_add(&sum, cell * scale);
	}
	return sum;
}

/* ---- traces ---- */

static int read_stream(
	const struct pm_profile *p, struct making *t, uint32_t thread, struct pm_error *err)
{
	const struct pmfs_identity *id = t->functions->identity;
	struct pmfs_samples samples = {p, thread};
	const struct pm_sample *s;
	int r;
	while ((r = pmfs_samples_next(&samples, &s, err)) > 0) {
		uint32_t context = pm_tree_find(id->tree, s->context);
		if (context == PM_NONE || s->duration_ns == PM_NO_TIME)
			continue;
		struct launches *l = &t->launches[pmfs_function_of(id, context)];
		bool apart = p->traces_are_calls && s->self_ns != PM_NO_SELF;
		if (l->n == 0 && l->sum_ns == 0)
			l->context = context;
		l->n += p->traces_are_calls || !s->is_rest;
		l->sum_ns += apart ? s->self_ns : s->duration_ns;
		if (s->duration_ns > l->max_ns)
			l->max_ns = s->duration_ns;
	}
	return r;
}

/* ---- rows ---- */

/* Whether a metric has times of GPU operations: 1, 0, or -ENOMEM. */
static int is_measured(struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_metrics *metrics;
	int r = pmfs_model_metrics(m, &metrics, err);
	for (uint32_t i = 0; r == 0 && i < metrics->n; i++)
		for (uint32_t k = 0; k < N_OPERATIONS; k++)
			if (metrics->metrics[i].has_values && is_time(&metrics->metrics[i], k))
				return 1;
	return pm_is_passing(r) ? r : 0;
}

static void add_row(struct making *t, struct pmfs_gpu_row g, const struct launches *l)
{
	struct pmfs_gpu *ret = t->ret;
	g.max_ns = NAN;
	if (!(g.launches > 0) && !(g.total_ns > 0) && !(g.bytes > 0))
		return;
	g.total_ns = nearbyintl(g.total_ns); /* seconds are stored */
	bool is_all = (l->n > 0 || l->sum_ns > 0) &&
		fabsl((pm_number)l->sum_ns - g.total_ns) <= 1e-6 * g.total_ns + 1;
	if (is_all) {
		g.max_ns = (double)l->max_ns;
		if (isnan(g.launches))
			g.launches = (double)l->n;
	}
	pm_list_grow(t->a, &ret->rows, ret->n, &t->room, sizeof(*ret->rows));
	g.place = ret->n;
	ret->rows[ret->n++] = g;
	ret->total_ns += isnan(g.total_ns) ? 0 : g.total_ns;
}

static int longest_first(const void *a, const void *b)
{
	const struct pmfs_gpu_row *x = a, *y = b;
	double left = isnan(x->total_ns) ? 0 : x->total_ns;
	double right = isnan(y->total_ns) ? 0 : y->total_ns;
	if (left != right)
		return left > right ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* What frames say is work of a GPU, in calls that are counted. */
static void add_calls(struct making *t, uint32_t row, const struct launches *l)
{
	const struct pmfs_functions *f = t->functions;
	if (pmfs_function_count(f, row) == 0 ||
		!pmfs_is_gpu_work(pm_tree_frame(f->tree, f->contexts[f->first[row]])))
		return;
	struct pm_bytes module = f->tree->texts[pmfs_function_at(f, row)->module];
	struct pmfs_gpu_row g = {.row = row,
		.operation = "kernel",
		.launches = NAN,
		.total_ns = cost_of(f, row, 0, is_any_time),
		.bytes = NAN};
	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++)
		if (memmem(module.p, module.len, modules[i].part, strlen(modules[i].part)))
			g.operation = modules[i].operation;
	for (uint32_t i = 0; i < f->columns->n; i++)
		if (f->columns->columns[i].role == PM_ROLE_COUNT &&
			strcmp(f->columns->columns[i].base, "calls") == 0)
			g.launches = pmfs_function_cell(f, row, i);
	add_row(t, g, l);
}

static void add_measured(struct making *t, uint32_t row, const struct launches *l)
{
	for (uint32_t i = 0; i < N_OPERATIONS; i++)
		add_row(t,
			(struct pmfs_gpu_row){.row = row,
				.operation = operations[i].operation,
				.launches = cost_of(t->functions, row, i, is_count),
				.total_ns = cost_of(t->functions, row, i, is_time),
				.bytes = cost_of(t->functions, row, i, is_bytes)},
			l);
}

/* What only traces have; idle time of a stream is none of it. */
static void add_traced(struct making *t, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_functions *f = t->functions;
	const struct pm_tree *tree = f->tree;
	const uint8_t *categories;
	/* By context, the nearest name in its path that says what a GPU does: its place + 1. */
	uint8_t *found = pm_arena_alloc(t->a, (size_t)tree->n_contexts + 1);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		struct pm_bytes name = tree->texts[pm_tree_frame(tree, i)->name];
		found[i] = tree->parent[i] == PM_NONE ? 0 : found[tree->parent[i]];
		for (uint8_t k = 0; pm_begins_with(name, "<gpu ") && k < N_PLACEHOLDERS; k++)
			if (pm_begins_with(name, placeholders[k].name))
				found[i] = k + 1;
	}
	pm_build_check(t->a, pmfs_categories(m, &categories, err));
	for (uint32_t row = 0; row < f->n; row++) {
		const struct launches *l = &t->launches[f->function[row]];
		if ((l->n == 0 && l->sum_ns == 0) || categories[l->context] == PMFS_IDLE)
			continue;
		uint8_t place = found[l->context];
		struct pm_bytes name = pmfs_function_at(f, row)->name;
		const struct pmfs_gpu_row g = {.row = row,
			.operation = place                      ? placeholders[place - 1].operation
				: pm_begins_with(name, "<gpu ") ? ""
								: "kernel",
			.launches = (pm_number)l->n,
			.total_ns = (pm_number)l->sum_ns,
			.bytes = NAN};
		add_row(t, g, l);
	}
}

static void build_gpu(struct pm_arena *a, void *m, void *part, struct pm_error *err)
{
	struct pmfs_gpu *ret = part;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct making t = {.a = a, .ret = ret};
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_threads *threads;
	pm_build_check(a, pmfs_functions(m, &t.functions, err));
	pm_build_check(a, pmfs_model_threads(m, &threads, err));
	const struct pmfs_functions *f = ret->functions = t.functions;
	t.launches = pm_arena_array(scratch, (size_t)f->identity->n + 1, sizeof(*t.launches));
	/* Of a stream that cannot be read, launches are missing: their sum is less than the time.
	 */
	for (uint32_t i = 0; p->ops->samples && i < threads->n; i++)
		if (threads->threads[i].has_trace && pm_time_of(threads, i) == PM_TIME_GPUS &&
			pm_is_passing(read_stream(p, &t, i, NULL)))
			pm_build_fail(a, -ENOMEM);
	int measured = p->gpu_frames ? 1 : is_measured(m, err);
	pm_build_check(a, measured);
	if (measured == 0)
		add_traced(&t, m, err);
	for (uint32_t row = 0; measured > 0 && row < f->n; row++) {
		const struct launches *l = &t.launches[f->function[row]];
		if (p->gpu_frames)
			add_calls(&t, row, l);
		else
			add_measured(&t, row, l);
	}
	pm_arena_done(scratch);
	pm_build_check(a, pm_sort(ret->rows, ret->n, sizeof(*ret->rows), longest_first));
}

int pmfs_gpu(struct pmfs_model *m, const struct pmfs_gpu **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_gpu), .what = "the work of GPUs", .build = build_gpu};
	return pmfs_model_part(m, PMFS_PART_GPU, &type, ret, err);
}

/* GPU code is in modules; for formats without modules, metrics are not examined. */
int pmfs_gpu_has(struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_threads *threads;
	if (p->gpu_frames || !p->has_modules)
		return p->gpu_frames;
	int r = p->ops->has ? p->ops->has(p, PM_HAS_GPU_METRICS, err) : 1;
	if (r <= 0)
		return pm_is_passing(r) ? r : 0;
	r = is_measured(m, err);
	if (r != 0 || !pm_profile_has(p, threads) || !p->ops->samples)
		return r;
	r = pmfs_model_threads(m, &threads, NULL);
	for (uint32_t i = 0; r == 0 && i < threads->n; i++)
		if (threads->threads[i].has_trace && pm_time_of(threads, i) == PM_TIME_GPUS)
			return 1;
	return pm_is_passing(r) ? pmfs_no_memory(err) : 0;
}
