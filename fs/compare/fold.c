/* Merges trees in one pre-order pass; a node is found by its parent's node and its frame. */
#include "fs/compare/fold.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "fs/views/model/flat.h"

struct folding {
	struct pmfs_folded *f;
	const struct pmfs_costs *costs;
	const struct pmfs_compared_run *run;
	uint32_t repetition; /* repetitions before this one */
	double *sums;        /* costs->n per node: of this run */
	size_t room_sums, n_sums;
	double *cells;
};

static int node_at(struct pmfs_folded *f, uint32_t parent, uint32_t key, uint32_t *ret)
{
	bool fresh;
	uint32_t *node = pm_map_put(&f->nodes, pmfs_folded_place(parent, key), f->n, &fresh);
	if (!node || f->n >= PM_NONE - 1)
		return -ENOMEM;
	*ret = *node;
	if (!fresh)
		return 0;
	if (pm_list_room(&f->parent, f->n, &f->room_parent, sizeof(*f->parent)) < 0 ||
		pm_list_room(&f->key, f->n, &f->room_key, sizeof(*f->key)) < 0)
		return -ENOMEM;
	f->parent[f->n] = parent;
	f->key[f->n++] = key;
	return 0;
}

/* ---- costs ---- */

/* Makes room for the sums of nodes up to `f->n - 1`. */
static int grow_sums(struct folding *g)
{
	size_t n = g->costs->n;
	for (; g->n_sums < g->f->n; g->n_sums++) {
		if (pm_list_room(
			    &g->sums, g->n_sums, &g->room_sums, (n ? n : 1) * sizeof(*g->sums)) < 0)
			return -ENOMEM;
		for (size_t i = 0; i < n; i++)
			g->sums[g->n_sums * n + i] = NAN;
	}
	return 0;
}

/* One column, one quantity: where a format stores other exclusive costs, they are not compared. */
static int read_cells(
	struct folding *g, struct pmfs_model *m, uint32_t context, struct pm_error *err)
{
	return g->costs->own_costs ? pmfs_run_self_cells(m, context, g->cells, err)
				   : pmfs_run_cells(m, context, false, g->cells, err);
}

static int add_costs(struct folding *g, struct pmfs_model *m, uint32_t context, uint32_t node,
	struct pm_error *err)
{
	if (grow_sums(g) < 0)
		return pmfs_compare_no_memory(err);
	int r = read_cells(g, m, context, err);
	for (uint32_t i = 0; r == 0 && i < g->run->n_columns; i++) {
		uint32_t cost = g->run->cost[i];
		pmfs_add(&g->sums[(size_t)node * g->costs->n + cost],
			pmfs_compare_value(g->costs, g->run, cost, g->cells[i]));
	}
	return r;
}

/* Nodes from `known` on are new: the previous repetitions lack them. */
static int grow_means(struct folding *g, uint32_t known)
{
	size_t n = (size_t)g->f->n * g->costs->n;
	double *mean = realloc(g->f->mean, (n + 1) * sizeof(*mean));
	if (mean)
		g->f->mean = mean;
	double *squares = realloc(g->f->squares, (n + 1) * sizeof(*squares));
	if (squares)
		g->f->squares = squares;
	if (!mean || !squares)
		return -ENOMEM;
	for (size_t i = (size_t)known * g->costs->n; i < n; i++) {
		mean[i] = NAN;
		squares[i] = 0;
	}
	return 0;
}

static int add_repetition(struct folding *g, uint32_t known)
{
	if (g->costs->n_good[g->run->side] == 1) {
		g->f->mean = g->sums;
		g->sums = NULL;
		return 0;
	}
	if (grow_means(g, known) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)g->f->n * g->costs->n; i++) {
		struct pmfs_sample s = {g->repetition, g->f->mean[i], g->f->squares[i]};
		if (isnan(g->sums[i]) && isnan(s.mean))
			continue;
		if (isnan(s.mean))
			s.mean = 0;
		pmfs_sample_add(&s, isnan(g->sums[i]) ? 0 : g->sums[i]);
		g->f->mean[i] = s.mean;
		g->f->squares[i] = s.squares;
	}
	return 0;
}

/* ---- a run ---- */

/* A root that the other side lacks, if its costs are only those of the contexts below it. */
static int is_left_out(struct folding *g, const struct pmfs_frames *frames, struct pmfs_model *m,
	uint32_t context, bool *ret, struct pm_error *err)
{
	const struct pm_tree *tree;
	int r = pmfs_model_tree(m, &tree, err);
	*ret = r == 0 && pmfs_frame_is_left_out(frames, pm_tree_frame(tree, context));
	if (!*ret)
		return r;
	r = read_cells(g, m, context, err);
	for (uint32_t i = 0; r == 0 && i < g->run->n_columns; i++)
		if (g->costs->costs[g->run->cost[i]].role != PM_ROLE_INCLUSIVE &&
			fabs(g->cells[i]) > 0)
			*ret = false;
	return r;
}

static int fold_tree(struct folding *g, const struct pmfs_frames *frames, struct pmfs_model *m,
	uint32_t *of, struct pm_error *err)
{
	const struct pm_tree *tree;
	uint32_t run = (uint32_t)(g->run - g->costs->runs);
	int r = pmfs_model_tree(m, &tree, err);
	for (uint32_t i = 0; r == 0 && i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i] == PM_NONE ? PM_NONE : of[tree->parent[i]];
		uint32_t key = pmfs_frame_key(frames, run, tree->frame[i]);
		bool left_out;
		of[i] = PM_NONE;
		r = is_left_out(g, frames, m, i, &left_out, err);
		if (r < 0 || left_out)
			continue;
		r = node_at(g->f, parent, key, &of[i]);
		if (r == 0)
			r = add_costs(g, m, i, of[i], err);
	}
	return r;
}

int pmfs_fold(struct pmfs_folded *f, const struct pmfs_frames *frames,
	const struct pmfs_costs *costs, uint32_t run, struct pmfs_model *m, uint32_t **ret_of,
	struct pm_error *err)
{
	struct folding g = {.f = f, .costs = costs, .run = &costs->runs[run]};
	const struct pm_tree *tree;
	uint32_t known = f->n;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0)
		return r;
	if (tree->n_frames != frames->n_of[run])
		return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "a run has changed");
	g.repetition = f->n_runs++;
	g.cells = malloc(((size_t)g.run->n_columns + 1) * sizeof(*g.cells));
	*ret_of = malloc(((size_t)tree->n_contexts + 1) * sizeof(**ret_of));
	r = g.cells && *ret_of ? fold_tree(&g, frames, m, *ret_of, err) : -ENOMEM;
	if (r == 0 && (r = grow_sums(&g)) == 0)
		r = add_repetition(&g, known);
	free(g.cells);
	free(g.sums);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}

void pmfs_folded_close(struct pmfs_folded *f)
{
	pm_map_done(&f->nodes);
}

void pmfs_folded_done(struct pmfs_folded *f)
{
	free(f->parent);
	free(f->key);
	free(f->mean);
	free(f->squares);
	pm_map_done(&f->nodes);
}
