/*
 * The frames of all runs of a comparison, and which of them are equal. Functions are equal as in
 * functions.csv; other calls (entry points, instructions inside functions) by name, module and
 * file; loops and lines are not yet matched between the sides, and are only equal if their file and
 * line are.
 */
#ifndef PROFMOUNT_FS_COMPARE_FRAMES_H
#define PROFMOUNT_FS_COMPARE_FRAMES_H

#include "fs/compare/flat.h"

/* A loop or line. */
struct pmfs_part_place {
	uint8_t kind;  /* enum pm_kind */
	uint32_t file; /* spelling of `files` */
	uint32_t line;
	uint32_t text; /* of the file: of `match` */
};

struct pmfs_frames {
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

/*
 * Reads the frames of all runs. `f` is zeroed. 0 or a negative errno; call pmfs_frames_done in any
 * case.
 */
int pmfs_frames_read(struct pmfs_compare *c, const struct pmfs_costs *costs, struct pmfs_frames *f,
	struct pm_error *err);

void pmfs_frames_done(struct pmfs_frames *f);

static inline uint32_t pmfs_n_function_keys(const struct pmfs_frames *f)
{
	return f->functions->match.n_groups;
}

/*
 * The key of a frame: frames with equal keys are equal. Functions have the numbers of their rows;
 * other calls and parts follow them.
 */
static inline uint32_t pmfs_frame_key(const struct pmfs_frames *f, uint32_t run, uint32_t frame)
{
	uint32_t of = f->of[run][frame], at = of & ~(uint32_t)PMFS_FRAME_IS;
	if (of & PMFS_FRAME_IS_PART)
		return pmfs_n_function_keys(f) + f->match.n_groups + at;
	if (of & PMFS_FRAME_IS_OTHER)
		return pmfs_n_function_keys(f) +
			f->match.spellings[at].group[f->costs->runs[run].side];
	return at;
}

static inline uint32_t pmfs_n_frame_keys(const struct pmfs_frames *f)
{
	return pmfs_n_function_keys(f) + f->match.n_groups + f->n_parts;
}

/* NULL for a call. */
static inline const struct pmfs_part_place *pmfs_frame_part(
	const struct pmfs_frames *f, uint32_t key)
{
	uint32_t calls = pmfs_n_function_keys(f) + f->match.n_groups;
	return key < calls ? NULL : &f->parts[key - calls];
}

/* The first line of a function on a side; 0 if it is unknown, or the key is another call's. */
static inline uint32_t pmfs_frame_first_line(
	const struct pmfs_frames *f, uint32_t key, enum pmfs_side side)
{
	return key < pmfs_n_function_keys(f) ? f->functions->match.groups[key].line[side] : 0;
}

/* Whether the frame is a root that is left out, because only one side has roots. */
static inline bool pmfs_frame_is_left_out(const struct pmfs_frames *f, const struct pm_frame *frame)
{
	return frame->is_root && f->root_sides != PMFS_BOTH_SIDES;
}

/*
 * The frames shown for keys: first all as in the other run, then all as in the baseline. NULL if
 * out of memory; the caller frees it.
 */
struct pm_frame *pmfs_frames_shown(const struct pmfs_frames *f);

#endif
