#include "fs/views/sums/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/threads.h"

/* ---- one thread ---- */

void pmfs_work_costs_done(struct pmfs_work_costs *w)
{
	free(w->items);
	*w = (struct pmfs_work_costs){.n = 0};
}

static int by_context(const void *a, const void *b)
{
	const struct pmfs_work_cost *x = a, *y = b;
	return (x->context > y->context) - (x->context < y->context);
}

static int read_values(struct pmfs_model *m, const struct pm_tree *tree, uint32_t thread,
	struct pmfs_work_costs *ret, struct pm_error *err)
{
	const struct pmfs_columns *c;
	struct pmfs_values values;
	const struct pm_value *v;
	int r = pmfs_model_columns(m, &c, err);
	if (r < 0)
		return r;
	uint32_t leading = pmfs_leading_column(c);
	pmfs_values_start(&values, m, (struct pm_values_of){PM_OF_THREAD, thread, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		if (leading == PM_NONE || pmfs_column_of(c, v->metric, false) != leading)
			continue;
		uint32_t context = pm_tree_find(tree, v->context);
		double value = pmfs_value_number(v);
		if (context == PM_NONE || isnan(value))
			continue;
		if (pm_list_room(&ret->items, ret->n, &ret->room, sizeof(*ret->items)) < 0)
			return pmfs_no_memory(err);
		ret->items[ret->n++] = (struct pmfs_work_cost){context, false, value, 0};
	}
	return r;
}

/*
 * In pre-order, the contexts above an item are those that were begun and have not ended. While a
 * context is open, `work` has the cost of the waiting below it: what begins to wait adds its cost,
 * and what works again below takes its own off.
 */
static int find_work(const struct pm_tree *tree, const uint8_t *categories,
	struct pmfs_work_cost *items, size_t n)
{
	size_t *open = NULL, n_open = 0, room = 0;
	for (size_t i = 0; i <= n; i++) {
		while (n_open > 0 &&
			(i == n ||
				tree->end[items[open[n_open - 1]].context] <= items[i].context)) {
			struct pmfs_work_cost *one = &items[open[--n_open]];
			struct pmfs_work_cost *above = n_open ? &items[open[n_open - 1]] : NULL;
			bool waits = pmfs_is_waiting(categories[one->context]);
			bool waits_above = above && pmfs_is_waiting(categories[above->context]);
			if (above)
				above->work += one->work +
					(waits == waits_above   ? 0
							: waits ? one->value
								: -one->value);
			one->work = (waits ? 0 : one->value) - one->work;
			if (fabs(one->work) < ldexp(fabs(one->value), -40))
				one->work = 0; /* what rounding leaves where all of it waits */
			one->waits = waits;
		}
		if (i == n)
			break;
		if (pm_list_room(&open, n_open, &room, sizeof(*open)) < 0) {
			free(open);
			return -ENOMEM;
		}
		open[n_open++] = i;
	}
	free(open);
	return 0;
}

int pmfs_work_costs(
	struct pmfs_model *m, uint32_t thread, struct pmfs_work_costs *ret, struct pm_error *err)
{
	const struct pm_tree *tree;
	const uint8_t *categories;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0 || (r = pmfs_categories(m, &categories, err)) < 0 ||
		(r = read_values(m, tree, thread, ret, err)) < 0)
		return r;
	if (pm_sort(ret->items, ret->n, sizeof(*ret->items), by_context) < 0 ||
		find_work(tree, categories, ret->items, ret->n) < 0)
		return pmfs_no_memory(err);
	return 0;
}

/* ---- sums ---- */

static void end_rank(struct pmfs_work_sum *s)
{
	if (s->rank == PM_NONE || (s->slowest_rank != PM_NONE && s->rank_sum <= s->rank_max))
		return;
	s->rank_max = s->rank_sum;
	s->slowest_rank = s->rank;
}

void pmfs_work_add(const struct pmfs_peers *p, struct pmfs_work_sum *s, uint64_t *kinds,
	uint32_t thread, double figure)
{
	uint32_t rank = p->rank[thread];
	if (!s->begun)
		s->rank = s->slowest_rank = PM_NONE;
	if (!s->begun || s->rank != rank) {
		end_rank(s);
		s->rank = rank;
		s->rank_sum = 0;
	}
	s->begun = true;
	s->rank_sum += figure;
	pmfs_peers_add(p, &s->spread, kinds, figure, thread);
}

struct pmfs_work pmfs_work_of(
	const struct pmfs_peers *p, struct pmfs_work_sum *s, uint32_t peers, uint32_t ranks)
{
	struct pmfs_work work = {.threads = s->spread.n, .slowest_rank = PM_NONE};
	if (s->spread.n == 0)
		return work;
	end_rank(s);
	pmfs_spread_extend(&s->spread, peers);
	work.peers = s->spread.n;
	work.mean = s->spread.mean;
	work.max = s->spread.max;
	work.slowest = s->spread.slowest;
	if (p->n_ranks < 2 || s->slowest_rank == PM_NONE)
		return work;
	work.slowest_rank = s->slowest_rank;
	work.rank_lost = s->rank_max - work.mean * work.peers / (ranks ? ranks : p->n_ranks);
	return work;
}

/* ---- all contexts ---- */

struct works_part {
	struct pmfs_work *of;
};

static void works_done(void *p)
{
	struct works_part *part = p;
	free(part->of);
}

struct summing {
	struct pmfs_model *model;
	const struct pmfs_peers *peers;
	struct pmfs_work_sum *sums; /* by context */
	uint64_t *kinds;
};

static int make_costs(void *self, uint32_t i, void *result, struct pm_error *err)
{
	const struct summing *s = self;
	return pmfs_work_costs(s->model, s->peers->by_rank[i], result, err);
}

static int take_costs(void *self, uint32_t i, void *result)
{
	struct summing *s = self;
	const struct pmfs_work_costs *costs = result;
	for (size_t k = 0; k < costs->n; k++) {
		const struct pmfs_work_cost *cost = &costs->items[k];
		pmfs_work_add(s->peers, &s->sums[cost->context],
			s->kinds + (size_t)cost->context * s->peers->n_words, s->peers->by_rank[i],
			cost->waits ? cost->value : cost->work);
	}
	return 0;
}

static void drop_costs(void *result)
{
	pmfs_work_costs_done(result);
}

static int works_fill(void *owner, void *p, struct pm_error *err)
{
	struct works_part *part = p;
	struct summing s = {.model = owner};
	const struct pm_tree *tree;
	int r = pmfs_model_tree(owner, &tree, err);
	if (r < 0 || (r = pmfs_peers(owner, &s.peers, err)) < 0)
		return r;
	size_t n = (size_t)tree->n_contexts + 1, words = s.peers->n_words;
	s.sums = calloc(n, sizeof(*s.sums));
	s.kinds = calloc(n * words + 1, sizeof(*s.kinds));
	uint8_t *seen = malloc((size_t)s.peers->n_ranks + 1);
	const struct pmfs_all_threads all = {s.peers->n_threads, sizeof(struct pmfs_work_costs),
		make_costs, take_costs, drop_costs, &s};
	r = s.sums && s.kinds && seen ? pmfs_read_all_threads(&all, err) : pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < tree->n_contexts; i++) {
		r = pm_work_cancelled() ? pmfs_no_memory(err) : 0;
		struct pmfs_spread spread = s.sums[i].spread;
		const uint64_t *kinds = s.kinds + i * words;
		pmfs_peers_complete(s.peers, &spread, kinds);
		struct pmfs_work work = pmfs_work_of(s.peers, &s.sums[i], spread.n,
			spread.n ? pmfs_peers_ranks(s.peers, kinds, seen) : 0);
		/* In place of a sum that has been used: a million contexts have 80 MB of them. */
		_Static_assert(sizeof(work) <= sizeof(*s.sums), "what is written has been read");
		memcpy((char *)s.sums + i * sizeof(work), &work, sizeof(work));
	}
	free(s.kinds);
	free(seen);
	if (r == 0)
		part->of = realloc(s.sums, n * sizeof(*part->of));
	if (!part->of)
		free(s.sums);
	return r == 0 && !part->of ? pmfs_no_memory(err) : r;
}

int pmfs_works(struct pmfs_model *m, const struct pmfs_work **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct works_part), works_fill, works_done, .what = "work and waiting"};
	const struct works_part *part;
	int r = pmfs_model_part(m, PMFS_PART_WORKS, &type, &part, err);
	*ret = r < 0 ? NULL : part->of;
	return r;
}
