/* Times and calls by context, while they are added up. */
#ifndef PROFMOUNT_FS_WINDOWS_TALLY_H
#define PROFMOUNT_FS_WINDOWS_TALLY_H

#include "formats/common/callcosts.h"

struct pmfs_tallied {
	uint32_t context; /* number; any that a source may contain */
	uint64_t calls;
	pm_sum ns;
};

enum { PMFS_RECENT = 256 };

/* Empty if all but the arena is zeroed; what is added to it is added in a build of that. */
struct pmfs_tally {
	struct pm_arena *arena;
	struct pmfs_tallied *items;
	size_t n, room;
	uint32_t *slots; /* open addressing: index in items + 1; 0: free */
	size_t n_slots;
	uint32_t last;                /* index of the context that was last added to */
	uint32_t recent[PMFS_RECENT]; /* likely indexes of contexts */
};

/* Finds the context, or adds it: sets `last`. */
void pmfs_tally_find(struct pmfs_tally *t, uint32_t context);

/*
 * Numbers that are too large for a tree are ignored. Inline, because traces have many records and
 * few contexts.
 */
static inline void pmfs_tally_add(struct pmfs_tally *t, uint64_t context, pm_sum ns, uint64_t calls)
{
	if (context > UINT32_MAX)
		return;
	uint32_t i = t->recent[context % PMFS_RECENT];
	if (i >= t->n || t->items[i].context != context) {
		pmfs_tally_find(t, (uint32_t)context);
		i = t->last;
		t->recent[context % PMFS_RECENT] = i;
	}
	t->last = i;
	t->items[i].ns += ns;
	t->items[i].calls += calls;
}

/* Adds everything in another tally. */
void pmfs_tally_join(struct pmfs_tally *t, const struct pmfs_tally *from);

void pmfs_tally_clear(struct pmfs_tally *t);
/* Frees what it has, which it may have again. */
void pmfs_tally_done(struct pmfs_tally *t);

#endif
