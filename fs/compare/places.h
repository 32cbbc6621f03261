/*
 * Matches lines and loops of a function in two builds. An edit above the function moves all of them
 * by the same distance; an edit inside moves those below it.
 */
#ifndef PROFMOUNT_FS_COMPARE_PLACES_H
#define PROFMOUNT_FS_COMPARE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/common/arena.h"

struct pmfs_line_place {
	uint32_t class; /* only places with the same class can match: kind and file */
	int64_t at;     /* lines from the beginning of the function, or of the enclosing loop */
	uint32_t tag;   /* the caller's */
};

/* Sorts by class and line, as required by pmfs_places_match; in a build of the arena, as all. */
void pmfs_places_sort(struct pm_arena *arena, struct pmfs_line_place *places, uint32_t n);

/*
 * Finds the partner in `b` of each place in `a`, or PM_NONE; both are sorted. Equal distances from
 * the beginning and sequences that moved together are preferred; the rest of a class is paired in
 * order. O(na · nb) up to PM_LIMIT_PLACE_PAIRS, else linear.
 */
void pmfs_places_match(struct pm_arena *arena, const struct pmfs_line_place *a, uint32_t na,
	const struct pmfs_line_place *b, uint32_t nb, uint32_t *ret);

/* The same for functions whose names have a line or an ordinal of the source. */
struct pmfs_place_rules {
	uint32_t most_pairs; /* compared; beyond this, places are matched by position only */
	/* Of two tags: added to the score of the pair. NULL: places alone count. */
	uint32_t (*likeness)(const void *context, uint32_t a, uint32_t b);
	const void *context;
	bool keep_order; /* what the best alignment leaves out has no partner */
};

void pmfs_places_align(struct pm_arena *arena, const struct pmfs_place_rules *rules,
	const struct pmfs_line_place *a, uint32_t na, const struct pmfs_line_place *b, uint32_t nb,
	uint32_t *ret);

#endif
