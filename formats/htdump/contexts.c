/*
 * Builds the call tree. Lanes are walked in parallel and taken in the order of their threads, so
 * contexts and labels have the same order on every mount. While lanes are added, contexts are
 * identified by rank; after freezing, by index.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/pipeline.h"
#include "formats/common/sort.h"
#include "formats/common/steps.h"
#include "formats/common/work.h"

enum {
	BETWEEN_QUESTIONS = 1 << 14,
	MOST_SHARES = 32, /* of the durations that may be counted, for threads */
};

/* The shortest and the longest call of a context. */
struct extent {
	uint64_t min, max;
};

struct builder {
	struct htd_calls *c;
	struct pm_tree_builder *tree;
	struct pm_paths paths; /* of frames; a path's number is its rank */
	struct pm_guesses guesses;
	struct extent *extents; /* by rank */
	size_t extent_room;
	uint32_t *labels, n_mapped; /* see labels_take */
	size_t label_room;
};

/* ---- taking a lane ---- */

static int lane_make(void *context, uint32_t i, void *result)
{
	const struct builder *b = context;
	struct htd_lane_walk *w = result;
	size_t n = b->c->s->n_threads;
	w->durations.most = pm_durations_most / (n < MOST_SHARES ? n : MOST_SHARES);
	w->wanted = b->c->wanted;
	return htd_lane_walk(w, b->c->s, i, &b->c->mapped);
}

static void lane_drop(void *result)
{
	htd_lane_walk_done(result);
}

/* Gives the label of a call a frame in the tree. */
static int label_frame(struct builder *b, uint32_t label, uint32_t *ret)
{
	struct htd_calls *c = b->c;
	while (c->n_labels <= label) {
		if (pm_list_room(&c->by_label, c->n_labels, &c->label_room, sizeof(*c->by_label)) <
			0)
			return -ENOMEM;
		c->by_label[c->n_labels++] =
			(struct htd_label_cost){.min = UINT64_MAX, .frame = HTD_NONE};
	}
	*ret = c->by_label[label].frame;
	if (*ret != HTD_NONE)
		return 0;
	uint32_t text = pm_tree_text(b->tree, htd_labels_text(&c->labels, label), false);
	uint32_t function =
		pm_tree_function(b->tree, &(struct pm_function){.name = text, .id = PM_NONE});
	*ret = c->by_label[label].frame = pm_tree_intern(b->tree,
		&(struct pm_frame){.kind = PM_KIND_FUNCTION, .function = function, .name = text});
	return text == PM_NONE || function == PM_NONE || *ret == PM_NONE ? -ENOMEM : 0;
}

/*
 * Maps the labels of a walk to the labels of all calls. Mapped ones are the same, and are noted
 * once: there may be many threads.
 */
static int labels_take(struct builder *b, const struct htd_labels *from)
{
	uint32_t n_mapped = b->c->mapped.texts.n;
	size_t n = (size_t)n_mapped + from->texts.n;
	if (pm_list_room(&b->labels, n, &b->label_room, sizeof(*b->labels)) < 0)
		return -ENOMEM;
	for (; b->n_mapped < n_mapped; b->n_mapped++)
		b->labels[b->n_mapped] = b->n_mapped;
	for (uint32_t i = 0; i < from->texts.n; i++) {
		uint32_t label = htd_labels_take(&b->c->labels, from->texts.items[i]);
		b->labels[n_mapped + i] = label;
		if (label == HTD_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* The ranks of a lane's paths, of which there are `steps`. */
static int ranks_take(struct builder *b, const struct htd_lane_walk *w, struct pm_step *steps)
{
	uint32_t known = b->paths.n;
	const struct pm_measured extents = {b->extents, b->extent_room, sizeof(*b->extents)};
	int r = labels_take(b, &w->labels);
	for (uint32_t i = 0; r == 0 && i < w->tree.n; i++) {
		const struct pm_path *path = &w->tree.items[i];
		steps[i] = (struct pm_step){.above = path->parent, .from = PM_NONE};
		r = label_frame(b, b->labels[path->key], &steps[i].key);
	}
	if (r == 0)
		r = pm_durations_join(&b->c->durations, &w->durations, b->labels);
	if (r == 0)
		r = pm_steps_take(&b->paths, &b->guesses, steps, w->tree.n, &extents);
	if (r == 0)
		r = pm_list_room(&b->extents, b->paths.n, &b->extent_room, sizeof(*b->extents));
	for (; r == 0 && known < b->paths.n; known++)
		b->extents[known] = (struct extent){.min = UINT64_MAX};
	return r;
}

static int paths_take(struct builder *b, uint32_t thread, struct htd_lane_walk *w)
{
	struct pm_step *steps = malloc(((size_t)w->tree.n + 1) * sizeof(*steps));
	int r = steps ? ranks_take(b, w, steps) : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < w->tree.n; i++) {
		const struct htd_path *path = &w->paths[i];
		uint32_t rank = steps[i].path;
		if (rank == PM_PATHS_FULL) {
			r = -ENOMEM;
			break;
		}
		struct extent *extent = &b->extents[rank];
		extent->min = path->min < extent->min ? path->min : extent->min;
		extent->max = path->max > extent->max ? path->max : extent->max;
		r = pm_callcosts_add(&b->c->costs,
			&(struct pm_callcost){thread, rank, path->calls, path->incl, path->excl});
		if (r == 0 && w->amounts)
			r = htd_amounts_take(
				b->c, thread, rank, &w->amounts[(size_t)i * b->c->wanted->n]);
	}
	for (size_t i = 0; r == 0 && i < w->lane.n_opens; i++)
		w->lane.opens[i].context = steps[w->lane.opens[i].context].path;
	free(steps);
	return r;
}

static int lane_take(void *context, uint32_t i, void *result)
{
	struct builder *b = context;
	struct htd_lane_walk *w = result;
	int r = paths_take(b, i, w);
	b->c->overlapping += w->overlapping;
	b->c->lanes[i] = w->lane;
	w->lane = (struct htd_lane){.end = 0};
	return r;
}

/* ---- the frozen tree ---- */

static int weigh(const struct builder *b, double **ret)
{
	*ret = calloc(b->paths.n + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	return pm_callcosts_weigh(&b->c->costs, *ret);
}

static int index_take(struct builder *b, const uint32_t *index)
{
	struct htd_calls *c = b->c;
	uint32_t n_threads = (uint32_t)c->s->n_threads;
	for (uint32_t thread = 0; thread < n_threads; thread++)
		for (size_t i = 0; i < c->lanes[thread].n_opens; i++)
			c->lanes[thread].opens[i].context =
				index[c->lanes[thread].opens[i].context];
	int r = pm_callcosts_freeze(&c->costs, index, n_threads, c->tree->n_contexts);
	return r < 0 || !c->wanted->n ? r : htd_amounts_freeze(c, index);
}

/* ---- labels ---- */

/* Adds up contexts by label; inclusive time only if no caller has the same label. */
static int labels_sum(struct builder *b)
{
	struct htd_calls *c = b->c;
	const struct pm_tree *tree = c->tree;
	uint32_t *label_of = calloc((size_t)tree->n_frames + 1, sizeof(*label_of));
	c->of_labels = calloc(c->n_labels * 2 * c->wanted->n + 1, sizeof(*c->of_labels));
	if (!label_of || !c->of_labels) {
		free(label_of);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < c->n_labels; i++)
		if (c->by_label[i].frame != HTD_NONE)
			label_of[c->by_label[i].frame] = i;
	for (uint32_t i = 0, open = PM_NONE; i < tree->n_contexts; open = i++) {
		for (; open != tree->parent[i]; open = tree->parent[open])
			c->by_label[label_of[tree->frame[open]]].open--;
		struct htd_label_cost *l = &c->by_label[label_of[tree->frame[i]]];
		const struct extent *extent = &b->extents[tree->rank[i]];
		struct pm_callcost sum = pm_callcosts_sum(&c->costs, i);
		l->min = extent->min < l->min ? extent->min : l->min;
		l->max = extent->max > l->max ? extent->max : l->max;
		l->calls += sum.calls;
		l->excl += sum.excl;
		if (c->wanted->n)
			htd_amounts_of_label(c, label_of[tree->frame[i]], i, l->open == 0);
		l->incl += l->open++ ? 0 : sum.incl;
	}
	free(label_of);
	return 0;
}

static int label_order(const void *a, const void *b, void *context)
{
	const struct htd_label_cost *costs = context;
	const uint32_t *x = a, *y = b;
	if (costs[*x].incl != costs[*y].incl)
		return costs[*x].incl > costs[*y].incl ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

/* Labels that calls have, most time first. */
static int labels_rank(struct htd_calls *c)
{
	c->ranked = calloc(c->n_labels + 1, sizeof(*c->ranked));
	if (!c->ranked)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n_labels; i++)
		if (c->by_label[i].calls)
			c->ranked[c->n_ranked++] = i;
	return pm_sort_with(c->ranked, c->n_ranked, sizeof(*c->ranked), label_order, c->by_label);
}

/* ---- the whole ---- */

static int freeze(struct builder *b, struct pm_error *err)
{
	double *weight;
	uint32_t *index = NULL;
	int r = weigh(b, &weight);
	for (uint32_t i = 0; r == 0 && i < b->paths.n; i++) {
		const struct pm_path *path = &b->paths.items[i];
		if (pm_tree_add(b->tree, path->parent, path->key, 0) == PM_NONE)
			r = -ENOMEM;
	}
	if (r == 0) {
		r = pm_tree_freeze(b->tree, weight, &b->c->tree, &index, err);
		b->tree = NULL;
	}
	if (r == 0)
		r = index_take(b, index);
	if (r == 0)
		r = labels_sum(b);
	if (r == 0)
		r = labels_rank(b->c);
	free(weight);
	free(index);
	return r;
}

static int failed(int r, struct pm_error *err)
{
	if (r == -EIO)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "the source has changed");
	if (r == -ENOTSUP)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "calls nest deeper than %d levels",
			PM_LIMIT_DEPTH);
	return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the calls");
}

int htd_children_build(struct pm_map *ret, const struct htd_calls *c)
{
	const struct pm_tree *tree = c->tree;
	bool fresh;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		if ((i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled()) ||
			!pm_map_put(ret, htd_child_key(tree->parent[i], tree->frame[i]), i, &fresh))
			return -ENOMEM;
	return 0;
}

int htd_calls_build(struct htd_calls *c, const struct htd_stream *s,
	const struct htd_wanted *wanted, struct pm_error *err)
{
	struct builder b = {.c = c, .tree = pm_tree_builder_new()};
	const struct pm_pipeline lanes = {
		.n = (uint32_t)s->n_threads,
		.size = sizeof(struct htd_lane_walk),
		.make = lane_make,
		.take = lane_take,
		.drop = lane_drop,
		.context = &b,
	};
	c->s = s;
	c->wanted = wanted;
	c->labels.mapped = &c->mapped;
	c->lanes = calloc(s->n_threads + 1, sizeof(*c->lanes));
	int r = b.tree && c->lanes ? htd_mapped_init(&c->mapped, s) : -ENOMEM;
	if (r == 0)
		r = pm_paths_init(&b.paths, PM_LIMIT_ITEMS);
	if (r == 0)
		r = pm_pipeline_run(&lanes);
	if (r == 0)
		r = freeze(&b, err);
	pm_tree_builder_free(b.tree);
	pm_paths_done(&b.paths);
	pm_guesses_done(&b.guesses);
	free(b.extents);
	free(b.labels);
	return r < 0 ? failed(r, err) : 0;
}

void htd_calls_done(struct htd_calls *c)
{
	for (size_t i = 0; c->lanes && i < c->s->n_threads; i++)
		htd_lane_done(&c->lanes[i]);
	free(c->lanes);
	free(c->by_label);
	free(c->of_labels);
	free(c->ranked);
	pm_durations_done(&c->durations);
	htd_labels_done(&c->labels);
	htd_mapped_done(&c->mapped);
	pm_callcosts_done(&c->costs);
	pm_costs_done(&c->all);
	free(c->amounts);
	pm_tree_free(c->tree);
	*c = (struct htd_calls){.s = NULL};
}
