/*
 * callgrind.out.M: exclusive costs by line, and calls with their costs, for kcachegrind,
 * callgrind_annotate and speedscope.
 *
 * The readers agree only on a part of the format: `event:` and `cmd:` stand before `events:`,
 * positions are lines alone, costs are unsigned integers, and a name's `(id)` is defined where it
 * is used first and never again.
 */
#include "fs/views/exports/export.h"
#include "fs/views/model/catalog.h"

/* Texts have one number in each space of names that they occur in. */
enum space { OBJECTS, FILES, FUNCTIONS, N_SPACES };

struct writing {
	const struct pmfs_graph *graph;
	struct pm_text *out;
	bool *defined[N_SPACES]; /* by text */
};

static void write_name(struct writing *w, const char *key, enum space space, uint32_t text)
{
	pm_text_str(w->out, key);
	pm_text_str(w->out, "=(");
	pm_text_u64(w->out, (uint64_t)text + 1);
	pm_text_char(w->out, ')');
	if (!w->defined[space][text]) {
		struct pm_bytes name = pmfs_graph_text(w->graph, text);
		w->defined[space][text] = true;
		pm_text_char(w->out, ' ');
		pm_text_bytes(w->out, name.len ? name : pm_bytes_of("???"));
	}
	pm_text_char(w->out, '\n');
}

static void write_callee(struct writing *w, const struct pmfs_graph_cost *cost)
{
	const struct pmfs_graph_function *callee = &w->graph->functions[cost->callee];
	write_name(w, "cob", OBJECTS, callee->module);
	write_name(w, "cfi", FILES, callee->file);
	write_name(w, "cfn", FUNCTIONS, callee->name);
	pm_text_str(w->out, "calls=");
	pm_text_u64(w->out, cost->calls);
	pm_text_char(w->out, ' ');
	pm_text_u64(w->out, callee->line);
	pm_text_char(w->out, '\n');
}

static void write_costs(struct writing *w)
{
	const struct pmfs_graph *g = w->graph;
	for (size_t i = 0; i < g->n_costs; i++) {
		const struct pmfs_graph_cost *cost = &g->costs[i];
		const struct pmfs_graph_function *f = &g->functions[cost->function];
		if (i == 0 || cost->function != cost[-1].function) {
			pm_text_char(w->out, '\n');
			write_name(w, "ob", OBJECTS, f->module);
			write_name(w, "fl", FILES, f->file);
			write_name(w, "fn", FUNCTIONS, f->name);
		}
		if (cost->callee != PM_NONE)
			write_callee(w, cost);
		pm_text_u64(w->out, cost->line);
		pm_text_char(w->out, ' ');
		pm_text_u64(w->out, cost->units);
		pm_text_char(w->out, '\n');
	}
}

static void write_file(const struct pmfs_writing *to)
{
	uint32_t thread = pmfs_export_thread(to->doc);
	const struct pmfs_graph *g = pmfs_graph_make(to, pmfs_export_column(to->doc), thread);
	const struct pmfs_column *column = g->column;
	struct writing w = {.graph = g, .out = to->out};
	for (unsigned i = 0; i < N_SPACES; i++)
		w.defined[i] = pm_arena_array(to->a, g->texts.n, sizeof(*w.defined[i]));
	pm_text_printf(w.out,
		"# callgrind format\nversion: 1\ncreator: %s\npositions: line\nevent: %s : ",
		PMFS_EXPORTER, column->export);
	pm_text_line(w.out, (column->flat ? column->flat : column->tree)->name);
	pm_text_printf(w.out, " in %s\ncmd: ", pmfs_export_unit(column, "whole units"));
	pmfs_export_title(to, thread, w.out);
	pm_text_printf(w.out, "\nevents: %s\nsummary: ", column->export);
	pm_text_u64(w.out, g->total);
	pm_text_char(w.out, '\n');
	write_costs(&w);
	pm_text_str(w.out, "\ntotals: ");
	pm_text_u64(w.out, g->total);
	pm_text_char(w.out, '\n');
}

int pmfs_callgrind_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_file, out, err);
}
