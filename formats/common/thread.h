/* Threads of the program's own. */
#ifndef PROFMOUNT_THREAD_H
#define PROFMOUNT_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that receives no signals, except those that its own instructions raise. */
bool pm_thread_start(pthread_t *ret, void *(*run)(void *context), void *context);

#endif
