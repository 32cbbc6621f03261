/*
 * Ranks among durations. A range of durations is divided into parts that grow with the distance
 * from its beginning, so that a few calls that took long do not put all others into one part.
 */
#ifndef PROFMOUNT_HTDUMP_SELECT_H
#define PROFMOUNT_HTDUMP_SELECT_H

#include <stddef.h>
#include <stdint.h>

/* Parts of equal width between a power of two and the next one: each is at most 1/64 wide. */
enum { HTD_PART_BITS = 6, HTD_PARTS = (64 - HTD_PART_BITS + 1) << HTD_PART_BITS };

/* The part that contains a duration, given its distance from the beginning of the range. */
static inline uint32_t htd_part_of(uint64_t distance)
{
	uint32_t power = distance >> HTD_PART_BITS ? 63 - (uint32_t)__builtin_clzll(distance) : 0;
	uint32_t shift = power ? power - HTD_PART_BITS : 0;
	return (shift << HTD_PART_BITS) + (uint32_t)(distance >> shift);
}

/* The lowest distance in a part. */
uint64_t htd_part_first(uint32_t part);

/* The highest one. */
static inline uint64_t htd_part_last(uint32_t part)
{
	return part + 1 < HTD_PARTS ? htd_part_first(part + 1) - 1 : UINT64_MAX;
}

/*
 * ret[i] = the value at place ranks[i] if the values were in order; ranks ascend, and are less than
 * n. Reorders the values. O(n) for any values. 0, or -ENOMEM: no memory, or the work is cancelled.
 */
int htd_select(uint64_t *values, size_t n, const uint64_t *ranks, uint32_t n_ranks, uint64_t *ret);

#endif
