/* The distribution of costs over threads. */
#include "fs/views/sums/imbalance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/groups.h"
#include "fs/views/sums/threads.h"

/*
 * ---- of all contexts at once ----
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

static int make_costs(void *self, uint32_t i, void *result, struct pm_error *err)
{
	const struct adding *a = self;
	struct pmfs_values values;
	const struct pm_value *v;
	int r;
	pmfs_values_start(&values, a->model, (struct pm_values_of){PM_OF_THREAD, i, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values))
		if (keep(a, v, result) < 0)
			return pmfs_no_memory(err);
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

static int take_costs(void *self, uint32_t i, void *result)
{
	struct adding *a = self;
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

static int spreads_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct pmfs_spreads *all = p;
	struct adding a = {.model = m, .all = all};
	const struct pm_threads *threads;
	int r = pmfs_model_tree(m, &a.tree, err);
	if (r == 0)
		r = pmfs_model_columns(m, &a.columns, err);
	if (r == 0)
		r = pmfs_model_threads(m, &threads, err);
	if (r == 0)
		r = pmfs_peers(m, &a.peers, err);
	if (r < 0)
		return r;
	const struct pmfs_all_threads every = {
		threads->n, sizeof(struct costs), make_costs, take_costs, drop_costs, &a};
	r = make_room(&a) ? pmfs_read_all_threads(&every, err) : pmfs_no_memory(err);
	pm_map_done(&a.indexes);
	if (r == 0 && pm_sort(all->alone, all->n_alone, sizeof(*all->alone), by_place) < 0)
		r = pmfs_no_memory(err);
	return r;
}

int pmfs_spreads(struct pmfs_model *m, const struct pmfs_spreads **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_spreads), spreads_fill,
		spreads_done, .what = "the spreads over threads"};
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
 * ---- of one context ----
 *
 * Load imbalance of contexts. Each column is compared over the threads with a value in it at
 * the context, and their peers: workers that never run main are not an imbalance of main. Uses
 * the population standard deviation.
 */

void pmfs_imbalance_free(struct pmfs_imbalance *s)
{
	if (!s)
		return;
	free(s->spreads);
	free(s->kinds);
	free(s);
}

int pmfs_imbalance_new(struct pmfs_model *m, struct pmfs_imbalance **ret, struct pm_error *err)
{
	struct pmfs_imbalance *s = calloc(1, sizeof(*s));
	if (!s)
		return pmfs_no_memory(err);
	s->model = m;
	int r = pmfs_model_tree(m, &s->tree, err);
	if (r == 0)
		r = pmfs_model_columns(m, &s->columns, err);
	if (r == 0)
		r = pmfs_model_threads(m, &s->threads, err);
	if (r == 0)
		r = pmfs_peers(m, &s->peers, err);
	if (r == 0) {
		size_t n = (size_t)s->columns->n + 1;
		s->spreads = calloc(n, sizeof(*s->spreads));
		s->kinds = calloc(n, (s->peers->n_words + 1) * sizeof(*s->kinds));
		if (!s->spreads || !s->kinds)
			r = pmfs_no_memory(err);
	}
	if (r == 0 && pmfs_model_profile(m)->costs_by_thread)
		r = pmfs_spreads(m, &s->all, err);
	if (r < 0) {
		pmfs_imbalance_free(s);
		return r;
	}
	*ret = s;
	return 0;
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

/* The functions of one thread. */
struct lot {
	uint32_t row; /* of functions.csv */
	bool works;   /* it has a value of the leading column */
	double work;
};

struct lots {
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
	struct pmfs_work_sum *work; /* by row */
	uint32_t *n_peers;          /* by column: threads with a cost of its quantity */
	uint8_t *ranks;             /* by rank: one of them has a cost of the leading quantity */
};

/* ---- one thread ---- */

static int lot_of(struct lots *l, uint32_t row, uint32_t *ret)
{
	bool is_new;
	uint32_t *index = pm_map_put(&l->index, row, l->sums.n, &is_new);
	if (!index)
		return -ENOMEM;
	*ret = *index;
	if (!is_new)
		return 0;
	if (pm_list_room(&l->lots, l->sums.n, &l->room, sizeof(*l->lots)) < 0)
		return -ENOMEM;
	l->lots[l->sums.n] = (struct lot){.row = row};
	return pmfs_sums_row(&l->sums, ret);
}

static int add_context(void *self, uint32_t context, const pm_number *cells)
{
	struct lots *l = self;
	const struct pmfs_functions *f = l->functions;
	struct pmfs_share share = pmfs_function_share(f->identity, context);
	uint32_t row = f->row[share.row];
	uint32_t above = share.above == PM_NONE ? PM_NONE : f->row[share.above];
	share.above = PM_NONE;
	if (row == PM_NONE)
		return 0;
	if (lot_of(l, row, &share.row) < 0 ||
		(above != PM_NONE && lot_of(l, above, &share.above) < 0))
		return -ENOMEM;
	pmfs_share_costs(f->columns, l->sums.cells, NULL, &share, cells);
	return 0;
}

/* The work of a function is that of its outermost calls. */
static int read_work(const struct summing *s, uint32_t thread, struct lots *l, struct pm_error *err)
{
	const struct pmfs_functions *f = s->functions;
	struct pmfs_work_costs costs = {.n = 0};
	int r = pmfs_work_costs(s->model, thread, &costs, err);
	for (size_t i = 0; r == 0 && i < costs.n; i++) {
		struct pmfs_share share = pmfs_function_share(f->identity, costs.items[i].context);
		uint32_t row = share.counts && share.outer ? f->row[share.row] : PM_NONE, at;
		if (row == PM_NONE)
			continue;
		if (lot_of(l, row, &at) < 0)
			r = pmfs_no_memory(err);
		else
			l->lots[at].works = true;
		bool waits = pmfs_is_waiting(f->category[f->function[row]]);
		if (r == 0)
			l->lots[at].work += waits ? costs.items[i].value : costs.items[i].work;
	}
	pmfs_work_costs_done(&costs);
	return r;
}

static int make_lots(void *self, uint32_t i, void *result, struct pm_error *err)
{
	const struct summing *s = self;
	struct lots *l = result;
	uint32_t thread = s->peers->by_rank[i];
	l->functions = s->functions;
	l->sums.columns = s->functions->columns;
	int r = pmfs_values_by_context(s->model, thread, add_context, l, err);
	return r < 0 ? r : read_work(s, thread, l, err);
}

/* ---- all of them ---- */

/* `has`: by column, the thread has a cost of its quantity. */
static void count_peer(struct summing *s, uint32_t thread, const uint8_t *has)
{
	uint32_t leading = pmfs_leading_column(s->functions->columns);
	for (uint32_t j = 0; j < s->functions->columns->n; j++)
		s->n_peers[j] += has[j];
	if (leading != PM_NONE && has[leading] && s->peers->rank[thread] != PM_NONE)
		s->ranks[s->peers->rank[thread]] = 1;
}

static int take_lots(void *self, uint32_t i, void *result)
{
	struct summing *s = self;
	struct lots *l = result;
	uint32_t thread = s->peers->by_rank[i], n = s->functions->columns->n;
	const struct pmfs_columns *c = s->functions->columns;
	uint8_t *has = calloc((size_t)n + 1, 1); /* by group: the thread has a value */
	if (!has)
		return -ENOMEM;
	for (size_t k = 0; k < l->sums.n; k++) {
		const struct lot *lot = &l->lots[k];
		for (uint32_t j = 0; j < n; j++) {
			double cell = l->sums.cells[k * n + j];
			if (isnan(cell))
				continue;
			has[j] = 1;
			if (c->columns[j].pair != PM_NONE)
				has[c->columns[j].pair] = 1;
			pmfs_spread_add(&s->ret->spreads[(size_t)lot->row * n + j], cell, thread);
		}
		if (lot->works)
			pmfs_work_add(s->peers, &s->work[lot->row], NULL, thread, lot->work);
	}
	if (!s->unfiltered)
		count_peer(s, thread, has);
	free(has);
	return 0;
}

/* Who could have done what a filter shows, does not depend on the filter. */
static int count_unfiltered(struct summing *s)
{
	uint32_t n = s->functions->columns->n;
	pm_number *totals = pmfs_cells_new(NULL, n);
	uint8_t *has = calloc((size_t)n + 1, 1);
	int r = totals && has ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < s->peers->n_threads; i++) {
		struct pm_error unused = {.offset = PM_NO_OFFSET};
		uint32_t thread = s->peers->by_rank[i];
		r = pmfs_thread_totals(s->unfiltered, thread, totals, &unused);
		for (uint32_t j = 0; r == 0 && j < n; j++)
			has[j] = !isnan(totals[j]);
		if (r == 0)
			count_peer(s, thread, has);
		else if (pmfs_is_unreadable(r))
			r = 0;
	}
	free(totals);
	free(has);
	return r;
}

static void drop_lots(void *result)
{
	struct lots *l = result;
	pm_map_done(&l->index);
	free(l->lots);
	pmfs_sums_done(&l->sums);
}

static int add_peers(struct summing *s)
{
	const struct pmfs_functions *f = s->functions;
	uint32_t n = f->columns->n, leading = pmfs_leading_column(f->columns), n_ranks = 0;
	for (uint32_t i = 0; i < s->peers->n_ranks; i++)
		n_ranks += s->ranks[i];
	for (uint32_t i = 0; i < f->n; i++) {
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		for (uint32_t j = 0; j < n; j++)
			pmfs_spread_extend(&s->ret->spreads[(size_t)i * n + j], s->n_peers[j]);
		s->ret->work[i] = pmfs_work_of(s->peers, &s->work[i],
			leading == PM_NONE ? 0 : s->n_peers[leading], n_ranks);
	}
	return 0;
}

static void imbalance_done(void *p)
{
	struct pmfs_function_imbalance *part = p;
	free(part->spreads);
	free(part->work);
}

static int imbalance_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_function_imbalance *ret = p;
	const struct pmfs_columns *columns;
	struct summing s = {.model = owner, .ret = ret};
	int r = pmfs_functions(owner, &s.functions, err);
	if (r < 0 || (r = pmfs_peers(owner, &s.peers, err)) < 0 ||
		(r = pmfs_model_whole(owner, &s.unfiltered, err)) < 0)
		return r;
	if (s.unfiltered && (r = pmfs_model_columns(s.unfiltered, &columns, err)) < 0)
		return r;
	if (s.unfiltered && columns->n != s.functions->columns->n)
		s.unfiltered = NULL;
	size_t n = (size_t)s.functions->n + 1, n_columns = s.functions->columns->n + (size_t)1;
	ret->functions = s.functions;
	ret->peers = s.peers;
	ret->spreads = calloc(n, n_columns * sizeof(*ret->spreads));
	ret->work = calloc(n, sizeof(*ret->work));
	s.work = calloc(n, sizeof(*s.work));
	s.n_peers = calloc(n_columns, sizeof(*s.n_peers));
	s.ranks = calloc((size_t)s.peers->n_ranks + 1, 1);
	const struct pmfs_all_threads all = {
		s.peers->n_threads, sizeof(struct lots), make_lots, take_lots, drop_lots, &s};
	bool enough = ret->spreads && ret->work && s.work && s.n_peers && s.ranks;
	r = enough ? pmfs_read_all_threads(&all, err) : pmfs_no_memory(err);
	if (r == 0 && ((s.unfiltered && count_unfiltered(&s) < 0) || add_peers(&s) < 0))
		r = pmfs_no_memory(err);
	free(s.work);
	free(s.n_peers);
	free(s.ranks);
	return r;
}

int pmfs_function_imbalance(
	struct pmfs_model *m, const struct pmfs_function_imbalance **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_function_imbalance),
		imbalance_fill, imbalance_done, .what = "the spreads of functions over threads"};
	return pmfs_model_part(m, PMFS_PART_FUNCTION_IMBALANCE, &type, ret, err);
}

/* ---- the contexts with the worst ---- */

/* Chains are looked at until as many are found as are wanted, but not more than this. */
enum { MOST_CHAINS = 64 };

/* Contexts that may be listed, in pre-order. */
struct candidates {
	const struct pm_tree *tree;
	uint32_t n;
	uint32_t *context;
	pm_number *lost;
	bool *told; /* its chain is in the list */
};

static int find_candidates(struct candidates *c, struct pmfs_model *m, double least, bool waiting,
	const struct pmfs_work *work, struct pm_error *err)
{
	const struct pmfs_identity *identity;
	const struct pmfs_columns *columns;
	const uint8_t *categories;
	int r = pmfs_identity(m, &identity, err);
	if (r < 0 || (r = pmfs_model_columns(m, &columns, err)) < 0 ||
		(r = pmfs_categories(m, &categories, err)) < 0)
		return r;
	pm_number *cells = pmfs_cells_new(NULL, columns->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < c->tree->n_contexts; i++) {
		r = pmfs_run_cells(m, i, false, cells, err);
		if (!(cells[pmfs_leading_column(columns)] >= least)) {
			i = c->tree->end[i] - 1;
			continue;
		}
		double lost = work[i].max - work[i].mean;
		if (!(lost > least * 1e-3) || work[i].peers < 2 || !pmfs_is_call(identity, i) ||
			pmfs_is_waiting(categories[i]) != waiting)
			continue;
		c->context[c->n] = i;
		c->lost[c->n++] = lost;
	}
	free(cells);
	return r;
}

/* The deepest of those from `top` on down that lose at least 90 % of what it does. */
static uint32_t deepest_of(const struct candidates *c, uint32_t top)
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

static void choose(struct candidates *c, const uint32_t *order, struct pmfs_worst_list *ret)
{
	uint32_t chains = 0;
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
	struct candidates c = {.n = 0};
	const struct pm_threads *threads;
	const struct pmfs_columns *columns;
	*ret = (struct pmfs_worst_list){.n = 0};
	int r = pmfs_model_columns(m, &columns, err);
	if (r < 0 || (r = pmfs_model_threads(m, &threads, err)) < 0 ||
		threads->n - threads->n_lanes < 2 || columns->n == 0 || !(whole > 0))
		return r;
	if ((r = pmfs_model_tree(m, &c.tree, err)) < 0 || (r = pmfs_works(m, &ret->work, err)) < 0)
		return r;
	size_t n = (size_t)c.tree->n_contexts + 1;
	c.context = malloc(n * sizeof(*c.context));
	c.lost = malloc(n * sizeof(*c.lost));
	c.told = calloc(n, sizeof(*c.told));
	r = c.context && c.lost && c.told
		? find_candidates(&c, m, whole / 100, waiting, ret->work, err)
		: pmfs_no_memory(err);
	uint32_t *order = r == 0 ? pmfs_order(NULL, c.lost, c.n, 1, 0) : NULL;
	if (order)
		choose(&c, order, ret);
	else if (r == 0)
		r = pmfs_no_memory(err);
	free(order);
	free(c.context);
	free(c.lost);
	free(c.told);
	return r;
}
