/*
 * The flat profile. Summed over the contexts in one pass in pre-order, or taken from the format if
 * it provides it.
 */
#include "fs/views/sums/functions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/functioncategories.h"
#include "fs/views/sums/groups.h"
#include "profmount/limits.h"

struct functions_part {
	struct pmfs_functions functions;
	uint32_t *function, *row, *first, *contexts;
	uint8_t *category;
	double *cells;
};

/* While rows are made: everything by function. */
struct summing {
	struct pmfs_model *model;
	const struct pm_profile *profile;
	const struct pm_tree *tree;
	const struct pmfs_identity *identity;
	const struct pmfs_columns *columns;
	const struct pm_evals *evals;
	uint32_t *n_contexts;
	double *cells;
};

static void functions_done(void *p)
{
	struct functions_part *part = p;
	free(part->function);
	free(part->row);
	free(part->first);
	free(part->contexts);
	free(part->category);
	free(part->cells);
}

/* ---- summing ---- */

static int sum_contexts(struct summing *s, struct pm_error *err)
{
	const struct pmfs_identity *id = s->identity;
	int r = 0;
	double *cells = pmfs_cells_new(s->columns->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < s->tree->n_contexts; i++) {
		struct pmfs_share share = pmfs_function_share(id, i);
		if (pmfs_share_is_empty(s->columns, &share))
			continue;
		r = pmfs_run_cells(s->model, i, true, cells, err);
		if (r == 0)
			pmfs_share_costs(s->columns, s->cells, NULL, &share, cells);
	}
	free(cells);
	return r;
}

static int take_native(struct summing *s, const double *values, struct pm_error *err)
{
	const struct pm_metrics *metrics;
	int r = pmfs_model_metrics(s->model, &metrics, err);
	if (r < 0)
		return r;
	double *cells = pmfs_cells_new(s->columns->n);
	if (!cells)
		return pmfs_no_memory(err);
	/* Sums over contexts are kept for functions for which the format has no costs. */
	for (uint32_t i = 0; i < s->tree->n_functions; i++)
		for (uint32_t k = 0; k < s->columns->n; k++)
			s->cells[(size_t)s->identity->same[i] * s->columns->n + k] = NAN;
	for (uint32_t i = 0; i < s->tree->n_functions; i++) {
		uint32_t function = s->identity->same[i];
		pmfs_native_cells(s->columns, metrics, values + (size_t)i * metrics->n, cells);
		pmfs_add_cells(
			s->columns, s->cells + (size_t)function * s->columns->n, cells, true);
	}
	free(cells);
	return 0;
}

/* ---- rows ---- */

/* Functions with a context have a row; all functions do if the format provides them. */
static bool has_row(const struct summing *s, uint32_t function)
{
	if (s->n_contexts[function] > 0)
		return true;
	return s->profile->ops->flat && function < s->tree->n_functions &&
		s->identity->same[function] == function;
}

/*
 * Permutes rows in place, so that row i becomes the old row order[i]: each cycle of the permutation
 * is followed once. `done` is zeroed.
 */
static void put_in_order(double *cells, size_t n_columns, const uint32_t *order, uint32_t n,
	bool *done, double *kept)
{
	size_t size = n_columns * sizeof(*cells);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i;
		if (done[i] || order[i] == i)
			continue;
		memcpy(kept, cells + i * n_columns, size);
		for (; order[at] != i; at = order[at]) {
			memcpy(cells + at * n_columns, cells + order[at] * n_columns, size);
			done[at] = true;
		}
		memcpy(cells + at * n_columns, kept, size);
		done[at] = true;
	}
}

/* Those without a row come after all others, in their order. */
static void put_rowless_last(const struct summing *s, uint32_t *order, uint32_t *spare)
{
	uint32_t n = 0, n_spare = 0;
	for (uint32_t i = 0; i < s->identity->n; i++) {
		if (has_row(s, order[i]))
			order[n++] = order[i];
		else
			spare[n_spare++] = order[i];
	}
	memcpy(order + n, spare, n_spare * sizeof(*order));
}

/* Takes the table over. */
static int order_cells(struct functions_part *part, struct summing *s, const uint32_t *order)
{
	bool *done = calloc((size_t)s->identity->n + 1, sizeof(*done));
	double *kept = malloc(((size_t)s->columns->n + 1) * sizeof(*kept));
	if (done && kept) {
		put_in_order(s->cells, s->columns->n, order, s->identity->n, done, kept);
		part->cells = s->cells;
		s->cells = NULL;
	}
	free(done);
	free(kept);
	return part->cells ? 0 : -ENOMEM;
}

static int make_rows(struct functions_part *part, struct summing *s)
{
	size_t n = s->identity->n;
	uint32_t *order =
		pmfs_order(s->cells, s->identity->n, s->columns->n, pmfs_order_column(s->columns));
	part->function = malloc((n + 1) * sizeof(*part->function));
	part->row = malloc((n + 1) * sizeof(*part->row));
	part->first = malloc((n + 1) * sizeof(*part->first));
	if (!order || !part->function || !part->row || !part->first) {
		free(order);
		return -ENOMEM;
	}
	put_rowless_last(s, order, part->row);
	uint32_t rows = 0, contexts = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t function = order[i];
		part->row[function] = PM_NONE;
		if (!has_row(s, function))
			continue;
		part->row[function] = rows;
		part->function[rows] = function;
		part->first[rows] = contexts;
		contexts += s->n_contexts[function];
		rows++;
	}
	part->first[rows] = contexts;
	part->functions.n = rows;
	int r = order_cells(part, s, order);
	free(order);
	return r;
}

static int list_contexts(struct functions_part *part, const struct summing *s)
{
	uint32_t rows = part->functions.n;
	uint32_t *next = malloc(((size_t)rows + 1) * sizeof(*next));
	part->contexts = malloc(((size_t)part->first[rows] + 1) * sizeof(*part->contexts));
	if (!next || !part->contexts) {
		free(next);
		return -ENOMEM;
	}
	memcpy(next, part->first, (size_t)rows * sizeof(*next));
	for (uint32_t i = 0; i < s->tree->n_contexts; i++)
		if (pmfs_is_call(s->identity, i))
			part->contexts[next[part->row[pmfs_function_of(s->identity, i)]]++] = i;
	free(next);
	return 0;
}

static int make_part(struct functions_part *part, struct summing *s, struct pm_error *err)
{
	size_t n = s->identity->n;
	if (n * s->columns->n > PM_LIMIT_CELLS)
		return pm_error_set(err, -EFBIG, NULL, PM_NO_OFFSET,
			"%zu functions with %u columns are more than %zu numbers", n, s->columns->n,
			PM_LIMIT_CELLS);
	s->n_contexts = calloc(n + 1, sizeof(*s->n_contexts));
	s->cells = pmfs_cells_new(n * s->columns->n);
	if (!s->n_contexts || !s->cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < s->tree->n_contexts; i++)
		if (pmfs_is_call(s->identity, i))
			s->n_contexts[pmfs_function_of(s->identity, i)]++;
	const struct pm_flat *flat;
	int r = pmfs_model_flat(s->model, &flat, err);
	if (r == 0)
		r = sum_contexts(s, err);
	if (r == 0)
		s->evals = flat->evals;
	if (r == 0 && flat->functions)
		r = take_native(s, flat->functions, err);
	if (r < 0)
		return r;
	if (make_rows(part, s) < 0 || list_contexts(part, s) < 0)
		return pmfs_no_memory(err);
	return pmfs_function_categories(s->model, &part->category, err);
}

static int functions_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct functions_part *part = p;
	struct summing s = {.model = m, .profile = pmfs_model_profile(m)};
	int r = pmfs_identity(m, &s.identity, err);
	if (r < 0 || (r = pmfs_model_columns(m, &s.columns, err)) < 0)
		return r;
	s.tree = s.identity->tree;
	r = make_part(part, &s, err);
	free(s.n_contexts);
	free(s.cells);
	if (r < 0)
		return r;
	part->functions = (struct pmfs_functions){.n = part->functions.n,
		.function = part->function,
		.row = part->row,
		.first = part->first,
		.contexts = part->contexts,
		.cells = part->cells,
		.category = part->category,
		.evals = s.evals,
		.identity = s.identity,
		.tree = s.tree,
		.columns = s.columns};
	return 0;
}

int pmfs_functions(struct pmfs_model *m, const struct pmfs_functions **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct functions_part), functions_fill,
		functions_done, .what = "the functions"};
	return pmfs_model_part(m, PMFS_PART_FUNCTIONS, &type, ret, err);
}

int pmfs_functions_are_timed(const struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	if (!p->ops->call_times)
		return 0;
	return p->ops->has ? p->ops->has(p, PM_HAS_CALL_TIMES, err) : 1;
}
