/*
 * Batches of steps in a trie of call paths (paths.h). With many paths, a single step waits for
 * memory: for the children of its parent, and for the values of the path. In a batch, the memory of
 * later steps is prefetched while earlier ones are taken.
 */
#ifndef PROFMOUNT_STEPS_H
#define PROFMOUNT_STEPS_H

#include "formats/common/paths.h"

struct pm_step {
	uint32_t key;
	uint32_t above; /* the step before this one, earlier in the same array; PM_NONE: see `from`
			 */
	uint32_t from;  /* if `above` is PM_NONE: the starting path, PM_NONE = the top */
	uint32_t path;  /* out: the result of pm_paths_child */
	uint64_t
		hash; /* hash of all keys from the top; in, if `above` is PM_NONE: that of `from` */
};

struct pm_guess; /* by hash, the path that steps led to */

/* Zeroed: none yet. Free with pm_guesses_done, which zeroes it again. */
struct pm_guesses {
	struct pm_guess *slots; /* a power of two of them */
	size_t n;
	struct pm_arena *arena; /* has them; NULL: pm_guesses_done frees them */
};

void pm_guesses_done(struct pm_guesses *g);

/* The values of paths; pm_steps_take prefetches those of the paths it finds. */
struct pm_measured {
	const void *items; /* by path */
	size_t room, size; /* of the array, and of an item */
};

/*
 * Takes n steps in order, with the same results as n calls of pm_paths_child, including the numbers
 * of new paths. The hash of the top is 0. Returns 0 or -ENOMEM. Needs 8 to 32 bytes per path in
 * addition to the trie.
 */
int pm_steps_take(struct pm_paths *p, struct pm_guesses *g, struct pm_step *steps, size_t n,
	const struct pm_measured *measured);

#endif
