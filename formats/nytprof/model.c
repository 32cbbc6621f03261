/*
 * Native tables → the model. Names are merged over files and processes here: a sub is its name.
 * The parts are in contexts.c, flows.c and lines.c; this file has what they share, the order in
 * which they run, and what is summed over the finished tree.
 */
#include "formats/nytprof/model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/nytprof/building.h"
#include "formats/nytprof/evals.h"

#define TEXT(s)                                                                                    \
	{                                                                                          \
		(const uint8_t *)(s), sizeof(s) - 1                                                \
	}
#define METRIC(metric_id, group_id, metric_role, metric_name, metric_unit, metric_scope)           \
	{                                                                                          \
		.id = (metric_id), .group = (group_id), .role = (metric_role), .in_tree = true,    \
		.in_flat = true, .has_values = true, .name = TEXT(metric_name),                    \
		.unit = TEXT(metric_unit), .scope = TEXT(metric_scope)                             \
	}

static const struct pm_metric metrics[NYTP_N_METRICS] = {
	METRIC(NYTP_INCL, 0, PM_ROLE_INCLUSIVE, "time", "ns", "inclusive"),
	METRIC(NYTP_EXCL, 0, PM_ROLE_EXCLUSIVE, "time", "ns", "exclusive"),
	METRIC(NYTP_CALLS, 1, PM_ROLE_COUNT, "calls", "", "count"),
	METRIC(NYTP_STATEMENTS, 2, PM_ROLE_COUNT, "statements", "", "count"),
	METRIC(NYTP_STATEMENTS_NS, 3, PM_ROLE_COUNT, "statements", "ns", "exclusive"),
};

const struct pm_metrics nytp_metrics = {NYTP_N_METRICS, metrics};

static const struct pm_metric untimed[NYTP_N_METRICS] = {
	METRIC(NYTP_INCL, 0, PM_ROLE_INCLUSIVE, "time", "ns", "inclusive"),
	METRIC(NYTP_EXCL, 0, PM_ROLE_EXCLUSIVE, "time", "ns", "exclusive"),
	METRIC(NYTP_CALLS, 1, PM_ROLE_COUNT, "calls", "", "count"),
	METRIC(NYTP_STATEMENTS, 2, PM_ROLE_COUNT, "statements", "", "count"),
	{.id = NYTP_STATEMENTS_NS,
		.group = 3,
		.role = PM_ROLE_COUNT,
		.name = TEXT("statements"),
		.unit = TEXT("ns"),
		.scope = TEXT("exclusive")},
};

const struct pm_metrics nytp_metrics_untimed = {NYTP_N_METRICS, untimed};

/* ---- what the parts share ---- */

uint32_t nytp_file_text(struct nytp_building *b, const struct nytp_file *f, uint32_t fid)
{
	char number[24];
	struct pm_bytes name = nytp_fid_shown(b->n, f, fid);
	if (name.len || f->layout != NYTP_LAYOUT_CHUNKS)
		return pm_tree_text(b->tree, name, false);
	snprintf(number, sizeof(number), "fid %u", fid);
	return pm_tree_text(b->tree, pm_bytes_of(number), true);
}

uint32_t nytp_function_of(struct nytp_building *b, uint32_t name)
{
	struct pm_function function = {.id = PM_NONE};
	const struct nytp_home *home = &b->homes[name];
	if (b->function[name] != NYTP_NONE)
		return b->function[name];
	function.name = pm_tree_text(b->tree, nytp_name(b->n, name), false);
	if (home->sub) {
		function.line = home->sub->first;
		function.file = nytp_file_text(b, home->file, home->sub->fid);
	}
	if (function.name == PM_NONE || function.file == PM_NONE)
		return NYTP_NONE;
	b->function[name] = pm_tree_function(b->tree, &function);
	struct pm_frame frame = {.kind = PM_KIND_FUNCTION,
		.function = b->function[name],
		.name = function.name,
		.file = function.file,
		.line = function.line};
	if (b->function[name] != NYTP_NONE)
		b->frame[name] = pm_tree_intern(b->tree, &frame);
	return b->frame[name] == NYTP_NONE ? NYTP_NONE : b->function[name];
}

uint32_t nytp_frame_of(struct nytp_building *b, uint32_t name)
{
	if (name != NYTP_NOT_RETURNED)
		return nytp_function_of(b, name) == NYTP_NONE ? NYTP_NONE : b->frame[name];
	struct pm_frame frame = {.kind = PM_KIND_PLACEHOLDER, .function = PM_NONE};
	frame.name = pm_tree_text(b->tree, pm_bytes_of("(not returned)"), false);
	return frame.name == PM_NONE ? NYTP_NONE : pm_tree_intern(b->tree, &frame);
}

struct nytp_cell *nytp_cell_add(struct nytp_building *b, uint32_t thread, uint32_t rank)
{
	if (pm_list_room(&b->cells, b->n_cells, &b->cells_room, sizeof(*b->cells)) < 0)
		return NULL;
	struct nytp_cell *cell = &b->cells[b->n_cells++];
	*cell = (struct nytp_cell){.thread = thread, .rank = rank};
	for (size_t i = 0; i < NYTP_N_METRICS; i++)
		cell->values[i] = NAN;
	return cell;
}

int nytp_weigh(struct nytp_building *b, uint32_t rank, double cost)
{
	size_t before = b->weight_room;
	while (b->weight_room <= rank)
		if (pm_list_room(&b->weight, b->weight_room, &b->weight_room, sizeof(*b->weight)) <
			0)
			return -ENOMEM;
	for (size_t i = before; i < b->weight_room; i++)
		b->weight[i] = 0;
	b->weight[rank] += cost;
	return 0;
}

/* ---- preparation ---- */

static void find_homes(struct nytp_building *b)
{
	for (size_t i = 0; i < b->n->n_files; i++) {
		const struct nytp_file *f = &b->n->files[i];
		for (size_t k = 0; k < f->n_subs; k++) {
			struct nytp_home *home = &b->homes[nytp_folded(b->n, f->subs[k].name)];
			if (f->subs[k].located && !home->sub)
				*home = (struct nytp_home){f, &f->subs[k]};
		}
	}
}

static int prepare(struct nytp_building *b)
{
	size_t n = (size_t)b->n->names.n + 1;
	b->tree = pm_tree_builder_new();
	b->function = malloc(n * sizeof(*b->function));
	b->frame = malloc(n * sizeof(*b->frame));
	b->homes = calloc(n, sizeof(*b->homes));
	if (!b->tree || !b->function || !b->frame || !b->homes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		b->function[i] = b->frame[i] = NYTP_NONE;
	find_homes(b);
	return 0;
}

/* ---- sums over the finished tree ---- */

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

static int spread_cells(struct nytp_building *b, const uint32_t *index)
{
	struct nytp_model *m = b->m;
	m->run = cells_new(m->tree->n_contexts);
	if (!m->run || place_costs(b, index) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_cells; i++) {
		const struct nytp_cell *cell = &b->cells[i];
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

/* A function's costs over its contexts; inclusive time of the outermost ones alone. */
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

/* What is stored of the calls of each function: the tables of call places. */
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
 * A process goes on adding to its table of callers when DB::enable_profile(FILE) begins a new file,
 * so the table of the last file is of the whole process, and the calls in it are not.
 */
static void compare_calls(struct nytp_building *b, const double *stored)
{
	struct nytp_model *m = b->m;
	double most = 0;
	for (uint32_t name = 0; b->n_flows && name < b->n->names.n; name++) {
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

/* A function costs what the tree has of it, so that functions add up; without calls, what is
 * stored. */
static int settle_functions(struct nytp_building *b, bool calls)
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

/* Of the lines that are in a function and in no other within it. */
static void count_statements(struct nytp_model *m)
{
	for (uint64_t i = 0; i < m->line_list.n; i++) {
		const double *from = &m->line_values[i * NYTP_N_METRICS];
		uint32_t function = m->lines[i].function;
		if (function == PM_NONE)
			continue;
		double *to = &m->functions[(size_t)function * NYTP_N_METRICS];
		add(&to[NYTP_STATEMENTS], from[NYTP_STATEMENTS]);
		add(&to[NYTP_STATEMENTS_NS], from[NYTP_EXCL]);
		m->times_statements |= !isnan(from[NYTP_EXCL]);
	}
}

/* In a tree of edges the top level is no sum: what a thread cost is what its calls cost. */
static int total_threads(struct nytp_building *b, bool calls)
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

/* ---- all of it ---- */

bool nytp_has_calls(const struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++)
		for (size_t k = 0; k < n->files[i].n_threads; k++)
			if (n->files[i].threads[k].calls.returns)
				return true;
	return false;
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
		r = calls ? nytp_build_calls(b) : nytp_build_edge_tree(b);
	if (r == 0)
		r = nytp_build_lines(b);
	if (r == 0 && pm_tree_count(b->tree))
		r = nytp_weigh(b, pm_tree_count(b->tree) - 1, 0);
	if (r == 0) {
		r = pm_tree_freeze(b->tree, b->weight, &b->m->tree, &index, err);
		b->tree = NULL;
	}
	if (r == 0)
		r = spread_cells(b, index);
	if (r == 0)
		r = settle_functions(b, calls);
	if (r == 0) {
		count_statements(b->m);
		r = total_threads(b, calls);
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
	free(b.function);
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
	free(m->run);
	free(m->functions);
	free(m->edges);
	free(m->edge_values);
	free(m->lines);
	free(m->line_values);
	free(m->thread_totals);
	*m = (struct nytp_model){.tree = NULL};
}
