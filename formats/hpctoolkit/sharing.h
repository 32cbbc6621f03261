/*
 * Which value blocks, or samples of threads, lie in bytes of others. Each has its own in a sound
 * database; a file in which all name the same large one would make a reader walk it once for each.
 */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_SHARING_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes [at, end) of a file that belong to a row of its table. */
struct hpctk_stretch {
	uint64_t at, end;
	uint32_t row;
};

/*
 * Marks rows until what the others have is disjoint: of two that share bytes the one that ends
 * later, or is the later row, so that a row that claims too much costs no other its own. Sorts
 * `stretches`; `marks` has a bit for each row. O(n log n).
 */
void hpctk_sharing_mark(struct hpctk_stretch *stretches, size_t n, uint8_t *marks);

static inline bool hpctk_sharing_marked(const uint8_t *marks, uint64_t row)
{
	return marks && marks[row / 8] >> row % 8 & 1;
}

#endif
