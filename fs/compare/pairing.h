/* Which nodes of two trees correspond. */
#ifndef PROFMOUNT_FS_COMPARE_PAIRING_H
#define PROFMOUNT_FS_COMPARE_PAIRING_H

#include "fs/compare/fold.h"

/*
 * The union of two trees as nodes: those of the baseline first, with their indexes, then those that
 * only the other side has.
 */
struct pmfs_pairing {
	uint32_t n;
	uint32_t *of_other; /* node of the other side → node of the union */
	uint32_t *parent;   /* by node of the union */
};

/* 0 or -ENOMEM, with nothing allocated. Linear, except for lists of lines: see places.h. */
int pmfs_pair_trees(const struct pmfs_frames *frames, const struct pmfs_folded *base,
	const struct pmfs_folded *other, struct pmfs_pairing *ret);

void pmfs_pairing_done(struct pmfs_pairing *p);

#endif
