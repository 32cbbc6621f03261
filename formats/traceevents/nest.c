/*
 * From events to calls that nest. The trace event format has no tree: calls of a thread are
 * intervals, in any order, most of which contain each other. Those that overlap without nesting go
 * on lanes of their own, so that nothing is clipped or lost.
 */
#include "formats/traceevents/traceevents.h"

#include "formats/common/sort.h"
#include "profmount/limits.h"

enum { BETWEEN_QUESTIONS = 1 << 12 };

/* ---- calls ---- */

/* Of a call whose duration is TEV_WIDE: it has one. */
static struct tev_wide *wide_of(const struct tev_calls *c, uint32_t i)
{
	return &c->wide[*pm_map_find(&c->wide_of, i)];
}

static void make_wide(struct tev_calls *c, uint32_t i, struct tev_wide wide)
{
	bool fresh;
	pm_items_grow(c->arena, &c->wide, c->n_wide, &c->wide_room, sizeof(*c->wide));
	pm_map_put(&c->wide_of, i, (uint32_t)c->n_wide, &fresh);
	c->wide[c->n_wide++] = wide;
	c->items[i].dur = TEV_WIDE;
}

struct tev_calls tev_calls_in(struct pm_arena *a)
{
	return (struct tev_calls){
		.arena = a, .scratch = pm_arena_scratch(a), .wide_of = {.arena = a}};
}

void tev_calls_add(struct tev_calls *c, const struct tev_call *call, int64_t dur, uint32_t end_seq)
{
	pm_items_grow(c->arena, &c->items, c->n, &c->room, sizeof(*c->items));
	struct tev_call *to = &c->items[c->n];
	*to = *call;
	to->dur = (uint32_t)dur;
	if (dur >= TEV_WIDE || end_seq != PM_NONE)
		make_wide(c, (uint32_t)c->n, (struct tev_wide){dur, 0, end_seq});
	c->n++;
}

int64_t tev_call_dur(const struct tev_calls *c, uint32_t i)
{
	return c->items[i].dur == TEV_WIDE ? wide_of(c, i)->dur : c->items[i].dur;
}

uint32_t tev_call_end_seq(const struct tev_calls *c, uint32_t i)
{
	return c->items[i].dur == TEV_WIDE ? wide_of(c, i)->end_seq : PM_NONE;
}

int64_t tev_call_below(const struct tev_calls *c, uint32_t i)
{
	return c->items[i].dur == TEV_WIDE ? wide_of(c, i)->below : c->items[i].thread;
}

void tev_call_add_below(struct tev_calls *c, uint32_t i, int64_t ns)
{
	struct tev_call *call = &c->items[i];
	int64_t below = (int64_t)call->thread + ns;
	if (call->dur == TEV_WIDE)
		wide_of(c, i)->below += ns;
	else if (below <= UINT32_MAX)
		call->thread = (uint32_t)below;
	else
		make_wide(c, i, (struct tev_wide){call->dur, below, PM_NONE});
}

/* ---- order ---- */

static int call_order(const void *a, const void *b, void *context)
{
	const struct tev_calls *c = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct tev_call *x = &c->items[i], *y = &c->items[k];
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	int64_t dx = tev_call_dur(c, i), dy = tev_call_dur(c, k);
	if (dx != dy)
		return dx > dy ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

struct twin {
	int64_t length; /* as which it counts */
	uint32_t call, seq;
	bool is_pair;
};

static int by_seq(const void *a, const void *b)
{
	const struct twin *x = a, *y = b;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

static int by_length(const void *a, const void *b)
{
	const struct twin *x = a, *y = b;
	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	return by_seq(a, b);
}

/* Calls that begin at one time, some by a begin event: these count as long as those behind them. */
static void order_twins(const struct tev_calls *c, uint32_t *order, size_t n)
{
	struct twin *twins = pm_arena_realloc(c->scratch, NULL, n * sizeof(*twins));
	int64_t longest = 0;
	for (size_t i = 0; i < n; i++)
		twins[i] = (struct twin){.call = order[i],
			.length = tev_call_dur(c, order[i]),
			.seq = c->items[order[i]].seq,
			.is_pair = tev_call_end_seq(c, order[i]) != PM_NONE};
	pm_build_check(c->scratch, pm_sort(twins, n, sizeof(*twins), by_seq));
	for (size_t i = n; i-- > 0;) {
		if (!twins[i].is_pair)
			continue;
		longest = twins[i].length > longest ? twins[i].length : longest;
		twins[i].length = longest;
	}
	pm_build_check(c->scratch, pm_sort(twins, n, sizeof(*twins), by_length));
	for (size_t i = 0; i < n; i++)
		order[i] = twins[i].call;
	pm_arena_free(c->scratch, twins);
}

void tev_sort(const struct tev_calls *c, uint32_t *order, size_t n)
{
	bool sorted = true;
	struct tev_calls calls = *c; /* for a context that is not const */
	for (size_t i = 1; i < n && sorted; i++) {
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(c->arena);
		sorted = call_order(&order[i - 1], &order[i], &calls) <= 0;
	}
	if (!sorted)
		pm_build_check(
			c->arena, pm_sort_with(order, n, sizeof(*order), call_order, &calls));
	for (size_t first = 0, end; first < n; first = end) {
		size_t n_pairs = 0;
		for (end = first; end < n && c->items[order[end]].ts == c->items[order[first]].ts;
			end++)
			n_pairs += c->n_wide && tev_call_end_seq(c, order[end]) != PM_NONE;
		if (first % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(c->arena);
		if (n_pairs > 1)
			order_twins(c, order + first, end - first);
	}
}

/* ---- lanes ---- */

struct open_call {
	int64_t start, end; /* it counts as ended with its parent */
	uint32_t call, end_seq;
};

struct lanes {
	struct lane {
		struct open_call *open;
		size_t n, room;
	} * items;
	size_t n, room;
};

/* Whether an open call has ended where another one starts. */
static bool has_ended(const struct open_call *o, const struct open_call *c, uint32_t seq)
{
	if (o->end != c->start)
		return o->end < c->start;
	if (o->end_seq != PM_NONE && c->end_seq != PM_NONE)
		return o->end_seq < seq;
	bool twins = c->end_seq == PM_NONE && c->end == c->start && o->start == o->end;
	return !twins;
}

static bool contains(const struct open_call *o, const struct open_call *c, int64_t tolerance)
{
	if (c->end_seq != PM_NONE)
		return c->end <= o->end;
	return c->end <= o->end || c->end - o->end <= tolerance;
}

/*
 * Whether an open call has ended where another one starts that it does not contain, but for a unit
 * of the clock: starts and durations are rounded by themselves.
 */
static bool has_just_ended(const struct open_call *o, const struct open_call *c, int64_t tolerance)
{
	return o->end_seq == PM_NONE && c->end_seq == PM_NONE && o->end - c->start <= tolerance &&
		o->start < c->start && !contains(o, c, tolerance);
}

/* The first lane where it nests, or nothing is open: a new one if there is none. */
static uint32_t find_lane(struct pm_arena *scratch, struct lanes *lanes, const struct open_call *c,
	uint32_t seq, int64_t tolerance)
{
	size_t i = 0;
	for (; i < lanes->n; i++) {
		struct lane *l = &lanes->items[i];
		while (l->n > 0 &&
			(has_ended(&l->open[l->n - 1], c, seq) ||
				has_just_ended(&l->open[l->n - 1], c, tolerance)))
			l->n--;
		if (l->n == 0 || contains(&l->open[l->n - 1], c, tolerance))
			return (uint32_t)i;
	}
	if (i >= PM_LIMIT_LANES)
		return TEV_NO_LANE;
	pm_list_grow(scratch, &lanes->items, i, &lanes->room, sizeof(*lanes->items));
	lanes->items[lanes->n++] = (struct lane){.open = NULL};
	return (uint32_t)i;
}

void tev_nest(const struct tev_calls *c, const uint32_t *order, size_t n, int64_t tolerance,
	void (*place)(void *context, uint32_t call, uint32_t parent, uint32_t lane), void *context)
{
	struct lanes lanes = {.n = 0};
	size_t looked = 0;
	for (size_t i = 0; i < n; i++) {
		/* A call may have to look at all lanes. */
		if ((looked += lanes.n + 1) > BETWEEN_QUESTIONS) {
			looked = 0;
			pm_build_proceed(c->scratch);
		}
		uint32_t seq = c->items[order[i]].seq, parent = PM_NONE;
		struct open_call call = {.start = c->items[order[i]].ts, .call = order[i]};
		call.end = call.start + tev_call_dur(c, order[i]);
		call.end_seq = tev_call_end_seq(c, order[i]);
		uint32_t at = find_lane(c->scratch, &lanes, &call, seq, tolerance);
		if (at != TEV_NO_LANE) {
			struct lane *l = &lanes.items[at];
			pm_list_grow(c->scratch, &l->open, l->n, &l->room, sizeof(*l->open));
			if (l->n > 0) {
				const struct open_call *outer = &l->open[l->n - 1];
				parent = outer->call;
				call.end = call.end < outer->end ? call.end : outer->end;
			}
			l->open[l->n++] = call;
		}
		place(context, order[i], parent, at);
	}
	pm_arena_done(c->scratch);
}

/* ---- begins and ends ---- */

static int mark_order(const void *a, const void *b)
{
	const struct tev_mark *x = a, *y = b;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Open begins: a list of all, the innermost first, and one of each name. */
struct pairing {
	struct tev_mark *marks;
	uint32_t *outer, *inner, *same; /* by mark */
	struct pm_map innermost;        /* by name: a mark + 1; 0: none is open */
	uint32_t open;                  /* the innermost, PM_NONE */
	struct tev_calls *calls;
};

static void begin(struct pairing *p, uint32_t i)
{
	bool fresh;
	uint32_t *top = pm_map_put(&p->innermost, p->marks[i].name, 0, &fresh);
	p->same[i] = *top;
	*top = i + 1;
	p->outer[i] = p->open;
	p->inner[i] = PM_NONE;
	if (p->open != PM_NONE)
		p->inner[p->open] = i;
	p->open = i;
}

static void close_begin(struct pairing *p, uint32_t i, int64_t ts, uint32_t end_seq)
{
	const struct tev_mark *m = &p->marks[i];
	*pm_map_find(&p->innermost, m->name) = p->same[i];
	if (p->inner[i] != PM_NONE)
		p->outer[p->inner[i]] = p->outer[i];
	else
		p->open = p->outer[i];
	if (p->outer[i] != PM_NONE)
		p->inner[p->outer[i]] = p->inner[i];
	tev_calls_add(p->calls,
		&(struct tev_call){
			.ts = m->ts, .function = m->function, .thread = m->thread, .seq = m->seq},
		ts > m->ts ? ts - m->ts : 0, end_seq);
}

/* Whether the end found its begin. */
static bool end(struct pairing *p, uint32_t i)
{
	const struct tev_mark *m = &p->marks[i];
	uint32_t found = p->open;
	if (m->name != PM_NONE) {
		const uint32_t *top = pm_map_find(&p->innermost, m->name);
		found = top ? *top - 1 : PM_NONE;
	}
	if (found != PM_NONE)
		close_begin(p, found, m->ts, m->seq);
	return found != PM_NONE;
}

/* The marks of one time; ends that find no begin wait until all of them are read. */
static void pair_moment(struct pairing *p, uint32_t first, uint32_t last, struct tev_paired *ret)
{
	bool waits = false;
	for (uint32_t i = first; i < last; i++) {
		if (!p->marks[i].ends) {
			begin(p, i);
			continue;
		}
		/* What is done is told from what waits. */
		p->same[i] = !end(p, i);
		waits |= p->same[i];
	}
	for (uint32_t i = first; waits && i < last; i++)
		if (p->marks[i].ends && p->same[i])
			ret->n_unbegun += !end(p, i);
}

void tev_pair(struct tev_mark *marks, size_t n, int64_t last, struct tev_calls *calls,
	struct tev_paired *ret)
{
	struct pm_arena *scratch = calls->scratch;
	pm_build_check(scratch, pm_sort(marks, n, sizeof(*marks), mark_order));
	uint32_t *links = pm_arena_realloc(scratch, NULL, 3 * n * sizeof(*links));
	struct pairing p = {.marks = marks,
		.outer = links,
		.inner = links + n,
		.same = links + 2 * n,
		.innermost = {.arena = scratch},
		.open = PM_NONE,
		.calls = calls};
	for (uint32_t i = 0, to; i < n; i = to) {
		for (to = i; to < n && marks[to].ts == marks[i].ts;)
			to++;
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(scratch);
		pair_moment(&p, i, to, ret);
	}
	/* Ends that never came are behind all others of these marks. */
	for (uint32_t end_seq = UINT32_MAX - (uint32_t)n; p.open != PM_NONE; end_seq++) {
		close_begin(&p, p.open, last, end_seq);
		ret->n_unended++;
	}
	pm_arena_done(scratch);
}
