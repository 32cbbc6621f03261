#include "fs/windows/gather.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"

/* A context on the current thread, and its ancestors. */
struct lot {
	uint32_t context;
	uint64_t calls;
	pm_sum incl, excl;
	pm_sum lent;             /* inclusive time of calls that have none of their own */
	pm_sum part[PM_N_TIMES]; /* of incl, whose time it is */
};

struct gathering {
	const struct pm_tree *whole;
	const struct pmfs_index *index;
	struct pm_callcosts *costs;
	bool samples;
	struct lot *lots;
	size_t n, room;
	uint32_t *place;    /* by context: index in lots, for the current thread */
	enum pm_time leads; /* whose time is primary */
	double *weight;     /* by context: that time, inclusive */
	bool *kept;         /* by context */
	uint32_t nothing;   /* the frame of the context in which nothing runs, or PM_NONE */
	pm_sum idle;        /* its time on the current thread */
	bool was_idle;      /* on any of them */
};

/* The lots of a context and of its ancestors. */
static int lot_add(struct gathering *g, uint32_t context)
{
	for (; context != PM_NONE && g->place[context] == PM_NONE;
		context = g->whole->parent[context]) {
		if (pm_list_room(&g->lots, g->n, &g->room, sizeof(*g->lots)) < 0)
			return -ENOMEM;
		g->place[context] = (uint32_t)g->n;
		g->lots[g->n++] = (struct lot){.context = context};
	}
	return 0;
}

static int by_context(const void *a, const void *b)
{
	const struct lot *x = a, *y = b;
	return (x->context > y->context) - (x->context < y->context);
}

/* Lines and loops are parts of the call above, which has their time: what they cost is below. */
static bool is_part(const struct gathering *g, uint32_t context)
{
	uint8_t kind = pm_tree_frame(g->whole, context)->kind;
	return kind == PM_KIND_LINE || kind == PM_KIND_LOOP;
}

/* In pre-order, a context comes after its ancestors. */
static int lots_sum(struct gathering *g)
{
	int r = pm_sort(g->lots, g->n, sizeof(*g->lots), by_context);
	if (r < 0)
		return r;
	for (size_t i = 0; i < g->n; i++)
		g->place[g->lots[i].context] = (uint32_t)i;
	for (size_t i = g->n; i-- > 0;) {
		struct lot *lot = &g->lots[i];
		uint32_t parent = g->whole->parent[lot->context];
		struct lot *above = parent == PM_NONE ? NULL : &g->lots[g->place[parent]];
		if (g->samples)
			lot->calls += (uint64_t)lot->excl;
		lot->incl += lot->lent;
		lot->excl += lot->lent;
		if (!above)
			continue;
		above->lent += lot->lent;
		if (g->samples || is_part(g, parent))
			above->incl += lot->incl;
		if (!g->samples && !is_part(g, parent))
			above->excl -= lot->incl;
		if (g->samples && pm_tree_frame(g->whole, lot->context)->nested)
			above->calls += lot->calls;
	}
	return 0;
}

/* The sibling order is that of the primary quantity. */
static int add_cost(struct gathering *g, const struct pm_callcost *cost)
{
	if (cost->time == g->leads)
		g->weight[cost->context] += (double)cost->incl;
	return pm_callcosts_add(g->costs, cost);
}

/* A cost of its own time, and one of each other that calls below it have. */
static int lot_take(struct gathering *g, uint32_t thread, uint32_t of, struct lot *lot)
{
	const struct pm_frame *frame = pm_tree_frame(g->whole, lot->context);
	uint32_t parent = g->whole->parent[lot->context];
	unsigned own = pmfs_index_time(g->index, of, frame);
	lot->part[own] += lot->excl;
	for (unsigned i = 0; i < PM_N_TIMES; i++) {
		struct pm_callcost cost = {thread, lot->context, 0, lot->part[i], 0, (uint8_t)i};
		if (parent != PM_NONE)
			g->lots[g->place[parent]].part[i] += lot->part[i];
		if (i == own) {
			cost.calls = lot->calls;
			cost.excl = lot->excl;
		}
		if ((i == own || lot->part[i] != 0) && add_cost(g, &cost) < 0)
			return -ENOMEM;
	}
	g->kept[lot->context] = true;
	return 0;
}

static int lots_take(struct gathering *g, uint32_t thread, uint32_t of)
{
	static const struct pm_frame none;
	uint32_t n = g->whole->n_contexts;
	uint8_t time = (uint8_t)pmfs_index_time(g->index, of, &none);
	if (g->idle > 0 && g->nothing != PM_NONE) {
		if (add_cost(g,
			    &(struct pm_callcost){
				    thread, n, (uint64_t)g->idle, g->idle, g->idle, time}) < 0)
			return -ENOMEM;
		g->was_idle = true;
	}
	g->idle = 0;
	for (size_t i = g->n; i-- > 0;)
		if (lot_take(g, thread, of, &g->lots[i]) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < g->n; i++)
		g->place[g->lots[i].context] = PM_NONE;
	g->n = 0;
	return 0;
}

/* Without costs: the samples of the context have it all the same. */
static void keep(struct gathering *g, uint32_t context)
{
	for (; context != PM_NONE && !g->kept[context]; context = g->whole->parent[context])
		g->kept[context] = true;
}

/* 1 and the lot of the context, 0 if the run's tree lacks it or nothing runs, or -ENOMEM. */
static int lot_of(struct gathering *g, const struct pmfs_tallied *item, struct lot **ret)
{
	uint32_t context = pm_tree_find(g->whole, item->context);
	if (item->context == 0 && g->samples)
		g->idle += item->ns;
	if (context == PM_NONE)
		return 0;
	if (pm_tree_frame(g->whole, context)->is_nothing) {
		g->idle += item->ns;
		keep(g, context);
		return 0;
	}
	if (lot_add(g, context) < 0)
		return -ENOMEM;
	*ret = &g->lots[g->place[context]];
	return 1;
}

static int thread_take(
	struct gathering *g, uint32_t thread, uint32_t of, const struct pmfs_cut *cut)
{
	const struct pmfs_tally *t = &cut->tally;
	struct lot *lot;
	int r = 0;
	for (size_t i = 0; r >= 0 && i < t->n; i++) {
		r = lot_of(g, &t->items[i], &lot);
		if (r <= 0)
			continue;
		lot->calls += g->samples ? 0 : t->items[i].calls;
		lot->incl += t->items[i].ns;
		lot->excl += t->items[i].ns;
	}
	t = &cut->lent;
	for (size_t i = 0; r >= 0 && i < t->n; i++)
		if ((r = lot_of(g, &t->items[i], &lot)) > 0)
			lot->lent += t->items[i].ns;
	if (r >= 0)
		r = lots_sum(g);
	return r < 0 ? r : lots_take(g, thread, of);
}

/* Maps contexts of the whole tree to the new tree. */
static int freeze(
	struct gathering *g, uint32_t n_threads, struct pm_tree **ret, struct pm_error *err)
{
	uint32_t *from = NULL, *index = g->place;
	const struct pm_tree_extra idle = {
		g->was_idle ? g->nothing : PM_NONE, g->weight[g->whole->n_contexts]};
	int r = pm_tree_prune(g->whole, g->weight, g->kept, &idle, ret, &from, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < (*ret)->n_contexts; i++)
		index[from[i]] = i;
	free(from);
	r = pm_callcosts_freeze(g->costs, index, n_threads, (*ret)->n_contexts);
	if (r < 0) {
		pm_tree_free(*ret);
		*ret = NULL;
		return pm_error_plain(err, r);
	}
	return 0;
}

int pmfs_gather(const struct pmfs_gathered *from, struct pm_tree **ret,
	struct pm_callcosts *ret_costs, struct pm_error *err)
{
	size_t n_contexts = (size_t)from->whole->n_contexts + 1;
	struct gathering g = {.whole = from->whole,
		.index = from->index,
		.costs = ret_costs,
		.samples = !from->index->profile->traces_are_calls,
		.place = malloc(n_contexts * sizeof(*g.place)),
		.weight = calloc(n_contexts, sizeof(*g.weight)),
		.kept = calloc(n_contexts, sizeof(*g.kept)),
		.nothing = PM_NONE};
	ret_costs->counted = !g.samples;
	pmfs_index_times(from->index, from->first, from->n, &g.leads);
	int r = g.place && g.weight && g.kept ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < n_contexts; i++)
		g.place[i] = PM_NONE;
	for (uint32_t i = 0; g.samples && g.nothing == PM_NONE && i < g.whole->n_frames; i++)
		if (g.whole->frames[i].is_nothing)
			g.nothing = i;
	for (uint32_t i = 0; r == 0 && i < from->n; i++)
		r = thread_take(&g, i, from->first + i, &from->cuts[i]);
	r = r < 0 ? pm_error_plain(err, r) : freeze(&g, from->n, ret, err);
	free(g.lots);
	free(g.place);
	free(g.weight);
	free(g.kept);
	return r;
}
