/*
 * Load modules outside the measurement: files of this machine at the paths in the load map.
 * Decision 33 says which files are opened, and when they are trusted.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_ELSEWHERE_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_ELSEWHERE_H

#include "formats/common/input.h"

/* Zeroed = no such files. */
struct hpcrun_elsewhere {
	bool is_open;
	int root;         /* owned: the folder that paths start from */
	bool is_given;    /* from -o sysroot: its files are assumed to be the measured ones */
	uint64_t *mounts; /* owned: ids of mounts that may be entered: those that existed at opening
			   */
	size_t n_mounts;
};

/*
 * Opens `root` (NULL: the root of this machine); call it before mounting. If it cannot be opened:
 * -EINVAL, or an empty result if `root` is NULL. -ENOMEM.
 */
int hpcrun_elsewhere_open(struct hpcrun_elsewhere *e, const char *root, struct pm_error *err);

/*
 * Maps the ELF file of a load module: 1, 0 if it does not exist or is not known to be the measured
 * one, or -ENOMEM. `written_ns`: when the youngest profile was written.
 */
int hpcrun_elsewhere_find(const struct hpcrun_elsewhere *e, struct pm_bytes path,
	uint64_t written_ns, struct pm_input *ret);

/* The same for the debug file with this build id. */
int hpcrun_elsewhere_find_debug(
	const struct hpcrun_elsewhere *e, const uint8_t *build_id, size_t n, struct pm_input *ret);

/*
 * The same for the alternate that a debug file names: by its build id, or at its path, where a
 * relative one is that of a file in usr/lib/debug/.dwz.
 */
int hpcrun_elsewhere_find_alternate(const struct hpcrun_elsewhere *e, struct pm_bytes path,
	const uint8_t *build_id, size_t n, struct pm_input *ret);

/* Also for a zeroed one. */
void hpcrun_elsewhere_done(struct hpcrun_elsewhere *e);

#endif
