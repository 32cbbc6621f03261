/*
 * Work that somebody waits for. Whoever starts it (fs/) enters it on its thread; whatever runs
 * below asks pm_work_cancelled at intervals and gives up by returning -ENOMEM: as where memory ends
 * nothing half made is kept, and it is tried again when it is next needed.
 *
 * Where no work was entered, as in tests, nothing is ever cancelled.
 */
#ifndef PROFMOUNT_WORK_H
#define PROFMOUNT_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct pm_work {
	/*
	 * For an answer that is there or is not: nothing is built, what would have to be built
	 * fails with -ENOMEM and sets `refused`. An answer given although it is set is worth
	 * nothing.
	 */
	bool at_once;
	bool refused;
	bool cancelled;       /* atomic: see pm_work_cancel */
	bool gave_up;         /* atomic: somebody has heard so; what it returned is worth nothing */
	uint64_t done, total; /* atomic: see pm_work_progress */
	/* Under one lock for all works: */
	const struct pm_turn *awaited; /* it waits for whoever has this turn; NULL: for nobody */
	bool abandoned;
	unsigned needed; /* by so many other works, which wait for what it builds */
};

/* Enters a work on this thread, NULL to leave; returns the one before. */
struct pm_work *pm_work_enter(struct pm_work *w);

/* The same on a thread that helps with it and ends with it. */
void pm_work_help(struct pm_work *w);

/* The work of this thread, or NULL. */
struct pm_work *pm_work_current(void);

/* Does nobody wait for this thread's work any more? A few instructions. Return -ENOMEM then. */
bool pm_work_cancelled(void);

/* May this thread build something now? False in work that is `at_once`, which then is refused. */
bool pm_work_may_build(void);

/*
 * How far this thread's work is, in any unit; total 0: unknown. Replaces what was said before. A
 * few instructions.
 */
void pm_work_progress(uint64_t done, uint64_t total);

/* How far a work is, or the one that it waits for. `done` is at most `total`. */
void pm_work_how_far(const struct pm_work *w, uint64_t *ret_done, uint64_t *ret_total);

/* Ends it in any case. */
void pm_work_cancel(struct pm_work *w);

/* Whoever started it does not want it any more: it ends unless others need what it builds. */
void pm_work_abandon(struct pm_work *w);

/* Wanted after all: false where it is too late. */
bool pm_work_want(struct pm_work *w);

/*
 * Something that one thread builds while others wait for it, all under one lock for the whole
 * program, which is not held while it is built. Zeroed it is ready for use.
 */
struct pm_turn {
	struct pm_work *builder; /* NULL also for a thread without work */
	bool building;
	unsigned waiters, round;
};

void pm_turn_lock(void);
void pm_turn_unlock(void);

/* Locked, and nobody is building: this thread is. Unlock, build, lock, end. */
void pm_turn_begin(struct pm_turn *t);
void pm_turn_end(struct pm_turn *t);

/* Locked: waits until nobody is building; false, perhaps before that, where its work is cancelled.
 */
bool pm_turn_wait(struct pm_turn *t);

#endif
