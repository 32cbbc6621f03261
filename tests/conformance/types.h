/* The invariant of types: the cells of a table have the types of its columns. */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_TYPES_H
#define PROFMOUNT_TESTS_CONFORMANCE_TYPES_H

#include "fs/instance.h"

/* What does not hold for the table at that node, valid until the next call; NULL where all does. */
const char *types_breach(struct pmfs_instance *in, pm_node node);

#endif
