#include "fs/windows/tally.h"

#include "formats/common/list.h"
#include "formats/common/map.h"

static uint64_t hash_of(const struct pmfs_tally *t, uint32_t context)
{
	return pm_hash_u64(context ^ (uintptr_t)t->slots);
}

static uint32_t *slot_of(const struct pmfs_tally *t, uint32_t context)
{
	uint64_t at = hash_of(t, context);
	uint32_t *slot = &t->slots[at & (t->n_slots - 1)];
	while (*slot && t->items[*slot - 1].context != context)
		slot = &t->slots[++at & (t->n_slots - 1)];
	return slot;
}

static void grow(struct pmfs_tally *t)
{
	size_t n = t->n_slots ? 2 * t->n_slots : 64;
	uint32_t *slots = pm_arena_zeroed(t->arena, n, sizeof(*slots));
	pm_arena_free(t->arena, t->slots);
	t->slots = slots;
	t->n_slots = n;
	for (size_t i = 0; i < t->n; i++)
		*slot_of(t, t->items[i].context) = (uint32_t)i + 1;
}

void pmfs_tally_find(struct pmfs_tally *t, uint32_t context)
{
	if (t->n >= t->n_slots / 2)
		grow(t);
	uint32_t *slot = slot_of(t, context);
	if (!*slot) {
		pm_list_grow(t->arena, &t->items, t->n, &t->room, sizeof(*t->items));
		t->items[t->n++] = (struct pmfs_tallied){.context = context};
		*slot = (uint32_t)t->n;
	}
	t->last = *slot - 1;
}

/* With many contexts, slots are rarely in the processor's cache, so they are prefetched. */
void pmfs_tally_join(struct pmfs_tally *t, const struct pmfs_tally *from)
{
	enum { STAGE = 12, BETWEEN_QUESTIONS = 4096 };
	for (size_t i = 0; i < from->n + 2 * STAGE; i++) {
		if (i < from->n && t->slots)
			__builtin_prefetch(
				&t->slots[hash_of(t, from->items[i].context) & (t->n_slots - 1)]);
		if (i >= STAGE && i - STAGE < from->n && t->slots) {
			uint64_t at = hash_of(t, from->items[i - STAGE].context);
			uint32_t item = t->slots[at & (t->n_slots - 1)];
			__builtin_prefetch(&t->items[item ? item - 1 : 0], 1);
		}
		if (i < 2 * STAGE)
			continue;
		const struct pmfs_tallied *more = &from->items[i - 2 * STAGE];
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(t->arena);
		pmfs_tally_find(t, more->context);
		t->items[t->last].ns += more->ns;
		t->items[t->last].calls += more->calls;
	}
}

void pmfs_tally_clear(struct pmfs_tally *t)
{
	for (size_t i = 0; i < t->n_slots; i++)
		t->slots[i] = 0;
	t->n = 0;
}

void pmfs_tally_done(struct pmfs_tally *t)
{
	pm_arena_free(t->arena, t->items);
	pm_arena_free(t->arena, t->slots);
	*t = (struct pmfs_tally){.arena = t->arena};
}
