/* A chunk of an index in time, while its records are read in their order. */
#ifndef PROFMOUNT_FS_WINDOWS_CHUNK_H
#define PROFMOUNT_FS_WINDOWS_CHUNK_H

#include "fs/windows/index.h"

static inline size_t pmfs_chunks_of(const struct pmfs_trace_index *t)
{
	return (size_t)((t->n + PMFS_CHUNK_RECORDS - 1) / PMFS_CHUNK_RECORDS);
}

struct pmfs_making {
	struct pmfs_trace_chunk *chunk;
	uint64_t n, seen; /* records */
	uint64_t most;    /* sums that any node of the trace can have */
	struct pmfs_reading block, all;
	bool spilled; /* the block has too many contexts for sums: they are added to `all` alone */
};

/* Begins a chunk of `n` records, 0 < n <= PMFS_CHUNK_RECORDS, of that trace. 0 or -ENOMEM. */
int pmfs_making_begin(struct pmfs_making *m, const struct pmfs_trace_index *t, uint64_t n);

/* Adds the next records, at most as many as are missing. 0 or -ENOMEM. */
int pmfs_making_take(struct pmfs_making *m, const struct pm_sample *samples, size_t n);

/*
 * Returns the chunk, to be freed by pmfs_trace_chunk_free, if all of its records were taken,
 * otherwise NULL. `all` has its sums until pmfs_making_done, which is called in any case.
 */
struct pmfs_trace_chunk *pmfs_making_end(struct pmfs_making *m);
void pmfs_making_done(struct pmfs_making *m);

/* Accepts NULL. */
void pmfs_trace_chunk_free(struct pmfs_trace_chunk *c);

/* ---- levels ---- */

/* Makes the levels above a trace's chunks. 0 or -ENOMEM: then there are none. */
int pmfs_levels_make(struct pmfs_trace_index *t);
void pmfs_levels_done(struct pmfs_trace_index *t);

/* Adds what is in a chunk. Without memory, nodes above it remain unknown. */
void pmfs_levels_add(struct pmfs_trace_index *t, size_t chunk, const struct pmfs_reading *all);

#endif
