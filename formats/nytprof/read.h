/* Reads the bytes of one file into its tables. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_READ_H
#define PROFMOUNT_FORMATS_NYTPROF_READ_H

#include "formats/nytprof/native.h"

/*
 * Fills `f` (zeroed except its name), which the caller frees with nytp_file_done, even after a
 * failure. Damage is collected in n->damage. -EINVAL: not a profile; -ENOTSUP: a version that
 * cannot be read; -ENOMEM. One pass over `bytes`, which need not outlive the call.
 */
int nytp_file_read(
	struct nytp *n, struct nytp_file *f, struct pm_bytes bytes, struct pm_error *err);

/* Information at the beginning of a file. */
struct nytp_head {
	enum nytp_layout layout;
	double start; /* of the program: basetime, epoch seconds; NaN = not stored */
	bool blocks;  /* times of blocks are recorded, or this is unknown */
};

/*
 * Reads a file's header lines and the data after them. Fails like nytp_file_read if the file is not
 * readable; later errors are damage.
 */
int nytp_head_read(
	struct pm_bytes bytes, const char *name, struct nytp_head *ret, struct pm_error *err);

/* True if the bytes are those of any NYTProf file, supported or not. */
bool nytp_head_matches(struct pm_bytes head);

#endif
