/*
 * Threads that build have a name of their own, which the threads that they start inherit: so what
 * they are doing can be told from outside of them, by us and by `top -H`.
 */
#ifndef PROFMOUNT_FS_BUILDERS_H
#define PROFMOUNT_FS_BUILDERS_H

#include <stdbool.h>

/* From here on this thread builds; and no more. */
void pmfs_builder_begin(void);
void pmfs_builder_end(void);

/*
 * How many threads that build have work for a processor, whether they have got one or not; those
 * that wait for a disk, a lock or each other have none. 0 where /proc does not tell. A few
 * microseconds for each thread of the process.
 */
unsigned pmfs_builders_running(void);

#endif
