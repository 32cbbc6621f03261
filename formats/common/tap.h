/*
 * Sees the samples of a trace while they are read for another reason: in order, in pieces that
 * several threads may read at the same time. So what both need is read once.
 */
#ifndef PROFMOUNT_TAP_H
#define PROFMOUNT_TAP_H

#include "profmount/traces.h"

struct pm_tap {
	void *self;

	/*
	 * A piece of a thread's trace begins at sample `first`. Returns what `take` and `end` are
	 * called with, or NULL if it is not wanted.
	 */
	void *(*begin)(void *self, uint32_t thread, uint64_t first);

	/* The samples that come next in the piece. */
	void (*take)(void *piece, const struct pm_sample *samples, size_t n);

	/* There are no more of the piece, perhaps because reading failed. */
	void (*end)(void *piece);
};

#endif
