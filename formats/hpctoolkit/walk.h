/* Reads the context records of meta.db into a tree that is being built. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_WALK_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_WALK_H

#include "formats/common/work.h"
#include "formats/hpctoolkit/parts.h"

/* Contexts between two checks for cancellation: about a page of records. */
enum { HPCTK_STEPS = 64 };

struct hpctk_walked {
	struct hpctk_opened *db;
	struct pm_tree_builder *builder;
	uint64_t *record_at; /* by rank: position of its record in meta.db */
	uint32_t *number;    /* by rank */
};

/*
 * Visits all records; unreadable ones are added to `damage`. 0 or -ENOMEM. Free with
 * hpctk_walked_done, even after a failure.
 */
int hpctk_walk(struct hpctk_opened *db, struct pm_damage_list *damage, struct hpctk_walked *ret);
void hpctk_walked_done(struct hpctk_walked *w);

/* Reports progress; true if the work is cancelled. */
static inline bool hpctk_is_cancelled_at(uint64_t done, uint64_t total)
{
	pm_work_progress(done, total);
	return pm_work_cancelled();
}

#endif
