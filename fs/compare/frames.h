/*
 * The frames of all runs of a comparison: which of them are the same. Calls are the same by name,
 * module and file; loops and lines are not yet matched between the sides, and are the same only
 * where their file and line are.
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
	struct pmfs_match match; /* of calls; parts are there by their file alone */
	uint32_t **of;           /* by run, then by frame of its tree: a spelling or a part */
	uint32_t *n_of;
	struct pm_frame *shown; /* by spelling, with texts of `match`: as it was first seen */
	uint32_t (*line)[PMFS_N_SIDES]; /* by spelling: of the definition; 0: unknown */
	size_t n_shown, room_shown, room_line;
	struct pmfs_part_place *parts;
	uint32_t n_parts;
	size_t room_parts;
	struct pm_map places, known;
};

/* In `of`: this is a part, the rest its number. */
#define PMFS_FRAME_IS_PART 0x80000000u

/* Reads the frames of all runs. `f` is zeroed. 0 or a negative errno; see pmfs_frames_done. */
int pmfs_frames_read(struct pmfs_compare *c, const struct pmfs_costs *costs, struct pmfs_frames *f,
	struct pm_error *err);

void pmfs_frames_done(struct pmfs_frames *f, const struct pmfs_costs *costs);

/*
 * The key of a frame: frames with one key are the same. Calls have the numbers of their groups,
 * parts come behind them.
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

/*
 * What keys are shown as: first all as the other run spells them, then all as the baseline does.
 * NULL without memory; for free().
 */
struct pm_frame *pmfs_frames_shown(const struct pmfs_frames *f);

/* By group: the line where the function begins on a side, 0 where that is not known. NULL without
 * memory; for free(). */
uint32_t (*pmfs_frames_first_lines(const struct pmfs_frames *f))[PMFS_N_SIDES];

#endif
