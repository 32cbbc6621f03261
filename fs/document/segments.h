/*
 * A table is measured in segments of its positions, side by side on all processors. A table whose
 * positions are not dense is one segment.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_SEGMENTS_H
#define PROFMOUNT_FS_DOCUMENT_SEGMENTS_H

#include "formats/common/sheet.h"

struct pmfs_segments;

/* The first member of what is found out about a segment. */
struct pmfs_segment {
	uint64_t from, to;     /* positions; to = UINT64_MAX for an open end */
	struct pm_arena arena; /* of what is found out, in a build of it … */
	int code;              /* … which ended with that */
	/* Until it has been measured: */
	struct pm_arena scratch;
	struct pm_table_reader *reader; /* begins at `from` */
	struct pm_error *err;
	struct pmfs_segments *all;
};

struct pmfs_segments {
	const struct pm_table *table;
	uint64_t piece; /* positions of a segment, unless the table says */
	size_t size;    /* of what `measure` fills in, zeroed before */
	void (*measure)(struct pmfs_segment *s, const void *context);
	const void *context;
	/* Filled in: */
	size_t n;
	void *items; /* by position */
	bool stop;   /* atomic: one failed, so the others are not needed */
};

/*
 * Measures the table as `how` says, in a build of `a`, to which the result belongs. The failure is
 * the most informative one of the segments.
 */
const struct pmfs_segments *pmfs_segments_measure(
	struct pm_arena *a, const struct pmfs_segments *how, struct pm_error *err);

/* Fails if the work has been cancelled, or another segment has failed. */
void pmfs_segment_proceed(struct pmfs_segment *s);

#endif
