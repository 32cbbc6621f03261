/*
 * A thread visits a small part of the merged tree. So its costs go up the tree along the paths that
 * it has visited, metric by metric; what no thread visits costs nothing. All threads are gone
 * through twice: to announce where there will be costs, and to add them.
 */
#include "formats/hpcrun/costs.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/work.h"

struct spread {
	const struct hpcrun_merged *merged;
	struct pm_costs *costs;
	bool adding; /* else announcing */
	/* By context; only those in `touched` are not as at the beginning. */
	double *own, *total;
	uint8_t *seen; /* SEEN_… */
	uint32_t *touched;
	size_t n_touched;
	size_t *group_end; /* in `values` */
	const struct hpcrun_stored *
		*values; /* of one thread, by group, as they come from the file */
	size_t values_room;
};

enum { SEEN_BELOW = 1, SEEN_OWN = 2 };

/* Of contexts in order, one in that many is found faster by looking at all than by sorting. */
enum { FEW = 32 };

static void add(struct spread *s, const struct hpcrun_stored *v)
{
	const uint32_t *parent = s->merged->tree->parent;
	double cost = hpcrun_merged_cost(s->merged, v);
	if (cost != cost)
		return;
	/* It is known of the context and all above it. */
	for (uint32_t i = v->context; i != PM_NONE && !s->seen[i]; i = parent[i]) {
		s->seen[i] = SEEN_BELOW;
		s->touched[s->n_touched++] = i;
	}
	s->own[v->context] += cost;
	s->seen[v->context] |= SEEN_OWN;
}

static int downwards(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x < *y) - (*x > *y);
}

/* Orders what was touched: children before parents. */
static void order_touched(struct spread *s)
{
	uint32_t n = s->merged->tree->n_contexts;
	if (s->n_touched < n / FEW) {
		qsort(s->touched, s->n_touched, sizeof(*s->touched), downwards);
		return;
	}
	s->n_touched = 0;
	for (uint32_t i = n; i-- > 0;)
		if (s->seen[i])
			s->touched[s->n_touched++] = i;
}

static void announce(struct spread *s)
{
	for (size_t i = 0; i < s->n_touched; i++) {
		pm_costs_expect(s->costs, s->touched[i]);
		if (s->seen[s->touched[i]] & SEEN_OWN)
			pm_costs_expect(s->costs, s->touched[i]);
	}
}

static void give(struct spread *s, uint32_t thread, uint32_t group)
{
	const uint32_t *parent = s->merged->tree->parent;
	order_touched(s);
	for (size_t i = 0; i < s->n_touched; i++) {
		uint32_t context = s->touched[i];
		double total = s->total[context] + s->own[context];
		if (parent[context] != PM_NONE)
			s->total[parent[context]] += total;
		if (s->seen[context] & SEEN_OWN)
			pm_costs_add(s->costs, thread, context, 2 * group, s->own[context]);
		pm_costs_add(s->costs, thread, context, 2 * group + 1, total);
	}
}

static void forget(struct spread *s)
{
	for (size_t i = 0; i < s->n_touched; i++) {
		uint32_t context = s->touched[i];
		s->own[context] = s->total[context] = 0;
		s->seen[context] = 0;
	}
	s->n_touched = 0;
}

/* Lists a thread's values by group, without changing their order within one. */
static int list_values(struct spread *s, const struct hpcrun_stored *stored, size_t n)
{
	const struct hpcrun_merged *m = s->merged;
	size_t *end = s->group_end;
	if (pm_list_room(&s->values, n, &s->values_room, sizeof(*s->values)) < 0)
		return -ENOMEM;
	memset(end, 0, ((size_t)m->n_groups + 1) * sizeof(*end));
	for (size_t i = 0; i < n; i++)
		end[m->scales[stored[i].scale].group + 1]++;
	for (uint32_t group = 0; group < m->n_groups; group++)
		end[group + 1] += end[group];
	for (size_t i = 0; i < n; i++)
		s->values[end[m->scales[stored[i].scale].group]++] = &stored[i];
	return 0;
}

static int spread_thread(struct spread *s, uint32_t thread)
{
	const struct hpcrun_merged *m = s->merged;
	uint64_t start = m->value_start[thread];
	size_t n = (size_t)(m->value_start[thread + 1] - start), i = 0;
	if (list_values(s, n ? m->values + start : NULL, n) < 0) /* no values at all: NULL */
		return -ENOMEM;
	for (uint32_t group = 0; group < m->n_groups; group++) {
		for (; i < s->group_end[group]; i++)
			add(s, s->values[i]);
		if (s->adding)
			give(s, thread, group);
		else
			announce(s);
		forget(s);
	}
	return 0;
}

static int spread_threads(struct spread *s, uint32_t n_threads)
{
	int r = 0;
	for (uint32_t i = 0; i < n_threads && r == 0; i++) {
		pm_work_progress(i, n_threads);
		r = pm_work_cancelled() ? -ENOMEM : spread_thread(s, i);
	}
	return r;
}

static int spread_all(struct spread *s, uint32_t n_threads)
{
	int r = pm_costs_init(s->costs, n_threads, s->merged->tree->n_contexts);
	if (r == 0)
		r = spread_threads(s, n_threads);
	if (r == 0)
		r = pm_costs_place(s->costs);
	s->adding = true;
	if (r == 0)
		r = spread_threads(s, n_threads);
	return r < 0 ? r : pm_costs_freeze(s->costs);
}

int hpcrun_spread(struct pm_costs *ret, const struct hpcrun_merged *m, uint32_t n_threads)
{
	size_t n = (size_t)m->tree->n_contexts + 1;
	struct spread s = {.merged = m, .costs = ret};
	s.own = calloc(n, sizeof(*s.own));
	s.total = calloc(n, sizeof(*s.total));
	s.seen = calloc(n, sizeof(*s.seen));
	s.touched = malloc(n * sizeof(*s.touched));
	s.group_end = malloc(((size_t)m->n_groups + 1) * sizeof(*s.group_end));
	int r = s.own && s.total && s.seen && s.touched && s.group_end ? spread_all(&s, n_threads)
								       : -ENOMEM;
	free(s.own);
	free(s.total);
	free(s.seen);
	free(s.touched);
	free(s.group_end);
	free(s.values);
	return r;
}
