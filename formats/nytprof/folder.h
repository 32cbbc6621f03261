/* The profiles in a directory: one run's, a file for each process. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_FOLDER_H
#define PROFMOUNT_FORMATS_NYTPROF_FOLDER_H

#include <stdbool.h>

#include "profmount/error.h"

struct nytp_folder {
	char **names; /* owned; X before X.1, X.2, X.10 */
	size_t n, room;
	uint64_t bytes; /* of all files */
};

/*
 * Does the directory hold a profile: 1, 0, or -EIO where it cannot be listed? Looks into the
 * beginnings of at most 512 files.
 */
int nytp_folder_matches(int fd);

/*
 * Lists the profiles in a directory. -EINVAL where they are of more than one run by their names;
 * -EIO, -ENOMEM. Give back with nytp_folder_done, also after a failure.
 */
int nytp_folder_list(struct nytp_folder *f, int fd, const char *path, struct pm_error *err);

void nytp_folder_done(struct nytp_folder *f);

#endif
