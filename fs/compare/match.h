/*
 * Matches the items of two runs: functions by name, module and file; modules and files by their
 * path. Items are added as spelled in the runs; matching ones form a group. docs/namespace.md has
 * the rules.
 */
#ifndef PROFMOUNT_FS_COMPARE_MATCH_H
#define PROFMOUNT_FS_COMPARE_MATCH_H

#include "formats/common/map.h"
#include "formats/common/text.h"

enum pmfs_side { PMFS_BASE, PMFS_OTHER, PMFS_N_SIDES };

/* A spelling in a run: indexes into pmfs_match.texts. */
struct pmfs_spelling {
	uint32_t name, module, file;
	uint8_t sides; /* bits 1 << enum pmfs_side */
	uint32_t group;
};

struct pmfs_match_group {
	uint8_t sides;
	uint32_t shown; /* spelling: of the other run if it has one, else of the baseline */
	uint32_t n_names;
};

/* Zeroed except `exact` and `of_places`. */
struct pmfs_match {
	bool exact;     /* names are not normalised */
	bool of_places; /* matches modules and files themselves, so they are always compared */
	struct pm_arena arena;
	struct pm_strtab texts;
	struct pmfs_spelling *spellings;
	uint32_t n;
	size_t room;
	struct pmfs_match_group *groups; /* set by pmfs_match_finish */
	uint32_t n_groups;
	/* The following is used while items are added. */
	struct pm_map pairs, triples;
	struct pm_map seen; /* run and path: the paths of each run */
	struct pmfs_match_path *paths;
	size_t n_paths, room_paths;
};

/*
 * 0 or -ENOMEM. `run` is unique over both sides. Texts must stay unchanged until
 * pmfs_match_run_ends, as for pm_strtab_add_lasting.
 */
int pmfs_match_add(struct pmfs_match *m, enum pmfs_side side, uint32_t run,
	const struct pm_bytes text[3], uint32_t *ret_spelling);

/* Texts of the run become invalid: call this when it is closed. */
void pmfs_match_run_ends(struct pmfs_match *m);

/*
 * Assigns every spelling to a group. 0 or -ENOMEM. O(n log n) in the number of paths, otherwise
 * linear.
 */
int pmfs_match_finish(struct pmfs_match *m);

/* Accepts a zeroed one. */
void pmfs_match_done(struct pmfs_match *m);

static inline struct pm_bytes pmfs_match_text(const struct pmfs_match *m, uint32_t text)
{
	return m->texts.items[text];
}

#endif
