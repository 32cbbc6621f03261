/*
 * Invariants of results, for any source: what tables and exports derive from contexts adds up to
 * the total. Computed again from the rows of the documents, without the sums of fs/views/.
 */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_LAWS_H
#define PROFMOUNT_TESTS_CONFORMANCE_LAWS_H

#include "fs/instance.h"

/* Says on standard error what does not hold; returns how much that is. */
unsigned check_laws(struct pmfs_instance *in, const char *source);

#endif
