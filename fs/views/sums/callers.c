/*
 * Call edges: one for each caller, callee and call site, summed over the contexts or taken from
 * the format. The caller of a context is the nearest call above it; the call site is the nearest
 * line, loop or instruction with a line on the way there.
 */
#include "fs/views/sums/callers.h"

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"

struct calls_part {
	struct pmfs_calls calls;
	struct pmfs_sums sums;
	struct pmfs_call_edge *rows;
	size_t room;
};

/* An edge has four numbers, but keys of the map have two, so pairs and sites are numbered first. */
struct finder {
	struct pm_map pairs; /* caller, callee → number */
	struct pm_map sites; /* file, line → number */
	struct pm_map edges; /* pair, site → row */
};

static uint32_t number_of(struct pm_map *map, uint32_t a, uint32_t b, bool *fresh)
{
	return *pm_map_put(map, (uint64_t)a << 32 | b, (uint32_t)map->n, fresh);
}

/* The row of an edge, new or known. */
static uint32_t find_row(
	struct calls_part *part, struct finder *f, const struct pmfs_call_edge *call)
{
	bool fresh;
	uint32_t pair = number_of(&f->pairs, call->caller, call->callee, &fresh);
	uint32_t site = number_of(&f->sites, call->file, call->line, &fresh);
	uint32_t row = number_of(&f->edges, pair, site, &fresh);
	if (fresh) {
		pm_list_grow(part->sums.arena, &part->rows, part->sums.n, &part->room,
			sizeof(*part->rows));
		part->rows[part->sums.n] = *call;
		pmfs_sums_row(&part->sums);
	}
	return row;
}

/* ---- from the contexts ---- */

/* The functions on the current path, by depth. */
struct path {
	uint32_t *function; /* the nearest one, the context's own included; PM_NONE: none */
	uint32_t *site;     /* the nearest call site since then: a context, or PM_NONE */
};

struct walk {
	struct calls_part *part;
	struct finder finder;
	struct path path;
};

static bool is_site(const struct pm_frame *frame)
{
	return frame->line != 0 &&
		(frame->kind == PM_KIND_LINE || frame->kind == PM_KIND_LOOP ||
			frame->kind == PM_KIND_INSTRUCTION);
}

/* Moves on to a context; fills `call` with the edge to it if it is a call. */
static bool step(const struct pmfs_identity *id, struct path *path, uint32_t context,
	struct pmfs_call_edge *call)
{
	const struct pm_tree *tree = id->tree;
	const struct pm_frame *frame = pm_tree_frame(tree, context);
	uint32_t depth = tree->depth[context];
	uint32_t caller = depth > 0 ? path->function[depth - 1] : PM_NONE;
	uint32_t site = depth > 0 ? path->site[depth - 1] : PM_NONE;
	bool is_call = pmfs_is_call(id, context);
	uint32_t callee = pmfs_function_of(id, context);
	path->function[depth] = is_call ? callee : caller;
	path->site[depth] = is_site(frame) ? context : is_call ? PM_NONE : site;
	if (!is_call)
		return false;
	*call = (struct pmfs_call_edge){
		.caller = caller, .callee = callee, .calls = PMFS_UNCOUNTED};
	if (site != PM_NONE && caller != PM_NONE) {
		call->file = pm_tree_frame(tree, site)->file;
		call->line = pm_tree_frame(tree, site)->line;
	}
	return true;
}

/* The costs of a call are added to its edge, those of a part to the edge of its call. */
static void place(void *self, uint32_t context, struct pmfs_share *share)
{
	struct walk *w = self;
	struct pmfs_call_edge call;
	share->row = share->above;
	if (!step(w->part->calls.identity, &w->path, context, &call))
		return;
	share->counts = true;
	share->outer = pmfs_is_outer(w->part->calls.identity, context);
	share->row = find_row(w->part, &w->finder, &call);
}

static void calls_of_contexts(struct pm_arena *scratch, struct pmfs_model *m,
	struct calls_part *part, const struct finder *finder, struct pm_error *err)
{
	const struct pm_tree *tree = part->calls.tree;
	size_t height = (size_t)pmfs_tree_height(tree) + 1;
	struct walk w = {.part = part,
		.finder = *finder,
		.path = {pm_arena_array(scratch, height, sizeof(uint32_t)),
			pm_arena_array(scratch, height, sizeof(uint32_t))}};
	struct pmfs_grouping g = {
		.model = m, .tree = tree, .end = tree->n_contexts, .place = place, .self = &w};
	pmfs_group(&g, &part->sums, err);
	/* Calls are counted if there is a column for them. */
	const struct pmfs_columns *columns = part->calls.columns;
	for (uint32_t i = 0; columns->calls != PM_NONE && i < part->sums.n; i++) {
		double calls = part->sums.cells[(size_t)i * columns->n + columns->calls];
		if (calls >= 0 && calls < 0x1p64)
			part->rows[i].calls = (uint64_t)calls;
	}
}

/* ---- from the format ---- */

/* Rows of identical functions are merged, too. */
static void calls_of_format(struct pm_arena *scratch, struct pmfs_model *m,
	const struct pm_edges *edges, struct calls_part *part, struct finder *finder,
	struct pm_error *err)
{
	const struct pmfs_columns *c = part->calls.columns;
	const struct pmfs_identity *id = part->calls.identity;
	const struct pm_metrics *metrics;
	pm_build_check(scratch, pmfs_model_metrics(m, &metrics, err));
	pm_number *cells = pmfs_cells_new(scratch, c->n);
	for (uint64_t i = 0; i < edges->n; i++) {
		const struct pm_edge *e = &edges->edges[i];
		struct pmfs_call_edge call = {.caller = pmfs_same_function(id, e->caller),
			.callee = pmfs_same_function(id, e->callee),
			.file = e->file,
			.line = e->line};
		uint32_t row = find_row(part, finder, &call);
		pmfs_native_cells(c, metrics, edges->values + i * metrics->n, cells);
		part->rows[row].calls += e->calls;
		pmfs_add_cells(c, part->sums.cells + (size_t)row * c->n, cells, true);
	}
	/* The number that the table shows, for what is computed of its rows. */
	for (uint32_t i = 0; c->calls != PM_NONE && i < part->sums.n; i++)
		part->sums.cells[(size_t)i * c->n + c->calls] = (double)part->rows[i].calls;
}

/* ---- the part ---- */

/* The calls of each function, as its caller or as its callee, in the order of callers.csv. */
static void list_calls(struct pm_arena *a, const struct calls_part *part, bool callee,
	const uint32_t **ret_list, const uint32_t **ret_first)
{
	uint32_t n = part->sums.n, n_functions = part->calls.identity->n;
	uint32_t *list = pm_arena_array(a, (size_t)n + 1, sizeof(*list));
	uint32_t *first = pm_arena_array(a, (size_t)n_functions + 2, sizeof(*first));
	*ret_list = list;
	*ret_first = first;
	/*
	 * first[f + 1] is first the number of f's calls, then the position of the next one, then
	 * the end of f.
	 */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t f = callee ? part->rows[i].callee : part->rows[i].caller;
		if (f != PM_NONE && f + 1 < n_functions)
			first[f + 2]++;
	}
	for (uint32_t f = 2; f <= n_functions; f++)
		first[f] += first[f - 1];
	for (uint32_t i = 0; i < n; i++) {
		const struct pmfs_call_edge *call = &part->rows[part->calls.order[i]];
		uint32_t f = callee ? call->callee : call->caller;
		if (f != PM_NONE)
			list[first[f + 1]++] = part->calls.order[i];
	}
}

static void build_calls(struct pm_arena *a, void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct calls_part *part = p;
	struct pmfs_calls *c = &part->calls;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct finder finder = {{.arena = scratch}, {.arena = scratch}, {.arena = scratch}};
	const struct pm_flat *flat;
	pm_build_check(a, pmfs_identity(m, &c->identity, err));
	pm_build_check(a, pmfs_model_columns(m, &c->columns, err));
	pm_build_check(a, pmfs_model_flat(m, &flat, err));
	c->tree = c->identity->tree;
	part->sums = (struct pmfs_sums){.arena = a, .columns = c->columns};
	if (flat->edges)
		calls_of_format(scratch, m, flat->edges, part, &finder, err);
	else
		calls_of_contexts(scratch, m, part, &finder, err);
	pm_arena_done(scratch);
	c->n = part->sums.n;
	c->calls = part->rows;
	c->cells = part->sums.cells;
	c->order = pmfs_order(a, c->cells, c->n, c->columns->n,
		c->columns->first_incl != PM_NONE ? c->columns->first_incl
						  : pmfs_order_column(c->columns));
	list_calls(a, part, false, &c->by_caller, &c->caller_first);
	list_calls(a, part, true, &c->by_callee, &c->callee_first);
}

int pmfs_calls(struct pmfs_model *m, const struct pmfs_calls **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct calls_part), .what = "the calls", .build = build_calls};
	return pmfs_model_part(m, PMFS_PART_CALLERS, &type, ret, err);
}
