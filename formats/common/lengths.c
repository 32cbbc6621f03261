#include "formats/common/lengths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/buckets.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "formats/common/zeroed.h"
#include "profmount/limits.h"

enum { FEWEST = 64, BETWEEN_QUESTIONS = 1 << 12 };

/* Salted with the table's address, so that the input cannot cause collisions. */
static inline uint64_t hash_of(const struct pm_lengths *l, uint32_t of, uint64_t length)
{
	return pm_hash_u64((of ^ (uintptr_t)l->items) * 0x9e3779b97f4a7c15u ^ length);
}

/*
 * The slot of a length, or the free slot where it belongs. Slots whose count is at its limit are
 * skipped; such a length has several slots.
 */
static inline struct pm_length *slot_of(const struct pm_lengths *l, uint32_t of, uint64_t length)
{
	uint64_t at = hash_of(l, of, length);
	struct pm_length *slot = &l->items[at & (l->room - 1)];
	while (slot->calls &&
		(slot->length != length || slot->of != of || slot->calls == UINT32_MAX))
		slot = &l->items[++at & (l->room - 1)];
	return slot;
}

/* A length may have several items, which slot_of would merge. */
static struct pm_length *free_slot_of(const struct pm_lengths *l, uint32_t of, uint64_t length)
{
	uint64_t at = hash_of(l, of, length);
	while (l->items[at & (l->room - 1)].calls)
		at++;
	return &l->items[at & (l->room - 1)];
}

static int grow(struct pm_lengths *l)
{
	struct pm_lengths more = *l;
	more.room = l->room ? 2 * l->room : FEWEST;
	if (pm_work_cancelled())
		return -ENOMEM;
	more.items = pm_zeroed(more.room, sizeof(*more.items));
	if (!more.items)
		return -ENOMEM;
	for (size_t i = 0; i < l->room; i++)
		if (l->items[i].calls)
			*free_slot_of(&more, l->items[i].of, l->items[i].length) = l->items[i];
	free(l->items);
	*l = more;
	return 0;
}

static int overflow(struct pm_lengths *l)
{
	if (l->any_full)
		__atomic_store_n(l->any_full, true, __ATOMIC_RELAXED);
	pm_lengths_done(l);
	l->full = true;
	return 0;
}

static bool is_full(struct pm_lengths *l)
{
	if (!l->full && l->any_full && __atomic_load_n(l->any_full, __ATOMIC_RELAXED))
		overflow(l);
	return l->full;
}

/* As many of the calls as one item can count; subtracts them from *calls. */
static int add_some(struct pm_lengths *l, uint32_t of, uint64_t length, uint64_t *calls)
{
	if (l->n >= l->room / 2 && l->n < PM_LIMIT_LENGTHS && grow(l) < 0)
		return -ENOMEM;
	struct pm_length *slot = slot_of(l, of, length);
	if (!slot->calls) {
		if (l->n >= PM_LIMIT_LENGTHS)
			return overflow(l);
		slot->length = length;
		slot->of = of;
		l->n++;
	}
	uint64_t room = UINT32_MAX - slot->calls, some = *calls < room ? *calls : room;
	slot->calls += (uint32_t)some;
	*calls -= some;
	return 0;
}

int pm_lengths_add(struct pm_lengths *l, uint32_t of, uint64_t length, uint64_t calls)
{
	int r = 0;
	while (calls && r == 0 && !is_full(l))
		r = add_some(l, of, length, &calls);
	return r;
}

/* Most slots are not in the processor's cache: they are prefetched while others are counted. */
int pm_lengths_add_all(struct pm_lengths *l, const struct pm_timed *calls, size_t n)
{
	enum { AHEAD = 16 };
	int r = 0;
	for (size_t i = 0; i < n && r == 0 && !l->full; i++) {
		if (i + AHEAD < n && l->room) {
			const struct pm_timed *later = &calls[i + AHEAD];
			uint64_t at = hash_of(l, later->of, later->length);
			__builtin_prefetch(&l->items[at & (l->room - 1)], 1);
		}
		r = pm_lengths_add(l, calls[i].of, calls[i].length, 1);
	}
	return r;
}

int pm_lengths_join(struct pm_lengths *l, const struct pm_lengths *from, const uint32_t *to)
{
	int r = from->full ? overflow(l) : 0;
	for (size_t i = 0; i < from->room && r == 0; i++) {
		const struct pm_length *item = &from->items[i];
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return -ENOMEM;
		if (item->calls)
			r = pm_lengths_add(
				l, to ? to[item->of] : item->of, item->length, item->calls);
	}
	return r;
}

/* ---- percentiles ---- */

static int by_length(const void *a, const void *b)
{
	const struct pm_length *x = a, *y = b;
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->length > y->length) - (x->length < y->length);
}

/* The length of the call at that share of the calls, shortest first. */
static uint64_t percentile(
	const struct pm_length *items, size_t n, uint64_t calls, unsigned percent)
{
	unsigned __int128 share = (unsigned __int128)calls * percent;
	uint64_t rank = (uint64_t)((share + 99) / 100), before = 0;
	size_t i = 0;
	while (i + 1 < n && before + items[i].calls < rank)
		before += items[i++].calls;
	return items[i].length;
}

/* Percentiles of the n lengths of a function, which are sorted. */
static struct pm_call_times times_of(const struct pm_length *items, size_t n)
{
	uint64_t calls = 0;
	for (size_t i = 0; i < n; i++)
		calls += items[i].calls;
	if (items[n - 1].length == PM_NO_TIME)
		return (struct pm_call_times){.known = false};
	return (struct pm_call_times){.known = true,
		.p50_ns = percentile(items, n, calls, 50),
		.p90_ns = percentile(items, n, calls, 90),
		.p99_ns = percentile(items, n, calls, 99),
		.max_ns = items[n - 1].length};
}

/* The slots in use, sorted. */
static int sort(struct pm_lengths *l)
{
	size_t n = 0;
	for (size_t i = 0; i < l->room; i++)
		if (l->items[i].calls)
			l->items[n++] = l->items[i];
	l->n = n;
	return n ? pm_sort(l->items, n, sizeof(*l->items), by_length) : 0;
}

int pm_lengths_times(struct pm_lengths *l, struct pm_call_times *ret, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ret[i] = (struct pm_call_times){.known = false};
	int r = sort(l);
	for (size_t i = 0, end; r == 0 && i < l->n; i = end) {
		uint32_t of = l->items[i].of;
		for (end = i; end < l->n && l->items[end].of == of; end++)
			;
		if (of < n)
			ret[of] = times_of(&l->items[i], end - i);
	}
	return r;
}

/* ---- the histogram of a function ---- */

/* Of items in order; at most PM_BUCKETS. Returns how many. */
static uint32_t fill_buckets(const struct pm_lengths *l, struct pm_call_bucket *ret)
{
	uint32_t n = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct pm_length *item = &l->items[i];
		uint32_t index = pm_bucket_of(item->length);
		if (n == 0 || ret[n - 1].index != index)
			ret[n++] = (struct pm_call_bucket){.index = index};
		ret[n - 1].calls += item->calls;
		ret[n - 1].ns += (unsigned __int128)item->length * item->calls;
	}
	return n;
}

int pm_lengths_histogram(struct pm_lengths *l, struct pm_arena *arena, struct pm_call_times *ret)
{
	struct pm_call_bucket found[PM_BUCKETS];
	*ret = (struct pm_call_times){.known = false};
	int r = sort(l);
	if (r < 0 || l->n == 0)
		return r;
	*ret = times_of(l->items, l->n);
	if (!ret->known)
		return 0;
	uint32_t n = fill_buckets(l, found);
	struct pm_call_bucket *buckets = pm_arena_array(arena, n, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	memcpy(buckets, found, n * sizeof(*buckets));
	ret->buckets = buckets;
	ret->n_buckets = n;
	return 0;
}

void pm_lengths_done(struct pm_lengths *l)
{
	free(l->items);
	*l = (struct pm_lengths){.full = l->full};
}
