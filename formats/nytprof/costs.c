/* Costs for the finished tree: of contexts, functions, statements and threads. */
#include "formats/nytprof/costs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/work.h"

enum { BETWEEN_QUESTIONS = 1 << 12 };

static double *cells_new(size_t n)
{
	size_t count = n * NYTP_N_METRICS;
	double *cells = malloc((count + 1) * sizeof(*cells));
	for (size_t i = 0; cells && i < count; i++)
		cells[i] = NAN;
	return cells;
}

static void add(double *cell, double value)
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

int nytp_costs_spread(struct nytp_building *b, const uint32_t *index)
{
	struct nytp_model *m = b->m;
	m->run = cells_new(m->tree->n_contexts);
	if (!m->run || place_costs(b, index) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_cells; i++) {
		const struct nytp_cell *cell = &b->cells[i];
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return -ENOMEM;
		uint32_t context = index[cell->rank];
		for (uint32_t k = 0; k < NYTP_N_METRICS; k++) {
			double value = cell->values[k];
			add(&m->run[(size_t)context * NYTP_N_METRICS + k], value);
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
		const double *from = &b->m->run[(size_t)i * NYTP_N_METRICS];
		double *to = &b->m->functions[(size_t)function * NYTP_N_METRICS];
		add(&to[NYTP_EXCL], from[NYTP_EXCL]);
		add(&to[NYTP_CALLS], from[NYTP_CALLS]);
		if (i >= until[function]) {
			add(&to[NYTP_INCL], from[NYTP_INCL]);
			until[function] = tree->end[i];
		}
	}
	free(until);
	return 0;
}

/* The stored costs of the calls of each function, from the tables of call places. */
static double *sum_flows(struct nytp_building *b)
{
	double *stored = cells_new(b->m->tree->n_functions);
	for (size_t i = 0; stored && i < b->n_flows; i++) {
		const struct nytp_flow *flow = &b->flows[i];
		double *to = &stored[(size_t)b->function[flow->callee] * NYTP_N_METRICS];
		add(&to[NYTP_INCL], flow->incl);
		add(&to[NYTP_EXCL], flow->excl);
		add(&to[NYTP_CALLS], (double)flow->calls);
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
static void compare_calls(struct nytp_building *b, const double *stored)
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
 * A function's cost is its cost in the tree, so that functions add up; without calls, the stored
 * cost.
 */
int nytp_costs_of_functions(struct nytp_building *b, bool calls)
{
	struct nytp_model *m = b->m;
	double *stored = sum_flows(b);
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
void nytp_costs_of_statements(struct nytp_model *m)
{
	for (uint64_t i = 0; i < m->line_list.n; i++) {
		const double *from = &m->line_values[i * NYTP_N_METRICS];
		uint32_t function = m->lines[i].function;
		if (function == PM_NONE)
			continue;
		double *to = &m->functions[(size_t)function * NYTP_N_METRICS];
		add(&to[NYTP_STATEMENTS], from[NYTP_STATEMENTS]);
		add(&to[NYTP_STATEMENTS_NS], from[NYTP_STATEMENTS_NS]);
		m->times_statements |= !isnan(from[NYTP_STATEMENTS_NS]);
	}
}

/* In a tree of edges, the top level is not a total: a thread's cost is that of its calls. */
int nytp_costs_of_threads(struct nytp_building *b, bool calls)
{
	uint32_t n = b->threads->list.n;
	double *totals = b->m->thread_totals = malloc(((size_t)n + 1) * sizeof(*totals));
	if (!totals)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		totals[i] = NAN;
	for (size_t i = 0; !calls && i < b->n_flows; i++)
		if (b->flows[i].thread != NYTP_NONE)
			add(&totals[b->flows[i].thread], b->flows[i].excl);
	for (uint32_t i = 0; i < n; i++)
		totals[i] = round(totals[i]);
	return 0;
}
