/* The laws of filters, for any source with call paths: docs/namespace.md, filters. */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_FILTERLAWS_H
#define PROFMOUNT_TESTS_CONFORMANCE_FILTERLAWS_H

#include "fs/instance.h"

/* Says on standard error what does not hold; returns how much that is. */
unsigned check_filter_laws(struct pmfs_instance *in, const char *source);

#endif
