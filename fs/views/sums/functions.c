/* The flat profile: the cost of each function in the run, below a context, in a thread. */
#include "fs/views/sums/functions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/work.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/categoryrules.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/groups.h"
#include "profmount/limits.h"

/* ---- the category of each function ---- */

/* State while the categories of functions are determined. */
struct weighing {
	struct pmfs_model *model;
	const struct pmfs_identity *identity;
	const uint8_t *categories; /* by context */
	uint8_t *of;               /* by function */
	bool *mixed;               /* by function: its contexts are of several */
	bool any_mixed;
	pm_number *own; /* by function and category */
};

enum { NOT_SEEN = PMFS_N_CATEGORIES };

/* Instances take precedence over parts, which have the category of their instance. */
static int look_at_contexts(struct weighing *w)
{
	const struct pmfs_identity *id = w->identity;
	struct pmfs_rules_found found = {.names.n = 0};
	bool wanted = true;
	for (uint32_t i = 0; i < id->tree->n_contexts; i++) {
		uint32_t function = pmfs_function_of(id, i);
		if (w->of[function] == NOT_SEEN)
			w->of[function] = w->categories[i];
		w->mixed[function] |= w->of[function] != w->categories[i];
		w->any_mixed |= w->mixed[function];
	}
	for (uint32_t i = 0; wanted && i < id->n; i++) {
		if (w->of[i] != NOT_SEEN)
			continue;
		const struct pmfs_rule *rule = pmfs_rule_in_tree(
			&found, id->tree, id->functions[i].name, id->functions[i].module);
		w->of[i] = rule ? (uint8_t)rule->category : PMFS_PROGRAM;
		wanted = !pm_work_cancelled();
	}
	pmfs_rules_found_done(&found);
	return wanted ? 0 : -ENOMEM;
}

/* A context's share in a table with a row for each function and category. */
static struct pmfs_share share_of(const struct weighing *w, uint32_t context)
{
	struct pmfs_share share = pmfs_function_share(w->identity, context);
	uint32_t parent = w->identity->tree->parent[context];
	share.row = share.row * PMFS_N_CATEGORIES + w->categories[context];
	if (share.above != PM_NONE)
		share.above = share.above * PMFS_N_CATEGORIES + w->categories[parent];
	return share;
}

static int weigh_contexts(struct weighing *w, struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(w->model, &c, err);
	uint32_t column = r < 0 ? PM_NONE : pmfs_order_column(c);
	if (r < 0 || column == PM_NONE)
		return r;
	struct pmfs_columns one = {.n = 1, .columns = &c->columns[column]};
	pm_number *cells = pmfs_cells_new(NULL, c->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < w->identity->tree->n_contexts; i++) {
		struct pmfs_share share = share_of(w, i);
		bool above = share.above != PM_NONE && w->mixed[share.above / PMFS_N_CATEGORIES];
		if (!above && !w->mixed[share.row / PMFS_N_CATEGORIES])
			continue;
		r = pmfs_run_cells(w->model, i, true, cells, err);
		if (r == 0)
			pmfs_share_costs(&one, w->own, NULL, &share, &cells[column]);
	}
	free(cells);
	return r;
}

static void take_dearest(struct weighing *w)
{
	for (uint32_t i = 0; i < w->identity->n; i++) {
		const pm_number *own = w->own + (size_t)i * PMFS_N_CATEGORIES;
		for (uint8_t k = 0; w->mixed[i] && k < PMFS_N_CATEGORIES; k++)
			if (own[k] > 0 && !(own[w->of[i]] >= own[k]))
				w->of[i] = k;
	}
}

static int weigh(struct weighing *w, struct pm_error *err)
{
	size_t n = w->identity->n;
	w->of = malloc(n + 1);
	w->mixed = calloc(n + 1, sizeof(*w->mixed));
	if (!w->of || !w->mixed)
		return pmfs_no_memory(err);
	memset(w->of, NOT_SEEN, n + 1);
	if (look_at_contexts(w) < 0)
		return pmfs_no_memory(err);
	if (!w->any_mixed)
		return 0;
	w->own = pmfs_cells_new(NULL, n * PMFS_N_CATEGORIES);
	if (!w->own)
		return pmfs_no_memory(err);
	int r = weigh_contexts(w, err);
	if (r == 0)
		take_dearest(w);
	return r;
}

/*
 * By function: the category with most of its exclusive cost of the primary quantity, or that of its
 * first context if it has no cost. The caller frees `*ret`. 0, or a negative errno.
 */
static int function_categories(struct pmfs_model *m, uint8_t **ret, struct pm_error *err)
{
	struct weighing w = {.model = m};
	int r = pmfs_identity(m, &w.identity, err);
	if (r == 0)
		r = pmfs_categories(m, &w.categories, err);
	if (r == 0)
		r = weigh(&w, err);
	free(w.mixed);
	free(w.own);
	if (r < 0)
		free(w.of);
	else
		*ret = w.of;
	return r;
}

/*
 * ---- of the run ----
 *
 * The flat profile. Summed over the contexts in one pass in pre-order, or taken from the format
 * if it provides it.
 */

struct functions_part {
	struct pmfs_functions functions;
	uint32_t *function, *row, *first, *contexts;
	uint8_t *category;
	pm_number *cells;
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
	pm_number *cells;
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
	pm_number *cells = pmfs_cells_new(NULL, s->columns->n);
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

static int take_native(struct summing *s, const pm_number *values, struct pm_error *err)
{
	const struct pm_metrics *metrics;
	int r = pmfs_model_metrics(s->model, &metrics, err);
	if (r < 0)
		return r;
	pm_number *cells = pmfs_cells_new(NULL, s->columns->n);
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
	return pm_profile_has(s->profile, flat) && function < s->tree->n_functions &&
		s->identity->same[function] == function;
}

/*
 * Permutes rows in place, so that row i becomes the old row order[i]: each cycle of the permutation
 * is followed once. `done` is zeroed.
 */
static void put_in_order(pm_number *cells, size_t n_columns, const uint32_t *order, uint32_t n,
	bool *done, pm_number *kept)
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
	pm_number *kept = malloc(((size_t)s->columns->n + 1) * sizeof(*kept));
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
		pmfs_order(NULL, s->cells, s->identity->n, s->columns->n, pmfs_order_column(s->columns));
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
	s->cells = pmfs_cells_new(NULL, n * s->columns->n);
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
	return function_categories(s->model, &part->category, err);
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
	if (!pm_profile_has(p, call_times))
		return 0;
	return p->ops->has ? p->ops->has(p, PM_HAS_CALL_TIMES, err) : 1;
}

/* ---- of the contexts below one ---- */

/* While the costs of a subtree are summed. */
struct subtree {
	struct pmfs_flat_profile *profile;
	uint32_t root;
	struct pmfs_sums sums;
	struct pm_map rows; /* row of functions.csv → row here */
	size_t room_whole, room_contexts;
};

static int add_row(struct subtree *s, uint32_t whole)
{
	struct pmfs_flat_profile *p = s->profile;
	uint32_t row = s->sums.n;
	if (pm_list_room(&p->whole, row, &s->room_whole, sizeof(*p->whole)) < 0 ||
		pm_list_room(&p->contexts, row, &s->room_contexts, sizeof(*p->contexts)) < 0)
		return -ENOMEM;
	p->whole[row] = whole;
	p->contexts[row] = 0;
	return pmfs_sums_row(&s->sums, &row);
}

/* The subtree of a line or an instruction begins inside a function, and represents it there. */
static int place(void *self, uint32_t context, struct pmfs_share *share)
{
	struct subtree *s = self;
	const struct pmfs_functions *f = s->profile->functions;
	uint32_t whole = f->row[pmfs_function_of(f->identity, context)];
	bool is_call = pmfs_is_call(f->identity, context), fresh;
	share->row = PM_NONE;
	if (whole == PM_NONE ||
		(!is_call && pm_tree_frame(f->tree, context)->kind == PM_KIND_ENTRY))
		return 0;
	uint32_t *row = pm_map_put(&s->rows, whole, s->sums.n, &fresh);
	if (!row)
		return -ENOMEM;
	share->row = *row;
	share->counts = is_call || context == s->root;
	if (fresh && add_row(s, whole) < 0)
		return -ENOMEM;
	s->profile->contexts[share->row] += share->counts;
	return 0;
}

static int sum_up(struct pmfs_model *m, struct subtree *s, struct pm_error *err)
{
	struct pmfs_flat_profile *p = s->profile;
	const struct pmfs_functions *f = p->functions;
	struct pmfs_grouping g = {.model = m,
		.tree = f->tree,
		.first = s->root,
		.end = f->tree->end[s->root],
		.place = place,
		.self = s};
	s->sums.columns = f->columns;
	int r = pmfs_group(&g, &s->sums, err);
	if (r < 0)
		return r;
	p->n = s->sums.n;
	p->cells = s->sums.cells;
	s->sums.cells = NULL;
	p->order = pmfs_order(NULL, p->cells, p->n, f->columns->n, pmfs_order_column(f->columns));
	return p->order ? 0 : pmfs_no_memory(err);
}

int pmfs_context_functions(struct pmfs_model *m, uint32_t context, struct pmfs_flat_profile **ret,
	struct pm_error *err)
{
	struct subtree s = {.profile = calloc(1, sizeof(*s.profile)), .root = context};
	if (!s.profile)
		return pmfs_no_memory(err);
	int r = pmfs_functions(m, &s.profile->functions, err);
	if (r == 0)
		r = sum_up(m, &s, err);
	pmfs_sums_done(&s.sums);
	pm_map_done(&s.rows);
	if (r < 0)
		pmfs_flat_profile_free(s.profile);
	else
		*ret = s.profile;
	return r;
}

/* ---- of a thread ---- */

void pmfs_flat_profile_free(struct pmfs_flat_profile *f)
{
	if (!f)
		return;
	free(f->order);
	free(f->whole);
	free(f->contexts);
	free(f->cells);
	free(f);
}

/* Adds a context's cells to the rows of its functions. */
static int add_context(void *self, uint32_t context, const pm_number *cells)
{
	struct pmfs_flat_profile *t = self;
	const struct pmfs_functions *f = t->functions;
	struct pmfs_share share = pmfs_function_share(f->identity, context);
	share.row = f->row[share.row];
	share.above = share.above == PM_NONE ? PM_NONE : f->row[share.above];
	if (share.row == PM_NONE)
		return 0;
	t->contexts[share.row] += pmfs_is_call(f->identity, context);
	pmfs_share_costs(f->columns, t->cells, NULL, &share, cells);
	return 0;
}

/* Removes functions without costs on the thread; keeps the order of the others. */
static int order_rows(struct pmfs_flat_profile *t)
{
	const struct pmfs_functions *f = t->functions;
	t->order = pmfs_order(NULL, t->cells, f->n, f->columns->n, pmfs_order_column(f->columns));
	if (!t->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n; i++)
		if (t->contexts[t->order[i]] > 0)
			t->order[t->n++] = t->order[i];
	return 0;
}

int pmfs_thread_functions(
	struct pmfs_model *m, uint32_t thread, struct pmfs_flat_profile **ret, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	if (r < 0)
		return r;
	struct pmfs_flat_profile *t = calloc(1, sizeof(*t));
	if (!t)
		return pmfs_no_memory(err);
	t->functions = f;
	t->contexts = calloc((size_t)f->n + 1, sizeof(*t->contexts));
	t->cells = pmfs_cells_new(NULL, (size_t)f->n * f->columns->n);
	r = t->contexts && t->cells ? pmfs_values_by_context(m, thread, add_context, t, err)
				    : pmfs_no_memory(err);
	if (r == 0 && order_rows(t) < 0)
		r = pmfs_no_memory(err);
	if (r < 0)
		pmfs_flat_profile_free(t);
	else
		*ret = t;
	return r;
}
