/*
 * Threads are read on all cores and added in order, which gives the same sums as context by
 * context. 48 bytes for each context and column; where there are many columns, 64 for each that a
 * thread has a value of at a context. With ranks, a bit more for each kind of thread.
 */
#include "fs/views/sums/spreads.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/pipeline.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/threads.h"

/* Number of threads read ahead; each may have a value for every context. */
enum { MOST_AHEAD = 8 };

/* A table has these columns for each context, or is not larger than that. */
enum { FEW_COLUMNS = 64, FEW_WORDS = 4, SMALL_TABLE = 1 << 20 };

struct cost {
	uint32_t context, column;
	double value;
};

/* The costs of one thread. */
struct costs {
	struct cost *items;
	size_t n, room;
};

struct adding {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	const struct pmfs_peers *peers;
	struct pmfs_spreads *all;
	struct pm_map indexes; /* place → index in all->alone, where there is no table */
	size_t room_alone, room_kinds;
	struct pm_error *err;
	pthread_mutex_t lock; /* of err */
};

/* ---- one thread ---- */

static int keep(const struct adding *a, const struct pm_value *v, struct costs *ret)
{
	struct cost cost = {.context = pm_tree_find(a->tree, v->context),
		.column = pmfs_column_of(a->columns, v->metric, false),
		.value = pmfs_value_number(v)};
	if (cost.context == PM_NONE || cost.column == PM_NONE || isnan(cost.value))
		return 0;
	if (pm_list_room(&ret->items, ret->n, &ret->room, sizeof(cost)) < 0)
		return -ENOMEM;
	ret->items[ret->n++] = cost;
	return 0;
}

static int make_costs(void *context, uint32_t i, void *result)
{
	struct adding *a = context;
	struct pmfs_values values;
	const struct pm_value *v;
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r;
	pmfs_values_start(&values, a->model, (struct pm_values_of){PM_OF_THREAD, i, false}, 0);
	while ((r = pmfs_values_peek(&values, &v, &why)) > 0) {
		r = keep(a, v, result);
		if (r < 0)
			break;
		pmfs_values_step(&values);
	}
	if (pmfs_is_unreadable(r)) {
		((struct costs *)result)->n = 0; /* as if it had no costs at all */
		return 0;
	}
	if (r < 0) {
		pthread_mutex_lock(&a->lock);
		pm_error_set(
			a->err, r, why.file, why.offset, "%s", why.code ? why.text : "no memory");
		pthread_mutex_unlock(&a->lock);
	}
	return r;
}

/* NULL where no thread has a kind. */
static uint64_t *kinds_at(uint64_t *kinds, uint64_t place, uint32_t words)
{
	return words ? kinds + place * words : NULL;
}

/* The spread at a place, a new one if there is none, and its kinds. NULL if out of memory. */
static struct pmfs_spread *spread_at(struct adding *a, uint64_t place, uint64_t **ret_kinds)
{
	struct pmfs_spreads *all = a->all;
	uint32_t words = a->peers->n_words;
	bool is_new;
	if (all->spreads) {
		*ret_kinds = kinds_at(all->kinds, place, words);
		return &all->spreads[place];
	}
	if (all->n_alone >= UINT32_MAX)
		return NULL;
	uint32_t *index = pm_map_put(&a->indexes, place, (uint32_t)all->n_alone, &is_new);
	size_t n = all->n_alone;
	if (!index ||
		(is_new && pm_list_room(&all->alone, n, &a->room_alone, sizeof(*all->alone)) < 0))
		return NULL;
	if (is_new && words) {
		if (pm_list_room(&all->kinds, n, &a->room_kinds, words * sizeof(*all->kinds)) < 0)
			return NULL;
		memset(all->kinds + n * words, 0, words * sizeof(*all->kinds));
	}
	if (is_new)
		all->alone[all->n_alone++] = (struct pmfs_lone_spread){.place = place, .made = n};
	*ret_kinds = kinds_at(all->kinds, *index, words);
	return &all->alone[*index].spread;
}

static int take_costs(void *context, uint32_t i, void *result)
{
	struct adding *a = context;
	const struct costs *costs = result;
	for (size_t k = 0; k < costs->n; k++) {
		const struct cost *c = &costs->items[k];
		uint64_t *kinds;
		struct pmfs_spread *spread =
			spread_at(a, (uint64_t)c->context * a->columns->n + c->column, &kinds);
		if (!spread)
			return -ENOMEM;
		pmfs_peers_add(a->peers, spread, kinds, c->value, i);
	}
	return 0;
}

static void drop_costs(void *result)
{
	struct costs *costs = result;
	free(costs->items);
}

static uint64_t weigh_costs(void *context, uint32_t i)
{
	(void)context;
	(void)i;
	return 1;
}

/* ---- all of them ---- */

static void spreads_done(void *p)
{
	struct pmfs_spreads *s = p;
	free(s->spreads);
	free(s->alone);
	free(s->kinds);
}

static int by_place(const void *a, const void *b)
{
	const struct pmfs_lone_spread *x = a, *y = b;
	return (x->place > y->place) - (x->place < y->place);
}

/* Makes the table, if there is to be one. */
static bool make_room(struct adding *a)
{
	size_t n = (size_t)a->tree->n_contexts + 1, n_columns = a->columns->n;
	size_t words = a->peers->n_words;
	if ((n_columns > FEW_COLUMNS || words > FEW_WORDS) && n > SMALL_TABLE / n_columns)
		return true;
	a->all->spreads = calloc(n, (n_columns + 1) * sizeof(*a->all->spreads));
	if (words)
		a->all->kinds = calloc(n, (n_columns + 1) * words * sizeof(*a->all->kinds));
	return a->all->spreads && (a->all->kinds || words == 0);
}

static int add_threads(struct adding *a, uint32_t n_threads)
{
	struct pm_pipeline pipeline = {.n = n_threads,
		.size = sizeof(struct costs),
		.make = make_costs,
		.take = take_costs,
		.drop = drop_costs,
		.weigh = weigh_costs,
		.most = MOST_AHEAD,
		.context = a};
	int r = make_room(a) ? pm_pipeline_run(&pipeline) : -ENOMEM;
	if (r == 0)
		r = pm_sort(a->all->alone, a->all->n_alone, sizeof(*a->all->alone), by_place);
	pm_map_done(&a->indexes);
	return r < 0 && !a->err->code ? pmfs_no_memory(a->err) : r;
}

static int spreads_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct pmfs_spreads *all = p;
	struct pm_error why = {.offset = PM_NO_OFFSET};
	struct adding a = {
		.model = m, .all = all, .err = err ? err : &why, .lock = PTHREAD_MUTEX_INITIALIZER};
	const struct pm_threads *threads;
	int r = pmfs_model_tree(m, &a.tree, err);
	if (r == 0)
		r = pmfs_model_columns(m, &a.columns, err);
	if (r == 0)
		r = pmfs_model_threads(m, &threads, err);
	if (r == 0)
		r = pmfs_peers(m, &a.peers, err);
	return r < 0 ? r : add_threads(&a, threads->n);
}

int pmfs_spreads(struct pmfs_model *m, const struct pmfs_spreads **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_spreads), spreads_fill,
		spreads_done, .what = "the spreads over threads"};
	return pmfs_model_part(m, PMFS_PART_SPREADS, &type, ret, err);
}

void pmfs_spreads_of(const struct pmfs_spreads *s, const struct pmfs_peers *p, uint32_t context,
	uint32_t n_columns, struct pmfs_spread *ret)
{
	uint64_t first = (uint64_t)context * n_columns;
	memset(ret, 0, n_columns * sizeof(*ret));
	for (uint32_t k = 0; s->spreads && k < n_columns; k++) {
		ret[k] = s->spreads[first + k];
		pmfs_peers_complete(p, &ret[k], kinds_at(s->kinds, first + k, p->n_words));
	}
	size_t i = PM_LOWER_BOUND(k, 0, s->n_alone, s->alone[k].place < first);
	for (; i < s->n_alone && s->alone[i].place < first + n_columns; i++) {
		const struct pmfs_lone_spread *one = &s->alone[i];
		ret[one->place - first] = one->spread;
		pmfs_peers_complete(
			p, &ret[one->place - first], kinds_at(s->kinds, one->made, p->n_words));
	}
}
