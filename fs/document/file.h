/*
 * Files of the source that are passed through as they are (source/, YAML files): opened for
 * each answer, never outside of their folder, refused once they changed.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_FILE_H
#define PROFMOUNT_FS_DOCUMENT_FILE_H

#include <time.h>

#include "profmount/error.h"

/*
 * Opens a regular file below `folder`; symbolic links may not lead out of it. `since`: the file
 * must not have been changed, created or replaced after that time. -EIO otherwise.
 * `*ret_fd` is the caller's.
 */
int pmfs_file_open(int folder, const char *path, const struct timespec *since, int *ret_fd,
	uint64_t *ret_size, struct pm_error *err);

#endif
