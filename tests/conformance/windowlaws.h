/* Invariants of windows, for any source. */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_WINDOWLAWS_H
#define PROFMOUNT_TESTS_CONFORMANCE_WINDOWLAWS_H

#include "fs/instance.h"

/*
 * A window has those parts of the trace's samples or calls that lie inside, to the nanosecond; so
 * has each thread's; windows side by side add up to the one that joins them. Says on standard error
 * what does not hold; returns how much that is.
 */
unsigned check_window_laws(struct pmfs_instance *in, const char *source);

#endif
