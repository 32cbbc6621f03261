/* The trees of both sides as one, and their frames. */
#ifndef PROFMOUNT_FS_COMPARE_UNION_H
#define PROFMOUNT_FS_COMPARE_UNION_H

#include "fs/compare/internal.h"

/*
 * ---- frames.c ----
 *
 * The frames of all runs of a comparison, and which of them are equal. Functions are equal as
 * in functions.csv; other calls (entry points, instructions inside functions) by name, module
 * and file; loops and lines are not yet matched between the sides, and are only equal if their
 * file and line are.
 */

/* A loop or line. */
struct pmfs_part_place {
	uint8_t kind;  /* enum pm_kind */
	uint32_t file; /* spelling of `files` */
	uint32_t line;
	uint32_t text; /* of the file: of `match` */
};

struct pmfs_frames {
	struct pm_arena *arena;
	const struct pmfs_costs *costs;
	const struct pmfs_joined *functions; /* matched */
	struct pmfs_match match;             /* of other calls; has the texts of all frames */
	struct pmfs_match files;             /* of parts */
	uint32_t **of; /* by run, then by frame of its tree: see enum pmfs_frame_is */
	uint32_t *n_of;
	struct pm_frame (*of_row)[PMFS_N_SIDES]; /* by row of a function, as first seen … */
	struct pm_frame *of_spelling;            /* … by spelling of another call */
	size_t n_of_spelling, room_of_spelling;
	struct pmfs_part_place *parts;
	uint32_t n_parts;
	size_t room_parts;
	struct pm_map places, known;
	uint8_t root_sides; /* 1 << side: whose trees have roots above their entry points */
};

/* In `of`: what the other bits are the number of; without a flag, a row of a function. */
enum pmfs_frame_is {
	PMFS_FRAME_IS_PART = 0x40000000,
	PMFS_FRAME_IS_OTHER = 0x20000000, /* a spelling */
	PMFS_FRAME_IS = PMFS_FRAME_IS_PART | PMFS_FRAME_IS_OTHER,
};

/* Reads the frames of all runs, in a build. */
void pmfs_frames_read(struct pm_arena *a, struct pmfs_compare *c, const struct pmfs_costs *costs,
	struct pmfs_frames *f, struct pm_error *err);

static inline uint32_t pmfs_n_function_keys(const struct pmfs_frames *f)
{
	return f->functions->match.n_groups;
}

static inline uint32_t pmfs_n_frame_keys(const struct pmfs_frames *f)
{
	return pmfs_n_function_keys(f) + f->match.n_groups + f->n_parts;
}

/* The frames shown for keys: first all as in the other run, then all as in the baseline. */
struct pm_frame *pmfs_frames_shown(const struct pmfs_frames *f);

/*
 * ---- union.c ----
 *
 * The union of the trees of both sides. Calls are matched by path, loops and lines by their
 * position in the function (places.h), in one pass over both trees.
 */

struct pmfs_tree_union {
	struct pm_tree tree;  /* frames by key; texts are those of `frames` */
	struct pm_tree *made; /* what it is made of */
	const struct pmfs_costs *costs;
	struct pmfs_frames frames;
	uint8_t *sides;                   /* by context */
	uint32_t *key[PMFS_N_SIDES];      /* by context: its frame on a side, or PM_NONE */
	pm_number *mean[PMFS_N_SIDES];    /* costs->n per context; NaN: none */
	pm_number *squares[PMFS_N_SIDES]; /* NULL without repetitions */
	uint32_t **of; /* by run and its context: the context here. PM_NONE: it has none */
	uint32_t *n_of;
	struct pmfs_union shared; /* the result for compare.h */
};

/* Built on the first call; owned by the comparison. */
int pmfs_union_get(
	struct pmfs_compare *c, const struct pmfs_tree_union **ret, struct pm_error *err);

/* contexts.csv. */
struct pm_table pmfs_union_table(struct pmfs_compare *c);

#endif
