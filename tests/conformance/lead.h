/* Invariants of the primary quantity, for any source. */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_LEAD_H
#define PROFMOUNT_TESTS_CONFORMANCE_LEAD_H

#include "fs/instance.h"

/*
 * What breaks the law, or NULL: the columns of what leads come first and others in database order,
 * own cost before inclusive; siblings are in its order, functions in that of its own cost. So it is
 * with another one in the lead.
 */
const char *lead_breach(struct pmfs_instance *in);

#endif
