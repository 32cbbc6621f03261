/* The law of comparisons, for any source: compared with itself nothing differs. */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_SELF_H
#define PROFMOUNT_TESTS_CONFORMANCE_SELF_H

#include "fs/instance.h"

/* What does not hold, or NULL. */
const char *self_breach(struct pmfs_instance *in);

#endif
