/*
 * Frames become functions, contexts become costs; costs are sorted and equal ones added up.
 *
 * With recursion, the same cost is on one path several times. It counts once, at the outermost
 * instance: contexts come in pre-order, so an edge (or function) is inside another instance iff its
 * context is before the end of the last outermost one.
 */
#include "fs/views/exports/export.h"

#include <string.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "fs/views/model/flat.h"

enum { BETWEEN_QUESTIONS = 1 << 12 };

/*
 * Growing arrays of functions and edges found so far, with the end of their last outermost subtree.
 */
struct building {
	struct pm_arena *a, *scratch; /* of the graph; while it is made */
	const struct pmfs_stacks *stacks, *calls;
	const struct pmfs_stacks *incl; /* of a tree of edges: inclusive costs; else NULL */
	const struct pm_tree *tree;
	struct pmfs_graph *graph;
	uint32_t *text_of;     /* text of the tree → text of the graph, or PM_NONE as above */
	uint32_t *function_of; /* frame of the tree → function, or PM_NONE while not asked for */
	uint64_t *total;       /* by context: units of the frame and all below it */
	uint64_t *rest; /* by context: exclusive units of the frame not yet attributed to a line */
	struct pm_map named; /* name << 32 | file → number */
	struct pm_map found; /* that number << 32 | module → function */
	struct pm_map edges; /* caller << 32 | callee → edge */
	uint32_t *function_end, *edge_end;
	uint32_t n_edges;
	size_t room_functions, room_function_end, room_edge_end, room_costs;
	struct pm_text raw, cleaned;
};

/* ---- functions ---- */

static uint32_t add_text(struct building *b, struct pm_bytes text)
{
	pm_text_clear(&b->cleaned);
	pm_text_tsv(&b->cleaned, text);
	return pm_strtab_add(&b->graph->texts, pm_text_view(&b->cleaned));
}

/* The same for a text of the tree: a long one shared by many frames is read once. */
static uint32_t add_text_of(struct building *b, uint32_t text)
{
	if (b->text_of[text] == PM_NONE)
		b->text_of[text] = add_text(b, b->tree->texts[text]);
	return b->text_of[text];
}

/* The value of key a << 32 | b, `fresh` where it is new. */
static uint32_t put(struct pm_map *map, uint32_t a, uint32_t b, uint32_t fresh, bool *ret_new)
{
	return *pm_map_put(map, (uint64_t)a << 32 | b, fresh, ret_new);
}

static uint32_t find_function(struct building *b, const struct pm_frame *frame)
{
	struct pmfs_graph *g = b->graph;
	uint32_t n = g->n_functions;
	bool is_new;
	pm_text_clear(&b->raw);
	struct pmfs_graph_function f = {.name = frame->name
			? add_text_of(b, frame->name)
			: add_text(b, pmfs_stacks_name(b->tree, frame, &b->raw)),
		.file = add_text_of(b, frame->file),
		.module = add_text_of(b, frame->module),
		.line = frame->line};
	uint32_t named = put(&b->named, f.name, f.file, (uint32_t)b->named.n, &is_new);
	uint32_t found = put(&b->found, named, f.module, n, &is_new);
	if (is_new) {
		pm_list_grow(b->a, &g->functions, n, &b->room_functions, sizeof(*g->functions));
		pm_list_grow(b->scratch, &b->function_end, n, &b->room_function_end,
			sizeof(*b->function_end));
		b->function_end[n] = 0;
		g->functions[g->n_functions++] = f;
	}
	return found;
}

static void find_functions(struct building *b)
{
	for (uint32_t i = b->stacks->first; i < b->stacks->end; i++) {
		uint32_t frame = b->tree->frame[i];
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(b->a);
		if (pmfs_stacks_is_frame(b->stacks, i) && b->function_of[frame] == PM_NONE)
			b->function_of[frame] = find_function(b, &b->tree->frames[frame]);
	}
}

static uint32_t function_of(const struct building *b, uint32_t context)
{
	return b->function_of[b->tree->frame[context]];
}

/* ---- costs ---- */

static void add_cost(struct building *b, const struct pmfs_graph_cost *cost)
{
	struct pmfs_graph *g = b->graph;
	if (cost->units == 0 && cost->calls == 0)
		return;
	pm_list_grow(b->a, &g->costs, g->n_costs, &b->room_costs, sizeof(*g->costs));
	g->costs[g->n_costs++] = *cost;
}

/* The line of a part of a frame: its own if it is one of the function's file. */
static uint32_t line_of(const struct building *b, uint32_t context)
{
	const struct pm_frame *own = pm_tree_frame(b->tree, context);
	const struct pm_frame *frame =
		pm_tree_frame(b->tree, b->stacks->shown[context - b->stacks->first]);
	return own->line && own->file == frame->file ? own->line : frame->line;
}

/*
 * The exclusive cost of a part belongs to its line, but is never more than the total of its frame.
 */
static void add_part(struct building *b, uint32_t context)
{
	const struct pmfs_stacks *s = b->stacks;
	uint32_t shown = s->shown[context - s->first];
	uint64_t *rest = &b->rest[shown - s->first];
	double own = s->value[context - s->first];
	for (uint32_t c = context + 1; c < b->tree->end[context]; c = b->tree->end[c])
		own -= s->value[c - s->first];
	uint64_t units = pmfs_stacks_units(s, own);
	struct pmfs_graph_cost cost = {
		.function = function_of(b, shown),
		.callee = PM_NONE,
		.line = line_of(b, context),
		.units = units < *rest ? units : *rest,
	};
	*rest -= cost.units;
	add_cost(b, &cost);
}

/* The call that this frame is. */
static void add_call(struct building *b, uint32_t context, uint32_t caller)
{
	uint32_t at = context - b->stacks->first;
	bool is_new;
	struct pmfs_graph_cost cost = {
		.function = function_of(b, caller),
		.callee = function_of(b, context),
		.line = line_of(b, b->tree->parent[context]),
		.calls = b->calls ? pmfs_stacks_units(b->calls, b->calls->value[at]) : 0,
	};
	uint32_t edge = put(&b->edges, cost.function, cost.callee, b->n_edges, &is_new);
	if (is_new) {
		pm_list_grow(b->scratch, &b->edge_end, b->n_edges, &b->room_edge_end,
			sizeof(*b->edge_end));
		b->edge_end[b->n_edges++] = 0;
	}
	if (context >= b->edge_end[edge]) {
		b->edge_end[edge] = b->tree->end[context];
		cost.units =
			b->incl ? pmfs_stacks_units(b->incl, b->incl->value[at]) : b->total[at];
	}
	add_cost(b, &cost);
}

/* Adds the frame to its function. */
static void count_frame(struct building *b, uint32_t context)
{
	uint32_t at = context - b->stacks->first, function = function_of(b, context);
	struct pmfs_graph_function *f = &b->graph->functions[function];
	f->self = pmfs_stacks_add(f->self, b->rest[at]);
	b->graph->total = pmfs_stacks_add(b->graph->total, b->rest[at]);
	if (b->incl || context < b->function_end[function])
		return;
	b->function_end[function] = b->tree->end[context];
	f->total = pmfs_stacks_add(f->total, b->total[at]);
}

/*
 * A tree of edges has a sub's whole inclusive cost at the top if the sub calls others, and a part
 * of it below each of its callers.
 */
static void total_edges(struct building *b)
{
	const struct pmfs_stacks *s = b->incl;
	bool *at_top =
		pm_arena_array(b->scratch, (size_t)b->graph->n_functions + 1, sizeof(*at_top));
	for (uint32_t i = s->first; i < s->end; i = s->tree->end[i])
		at_top[function_of(b, i)] = true;
	for (uint32_t i = s->first; i < s->end; i++) {
		if (!pmfs_stacks_is_frame(s, i))
			continue;
		struct pmfs_graph_function *f = &b->graph->functions[function_of(b, i)];
		if (s->tree->parent[i] == PM_NONE || !at_top[function_of(b, i)])
			f->total = pmfs_stacks_add(
				f->total, pmfs_stacks_units(s, s->value[i - s->first]));
	}
}

static void sum_up(struct building *b)
{
	const struct pmfs_stacks *s = b->stacks;
	for (uint32_t i = s->end; i-- > s->first;) {
		uint32_t at = i - s->first;
		if (!pmfs_stacks_is_frame(s, i))
			continue;
		uint32_t caller = pmfs_stacks_caller(s, i);
		b->rest[at] = pmfs_stacks_own(s, i);
		b->total[at] = pmfs_stacks_add(b->total[at], b->rest[at]);
		if (caller != PM_NONE)
			b->total[caller - s->first] =
				pmfs_stacks_add(b->total[caller - s->first], b->total[at]);
	}
}

static void add_costs(struct building *b)
{
	const struct pmfs_stacks *s = b->stacks;
	bool has_lines = s->column->role == PM_ROLE_INCLUSIVE;
	for (uint32_t i = s->first; i < s->end; i++) {
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(b->a);
		if (pmfs_stacks_is_frame(s, i)) {
			uint32_t caller = pmfs_stacks_caller(s, i);
			count_frame(b, i);
			if (caller != PM_NONE)
				add_call(b, i, caller);
		} else if (has_lines) {
			add_part(b, i);
		}
	}
	for (uint32_t i = s->first; i < s->end; i++)
		if (pmfs_stacks_is_frame(s, i))
			add_cost(b,
				&(struct pmfs_graph_cost){.function = function_of(b, i),
					.callee = PM_NONE,
					.line = pm_tree_frame(b->tree, i)->line,
					.units = b->rest[i - s->first]});
}

/* ---- order ---- */

static int by_place(const void *a, const void *b)
{
	const struct pmfs_graph_cost *x = a, *y = b;
	/* PM_NONE + 1 is 0, so exclusive costs come first. */
	uint32_t left = x->callee + 1, right = y->callee + 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (left != right)
		return left < right ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static void merge_costs(struct pm_arena *a, struct pmfs_graph *g)
{
	size_t kept = 0;
	pm_build_check(a, pm_sort(g->costs, g->n_costs, sizeof(*g->costs), by_place));
	for (size_t i = 0; i < g->n_costs; i++) {
		struct pmfs_graph_cost *last = &g->costs[kept];
		const struct pmfs_graph_cost *cost = &g->costs[i];
		if (kept > 0 && by_place(last - 1, cost) == 0) {
			last[-1].units = pmfs_stacks_add(last[-1].units, cost->units);
			last[-1].calls = pmfs_stacks_add(last[-1].calls, cost->calls);
		} else {
			*last = *cost;
			kept++;
		}
	}
	g->n_costs = kept;
}

/* ---- all of it ---- */

/* Whether the tree has the calls of each sub once, so that inclusive costs are not sums. */
static bool has_edges(const struct pmfs_model *m, const struct pmfs_column *column)
{
	const char *kind = pm_profile_kind_of_tree(pmfs_model_profile(m));
	return kind && strcmp(kind, "edges") == 0 && pmfs_costs_overlap(m) &&
		column->pair != PM_NONE;
}

struct pmfs_graph *pmfs_graph_make(const struct pmfs_writing *w, uint32_t column, uint32_t thread)
{
	struct pmfs_model *m = w->model;
	struct pmfs_graph *g = pm_arena_alloc(w->a, sizeof(*g));
	struct pm_arena *scratch = pm_arena_scratch(w->a);
	struct building b = {.a = w->a,
		.scratch = scratch,
		.graph = g,
		.named.arena = scratch,
		.found.arena = scratch,
		.edges.arena = scratch,
		.raw.arena = scratch,
		.cleaned.arena = scratch};
	const struct pmfs_columns *columns;
	pm_build_check(w->a, pmfs_model_columns(m, &columns, w->err));
	b.stacks = pmfs_stacks_make(scratch, m, column, thread, PM_NONE, w->err);
	if (columns->calls != PM_NONE)
		b.calls = pmfs_stacks_make(scratch, m, columns->calls, thread, PM_NONE, w->err);
	if (has_edges(m, &columns->columns[column]))
		b.incl = pmfs_stacks_make_inclusive(scratch, m, column, thread, w->err);
	b.tree = b.stacks->tree;
	size_t n = (size_t)(b.stacks->end - b.stacks->first) + 1;
	b.function_of =
		pm_arena_array(scratch, (size_t)b.tree->n_frames + 1, sizeof(*b.function_of));
	b.text_of = pm_arena_array(scratch, (size_t)b.tree->n_texts + 1, sizeof(*b.text_of));
	b.total = pm_arena_array(scratch, n, sizeof(*b.total));
	b.rest = pm_arena_array(scratch, n, sizeof(*b.rest));
	memset(b.function_of, 0xff, b.tree->n_frames * sizeof(*b.function_of)); /* PM_NONE */
	memset(b.text_of, 0xff, b.tree->n_texts * sizeof(*b.text_of));
	g->column = b.stacks->column;
	g->texts = pm_strtab_in(w->a);
	pm_strtab_add(&g->texts, pm_bytes_of(""));
	sum_up(&b);
	find_functions(&b);
	add_costs(&b);
	if (b.incl)
		total_edges(&b);
	merge_costs(w->a, g);
	pm_arena_done(scratch);
	return g;
}
