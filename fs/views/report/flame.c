/*
 * Flame graphs: the widest boxes below one node of the call paths by name. A deeper part is another
 * document, which the page loads when its reader zooms into a box whose boxes were left out.
 */
#include <stdlib.h>

#include "formats/common/sort.h"
#include "fs/views/model/parts.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/pictures/flame.h"
#include "fs/views/report/data.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/stacks.h"

struct graph {
	struct pmfs_name_paths paths;
	struct pmfs_flame_layout layout;
	const struct pmfs_colours *colours;
	uint32_t root;
	uint32_t first, end; /* places of the root and all below it */
	uint32_t *chosen;    /* the nodes that are written, in pre-order */
	bool *is_chosen;     /* by node */
	uint32_t n_chosen;
	double least; /* cost of the narrowest box */
};

static void graph_done(struct graph *g)
{
	free(g->chosen);
	free(g->is_chosen);
	pmfs_flame_layout_done(&g->layout);
	pmfs_name_paths_done(&g->paths);
}

/* The call paths by name, of the whole run or of a thread. */
static int make_paths(struct pmfs_report *r, uint32_t thread, uint32_t column, struct graph *g,
	struct pm_error *err)
{
	struct pmfs_stacks stacks;
	int e = pmfs_colours(r->model, &g->colours, err);
	if (e == 0)
		e = pmfs_stacks_make(r->model, column, thread, PM_NONE, &stacks, err);
	if (e < 0)
		return e;
	e = pmfs_name_paths_make(&stacks, pm_text_line, &g->paths, err);
	pmfs_stacks_done(&stacks);
	return e;
}

static int lay_out(struct graph *g, struct pm_error *err)
{
	struct pmfs_flame flame = pmfs_flame_of(&g->paths);
	return pmfs_flame_lay_out(&flame, &g->layout, err);
}

static int descending(const void *a, const void *b)
{
	double x = *(const pm_number *)a, y = *(const pm_number *)b;
	return (x < y) - (x > y);
}

/*
 * Selects the boxes that cost more than `least`, and `ties` of those that cost exactly that,
 * callers first, since all boxes in a chain of calls may cost the same. A parent costs at least as
 * much as its children and comes before them, so no box lacks its parent.
 */
static uint32_t choose(struct graph *g, uint32_t ties)
{
	const struct pmfs_flame_layout *l = &g->layout;
	uint32_t n = 0;
	for (uint32_t place = g->first; place < g->end; place++) {
		uint32_t node = l->order[place];
		bool deep = l->depth[node] - l->depth[g->root] >= PMFS_REPORT_LEVELS;
		bool tie = !deep && ties > 0 && l->total[node] == g->least && l->total[node] > 0;
		g->is_chosen[node] = node == g->root || (!deep && l->total[node] > g->least) || tie;
		ties -= tie;
		if (g->is_chosen[node])
			g->chosen[n++] = node;
	}
	return n;
}

/*
 * Sets `least` to the cost of the last box that is taken, and `*ret_more` to the number of boxes
 * that cost more.
 */
static int find_least(struct graph *g, uint32_t *ret_more, struct pm_error *err)
{
	pm_number *totals = malloc(g->n_chosen * sizeof(*totals));
	if (!totals)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < g->n_chosen; i++)
		totals[i] = g->layout.total[g->chosen[i]];
	if (pm_sort(totals, g->n_chosen, sizeof(*totals), descending) < 0) {
		free(totals);
		return pmfs_no_memory(err);
	}
	g->least = totals[PMFS_REPORT_BOXES - 1];
	for (*ret_more = 0; totals[*ret_more] > g->least;)
		++*ret_more;
	free(totals);
	return 0;
}

static int choose_boxes(struct graph *g, struct pm_error *err)
{
	const struct pmfs_flame_layout *l = &g->layout;
	g->first = l->place[g->root];
	for (g->end = g->first + 1;
		g->end < g->paths.n && l->depth[l->order[g->end]] > l->depth[g->root];)
		g->end++;
	g->chosen = malloc(((size_t)(g->end - g->first) + 1) * sizeof(*g->chosen));
	g->is_chosen = calloc(g->paths.n, sizeof(*g->is_chosen));
	if (!g->chosen || !g->is_chosen)
		return pmfs_no_memory(err);
	uint32_t more = 0;
	g->least = l->total[g->root] / (4 * PMFS_REPORT_BOXES);
	g->n_chosen = choose(g, 0);
	if (g->n_chosen <= PMFS_REPORT_BOXES)
		return 0;
	int e = find_least(g, &more, err);
	if (e == 0)
		g->n_chosen = choose(g, PMFS_REPORT_BOXES - more);
	return e;
}

/* Whether a box below this one is left out. */
static bool is_cut(const struct graph *g, uint32_t node)
{
	const struct pmfs_name_paths *p = &g->paths;
	for (uint32_t i = p->child_start[node]; i < p->child_start[node + 1]; i++) {
		uint32_t child = p->children[i];
		if (g->layout.total[child] > 0 && !g->is_chosen[child])
			return true;
	}
	return false;
}

static struct pm_bytes name_of(const struct graph *g, uint32_t node)
{
	struct pm_bytes name = pmfs_name_paths_name(&g->paths, node);
	return node == 0 && name.len == 0 ? pm_bytes_of("all") : name;
}

/* Names are written once: `local` maps a name of the paths to its index in the list. */
static void write_names(struct pmfs_report *r, const struct graph *g, uint32_t *local)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->paths.names.n; i++)
		local[i] = PM_NONE;
	pm_json_key(&r->json, "names");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < g->n_chosen; i++) {
		uint32_t name = g->paths.name[g->chosen[i]];
		if (local[name] != PM_NONE)
			continue;
		local[name] = n++;
		struct pm_bytes text = name_of(g, g->chosen[i]);
		pm_json_open(&r->json, '[');
		pm_json_text(&r->json, text);
		pm_json_u64(&r->json, pmfs_colour_of(g->colours, text));
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
}

/* In pre-order: node, depth below the root, name, total, own, is it cut. */
static void write_boxes(struct pmfs_report *r, const struct graph *g, const uint32_t *local)
{
	uint32_t depth = g->layout.depth[g->root];
	pm_json_key(&r->json, "boxes");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < g->n_chosen; i++) {
		uint32_t node = g->chosen[i];
		pm_json_u64(&r->json, node);
		pm_json_u64(&r->json, g->layout.depth[node] - depth);
		pm_json_u64(&r->json, local[g->paths.name[node]]);
		pm_json_f64(&r->json, g->layout.total[node]);
		pm_json_f64(&r->json, g->paths.self[node] > 0 ? g->paths.self[node] : 0);
		pm_json_u64(&r->json, is_cut(g, node));
	}
	pm_json_close(&r->json, ']');
}

/* The nearest callers of the root, from the outermost on: [node, name]. */
static void write_above(struct pmfs_report *r, const struct graph *g)
{
	uint32_t path[PMFS_MAX_ABOVE], n = 0;
	for (uint32_t i = g->paths.parent[g->root]; i != PM_NONE && n < PMFS_MAX_ABOVE;
		i = g->paths.parent[i])
		path[n++] = i;
	pm_json_key(&r->json, "above");
	pm_json_open(&r->json, '[');
	while (n-- > 0) {
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, path[n]);
		pm_json_text(&r->json, name_of(g, path[n]));
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
}

static int write_graph(struct pmfs_report *r, const struct graph *g, struct pm_error *err)
{
	uint32_t *local = malloc(((size_t)g->paths.names.n + 1) * sizeof(*local));
	if (!local)
		return pmfs_no_memory(err);
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "whole");
	pm_json_f64(&r->json, g->layout.total[0]);
	write_names(r, g, local);
	write_boxes(r, g, local);
	write_above(r, g);
	pm_json_close(&r->json, '}');
	free(local);
	return 0;
}

static int write_flame(struct pmfs_report *r, uint32_t thread, uint32_t root, struct pm_error *err)
{
	struct graph g = {.root = root};
	if (r->n[1] >= r->columns->n) {
		pm_json_null(&r->json);
		return 0;
	}
	int e = make_paths(r, thread, r->n[1], &g, err);
	if (e == 0)
		e = lay_out(&g, err);
	if (e == 0 && root >= g.paths.n)
		pm_json_null(&r->json);
	else if (e == 0 && (e = choose_boxes(&g, err)) == 0)
		e = write_graph(r, &g, err);
	graph_done(&g);
	return e;
}

/* ---- one function: its callers and callees ---- */

/* The boxes of some of the graph's paths. `paths` is given away. */
static int write_part(struct pmfs_report *r, const char *key, const struct graph *g,
	struct pmfs_name_paths *paths, struct pm_error *err)
{
	struct graph part = {.paths = *paths, .colours = g->colours};
	part.paths.names.arena = &part.paths.arena;
	pm_json_key(&r->json, key);
	int e = lay_out(&part, err);
	if (e == 0)
		e = choose_boxes(&part, err);
	if (e == 0)
		e = write_graph(r, &part, err);
	graph_done(&part);
	return e;
}

static int write_sandwich(
	struct pmfs_report *r, const struct graph *g, uint32_t name, struct pm_error *err)
{
	struct pmfs_name_paths paths;
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "whole");
	pm_json_f64(&r->json, g->layout.total[0]);
	int e = pmfs_caller_paths(&g->paths, name, g->layout.total, PMFS_REPORT_LEVELS, &paths);
	if (e == 0)
		e = write_part(r, "callers", g, &paths, err);
	if (e == 0 && (e = pmfs_callee_paths(&g->paths, name, &paths)) == 0)
		e = write_part(r, "callees", g, &paths, err);
	pm_json_close(&r->json, '}');
	return e < 0 ? pmfs_no_memory(err) : 0;
}

int pmfs_report_sandwich(struct pmfs_report *r, struct pm_error *err)
{
	struct graph g = {.root = 0};
	const struct pmfs_functions *f;
	int e = pmfs_functions(r->model, &f, err);
	if (e < 0)
		return e;
	if (r->n[0] >= f->n || r->n[1] >= r->columns->n) {
		pm_json_null(&r->json);
		return 0;
	}
	pm_text_clear(&r->scratch);
	pm_text_line(&r->scratch, pmfs_function_name(f, r->n[0]));
	e = make_paths(r, PM_NONE, r->n[1], &g, err);
	if (e == 0)
		e = lay_out(&g, err);
	if (e == 0) {
		uint32_t name = pm_strtab_find(&g.paths.names, pm_text_view(&r->scratch));
		if (name == PM_NONE)
			pm_json_null(&r->json);
		else
			e = write_sandwich(r, &g, name, err);
	}
	graph_done(&g);
	return e;
}

int pmfs_report_flame(struct pmfs_report *r, struct pm_error *err)
{
	return write_flame(r, PM_NONE, r->n[0], err);
}

int pmfs_report_thread_flame(struct pmfs_report *r, struct pm_error *err)
{
	const struct pm_threads *threads;
	int e = pmfs_model_threads(r->model, &threads, err);
	if (e < 0)
		return e;
	if (r->n[0] < threads->n)
		return write_flame(r, r->n[0], 0, err);
	pm_json_null(&r->json);
	return 0;
}
