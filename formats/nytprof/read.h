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

/* True where the bytes are of a kind of NYTProf file, known or not. */
bool nytp_head_matches(struct pm_bytes head);

#endif
