/*
 * Timelines for pictures: traces are looked up at evenly spaced points in time, regardless of the
 * number of samples. Shows functions of one level of the call path; timelinesvg.c draws them.
 */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_TIMELINE_H
#define PROFMOUNT_FS_VIEWS_PICTURES_TIMELINE_H

#include "formats/common/map.h"
#include "fs/views/model/model.h"

enum {
	PMFS_TIMELINE_POINTS = 1000, /* in time */
	PMFS_TIMELINE_ROWS = 200,    /* threads; if there are more, every n-th is used */
	PMFS_TIMELINE_LEVELS = 48,   /* levels of call paths; deeper ones are not shown */
};

/* Traces of threads; a row has PMFS_TIMELINE_POINTS cells. */
struct pmfs_timeline {
	const struct pm_tree *tree;
	uint32_t n_rows;
	const uint32_t *thread; /* of each row; in the order of identities */
	uint32_t n_threads;  /* number of threads with samples; more than rows if some were left out
			      */
	uint64_t begin, end; /* ns as stored; begin <= end */
	uint32_t *context;   /* by cell: the context (index) in its middle, or PM_NONE */
	bool *brief;         /* by cell: it ran only before or after the middle */
	uint64_t *seq;       /* by cell: the number of the call's event; NULL unless one thread's
			      * part of calls was asked for */
	bool is_last;        /* what begins at `end` belongs to this part: there is none after it */

	uint64_t middle[PMFS_TIMELINE_POINTS]; /* times */
};

/*
 * Of one thread, or of all threads with samples (PM_NONE). Samples are found by searching; calls
 * overlap, so all of them are read. In a build of the arena, as what follows.
 */
struct pmfs_timeline *pmfs_timeline_read(
	struct pm_arena *a, struct pmfs_model *m, uint32_t thread, struct pm_error *err);

/*
 * A part of the timeline of all threads: `n_rows` threads from `first_row` on, or the thread `only`
 * alone, and the `part`-th of 2^`level` equal intervals of the time. A part that does not exist has
 * no rows.
 */
struct pmfs_timeline_part {
	uint32_t first_row, n_rows, part, level;
	bool one;
	uint32_t only;
};

struct pmfs_timeline *pmfs_timeline_read_part(struct pm_arena *a, struct pmfs_model *m,
	const struct pmfs_timeline_part *part, struct pm_error *err);

/* The time of a point, 0 to PMFS_TIMELINE_POINTS; a cell is between two points. */
uint64_t pmfs_timeline_time(const struct pmfs_timeline *t, uint32_t point);

/* Rows of functions, with the same number of cells. */
struct pmfs_bands {
	uint32_t n_rows;
	uint32_t *name;   /* index of names.items, or PM_NONE */
	uint32_t n_names; /* the names in `top`, most frequent first */
	struct pmfs_band_name *top;
	uint64_t n_seen, n_busy, n_cells; /* totals of `top`, and the number of cells counted */
	struct pm_strtab names;
};

struct pmfs_band_name {
	uint32_t name;
	uint32_t n_seen; /* number of cells that show it */
	uint32_t n_busy; /* the same without brief cells; determines its share of the time */
};

/*
 * The functions of a timeline. For one thread (`stacked`, one row), each level of the call path is
 * a band, and `top` counts innermost functions. For several threads, each thread is a band, which
 * shows the innermost function of the call path that has at least 1 % of what is shown, so that
 * waiting below a busy function is visible.
 */
struct pmfs_bands *pmfs_bands_make(struct pm_arena *a, const struct pmfs_timeline *t, bool stacked);

/*
 * Reduces the picture to at most `limit` runs of equal cells: each n cells of a band are replaced
 * by a pseudo-random one of them (the same in every band and on every call). Returns n.
 */
uint32_t pmfs_bands_fit(struct pmfs_bands *b, uint32_t limit);

#endif
