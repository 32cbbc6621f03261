/* The invariant of comparisons, for any source: it does not differ from itself. */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_SELF_H
#define PROFMOUNT_TESTS_CONFORMANCE_SELF_H

#include "fs/instance.h"

/* What does not hold, or NULL. */
const char *self_breach(struct pmfs_instance *in);

#endif
