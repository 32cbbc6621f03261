/*
 * Inflating ahead: a thread makes the next blocks while its owner works on those before. For
 * inflate.c alone; knows neither zlib nor windows.
 */
#ifndef PROFMOUNT_FORMATS_COMMON_AHEAD_H
#define PROFMOUNT_FORMATS_COMMON_AHEAD_H

#include "formats/common/inflate.h"

/* Bytes that were made at once, and how the stream stands behind them. */
struct pm_step {
	size_t n;
	enum pm_inflate_state state; /* PM_INFLATE_MORE: another step gives more, perhaps 0 bytes */
	uint64_t in;
	const char *why;
};

struct pm_ahead;

/*
 * Starts a thread that calls make(source, …) with room for at least 1 byte until the stream ends
 * or pm_ahead_free is called; `source` is its own until then. NULL without memory or thread.
 */
struct pm_ahead *pm_ahead_new(
	struct pm_step (*make)(void *source, uint8_t *room, size_t n), void *source);

/*
 * The next n bytes at `room`; fewer only where the stream ended or broke behind them. Waits for
 * them. Gives the same on every run, however fast the thread is.
 */
struct pm_step pm_ahead_take(struct pm_ahead *a, uint8_t *room, size_t n);

/* Ends the thread, wherever it is. Accepts NULL. Returns NULL. */
struct pm_ahead *pm_ahead_free(struct pm_ahead *a);

#endif
