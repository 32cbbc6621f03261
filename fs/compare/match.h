/*
 * What is the same in two runs: functions by name, module and file, modules and files alone. Things
 * are added as the runs spell them; what matches is one group. Rules: docs/namespace.md.
 */
#ifndef PROFMOUNT_FS_COMPARE_MATCH_H
#define PROFMOUNT_FS_COMPARE_MATCH_H

#include "formats/common/map.h"
#include "formats/common/text.h"

enum pmfs_side { PMFS_BASE, PMFS_OTHER, PMFS_N_SIDES };

/* As a run spells it: indexes into pmfs_match.texts. */
struct pmfs_spelling {
	uint32_t name, module, file;
	uint8_t sides; /* bits 1 << enum pmfs_side */
	uint32_t group;
};

struct pmfs_match_group {
	uint8_t sides;
	uint32_t shown; /* spelling: of the other run where it has one, else of the baseline */
	uint32_t n_names;
};

/* Zeroed but for `exact` and `of_places`. */
struct pmfs_match {
	bool exact;     /* names as they are */
	bool of_places; /* modules and files are what is matched: they count in any case */
	struct pm_arena arena;
	struct pm_strtab texts;
	struct pmfs_spelling *spellings;
	uint32_t n;
	size_t room;
	struct pmfs_match_group *groups; /* by pmfs_match_finish */
	uint32_t n_groups;
	/* Below: while things are added. */
	struct pm_map pairs, triples;
	struct pm_map seen; /* run and path: which paths a run has */
	struct pmfs_match_path *paths;
	size_t n_paths, room_paths;
};

/* 0 or -ENOMEM. `run` tells runs apart, on both sides. */
int pmfs_match_add(struct pmfs_match *m, enum pmfs_side side, uint32_t run,
	const struct pm_bytes text[3], uint32_t *ret_spelling);

/* Puts every spelling into a group. 0 or -ENOMEM. O(n log n) in paths, else linear. */
int pmfs_match_finish(struct pmfs_match *m);

/* Accepts a zeroed one. */
void pmfs_match_done(struct pmfs_match *m);

static inline struct pm_bytes pmfs_match_text(const struct pmfs_match *m, uint32_t text)
{
	return m->texts.items[text];
}

#endif
