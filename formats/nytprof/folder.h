/* The profiles in a directory: those of one run, with a file for each process. */
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
 * Whether the directory contains a profile: 1, 0, or -EIO if it cannot be listed. Reads the
 * beginnings of at most 512 files.
 */
int nytp_folder_matches(int fd);

/*
 * Lists the profiles in a directory. -EINVAL if their names belong to more than one run; -EIO,
 * -ENOMEM. Free with nytp_folder_done, even after a failure.
 */
int nytp_folder_list(struct nytp_folder *f, int fd, const char *path, struct pm_error *err);

void nytp_folder_done(struct nytp_folder *f);

#endif
