/* Totals of threads: summed on first need for each thread, and kept. */
#include "fs/views/sums/threads.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "formats/common/pipeline.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"

/* ---- totals ---- */

struct totals_part {
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	uint8_t *roles;       /* by context: which costs of it count, bits 1 << enum pm_role */
	pthread_mutex_t lock; /* of what follows */
	bool *known;          /* by thread */
	pm_number *cells;     /* columns->n a thread */
};

/* Roles that count toward the thread's total at this context; every cost counts once. */
static uint8_t roles_of(const struct pm_tree *tree, uint32_t context)
{
	bool top = tree->depth[context] == 0;
	uint8_t roles = 1 << PM_ROLE_COUNT | 1 << PM_ROLE_OTHER;
	if (top)
		roles |= 1 << PM_ROLE_INCLUSIVE;
	if (top || !pm_tree_frame(tree, context)->nested)
		roles |= 1 << PM_ROLE_EXCLUSIVE;
	return roles;
}

static void end_lock(void *lock)
{
	pthread_mutex_destroy(lock);
}

static void build_totals(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct totals_part *part = p;
	const struct pm_threads *threads;
	pthread_mutex_init(&part->lock, NULL);
	pm_arena_owns(a, end_lock, &part->lock);
	pm_build_check(a, pmfs_model_threads(m, &threads, err));
	pm_build_check(a, pmfs_model_columns(m, &part->columns, err));
	pm_build_check(a, pmfs_model_tree(m, &part->tree, err));
	size_t n = threads->n, n_contexts = part->tree->n_contexts;
	part->known = pm_arena_array(a, n + 1, sizeof(*part->known));
	part->cells = pm_arena_array(a, n * part->columns->n + 1, sizeof(*part->cells));
	part->roles = pm_arena_array(a, n_contexts + 1, sizeof(*part->roles));
	for (uint32_t i = 0; i < n_contexts; i++)
		part->roles[i] = roles_of(part->tree, i);
}

/*
 * Inclusive costs and counts of context 0 are the stored totals of the thread, which replace the
 * sums over contexts, unless there is such a context: in windows, nothing runs in it.
 */
static int sum_thread(struct pmfs_model *m, uint32_t thread, const struct totals_part *part,
	pm_number *cells, struct pm_error *err)
{
	const struct pmfs_columns *columns = part->columns;
	struct pmfs_values values;
	const struct pm_value *v;
	uint64_t number = PM_NO_TIME;
	uint8_t counted = 0; /* roles of that context */
	pm_number *stored = malloc((columns->n + 1) * sizeof(*stored));
	int r;
	if (!stored)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < columns->n; i++)
		stored[i] = cells[i] = NAN;
	pmfs_values_start(&values, m, (struct pm_values_of){PM_OF_THREAD, thread, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		uint32_t column = pmfs_column_of(columns, v->metric, true);
		if (column == PM_NONE)
			continue;
		if (v->context != number) {
			number = v->context;
			uint32_t context = pm_tree_find(part->tree, number);
			counted = context == PM_NONE ? 0 : part->roles[context];
		}
		enum pm_role role = columns->columns[column].role;
		if (number == 0 && !counted && (role == PM_ROLE_INCLUSIVE || role == PM_ROLE_COUNT))
			stored[column] = pmfs_value_number(v);
		else if (counted & 1 << role)
			pmfs_add(&cells[column], pmfs_value_number(v));
	}
	/* Where the inclusive costs of top-level contexts overlap, they are not the total. */
	for (uint32_t i = 0; pmfs_costs_overlap(m) && i < columns->n; i++)
		if (columns->columns[i].role == PM_ROLE_INCLUSIVE &&
			columns->columns[i].pair != PM_NONE)
			cells[i] = cells[columns->columns[i].pair];
	for (uint32_t i = 0; i < columns->n; i++)
		if (!isnan(stored[i]))
			cells[i] = stored[i];
	free(stored);
	return r;
}

int pmfs_thread_stored(
	struct pmfs_model *m, uint32_t thread, pm_number *cells, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	struct pmfs_values values;
	const struct pm_value *v;
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < columns->n; i++)
		cells[i] = NAN;
	pmfs_values_start(&values, m, (struct pm_values_of){PM_OF_THREAD, thread, false}, 0);
	while ((r = pmfs_values_peek(&values, &v, err)) > 0 && v->context == 0) {
		uint32_t column = pmfs_column_of(columns, v->metric, true);
		if (column != PM_NONE)
			cells[column] = pmfs_value_number(v);
		pmfs_values_step(&values);
	}
	return r < 0 ? r : 0;
}

int pmfs_thread_totals(
	struct pmfs_model *m, uint32_t thread, pm_number *cells, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct totals_part), .what = "the totals of threads", .build = build_totals};
	struct totals_part *part;
	int r = pmfs_model_part(m, PMFS_PART_THREAD_TOTALS, &type, &part, err);
	if (r < 0)
		return r;
	uint32_t n = part->columns->n;
	pm_number *kept = part->cells + (size_t)thread * n;
	size_t size = n * sizeof(*cells);
	pthread_mutex_lock(&part->lock);
	bool known = part->known[thread];
	if (known)
		memcpy(cells, kept, size);
	pthread_mutex_unlock(&part->lock);
	if (known || (r = sum_thread(m, thread, part, cells, err)) < 0)
		return r;
	pthread_mutex_lock(&part->lock);
	memcpy(kept, cells, size);
	part->known[thread] = true;
	pthread_mutex_unlock(&part->lock);
	return 0;
}

/* ---- all threads ---- */

/* Number of threads read ahead; each may have a value for every context. */
enum { MOST_AHEAD = 8 };

struct run {
	const struct pmfs_all_threads *all;
	struct pm_arena *a;
	pthread_mutex_t lock; /* of err */
	struct pm_error *err;
};

/* A thread that is read, or a result that is taken. */
struct one {
	const struct pmfs_all_threads *all;
	uint32_t i;
	void *result;
	struct pm_error why;
};

static void make_one(void *context)
{
	struct one *one = context;
	one->all->make(one->result, one->all->self, one->i, one->result, &one->why);
}

static int run_make(void *context, uint32_t i, void *result)
{
	struct run *run = context;
	struct one one = {run->all, i, result, {.offset = PM_NO_OFFSET}};
	int r = pm_build(result, make_one, &one);
	if (pmfs_is_unreadable(r)) {
		pm_arena_done(result);
		memset(result, 0, run->all->size);
		return 0;
	}
	if (r < 0) {
		pthread_mutex_lock(&run->lock);
		pm_error_set(run->err, r, one.why.file, one.why.offset, "%s",
			one.why.code ? one.why.text : "no memory");
		pthread_mutex_unlock(&run->lock);
	}
	return r;
}

static void take_one(void *context)
{
	struct one *one = context;
	one->all->take(one->all->self, one->i, one->result);
}

/* An attempt of its own, for the pipeline holds threads. */
static int run_take(void *context, uint32_t i, void *result)
{
	const struct run *run = context;
	return pm_build(run->a, take_one, &(struct one){.all = run->all, .i = i, .result = result});
}

static void run_drop(void *result)
{
	pm_arena_done(result);
}

static uint64_t run_weigh(void *context, uint32_t i)
{
	(void)context;
	(void)i;
	return 1;
}

void pmfs_read_all_threads(
	struct pm_arena *a, const struct pmfs_all_threads *all, struct pm_error *err)
{
	struct run run = {all, a, PTHREAD_MUTEX_INITIALIZER, err};
	struct pm_pipeline pipeline = {.n = all->n,
		.size = all->size,
		.make = run_make,
		.take = run_take,
		.drop = run_drop,
		.weigh = run_weigh,
		.most = MOST_AHEAD,
		.context = &run};
	pm_build_check(a, pm_pipeline_run(&pipeline));
}

/* ---- traces ---- */

int pmfs_thread_has_trace(struct pmfs_model *m, uint32_t thread, struct pm_error *err)
{
	const struct pm_threads *threads;
	int r = pmfs_model_threads(m, &threads, NULL);
	return pm_is_passing(r) ? pmfs_no_memory(err)
				: r == 0 && threads->threads[thread].has_trace;
}

int pmfs_some_thread_has_trace(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_threads *threads;
	(void)item;
	int r = pmfs_model_threads(m, &threads, NULL);
	if (r < 0)
		return pm_is_passing(r) ? pmfs_no_memory(err) : 0;
	for (uint32_t i = 0; i < threads->n; i++)
		if (threads->threads[i].has_trace)
			return 1;
	return 0;
}

/* ---- times ---- */

int pmfs_time_origin(struct pmfs_model *m, uint64_t *ret, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	uint64_t duration;
	return pm_profile_span(p, ret, &duration, err);
}

/* ---- threads without any cost ---- */

/* State while threads are examined. */
struct looking {
	struct pm_arena *a;
	struct pmfs_model *model;
	const struct pmfs_columns *columns;
	const struct pm_threads *threads;
	bool *empty; /* by thread, until a cost is found */
};

static bool costs(double value)
{
	return !isnan(value) && value != 0;
}

static int look_at_context(struct looking *l, uint32_t context)
{
	struct pmfs_values values;
	const struct pm_value *v;
	int r;
	pmfs_values_start(
		&values, l->model, (struct pm_values_of){PM_OF_CONTEXT, context, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, NULL)) > 0; pmfs_values_step(&values)) {
		uint32_t column = pmfs_column_of(l->columns, v->metric, false);
		double value = pmfs_value_number(v);
		if (column != PM_NONE && v->thread < l->threads->n && costs(value))
			l->empty[v->thread] = false;
	}
	return r;
}

/* An unreadable thread counts as empty here; damage.csv lists it. */
static void look_at_totals(struct looking *l)
{
	pm_number *cells = pmfs_cells_new(l->a, l->columns->n);
	for (uint32_t t = 0; t < l->threads->n; t++) {
		int known = pmfs_thread_totals(l->model, t, cells, NULL);
		if (pm_is_passing(known))
			pm_build_fail(l->a, known);
		for (uint32_t i = 0; known == 0 && i < l->columns->n; i++)
			if (costs(cells[i]))
				l->empty[t] = false;
	}
	pm_arena_free(l->a, cells);
}

static void build_empty(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct pmfs_empty_threads *ret = p;
	struct looking l = {.a = a, .model = m};
	const struct pm_tree *tree;
	bool lone = false; /* some columns are of a quantity without inclusive costs */
	pm_build_check(a, pmfs_model_columns(m, &l.columns, err));
	pm_build_check(a, pmfs_model_threads(m, &l.threads, err));
	pm_build_check(a, pmfs_model_tree(m, &tree, err));
	ret->empty = l.empty = pm_arena_array(a, (size_t)l.threads->n + 1, sizeof(*l.empty));
	memset(l.empty, true, l.threads->n);
	for (uint32_t i = 0; i < tree->n_contexts; i = tree->end[i])
		if (pm_is_passing(look_at_context(&l, i)))
			pm_build_fail(a, -ENOMEM);
	for (uint32_t i = 0; i < l.columns->n; i++)
		lone |= l.columns->columns[i].role != PM_ROLE_INCLUSIVE &&
			l.columns->columns[i].pair == PM_NONE;
	if (lone)
		look_at_totals(&l);
	for (uint32_t t = 0; t < l.threads->n; t++)
		ret->n_empty += l.empty[t] && !l.threads->threads[t].is_lane;
	ret->n_threads = l.threads->n - l.threads->n_lanes;
}

int pmfs_empty_threads(
	struct pmfs_model *m, const struct pmfs_empty_threads **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_empty_threads),
		.what = "the empty threads", .build = build_empty};
	struct pmfs_model *whole;
	int r = pmfs_model_whole(m, &whole, err);
	if (r < 0)
		return r;
	/* With how many threads it ran, does not depend on a filter. */
	if (whole)
		return pmfs_empty_threads(whole, ret, err);
	return pmfs_model_part(m, PMFS_PART_EMPTY_THREADS, &type, ret, err);
}

uint64_t pmfs_thread_key(const struct pm_threads *threads, uint32_t thread, const char *const *keys)
{
	const struct pm_thread *t = &threads->threads[thread];
	for (; *keys; keys++)
		for (uint32_t i = 0; i < t->n_identity; i++)
			if (strcmp(threads->keys[t->identity[i].key], *keys) == 0)
				return t->identity[i].value + 1;
	return 0;
}

uint64_t pmfs_thread_process(const struct pm_threads *threads, uint32_t thread)
{
	static const char *const keys[] = {"rank", "process", "pid", NULL};
	return pmfs_thread_key(threads, thread, keys);
}

struct pm_cell *pmfs_identity_cells(
	const struct pm_threads *threads, uint32_t thread, struct pm_cell *cells)
{
	const struct pm_thread *t = &threads->threads[thread];
	for (uint32_t i = 0; i < threads->n_keys; i++)
		cells[i] = pm_cell_empty();
	for (uint32_t i = 0; i < t->n_identity; i++)
		cells[t->identity[i].key] = pm_cell_i64((int64_t)t->identity[i].value);
	return cells + threads->n_keys;
}
