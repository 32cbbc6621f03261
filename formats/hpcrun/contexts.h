/*
 * All profiles in one: the union of their trees, their metrics by name, and every stored value with
 * its context and thread.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_CONTEXTS_H
#define PROFMOUNT_FORMATS_HPCRUN_CONTEXTS_H

#include "formats/common/tree.h"
#include "formats/hpcrun/folder.h"
#include "formats/hpcrun/metrics.h"
#include "formats/hpcrun/who.h"

struct hpcrun_stored {
	uint64_t bits;
	uint32_t context; /* index in the tree */
	uint32_t scale;
};

/* Which context a trace means by a node's number. */
struct hpcrun_link {
	uint32_t number, context;
};

struct hpcrun_merged {
	struct pm_tree *tree;
	struct pm_metrics metrics; /* of n_groups groups */
	uint32_t n_groups;
	struct hpcrun_scale *scales;
	struct hpcrun_stored *values; /* thread after thread, each in stored order */
	uint64_t *value_start;        /* n_threads + 1 */
	struct hpcrun_link *links;    /* thread after thread, by number */
	uint64_t *link_start;         /* n_threads + 1 */
	struct pm_thread_counts *counts;
	struct pm_arena arena;
};

/* Harvests all profiles; what is lost goes to `damage`. */
int hpcrun_merge(struct hpcrun_merged *ret, struct hpcrun_folder *folder,
	const struct hpcrun_who *who, struct pm_damage_list *damage, struct pm_error *err);

/* Also for a zeroed one. */
void hpcrun_merged_done(struct hpcrun_merged *m);

/* The context's number that thread's traces mean by a node, or UINT64_MAX. O(log n). */
uint64_t hpcrun_merged_find(const struct hpcrun_merged *m, uint32_t thread, uint32_t node);

/* What a stored value costs; NaN where it is no number. */
double hpcrun_merged_cost(const struct hpcrun_merged *m, const struct hpcrun_stored *v);

#endif
