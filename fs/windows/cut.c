/*
 * The part of each trace that lies in a window: which blocks and records, what they add up to,
 * and the tree of the contexts that ran.
 */
#include "fs/windows/internal.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"

/* ---- spans ---- */

/* Clips a sample or call to the span; false if nothing of it is inside. */
static bool span_clip(const struct pmfs_span *span, const struct pm_sample *s, uint64_t *ret_start,
	uint64_t *ret_duration)
{
	uint64_t end = pmfs_sample_end(s);
	uint64_t from = s->time_ns > span->start ? s->time_ns : span->start;
	uint64_t to = end < span->end ? end : span->end;
	*ret_start = from;
	*ret_duration = to > from ? to - from : 0;
	return to > from || pmfs_span_has_begin(span, s->time_ns);
}

int pmfs_run_length(
	const struct pm_profile *p, uint64_t *ret_origin, uint64_t *ret_ns, struct pm_error *err)
{
	int r = pm_profile_span(p, ret_origin, ret_ns, err);
	if (*ret_origin == PM_NO_TIME)
		*ret_ns = PM_NO_TIME;
	return r;
}

struct cutting {
	struct pmfs_cut *cut;
	const struct pmfs_index *x;
	uint32_t thread;
	const struct pmfs_span *span;
	const struct pm_tree *tree;
	bool calls;
};

/* ---- blocks ---- */

enum where { OUTSIDE, INSIDE, AT_THE_EDGE };

/* An end of UINT64_MAX may be any beyond it. */
static enum where where_is(const struct pmfs_span *span, const struct pmfs_cover *c)
{
	bool after = c->first > span->end || (c->first == span->end && !span->is_last);
	if (after || (c->end <= span->start && c->last < span->start))
		return OUTSIDE;
	bool all_begin = c->first >= span->start && pmfs_span_has_begin(span, c->last);
	bool all_end = c->end <= span->end && c->end < UINT64_MAX;
	return all_begin && all_end ? INSIDE : AT_THE_EDGE;
}

static int add_stretch(struct pmfs_cut *cut, uint64_t at, uint64_t n, bool whole)
{
	struct pmfs_stretch *last = cut->n_stretches ? &cut->stretches[cut->n_stretches - 1] : NULL;
	if (n == 0)
		return 0;
	if (!last || !whole || !last->whole || last->at + (cut->n - last->row) != at) {
		if (pm_list_room(&cut->stretches, cut->n_stretches, &cut->room,
			    sizeof(*cut->stretches)) < 0)
			return -ENOMEM;
		cut->stretches[cut->n_stretches++] =
			(struct pmfs_stretch){.row = cut->n, .at = at, .whole = whole};
	}
	cut->n += n;
	return 0;
}

static int lend(struct cutting *c, const struct pm_sample *s, uint64_t ns)
{
	uint32_t context = pm_tree_find(c->tree, s->context);
	uint32_t caller = context == PM_NONE ? PM_NONE : c->tree->parent[context];
	if (ns == 0 || caller == PM_NONE)
		return 0;
	int r = pmfs_tally_add(&c->cut->lent, pm_tree_number(c->tree, caller), ns, 0);
	return r < 0 ? r : pmfs_tally_add(&c->cut->lent, s->within, -(pm_sum)ns, 0);
}

static int take(void *context, const struct pm_sample *samples, size_t n)
{
	struct cutting *c = context;
	for (size_t i = 0; i < n; i++) {
		const struct pm_sample *s = &samples[i];
		uint64_t start, ns;
		if (!span_clip(c->span, s, &start, &ns))
			continue;
		bool begins = c->calls && pmfs_span_has_begin(c->span, s->time_ns);
		if (pmfs_tally_add(&c->cut->tally, s->context, ns, begins) < 0)
			return -ENOMEM;
		if (s->within && lend(c, s, ns) < 0)
			return -ENOMEM;
		c->cut->end = start + ns > c->cut->end ? start + ns : c->cut->end;
		c->cut->n++;
	}
	return 0;
}

/* Reads records; those inside form a stretch. */
static int read_block(struct cutting *c, uint64_t at, uint64_t n, bool whole, struct pm_error *err)
{
	uint64_t row = c->cut->n;
	int r = pmfs_records_read(c->x->profile, c->thread, at, at + n, take, c, err);
	uint64_t rows = c->cut->n - row;
	c->cut->n = row;
	if (r == 0)
		r = add_stretch(c->cut, at, rows, whole);
	return r;
}

static int add_sums(struct cutting *c, const struct pmfs_block_sums *of, const struct pmfs_block *b,
	uint64_t at, uint64_t n)
{
	const struct pmfs_sum *sums = of->items + b->sum;
	for (uint32_t i = 0; i < b->n_sums; i++) {
		if (i % PMFS_BLOCK == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		if (pmfs_tally_add(&c->cut->tally, sums[i].context, sums[i].ns,
			    c->calls ? sums[i].calls : 0) < 0)
			return -ENOMEM;
	}
	c->cut->end = b->cover.end > c->cut->end ? b->cover.end : c->cut->end;
	return add_stretch(c->cut, at, n, true);
}

/* Handles the records from `at` on that `known` describes: 1 if `known` was sufficient. */
static int cut_known(struct cutting *c, const struct pmfs_block_sums *sums,
	const struct pmfs_block *known, uint64_t at, uint64_t n)
{
	enum where where = where_is(c->span, &known->cover);
	if (where == OUTSIDE)
		return 1;
	if (where == AT_THE_EDGE || known->n_sums == PM_NONE)
		return 0;
	int r = add_sums(c, sums, known, at, n);
	return r < 0 ? r : 1;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int cut_chunk(struct cutting *c, const struct pmfs_trace_chunk *chunk, uint64_t at,
	uint64_t n, struct pm_error *err)
{
	int r = cut_known(c, &chunk->sums, &chunk->all, at, n);
	if (r != 0)
		return r < 0 ? r : 0;
	for (uint64_t from = 0; r >= 0 && from < n; from += PMFS_BLOCK) {
		const struct pmfs_block *b = &chunk->blocks[from / PMFS_BLOCK];
		uint64_t some = smaller(PMFS_BLOCK, n - from);
		r = cut_known(c, &chunk->sums, b, at + from, some);
		if (r == 0)
			r = read_block(
				c, at + from, some, where_is(c->span, &b->cover) == INSIDE, err);
	}
	return r < 0 ? r : 0;
}

/*
 * Tries the nodes whose first chunk is `i`, the largest first: 1 and the number of chunks that were
 * handled, 0, or -ENOMEM.
 */
static int cut_node(struct cutting *c, const struct pmfs_trace_index *t, size_t i, size_t *ret_n)
{
	size_t n = 1;
	for (unsigned k = 0; k < t->n_levels; k++)
		n *= PMFS_FANOUT;
	for (unsigned k = t->n_levels; k-- > 0; n /= PMFS_FANOUT) {
		const struct pmfs_node *node = &t->levels[k].nodes[i / n];
		uint64_t at = (uint64_t)i * PMFS_CHUNK_RECORDS;
		*ret_n = n;
		if (i % n != 0 || node->missing > 0)
			continue;
		int r = cut_known(c, &node->sums, &node->all, at,
			smaller((uint64_t)n * PMFS_CHUNK_RECORDS, t->n - at));
		if (r != 0)
			return r;
	}
	return 0;
}

int pmfs_cut_make(struct pmfs_cut *cut, const struct pmfs_index *x, uint32_t thread,
	const struct pmfs_span *span, struct pm_error *err)
{
	const struct pmfs_trace_index *t = &x->traces[thread];
	struct cutting c = {cut, x, thread, span, NULL, x->profile->traces_are_calls};
	int r = pm_profile_tree(x->profile, &c.tree, err);
	for (size_t i = 0, n; t->chunks && r >= 0 && (uint64_t)i * PMFS_CHUNK_RECORDS < t->n;
		i += n) {
		uint64_t at = (uint64_t)i * PMFS_CHUNK_RECORDS;
		r = cut_node(&c, t, i, &n);
		if (r != 0)
			continue;
		n = 1;
		r = cut_chunk(&c, t->chunks[i], at, smaller(PMFS_CHUNK_RECORDS, t->n - at), err);
	}
	return r < 0 ? pm_error_plain(err, r) : 0;
}

void pmfs_cut_done(struct pmfs_cut *cut)
{
	free(cut->stretches);
	pmfs_tally_done(&cut->tally);
	pmfs_tally_done(&cut->lent);
	*cut = (struct pmfs_cut){.n = 0};
}

/* ---- rows ---- */

struct filling {
	const struct pmfs_span *span;
	bool calls;
	uint64_t skip; /* rows */
	struct pm_sample *ret;
	size_t n, room;
};

/* True if it is inside; then its part inside is counted. */
static bool clip(const struct pmfs_span *span, bool calls, struct pm_sample *s)
{
	uint64_t start, ns;
	if (!span_clip(span, s, &start, &ns))
		return false;
	if (s->duration_ns != PM_NO_TIME && (start != s->time_ns || ns != s->duration_ns)) {
		s->duration_ns = ns;
		s->self_ns = PM_NO_SELF;
		if (!calls && start != s->time_ns)
			s->is_rest = true;
	}
	s->time_ns = start;
	return true;
}

static int fill(void *context, const struct pm_sample *samples, size_t n)
{
	struct filling *f = context;
	for (size_t i = 0; i < n && f->n < f->room; i++) {
		struct pm_sample s = samples[i];
		if (!clip(f->span, f->calls, &s))
			continue;
		if (f->skip)
			f->skip--;
		else
			f->ret[f->n++] = s;
	}
	return f->n == f->room;
}

/* The rows of a stretch from `skip` on, at most `room`. */
static int64_t read_stretch(const struct pmfs_cut *cut, const struct pmfs_index *x, uint32_t thread,
	size_t i, struct filling *f, struct pm_error *err)
{
	const struct pmfs_stretch *s = &cut->stretches[i];
	uint64_t end = i + 1 < cut->n_stretches ? s[1].row : cut->n, rows = end - s->row - f->skip;
	const struct pm_profile *p = x->profile;
	if (s->whole) {
		size_t room = f->room - f->n < rows ? f->room - f->n : (size_t)rows;
		int64_t n = p->ops->samples(p, thread, s->at + f->skip, f->ret + f->n, room, err);
		f->n += n > 0 ? (size_t)n : 0;
		f->skip = 0;
		return n;
	}
	uint64_t to =
		s->at + PMFS_BLOCK < x->traces[thread].n ? s->at + PMFS_BLOCK : x->traces[thread].n;
	size_t before = f->n;
	int r = pmfs_records_read(p, thread, s->at, to, fill, f, err);
	f->skip = 0;
	return r < 0 ? r : (int64_t)(f->n - before);
}

int64_t pmfs_cut_samples(const struct pmfs_cut *cut, const struct pmfs_index *x, uint32_t thread,
	const struct pmfs_span *span, uint64_t first, struct pm_sample *ret, size_t room,
	struct pm_error *err)
{
	struct filling f = {
		.span = span, .calls = x->profile->traces_are_calls, .ret = ret, .room = room};
	if (first >= cut->n)
		return 0;
	size_t i = PM_LOWER_BOUND(k, 1, cut->n_stretches, cut->stretches[k].row <= first) - 1;
	for (f.skip = first - cut->stretches[i].row; i < cut->n_stretches && f.n < room; i++) {
		int64_t n = read_stretch(cut, x, thread, i, &f, err);
		if (n < 0)
			return n;
		if (n == 0)
			break;
	}
	return (int64_t)f.n;
}

bool pmfs_cut_is_whole(const struct pmfs_cut *cut, uint64_t n_records)
{
	const struct pmfs_stretch *s = cut->stretches;
	return cut->n_stretches == 1 && s->whole && s->at == 0 && cut->n == n_records;
}

bool pmfs_cut_records(const struct pmfs_cut *cut, uint64_t n_records, uint64_t from,
	uint64_t *ret_first, uint64_t *ret_end)
{
	size_t i = PM_LOWER_BOUND(k, 0, cut->n_stretches, cut->stretches[k].at <= from);
	for (i -= i > 0; i < cut->n_stretches; i++) {
		const struct pmfs_stretch *s = &cut->stretches[i];
		uint64_t rows = (i + 1 < cut->n_stretches ? s[1].row : cut->n) - s->row;
		uint64_t end = s->at + (s->whole ? rows : smaller(PMFS_BLOCK, n_records - s->at));
		if (end <= from)
			continue;
		*ret_first = s->at > from ? s->at : from;
		*ret_end = end;
		return true;
	}
	return false;
}

/* ---- the costs of all parts, in a tree of their own ---- */

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
