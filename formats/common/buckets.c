#include "formats/common/buckets.h"

#include "formats/common/search.h"

/* The square root of 2^power, rounded up; power < 128. */
static uint64_t root_of_power(unsigned power)
{
	uint64_t low = (uint64_t)1 << power / 2, high = low * 2 - (power > 1);
	const unsigned __int128 square = (unsigned __int128)1 << power;
	return PM_LOWER_BOUND(i, low, high, (unsigned __int128)i * i < square);
}

uint64_t pm_bucket_start(uint32_t index)
{
	return index == 0 ? 0 : root_of_power(index - 1);
}

uint32_t pm_bucket_of(uint64_t duration_ns)
{
	if (duration_ns == 0)
		return 0;
	unsigned power = 2 * (63 - (unsigned)__builtin_clzll(duration_ns));
	unsigned __int128 square = (unsigned __int128)duration_ns * duration_ns;
	return power + 1 + (square >> (power + 1) != 0);
}
