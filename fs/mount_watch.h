/*
 * The watch: a thread that checks all jobs every few milliseconds while there are any. It answers
 * requests that were interrupted or need not wait, cancels jobs that no request waits for, starts
 * jobs while processors are idle, and ends all jobs with the session.
 */
#ifndef PROFMOUNT_FS_MOUNT_WATCH_H
#define PROFMOUNT_FS_MOUNT_WATCH_H

#include "fs/mount_pool.h"

/* Starts it as jobs->watch; false if there is no thread. It ends once jobs->stopped is set. */
bool pmfs_watch_start(struct pmfs_jobs *jobs);

#endif
