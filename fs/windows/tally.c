#include "fs/windows/tally.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/work.h"

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

static int grow(struct pmfs_tally *t)
{
	size_t n = t->n_slots ? 2 * t->n_slots : 64;
	uint32_t *slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	for (size_t i = 0; i < t->n; i++)
		*slot_of(t, t->items[i].context) = (uint32_t)i + 1;
	return 0;
}

int pmfs_tally_find(struct pmfs_tally *t, uint32_t context)
{
	if (t->n >= t->n_slots / 2 && grow(t) < 0)
		return -ENOMEM;
	uint32_t *slot = slot_of(t, context);
	if (!*slot) {
		if (pm_list_room(&t->items, t->n, &t->room, sizeof(*t->items)) < 0)
			return -ENOMEM;
		t->items[t->n++] = (struct pmfs_tallied){.context = context};
		*slot = (uint32_t)t->n;
	}
	t->last = *slot - 1;
	return 0;
}

/* With many contexts, slots are rarely in the processor's cache, so they are prefetched. */
int pmfs_tally_join(struct pmfs_tally *t, const struct pmfs_tally *from)
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
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		if (pmfs_tally_find(t, more->context) < 0)
			return -ENOMEM;
		t->items[t->last].ns += more->ns;
		t->items[t->last].calls += more->calls;
	}
	return 0;
}

void pmfs_tally_clear(struct pmfs_tally *t)
{
	for (size_t i = 0; i < t->n_slots; i++)
		t->slots[i] = 0;
	t->n = 0;
}

void pmfs_tally_done(struct pmfs_tally *t)
{
	free(t->items);
	free(t->slots);
	*t = (struct pmfs_tally){.n = 0};
}
