/*
 * callgraph.dot: the call graph of the primary quantity for Graphviz. Shows the functions and calls
 * with at least 1 % of the total, at most PM_LIMIT_DOT_NODES functions; the label says what is not
 * shown. The higher the exclusive cost of a function, the redder and larger its box.
 */
#include "formats/common/sort.h"
#include "formats/common/utf8.h"
#include "fs/views/exports/export.h"
#include "fs/views/model/catalog.h"
#include "profmount/limits.h"

struct drawing {
	const struct pmfs_graph *graph;
	struct pm_text *out;
	uint32_t *order; /* functions, most inclusive cost first */
	bool *shown;     /* by function */
	uint32_t n_shown;
};

/* Whether the cost is at least 1 % of the total. */
static bool counts(const struct drawing *d, uint64_t units)
{
	return units > 0 && units >= d->graph->total / 100;
}

static double share(const struct drawing *d, uint64_t units)
{
	return (double)units / (double)d->graph->total;
}

static int most_first(const void *a, const void *b, void *functions)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct pmfs_graph_function *f = functions;
	if (f[x].total != f[y].total)
		return f[x].total > f[y].total ? -1 : 1;
	return (x > y) - (x < y);
}

static void choose(struct drawing *d, struct pm_arena *a)
{
	const struct pmfs_graph *g = d->graph;
	d->order = pm_arena_array(a, g->n_functions, sizeof(*d->order));
	d->shown = pm_arena_array(a, g->n_functions, sizeof(*d->shown));
	for (uint32_t i = 0; i < g->n_functions; i++)
		d->order[i] = i;
	pm_build_check(a,
		pm_sort_with(
			d->order, g->n_functions, sizeof(*d->order), most_first, g->functions));
	while (d->n_shown < g->n_functions && d->n_shown < PM_LIMIT_DOT_NODES &&
		counts(d, g->functions[d->order[d->n_shown]].total))
		d->shown[d->order[d->n_shown++]] = true;
}

/* As the inside of a quoted label, cut where a box would get too wide to look at. */
static void write_name(struct pm_text *out, struct pm_bytes name)
{
	enum { WIDEST = 80 };
	size_t n = 0;
	while (n < name.len && n < WIDEST)
		n += pm_utf8_next(name, n) ?: 1;
	for (size_t i = 0; i < n; i++) {
		if (name.p[i] == '"' || name.p[i] == '\\')
			pm_text_char(out, '\\');
		pm_text_char(out, (char)name.p[i]);
	}
	if (n < name.len)
		pm_text_str(out, "…");
}

static void write_node(struct drawing *d, uint32_t function)
{
	const struct pmfs_graph_function *f = &d->graph->functions[function];
	double self = share(d, f->self);
	pm_text_printf(d->out, "  f%u [label=\"", function);
	write_name(d->out, pmfs_graph_text(d->graph, f->name));
	pm_text_printf(d->out,
		"\\n%.1f%% (self %.1f%%)\", fillcolor=\"0.05 %.3f 1.0\", fontsize=%.0f];\n",
		100 * share(d, f->total), 100 * self, 0.05 + 0.6 * self, 10 + 10 * self);
}

/* Calls of one function from several lines are one edge here; they are adjacent. */
static void write_edges(struct drawing *d)
{
	const struct pmfs_graph *g = d->graph;
	uint64_t units = 0, calls = 0;
	for (size_t i = 0; i < g->n_costs; i++) {
		const struct pmfs_graph_cost *cost = &g->costs[i];
		if (cost->callee == PM_NONE || !d->shown[cost->function] || !d->shown[cost->callee])
			continue;
		units = pmfs_stacks_add(units, cost->units);
		calls = pmfs_stacks_add(calls, cost->calls);
		if (i + 1 < g->n_costs && cost[1].function == cost->function &&
			cost[1].callee == cost->callee)
			continue;
		double part = share(d, units);
		if (counts(d, units)) {
			pm_text_printf(d->out, "  f%u -> f%u [label=\"%.1f%%", cost->function,
				cost->callee, 100 * part);
			if (calls > 0)
				pm_text_printf(d->out, "\\n%llu×", (unsigned long long)calls);
			pm_text_printf(d->out, "\", penwidth=%.1f, weight=%.0f];\n", 1 + 4 * part,
				1 + 99 * part);
		}
		units = calls = 0;
	}
}

static void write_graph(const struct pmfs_writing *w)
{
	uint32_t thread = pmfs_export_thread(w->doc);
	struct drawing d = {.out = w->out};
	struct pm_text title = {.arena = w->a};
	const struct pmfs_columns *columns;
	pm_build_check(w->a, pmfs_model_columns(w->model, &columns, w->err));
	d.graph = pmfs_graph_make(w, pmfs_export_main_column(columns), thread);
	choose(&d, w->a);
	pmfs_export_title(w, thread, &title);
	pm_text_str(d.out, "digraph callgraph {\n  label=\"");
	write_name(d.out, pm_text_view(&title));
	pm_text_printf(d.out,
		": %s, %u of %u functions; not shown: below 1%%, or beyond the first %u\";\n",
		d.graph->column->export, d.n_shown, d.graph->n_functions, PM_LIMIT_DOT_NODES);
	pm_text_str(d.out,
		"  labelloc=t;\n  fontname=\"sans-serif\";\n"
		"  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\"];\n"
		"  edge [fontname=\"sans-serif\", fontsize=9, color=\"#666666\"];\n");
	for (uint32_t i = 0; i < d.n_shown; i++)
		write_node(&d, d.order[i]);
	write_edges(&d);
	pm_text_str(d.out, "}\n");
}

int pmfs_dot_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_graph, out, err);
}
