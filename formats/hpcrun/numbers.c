#include "formats/hpcrun/numbers.h"

#include <errno.h>
#include <stdlib.h>

/* Up to this many cells per number, an array is smaller than a map, and much faster. */
enum { MOST_CELLS = 12, FEW = 1024 };

int hpcrun_numbers_init(struct hpcrun_numbers *ret, const uint32_t *numbers, size_t n)
{
	uint32_t least = UINT32_MAX, greatest = 0;
	*ret = (struct hpcrun_numbers){.places = NULL};
	for (size_t i = 0; i < n; i++) {
		if (numbers[i] == 0)
			continue;
		least = numbers[i] < least ? numbers[i] : least;
		greatest = numbers[i] > greatest ? numbers[i] : greatest;
	}
	uint64_t span = greatest >= least ? (uint64_t)greatest - least + 1 : 1;
	if (span > MOST_CELLS * (uint64_t)n + FEW)
		return 0;
	ret->least = least;
	ret->span = span;
	ret->places = calloc((size_t)span, sizeof(*ret->places));
	return ret->places ? 0 : -ENOMEM;
}

int hpcrun_numbers_put(struct hpcrun_numbers *s, uint32_t number, uint32_t place)
{
	bool is_new = false;
	if (s->places) {
		uint32_t *cell = &s->places[number - s->least];
		is_new = *cell == 0;
		*cell = is_new ? place + 1 : *cell;
	} else if (!pm_map_put(&s->map, number, place, &is_new)) {
		return -ENOMEM;
	}
	return is_new;
}

void hpcrun_numbers_done(struct hpcrun_numbers *s)
{
	free(s->places);
	pm_map_done(&s->map);
	*s = (struct hpcrun_numbers){.places = NULL};
}
