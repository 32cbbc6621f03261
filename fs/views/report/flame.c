/*
 * Flame graphs: the widest boxes below one node of the call paths by name. A deeper part is another
 * document, which the page loads when its reader zooms into a box whose boxes were left out.
 */
#include "fs/views/pictures/flame.h"
#include "formats/common/sort.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/report/data.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/stacks.h"

struct graph {
	const struct pmfs_name_paths *paths;
	const struct pmfs_flame_layout *layout;
	const struct pmfs_colours *colours;
	uint32_t root;
	uint32_t first, end; /* places of the root and all below it */
	uint32_t *chosen;    /* the nodes that are written, in pre-order */
	bool *is_chosen;     /* by node */
	uint32_t n_chosen;
	double least; /* cost of the narrowest box */
};

/* A graph of the paths. */
static struct graph *graph_of(struct pmfs_report *r, const struct pmfs_name_paths *paths)
{
	struct graph *g = pm_arena_alloc(r->a, sizeof(*g));
	struct pmfs_flame flame = pmfs_flame_of(paths);
	g->paths = paths;
	g->layout = pmfs_flame_lay_out(r->a, &flame);
	pmfs_report_check(r, pmfs_colours(r->model, &g->colours, r->err));
	return g;
}

/* The call paths by name, of the whole run or of a thread. */
static struct graph *all_paths(struct pmfs_report *r, uint32_t thread, uint32_t column)
{
	struct pm_arena *scratch = pm_arena_scratch(r->a);
	const struct pmfs_stacks *stacks =
		pmfs_stacks_make(scratch, r->model, column, thread, PM_NONE, r->err);
	const struct pmfs_name_paths *paths = pmfs_name_paths_make(r->a, stacks, pm_text_line);
	pm_arena_done(scratch);
	return graph_of(r, paths);
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
	const struct pmfs_flame_layout *l = g->layout;
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

static void choose_boxes(struct pmfs_report *r, struct graph *g)
{
	const struct pmfs_flame_layout *l = g->layout;
	uint32_t more = 0;
	g->first = l->place[g->root];
	for (g->end = g->first + 1;
		g->end < g->paths->n && l->depth[l->order[g->end]] > l->depth[g->root];)
		g->end++;
	g->chosen = pm_arena_array(r->a, (size_t)(g->end - g->first) + 1, sizeof(*g->chosen));
	g->is_chosen = pm_arena_array(r->a, g->paths->n, sizeof(*g->is_chosen));
	g->least = l->total[g->root] / (4 * PMFS_REPORT_BOXES);
	g->n_chosen = choose(g, 0);
	if (g->n_chosen <= PMFS_REPORT_BOXES)
		return;
	/* Those that cost more than the last box that is taken, and so many that cost the same. */
	pm_number *totals = pm_arena_array(r->a, g->n_chosen, sizeof(*totals));
	for (uint32_t i = 0; i < g->n_chosen; i++)
		totals[i] = l->total[g->chosen[i]];
	pmfs_report_check(r, pm_sort(totals, g->n_chosen, sizeof(*totals), descending));
	g->least = totals[PMFS_REPORT_BOXES - 1];
	while (totals[more] > g->least)
		more++;
	g->n_chosen = choose(g, PMFS_REPORT_BOXES - more);
}

/* Whether a box below this one is left out. */
static bool is_cut(const struct graph *g, uint32_t node)
{
	const struct pmfs_name_paths *p = g->paths;
	for (uint32_t i = p->child_start[node]; i < p->child_start[node + 1]; i++) {
		uint32_t child = p->children[i];
		if (g->layout->total[child] > 0 && !g->is_chosen[child])
			return true;
	}
	return false;
}

static struct pm_bytes name_of(const struct graph *g, uint32_t node)
{
	struct pm_bytes name = pmfs_name_paths_name(g->paths, node);
	return node == 0 && name.len == 0 ? pm_bytes_of("all") : name;
}

/* Names are written once: `local` maps a name of the paths to its index in the list. */
static void write_names(struct pmfs_report *r, const struct graph *g, uint32_t *local)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->paths->names.n; i++)
		local[i] = PM_NONE;
	pm_json_key(&r->json, "names");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < g->n_chosen; i++) {
		uint32_t name = g->paths->name[g->chosen[i]];
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
	uint32_t depth = g->layout->depth[g->root];
	pm_json_key(&r->json, "boxes");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < g->n_chosen; i++) {
		uint32_t node = g->chosen[i];
		pm_json_u64(&r->json, node);
		pm_json_u64(&r->json, g->layout->depth[node] - depth);
		pm_json_u64(&r->json, local[g->paths->name[node]]);
		pm_json_f64(&r->json, g->layout->total[node]);
		pm_json_f64(&r->json, g->paths->self[node] > 0 ? g->paths->self[node] : 0);
		pm_json_u64(&r->json, is_cut(g, node));
	}
	pm_json_close(&r->json, ']');
}

/* The nearest callers of the root, from the outermost on: [node, name]. */
static void write_above(struct pmfs_report *r, const struct graph *g)
{
	uint32_t path[PMFS_MAX_ABOVE], n = 0;
	for (uint32_t i = g->paths->parent[g->root]; i != PM_NONE && n < PMFS_MAX_ABOVE;
		i = g->paths->parent[i])
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

static void write_graph(struct pmfs_report *r, const struct graph *g)
{
	uint32_t *local = pm_arena_array(r->a, (size_t)g->paths->names.n + 1, sizeof(*local));
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "whole");
	pm_json_f64(&r->json, g->layout->total[0]);
	write_names(r, g, local);
	write_boxes(r, g, local);
	write_above(r, g);
	pm_json_close(&r->json, '}');
}

static void write_flame(struct pmfs_report *r, uint32_t thread, uint32_t root)
{
	struct graph *g = r->n[1] < r->columns->n ? all_paths(r, thread, r->n[1]) : NULL;
	if (!g || root >= g->paths->n) {
		pm_json_null(&r->json);
		return;
	}
	g->root = root;
	choose_boxes(r, g);
	write_graph(r, g);
}

/* ---- one function: its callers and callees ---- */

void pmfs_report_sandwich(struct pmfs_report *r)
{
	static const char *const keys[] = {"callers", "callees"};
	const struct pmfs_functions *f;
	pmfs_report_check(r, pmfs_functions(r->model, &f, r->err));
	if (r->n[0] >= f->n || r->n[1] >= r->columns->n) {
		pm_json_null(&r->json);
		return;
	}
	const struct graph *g = all_paths(r, PM_NONE, r->n[1]);
	pm_text_clear(&r->scratch);
	pm_text_line(&r->scratch, pmfs_function_name(f, r->n[0]));
	uint32_t name = pm_strtab_find(&g->paths->names, pm_text_view(&r->scratch));
	if (name == PM_NONE) {
		pm_json_null(&r->json);
		return;
	}
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "whole");
	pm_json_f64(&r->json, g->layout->total[0]);
	for (unsigned i = 0; i < 2; i++) {
		struct graph *part = graph_of(r,
			i == 0 ? pmfs_caller_paths(
					 r->a, g->paths, name, g->layout->total, PMFS_REPORT_LEVELS)
			       : pmfs_callee_paths(r->a, g->paths, name));
		pm_json_key(&r->json, keys[i]);
		choose_boxes(r, part);
		write_graph(r, part);
	}
	pm_json_close(&r->json, '}');
}

void pmfs_report_flame(struct pmfs_report *r)
{
	write_flame(r, PM_NONE, r->n[0]);
}

void pmfs_report_thread_flame(struct pmfs_report *r)
{
	const struct pm_threads *threads;
	pmfs_report_check(r, pmfs_model_threads(r->model, &threads, r->err));
	if (r->n[0] < threads->n)
		write_flame(r, r->n[0], 0);
	else
		pm_json_null(&r->json);
}
