/*
 * What ran when, as pictures show it: looked up at evenly spaced points in time, however many
 * samples there are. The functions there are of a level of the call path; drawing is
 * timelinesvg.c's.
 */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_TIMELINE_H
#define PROFMOUNT_FS_VIEWS_PICTURES_TIMELINE_H

#include "formats/common/map.h"
#include "fs/views/model/model.h"

enum {
	PMFS_TIMELINE_POINTS = 1000, /* in time */
	PMFS_TIMELINE_ROWS = 200,    /* threads; of more, every n-th is taken */
	PMFS_TIMELINE_LEVELS = 48,   /* of call paths; deeper ones are not shown */
};

/* Traces of threads; a row has PMFS_TIMELINE_POINTS cells. */
struct pmfs_timeline {
	const struct pm_tree *tree;
	uint32_t n_rows;
	uint32_t *thread;    /* of each row; in the order of identities */
	uint32_t n_threads;  /* that have samples: more than rows if some were left out */
	uint64_t begin, end; /* ns as stored; begin <= end */
	uint32_t *context;   /* by cell: what ran in its middle, index, or PM_NONE */
	bool *brief;         /* by cell: only before or after its middle */

	uint64_t middle[PMFS_TIMELINE_POINTS]; /* times */
};

/*
 * Of one thread, or of all that have samples (PM_NONE). Samples are searched, not read one by one;
 * calls, which overlap, are all read. `ret` is the caller's to give back.
 */
int pmfs_timeline_read(
	struct pmfs_model *m, uint32_t thread, struct pmfs_timeline *ret, struct pm_error *err);

/*
 * A part of the timeline of all threads: `n_rows` threads from `first_row` on, and of the time the
 * `part`-th of 2^`level` equal stretches. A part that is not there has no rows.
 */
struct pmfs_timeline_part {
	uint32_t first_row, n_rows, part, level;
};

int pmfs_timeline_read_part(struct pmfs_model *m, const struct pmfs_timeline_part *part,
	struct pmfs_timeline *ret, struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_timeline_done(struct pmfs_timeline *t);

/* The time of a point, 0 to PMFS_TIMELINE_POINTS: cells lie between two. */
uint64_t pmfs_timeline_time(const struct pmfs_timeline *t, uint32_t point);

/* Rows of functions, with as many cells. */
struct pmfs_bands {
	uint32_t n_rows;
	uint32_t *name;   /* index of names.items, or PM_NONE */
	uint32_t n_names; /* the names in `top`, most frequent first */
	struct pmfs_band_name *top;
	uint64_t n_seen, n_busy, n_cells; /* sums of `top`, and the cells that it counts in all */
	struct pm_strtab names;
	struct pm_arena arena;
};

struct pmfs_band_name {
	uint32_t name;
	uint32_t n_seen; /* cells that show it */
	uint32_t n_busy; /* without brief ones: these tell its share of the time */
};

/*
 * The functions of a timeline. Of one thread (`stacked`, one row) each level of the call path is a
 * band, and `top` counts innermost functions. Of several, each thread is a band: of each call path
 * the deepest function that has 1 % of what is seen, so that what waits below a busy function is
 * seen to wait.
 */
int pmfs_bands_make(
	const struct pmfs_timeline *t, bool stacked, struct pmfs_bands *ret, struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_bands_done(struct pmfs_bands *b);

/*
 * Makes what is drawn fit: cells of a band are joined, n at a time, to a random one of them (the
 * same in every band and on every call), until there are at most `limit` runs of equal cells.
 * Returns n.
 */
uint32_t pmfs_bands_fit(struct pmfs_bands *b, uint32_t limit);

#endif
