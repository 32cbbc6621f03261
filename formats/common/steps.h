/*
 * Many steps into a trie of call paths (paths.h) at once. A step alone waits for memory where there
 * are many paths: for its parent's kids, and for what is measured of the path. Steps that are known
 * together have it fetched while those before them are taken.
 */
#ifndef PROFMOUNT_STEPS_H
#define PROFMOUNT_STEPS_H

#include "formats/common/paths.h"

struct pm_step {
	uint32_t key;
	uint32_t above; /* the step before this one, earlier in the same array; PM_NONE: see `from`
			 */
	uint32_t
		from; /* where `above` is PM_NONE: the path from which it goes, PM_NONE = the top */
	uint32_t path; /* out: as pm_paths_child gives it */
	uint64_t hash; /* of all keys from the top; in, where `above` is PM_NONE: that of `from` */
};

struct pm_guess; /* the path that steps of a hash took */

struct pm_guesses {
	struct pm_guess *slots; /* a power of two of them */
	size_t n;
};

/* 0 or -ENOMEM. `g` is zeroed before; ends with pm_guesses_done, which leaves a zeroed one. */
int pm_guesses_init(struct pm_guesses *g);
void pm_guesses_done(struct pm_guesses *g);

/* What is measured of paths: pm_steps_take fetches that of the paths it finds. */
struct pm_measured {
	const void *items; /* by path */
	size_t room, size; /* of the array, and of an item */
};

/*
 * Takes n steps in their order: gives each its path, and those that are new their numbers, as n
 * calls of pm_paths_child would. The hash of the top is 0. Returns 0 or -ENOMEM. 8 to 32 bytes of
 * memory a path beside those of the trie.
 */
int pm_steps_take(struct pm_paths *p, struct pm_guesses *g, struct pm_step *steps, size_t n,
	const struct pm_measured *measured);

#endif
