/*
 * A file of the source, mapped read-only.
 *
 * When the file shrinks under the mount, or its file system cannot read it, touching a lost page
 * raises SIGBUS: the handler maps a zero page there and marks the input as changed; whoever was
 * reading goes on with zeros, and the request ends in EIO because pm_input_changed is asked before
 * an answer leaves the program.
 */
#ifndef PROFMOUNT_INPUT_H
#define PROFMOUNT_INPUT_H

#include "formats/common/watch.h"
#include "profmount/error.h"

struct pm_input {
	struct pm_bytes bytes; /* the whole file as it was when opened; empty for an empty file */
	char *name;            /* relative to the source, for messages; owned */
	uint64_t mtime_ns;
	struct pm_stamp stamp;  /* as it was when opened */
	struct pm_watch *watch; /* the caller's; NULL: the file must not grow */
	int fd;                 /* owned; -1 when closed */
	int slot;      /* of the SIGBUS guard; -1 for an empty file or one read into memory */
	bool changed;  /* atomic; see pm_input_changed */
	size_t passed; /* see pm_input_passed */
};

/*
 * Opens `path` below the directory `folder` (AT_FDCWD for any path). -ENOENT where there is none,
 * -EINVAL for something that is not a regular file, -EIO where it cannot be read.
 */
int pm_input_open(struct pm_input *in, int folder, const char *path, struct pm_error *err);

/* Takes over an open file descriptor (closed on failure too). */
int pm_input_take(struct pm_input *in, int fd, const char *name, struct pm_error *err);

/*
 * The same for a file that may grow: what is mapped is as much of it as `watch` knows, which
 * outlives the input; -EIO where it is not that file any more.
 */
int pm_input_open_watched(struct pm_input *in, int folder, const char *path, struct pm_watch *watch,
	struct pm_error *err);
int pm_input_take_watched(struct pm_input *in, int fd, const char *name, struct pm_watch *watch,
	struct pm_error *err);

/*
 * True once the file is not what it was at opening (see pm_stamp_compare; one that is watched may
 * have grown), or a page was lost. ~200 ns.
 */
bool pm_input_changed(struct pm_input *in);

/*
 * For whoever scans a file: what lies before `upto` leaves the process's memory, in large steps,
 * and comes back when it is read again. Not for use by several threads at once.
 */
void pm_input_passed(struct pm_input *in, uint64_t upto);

/* Accepts a zeroed or failed one. */
void pm_input_close(struct pm_input *in);

#endif
