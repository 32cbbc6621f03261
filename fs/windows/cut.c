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

static void add_stretch(struct pmfs_cut *cut, uint64_t at, uint64_t n, bool whole)
{
	struct pmfs_stretch *last = cut->n_stretches ? &cut->stretches[cut->n_stretches - 1] : NULL;
	if (n == 0)
		return;
	if (!last || !whole || !last->whole || last->at + (cut->n - last->row) != at) {
		pm_list_grow(&cut->arena, &cut->stretches, cut->n_stretches, &cut->room,
			sizeof(*cut->stretches));
		cut->stretches[cut->n_stretches++] =
			(struct pmfs_stretch){.row = cut->n, .at = at, .whole = whole};
	}
	cut->n += n;
}

static void lend(struct cutting *c, const struct pm_sample *s, uint64_t ns)
{
	uint32_t context = pm_tree_find(c->tree, s->context);
	uint32_t caller = context == PM_NONE ? PM_NONE : c->tree->parent[context];
	if (ns == 0 || caller == PM_NONE)
		return;
	pmfs_tally_add(&c->cut->lent, pm_tree_number(c->tree, caller), ns, 0);
	pmfs_tally_add(&c->cut->lent, s->within, -(pm_sum)ns, 0);
}

static bool take(void *context, const struct pm_sample *samples, size_t n)
{
	struct cutting *c = context;
	for (size_t i = 0; i < n; i++) {
		const struct pm_sample *s = &samples[i];
		uint64_t start, ns;
		if (!span_clip(c->span, s, &start, &ns))
			continue;
		bool begins = c->calls && pmfs_span_has_begin(c->span, s->time_ns);
		pmfs_tally_add(&c->cut->tally, s->context, ns, begins);
		if (s->within)
			lend(c, s, ns);
		c->cut->end = start + ns > c->cut->end ? start + ns : c->cut->end;
		c->cut->n++;
	}
	return false;
}

/* Reads records; those inside form a stretch. */
static void read_block(struct cutting *c, uint64_t at, uint64_t n, bool whole, struct pm_error *err)
{
	uint64_t row = c->cut->n;
	pmfs_records_read(&c->cut->scratch, c->x->profile, c->thread, at, at + n, take, c, err);
	uint64_t rows = c->cut->n - row;
	c->cut->n = row;
	add_stretch(c->cut, at, rows, whole);
}

static void add_sums(struct cutting *c, const struct pmfs_block_sums *of,
	const struct pmfs_block *b, uint64_t at, uint64_t n)
{
	const struct pmfs_sum *sums = of->items + b->sum;
	for (uint32_t i = 0; i < b->n_sums; i++) {
		if (i % PMFS_BLOCK == 0)
			pm_build_proceed(&c->cut->arena);
		pmfs_tally_add(
			&c->cut->tally, sums[i].context, sums[i].ns, c->calls ? sums[i].calls : 0);
	}
	c->cut->end = b->cover.end > c->cut->end ? b->cover.end : c->cut->end;
	add_stretch(c->cut, at, n, true);
}

/* Handles the records from `at` on that `known` describes: true if `known` was sufficient. */
static bool cut_known(struct cutting *c, const struct pmfs_block_sums *sums,
	const struct pmfs_block *known, uint64_t at, uint64_t n)
{
	enum where where = where_is(c->span, &known->cover);
	if (where == OUTSIDE)
		return true;
	if (where == AT_THE_EDGE || known->n_sums == PM_NONE)
		return false;
	add_sums(c, sums, known, at, n);
	return true;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void cut_chunk(struct cutting *c, const struct pmfs_trace_chunk *chunk, uint64_t at,
	uint64_t n, struct pm_error *err)
{
	if (cut_known(c, &chunk->sums, &chunk->all, at, n))
		return;
	for (uint64_t from = 0; from < n; from += PMFS_BLOCK) {
		const struct pmfs_block *b = &chunk->blocks[from / PMFS_BLOCK];
		uint64_t some = smaller(PMFS_BLOCK, n - from);
		if (!cut_known(c, &chunk->sums, b, at + from, some))
			read_block(c, at + from, some, where_is(c->span, &b->cover) == INSIDE, err);
	}
}

/*
 * Tries the nodes whose first chunk is `i`, the largest first: the number of chunks that were
 * handled.
 */
static size_t cut_node(struct cutting *c, const struct pmfs_trace_index *t, size_t i)
{
	size_t n = 1;
	for (unsigned k = 0; k < t->n_levels; k++)
		n *= PMFS_FANOUT;
	for (unsigned k = t->n_levels; k-- > 0; n /= PMFS_FANOUT) {
		const struct pmfs_node *node = &t->levels[k].nodes[i / n];
		uint64_t at = (uint64_t)i * PMFS_CHUNK_RECORDS;
		if (i % n == 0 && node->missing == 0 &&
			cut_known(c, &node->sums, &node->all, at,
				smaller((uint64_t)n * PMFS_CHUNK_RECORDS, t->n - at)))
			return n;
	}
	return 0;
}

void pmfs_cut_make(struct pmfs_cut *cut, const struct pmfs_index *x, uint32_t thread,
	const struct pmfs_span *span, struct pm_error *err)
{
	const struct pmfs_trace_index *t = &x->traces[thread];
	struct cutting c = {cut, x, thread, span, NULL, x->profile->traces_are_calls};
	pm_build_check(&cut->arena, pm_profile_tree(x->profile, &c.tree, err));
	for (size_t i = 0, n; t->chunks && (uint64_t)i * PMFS_CHUNK_RECORDS < t->n; i += n) {
		uint64_t at = (uint64_t)i * PMFS_CHUNK_RECORDS;
		n = cut_node(&c, t, i);
		if (n > 0)
			continue;
		n = 1;
		cut_chunk(&c, t->chunks[i], at, smaller(PMFS_CHUNK_RECORDS, t->n - at), err);
	}
}

/* ---- rows ---- */

struct filling {
	struct pm_arena arena; /* of what is read */
	const struct pmfs_cut *cut;
	const struct pmfs_index *x;
	uint32_t thread;
	const struct pmfs_span *span;
	bool calls;
	uint64_t first, skip; /* rows */
	struct pm_sample *ret;
	size_t n, room;
	struct pm_error *err;
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

static bool fill(void *context, const struct pm_sample *samples, size_t n)
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
static void read_stretch(struct filling *f, size_t i)
{
	const struct pmfs_cut *cut = f->cut;
	const struct pmfs_stretch *s = &cut->stretches[i];
	uint64_t end = i + 1 < cut->n_stretches ? s[1].row : cut->n, rows = end - s->row - f->skip;
	uint64_t n_records = f->x->traces[f->thread].n;
	const struct pm_profile *p = f->x->profile;
	if (s->whole) {
		size_t room = f->room - f->n < rows ? f->room - f->n : (size_t)rows;
		int64_t n =
			p->ops->samples(p, f->thread, s->at + f->skip, f->ret + f->n, room, f->err);
		pm_build_check(&f->arena, (int)n);
		f->n += (size_t)n;
	} else {
		pmfs_records_read(&f->arena, p, f->thread, s->at,
			smaller(s->at + PMFS_BLOCK, n_records), fill, f, f->err);
	}
	f->skip = 0;
}

static void fill_rows(void *context)
{
	struct filling *f = context;
	const struct pmfs_cut *cut = f->cut;
	size_t i = PM_LOWER_BOUND(k, 1, cut->n_stretches, cut->stretches[k].row <= f->first) - 1;
	f->skip = f->first - cut->stretches[i].row;
	for (size_t before = SIZE_MAX; i < cut->n_stretches && f->n < f->room && f->n != before;
		i++) {
		before = f->n;
		read_stretch(f, i);
	}
}

int64_t pmfs_cut_samples(const struct pmfs_cut *cut, const struct pmfs_index *x, uint32_t thread,
	const struct pmfs_span *span, uint64_t first, struct pm_sample *ret, size_t room,
	struct pm_error *err)
{
	struct filling f = {.cut = cut,
		.x = x,
		.thread = thread,
		.span = span,
		.calls = x->profile->traces_are_calls,
		.first = first,
		.ret = ret,
		.room = room,
		.err = err};
	if (first >= cut->n)
		return 0;
	int r = pm_build(&f.arena, fill_rows, &f);
	pm_arena_done(&f.arena);
	return r < 0 ? pm_error_plain(err, r) : (int64_t)f.n;
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
	struct pm_arena *a; /* while it is gathered */
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
static void lot_add(struct gathering *g, uint32_t context)
{
	for (; context != PM_NONE && g->place[context] == PM_NONE;
		context = g->whole->parent[context]) {
		pm_list_grow(g->a, &g->lots, g->n, &g->room, sizeof(*g->lots));
		g->place[context] = (uint32_t)g->n;
		g->lots[g->n++] = (struct lot){.context = context};
	}
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
static void lots_sum(struct gathering *g)
{
	pm_build_check(g->a, pm_sort(g->lots, g->n, sizeof(*g->lots), by_context));
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
}

/* The sibling order is that of the primary quantity. */
static void add_cost(struct gathering *g, const struct pm_callcost *cost)
{
	if (cost->time == g->leads)
		g->weight[cost->context] += (double)cost->incl;
	pm_callcosts_add(g->costs, cost);
}

/* A cost of its own time, and one of each other that calls below it have. */
static void lot_take(struct gathering *g, uint32_t thread, uint32_t of, struct lot *lot)
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
		if (i == own || lot->part[i] != 0)
			add_cost(g, &cost);
	}
	g->kept[lot->context] = true;
}

static void lots_take(struct gathering *g, uint32_t thread, uint32_t of)
{
	static const struct pm_frame none;
	uint32_t n = g->whole->n_contexts;
	uint8_t time = (uint8_t)pmfs_index_time(g->index, of, &none);
	if (g->idle > 0 && g->nothing != PM_NONE) {
		const struct pm_callcost cost = {
			thread, n, (uint64_t)g->idle, g->idle, g->idle, time};
		add_cost(g, &cost);
		g->was_idle = true;
	}
	g->idle = 0;
	for (size_t i = g->n; i-- > 0;)
		lot_take(g, thread, of, &g->lots[i]);
	for (size_t i = 0; i < g->n; i++)
		g->place[g->lots[i].context] = PM_NONE;
	g->n = 0;
}

/* Without costs: the samples of the context have it all the same. */
static void keep(struct gathering *g, uint32_t context)
{
	for (; context != PM_NONE && !g->kept[context]; context = g->whole->parent[context])
		g->kept[context] = true;
}

/* The lot of the context; NULL if the run's tree lacks it or nothing runs. */
static struct lot *lot_of(struct gathering *g, const struct pmfs_tallied *item)
{
	uint32_t context = pm_tree_find(g->whole, item->context);
	if (item->context == 0 && g->samples)
		g->idle += item->ns;
	if (context == PM_NONE)
		return NULL;
	if (pm_tree_frame(g->whole, context)->is_nothing) {
		g->idle += item->ns;
		keep(g, context);
		return NULL;
	}
	lot_add(g, context);
	return &g->lots[g->place[context]];
}

static void thread_take(
	struct gathering *g, uint32_t thread, uint32_t of, const struct pmfs_cut *cut)
{
	const struct pmfs_tally *t = &cut->tally;
	struct lot *lot;
	for (size_t i = 0; i < t->n; i++) {
		if (!(lot = lot_of(g, &t->items[i])))
			continue;
		lot->calls += g->samples ? 0 : t->items[i].calls;
		lot->incl += t->items[i].ns;
		lot->excl += t->items[i].ns;
	}
	t = &cut->lent;
	for (size_t i = 0; i < t->n; i++)
		if ((lot = lot_of(g, &t->items[i])))
			lot->lent += t->items[i].ns;
	lots_sum(g);
	lots_take(g, thread, of);
}

void pmfs_gather(struct pm_arena *a, const struct pmfs_gathered *from, struct pm_tree **ret,
	struct pm_callcosts *ret_costs, struct pm_error *err)
{
	const struct pm_tree *whole = from->whole;
	size_t n_contexts = (size_t)whole->n_contexts + 1;
	uint32_t *of = NULL;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct gathering g = {.a = scratch,
		.whole = whole,
		.index = from->index,
		.costs = ret_costs,
		.samples = !from->index->profile->traces_are_calls,
		.place = pm_arena_realloc(scratch, NULL, n_contexts * sizeof(*g.place)),
		.weight = pm_arena_array(scratch, n_contexts, sizeof(*g.weight)),
		.kept = pm_arena_array(scratch, n_contexts, sizeof(*g.kept)),
		.nothing = PM_NONE};
	*ret_costs = (struct pm_callcosts){.arena = a, .counted = !g.samples};
	pmfs_index_times(from->index, from->first, from->n, &g.leads);
	for (size_t i = 0; i < n_contexts; i++)
		g.place[i] = PM_NONE;
	for (uint32_t i = 0; g.samples && g.nothing == PM_NONE && i < whole->n_frames; i++)
		if (whole->frames[i].is_nothing)
			g.nothing = i;
	for (uint32_t i = 0; i < from->n; i++)
		thread_take(&g, i, from->first + i, &from->cuts[i]);
	const struct pm_tree_extra idle = {
		g.was_idle ? g.nothing : PM_NONE, g.weight[whole->n_contexts]};
	pm_build_check(a, pm_tree_prune(whole, g.weight, g.kept, &idle, ret, &of, err));
	for (uint32_t i = 0; i < (*ret)->n_contexts; i++)
		g.place[of[i]] = i;
	free(of);
	pm_callcosts_freeze(ret_costs, g.place, from->n, (*ret)->n_contexts);
	pm_arena_done(scratch);
}
