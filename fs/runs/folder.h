/* Sources in a directory. */
#ifndef PROFMOUNT_FS_RUNS_FOLDER_H
#define PROFMOUNT_FS_RUNS_FOLDER_H

#include "profmount/error.h"

/*
 * Calls found(context, path below the directory) for each source in it, at any depth, in the
 * natural order of paths. What is below a source belongs to it. Links to directories are not
 * followed; links to sources are used if their target was not found otherwise. Reads directories
 * and the beginning of each file. What cannot be opened is left out; `unread`, empty before,
 * becomes the first error of these. 0, -EINVAL with more than PM_LIMIT_FOLDER entries, -ENOMEM, or
 * what `found` returned.
 */
int pmfs_folder_find(const char *folder, int (*found)(void *context, const char *below),
	void *context, struct pm_error *unread, struct pm_error *err);

/* Size of the files directly in a directory; 0 if it cannot be read. */
uint64_t pmfs_folder_bytes(const char *folder);

#endif
