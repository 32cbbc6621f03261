/* Threads of the program's own. */
#ifndef PROFMOUNT_FS_THREAD_H
#define PROFMOUNT_FS_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts one that no signal goes to but those that its own doing raises. */
bool pmfs_thread_start(pthread_t *ret, void *(*run)(void *context), void *context);

#endif
