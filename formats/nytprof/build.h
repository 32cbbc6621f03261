/* Builds the complete model of a source on first need. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_BUILD_H
#define PROFMOUNT_FORMATS_NYTPROF_BUILD_H

#include "formats/nytprof/built.h"

/*
 * Whether there are sub returns to build the calling-context tree from; otherwise it is built from
 * edges.
 */
bool nytp_has_calls(const struct nytp *n);

/* -ENOMEM. Free with nytp_model_done, even after a failure. */
int nytp_model_build(struct nytp_model *m, const struct nytp *n, const struct nytp_threads *threads,
	struct pm_error *err);

void nytp_model_done(struct nytp_model *m);

#endif
