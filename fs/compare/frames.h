/*
 * The frames of all runs of a comparison, and which of them are equal. Calls are equal by name,
 * module and file; loops and lines are not yet matched between the sides, and are only equal if
 * their file and line are.
 */
#ifndef PROFMOUNT_FS_COMPARE_FRAMES_H
#define PROFMOUNT_FS_COMPARE_FRAMES_H

#include "fs/compare/internal.h"

/* A loop or line. */
struct pmfs_part_place {
	uint8_t kind;  /* enum pm_kind */
	uint32_t file; /* spelling */
	uint32_t line;
};

struct pmfs_frames {
	struct pmfs_match match; /* of calls; parts are added by file only */
	uint32_t **of;           /* by run, then by frame of its tree: a spelling or a part */
	uint32_t *n_of;
	struct pm_frame *shown;         /* by spelling, with texts of `match`: as first seen */
	uint32_t (*line)[PMFS_N_SIDES]; /* by spelling: line of the definition; 0: unknown */
	size_t n_shown, room_shown, room_line;
	struct pmfs_part_place *parts;
	uint32_t n_parts;
	size_t room_parts;
	struct pm_map places, known;
	uint8_t root_sides; /* 1 << side: whose trees have roots above their entry points */
};

/* In `of`: flags a part; the other bits are its index. */
#define PMFS_FRAME_IS_PART 0x80000000u

/*
 * Reads the frames of all runs. `f` is zeroed. 0 or a negative errno; call pmfs_frames_done in any
 * case.
 */
int pmfs_frames_read(struct pmfs_compare *c, const struct pmfs_costs *costs, struct pmfs_frames *f,
	struct pm_error *err);

void pmfs_frames_done(struct pmfs_frames *f, const struct pmfs_costs *costs);

/*
 * The key of a frame: frames with equal keys are equal. Calls have the numbers of their groups;
 * parts follow them.
 */
static inline uint32_t pmfs_frame_key(const struct pmfs_frames *f, uint32_t run, uint32_t frame)
{
	uint32_t of = f->of[run][frame];
	if (of & PMFS_FRAME_IS_PART)
		return f->match.n_groups + (of & ~PMFS_FRAME_IS_PART);
	return f->match.spellings[of].group;
}

static inline uint32_t pmfs_n_frame_keys(const struct pmfs_frames *f)
{
	return f->match.n_groups + f->n_parts;
}

/* NULL for a call. */
static inline const struct pmfs_part_place *pmfs_frame_part(
	const struct pmfs_frames *f, uint32_t key)
{
	return key < f->match.n_groups ? NULL : &f->parts[key - f->match.n_groups];
}

/* Whether the frame is a root that is left out, because only one side has roots. */
static inline bool pmfs_frame_is_left_out(const struct pmfs_frames *f, const struct pm_frame *frame)
{
	return frame->is_root && f->root_sides != 3;
}

/*
 * The frames shown for keys: first all as in the other run, then all as in the baseline. NULL if
 * out of memory; the caller frees it.
 */
struct pm_frame *pmfs_frames_shown(const struct pmfs_frames *f);

/*
 * By group: the first line of the function on a side, 0 if unknown. NULL if out of memory; the
 * caller frees it.
 */
uint32_t (*pmfs_frames_first_lines(const struct pmfs_frames *f))[PMFS_N_SIDES];

#endif
