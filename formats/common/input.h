/*
 * A file of the source, mapped read-only.
 *
 * If the file is truncated during the mount, or its file system cannot read it, accessing a lost
 * page raises SIGBUS. The handler maps a zero page there and marks the input as changed. The reader
 * continues with zeros, and the request fails with EIO, because pm_input_changed is checked before
 * every reply.
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
	struct pm_watch *watch; /* owned by the caller; NULL: the file must not grow */
	int fd;                 /* owned; -1 when closed */
	int slot;      /* of the SIGBUS guard; -1 for an empty file or one read into memory */
	bool changed;  /* atomic; see pm_input_changed */
	size_t passed; /* see pm_input_passed */
};

/*
 * Opens `path` below the directory `folder` (AT_FDCWD for any path). -ENOENT if there is none,
 * -EINVAL if it is not a regular file, -EIO if it cannot be read, -ENOMEM if memory or descriptors
 * ran out.
 */
int pm_input_open(struct pm_input *in, int folder, const char *path, struct pm_error *err);

/* Takes ownership of an open file descriptor (closed on failure, too). */
int pm_input_take(struct pm_input *in, int fd, const char *name, struct pm_error *err);

/*
 * The same for a file that may grow: maps as much of it as `watch` covers, which must outlive the
 * input; -EIO if it is a different file now.
 */
int pm_input_open_watched(struct pm_input *in, int folder, const char *path, struct pm_watch *watch,
	struct pm_error *err);
int pm_input_take_watched(struct pm_input *in, int fd, const char *name, struct pm_watch *watch,
	struct pm_error *err);

/*
 * True once the file has changed since opening (see pm_stamp_compare; a watched file may have
 * grown), or a page was lost. ~200 ns.
 */
bool pm_input_changed(struct pm_input *in);

/*
 * Lets a library that changes what it reads write into the mapping; the file itself is not changed.
 * -ENOMEM if a limit counts the whole mapping and it is too large; nothing has changed then.
 */
int pm_input_allow_writes(struct pm_input *in);

/*
 * Has other bytes from now on, in allocated memory that becomes the input's: what the file is
 * unpacked.
 */
void pm_input_replace(struct pm_input *in, uint8_t *p, size_t n);

/*
 * For scans of a file: releases pages before `upto` from the process's memory, in large steps; they
 * are mapped again on access. Not thread-safe.
 */
void pm_input_passed(struct pm_input *in, uint64_t upto);

/* Accepts a zeroed input and one that failed to open. */
void pm_input_close(struct pm_input *in);

#endif
