/* Reads the bytes of one file into its tables. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_READ_H
#define PROFMOUNT_FORMATS_NYTPROF_READ_H

#include "formats/nytprof/native.h"

/*
 * Fills `f` (zeroed but for its name), which the caller gives back with nytp_file_done, also after
 * a failure. Damage is collected in n->damage. -EINVAL: not a profile; -ENOTSUP: a version that
 * cannot be read; -ENOMEM. One pass over `bytes`, which need not outlive the call.
 */
int nytp_file_read(
	struct nytp *n, struct nytp_file *f, struct pm_bytes bytes, struct pm_error *err);

/* What the beginning of a file tells. */
struct nytp_head {
	enum nytp_layout layout;
	double start; /* of the program: basetime, epoch seconds; NaN = not said */
	bool blocks;  /* times of blocks are recorded, or it is not said */
};

/*
 * Looks at a file's header lines and at what follows them. Fails as nytp_file_read does where the
 * file is nothing that can be read; what is wrong further on is damage.
 */
int nytp_head_read(
	struct pm_bytes bytes, const char *name, struct nytp_head *ret, struct pm_error *err);

/* True where the bytes are of a kind of NYTProf file, known or not. */
bool nytp_head_matches(struct pm_bytes head);

#endif
