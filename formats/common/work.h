/*
 * Work for a request. The caller (fs/) registers it on its thread; code that runs below calls
 * pm_work_cancelled at intervals and gives up by returning PM_CANCELLED. As with a failed
 * allocation, nothing half-built is kept, and the work is done again when it is next needed.
 *
 * If no work is registered, as in tests, nothing is ever cancelled.
 *
 * PM_CANCELLED is the code of PM_NO_MEMORY (error.h). Code that builds something handles failed
 * allocations, and must do exactly the same when it is cancelled: keep nothing, remember no error,
 * try no alternative. About 75 places distinguish them (pm_is_passing) from errors that are kept;
 * with two codes, each of them could forget one. The code is never shown, because the request has
 * been answered when its work is cancelled; code that needs the reason calls pm_work_cancelled.
 */
#ifndef PROFMOUNT_WORK_H
#define PROFMOUNT_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct pm_work {
	/*
	 * Answer only from what exists: nothing is built; what would have to be built fails with
	 * PM_WOULD_BUILD and sets `refused`. If it is set, the answer is invalid.
	 */
	bool at_once;
	bool refused;
	bool cancelled; /* atomic: see pm_work_cancel */
	bool gave_up;   /* atomic: the code has seen the cancellation; its result is invalid */
	uint64_t done, total; /* atomic: see pm_work_progress */
	/* Under one lock for all works: */
	const struct pm_turn *awaited; /* the turn that it waits for; NULL: none */
	bool abandoned;
	unsigned needed; /* number of other works that wait for what it builds */
	/*
	 * Set by the caller, for work that no request has asked for. It continues while nobody
	 * needs it, but ends if all requests that waited for what it builds are cancelled, and when
	 * it would have to wait for a request that builds something itself.
	 */
	bool background;
};

/*
 * Registers a work on this thread, NULL to unregister; returns the previous one. A helper remains
 * one.
 */
struct pm_work *pm_work_enter(struct pm_work *w);

/* The same for a helper thread, which ends with the work. */
void pm_work_help(struct pm_work *w);

/* The work of this thread, or NULL. */
struct pm_work *pm_work_current(void);

/*
 * Whether the work of this thread is no longer needed. A few instructions. If true, return
 * PM_CANCELLED.
 */
bool pm_work_cancelled(void);

/* Whether this thread may build something now. False for `at_once` work, which is then refused. */
bool pm_work_may_build(void);

/*
 * Reports the progress of this thread's work, in any unit; total 0: unknown. Replaces the previous
 * report. A few instructions.
 */
void pm_work_progress(uint64_t done, uint64_t total);

/* The progress of a work, or of the one that it waits for. `done` is at most `total`. */
void pm_work_how_far(const struct pm_work *w, uint64_t *ret_done, uint64_t *ret_total);

/* Cancels it in any case. */
void pm_work_cancel(struct pm_work *w);

/* The caller no longer needs it: it is cancelled unless others need what it builds. */
void pm_work_abandon(struct pm_work *w);

/* It is needed after all; false if it is too late. */
bool pm_work_want(struct pm_work *w);

/*
 * Something that one thread builds while others wait for it. There is one lock for the whole
 * program, which is not held while building. Zeroed = ready for use.
 */
struct pm_turn {
	struct pm_work *builder; /* NULL also if its thread has no work */
	bool building;
	unsigned waiters, round;
};

void pm_turn_lock(void);
void pm_turn_unlock(void);

/* With the lock held, if no thread is building: this thread builds. Unlock, build, lock, end. */
void pm_turn_begin(struct pm_turn *t);
void pm_turn_end(struct pm_turn *t);

/*
 * With the lock held: waits until nobody is building; false, possibly earlier, if its work is
 * cancelled.
 */
bool pm_turn_wait(struct pm_turn *t);

#endif
