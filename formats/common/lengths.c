#include "formats/common/lengths.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
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

static int by_function(const void *a, const void *b)
{
	const struct pm_length *x = a, *y = b;
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->length > y->length) - (x->length < y->length);
}

/* Makes one item of those with the same length, as far as it can count their calls. */
static int merge_joined(struct pm_lengths *l)
{
	struct pm_length *items = l->joined;
	size_t n = 0;
	if (pm_sort(items, l->n_joined, sizeof(*items), by_function) < 0)
		return -ENOMEM;
	for (size_t i = 1; i < l->n_joined; i++) {
		bool same = by_function(&items[n], &items[i]) == 0 &&
			items[i].calls <= UINT32_MAX - items[n].calls;
		if (same)
			items[n].calls += items[i].calls;
		else
			items[++n] = items[i];
	}
	l->n_joined = n + 1;
	return l->n_joined > PM_LIMIT_LENGTHS ? overflow(l) : 0;
}

/*
 * Joined items are only sorted in the end, because a table would have to find each of them first;
 * or if there are so many that some of them must be the same.
 */
int pm_lengths_join(struct pm_lengths *l, const struct pm_lengths *from, const uint32_t *to)
{
	if (is_full(l) || from->full)
		return overflow(l);
	size_t n = l->n_joined + from->n;
	struct pm_length *joined = realloc(l->joined, (n + 1) * sizeof(*joined));
	if (!joined)
		return -ENOMEM;
	l->joined = joined;
	for (size_t i = 0; i < from->room; i++) {
		struct pm_length item = from->items[i];
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return -ENOMEM;
		if (!item.calls)
			continue;
		item.of = to ? to[item.of] : item.of;
		joined[l->n_joined++] = item;
	}
	return l->n_joined > 2 * PM_LIMIT_LENGTHS ? merge_joined(l) : 0;
}

void pm_lengths_done(struct pm_lengths *l)
{
	free(l->items);
	free(l->joined);
	*l = (struct pm_lengths){.full = l->full};
}
