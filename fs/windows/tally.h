/* Times and calls by context, while they are added up. */
#ifndef PROFMOUNT_FS_WINDOWS_TALLY_H
#define PROFMOUNT_FS_WINDOWS_TALLY_H

#include "formats/common/callcosts.h"

struct pmfs_tallied {
	uint32_t context; /* number; any that a source may contain */
	uint64_t calls;
	pm_sum ns;
};

/* Zeroed = empty. */
struct pmfs_tally {
	struct pmfs_tallied *items;
	size_t n, room;
	uint32_t *slots; /* open addressing: index in items + 1; 0: free */
	size_t n_slots;
	uint32_t last; /* index of the context that was added to last */
};

/* 0 or -ENOMEM. Numbers that are 0 or too large for a tree are ignored. */
int pmfs_tally_add(struct pmfs_tally *t, uint64_t context, uint64_t ns, uint64_t calls);
void pmfs_tally_clear(struct pmfs_tally *t);
void pmfs_tally_done(struct pmfs_tally *t);

#endif
