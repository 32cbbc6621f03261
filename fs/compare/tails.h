/* As much of the end of a path as distinguishes it from the other paths of its run. */
#ifndef PROFMOUNT_FS_COMPARE_TAILS_H
#define PROFMOUNT_FS_COMPARE_TAILS_H

#include "formats/common/map.h"

struct pmfs_match_path {
	uint32_t run, text; /* index of its text */
	bool is_file;       /* else a module */
};

/* Of modules (0) and files (1). Zeroed = empty. */
struct pmfs_tails {
	struct pm_strtab bases[2];
	struct pm_map depth[2]; /* base name → components to keep */
};

/* Sorts the paths. 0 or -ENOMEM. O(n log n). */
int pmfs_tails_find(
	struct pmfs_tails *t, struct pmfs_match_path *p, size_t n, const struct pm_bytes *texts);

/* The end of the path that is kept, or only its `base` name. */
struct pm_bytes pmfs_tails_cut(
	const struct pmfs_tails *t, unsigned what, struct pm_bytes path, bool base);

void pmfs_tails_done(struct pmfs_tails *t);

#endif
