/*
 * Threads that build have a special name, which the threads that they start inherit, so they can be
 * recognised from outside, by us and by `top -H`.
 */
#ifndef PROFMOUNT_FS_BUILDERS_H
#define PROFMOUNT_FS_BUILDERS_H

#include <stdbool.h>

/* This thread starts building; stops building. */
void pmfs_builder_begin(void);
void pmfs_builder_end(void);

/*
 * The number of building threads that are runnable, i.e. not waiting for a disk, a lock or each
 * other. 0 if /proc is not available. A few microseconds for each thread of the process.
 */
unsigned pmfs_builders_running(void);

#endif
