/* A part of a thread's trace: its sums by context, and the positions of its rows. */
#ifndef PROFMOUNT_FS_WINDOWS_CUT_H
#define PROFMOUNT_FS_WINDOWS_CUT_H

#include "fs/windows/index.h"

/*
 * Rows from `row` on are records from `at` on: all of them up to the next stretch, or, within one
 * block, those that are partly inside.
 */
struct pmfs_stretch {
	uint64_t row, at;
	bool whole;
};

struct pmfs_cut {
	struct pmfs_stretch *stretches;
	size_t n_stretches, room;
	uint64_t n;   /* rows */
	uint64_t end; /* the last row's; 0: none */
	bool failed;  /* the trace cannot be read */
	struct pmfs_tally tally;
	/*
	 * Time of calls whose callers have none: added to the context of the caller, and taken off
	 * that of the call it is a part of, so that what the two and those between them add up to,
	 * from below, is what each of them took.
	 */
	struct pmfs_tally lent;
};

/* Zeroed before; call pmfs_cut_done in any case. pmfs_index_of must have succeeded. */
int pmfs_cut_make(struct pmfs_cut *cut, const struct pmfs_index *x, uint32_t thread,
	const struct pmfs_span *span, struct pm_error *err);

/* As pm_profile_ops.samples; records are clipped to the span. */
int64_t pmfs_cut_samples(const struct pmfs_cut *cut, const struct pmfs_index *x, uint32_t thread,
	const struct pmfs_span *span, uint64_t first, struct pm_sample *ret, size_t room,
	struct pm_error *err);

/* The first records from `from` on that may have rows: false if there are none. */
bool pmfs_cut_records(const struct pmfs_cut *cut, uint64_t n_records, uint64_t from,
	uint64_t *ret_first, uint64_t *ret_end);

/* Do all records lie inside, none of them in part? */
bool pmfs_cut_is_whole(const struct pmfs_cut *cut, uint64_t n_records);

void pmfs_cut_done(struct pmfs_cut *cut);

#endif
