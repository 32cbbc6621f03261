/* Folders and paths of sources. */
#ifndef PROFMOUNT_FOLDER_H
#define PROFMOUNT_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <time.h>

#include "profmount/bytes.h"

/*
 * Opens a directory stream at its beginning, whatever the position of the descriptor, which remains
 * the caller's. NULL with errno if it cannot be read; ENOMEM if descriptors have run out
 * (reason.h). Close with closedir().
 */
DIR *pm_folder_list(int folder);

/* Names of files in a folder, by strverscmp. Zeroed = none. */
struct pm_names {
	char **items;
	size_t n, room;
	bool others; /* the search stopped at one that is not allowed, or there are too many */
};

/*
 * Lists the names, without hidden ones, for which `is_one` returns 1; 0: ignored, -1: the search
 * stops, -ENOMEM. At most `most`. 0, -ENOMEM, or the code of what failed.
 */
int pm_folder_names(int folder, int (*is_one)(void *context, int folder, const char *name),
	void *context, size_t most, struct pm_names *ret);
void pm_names_done(struct pm_names *names);

/* Opens the directory that the file at `path` is in: a descriptor, the caller's, or -1 with errno.
 */
int pm_folder_around(const char *path);

/* The last name of a path; within `path`. */
const char *pm_path_name(const char *path);

/* A time of stat() or clock_gettime() in ns. */
static inline uint64_t pm_time_ns(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
