/*
 * A table counts calls by function and duration. When it has as many durations as it may, it keeps
 * fewer significant bits of them, until half of its items are left: an item is then a range of
 * durations, unless all of its calls took equally long. Where durations are whole ticks, functions
 * with many brief calls have counters for them instead, which are exact. A percentile is the value
 * of the item that has the call of that rank, or lies in its range. A pass over the calls counts
 * those in such ranges: all durations of a range with few calls, and the others by parts of their
 * range, one of which is the range of the next pass.
 */
#include "formats/common/percentiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

enum {
	FEWEST = 64,
	MOST_CALLS = INT32_MAX, /* of an item */
	COARSEST = 9,           /* steps: from 16 bits in the first to none, two less in each */
	AHEAD = 16,             /* items that are fetched while others are counted */
	BETWEEN_QUESTIONS = 1 << 12,
	FEW = 1 << 14,    /* items that one thread sorts */
	LEAST_PARTS = 16, /* of a range, in a pass */
	MOST_PARTS = 1 << 12,
	/* Counters of brief calls, of a function; and of how many of them one has to be missed. */
	FEWEST_TICKS = 16,
	MOST_TICKS = 1 << 12,
	MISSED = 16,
};

size_t pm_durations_most = PM_LIMIT_COUNTED;

/* Durations in which percentiles lie that are not known yet. */
struct range {
	uint64_t low, width;    /* from `low` to `low` + `width` */
	uint64_t calls, before; /* of its function: in the range, and shorter ones */
	uint32_t of;
	uint8_t first, n; /* of the percentiles */
	uint8_t shift;    /* a pass counts distances from `low` without that many bits */
};

struct pm_narrowing {
	struct range *ranges; /* by function */
	uint32_t *first;      /* of each function, which ends where that of the next one begins */
	uint32_t n;           /* functions */
};

/* ---- counting ---- */

static size_t most_of(const struct pm_durations *d)
{
	return d->most ? d->most : pm_durations_most;
}

/* Bits of a duration that are not kept. */
static inline unsigned bits_lost(unsigned coarse, uint64_t ns)
{
	unsigned length = 64 - (unsigned)__builtin_clzll(ns | 1), kept = 2 * (COARSEST - coarse);
	return length > kept ? length - kept : 0;
}

/* The shortest duration that is counted together with this one. */
static inline uint64_t low_of(unsigned coarse, uint64_t ns)
{
	if (coarse == 0)
		return ns;
	return coarse == COARSEST ? 0 : ns & (UINT64_MAX << bits_lost(coarse, ns));
}

/* How far the longest one is from the shortest. */
static uint64_t width_of(unsigned coarse, uint64_t ns)
{
	if (coarse == 0)
		return 0;
	return coarse == COARSEST ? UINT64_MAX : ~(UINT64_MAX << bits_lost(coarse, ns));
}

/* Salted with the table's address, so that the input cannot cause collisions. */
static inline struct pm_counted *start_of(const struct pm_durations *d, uint32_t of, uint64_t low)
{
	uint64_t at = pm_hash_u64((of ^ (uintptr_t)d->items) * 0x9e3779b97f4a7c15u ^ low);
	return &d->items[at & (d->room - 1)];
}

/*
 * The slot of durations, or the free slot where they belong. Slots whose count is at its limit are
 * skipped; such durations have several slots.
 */
static inline struct pm_counted *slot_of(const struct pm_durations *d, uint32_t of, uint64_t low)
{
	struct pm_counted *slot = start_of(d, of, low), *end = d->items + d->room;
	while (slot->calls &&
		(slot->of != of || low_of(d->coarse, slot->ns) != low || slot->calls == MOST_CALLS))
		slot = slot + 1 < end ? slot + 1 : d->items;
	return slot;
}

/* Counts as many of the calls as there is room for in a slot that exists, and returns how many. */
static inline uint32_t count(struct pm_durations *d, const struct pm_counted *item)
{
	uint64_t low = low_of(d->coarse, item->ns);
	struct pm_counted *slot = slot_of(d, item->of, low);
	if (!slot->calls) {
		*slot = *item;
		d->n++;
		return item->calls;
	}
	uint32_t room = MOST_CALLS - slot->calls, some = item->calls < room ? item->calls : room;
	if (slot->ns != item->ns || item->mixed) {
		slot->ns = low;
		slot->mixed = 1;
	}
	slot->calls += some;
	return some;
}

/*
 * Most slots are not in the processor's cache. Inlined early, as gcc otherwise takes calls of a
 * function that only prefetches for calls without effect.
 */
__attribute__((always_inline)) static inline void fetch(
	const struct pm_durations *d, uint32_t of, uint64_t ns)
{
	if (d->room)
		__builtin_prefetch(start_of(d, of, low_of(d->coarse, ns)), 1);
}

static int make_again(struct pm_durations *d, size_t room, unsigned coarse)
{
	struct pm_durations more = *d;
	if (pm_work_cancelled())
		return PM_CANCELLED;
	more.items = pm_zeroed(room, sizeof(*more.items));
	if (!more.items)
		return -ENOMEM;
	more.n = 0;
	more.room = room;
	more.coarse = coarse;
	for (size_t i = 0; i < d->room; i++) {
		struct pm_counted item = d->items[i];
		if (i + AHEAD < d->room && d->items[i + AHEAD].calls)
			fetch(&more, d->items[i + AHEAD].of, d->items[i + AHEAD].ns);
		while (item.calls)
			item.calls -= count(&more, &item);
	}
	free(d->items);
	*d = more;
	return 0;
}

/* A table of the most items becomes coarser; with an item for each function, it grows after all. */
static int make_room(struct pm_durations *d)
{
	int r = 0;
	if (d->room / 2 < most_of(d) || d->coarse == COARSEST)
		return make_again(d, d->room ? 2 * d->room : FEWEST, d->coarse);
	while (r == 0 && d->n > d->room / 4 && d->coarse < COARSEST)
		r = make_again(d, d->room, d->coarse + 1);
	return r;
}

static inline int add(struct pm_durations *d, struct pm_counted item)
{
	while (item.calls) {
		if (d->n >= d->room / 2 && make_room(d) < 0)
			return -ENOMEM;
		item.calls -= count(d, &item);
	}
	return 0;
}

/* The counter of such a call; NULL: there is none. */
static inline uint32_t *counter_of(const struct pm_durations *d, uint32_t of, uint64_t ns)
{
	uint64_t ticks = ns >> d->tick_bits;
	if (of >= d->n_brief || ticks >= d->brief[of].n)
		return NULL;
	return &d->ticks[d->brief[of].first + ticks];
}

/*
 * Gives a function that many counters, more than it has, if there is room: those that it had are
 * lost, so that half of all are used.
 */
static int make_ticks(struct pm_durations *d, uint32_t of, uint32_t n)
{
	if (d->n_ticks + n > 2 * most_of(d))
		return 0;
	if (d->n_brief <= of && pm_list_room(&d->brief, of, &d->brief_room, sizeof(*d->brief)) < 0)
		return -ENOMEM;
	for (; d->n_brief <= of; d->n_brief++)
		d->brief[d->n_brief] = (struct pm_brief){.n = 0};
	if (pm_list_room(&d->ticks, d->n_ticks + n, &d->tick_room, sizeof(*d->ticks)) < 0)
		return -ENOMEM;
	struct pm_brief *brief = &d->brief[of];
	uint32_t *ticks = d->ticks + d->n_ticks;
	memcpy(ticks, d->ticks + brief->first, brief->n * sizeof(*ticks));
	memset(ticks + brief->n, 0, (n - brief->n) * sizeof(*ticks));
	*brief = (struct pm_brief){.first = (uint32_t)d->n_ticks, .n = n};
	d->n_ticks += n;
	return 0;
}

/* A call without a counter: whether there should be more of them. */
static int missed(struct pm_durations *d, uint32_t of, uint64_t ns)
{
	uint64_t ticks = ns >> d->tick_bits;
	uint32_t n = FEWEST_TICKS;
	if (ticks >= MOST_TICKS)
		return 0;
	while (n <= ticks)
		n *= 2;
	if (of < d->n_brief && (n <= d->brief[of].n || ++d->brief[of].missed < n / MISSED))
		return 0;
	return make_ticks(d, of, of < d->n_brief ? n : FEWEST_TICKS);
}

/* The range that has the call; NULL: none has. */
static inline const struct range *range_of(const struct pm_narrowing *n, uint32_t of, uint64_t ns)
{
	if (of >= n->n)
		return NULL;
	for (uint32_t i = n->first[of]; i < n->first[of + 1]; i++)
		if (ns - n->ranges[i].low <= n->ranges[i].width)
			return &n->ranges[i];
	return NULL;
}

bool pm_durations_want(const struct pm_durations *d, uint32_t of, uint64_t ns)
{
	return !d->only || range_of(d->only, of, ns);
}

int pm_durations_add(struct pm_durations *d, uint32_t of, uint64_t ns, uint64_t calls)
{
	const struct range *range = d->only ? range_of(d->only, of, ns) : NULL;
	int r = 0;
	if (range) {
		of = (uint32_t)(range - d->only->ranges);
		ns = (ns - range->low) >> range->shift;
	} else if (d->only)
		return 0;
	for (; calls && r == 0;) {
		uint32_t some = calls < MOST_CALLS ? (uint32_t)calls : MOST_CALLS;
		r = add(d, (struct pm_counted){.ns = ns, .of = of, .calls = some});
		calls -= some;
	}
	return r;
}

__attribute__((always_inline)) static inline void fetch_any(
	const struct pm_durations *d, const struct pm_duration *call)
{
	const uint32_t *counter = counter_of(d, call->of, call->ns);
	if (counter)
		__builtin_prefetch(counter, 1);
	else
		fetch(d, call->of, call->ns);
}

int pm_durations_add_all(struct pm_durations *d, const struct pm_duration *calls, size_t n)
{
	int r = 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct pm_duration *call = &calls[i];
		uint32_t *counter = counter_of(d, call->of, call->ns);
		if (i + AHEAD < n)
			fetch_any(d, &calls[i + AHEAD]);
		if (counter && *counter < UINT32_MAX) {
			++*counter;
			continue;
		}
		if (d->tick_bits && (r = missed(d, call->of, call->ns)) < 0)
			break;
		r = d->only
			? pm_durations_add(d, call->of, call->ns, 1)
			: add(d, (struct pm_counted){.ns = call->ns, .of = call->of, .calls = 1});
	}
	return r;
}

/* Adds the brief calls of a function to another one. */
static int join_ticks(
	struct pm_durations *d, const struct pm_durations *from, uint32_t i, uint32_t to)
{
	const struct pm_brief *brief = &from->brief[i];
	int r = 0;
	d->tick_bits = from->tick_bits;
	if (to >= d->n_brief || d->brief[to].n < brief->n)
		r = make_ticks(d, to, brief->n);
	for (uint32_t k = 0; k < brief->n && r == 0; k++) {
		uint64_t ns = (uint64_t)k << d->tick_bits;
		uint32_t calls = from->ticks[brief->first + k], *counter = counter_of(d, to, ns);
		if (counter && *counter <= UINT32_MAX - calls)
			*counter += calls;
		else
			r = pm_durations_add(d, to, ns, calls);
	}
	return r;
}

int pm_durations_join(struct pm_durations *d, const struct pm_durations *from, const uint32_t *to)
{
	unsigned coarse = from->coarse > d->coarse ? from->coarse : d->coarse;
	size_t room = from->room > d->room ? from->room : d->room;
	int r = room > d->room || coarse > d->coarse ? make_again(d, room, coarse) : 0;
	if (d->only)
		to = NULL;
	for (uint32_t i = 0; i < from->n_brief && r == 0; i++)
		r = pm_work_cancelled() ? PM_CANCELLED : join_ticks(d, from, i, to ? to[i] : i);
	for (size_t i = 0; i < from->room && r == 0; i++) {
		struct pm_counted item = from->items[i];
		const struct pm_counted *later = &from->items[i + AHEAD];
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		if (i + AHEAD < from->room && later->calls)
			fetch(d, to ? to[later->of] : later->of, later->ns);
		if (!item.calls)
			continue;
		item.of = to ? to[item.of] : item.of;
		r = add(d, item);
	}
	return r;
}

void pm_durations_done(struct pm_durations *d)
{
	free(d->items);
	free(d->brief);
	free(d->ticks);
	*d = (struct pm_durations){.most = d->most, .only = d->only, .tick_bits = d->tick_bits};
}

/* ---- order ---- */

/* Items by function, and then by duration. In a pass, each range is a function. */
struct ordered {
	size_t n;      /* functions; items of others are left out */
	size_t *start; /* of each function in items: n + 1 */
	struct pm_counted *items;
	unsigned coarse;
};

/* Adds an item to `start`, or moves it to where that says. */
static inline void put(struct ordered *o, const struct pm_counted *item)
{
	if (o->items)
		o->items[o->start[item->of]++] = *item;
	else
		o->start[item->of + 1]++;
}

static void sort_out_brief(struct ordered *o, const struct pm_durations *d, uint32_t of)
{
	for (uint32_t k = 0; k < d->brief[of].n; k++) {
		struct pm_counted item = {.ns = (uint64_t)k << d->tick_bits, .of = of};
		for (uint32_t calls = d->ticks[d->brief[of].first + k]; calls;
			calls -= item.calls) {
			item.calls = calls < MOST_CALLS ? calls : MOST_CALLS;
			put(o, &item);
		}
	}
}

/* Puts all items of each function. */
static int sort_out(struct ordered *o, const struct pm_durations *d)
{
	for (uint32_t i = 0; i < d->n_brief && i < o->n; i++)
		sort_out_brief(o, d, i);
	for (size_t i = 0; i < d->room; i++) {
		const struct pm_counted *item = &d->items[i];
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		if (item->calls && item->of < o->n)
			put(o, item);
	}
	return 0;
}

static int by_duration(const void *a, const void *b)
{
	const struct pm_counted *x = a, *y = b;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

static int sort_function(void *context, size_t of)
{
	struct ordered *o = context;
	size_t n = o->start[of + 1] - o->start[of];
	return n > 1 ? pm_sort(o->items + o->start[of], n, sizeof(*o->items), by_duration) : 0;
}

/* Empties `d`. */
static int order(struct ordered *o, struct pm_durations *d)
{
	o->coarse = d->coarse;
	o->start = calloc(o->n + 2, sizeof(*o->start));
	int r = o->start ? sort_out(o, d) : -ENOMEM;
	for (size_t i = 0; r == 0 && i < o->n; i++)
		o->start[i + 1] += o->start[i];
	if (r == 0 && !(o->items = malloc((o->start[o->n] + 1) * sizeof(*o->items))))
		r = -ENOMEM;
	if (r == 0 && (r = sort_out(o, d)) == 0) {
		/* Each place is now that of the next function. */
		memmove(o->start + 1, o->start, o->n * sizeof(*o->start));
		o->start[0] = 0;
	}
	pm_durations_done(d);
	if (r == 0 && o->start[o->n] > FEW)
		return pm_crew_each(o->n, sort_function, o);
	for (size_t i = 0; i < o->n && r == 0; i++)
		r = sort_function(o, i);
	return r;
}

static void ordered_done(struct ordered *o)
{
	free(o->start);
	free(o->items);
}

/* ---- percentiles ---- */

static const struct {
	unsigned percent;
	size_t at;
} wanted[] = {
	{50, offsetof(struct pm_call_times, p50_ns)},
	{90, offsetof(struct pm_call_times, p90_ns)},
	{95, offsetof(struct pm_call_times, p95_ns)},
	{99, offsetof(struct pm_call_times, p99_ns)},
	{100, offsetof(struct pm_call_times, max_ns)},
};
enum { N_WANTED = sizeof(wanted) / sizeof(*wanted) };

struct finding {
	struct pm_call_times *ret;
	uint64_t *calls;    /* of each function */
	struct range *open; /* by function */
	size_t n_open, room;
	size_t most; /* items of a pass */
};

/* The place of a percentile among the calls, shortest first: at most that many are shorter. */
static uint64_t rank_of(uint64_t calls, unsigned i)
{
	return (uint64_t)(((unsigned __int128)calls * wanted[i].percent + 99) / 100) - 1;
}

static int add_found(struct finding *f, const struct range *found)
{
	uint8_t *ret = (uint8_t *)&f->ret[found->of];
	for (unsigned i = found->first; i < found->first + found->n && found->width == 0; i++)
		memcpy(ret + wanted[i].at, &found->low, sizeof(found->low));
	if (found->n == 0 || found->width == 0)
		return 0;
	if (pm_list_room(&f->open, f->n_open, &f->room, sizeof(*f->open)) < 0)
		return -ENOMEM;
	f->open[f->n_open++] = *found;
	return 0;
}

/* The calls of the items from *at on that are counted together, and moves on to the next ones. */
static struct range next_group(
	const struct ordered *o, const struct range *all, size_t *at, size_t end)
{
	const struct pm_counted *first = &o->items[*at];
	uint64_t low = low_of(o->coarse, first->ns);
	bool mixed = false;
	struct range g = {.of = all->of};
	for (; *at < end && low_of(o->coarse, o->items[*at].ns) == low; ++*at) {
		mixed |= o->items[*at].mixed || o->items[*at].ns != first->ns;
		g.calls += o->items[*at].calls;
	}
	g.low = all->low + (first->ns << all->shift);
	g.width = ((uint64_t)1 << all->shift) - 1;
	if (mixed) {
		g.low = low;
		g.width = width_of(o->coarse, low);
	}
	if (g.width > all->width - (g.low - all->low))
		g.width = all->width - (g.low - all->low);
	return g;
}

/* Finds the percentiles that lie in a range, by what was counted there as number `i`. */
static int find(struct finding *f, const struct range *all, const struct ordered *o, size_t i)
{
	uint64_t before = all->before;
	size_t at = o->start[i], end = o->start[i + 1];
	unsigned next = all->first, n = all->first + all->n;
	int r = 0;
	while (at < end && next < n && r == 0) {
		struct range g = next_group(o, all, &at, end);
		g.before = before;
		g.first = (uint8_t)next;
		before += g.calls;
		for (; next < n && rank_of(f->calls[g.of], next) < before; next++)
			g.n++;
		r = add_found(f, &g);
	}
	return r == 0 && next < n ? -EIO : r;
}

/* Without passes; `ordered` are all calls. */
static int find_first(struct finding *f, const struct ordered *o)
{
	int r = 0;
	for (size_t i = 0; i < o->n && r == 0; i++) {
		struct range all = {.width = UINT64_MAX, .of = (uint32_t)i};
		for (size_t k = o->start[i]; k < o->start[i + 1]; k++)
			f->calls[i] += o->items[k].calls;
		all.n = f->calls[i] ? N_WANTED : 0;
		r = find(f, &all, o, i);
	}
	return r;
}

/* ---- passes ---- */

/*
 * The last open ranges become those of a pass: one, and as many as fit. Those with few calls are
 * counted exactly.
 */
static int choose(struct finding *f, struct pm_narrowing *ret, size_t *ret_n)
{
	size_t few = f->most / 4 > LEAST_PARTS ? f->most / 4 : LEAST_PARTS;
	size_t parts = few < MOST_PARTS ? few : MOST_PARTS, sum = 0, n = 0;
	while (n < f->n_open) {
		struct range *range = &f->open[f->n_open - 1 - n];
		uint64_t needs = range->calls;
		for (range->shift = 0; needs > few && range->width >> range->shift >= parts;)
			range->shift++;
		if (range->width >> range->shift < needs)
			needs = (range->width >> range->shift) + 1;
		if (n > 0 && sum + needs >= f->most)
			break;
		sum += needs;
		n++;
	}
	f->n_open -= n;
	ret->ranges = malloc(n * sizeof(*ret->ranges));
	if (!ret->ranges)
		return -ENOMEM;
	memcpy(ret->ranges, f->open + f->n_open, n * sizeof(*ret->ranges));
	for (uint32_t i = 0, at = 0; i <= ret->n; i++) {
		while (at < n && ret->ranges[at].of < i)
			at++;
		ret->first[i] = at;
	}
	*ret_n = n;
	return 0;
}

static int find_more(struct finding *f, uint32_t n, pm_pass pass, void *context)
{
	struct pm_narrowing narrowing = {
		.first = malloc((n + (size_t)1) * sizeof(uint32_t)), .n = n};
	int r = narrowing.first ? 0 : -ENOMEM;
	while (f->n_open && r == 0) {
		struct pm_durations found = {.most = SIZE_MAX, .only = &narrowing};
		struct ordered o = {.n = 0};
		r = pm_work_cancelled() ? PM_CANCELLED : choose(f, &narrowing, &o.n);
		if (r == 0)
			r = pass(context, &found);
		if (r == 0)
			r = order(&o, &found);
		if (r == 0 && o.coarse) /* by more calls than there were */
			r = -EIO;
		for (size_t i = 0; i < o.n && r == 0; i++)
			r = find(f, &narrowing.ranges[i], &o, i);
		pm_durations_done(&found);
		ordered_done(&o);
		free(narrowing.ranges);
		narrowing.ranges = NULL;
	}
	free(narrowing.first);
	return r;
}

int pm_percentiles(
	struct pm_durations *d, struct pm_call_times *ret, uint32_t n, pm_pass pass, void *context)
{
	struct finding f = {.ret = ret, .most = most_of(d)};
	struct ordered o = {.n = n};
	memset(ret, 0, n * sizeof(*ret));
	f.calls = calloc((size_t)n + 1, sizeof(*f.calls));
	int r = f.calls ? order(&o, d) : -ENOMEM;
	if (r == 0)
		r = find_first(&f, &o);
	ordered_done(&o);
	if (r == 0)
		r = find_more(&f, n, pass, context);
	for (uint32_t i = 0; i < n && r == 0; i++)
		ret[i].known = f.calls[i] && ret[i].max_ns != PM_NO_TIME;
	free(f.calls);
	free(f.open);
	return r;
}
