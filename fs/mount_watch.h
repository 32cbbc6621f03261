/*
 * The watch: a thread that looks at all jobs every few milliseconds while there are any. It answers
 * who was interrupted and who need not wait, ends what nobody waits for, lets jobs start while
 * processors are idle, and ends everything with the session.
 */
#ifndef PROFMOUNT_FS_MOUNT_WATCH_H
#define PROFMOUNT_FS_MOUNT_WATCH_H

#include "fs/mount_pool.h"

/* Starts it as jobs->watch; false without threads. It ends once jobs->stopped is set. */
bool pmfs_watch_start(struct pmfs_jobs *jobs);

#endif
