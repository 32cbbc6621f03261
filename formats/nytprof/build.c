/*
 * Native tables → the model. Subs are identified by name and file across processes. The trees of
 * the processes are merged, equal names along a path into one context; call edges are in flows.c,
 * lines in lines.c.
 */
#include "formats/nytprof/nytprof.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
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
};

/* Pushed in reverse: the first to be visited is on top. */
static int by_name(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	return (x->met < y->met) - (x->met > y->met);
}

static uint32_t sub_of(const struct nytp *n, const struct walk *w, uint32_t name)
{
	return name == NYTP_NOT_RETURNED ? name : nytp_sub_of(n, w->file, name);
}

/* `node` PM_NONE: the top. */
static int push_children(const struct nytp *n, struct walk *w, uint32_t node, uint32_t rank)
{
	size_t first = w->n;
	uint32_t child = w->first[(uint32_t)(node + 1)];
	for (; child != PM_NONE; child = w->next[child]) {
		if (pm_list_room(&w->steps, w->n, &w->room, sizeof(*w->steps)) < 0)
			return -ENOMEM;
		uint32_t met = w->tree->paths.items[child].key;
		w->steps[w->n++] = (struct step){child, met, sub_of(n, w, met), rank};
	}
	return w->n == first ? 0
			     : pm_sort(w->steps + first, w->n - first, sizeof(*w->steps), by_name);
}

static int visit(struct nytp_building *b, const struct step *step, const struct nytp_cost *call,
	uint32_t thread, double ns_per_tick, uint32_t *ret_rank)
{
	uint32_t frame = nytp_frame_of(b, step->name);
	uint32_t rank = frame == NYTP_NONE ? PM_NONE : nytp_context_of(b, step->parent, frame);
	*ret_rank = rank;
	if (rank == PM_NONE || nytp_weigh(b, rank, call->incl * ns_per_tick) < 0)
		return -ENOMEM;
	struct nytp_cell *cell = nytp_cell_add(b, thread, rank);
	if (!cell)
		return -ENOMEM;
	cell->values[NYTP_INCL] = call->incl * ns_per_tick;
	if (call->calls == 0) /* not returned: only the calls below it are known */
		return 0;
	cell->values[NYTP_EXCL] = call->excl * ns_per_tick;
	cell->values[NYTP_CALLS] = (double)call->calls;
	return 0;
}

static int walk_tree(struct nytp_building *b, struct walk *w, uint32_t thread)
{
	uint32_t rank;
	double ns_per_tick = w->file->ns_per_tick;
	int r = push_children(b->n, w, PM_NONE, PM_NONE);
	while (r == 0 && w->n) {
		struct step step = w->steps[--w->n];
		r = visit(b, &step, &w->tree->costs[step.node], thread, ns_per_tick, &rank);
		if (r == 0)
			r = push_children(b->n, w, step.node, rank);
	}
	return r;
}

static int walk_thread(
	struct nytp_building *b, const struct nytp_file *f, const struct nytp_thread *thread)
{
	const struct nytp_trie *tree = &thread->calls.tree;
	size_t n = tree->paths.n;
	struct walk w = {.file = f, .tree = tree};
	if (n == 0)
		return 0;
	w.first = malloc((n + 1) * sizeof(*w.first));
	w.next = malloc(n * sizeof(*w.next));
	int r = w.first && w.next ? 0 : -ENOMEM;
	if (r == 0) {
		pm_paths_link(&tree->paths, w.first, w.next);
		r = walk_tree(b, &w, nytp_thread_of(b->threads, thread->pid));
	}
	free(w.first);
	free(w.next);
	free(w.steps);
	return r;
}

static int build_calls(struct nytp_building *b)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < b->n->n_files; i++) {
		const struct nytp_file *f = &b->n->files[i];
		for (size_t k = 0; r == 0 && k < f->n_threads; k++)
			r = walk_thread(b, f, &f->threads[k]);
	}
	return r;
}

/* ==== costs over the finished tree ==== */

enum { BETWEEN_QUESTIONS = 1 << 12 };

static pm_number *cells_new(size_t n)
{
	size_t count = n * NYTP_N_METRICS;
	pm_number *cells = malloc((count + 1) * sizeof(*cells));
	for (size_t i = 0; cells && i < count; i++)
		cells[i] = NAN;
	return cells;
}

static void add_cost(pm_number *cell, double value)
{
	if (!isnan(value))
		*cell = isnan(*cell) ? value : *cell + value;
}

/* Announces the values of all threads. */
static int place_costs(struct nytp_building *b, const uint32_t *index)
{
	struct pm_costs *costs = &b->m->costs;
	int r = pm_costs_init(costs, b->threads->list.n, b->m->tree->n_contexts);
	for (size_t i = 0; i < b->n_cells && r == 0; i++)
		for (uint32_t k = 0; k < NYTP_N_METRICS; k++)
			if (b->cells[i].thread != NYTP_NONE && !isnan(b->cells[i].values[k]))
				pm_costs_expect(costs, index[b->cells[i].rank]);
	return r < 0 ? r : pm_costs_place(costs);
}

static int costs_spread(struct nytp_building *b, const uint32_t *index)
{
	struct nytp_model *m = b->m;
	m->run = cells_new(m->tree->n_contexts);
	if (!m->run || place_costs(b, index) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_cells; i++) {
		const struct nytp_cell *cell = &b->cells[i];
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		uint32_t context = index[cell->rank];
		for (uint32_t k = 0; k < NYTP_N_METRICS; k++) {
			double value = cell->values[k];
			add_cost(&m->run[(size_t)context * NYTP_N_METRICS + k], value);
			if (cell->thread != NYTP_NONE && !isnan(value))
				pm_costs_add(&m->costs, cell->thread, context, k, value);
		}
	}
	return pm_costs_freeze(&m->costs);
}

/* A function's costs over its contexts; inclusive time only of the outermost ones. */
static int sum_functions(struct nytp_building *b)
{
	const struct pm_tree *tree = b->m->tree;
	uint32_t *until = calloc((size_t)tree->n_functions + 1, sizeof(*until));
	if (!until)
		return -ENOMEM;
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
	free(until);
	return 0;
}

/* The stored costs of the calls of each function, from the tables of call places. */
static pm_number *sum_flows(struct nytp_building *b)
{
	pm_number *stored = cells_new(b->m->tree->n_functions);
	for (size_t i = 0; stored && i < b->n_flows; i++) {
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
static int costs_of_functions(struct nytp_building *b, bool calls)
{
	struct nytp_model *m = b->m;
	pm_number *stored = sum_flows(b);
	if (!stored)
		return -ENOMEM;
	if (!calls) {
		m->functions = stored;
		for (size_t i = 0; i < (size_t)m->tree->n_functions * NYTP_N_METRICS; i++)
			stored[i] = round(stored[i]);
		return 0;
	}
	m->functions = cells_new(m->tree->n_functions);
	int r = m->functions ? sum_functions(b) : -ENOMEM;
	if (r == 0)
		compare_calls(b, stored);
	free(stored);
	return r;
}

/* Of the lines whose innermost function it is. */
static void costs_of_statements(struct nytp_model *m)
{
	for (uint64_t i = 0; i < m->line_list.n; i++) {
		const pm_number *from = &m->line_values[i * NYTP_N_METRICS];
		uint32_t function = m->lines[i].function;
		if (function == PM_NONE)
			continue;
		pm_number *to = &m->functions[(size_t)function * NYTP_N_METRICS];
		add_cost(&to[NYTP_STATEMENTS], from[NYTP_STATEMENTS]);
		add_cost(&to[NYTP_STATEMENTS_NS], from[NYTP_STATEMENTS_NS]);
		m->times_statements |= !isnan(from[NYTP_STATEMENTS_NS]);
	}
}

/* In a tree of edges, the top level is not a total: a thread's cost is that of its calls. */
static int costs_of_threads(struct nytp_building *b, bool calls)
{
	uint32_t n = b->threads->list.n;
	pm_number *totals = b->m->thread_totals = malloc(((size_t)n + 1) * sizeof(*totals));
	if (!totals)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		totals[i] = NAN;
	for (size_t i = 0; !calls && i < b->n_flows; i++)
		if (b->flows[i].thread != NYTP_NONE)
			add_cost(&totals[b->flows[i].thread], b->flows[i].excl);
	for (uint32_t i = 0; i < n; i++)
		totals[i] = round(totals[i]);
	return 0;
}

/* ==== all of it ==== */

/* ---- preparation ---- */

static void find_homes(struct nytp_building *b)
{
	for (size_t i = 0; i < b->n->n_files; i++) {
		const struct nytp_file *f = &b->n->files[i];
		for (size_t k = 0; k < f->n_subs; k++) {
			struct nytp_home *home = &b->homes[nytp_sub_of(b->n, f, f->subs[k].name)];
			if (f->subs[k].located && !home->sub)
				*home = (struct nytp_home){f, &f->subs[k]};
		}
	}
}

static int prepare(struct nytp_building *b)
{
	size_t n = (size_t)nytp_n_subs(b->n) + 1;
	b->tree = pm_tree_builder_new();
	b->function = malloc(n * sizeof(*b->function));
	b->frame = malloc(n * sizeof(*b->frame));
	b->homes = calloc(n, sizeof(*b->homes));
	if (!b->tree || !b->function || !b->frame || !b->homes ||
		pm_paths_init(&b->paths, PM_LIMIT_ITEMS) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		b->function[i] = b->frame[i] = NYTP_NONE;
	find_homes(b);
	return 0;
}

/* ---- all of it ---- */

bool nytp_has_calls(const struct nytp *n)
{
	return n->returns > 0;
}

static bool has_edges(const struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++)
		if (n->files[i].n_edges || n->files[i].py.n_edges)
			return true;
	return false;
}

/* A killed program left no table of call places; views then derive edges from the tree. */
static void describe_flat(struct nytp_model *m, const struct nytp *n, bool calls)
{
	m->flat = (struct pm_flat){.edges = calls && !has_edges(n) ? NULL : &m->edge_list,
		.lines = &m->line_list,
		.functions = m->functions,
		.statements = &m->statements,
		.evals = &m->eval_list};
}

static int build(struct nytp_building *b, bool calls, struct pm_error *err)
{
	uint32_t *index = NULL;
	int r = prepare(b);
	if (r == 0)
		r = nytp_collect_flows(b);
	if (r == 0)
		r = nytp_build_edges(b);
	if (r == 0)
		r = calls ? build_calls(b) : nytp_build_edge_tree(b);
	if (r == 0)
		r = nytp_build_lines(b);
	if (r == 0 && pm_tree_count(b->tree))
		r = nytp_weigh(b, pm_tree_count(b->tree) - 1, 0);
	pm_paths_done(&b->paths);
	if (r == 0) {
		r = pm_tree_freeze(b->tree, b->weight, &b->m->tree, &index, err);
		b->tree = NULL;
	}
	if (r == 0)
		r = costs_spread(b, index);
	if (r == 0)
		r = costs_of_functions(b, calls);
	if (r == 0) {
		costs_of_statements(b->m);
		r = costs_of_threads(b, calls);
		describe_flat(b->m, b->n, calls);
	}
	free(index);
	return r;
}

int nytp_model_build(struct nytp_model *m, const struct nytp *n, const struct nytp_threads *threads,
	struct pm_error *err)
{
	struct nytp_building b = {.n = n, .threads = threads, .m = m};
	int r = build(&b, nytp_has_calls(n), err);
	pm_tree_builder_free(b.tree);
	m->function_of = b.function;
	free(b.frame);
	free(b.homes);
	free(b.flows);
	free(b.cells);
	free(b.weight);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the context tree")
		     : 0;
}

void nytp_model_done(struct nytp_model *m)
{
	pm_tree_free(m->tree);
	pm_costs_done(&m->costs);
	free(m->function_of);
	free(m->run);
	free(m->functions);
	free(m->edges);
	free(m->edge_values);
	free(m->evals);
	free(m->joined);
	free(m->lines);
	free(m->line_values);
	free(m->thread_totals);
	*m = (struct nytp_model){.tree = NULL};
}
