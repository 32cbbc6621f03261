/* Binary search. */
#ifndef PROFMOUNT_SEARCH_H
#define PROFMOUNT_SEARCH_H

/*
 * The first `i` from `low` up to but not including `high` for which `before`, an expression in i,
 * is false; `high` if there is none. `before` is true up to some i and false from then on.
 * Evaluated O(log(high - low)) times. The type is that of `high`.
 *
 *     size_t first = PM_LOWER_BOUND(i, 0, n, rows[i].at < at);
 */
#define PM_LOWER_BOUND(i, low, high, before)                                                       \
	({                                                                                         \
		__typeof__((high) + 0) low_ = (low), high_ = (high);                               \
		while (low_ < high_) {                                                             \
			__typeof__((high) + 0) i = low_ + (high_ - low_) / 2;                      \
			if (before)                                                                \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

#endif
