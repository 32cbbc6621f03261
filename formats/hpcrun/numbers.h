/* Finds nodes of a file by number: numbers are sparse and may be hostile. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_NUMBERS_H
#define PROFMOUNT_FORMATS_HPCRUN_NUMBERS_H

#include "formats/common/map.h"

/* Node number → place. Dense numbers are in an array, others in a map. */
struct hpcrun_numbers {
	uint32_t *places; /* by number - least: place + 1, 0 = none; NULL: there is a map */
	uint32_t least;
	uint64_t span;
	struct pm_map map;
};

/* Makes an empty one for the given numbers, where 0 is none. 0 or -ENOMEM. At most 64 bytes each.
 */
int hpcrun_numbers_init(struct hpcrun_numbers *ret, const uint32_t *numbers, size_t n);

/* 1: the number, one of those given, is new and gets the place; 0: it has an earlier place. */
int hpcrun_numbers_put(struct hpcrun_numbers *s, uint32_t number, uint32_t place);

/* Also for a zeroed one. */
void hpcrun_numbers_done(struct hpcrun_numbers *s);

/* The place of any number; UINT32_MAX if there is none. O(1). */
static inline uint32_t hpcrun_numbers_find(const struct hpcrun_numbers *s, uint32_t number)
{
	if (!s->places) {
		const uint32_t *place = pm_map_find(&s->map, number);
		return place ? *place : UINT32_MAX;
	}
	uint32_t off = number - s->least;
	return off < s->span ? s->places[off] - 1 : UINT32_MAX;
}

#endif
