#include "formats/zts/lengths.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/map.h"
#include "formats/zts/records.h"
#include "profmount/limits.h"

enum { TICK_BITS = 40, FEWEST = 64 };

_Static_assert(ZTS_MOST_TICK < (uint64_t)1 << TICK_BITS, "a duration fits");

static inline uint64_t hash_of(const struct zts_lengths *l, uint64_t key)
{
	return pm_hash_u64(key ^ (uintptr_t)l->items);
}

/* The place of a key, or where it would be. */
static inline struct zts_length *slot_of(const struct zts_lengths *l, uint64_t key)
{
	uint64_t at = hash_of(l, key);
	struct zts_length *slot = &l->items[at & (l->room - 1)];
	while (slot->calls && slot->key != key)
		slot = &l->items[++at & (l->room - 1)];
	return slot;
}

static int grow(struct zts_lengths *l)
{
	struct zts_lengths more = {.n = l->n, .room = l->room ? 2 * l->room : FEWEST};
	more.items = calloc(more.room, sizeof(*more.items));
	if (!more.items)
		return -ENOMEM;
	for (size_t i = 0; i < l->room; i++)
		if (l->items[i].calls)
			*slot_of(&more, l->items[i].key) = l->items[i];
	free(l->items);
	*l = more;
	return 0;
}

static int overflow(struct zts_lengths *l)
{
	zts_lengths_done(l);
	l->full = true;
	return 0;
}

static int add(struct zts_lengths *l, uint64_t key, uint64_t calls)
{
	if (l->full)
		return 0;
	if (l->n >= l->room / 2 && grow(l) < 0)
		return -ENOMEM;
	struct zts_length *slot = slot_of(l, key);
	if (!slot->calls) {
		if (l->n >= PM_LIMIT_LENGTHS)
			return overflow(l);
		slot->key = key;
		l->n++;
	}
	slot->calls += calls;
	return 0;
}

int zts_lengths_add(struct zts_lengths *l, uint32_t method, uint64_t ticks, uint64_t calls)
{
	if (method >> (64 - TICK_BITS))
		return overflow(l);
	return add(l, (uint64_t)method << TICK_BITS | ticks, calls);
}

static uint64_t key_of(const struct zts_timed *call)
{
	return (uint64_t)call->method << TICK_BITS | call->ticks;
}

/* A slot is most often not in a processor's cache: it is fetched while others are counted. */
int zts_lengths_add_all(struct zts_lengths *l, const struct zts_timed *calls, size_t n)
{
	enum { AHEAD = 16 };
	int r = 0;
	for (size_t i = 0; i < n && r == 0 && !l->full; i++) {
		if (i + AHEAD < n && l->room) {
			uint64_t at = hash_of(l, key_of(&calls[i + AHEAD]));
			__builtin_prefetch(&l->items[at & (l->room - 1)], 1);
		}
		r = zts_lengths_add(l, calls[i].method, calls[i].ticks, 1);
	}
	return r;
}

int zts_lengths_join(struct zts_lengths *l, const struct zts_lengths *from, const uint32_t *methods)
{
	const uint64_t ticks = ((uint64_t)1 << TICK_BITS) - 1;
	int r = from->full ? overflow(l) : 0;
	for (size_t i = 0; i < from->room && r == 0; i++) {
		const struct zts_length *item = &from->items[i];
		if (item->calls)
			r = zts_lengths_add(
				l, methods[item->key >> TICK_BITS], item->key & ticks, item->calls);
	}
	return r;
}

/* ---- percentiles ---- */

static int by_key(const void *a, const void *b)
{
	const struct zts_length *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

/* The duration of the call at that share of the calls, shortest first. */
static uint64_t percentile(
	const struct zts_length *items, size_t n, uint64_t calls, unsigned percent)
{
	unsigned __int128 share = (unsigned __int128)calls * percent;
	uint64_t rank = (uint64_t)((share + 99) / 100), before = 0;
	size_t i = 0;
	while (i + 1 < n && before + items[i].calls < rank)
		before += items[i++].calls;
	return (items[i].key & (((uint64_t)1 << TICK_BITS) - 1)) * ZTS_TICK_NS;
}

/* The items that are taken, in order. */
static void sort(struct zts_lengths *l)
{
	size_t n = 0;
	for (size_t i = 0; i < l->room; i++)
		if (l->items[i].calls)
			l->items[n++] = l->items[i];
	if (n)
		qsort(l->items, n, sizeof(*l->items), by_key);
}

void zts_lengths_times(struct zts_lengths *l, struct pm_call_times *ret, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ret[i] = (struct pm_call_times){.known = false};
	sort(l);
	for (size_t i = 0, end; i < l->n; i = end) {
		uint64_t method = l->items[i].key >> TICK_BITS, calls = 0;
		for (end = i; end < l->n && l->items[end].key >> TICK_BITS == method; end++)
			calls += l->items[end].calls;
		const struct zts_length *items = &l->items[i];
		if (method < n)
			ret[method] = (struct pm_call_times){.known = true,
				.p50_ns = percentile(items, end - i, calls, 50),
				.p90_ns = percentile(items, end - i, calls, 90),
				.p99_ns = percentile(items, end - i, calls, 99),
				.max_ns = percentile(items, end - i, calls, 100)};
	}
}

void zts_lengths_done(struct zts_lengths *l)
{
	free(l->items);
	*l = (struct zts_lengths){.full = l->full};
}
