/* The trees of one side's runs as one tree: a node for each path of frames, with its mean costs. */
#ifndef PROFMOUNT_FS_COMPARE_FOLD_H
#define PROFMOUNT_FS_COMPARE_FOLD_H

#include "fs/compare/frames.h"

struct pmfs_folded {
	uint32_t n;
	uint32_t n_runs;     /* runs that were added */
	uint32_t *parent;    /* PM_NONE at the top; parents come before children */
	uint32_t *key;       /* key of the frame */
	double *mean;        /* costs->n per node; NaN: no repetition has a value */
	double *squares;     /* see struct pmfs_sample; NULL without repetitions */
	struct pm_map nodes; /* parent + 1, key → node */
	size_t room_parent, room_key;
};

/*
 * Adds the run's tree. `*ret_of` is the node of each context, to be freed by the caller, also after
 * a failure; PM_NONE for a root without costs of its own that only this side has: what is below it
 * is at the top. 0 or a negative errno. O(n).
 */
int pmfs_fold(struct pmfs_folded *f, const struct pmfs_frames *frames,
	const struct pmfs_costs *costs, uint32_t run, struct pmfs_model *m, uint32_t **ret_of,
	struct pm_error *err);

static inline uint64_t pmfs_folded_place(uint32_t parent, uint32_t key)
{
	return (uint64_t)(parent + 1) << 32 | key;
}

/* Frees what is needed only for adding trees and looking up nodes, a third of the memory. */
void pmfs_folded_close(struct pmfs_folded *f);

void pmfs_folded_done(struct pmfs_folded *f);

#endif
