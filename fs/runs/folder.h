/* Sources in a folder. */
#ifndef PROFMOUNT_FS_RUNS_FOLDER_H
#define PROFMOUNT_FS_RUNS_FOLDER_H

#include "profmount/error.h"

/*
 * Calls found(context, path below the folder) for each source in it, at any depth, in the order of
 * their paths. What is below a source is part of it. Links to folders are not gone into, but links
 * to sources count where what they lead to was not found already. Reads directories and the
 * beginning of each file.
 */
int pmfs_folder_find(const char *folder, int (*found)(void *context, const char *below),
	void *context, struct pm_error *err);

/* Bytes of the files right in a folder; 0 where it cannot be read. */
uint64_t pmfs_folder_bytes(const char *folder);

#endif
