#include "fs/views/sums/functionimbalance.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/pipeline.h"
#include "formats/common/work.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/groups.h"
#include "fs/views/sums/threads.h"

enum { MOST_AHEAD = 8 /* threads */, BETWEEN_QUESTIONS = 1024 /* functions */ };

/* The functions of one thread. */
struct lot {
	uint32_t row; /* of functions.csv */
	bool works;   /* it has a value of the leading column */
	double work;
};

struct lots {
	struct pm_map index; /* row of functions.csv → index in lots */
	struct lot *lots;
	double *cells; /* the columns of each */
	size_t n, room, room_cells;
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
	pthread_mutex_t lock;       /* of err */
	struct pm_error *err;
};

/* ---- one thread ---- */

static int lot_of(struct lots *l, uint32_t row, uint32_t n_columns, uint32_t *ret)
{
	bool is_new;
	uint32_t *index = pm_map_put(&l->index, row, (uint32_t)l->n, &is_new);
	if (!index)
		return -ENOMEM;
	*ret = *index;
	if (!is_new)
		return 0;
	if (pm_list_room(&l->lots, l->n, &l->room, sizeof(*l->lots)) < 0 ||
		pm_list_room(&l->cells, l->n, &l->room_cells,
			(n_columns ? n_columns : 1) * sizeof(*l->cells)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_columns; i++)
		l->cells[l->n * n_columns + i] = NAN;
	l->lots[l->n++] = (struct lot){.row = row};
	return 0;
}

static int add_context(const struct summing *s, struct lots *l, uint32_t context, double *cells)
{
	const struct pmfs_functions *f = s->functions;
	struct pmfs_share share = pmfs_function_share(f->identity, context);
	uint32_t row = f->row[share.row], n = f->columns->n;
	uint32_t above = share.above == PM_NONE ? PM_NONE : f->row[share.above];
	int r = row == PM_NONE ? 0 : lot_of(l, row, n, &share.row);
	share.above = PM_NONE;
	if (r == 0 && row != PM_NONE && above != PM_NONE)
		r = lot_of(l, above, n, &share.above);
	if (r == 0 && row != PM_NONE)
		pmfs_share_costs(f->columns, l->cells, NULL, &share, cells);
	for (uint32_t i = 0; i < n; i++)
		cells[i] = NAN;
	return r;
}

/* Values of one context come one after the other. */
static int read_cells(
	const struct summing *s, uint32_t thread, struct lots *l, struct pm_error *err)
{
	const struct pmfs_columns *c = s->functions->columns;
	struct pmfs_values values;
	const struct pm_value *v;
	uint64_t number = PM_NO_TIME;
	uint32_t context = PM_NONE;
	double *cells = pmfs_cells_new(c->n);
	int r = cells ? 0 : pmfs_no_memory(err);
	pmfs_values_start(&values, s->model, (struct pm_values_of){PM_OF_THREAD, thread, false}, 0);
	for (; r >= 0 && (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		if (v->context != number) {
			if (context != PM_NONE && add_context(s, l, context, cells) < 0)
				r = pmfs_no_memory(err);
			number = v->context;
			context = pm_tree_find(s->functions->tree, number);
		}
		uint32_t column = pmfs_column_of(c, v->metric, true);
		if (column != PM_NONE && context != PM_NONE)
			pmfs_add(&cells[column], pmfs_value_number(v));
	}
	if (r == 0 && context != PM_NONE && add_context(s, l, context, cells) < 0)
		r = pmfs_no_memory(err);
	free(cells);
	return r;
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
		if (lot_of(l, row, f->columns->n, &at) < 0)
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

static int make_lots(void *context, uint32_t i, void *result)
{
	struct summing *s = context;
	struct lots *l = result;
	struct pm_error why = {.offset = PM_NO_OFFSET};
	uint32_t thread = s->peers->by_rank[i];
	int r = read_cells(s, thread, l, &why);
	if (r == 0)
		r = read_work(s, thread, l, &why);
	if (pmfs_is_unreadable(r)) {
		l->n = 0;
		return 0;
	}
	if (r < 0) {
		pthread_mutex_lock(&s->lock);
		pm_error_set(s->err, r, why.file, why.offset, "%s", why.text);
		pthread_mutex_unlock(&s->lock);
	}
	return r;
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

static int take_lots(void *context, uint32_t i, void *result)
{
	struct summing *s = context;
	struct lots *l = result;
	uint32_t thread = s->peers->by_rank[i], n = s->functions->columns->n;
	const struct pmfs_columns *c = s->functions->columns;
	uint8_t *has = calloc((size_t)n + 1, 1); /* by group: the thread has a value */
	if (!has)
		return -ENOMEM;
	for (size_t k = 0; k < l->n; k++) {
		const struct lot *lot = &l->lots[k];
		for (uint32_t j = 0; j < n; j++) {
			double cell = l->cells[k * n + j];
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
	double *totals = pmfs_cells_new(n);
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
	free(l->cells);
}

static uint64_t weigh_lots(void *context, uint32_t i)
{
	(void)context;
	(void)i;
	return 1;
}

static int add_peers(struct summing *s)
{
	const struct pmfs_functions *f = s->functions;
	uint32_t n = f->columns->n, leading = pmfs_leading_column(f->columns), n_ranks = 0;
	for (uint32_t i = 0; i < s->peers->n_ranks; i++)
		n_ranks += s->ranks[i];
	for (uint32_t i = 0; i < f->n; i++) {
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return -ENOMEM;
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
	struct pm_error why = {.offset = PM_NO_OFFSET};
	const struct pmfs_columns *columns;
	struct summing s = {.model = owner,
		.ret = ret,
		.err = err ? err : &why,
		.lock = PTHREAD_MUTEX_INITIALIZER};
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
	struct pm_pipeline pipeline = {.n = s.peers->n_threads,
		.size = sizeof(struct lots),
		.make = make_lots,
		.take = take_lots,
		.drop = drop_lots,
		.weigh = weigh_lots,
		.most = MOST_AHEAD,
		.context = &s};
	bool enough = ret->spreads && ret->work && s.work && s.n_peers && s.ranks;
	r = enough ? pm_pipeline_run(&pipeline) : -ENOMEM;
	if (r == 0 && s.unfiltered)
		r = count_unfiltered(&s);
	if (r == 0)
		r = add_peers(&s);
	free(s.work);
	free(s.n_peers);
	free(s.ranks);
	return r < 0 && !s.err->code ? pmfs_no_memory(err) : r;
}

int pmfs_function_imbalance(
	struct pmfs_model *m, const struct pmfs_function_imbalance **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_function_imbalance),
		imbalance_fill, imbalance_done, .what = "the spreads of functions over threads"};
	return pmfs_model_part(m, PMFS_PART_FUNCTION_IMBALANCE, &type, ret, err);
}
