/*
 * Native tables → the model. Subs are identified by name and file across processes. The steps are
 * in contexts.c, flows.c, lines.c and costs.c; this file calls them in order.
 */
#include "formats/nytprof/build.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/nytprof/building.h"
#include "formats/nytprof/contexts.h"
#include "formats/nytprof/costs.h"
#include "formats/nytprof/flows.h"
#include "formats/nytprof/lines.h"
#include "profmount/limits.h"

/* ---- preparation ---- */

static void find_homes(struct nytp_building *b)
{
	for (size_t i = 0; i < b->n->n_files; i++) {
		const struct nytp_file *f = &b->n->files[i];
		for (size_t k = 0; k < f->n_subs; k++) {
			struct nytp_home *home = &b->homes[nytp_sub_of(b->n, f, f->subs[k].name)];
			if (f->subs[k].located && !home->sub)
				*home = (struct nytp_home){f, &f->subs[k]};
		}
	}
}

static int prepare(struct nytp_building *b)
{
	size_t n = (size_t)nytp_n_subs(b->n) + 1;
	b->tree = pm_tree_builder_new();
	b->function = malloc(n * sizeof(*b->function));
	b->frame = malloc(n * sizeof(*b->frame));
	b->homes = calloc(n, sizeof(*b->homes));
	if (!b->tree || !b->function || !b->frame || !b->homes ||
		pm_paths_init(&b->paths, PM_LIMIT_ITEMS) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		b->function[i] = b->frame[i] = NYTP_NONE;
	find_homes(b);
	return 0;
}

/* ---- all of it ---- */

bool nytp_has_calls(const struct nytp *n)
{
	return n->returns > 0;
}

static bool has_edges(const struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++)
		if (n->files[i].n_edges || n->files[i].py.n_edges)
			return true;
	return false;
}

/* A killed program left no table of call places; views then derive edges from the tree. */
static void describe_flat(struct nytp_model *m, const struct nytp *n, bool calls)
{
	m->flat = (struct pm_flat){.edges = calls && !has_edges(n) ? NULL : &m->edge_list,
		.lines = &m->line_list,
		.functions = m->functions,
		.statements = &m->statements,
		.evals = &m->eval_list};
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
	pm_paths_done(&b->paths);
	if (r == 0) {
		r = pm_tree_freeze(b->tree, b->weight, &b->m->tree, &index, err);
		b->tree = NULL;
	}
	if (r == 0)
		r = nytp_costs_spread(b, index);
	if (r == 0)
		r = nytp_costs_of_functions(b, calls);
	if (r == 0) {
		nytp_costs_of_statements(b->m);
		r = nytp_costs_of_threads(b, calls);
		describe_flat(b->m, b->n, calls);
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
	m->function_of = b.function;
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
	free(m->function_of);
	free(m->run);
	free(m->functions);
	free(m->edges);
	free(m->edge_values);
	free(m->evals);
	free(m->joined);
	free(m->lines);
	free(m->line_values);
	free(m->thread_totals);
	*m = (struct nytp_model){.tree = NULL};
}
