/*
 * Working ahead: a thread produces the next blocks while its owner processes earlier ones. Of
 * inflate.c, and of readers whose records have an order of their own.
 */
#ifndef PROFMOUNT_FORMATS_COMMON_AHEAD_H
#define PROFMOUNT_FORMATS_COMMON_AHEAD_H

#include "formats/common/inflate.h"

/* Bytes produced in one step, and the state of the stream after them. */
struct pm_ahead_step {
	size_t n;
	enum pm_inflate_state
		state; /* PM_INFLATE_MORE: the next step may produce more, or 0 bytes */
	uint64_t in;
	const char *why;
};

struct pm_ahead;

/* Room of a block, aligned for any type. */
enum { PM_AHEAD_BLOCK = 256 << 10 };

/*
 * Starts a thread that calls make(source, …) with room for a block until the stream ends or
 * pm_ahead_free is called; only this thread uses `source` until then. NULL if there is no memory or
 * thread.
 */
struct pm_ahead *pm_ahead_new(
	struct pm_ahead_step (*make)(void *source, uint8_t *room, size_t n), void *source);

/*
 * Copies the next n bytes to `room`; fewer only if the stream ended or broke after them. Waits for
 * them. The result does not depend on the speed of the thread.
 */
struct pm_ahead_step pm_ahead_take(struct pm_ahead *a, uint8_t *room, size_t n);

/*
 * Instead of it: the next block as it was made, valid until the next call. step.n is 0 at the end.
 */
const uint8_t *pm_ahead_block(struct pm_ahead *a, struct pm_ahead_step *ret);

/* Ends the thread at any point. Accepts NULL. Returns NULL. */
struct pm_ahead *pm_ahead_free(struct pm_ahead *a);

#endif
