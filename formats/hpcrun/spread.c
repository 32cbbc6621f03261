/*
 * A thread visits a small part of the merged tree. So its costs go up the tree along the paths that
 * it has visited, metric by metric; what no thread visits costs nothing.
 */
#include "formats/hpcrun/spread.h"

#include <stdlib.h>

#include "formats/common/list.h"

struct spread {
	const struct hpcrun_merged *merged;
	struct pm_costs *costs;
	/* By context; only those in `touched` are not as at the beginning. */
	double *own, *total;
	uint8_t *seen; /* SEEN_… */
	uint32_t *touched;
	size_t n_touched, touched_room;
	struct hpcrun_stored *values; /* of one thread, by group */
	size_t values_room;
};

enum { SEEN_BELOW = 1, SEEN_OWN = 2 };

/* Marks the context and all above it. */
static int touch(struct spread *s, uint32_t context)
{
	const uint32_t *parent = s->merged->tree->parent;
	for (; context != PM_NONE && !s->seen[context]; context = parent[context]) {
		if (pm_list_room(&s->touched, s->n_touched, &s->touched_room, sizeof(*s->touched)) <
			0)
			return -ENOMEM;
		s->seen[context] = SEEN_BELOW;
		s->touched[s->n_touched++] = context;
	}
	return 0;
}

static int downwards(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x < *y) - (*x > *y);
}

/* Gives the sums of one thread and group to the costs, children before parents. */
static int give(struct spread *s, uint32_t thread, uint32_t group)
{
	const uint32_t *parent = s->merged->tree->parent;
	int r = 0;
	if (s->n_touched > 1)
		qsort(s->touched, s->n_touched, sizeof(*s->touched), downwards);
	for (size_t i = 0; i < s->n_touched; i++) {
		uint32_t context = s->touched[i];
		double total = s->total[context] + s->own[context];
		if (parent[context] != PM_NONE)
			s->total[parent[context]] += total;
		if (r == 0 && (s->seen[context] & SEEN_OWN))
			r = pm_costs_add(s->costs, thread, context, 2 * group, s->own[context]);
		if (r == 0)
			r = pm_costs_add(s->costs, thread, context, 2 * group + 1, total);
		s->own[context] = s->total[context] = 0;
		s->seen[context] = 0;
	}
	s->n_touched = 0;
	return r;
}

static int add(struct spread *s, const struct hpcrun_stored *v)
{
	double cost = hpcrun_merged_cost(s->merged, v);
	if (cost != cost)
		return 0;
	int r = touch(s, v->context);
	s->own[v->context] += cost;
	s->seen[v->context] |= SEEN_OWN;
	return r;
}

/* By group; within one as they come from the file, so that sums are the same each time. */
static int by_group(const void *a, const void *b, void *scales)
{
	const struct hpcrun_stored *x = a, *y = b;
	const struct hpcrun_scale *all = scales;
	if (all[x->scale].group != all[y->scale].group)
		return all[x->scale].group < all[y->scale].group ? -1 : 1;
	return (x->context > y->context) - (x->context < y->context);
}

static int spread_thread(struct spread *s, uint32_t thread)
{
	const struct hpcrun_merged *m = s->merged;
	uint64_t start = m->value_start[thread];
	size_t n = (size_t)(m->value_start[thread + 1] - start);
	if (n == 0)
		return 0;
	if (pm_list_room(&s->values, n, &s->values_room, sizeof(*s->values)) < 0)
		return -ENOMEM;
	memcpy(s->values, m->values + start, n * sizeof(*s->values));
	qsort_r(s->values, n, sizeof(*s->values), by_group, m->scales);
	int r = 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		uint32_t group = m->scales[s->values[i].scale].group;
		r = add(s, &s->values[i]);
		bool last = i + 1 == n || m->scales[s->values[i + 1].scale].group != group;
		if (r == 0 && last)
			r = give(s, thread, group);
	}
	return r;
}

int hpcrun_spread(struct pm_costs *ret, const struct hpcrun_merged *m, uint32_t n_threads)
{
	size_t n = (size_t)m->tree->n_contexts + 1;
	struct spread s = {.merged = m, .costs = ret};
	s.own = calloc(n, sizeof(*s.own));
	s.total = calloc(n, sizeof(*s.total));
	s.seen = calloc(n, sizeof(*s.seen));
	int r = s.own && s.total && s.seen ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < n_threads && r == 0; i++)
		r = spread_thread(&s, i);
	if (r == 0)
		r = pm_costs_freeze(ret, n_threads, m->tree->n_contexts);
	free(s.own);
	free(s.total);
	free(s.seen);
	free(s.touched);
	free(s.values);
	return r;
}
