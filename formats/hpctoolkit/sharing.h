/*
 * Finds value blocks, or samples of threads, that overlap others. In a valid database they are
 * disjoint; a hostile file could make all of them refer to the same large block, which would then
 * be read once for each.
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
 * Marks rows until the others are disjoint: of two that overlap, the one that ends later, or else
 * the later row, so that a row that claims too much does not affect the others. Sorts `stretches`;
 * `marks` has a bit for each row. 0 or -ENOMEM. O(n log n).
 */
int hpctk_sharing_mark(struct hpctk_stretch *stretches, size_t n, uint8_t *marks);

static inline bool hpctk_sharing_marked(const uint8_t *marks, uint64_t row)
{
	return marks && marks[row / 8] >> row % 8 & 1;
}

#endif
