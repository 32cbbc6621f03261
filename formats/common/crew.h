/*
 * Several threads on one piece of work: the caller and its helpers, all registered with the
 * caller's struct pm_work (formats/common/work.h).
 */
#ifndef PROFMOUNT_CREW_H
#define PROFMOUNT_CREW_H

#include <pthread.h>
#include <stddef.h>

#include "formats/common/work.h"

#define PM_CREW_MOST 16 /* with more threads than this, memory is the bottleneck */

struct pm_crew {
	struct pm_work *work;
	void *(*help)(void *context);
	void *context;
	unsigned n;
	pthread_t threads[PM_CREW_MOST];
};

/* How many threads work at the same time: one per processor, at least 1, at most PM_CREW_MOST. */
unsigned pm_crew_width(void);

/*
 * Starts up to `n` helpers, each of which calls help(context) once. Returns the number started,
 * which is 0 if no thread can be created. The crew must not move until pm_crew_join.
 */
unsigned pm_crew_start(
	struct pm_crew *crew, unsigned n, void *(*help)(void *context), void *context);

/* Waits until all helpers have returned. */
void pm_crew_join(struct pm_crew *crew);

/*
 * Calls work(context, i) for each i below n, on all processors, in no order. Returns 0 or the first
 * error, after which no further pieces are started; -ENOMEM once the work is cancelled. If no
 * threads can be created, the caller does everything, with the same result.
 */
int pm_crew_each(size_t n, int (*work)(void *context, size_t i), void *context);

#endif
