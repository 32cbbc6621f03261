/* The flat profile: the cost of each function in the run, below a context, in a thread. */
#include "fs/views/sums/functions.h"

#include <errno.h>
#include <math.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "profmount/limits.h"

/* ---- the category of each function ---- */

/* State while the categories of functions are determined. */
struct weighing {
	struct pm_arena *scratch;
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
static void look_at_contexts(struct weighing *w)
{
	const struct pmfs_identity *id = w->identity;
	struct pmfs_rules_found found = {
		{.home = w->scratch, .lasting.arena = w->scratch}, {.arena = w->scratch}};
	for (uint32_t i = 0; i < id->tree->n_contexts; i++) {
		uint32_t function = pmfs_function_of(id, i);
		if (w->of[function] == NOT_SEEN)
			w->of[function] = w->categories[i];
		w->mixed[function] |= w->of[function] != w->categories[i];
		w->any_mixed |= w->mixed[function];
	}
	for (uint32_t i = 0; i < id->n; i++) {
		if (w->of[i] != NOT_SEEN)
			continue;
		const struct pmfs_rule *rule = pmfs_rule_in_tree(
			&found, id->tree, id->functions[i].name, id->functions[i].module);
		w->of[i] = rule ? (uint8_t)rule->category : PMFS_PROGRAM;
		pm_build_proceed(w->scratch);
	}
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

static void weigh_contexts(
	struct weighing *w, const struct pmfs_columns *c, uint32_t column, struct pm_error *err)
{
	struct pmfs_columns one = {.n = 1, .columns = &c->columns[column]};
	pm_number *cells = pmfs_cells_new(w->scratch, c->n);
	for (uint32_t i = 0; i < w->identity->tree->n_contexts; i++) {
		struct pmfs_share share = share_of(w, i);
		bool above = share.above != PM_NONE && w->mixed[share.above / PMFS_N_CATEGORIES];
		if (!above && !w->mixed[share.row / PMFS_N_CATEGORIES])
			continue;
		pm_build_check(w->scratch, pmfs_run_cells(w->model, i, true, cells, err));
		pmfs_share_costs(&one, w->own, NULL, &share, &cells[column]);
	}
}

/*
 * By function: the category with most of its exclusive cost of the primary quantity, or that of its
 * first context if it has no cost.
 */
static const uint8_t *function_categories(struct pm_arena *a, struct pmfs_model *m,
	const struct pmfs_identity *id, const struct pmfs_columns *c, struct pm_error *err)
{
	struct weighing w = {.scratch = pm_arena_scratch(a), .model = m, .identity = id};
	size_t n = id->n;
	uint32_t column = pmfs_order_column(c);
	pm_build_check(a, pmfs_categories(m, &w.categories, err));
	w.of = pm_arena_array(a, n + 1, 1);
	w.mixed = pm_arena_array(w.scratch, n + 1, sizeof(*w.mixed));
	memset(w.of, NOT_SEEN, n + 1);
	look_at_contexts(&w);
	if (w.any_mixed) {
		w.own = pmfs_cells_new(w.scratch, n * PMFS_N_CATEGORIES);
		if (column != PM_NONE)
			weigh_contexts(&w, c, column, err);
		for (uint32_t i = 0; i < w.identity->n; i++) {
			const pm_number *own = w.own + (size_t)i * PMFS_N_CATEGORIES;
			for (uint8_t k = 0; w.mixed[i] && k < PMFS_N_CATEGORIES; k++)
				if (own[k] > 0 && !(own[w.of[i]] >= own[k]))
					w.of[i] = k;
		}
	}
	pm_arena_done(w.scratch);
	return w.of;
}

/*
 * ---- of the run ----
 *
 * The flat profile. Summed over the contexts in one pass in pre-order, or taken from the format
 * if it provides it.
 */

/* While rows are made: everything by function. */
struct summing {
	struct pm_arena *a, *scratch;
	struct pmfs_model *model;
	const struct pm_profile *profile;
	const struct pm_tree *tree;
	const struct pmfs_identity *identity;
	const struct pmfs_columns *columns;
	uint32_t *n_contexts;
	pm_number *cells;
};

/* ---- summing ---- */

static void sum_contexts(struct summing *s, struct pm_error *err)
{
	pm_number *cells = pmfs_cells_new(s->scratch, s->columns->n);
	for (uint32_t i = 0; i < s->tree->n_contexts; i++) {
		struct pmfs_share share = pmfs_function_share(s->identity, i);
		if (pmfs_share_is_empty(s->columns, &share))
			continue;
		pm_build_check(s->a, pmfs_run_cells(s->model, i, true, cells, err));
		pmfs_share_costs(s->columns, s->cells, NULL, &share, cells);
	}
}

static void take_native(struct summing *s, const pm_number *values, struct pm_error *err)
{
	const struct pm_metrics *metrics;
	pm_build_check(s->a, pmfs_model_metrics(s->model, &metrics, err));
	pm_number *cells = pmfs_cells_new(s->scratch, s->columns->n);
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

static void make_rows(struct pmfs_functions *f, struct summing *s)
{
	size_t n = s->identity->n;
	uint32_t *order = pmfs_order(
		s->scratch, s->cells, s->identity->n, s->columns->n, pmfs_order_column(s->columns));
	uint32_t *functions = pm_arena_array(s->a, n + 1, sizeof(*functions));
	uint32_t *row = pm_arena_array(s->a, n + 1, sizeof(*row));
	uint32_t *first = pm_arena_array(s->a, n + 1, sizeof(*first));
	put_rowless_last(s, order, row);
	uint32_t rows = 0, n_contexts = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t function = order[i];
		row[function] = PM_NONE;
		if (!has_row(s, function))
			continue;
		row[function] = rows;
		functions[rows] = function;
		first[rows] = n_contexts;
		n_contexts += s->n_contexts[function];
		rows++;
	}
	first[rows] = n_contexts;
	put_in_order(s->cells, s->columns->n, order, s->identity->n,
		pm_arena_array(s->scratch, n + 1, sizeof(bool)),
		pmfs_cells_new(s->scratch, s->columns->n));
	uint32_t *next = pm_arena_array(s->scratch, (size_t)rows + 1, sizeof(*next));
	uint32_t *contexts = pm_arena_array(s->a, (size_t)n_contexts + 1, sizeof(*contexts));
	memcpy(next, first, (size_t)rows * sizeof(*next));
	for (uint32_t i = 0; i < s->tree->n_contexts; i++)
		if (pmfs_is_call(s->identity, i))
			contexts[next[row[pmfs_function_of(s->identity, i)]]++] = i;
	*f = (struct pmfs_functions){.n = rows,
		.function = functions,
		.row = row,
		.first = first,
		.contexts = contexts,
		.cells = s->cells,
		.identity = s->identity,
		.tree = s->tree,
		.columns = s->columns};
}

static void build_functions(struct pm_arena *a, void *m, void *part, struct pm_error *err)
{
	struct pmfs_functions *f = part;
	struct summing s = {.a = a,
		.scratch = pm_arena_scratch(a),
		.model = m,
		.profile = pmfs_model_profile(m)};
	const struct pm_flat *flat;
	pm_build_check(a, pmfs_identity(m, &s.identity, err));
	pm_build_check(a, pmfs_model_columns(m, &s.columns, err));
	s.tree = s.identity->tree;
	size_t n = s.identity->n;
	if (n * s.columns->n > PM_LIMIT_CELLS)
		pm_build_fail(a,
			pm_error_set(err, -EFBIG, NULL, PM_NO_OFFSET,
				"%zu functions with %u columns are more than %zu numbers", n,
				s.columns->n, PM_LIMIT_CELLS));
	s.n_contexts = pm_arena_array(s.scratch, n + 1, sizeof(*s.n_contexts));
	s.cells = pmfs_cells_new(a, n * s.columns->n);
	for (uint32_t i = 0; i < s.tree->n_contexts; i++)
		if (pmfs_is_call(s.identity, i))
			s.n_contexts[pmfs_function_of(s.identity, i)]++;
	pm_build_check(a, pmfs_model_flat(m, &flat, err));
	sum_contexts(&s, err);
	if (flat->functions)
		take_native(&s, flat->functions, err);
	make_rows(f, &s);
	pm_arena_done(s.scratch);
	f->evals = flat->evals;
	f->category = function_categories(a, m, s.identity, s.columns, err);
}

int pmfs_functions(struct pmfs_model *m, const struct pmfs_functions **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_functions), .what = "the functions", .build = build_functions};
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

/* The subtree of a line or an instruction begins inside a function, and represents it there. */
static void place(void *self, uint32_t context, struct pmfs_share *share)
{
	struct subtree *s = self;
	struct pmfs_flat_profile *p = s->profile;
	const struct pmfs_functions *f = p->functions;
	uint32_t whole = f->row[pmfs_function_of(f->identity, context)], n = s->sums.n;
	bool is_call = pmfs_is_call(f->identity, context), fresh;
	share->row = PM_NONE;
	if (whole == PM_NONE ||
		(!is_call && pm_tree_frame(f->tree, context)->kind == PM_KIND_ENTRY))
		return;
	share->row = *pm_map_put(&s->rows, whole, n, &fresh);
	share->counts = is_call || context == s->root;
	if (fresh) {
		pm_list_grow(s->sums.arena, &p->whole, n, &s->room_whole, sizeof(*p->whole));
		pm_list_grow(
			s->sums.arena, &p->contexts, n, &s->room_contexts, sizeof(*p->contexts));
		p->whole[n] = whole;
		p->contexts[n] = 0;
		pmfs_sums_row(&s->sums);
	}
	p->contexts[share->row] += share->counts;
}

struct pmfs_flat_profile *pmfs_context_functions(
	struct pm_arena *a, struct pmfs_model *m, uint32_t context, struct pm_error *err)
{
	struct pmfs_flat_profile *p = pm_arena_alloc(a, sizeof(*p));
	struct subtree s = {.profile = p, .root = context, .sums.arena = a, .rows.arena = a};
	pm_build_check(a, pmfs_functions(m, &p->functions, err));
	const struct pmfs_functions *f = p->functions;
	struct pmfs_grouping g = {.model = m,
		.tree = f->tree,
		.first = context,
		.end = f->tree->end[context],
		.place = place,
		.self = &s};
	s.sums.columns = f->columns;
	pmfs_group(&g, &s.sums, err);
	p->n = s.sums.n;
	p->cells = s.sums.cells;
	p->order = pmfs_order(a, p->cells, p->n, f->columns->n, pmfs_order_column(f->columns));
	return p;
}

/* ---- of a thread ---- */

/* Adds a context's cells to the rows of its functions. */
static void add_context(void *self, uint32_t context, const pm_number *cells)
{
	struct pmfs_flat_profile *t = self;
	const struct pmfs_functions *f = t->functions;
	struct pmfs_share share = pmfs_function_share(f->identity, context);
	share.row = f->row[share.row];
	share.above = share.above == PM_NONE ? PM_NONE : f->row[share.above];
	if (share.row == PM_NONE)
		return;
	t->contexts[share.row] += pmfs_is_call(f->identity, context);
	pmfs_share_costs(f->columns, t->cells, NULL, &share, cells);
}

struct pmfs_flat_profile *pmfs_thread_functions(
	struct pm_arena *a, struct pmfs_model *m, uint32_t thread, struct pm_error *err)
{
	struct pmfs_flat_profile *t = pm_arena_alloc(a, sizeof(*t));
	pm_build_check(a, pmfs_functions(m, &t->functions, err));
	const struct pmfs_functions *f = t->functions;
	t->contexts = pm_arena_array(a, f->n, sizeof(*t->contexts));
	t->cells = pmfs_cells_new(a, (size_t)f->n * f->columns->n);
	pmfs_values_by_context(a, m, thread, add_context, t, err);
	t->order = pmfs_order(a, t->cells, f->n, f->columns->n, pmfs_order_column(f->columns));
	/* Functions without costs on the thread are left out. */
	for (uint32_t i = 0; i < f->n; i++)
		if (t->contexts[t->order[i]] > 0)
			t->order[t->n++] = t->order[i];
	return t;
}
