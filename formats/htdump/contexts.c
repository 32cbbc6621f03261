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

/* Of the durations that may be counted, for threads. */
enum { MOST_SHARES = 32 };

/* The shortest and the longest call of a context. */
struct extent {
	uint64_t min, max;
};

/* In a scratch arena, which owns the tree's builder and `index`. */
struct builder {
	struct pm_arena *a; /* of the calls */
	struct pm_arena *scratch;
	struct htd_calls *c;
	struct pm_tree_builder *tree;
	uint32_t *index;       /* rank → context */
	struct pm_paths paths; /* of frames; a path's number is its rank */
	struct pm_guesses guesses;
	struct extent *extents; /* by rank */
	size_t extent_room;
	uint32_t *labels, n_mapped; /* see labels_take */
	size_t label_room;
	struct htd_path_amounts amounts;
	struct htd_lane_walk *walk; /* that is taken, and its thread */
	uint32_t thread;
};

/* ---- lanes ---- */

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
	struct htd_lane_walk *w = result;
	pm_arena_done(&w->arena);
}

/* The frame in the tree of a call's label, which is given one. */
static uint32_t label_frame(struct builder *b, uint32_t label)
{
	struct htd_calls *c = b->c;
	while (c->n_labels <= label) {
		pm_list_grow(b->a, &c->by_label, c->n_labels, &c->label_room, sizeof(*c->by_label));
		c->by_label[c->n_labels++] =
			(struct htd_label_cost){.min = UINT64_MAX, .frame = HTD_NONE};
	}
	uint32_t *frame = &c->by_label[label].frame;
	if (*frame != HTD_NONE)
		return *frame;
	uint32_t text = pm_tree_text(b->tree, htd_labels_text(&c->labels, label), false);
	uint32_t function =
		pm_tree_function(b->tree, &(struct pm_function){.name = text, .id = PM_NONE});
	*frame = pm_tree_intern(b->tree,
		&(struct pm_frame){.kind = PM_KIND_FUNCTION, .function = function, .name = text});
	if (text == PM_NONE || function == PM_NONE || *frame == PM_NONE)
		pm_build_fail(b->a, -ENOMEM);
	return *frame;
}

/*
 * Maps the labels of a walk to the labels of all calls. Mapped ones are the same, and are noted
 * once: there may be many threads.
 */
static void labels_take(struct builder *b, const struct htd_labels *from)
{
	uint32_t n_mapped = b->c->mapped.texts.n;
	size_t n = (size_t)n_mapped + from->texts.n;
	pm_list_grow(b->scratch, &b->labels, n, &b->label_room, sizeof(*b->labels));
	for (; b->n_mapped < n_mapped; b->n_mapped++)
		b->labels[b->n_mapped] = b->n_mapped;
	for (uint32_t i = 0; i < from->texts.n; i++)
		b->labels[n_mapped + i] = htd_labels_take(&b->c->labels, from->texts.items[i]);
}

/* The ranks of a lane's paths: the paths of the steps. */
static struct pm_step *ranks_take(struct builder *b, const struct htd_lane_walk *w)
{
	uint32_t known = b->paths.n, n = w->tree.n;
	const struct pm_measured extents = {b->extents, b->extent_room, sizeof(*b->extents)};
	struct pm_step *steps = pm_arena_realloc(b->scratch, NULL, n * sizeof(*steps));
	labels_take(b, &w->labels);
	for (uint32_t i = 0; i < n; i++) {
		const struct pm_path *path = &w->tree.items[i];
		steps[i] = (struct pm_step){.key = label_frame(b, b->labels[path->key]),
			.above = path->parent,
			.from = PM_NONE};
	}
	pm_build_check(b->a, pm_durations_join(b->c->durations, &w->durations, b->labels));
	pm_build_check(b->a, pm_steps_take(&b->paths, &b->guesses, steps, n, &extents));
	pm_list_grow(b->scratch, &b->extents, b->paths.n, &b->extent_room, sizeof(*b->extents));
	for (; known < b->paths.n; known++)
		b->extents[known] = (struct extent){.min = UINT64_MAX};
	return steps;
}

/* What is kept of a lane, without room to grow. */
static struct htd_lane lane_copy(struct pm_arena *a, const struct htd_lane *from)
{
	struct htd_lane ret = *from;
	struct htd_order *order = &ret.order;
	size_t n_marks = order->n_marks;
	order->marks = pm_arena_array(a, n_marks, sizeof(*order->marks));
	memcpy(order->marks, from->order.marks, n_marks * sizeof(*order->marks));
	ret.open = pm_arena_array(a, n_marks, sizeof(*ret.open));
	memcpy(ret.open, from->open, n_marks * sizeof(*ret.open));
	ret.opens = pm_arena_array(a, ret.n_opens, sizeof(*ret.opens));
	if (ret.n_opens)
		memcpy(ret.opens, from->opens, ret.n_opens * sizeof(*ret.opens));
	return ret;
}

static void walk_take(void *context)
{
	struct builder *b = context;
	struct htd_calls *c = b->c;
	const struct htd_lane_walk *w = b->walk;
	struct pm_step *steps = ranks_take(b, w);
	for (uint32_t i = 0; i < w->tree.n; i++) {
		const struct htd_path *path = &w->paths[i];
		uint32_t rank = steps[i].path;
		if (rank == PM_PATHS_FULL)
			pm_build_fail(b->a, -ENOMEM);
		struct extent *extent = &b->extents[rank];
		extent->min = path->min < extent->min ? path->min : extent->min;
		extent->max = path->max > extent->max ? path->max : extent->max;
		pm_callcosts_add(&c->costs,
			&(struct pm_callcost){
				b->thread, rank, path->calls, path->incl, path->excl});
		if (w->amounts)
			htd_amounts_take(b->scratch, &b->amounts, c->wanted->n, b->thread, rank,
				&w->amounts[(size_t)i * c->wanted->n]);
	}
	struct htd_lane *lane = &c->lanes[b->thread];
	*lane = lane_copy(b->a, &w->lane);
	for (size_t i = 0; i < lane->n_opens; i++)
		lane->opens[i].context = steps[lane->opens[i].context].path;
	c->overlapping += w->overlapping;
	pm_arena_free(b->scratch, steps);
}

static int lane_take(void *context, uint32_t i, void *result)
{
	struct builder *b = context;
	b->walk = result;
	b->thread = i;
	return pm_build(b->a, walk_take, b);
}

/* ---- labels ---- */

/* Adds up contexts by label; inclusive time only if no caller has the same label. */
static void labels_sum(struct builder *b)
{
	struct htd_calls *c = b->c;
	const struct pm_tree *tree = c->tree;
	uint32_t *label_of = pm_arena_array(b->scratch, tree->n_frames, sizeof(*label_of));
	c->of_labels = pm_arena_array(b->a, c->n_labels * 2 * c->wanted->n, sizeof(*c->of_labels));
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
static void labels_rank(struct pm_arena *a, struct htd_calls *c)
{
	c->ranked = pm_arena_array(a, c->n_labels, sizeof(*c->ranked));
	for (uint32_t i = 0; i < c->n_labels; i++)
		if (c->by_label[i].calls)
			c->ranked[c->n_ranked++] = i;
	pm_build_check(a,
		pm_sort_with(c->ranked, c->n_ranked, sizeof(*c->ranked), label_order, c->by_label));
}

/* ---- the whole ---- */

static void walk_all(struct builder *b, struct pm_error *err)
{
	const struct pm_pipeline lanes = {
		.n = (uint32_t)b->c->s->n_threads,
		.size = sizeof(struct htd_lane_walk),
		.make = lane_make,
		.take = lane_take,
		.drop = lane_drop,
		.context = b,
	};
	int r = pm_pipeline_run(&lanes);
	if (r == -EIO)
		pm_error_set(err, r, NULL, PM_NO_OFFSET, "the source has changed");
	else if (r == -ENOTSUP)
		pm_error_set(err, r, NULL, PM_NO_OFFSET, "calls nest deeper than %d levels",
			PM_LIMIT_DEPTH);
	pm_build_check(b->a, r);
}

/* Of ranks, contexts are made. */
static void freeze(struct builder *b, struct pm_error *err)
{
	struct htd_calls *c = b->c;
	struct pm_tree_builder *tree = b->tree;
	uint32_t n_threads = (uint32_t)c->s->n_threads;
	double *weight = pm_arena_zeroed(b->scratch, b->paths.n, sizeof(*weight));
	pm_callcosts_weigh(&c->costs, weight);
	for (uint32_t i = 0; i < b->paths.n; i++) {
		const struct pm_path *path = &b->paths.items[i];
		if (pm_tree_add(tree, path->parent, path->key, 0) == PM_NONE)
			pm_build_fail(b->a, -ENOMEM);
	}
	b->tree = NULL;
	pm_build_check(b->a, pm_tree_freeze(tree, weight, &c->tree, &b->index, err));
	for (uint32_t thread = 0; thread < n_threads; thread++) {
		struct htd_lane *lane = &c->lanes[thread];
		for (size_t i = 0; i < lane->n_opens; i++)
			lane->opens[i].context = b->index[lane->opens[i].context];
	}
	pm_callcosts_freeze(&c->costs, b->index, n_threads, c->tree->n_contexts);
	if (c->wanted->n)
		htd_amounts_freeze(b->scratch, c, &b->amounts, b->index);
}

static void builder_done(void *builder)
{
	struct builder *b = builder;
	pm_tree_builder_free(b->tree);
	free(b->index);
}

static void calls_done(void *calls)
{
	struct htd_calls *c = calls;
	pm_durations_done(c->durations);
	pm_tree_free(c->tree);
}

void htd_calls_build(struct pm_arena *a, struct htd_calls *c, const struct htd_stream *s,
	const struct htd_wanted *wanted, struct pm_error *err)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct builder *b = pm_arena_alloc(scratch, sizeof(*b));
	*b = (struct builder){.a = a, .scratch = scratch, .c = c, .guesses.arena = scratch};
	*c = (struct htd_calls){.s = s,
		.wanted = wanted,
		.costs.arena = a,
		.durations = pm_arena_alloc(a, sizeof(*c->durations)),
		.lanes = pm_arena_array(a, s->n_threads, sizeof(*c->lanes))};
	pm_arena_owns(a, calls_done, c);
	pm_arena_owns(scratch, builder_done, b);
	b->tree = pm_tree_builder_new();
	pm_build_check(a, b->tree ? 0 : PM_NO_MEMORY);
	htd_mapped_init(a, &c->mapped, s);
	c->labels = htd_labels_in(a, &c->mapped);
	pm_paths_init_in(scratch, &b->paths, PM_LIMIT_ITEMS);
	walk_all(b, err);
	freeze(b, err);
	labels_sum(b);
	labels_rank(a, c);
	pm_arena_done(scratch);
}
