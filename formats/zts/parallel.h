/* Work that falls into independent pieces, on all cores. */
#ifndef PROFMOUNT_FORMATS_ZTS_PARALLEL_H
#define PROFMOUNT_FORMATS_ZTS_PARALLEL_H

#include <stddef.h>

/* How many pieces are worked on at once, at most. */
unsigned zts_parallel_width(void);

/*
 * Calls work(context, i) for i below n, from several threads, in no order. Returns 0, or the first
 * error met; pieces not begun by then are left out.
 */
int zts_parallel(size_t n, int (*work)(void *context, size_t i), void *context);

#endif
