/*
 * Building the call tree: each thread's calls are walked in time order with a stack of those that
 * are open; the parent of a call is the innermost one that holds it whole. Costs are summed per
 * thread and context. Before every HTD_MARKth call the open ones are noted, so that samples can be
 * made again from there (segment.c) without keeping calls.
 */
#include "formats/htdump/calls.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"

struct frame {
	uint64_t start, duration, self;
	htd_place place;
	uint32_t label, context; /* by rank while building */
	uint32_t open;           /* once noted */
};

/* Costs of a context on the thread at hand. */
struct cost {
	htd_sum incl, excl;
	uint64_t calls;
};

/* The same, kept for a thread. */
struct row {
	uint32_t lane, context;
	double values[HTD_N_METRICS];
};

struct builder {
	struct htd_calls *c;
	struct pm_tree_builder *tree;
	struct pm_text scratch;
	struct frame *stack;
	size_t depth, stack_room;
	size_t n_noted; /* frames from the bottom that are noted */
	struct cost *costs;
	size_t n_costs, cost_room;
	uint32_t *touched; /* contexts with costs */
	size_t n_touched, touched_room;
	struct row *rows;
	size_t n_rows, row_room;
};

/* ---- labels and contexts ---- */

static int label_frame(struct builder *b, uint32_t label)
{
	struct htd_label_cost *l = &b->c->by_label[label];
	struct pm_bytes name = b->c->labels.texts.items[label];
	if (l->frame != HTD_NONE)
		return 0;
	uint32_t text = pm_tree_text(b->tree, name, false);
	if (text == PM_NONE)
		return -ENOMEM;
	uint32_t function =
		pm_tree_function(b->tree, &(struct pm_function){.name = text, .id = PM_NONE});
	if (function == PM_NONE)
		return -ENOMEM;
	l->frame = pm_tree_intern(b->tree,
		&(struct pm_frame){.kind = PM_KIND_FUNCTION, .function = function, .name = text});
	return l->frame == PM_NONE ? -ENOMEM : 0;
}

static int label_of(struct builder *b, const struct htd_event *e, uint32_t *ret)
{
	struct htd_calls *c = b->c;
	*ret = htd_labels_add(&c->labels, e, &b->scratch);
	if (*ret == HTD_NONE)
		return -ENOMEM;
	while (c->n_labels <= *ret) {
		if (pm_list_room(&c->by_label, c->n_labels, &c->label_room, sizeof(*c->by_label)) <
			0)
			return -ENOMEM;
		c->by_label[c->n_labels++] =
			(struct htd_label_cost){.min = UINT64_MAX, .frame = HTD_NONE};
	}
	return label_frame(b, *ret);
}

static int cost_of(struct builder *b, uint32_t context, struct cost **ret)
{
	while (b->n_costs <= context) {
		if (pm_list_room(&b->costs, b->n_costs, &b->cost_room, sizeof(*b->costs)) < 0)
			return -ENOMEM;
		b->costs[b->n_costs++] = (struct cost){.calls = 0};
	}
	*ret = &b->costs[context];
	if ((*ret)->calls)
		return 0;
	if (pm_list_room(&b->touched, b->n_touched, &b->touched_room, sizeof(*b->touched)) < 0)
		return -ENOMEM;
	b->touched[b->n_touched++] = context;
	return 0;
}

/* ---- the stack ---- */

static void close_call(struct builder *b)
{
	const struct frame *f = &b->stack[--b->depth];
	struct htd_label_cost *l = &b->c->by_label[f->label];
	b->costs[f->context].excl += (int64_t)f->self;
	l->excl += (int64_t)f->self;
	l->open--;
	if (f->open != HTD_NONE)
		b->c->opens[f->open].self = f->self;
	if (b->n_noted > b->depth)
		b->n_noted = b->depth;
}

static void close_until(struct builder *b, uint64_t start, uint64_t duration)
{
	bool overlaps = false;
	while (b->depth) {
		const struct frame *f = &b->stack[b->depth - 1];
		if (htd_call_holds(f->start, f->duration, start, duration))
			break;
		overlaps = overlaps || start - f->start < f->duration;
		close_call(b);
	}
	b->c->overlapping += overlaps;
}

static void label_count(struct htd_label_cost *l, uint64_t duration)
{
	l->calls++;
	l->min = duration < l->min ? duration : l->min;
	l->max = duration > l->max ? duration : l->max;
	if (l->open++ == 0)
		l->incl += duration;
}

static int open_call(
	struct builder *b, struct htd_lane *lane, const struct htd_event *e, htd_place place)
{
	struct frame f = {.start = e->header.timestamp, .place = place, .open = HTD_NONE};
	struct cost *cost;
	uint64_t thread, end;
	if (!htd_event_call(e, &f.duration, &thread))
		return -EIO;
	f.self = f.duration;
	if (__builtin_add_overflow(f.start, f.duration, &end))
		end = UINT64_MAX;
	lane->end = end > lane->end ? end : lane->end;
	int r = label_of(b, e, &f.label);
	if (r < 0)
		return r;
	close_until(b, f.start, f.duration);
	struct htd_label_cost *label = &b->c->by_label[f.label];
	f.context = pm_tree_child(
		b->tree, b->depth ? b->stack[b->depth - 1].context : PM_NONE, label->frame);
	if (f.context == PM_NONE || cost_of(b, f.context, &cost) < 0 ||
		pm_list_room(&b->stack, b->depth, &b->stack_room, sizeof(f)) < 0)
		return -ENOMEM;
	if (b->depth == PM_LIMIT_DEPTH)
		return -ENOTSUP;
	cost->calls++;
	cost->incl += f.duration;
	label_count(label, f.duration);
	if (b->depth)
		b->stack[b->depth - 1].self -= f.duration;
	b->stack[b->depth++] = f;
	return 0;
}

/* Notes the open calls that no earlier mark has noted, and the innermost one for this mark. */
static int mark(struct builder *b, struct htd_lane *lane, const struct htd_sorted *cursor)
{
	struct htd_calls *c = b->c;
	for (; b->n_noted < b->depth; b->n_noted++) {
		struct frame *f = &b->stack[b->n_noted];
		if (c->n_opens >= PM_LIMIT_ITEMS ||
			pm_list_room(&c->opens, c->n_opens, &c->open_room, sizeof(*c->opens)) < 0)
			return -ENOMEM;
		f->open = (uint32_t)c->n_opens;
		c->opens[c->n_opens++] = (struct htd_open){
			.place = f->place,
			.context = f->context,
			.parent = b->n_noted ? b->stack[b->n_noted - 1].open : HTD_NONE,
		};
	}
	size_t n = lane->order.n_marks;
	if (pm_list_room(&lane->open, n, &lane->open_room, sizeof(*lane->open)) < 0)
		return -ENOMEM;
	lane->open[n] = b->depth ? b->stack[b->depth - 1].open : HTD_NONE;
	return htd_order_mark(&lane->order, cursor);
}

/* ---- threads ---- */

static int rows_take(struct builder *b, uint32_t lane)
{
	for (size_t i = 0; i < b->n_touched; i++) {
		struct cost *cost = &b->costs[b->touched[i]];
		if (pm_list_room(&b->rows, b->n_rows, &b->row_room, sizeof(*b->rows)) < 0)
			return -ENOMEM;
		struct row *row = &b->rows[b->n_rows++];
		*row = (struct row){.lane = lane, .context = b->touched[i]};
		row->values[HTD_METRIC_INCL] = (double)cost->incl;
		row->values[HTD_METRIC_EXCL] = (double)cost->excl;
		row->values[HTD_METRIC_CALLS] = (double)cost->calls;
		*cost = (struct cost){.calls = 0};
	}
	b->c->lanes[lane].n_contexts = (uint32_t)b->n_touched;
	b->n_touched = 0;
	return 0;
}

static int lane_walk(struct builder *b, struct htd_lane *lane)
{
	struct htd_sorted cursor;
	struct htd_event e;
	htd_place place;
	int r = htd_sorted_start(&cursor, &lane->order, NULL);
	for (uint64_t n = 0; r >= 0; n++) {
		if (n % HTD_MARK == 0)
			r = mark(b, lane, &cursor);
		if (r >= 0)
			r = htd_sorted_next(&cursor, &e, &place);
		if (r <= 0)
			break;
		r = open_call(b, lane, &e, place);
	}
	htd_sorted_done(&cursor);
	while (b->depth)
		close_call(b);
	return r;
}

static int lane_build(struct builder *b, uint32_t i)
{
	const struct htd_stream *s = b->c->s;
	struct htd_lane *lane = &b->c->lanes[i];
	const struct htd_thread *thread = &s->threads[i];
	lane->order = (struct htd_order){
		.s = s,
		.filter = {.runs = &thread->calls, .calls = true, .what = thread->number},
		.by_id = true,
	};
	int r = htd_order_build(&lane->order);
	if (r == 0)
		r = lane_walk(b, lane);
	return r < 0 ? r : rows_take(b, i);
}

/* ---- the frozen tree ---- */

static int weigh(const struct builder *b, double **ret)
{
	uint32_t n = pm_tree_count(b->tree);
	*ret = calloc(n + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_rows; i++)
		(*ret)[b->rows[i].context] += b->rows[i].values[HTD_METRIC_INCL];
	return 0;
}

static int costs_take(struct builder *b, const uint32_t *index)
{
	struct htd_calls *c = b->c;
	for (size_t i = 0; i < b->n_rows; i++) {
		const struct row *row = &b->rows[i];
		for (uint32_t m = 0; m < HTD_N_METRICS; m++)
			if (pm_costs_add(&c->costs, row->lane, index[row->context], m,
				    row->values[m]) < 0)
				return -ENOMEM;
	}
	for (size_t i = 0; i < c->n_opens; i++)
		c->opens[i].context = index[c->opens[i].context];
	bool fresh;
	for (uint32_t i = 0; i < c->tree->n_contexts; i++)
		if (!pm_map_put(&c->children, htd_child_key(c->tree->parent[i], c->tree->frame[i]),
			    i, &fresh))
			return -ENOMEM;
	return pm_costs_freeze(&c->costs, (uint32_t)c->s->n_threads, c->tree->n_contexts);
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
	qsort_r(c->ranked, c->n_ranked, sizeof(*c->ranked), label_order, c->by_label);
	return 0;
}

static int freeze(struct builder *b, struct pm_error *err)
{
	double *weight;
	uint32_t *index = NULL;
	int r = weigh(b, &weight);
	if (r == 0) {
		r = pm_tree_freeze(b->tree, weight, &b->c->tree, &index, err);
		b->tree = NULL;
	}
	if (r == 0)
		r = costs_take(b, index);
	free(weight);
	free(index);
	return r;
}

static void builder_done(struct builder *b)
{
	pm_tree_builder_free(b->tree);
	pm_text_done(&b->scratch);
	free(b->stack);
	free(b->costs);
	free(b->touched);
	free(b->rows);
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

int htd_calls_build(struct htd_calls *c, const struct htd_stream *s, struct pm_error *err)
{
	struct builder b = {.c = c, .tree = pm_tree_builder_new()};
	c->s = s;
	c->lanes = calloc(s->n_threads + 1, sizeof(*c->lanes));
	int r = b.tree && c->lanes ? htd_labels_init(&c->labels, s) : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < s->n_threads; i++)
		r = lane_build(&b, i);
	if (r == 0)
		r = freeze(&b, err);
	if (r == 0)
		r = labels_rank(c);
	builder_done(&b);
	return r < 0 ? failed(r, err) : 0;
}

void htd_calls_done(struct htd_calls *c)
{
	for (size_t i = 0; c->lanes && i < c->s->n_threads; i++) {
		htd_order_done(&c->lanes[i].order);
		free(c->lanes[i].open);
	}
	free(c->lanes);
	free(c->opens);
	free(c->by_label);
	free(c->ranked);
	htd_labels_done(&c->labels);
	pm_map_done(&c->children);
	pm_costs_done(&c->costs);
	pm_tree_free(c->tree);
	*c = (struct htd_calls){.s = NULL};
}
