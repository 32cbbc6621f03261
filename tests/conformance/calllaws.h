/* Invariants of calls that are recorded one by one, for any source. */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_CALLLAWS_H
#define PROFMOUNT_TESTS_CONFORMANCE_CALLLAWS_H

#include "fs/instance.h"

/*
 * histogram.csv of a function is that of its percentiles in functions.csv and of its slowest.csv.
 * Says on standard error what does not hold; returns how much that is.
 */
unsigned check_call_laws(struct pmfs_instance *in, const char *source);

#endif
