/*
 * Which lines and loops of a function are the same in two builds. An edit above the function moves
 * all of them alike, one inside it those below the edit.
 */
#ifndef PROFMOUNT_FS_COMPARE_PLACES_H
#define PROFMOUNT_FS_COMPARE_PLACES_H

#include <stdint.h>

struct pmfs_place {
	uint32_t class; /* only places of one class are the same: kind and file */
	int64_t at;     /* lines from where the function, or the loop around it, begins */
	uint32_t tag;   /* the caller's */
};

/* Sorts by class and line, as pmfs_places_match wants them. */
void pmfs_places_sort(struct pmfs_place *places, uint32_t n);

/*
 * Finds for each of `a` its partner in `b`, or PM_NONE; both sorted. Equal distances from the
 * beginning and sequences that have moved as a whole are preferred; what is left of a class on both
 * sides is paired in order. 0 or -ENOMEM. O(na · nb) up to PM_LIMIT_PLACE_PAIRS, else linear.
 */
int pmfs_places_match(const struct pmfs_place *a, uint32_t na, const struct pmfs_place *b,
	uint32_t nb, uint32_t *ret);

#endif
