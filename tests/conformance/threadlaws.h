/* Invariants of threads: threads.csv and trace.csv agree. */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_THREADLAWS_H
#define PROFMOUNT_TESTS_CONFORMANCE_THREADLAWS_H

#include "fs/instance.h"

/* Says on standard error what does not hold; returns how much that is. */
unsigned check_thread_laws(struct pmfs_instance *in, const char *source);

#endif
