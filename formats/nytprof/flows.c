/*
 * Call edges, from the tables of call places that a program writes at its end, or from Pynytprof's
 * edges. Places with the same file name and line are one place, whatever the file's number. Without
 * sub returns, the tree has two levels: each sub, and below it the subs that it called.
 */
#include "formats/nytprof/nytprof.h"

#include <math.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"

#define NS_PER_SEC 1e9

static void flow_add(struct nytp_building *b, struct nytp_flow flow)
{
	pm_list_grow(b->scratch, &b->flows, b->n_flows, &b->flows_room, sizeof(*b->flows));
	b->flows[b->n_flows++] = flow;
}

static void collect_stored(struct nytp_building *b, const struct nytp_file *f)
{
	/* The tables of a merged file do not distinguish processes. */
	bool alone = f->n_threads == 1;
	for (size_t i = 0; i < f->n_edges; i++) {
		const struct nytp_edge *edge = &f->edges[i];
		const struct nytp_site *site = &f->sites[edge->site];
		flow_add(b,
			(struct nytp_flow){.caller = nytp_sub_of(b->n, f, edge->caller),
				.callee = nytp_sub_of(b->n, f, f->subs[site->sub].name),
				.file = nytp_file_text(b, f, site->fid),
				.line = site->line,
				.thread = alone ? nytp_thread_of(b->threads, f->threads[0].pid)
						: NYTP_NONE,
				.calls = edge->sums.count,
				.incl = edge->sums.incl * NS_PER_SEC,
				.excl = edge->sums.excl * NS_PER_SEC});
	}
}

/* A call record of the C extension has a call place but no caller, and does not count calls. */
static void collect_chunks(struct nytp_building *b, const struct nytp_file *f)
{
	const struct nytp_py *py = &f->py;
	for (size_t i = 0; i < py->n_edges; i++) {
		const struct nytp_py_edge *edge = &py->edges[i];
		struct nytp_flow flow = {.caller = NYTP_NONE,
			.callee =
				*pm_map_find(&py->by_sid, py->placed ? edge->calls : edge->callee),
			.thread = NYTP_NONE,
			.incl = (double)edge->ticks * f->ns_per_tick,
			.excl = (double)edge->sub_ticks * f->ns_per_tick};
		if (f->n_threads)
			flow.thread = nytp_thread_of(b->threads, f->threads[0].pid);
		if (py->placed) {
			flow.file = nytp_file_text(b, f, edge->caller);
			flow.line = edge->callee;
		} else {
			flow.caller = *pm_map_find(&py->by_sid, edge->caller);
			flow.calls = edge->calls;
		}
		flow_add(b, flow);
	}
}

static int by_edge(const void *a, const void *b)
{
	const struct nytp_flow *x = a, *y = b;
	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Also the functions of both ends, since a sub without calls in either direction has none. */
void nytp_collect_flows(struct nytp_building *b)
{
	for (size_t i = 0; i < b->n->n_files; i++) {
		collect_stored(b, &b->n->files[i]);
		collect_chunks(b, &b->n->files[i]);
	}
	for (size_t i = 0; i < b->n_flows; i++) {
		nytp_function_of(b, b->flows[i].callee);
		if (b->flows[i].caller != NYTP_NONE)
			nytp_function_of(b, b->flows[i].caller);
	}
	pm_build_check(b->arena, pm_sort(b->flows, b->n_flows, sizeof(*b->flows), by_edge));
}

void nytp_build_edges(struct nytp_building *b)
{
	uint64_t n = 0;
	struct pm_edge *edges = pm_arena_array(b->arena, b->n_flows, sizeof(*edges));
	pm_number *all = pm_arena_array(b->arena, b->n_flows, NYTP_N_METRICS * sizeof(*all));
	for (size_t i = 0; i < b->n_flows; i++) {
		const struct nytp_flow *flow = &b->flows[i], *last = i ? flow - 1 : NULL;
		n += !last || last->caller != flow->caller || last->callee != flow->callee ||
			last->file != flow->file || last->line != flow->line;
		struct pm_edge *edge = &edges[n - 1];
		pm_number *values = &all[(n - 1) * NYTP_N_METRICS];
		*edge = (struct pm_edge){.callee = b->function[flow->callee],
			.caller = flow->caller != NYTP_NONE ? b->function[flow->caller] : PM_NONE,
			.file = flow->file,
			.line = flow->line,
			.calls = edge->calls + flow->calls};
		values[NYTP_INCL] += flow->incl;
		values[NYTP_EXCL] += flow->excl;
		values[NYTP_CALLS] = (double)edge->calls;
		values[NYTP_STATEMENTS] = values[NYTP_STATEMENTS_NS] = NAN;
	}
	for (uint64_t i = 0; i < n; i++) {
		pm_number *values = &all[i * NYTP_N_METRICS];
		values[NYTP_INCL] = round(values[NYTP_INCL]);
		values[NYTP_EXCL] = round(values[NYTP_EXCL]);
	}
	b->m->edge_list = (struct pm_edges){n, edges, all};
}

/* The context of a sub at the first level. */
static uint32_t top_of(struct nytp_building *b, uint32_t name)
{
	return nytp_context_of(b, PM_NONE, nytp_frame_of(b, name));
}

/* All calls from one sub to another in one process: the cost of a context of the second level. */
static void add_flow(struct nytp_building *b, const struct nytp_flow *flow, struct nytp_cell **last)
{
	uint32_t top = top_of(b, flow->caller);
	uint32_t rank = nytp_context_of(b, top, nytp_frame_of(b, flow->callee));
	nytp_weigh(b, rank, flow->incl);
	if (!*last || (*last)->rank != rank || (*last)->thread != flow->thread) {
		*last = nytp_cell_add(b, flow->thread, rank);
		(*last)->values[NYTP_INCL] = (*last)->values[NYTP_EXCL] = 0;
		(*last)->values[NYTP_CALLS] = 0;
	}
	(*last)->values[NYTP_INCL] += flow->incl;
	(*last)->values[NYTP_EXCL] += flow->excl;
	(*last)->values[NYTP_CALLS] += (double)flow->calls;
}

/*
 * The first level only has inclusive time of the run: with exclusive time or calls there, sums over
 * the tree would count everything twice.
 */
static void add_totals(struct nytp_building *b)
{
	uint32_t n = nytp_n_subs(b->n);
	double *totals = pm_arena_array(b->scratch, n, sizeof(*totals));
	for (uint32_t name = 0; name < n; name++)
		totals[name] = NAN;
	for (size_t i = 0; i < b->n_flows; i++) {
		double *total = &totals[b->flows[i].callee];
		*total = isnan(*total) ? b->flows[i].incl : *total + b->flows[i].incl;
	}
	for (uint32_t name = 0; name < n; name++) {
		if (isnan(totals[name]))
			continue;
		uint32_t rank = top_of(b, name);
		nytp_cell_add(b, NYTP_NONE, rank)->values[NYTP_INCL] = round(totals[name]);
		nytp_weigh(b, rank, totals[name]);
	}
}

void nytp_build_edge_tree(struct nytp_building *b)
{
	struct nytp_cell *last = NULL;
	for (size_t i = 0; i < b->n_flows; i++)
		if (b->flows[i].caller != NYTP_NONE)
			add_flow(b, &b->flows[i], &last);
	for (size_t i = 0; i < b->n_cells; i++)
		for (size_t k = 0; k < NYTP_CALLS; k++)
			b->cells[i].values[k] = round(b->cells[i].values[k]);
	add_totals(b);
}
