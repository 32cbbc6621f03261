/*
 * Call edges: one for each caller, callee and call site, summed over the contexts or taken from
 * the format. The caller of a context is the nearest call above it; the call site is the nearest
 * line, loop or instruction with a line on the way there.
 */
#include "fs/views/sums/callers.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/groups.h"

struct calls_part {
	struct pmfs_calls calls;
	struct pmfs_sums sums;
	struct pmfs_call_edge *rows;
	size_t room;
	uint32_t *order, *by_caller, *caller_first, *by_callee, *callee_first;
};

/* An edge has four numbers, but keys of the map have two, so pairs and sites are numbered first. */
struct finder {
	struct pm_map pairs; /* caller, callee → number */
	struct pm_map sites; /* file, line → number */
	struct pm_map edges; /* pair, site → row */
};

static void calls_done(void *p)
{
	struct calls_part *part = p;
	pmfs_sums_done(&part->sums);
	free(part->rows);
	free(part->order);
	free(part->by_caller);
	free(part->caller_first);
	free(part->by_callee);
	free(part->callee_first);
}

static uint32_t *number_of(struct pm_map *map, uint32_t a, uint32_t b, bool *fresh)
{
	return pm_map_put(map, (uint64_t)a << 32 | b, (uint32_t)map->n, fresh);
}

/* The row of an edge, new or known. */
static int find_row(
	struct calls_part *part, struct finder *f, const struct pmfs_call_edge *call, uint32_t *ret)
{
	bool fresh;
	uint32_t *pair = number_of(&f->pairs, call->caller, call->callee, &fresh);
	uint32_t *site = number_of(&f->sites, call->file, call->line, &fresh);
	uint32_t *row = pair && site ? number_of(&f->edges, *pair, *site, &fresh) : NULL;
	if (!row)
		return -ENOMEM;
	*ret = *row;
	if (!fresh)
		return 0;
	if (pm_list_room(&part->rows, part->sums.n, &part->room, sizeof(*part->rows)) < 0)
		return -ENOMEM;
	part->rows[part->sums.n] = *call;
	return pmfs_sums_row(&part->sums, ret);
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
static int place(void *self, uint32_t context, struct pmfs_share *share)
{
	struct walk *w = self;
	struct pmfs_call_edge call;
	share->row = share->above;
	if (!step(w->part->calls.identity, &w->path, context, &call))
		return 0;
	share->counts = true;
	share->outer = pmfs_is_outer(w->part->calls.identity, context);
	return find_row(w->part, &w->finder, &call, &share->row);
}

static int sum_calls(struct pmfs_model *m, struct walk *w, struct pm_error *err)
{
	const struct pm_tree *tree = w->part->calls.tree;
	struct pmfs_grouping g = {
		.model = m, .tree = tree, .end = tree->n_contexts, .place = place, .self = w};
	int r = pmfs_group(&g, &w->part->sums, err);
	pm_map_done(&w->finder.pairs);
	pm_map_done(&w->finder.sites);
	pm_map_done(&w->finder.edges);
	return r;
}

/* Calls are counted if there is a column for them. */
static void take_counts(struct calls_part *part)
{
	const struct pmfs_columns *c = part->calls.columns;
	if (c->calls == PM_NONE)
		return;
	for (uint32_t i = 0; i < part->sums.n; i++) {
		double calls = part->sums.cells[(size_t)i * c->n + c->calls];
		if (calls >= 0 && calls < 0x1p64)
			part->rows[i].calls = (uint64_t)calls;
	}
}

static int calls_of_contexts(struct pmfs_model *m, struct calls_part *part, struct pm_error *err)
{
	size_t height = (size_t)pmfs_tree_height(part->calls.tree) + 1;
	struct walk w = {.part = part};
	w.path.function = malloc(height * sizeof(uint32_t));
	w.path.site = malloc(height * sizeof(uint32_t));
	int r = w.path.function && w.path.site ? sum_calls(m, &w, err) : pmfs_no_memory(err);
	free(w.path.function);
	free(w.path.site);
	take_counts(part);
	return r;
}

/* ---- from the format ---- */

/* Adds a row of the format; rows of identical functions are merged, too. */
static int add_native(struct calls_part *part, struct finder *finder, const struct pm_edge *e,
	const pm_number *cells)
{
	const struct pmfs_identity *id = part->calls.identity;
	struct pmfs_call_edge call = {.caller = pmfs_same_function(id, e->caller),
		.callee = pmfs_same_function(id, e->callee),
		.file = e->file,
		.line = e->line};
	uint32_t row;
	if (find_row(part, finder, &call, &row) < 0)
		return -ENOMEM;
	part->rows[row].calls += e->calls;
	pmfs_add_cells(part->calls.columns, part->sums.cells + (size_t)row * part->calls.columns->n,
		cells, true);
	return 0;
}

static int calls_of_format(struct pmfs_model *m, const struct pm_edges *edges,
	struct calls_part *part, struct pm_error *err)
{
	const struct pmfs_columns *c = part->calls.columns;
	const struct pm_metrics *metrics;
	struct finder finder = {.pairs = {.n = 0}};
	int r = pmfs_model_metrics(m, &metrics, err);
	if (r < 0)
		return r;
	pm_number *cells = pmfs_cells_new(NULL, c->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint64_t i = 0; r == 0 && i < edges->n; i++) {
		pmfs_native_cells(c, metrics, edges->values + i * metrics->n, cells);
		if (add_native(part, &finder, &edges->edges[i], cells) < 0)
			r = pmfs_no_memory(err);
	}
	/* The number that the table shows, for what is computed of its rows. */
	for (uint32_t i = 0; c->calls != PM_NONE && i < part->sums.n; i++)
		part->sums.cells[(size_t)i * c->n + c->calls] = (double)part->rows[i].calls;
	pm_map_done(&finder.pairs);
	pm_map_done(&finder.sites);
	pm_map_done(&finder.edges);
	free(cells);
	return r;
}

/* ---- the part ---- */

/* The calls of each function, as its caller or as its callee, in the order of callers.csv. */
static int list_calls(
	const struct calls_part *part, bool callee, uint32_t **ret_list, uint32_t **ret_first)
{
	uint32_t n = part->sums.n, n_functions = part->calls.identity->n;
	uint32_t *list = malloc(((size_t)n + 1) * sizeof(*list));
	uint32_t *first = calloc((size_t)n_functions + 2, sizeof(*first));
	*ret_list = list;
	*ret_first = first;
	if (!list || !first)
		return -ENOMEM;
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
		const struct pmfs_call_edge *call = &part->rows[part->order[i]];
		uint32_t f = callee ? call->callee : call->caller;
		if (f != PM_NONE)
			list[first[f + 1]++] = part->order[i];
	}
	return 0;
}

static int sort_calls(struct calls_part *part)
{
	const struct pmfs_columns *c = part->calls.columns;
	uint32_t column = c->first_incl != PM_NONE ? c->first_incl : pmfs_order_column(c);
	part->order = pmfs_order(NULL, part->sums.cells, part->sums.n, c->n, column);
	if (!part->order || list_calls(part, false, &part->by_caller, &part->caller_first) < 0 ||
		list_calls(part, true, &part->by_callee, &part->callee_first) < 0)
		return -ENOMEM;
	return 0;
}

static int calls_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct calls_part *part = p;
	struct pmfs_calls *c = &part->calls;
	int r = pmfs_identity(m, &c->identity, err);
	if (r == 0)
		r = pmfs_model_columns(m, &c->columns, err);
	c->tree = r == 0 ? c->identity->tree : NULL;
	part->sums.columns = c->columns;
	const struct pm_flat *flat;
	if (r == 0)
		r = pmfs_model_flat(m, &flat, err);
	if (r == 0)
		r = flat->edges ? calls_of_format(m, flat->edges, part, err)
				: calls_of_contexts(m, part, err);
	if (r == 0 && sort_calls(part) < 0)
		r = pmfs_no_memory(err);
	if (r < 0)
		return r;
	c->n = part->sums.n;
	c->calls = part->rows;
	c->cells = part->sums.cells;
	c->order = part->order;
	c->by_caller = part->by_caller;
	c->caller_first = part->caller_first;
	c->by_callee = part->by_callee;
	c->callee_first = part->callee_first;
	return 0;
}

int pmfs_calls(struct pmfs_model *m, const struct pmfs_calls **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct calls_part), calls_fill, calls_done, .what = "the calls"};
	return pmfs_model_part(m, PMFS_PART_CALLERS, &type, ret, err);
}
