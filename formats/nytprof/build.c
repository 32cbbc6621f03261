/*
 * Native tables → the model. Subs are identified by name and file across processes. The trees of
 * the processes are merged, equal names along a path into one context; call edges are in flows.c,
 * lines in lines.c.
 */
#include "formats/nytprof/nytprof.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

/* ==== contexts, from the returns of subs ==== */

struct step {
	uint32_t node;
	uint32_t met;    /* the name as stored: siblings are listed in order of occurrence */
	uint32_t name;   /* number of the sub: nytp_sub_of */
	uint32_t parent; /* rank, or PM_NONE */
};

struct walk {
	const struct nytp_file *file;
	const struct nytp_trie *tree;
	uint32_t *first, *next; /* children: see pm_paths_link */
	struct step *steps;
	size_t n, room;
	struct pm_arena *arena;
};

/* Pushed in reverse: the first to be visited is on top. */
static int by_name(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	return (x->met < y->met) - (x->met > y->met);
}

/* `node` PM_NONE: the top. */
static void push_children(struct nytp_building *b, struct walk *w, uint32_t node, uint32_t rank)
{
	size_t first = w->n;
	for (uint32_t child = w->first[(uint32_t)(node + 1)]; child != PM_NONE;
		child = w->next[child]) {
		uint32_t met = w->tree->paths.items[child].key;
		uint32_t name = met == NYTP_NOT_RETURNED ? met : nytp_sub_of(b->n, w->file, met);
		pm_list_grow(w->arena, &w->steps, w->n, &w->room, sizeof(*w->steps));
		w->steps[w->n++] = (struct step){child, met, name, rank};
	}
	pm_build_check(b->arena,
		pm_sort(w->steps ? w->steps + first : NULL, w->n - first, sizeof(*w->steps),
			by_name));
}

static uint32_t visit(
	struct nytp_building *b, const struct walk *w, const struct step *step, uint32_t thread)
{
	const struct nytp_cost *call = &w->tree->costs[step->node];
	double ns_per_tick = w->file->ns_per_tick;
	uint32_t rank = nytp_context_of(b, step->parent, nytp_frame_of(b, step->name));
	nytp_weigh(b, rank, call->incl * ns_per_tick);
	struct nytp_cell *cell = nytp_cell_add(b, thread, rank);
	cell->values[NYTP_INCL] = call->incl * ns_per_tick;
	if (call->calls == 0) /* not returned: only the calls below it are known */
		return rank;
	cell->values[NYTP_EXCL] = call->excl * ns_per_tick;
	cell->values[NYTP_CALLS] = (double)call->calls;
	return rank;
}

static void walk_thread(
	struct nytp_building *b, const struct nytp_file *f, const struct nytp_thread *thread)
{
	const struct nytp_trie *tree = &thread->calls.tree;
	uint32_t n = tree->paths.n, index = nytp_thread_of(b->threads, thread->pid);
	struct walk w = {.file = f, .tree = tree, .arena = pm_arena_scratch(b->scratch)};
	w.first = pm_arena_array(w.arena, (size_t)n + 1, sizeof(*w.first));
	w.next = pm_arena_array(w.arena, n, sizeof(*w.next));
	pm_paths_link(&tree->paths, w.first, w.next);
	push_children(b, &w, PM_NONE, PM_NONE);
	while (w.n) {
		struct step step = w.steps[--w.n];
		push_children(b, &w, step.node, visit(b, &w, &step, index));
	}
	pm_arena_done(w.arena);
}

static void build_calls(struct nytp_building *b)
{
	for (size_t i = 0; i < b->n->n_files; i++) {
		const struct nytp_file *f = &b->n->files[i];
		for (size_t k = 0; k < f->n_threads; k++)
			if (f->threads[k].calls.tree.paths.n)
				walk_thread(b, f, &f->threads[k]);
	}
}

/* ==== costs over the finished tree ==== */

enum { BETWEEN_QUESTIONS = 1 << 12 };

static pm_number *cells_new(struct pm_arena *a, size_t n)
{
	size_t count = n * NYTP_N_METRICS;
	pm_number *cells = pm_arena_array(a, count, sizeof(*cells));
	for (size_t i = 0; i < count; i++)
		cells[i] = NAN;
	return cells;
}

static void add_cost(pm_number *cell, double value)
{
	if (!isnan(value))
		*cell = isnan(*cell) ? value : *cell + value;
}

static void costs_spread(struct nytp_building *b)
{
	struct nytp_model *m = b->m;
	m->run = cells_new(b->arena, m->tree->n_contexts);
	m->costs = pm_costs_in(b->arena, b->threads->list.n, m->tree->n_contexts);
	for (size_t i = 0; i < b->n_cells; i++)
		for (uint32_t k = 0; k < NYTP_N_METRICS; k++)
			if (b->cells[i].thread != NYTP_NONE && !isnan(b->cells[i].values[k]))
				pm_costs_expect(&m->costs, b->index[b->cells[i].rank]);
	pm_costs_place(&m->costs);
	for (size_t i = 0; i < b->n_cells; i++) {
		const struct nytp_cell *cell = &b->cells[i];
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(b->arena);
		uint32_t context = b->index[cell->rank];
		for (uint32_t k = 0; k < NYTP_N_METRICS; k++) {
			double value = cell->values[k];
			add_cost(&m->run[(size_t)context * NYTP_N_METRICS + k], value);
			if (cell->thread != NYTP_NONE && !isnan(value))
				pm_costs_add(&m->costs, cell->thread, context, k, value);
		}
	}
	pm_costs_freeze(&m->costs);
}

/* A function's costs over its contexts; inclusive time only of the outermost ones. */
static void sum_functions(struct nytp_building *b)
{
	const struct pm_tree *tree = b->m->tree;
	uint32_t *until = pm_arena_array(b->scratch, tree->n_functions, sizeof(*until));
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t function = pm_tree_frame(tree, i)->function;
		if (function == PM_NONE)
			continue;
		const pm_number *from = &b->m->run[(size_t)i * NYTP_N_METRICS];
		pm_number *to = &b->m->functions[(size_t)function * NYTP_N_METRICS];
		add_cost(&to[NYTP_EXCL], from[NYTP_EXCL]);
		add_cost(&to[NYTP_CALLS], from[NYTP_CALLS]);
		if (i >= until[function]) {
			add_cost(&to[NYTP_INCL], from[NYTP_INCL]);
			until[function] = tree->end[i];
		}
	}
}

/* The stored costs of the calls of each function, from the tables of call places. */
static pm_number *sum_flows(struct nytp_building *b, struct pm_arena *a)
{
	pm_number *stored = cells_new(a, b->m->tree->n_functions);
	for (size_t i = 0; i < b->n_flows; i++) {
		const struct nytp_flow *flow = &b->flows[i];
		pm_number *to = &stored[(size_t)b->function[flow->callee] * NYTP_N_METRICS];
		add_cost(&to[NYTP_INCL], flow->incl);
		add_cost(&to[NYTP_EXCL], flow->excl);
		add_cost(&to[NYTP_CALLS], (double)flow->calls);
	}
	return stored;
}

static double known(double value)
{
	return isnan(value) ? 0 : value;
}

/*
 * If DB::enable_profile(FILE) begins a new file, the process keeps adding to its table of callers:
 * the table of the last file then covers the whole process, and its calls do not.
 */
static void compare_calls(struct nytp_building *b, const pm_number *stored)
{
	struct nytp_model *m = b->m;
	double most = 0;
	for (uint32_t name = 0; b->n_flows && name < nytp_n_subs(b->n); name++) {
		uint32_t function = b->function[name];
		if (function == NYTP_NONE)
			continue;
		size_t cell = (size_t)function * NYTP_N_METRICS + NYTP_CALLS;
		double tree = known(m->functions[cell]), callers = known(stored[cell]);
		m->differ.subs += tree != callers;
		m->differ.tree_ns += known(m->functions[cell - NYTP_CALLS + NYTP_EXCL]);
		m->differ.callers_ns += known(stored[cell - NYTP_CALLS + NYTP_EXCL]);
		if (fabs(tree - callers) <= most)
			continue;
		most = fabs(tree - callers);
		m->differ.name = name;
		m->differ.name_in_tree = (uint64_t)tree;
		m->differ.name_in_callers = (uint64_t)callers;
	}
}

/*
 * A function's cost is its cost in the tree, so that functions add_cost up; without calls, the
 * stored cost.
 */
static void costs_of_functions(struct nytp_building *b, bool calls)
{
	struct nytp_model *m = b->m;
	pm_number *stored = sum_flows(b, calls ? b->scratch : b->arena);
	m->functions = calls ? cells_new(b->arena, m->tree->n_functions) : stored;
	if (calls) {
		sum_functions(b);
		compare_calls(b, stored);
		return;
	}
	for (size_t i = 0; i < (size_t)m->tree->n_functions * NYTP_N_METRICS; i++)
		stored[i] = round(stored[i]);
}

/* Of the lines whose innermost function it is. */
static void costs_of_statements(struct nytp_model *m)
{
	for (uint64_t i = 0; i < m->line_list.n; i++) {
		const pm_number *from = &m->line_list.values[i * NYTP_N_METRICS];
		uint32_t function = m->line_list.lines[i].function;
		if (function == PM_NONE)
			continue;
		pm_number *to = &m->functions[(size_t)function * NYTP_N_METRICS];
		add_cost(&to[NYTP_STATEMENTS], from[NYTP_STATEMENTS]);
		add_cost(&to[NYTP_STATEMENTS_NS], from[NYTP_STATEMENTS_NS]);
		m->times_statements |= !isnan(from[NYTP_STATEMENTS_NS]);
	}
}

/* In a tree of edges, the top level is not a total: a thread's cost is that of its calls. */
static void costs_of_threads(struct nytp_building *b, bool calls)
{
	uint32_t n = b->threads->list.n;
	pm_number *totals = b->m->thread_totals = pm_arena_array(b->arena, n, sizeof(*totals));
	for (uint32_t i = 0; i < n; i++)
		totals[i] = NAN;
	for (size_t i = 0; !calls && i < b->n_flows; i++)
		if (b->flows[i].thread != NYTP_NONE)
			add_cost(&totals[b->flows[i].thread], b->flows[i].excl);
	for (uint32_t i = 0; i < n; i++)
		totals[i] = round(totals[i]);
}

/* ==== all of it ==== */

static void free_model(void *model)
{
	struct nytp_model *m = model;
	pm_tree_free(m->tree);
}

static void free_building(void *building)
{
	struct nytp_building *b = building;
	pm_tree_builder_free(b->tree);
	free(b->index);
}

static void begin(struct nytp_building *b)
{
	size_t n = nytp_n_subs(b->n);
	pm_arena_owns(b->arena, free_model, b->m);
	pm_arena_owns(b->scratch, free_building, b);
	b->tree = pm_tree_builder_new();
	pm_build_check(b->arena, b->tree ? 0 : PM_NO_MEMORY);
	pm_paths_init_in(b->scratch, &b->paths, PM_LIMIT_ITEMS);
	b->m->function_of = b->function = pm_arena_array(b->arena, n, sizeof(*b->function));
	b->frame = pm_arena_array(b->scratch, n, sizeof(*b->frame));
	b->homes = pm_arena_array(b->scratch, n, sizeof(*b->homes));
	for (size_t i = 0; i < n; i++)
		b->function[i] = b->frame[i] = NYTP_NONE;
	for (size_t i = 0; i < b->n->n_files; i++) {
		const struct nytp_file *f = &b->n->files[i];
		for (size_t k = 0; k < f->n_subs; k++) {
			struct nytp_home *home = &b->homes[nytp_sub_of(b->n, f, f->subs[k].name)];
			if (f->subs[k].located && !home->sub)
				*home = (struct nytp_home){f, &f->subs[k]};
		}
	}
}

static void freeze(struct nytp_building *b, struct pm_error *err)
{
	struct pm_tree_builder *tree = b->tree;
	if (pm_tree_count(tree))
		nytp_weigh(b, pm_tree_count(tree) - 1, 0);
	pm_paths_done(&b->paths);
	b->tree = NULL;
	pm_build_check(b->arena, pm_tree_freeze(tree, b->weight, &b->m->tree, &b->index, err));
}

bool nytp_has_calls(const struct nytp *n)
{
	return n->returns > 0;
}

/* A killed program left no table of call places; views then derive edges from the tree. */
static bool has_edges(const struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++)
		if (n->files[i].n_edges || n->files[i].py.n_edges)
			return true;
	return false;
}

void nytp_model_build(struct pm_arena *a, struct nytp_model *m, const struct nytp *n,
	const struct nytp_threads *threads, struct pm_error *err)
{
	bool calls = nytp_has_calls(n);
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct nytp_building *b = pm_arena_alloc(scratch, sizeof(*b));
	*b = (struct nytp_building){
		.arena = a, .scratch = scratch, .n = n, .threads = threads, .m = m};
	begin(b);
	nytp_collect_flows(b);
	nytp_build_edges(b);
	if (calls)
		build_calls(b);
	else
		nytp_build_edge_tree(b);
	nytp_build_lines(b);
	freeze(b, err);
	costs_spread(b);
	costs_of_functions(b, calls);
	costs_of_statements(m);
	costs_of_threads(b, calls);
	m->flat = (struct pm_flat){.edges = calls && !has_edges(n) ? NULL : &m->edge_list,
		.lines = &m->line_list,
		.functions = m->functions,
		.statements = &m->statements,
		.evals = &m->eval_list};
	pm_arena_done(scratch);
}
