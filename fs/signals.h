/* What signals a thread that waits for us has got. */
#ifndef PROFMOUNT_FS_SIGNALS_H
#define PROFMOUNT_FS_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Does the thread want to stop waiting? True for a signal that ends it, or with which people ask it
 * to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT), also where nothing can be learned of it; false for
 * others that it handles, ignores or blocks: no system call has to fail for a timer or a child.
 */
bool pmfs_wants_out(pid_t tid);

#endif
