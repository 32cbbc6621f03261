/* -o memory: the most that this process may keep in memory of its own. */
#ifndef PROFMOUNT_FS_MEMORY_H
#define PROFMOUNT_FS_MEMORY_H

#include "fs/options.h"

/*
 * Limits the memory of this process, except for what it maps of files (RLIMIT_DATA, where thread
 * stacks count in full): beyond that, allocations fail, and the request that needed them gets
 * ENOMEM. Lowers o->cache_bytes to half of it. By -o memory or, if there is none and this is to be
 * a server, to a quarter of the machine's. False after a message if the limit is too low to begin
 * with.
 */
bool pmfs_memory_limit(struct pmfs_options *o);

/* The limit in bytes; 0: none. */
uint64_t pmfs_memory_limited(void);

#endif
