/* How unevenly costs are spread over threads, and work. */
#include "fs/views/sums/imbalance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/threads.h"

/* ---- the work of one thread ---- */

/* The leading column of a context on one thread, and the work in it. */
struct work_cost {
	uint32_t context;
	bool waits;
	double value, work;
};

struct work_costs {
	struct pm_arena arena;
	struct work_cost *items; /* by context */
	size_t n, room;
};

static int by_context(const void *a, const void *b)
{
	const struct work_cost *x = a, *y = b;
	return (x->context > y->context) - (x->context < y->context);
}

/*
 * In pre-order, the contexts above an item are those that were begun and have not ended. While a
 * context is open, `work` has the cost of the waiting below it: what begins to wait adds its cost,
 * and what works again below takes its own off.
 */
static void find_work(struct pm_arena *a, const struct pm_tree *tree, const uint8_t *categories,
	struct work_cost *items, size_t n)
{
	size_t *open = NULL, n_open = 0, room = 0;
	for (size_t i = 0; i <= n; i++) {
		while (n_open > 0 &&
			(i == n ||
				tree->end[items[open[n_open - 1]].context] <= items[i].context)) {
			struct work_cost *one = &items[open[--n_open]];
			struct work_cost *above = n_open ? &items[open[n_open - 1]] : NULL;
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
		pm_list_grow(a, &open, n_open, &room, sizeof(*open));
		open[n_open++] = i;
	}
	pm_arena_free(a, open);
}

/* Reads the values of a thread, in a build of `a`. */
static void read_work_costs(struct pm_arena *a, struct pmfs_model *m, uint32_t thread,
	struct work_costs *ret, struct pm_error *err)
{
	const struct pmfs_columns *c;
	const struct pm_tree *tree;
	const uint8_t *categories;
	const struct pm_value *v;
	struct pmfs_values values;
	pm_build_check(a, pmfs_model_tree(m, &tree, err));
	pm_build_check(a, pmfs_categories(m, &categories, err));
	pm_build_check(a, pmfs_model_columns(m, &c, err));
	uint32_t leading = pmfs_leading_column(c);
	pmfs_values_start(&values, m, (struct pm_values_of){PM_OF_THREAD, thread, false}, 0);
	while ((v = pmfs_values_take(a, &values, err)) != NULL) {
		if (leading == PM_NONE || pmfs_column_of(c, v->metric, false) != leading)
			continue;
		uint32_t context = pm_tree_find(tree, v->context);
		double value = pmfs_value_number(v);
		if (context == PM_NONE || isnan(value))
			continue;
		pm_list_grow(a, &ret->items, ret->n, &ret->room, sizeof(*ret->items));
		ret->items[ret->n++] = (struct work_cost){context, false, value, 0};
	}
	pm_build_check(a, pm_sort(ret->items, ret->n, sizeof(*ret->items), by_context));
	find_work(a, tree, categories, ret->items, ret->n);
}

/* ---- sums of work ---- */

/* Adds up threads in the order of pmfs_peers.by_rank. */
struct work_sum {
	struct pmfs_spread spread;
	double rank_sum, rank_max; /* of the current rank, of the greatest before it */
	uint32_t rank, slowest_rank;
	bool begun;
};

static void end_rank(struct work_sum *s)
{
	if (s->rank == PM_NONE || (s->slowest_rank != PM_NONE && s->rank_sum <= s->rank_max))
		return;
	s->rank_max = s->rank_sum;
	s->slowest_rank = s->rank;
}

/* `kinds`: see pmfs_peers_add. */
static void work_add(const struct pmfs_peers *p, struct work_sum *s, uint64_t *kinds,
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

/*
 * Of that sum, over `peers` threads on `ranks` ranks, or those with a value if these are more.
 * Nothing may be added afterwards.
 */
static struct pmfs_work work_of(
	const struct pmfs_peers *p, struct work_sum *s, uint32_t peers, uint32_t ranks)
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

/* ---- the work of all contexts ---- */

struct works_part {
	struct pmfs_work *of;
};

struct adding_work {
	struct pmfs_model *model;
	const struct pmfs_peers *peers;
	struct work_sum *sums; /* by context */
	uint64_t *kinds;
};

static void make_work(
	struct pm_arena *a, void *self, uint32_t i, void *result, struct pm_error *err)
{
	const struct adding_work *s = self;
	read_work_costs(a, s->model, s->peers->by_rank[i], result, err);
}

static void take_work(void *self, uint32_t i, const void *result)
{
	struct adding_work *s = self;
	const struct work_costs *costs = result;
	for (size_t k = 0; k < costs->n; k++) {
		const struct work_cost *cost = &costs->items[k];
		work_add(s->peers, &s->sums[cost->context],
			s->kinds + (size_t)cost->context * s->peers->n_words, s->peers->by_rank[i],
			cost->waits ? cost->value : cost->work);
	}
}

static void build_works(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct works_part *part = p;
	struct adding_work s = {.model = m};
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct pm_tree *tree;
	pm_build_check(a, pmfs_model_tree(m, &tree, err));
	pm_build_check(a, pmfs_peers(m, &s.peers, err));
	size_t n = (size_t)tree->n_contexts + 1, words = s.peers->n_words;
	s.sums = pm_arena_zeroed(a, n, sizeof(*s.sums));
	s.kinds = pm_arena_array(scratch, n * words + 1, sizeof(*s.kinds));
	uint8_t *seen = pm_arena_alloc(scratch, (size_t)s.peers->n_ranks + 1);
	const struct pmfs_all_threads all = {
		s.peers->n_threads, sizeof(struct work_costs), make_work, take_work, &s};
	pmfs_read_all_threads(a, &all, err);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		pm_build_proceed(a);
		struct pmfs_spread spread = s.sums[i].spread;
		const uint64_t *kinds = s.kinds + i * words;
		pmfs_peers_complete(s.peers, &spread, kinds);
		struct pmfs_work work = work_of(s.peers, &s.sums[i], spread.n,
			spread.n ? pmfs_peers_ranks(s.peers, kinds, seen) : 0);
		/* In place of a sum that has been used: a million contexts have 80 MB of them. */
		_Static_assert(sizeof(work) <= sizeof(*s.sums), "what is written has been read");
		memcpy((char *)s.sums + i * sizeof(work), &work, sizeof(work));
	}
	pm_arena_done(scratch);
	part->of = pm_arena_realloc(a, s.sums, n * sizeof(*part->of));
}

int pmfs_works(struct pmfs_model *m, const struct pmfs_work **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct works_part), .what = "work and waiting", .build = build_works};
	const struct works_part *part;
	int r = pmfs_model_part(m, PMFS_PART_WORKS, &type, &part, err);
	*ret = r < 0 ? NULL : part->of;
	return r;
}

/*
 * ---- the costs of all contexts at once ----
 *
 * Threads are read on all cores and added in order, which gives the same sums as context by
 * context. 48 bytes for each context and column; where there are many columns, 64 for each that
 * a thread has a value of at a context. With ranks, a bit more for each kind of thread.
 */

/* A table has these columns for each context, or is not larger than that. */
enum { FEW_COLUMNS = 64, FEW_WORDS = 4, SMALL_TABLE = 1 << 20 };

struct cost {
	uint32_t context, column;
	double value;
};

/* The costs of one thread. */
struct costs {
	struct pm_arena arena;
	struct cost *items;
	size_t n, room;
};

struct adding {
	struct pm_arena *a;
	struct pmfs_model *model;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	const struct pmfs_peers *peers;
	struct pmfs_spreads *all;
	struct pm_map indexes; /* place → index in all->alone, where there is no table */
	size_t room_alone, room_kinds;
};

static void make_costs(
	struct pm_arena *a, void *self, uint32_t i, void *result, struct pm_error *err)
{
	const struct adding *all = self;
	struct costs *ret = result;
	struct pmfs_values values;
	const struct pm_value *v;
	pmfs_values_start(&values, all->model, (struct pm_values_of){PM_OF_THREAD, i, false}, 0);
	while ((v = pmfs_values_take(a, &values, err)) != NULL) {
		struct cost cost = {.context = pm_tree_find(all->tree, v->context),
			.column = pmfs_column_of(all->columns, v->metric, false),
			.value = pmfs_value_number(v)};
		if (cost.context == PM_NONE || cost.column == PM_NONE || isnan(cost.value))
			continue;
		pm_list_grow(a, &ret->items, ret->n, &ret->room, sizeof(cost));
		ret->items[ret->n++] = cost;
	}
}

/* NULL where no thread has a kind. */
static uint64_t *kinds_at(uint64_t *kinds, uint64_t place, uint32_t words)
{
	return words ? kinds + place * words : NULL;
}

/* The spread at a place, a new one if there is none, and its kinds. */
static struct pmfs_spread *spread_at(struct adding *a, uint64_t place, uint64_t **ret_kinds)
{
	struct pmfs_spreads *all = a->all;
	uint32_t words = a->peers->n_words;
	bool is_new;
	if (all->spreads) {
		*ret_kinds = kinds_at(all->kinds, place, words);
		return &all->spreads[place];
	}
	size_t n = all->n_alone;
	pm_build_check(a->a, n < UINT32_MAX ? 0 : -ENOMEM);
	uint32_t index = *pm_map_put(&a->indexes, place, (uint32_t)n, &is_new);
	if (is_new) {
		pm_list_grow(a->a, &all->alone, n, &a->room_alone, sizeof(*all->alone));
		if (words) {
			pm_list_grow(
				a->a, &all->kinds, n, &a->room_kinds, words * sizeof(*all->kinds));
			memset(all->kinds + n * words, 0, words * sizeof(*all->kinds));
		}
		all->alone[all->n_alone++] = (struct pmfs_lone_spread){.place = place, .made = n};
	}
	*ret_kinds = kinds_at(all->kinds, index, words);
	return &all->alone[index].spread;
}

static void take_costs(void *self, uint32_t i, const void *result)
{
	struct adding *a = self;
	const struct costs *costs = result;
	for (size_t k = 0; k < costs->n; k++) {
		const struct cost *c = &costs->items[k];
		uint64_t *kinds;
		struct pmfs_spread *spread =
			spread_at(a, (uint64_t)c->context * a->columns->n + c->column, &kinds);
		pmfs_peers_add(a->peers, spread, kinds, c->value, i);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct pmfs_lone_spread *x = a, *y = b;
	return (x->place > y->place) - (x->place < y->place);
}

static void build_spreads(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct pmfs_spreads *all = p;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct adding s = {.a = a, .model = m, .all = all, .indexes.arena = scratch};
	const struct pm_threads *threads;
	pm_build_check(a, pmfs_model_tree(m, &s.tree, err));
	pm_build_check(a, pmfs_model_columns(m, &s.columns, err));
	pm_build_check(a, pmfs_model_threads(m, &threads, err));
	pm_build_check(a, pmfs_peers(m, &s.peers, err));
	size_t n = (size_t)s.tree->n_contexts + 1, n_columns = s.columns->n;
	size_t words = s.peers->n_words;
	if ((n_columns <= FEW_COLUMNS && words <= FEW_WORDS) || n * n_columns <= SMALL_TABLE) {
		all->spreads = pm_arena_array(a, n, (n_columns + 1) * sizeof(*all->spreads));
		if (words)
			all->kinds =
				pm_arena_array(a, n, (n_columns + 1) * words * sizeof(*all->kinds));
	}
	pmfs_read_all_threads(a,
		&(struct pmfs_all_threads){
			threads->n, sizeof(struct costs), make_costs, take_costs, &s},
		err);
	pm_arena_done(scratch);
	pm_build_check(a, pm_sort(all->alone, all->n_alone, sizeof(*all->alone), by_place));
}

/* Reads the costs of every thread once, in parallel, and keeps the result. */
static int get_spreads(struct pmfs_model *m, const struct pmfs_spreads **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_spreads),
		.what = "the spreads over threads", .build = build_spreads};
	return pmfs_model_part(m, PMFS_PART_SPREADS, &type, ret, err);
}

/* Those of a context by column, over the peers: `ret` has room for `n_columns`. */
static void spreads_of(const struct pmfs_spreads *s, const struct pmfs_peers *p, uint32_t context,
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

/*
 * ---- the costs of one context ----
 *
 * Load imbalance of contexts. Each column is compared over the threads with a value in it at
 * the context, and their peers: workers that never run main are not an imbalance of main. Uses
 * the population standard deviation.
 */

void pmfs_imbalance_start(
	struct pm_arena *a, struct pmfs_imbalance *s, struct pmfs_model *m, struct pm_error *err)
{
	s->model = m;
	pm_build_check(a, pmfs_model_tree(m, &s->tree, err));
	pm_build_check(a, pmfs_model_columns(m, &s->columns, err));
	pm_build_check(a, pmfs_model_threads(m, &s->threads, err));
	pm_build_check(a, pmfs_peers(m, &s->peers, err));
	size_t n = (size_t)s->columns->n + 1;
	s->spreads = pm_arena_array(a, n, sizeof(*s->spreads));
	s->kinds = pm_arena_array(a, n, (s->peers->n_words + 1) * sizeof(*s->kinds));
	if (pmfs_model_profile(m)->costs_by_thread)
		pm_build_check(a, get_spreads(m, &s->all, err));
}

static int read_context(struct pmfs_imbalance *s, uint32_t context, struct pm_error *err)
{
	const struct pmfs_columns *c = s->columns;
	size_t words = s->peers->n_words;
	struct pmfs_values values;
	const struct pm_value *v;
	int r;
	memset(s->spreads, 0, c->n * sizeof(*s->spreads));
	memset(s->kinds, 0, c->n * words * sizeof(*s->kinds));
	pmfs_values_start(
		&values, s->model, (struct pm_values_of){PM_OF_CONTEXT, context, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		uint32_t column = pmfs_column_of(c, v->metric, false);
		double value = pmfs_value_number(v);
		if (v->thread < s->threads->n && column != PM_NONE && !isnan(value))
			pmfs_peers_add(s->peers, &s->spreads[column], s->kinds + column * words,
				value, v->thread);
	}
	for (uint32_t i = 0; i < c->n; i++)
		pmfs_peers_complete(s->peers, &s->spreads[i], s->kinds + i * words);
	return r;
}

int pmfs_imbalance_read(struct pmfs_imbalance *s, uint32_t context, struct pm_error *err)
{
	uint32_t n = s->columns->n;
	int r = 0;
	if (s->all)
		spreads_of(s->all, s->peers, context, n, s->spreads);
	else
		r = read_context(s, context, err);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		if (s->spreads[i].n > 0)
			return 1;
	return r;
}

/* ---- of functions ---- */

enum { BETWEEN_QUESTIONS = 1024 /* functions */ };

/* A function of one thread. */
struct lot {
	uint32_t row; /* of functions.csv */
	bool works;   /* it has a value of the leading column */
	double work;
};

/* The functions of one thread. */
struct lots {
	struct pm_arena arena;
	const struct pmfs_functions *functions;
	struct pm_map index; /* row of functions.csv → index in lots */
	struct lot *lots;
	size_t room;
	struct pmfs_sums sums; /* of each */
};

struct summing {
	struct pmfs_model *model;
	struct pmfs_model *unfiltered; /* or NULL */
	const struct pmfs_functions *functions;
	const struct pmfs_peers *peers;
	struct pmfs_function_imbalance *ret;
	struct work_sum *work; /* by row */
	uint8_t *has;          /* by column: the thread at hand has a cost of its quantity */
	uint32_t *n_peers;     /* by column: threads with a cost of its quantity */
	uint8_t *ranks;        /* by rank: one of them has a cost of the leading quantity */
};

static uint32_t lot_of(struct lots *l, uint32_t row)
{
	bool is_new;
	uint32_t index = *pm_map_put(&l->index, row, l->sums.n, &is_new);
	if (is_new) {
		pm_list_grow(&l->arena, &l->lots, l->sums.n, &l->room, sizeof(*l->lots));
		l->lots[l->sums.n] = (struct lot){.row = row};
		pmfs_sums_row(&l->sums);
	}
	return index;
}

static void add_context(void *self, uint32_t context, const pm_number *cells)
{
	struct lots *l = self;
	const struct pmfs_functions *f = l->functions;
	struct pmfs_share share = pmfs_function_share(f->identity, context);
	uint32_t row = f->row[share.row];
	uint32_t above = share.above == PM_NONE ? PM_NONE : f->row[share.above];
	if (row == PM_NONE)
		return;
	share.row = lot_of(l, row);
	share.above = above == PM_NONE ? PM_NONE : lot_of(l, above);
	pmfs_share_costs(f->columns, l->sums.cells, NULL, &share, cells);
}

static void make_lots(
	struct pm_arena *a, void *self, uint32_t i, void *result, struct pm_error *err)
{
	const struct summing *s = self;
	const struct pmfs_functions *f = s->functions;
	struct lots *l = result;
	struct work_costs costs = {.n = 0};
	uint32_t thread = s->peers->by_rank[i];
	l->functions = f;
	l->index.arena = a;
	l->sums = (struct pmfs_sums){.arena = a, .columns = f->columns};
	pmfs_values_by_context(a, s->model, thread, add_context, l, err);
	/* The work of a function is that of its outermost calls. */
	read_work_costs(a, s->model, thread, &costs, err);
	for (size_t k = 0; k < costs.n; k++) {
		struct pmfs_share share = pmfs_function_share(f->identity, costs.items[k].context);
		uint32_t row = share.counts && share.outer ? f->row[share.row] : PM_NONE;
		if (row == PM_NONE)
			continue;
		struct lot *lot = &l->lots[lot_of(l, row)];
		lot->works = true;
		lot->work += pmfs_is_waiting(f->category[f->function[row]]) ? costs.items[k].value
									    : costs.items[k].work;
	}
	pm_arena_free(a, costs.items);
}

/* The thread has costs of the quantities of s->has. */
static void count_peer(struct summing *s, uint32_t thread)
{
	uint32_t leading = pmfs_leading_column(s->functions->columns);
	for (uint32_t j = 0; j < s->functions->columns->n; j++)
		s->n_peers[j] += s->has[j];
	if (leading != PM_NONE && s->has[leading] && s->peers->rank[thread] != PM_NONE)
		s->ranks[s->peers->rank[thread]] = 1;
}

static void take_lots(void *self, uint32_t i, const void *result)
{
	struct summing *s = self;
	const struct lots *l = result;
	uint32_t thread = s->peers->by_rank[i], n = s->functions->columns->n;
	const struct pmfs_columns *c = s->functions->columns;
	memset(s->has, 0, n);
	for (size_t k = 0; k < l->sums.n; k++) {
		const struct lot *lot = &l->lots[k];
		for (uint32_t j = 0; j < n; j++) {
			double cell = l->sums.cells[k * n + j];
			if (isnan(cell))
				continue;
			s->has[j] = 1;
			if (c->columns[j].pair != PM_NONE)
				s->has[c->columns[j].pair] = 1;
			pmfs_spread_add(&s->ret->spreads[(size_t)lot->row * n + j], cell, thread);
		}
		if (lot->works)
			work_add(s->peers, &s->work[lot->row], NULL, thread, lot->work);
	}
	if (!s->unfiltered)
		count_peer(s, thread);
}

/* Who could have done what a filter shows, does not depend on the filter. */
static void count_unfiltered(struct pm_arena *scratch, struct summing *s)
{
	uint32_t n = s->functions->columns->n;
	pm_number *totals = pmfs_cells_new(scratch, n);
	for (uint32_t i = 0; i < s->peers->n_threads; i++) {
		uint32_t thread = s->peers->by_rank[i];
		int r = pmfs_thread_totals(s->unfiltered, thread, totals, NULL);
		if (pmfs_is_unreadable(r))
			continue;
		pm_build_check(scratch, r);
		for (uint32_t j = 0; j < n; j++)
			s->has[j] = !isnan(totals[j]);
		count_peer(s, thread);
	}
}

static void build_imbalance(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct pmfs_function_imbalance *ret = p;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct summing s = {.model = m, .ret = ret};
	pm_build_check(a, pmfs_functions(m, &s.functions, err));
	pm_build_check(a, pmfs_peers(m, &s.peers, err));
	pm_build_check(a, pmfs_model_whole(m, &s.unfiltered, err));
	const struct pmfs_columns *columns = s.functions->columns, *whole = columns;
	if (s.unfiltered)
		pm_build_check(a, pmfs_model_columns(s.unfiltered, &whole, err));
	if (whole->n != columns->n)
		s.unfiltered = NULL;
	size_t n = s.functions->n, n_columns = columns->n;
	uint32_t leading = pmfs_leading_column(columns), n_ranks = 0;
	ret->functions = s.functions;
	ret->peers = s.peers;
	ret->spreads = pm_arena_array(a, n * n_columns + 1, sizeof(*ret->spreads));
	ret->work = pm_arena_array(a, n + 1, sizeof(*ret->work));
	s.work = pm_arena_array(scratch, n + 1, sizeof(*s.work));
	s.has = pm_arena_alloc(scratch, n_columns + 1);
	s.n_peers = pm_arena_array(scratch, n_columns + 1, sizeof(*s.n_peers));
	s.ranks = pm_arena_alloc(scratch, (size_t)s.peers->n_ranks + 1);
	pmfs_read_all_threads(a,
		&(struct pmfs_all_threads){
			s.peers->n_threads, sizeof(struct lots), make_lots, take_lots, &s},
		err);
	if (s.unfiltered)
		count_unfiltered(scratch, &s);
	for (uint32_t i = 0; i < s.peers->n_ranks; i++)
		n_ranks += s.ranks[i];
	for (uint32_t i = 0; i < n; i++) {
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(a);
		for (uint32_t j = 0; j < n_columns; j++)
			pmfs_spread_extend(&ret->spreads[i * n_columns + j], s.n_peers[j]);
		ret->work[i] = work_of(
			s.peers, &s.work[i], leading == PM_NONE ? 0 : s.n_peers[leading], n_ranks);
	}
	pm_arena_done(scratch);
}

int pmfs_function_imbalance(
	struct pmfs_model *m, const struct pmfs_function_imbalance **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_function_imbalance),
		.what = "the spreads of functions over threads", .build = build_imbalance};
	return pmfs_model_part(m, PMFS_PART_FUNCTION_IMBALANCE, &type, ret, err);
}

/* ---- the contexts with the worst ---- */

/* Chains are looked at until as many are found as are wanted, but not more than this. */
enum { MOST_CHAINS = 64 };

struct choosing {
	struct pm_arena arena;
	struct pmfs_model *model;
	double least;
	bool waiting;
	struct pmfs_worst_list *ret;
	struct pm_error *err;
	/* Contexts that may be listed, in pre-order: */
	const struct pm_tree *tree;
	uint32_t n;
	uint32_t *context;
	pm_number *lost;
	bool *told; /* its chain is in the list */
};

static void find_candidates(struct choosing *c)
{
	struct pm_arena *a = &c->arena;
	const struct pmfs_work *work = c->ret->work;
	const struct pmfs_identity *identity;
	const struct pmfs_columns *columns;
	const uint8_t *categories;
	pm_build_check(a, pmfs_identity(c->model, &identity, c->err));
	pm_build_check(a, pmfs_model_columns(c->model, &columns, c->err));
	pm_build_check(a, pmfs_categories(c->model, &categories, c->err));
	pm_number *cells = pmfs_cells_new(a, columns->n);
	for (uint32_t i = 0; i < c->tree->n_contexts; i++) {
		pm_build_check(a, pmfs_run_cells(c->model, i, false, cells, c->err));
		if (!(cells[pmfs_leading_column(columns)] >= c->least)) {
			i = c->tree->end[i] - 1;
			continue;
		}
		double lost = work[i].max - work[i].mean;
		if (!(lost > c->least * 1e-3) || work[i].peers < 2 || !pmfs_is_call(identity, i) ||
			pmfs_is_waiting(categories[i]) != c->waiting)
			continue;
		c->context[c->n] = i;
		c->lost[c->n++] = lost;
	}
}

/* The deepest of those from `top` on down that lose at least 90 % of what it does. */
static uint32_t deepest_of(const struct choosing *c, uint32_t top)
{
	uint32_t best = top, end = c->tree->end[c->context[top]];
	for (uint32_t i = top + 1; i < c->n && c->context[i] < end; i++) {
		uint32_t depth = c->tree->depth[c->context[i]];
		uint32_t deepest = c->tree->depth[c->context[best]];
		if (c->lost[i] >= 0.9 * c->lost[top] &&
			(depth > deepest || (depth == deepest && c->lost[i] > c->lost[best])))
			best = i;
	}
	return best;
}

static void choose(void *context)
{
	struct choosing *c = context;
	struct pmfs_worst_list *ret = c->ret;
	size_t n = (size_t)c->tree->n_contexts + 1;
	uint32_t chains = 0;
	c->context = pm_arena_array(&c->arena, n, sizeof(*c->context));
	c->lost = pm_arena_array(&c->arena, n, sizeof(*c->lost));
	c->told = pm_arena_array(&c->arena, n, sizeof(*c->told));
	find_candidates(c);
	const uint32_t *order = pmfs_order(&c->arena, c->lost, c->n, 1, 0);
	for (uint32_t k = 0; k < c->n && ret->n < PMFS_N_WORST && chains < MOST_CHAINS; k++) {
		if (c->told[order[k]])
			continue;
		uint32_t top = order[k], last = deepest_of(c, top);
		chains++;
		if (!c->told[last])
			ret->contexts[ret->n++] = c->context[last];
		for (uint32_t i = top; i <= last; i++)
			c->told[i] |= c->context[last] < c->tree->end[c->context[i]];
	}
}

int pmfs_worst_imbalances(struct pmfs_model *m, double whole, bool waiting,
	struct pmfs_worst_list *ret, struct pm_error *err)
{
	struct choosing c = {
		.model = m, .least = whole / 100, .waiting = waiting, .ret = ret, .err = err};
	const struct pm_threads *threads;
	const struct pmfs_columns *columns;
	*ret = (struct pmfs_worst_list){.n = 0};
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0 || (r = pmfs_model_threads(m, &threads, err)) < 0 ||
		threads->n - threads->n_lanes < 2 || columns->n == 0 || !(whole > 0))
		return r;
	if ((r = pmfs_model_tree(m, &c.tree, err)) < 0 || (r = pmfs_works(m, &ret->work, err)) < 0)
		return r;
	r = pm_build(&c.arena, choose, &c);
	pm_arena_done(&c.arena);
	return r < 0 ? pm_error_plain(err, r) : 0;
}
