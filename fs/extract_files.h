/* --extract: one file, link or directory on disk, and the budget for all of them. */
#ifndef PROFMOUNT_FS_EXTRACT_FILES_H
#define PROFMOUNT_FS_EXTRACT_FILES_H

#include "formats/common/text.h"
#include "fs/instance.h"

struct pmfs_extraction {
	struct pmfs_instance *in;
	int folder;          /* open directory that entries are written to */
	struct pm_text path; /* of what is being written, as messages show it */
	uint64_t files, failed;
	uint64_t most, written; /* bytes, in whole blocks as on a disk */
	bool full;              /* the limit was reached: nothing more is written */
};

/* Reports something about a path on standard error; the middle of a long path is left out. */
void pmfs_extract_say(struct pm_bytes path, const char *what);

/* Reports and counts an error about the current path. */
void pmfs_extract_failed(struct pmfs_extraction *x, int code, const struct pm_error *err);

/* Writes a file or link into the open directory; reports errors, and leaves no part of a file. */
void pmfs_extract_entry(
	struct pmfs_extraction *x, const struct pmfs_entry *entry, const char *name);

/*
 * Creates a directory in the open one (or uses one that exists), which is open then. On failure the
 * open directory stays. 0 or a negative errno; -ENOSPC at the limit.
 */
int pmfs_extract_enter(struct pmfs_extraction *x, const char *name, struct pm_error *err);

/*
 * Opens the parent of the open directory. -EIO if that cannot be done: nothing more can be written
 * at its place then.
 */
int pmfs_extract_leave(struct pmfs_extraction *x);

#endif
