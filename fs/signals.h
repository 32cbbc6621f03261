/* Signals of a thread that waits for us. */
#ifndef PROFMOUNT_FS_SIGNALS_H
#define PROFMOUNT_FS_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether the thread should stop waiting. True if it has a pending signal that ends it or asks it
 * to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT), and if this cannot be determined; false for other
 * signals that it handles, ignores or blocks, since a timer or a child must not make a system call
 * fail.
 */
bool pmfs_wants_out(pid_t tid);

#endif
