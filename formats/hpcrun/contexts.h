/*
 * All profiles merged: the union of their trees, their metrics by name, and the costs of the whole
 * run. Values stay in their files; a node of a file is followed through the trie to its context.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_CONTEXTS_H
#define PROFMOUNT_FORMATS_HPCRUN_CONTEXTS_H

#include "formats/common/tree.h"
#include "formats/hpcrun/cells.h"
#include "formats/hpcrun/folder.h"
#include "formats/hpcrun/trie.h"
#include "formats/hpcrun/who.h"

struct hpcrun_merged {
	struct pm_tree *tree;
	struct pm_metrics metrics; /* of n_groups groups */
	uint32_t n_groups;
	const uint32_t *groups;    /* by metric name of the trie; PM_NONE: no value is stored */
	struct hpcrun_trie trie;   /* for hpcrun_trie_follow */
	uint32_t *context;         /* by node of the trie */
	bool shares;               /* several nodes may have the same context */
	struct hpcrun_cells costs; /* of the run */
	uint32_t *cost_start;      /* by context: its first cell; n_contexts + 1 */
	/* Contexts in blocks, for code that reads all threads: block i begins at block_start[i]. */
	uint32_t *block_start; /* n_blocks + 1 */
	uint32_t n_blocks;
	struct pm_missings missing;      /* its rows: modules whose names were looked for */
	struct pm_thread_counts *counts; /* where it shares: of nodes, not of contexts */
	struct pm_arena arena;
};

/* Reads every profile once; losses are reported in `damage`. */
int hpcrun_merge(struct hpcrun_merged *ret, struct hpcrun_folder *folder,
	const struct hpcrun_who *who, struct pm_damage_list *damage, struct pm_error *err);

/* Accepts a zeroed one. */
void hpcrun_merged_done(struct hpcrun_merged *m);

/*
 * The context that has the values of a metric (by name index of the trie) stored at `context`: the
 * context itself, or its function.
 */
uint32_t hpcrun_merged_owner(const struct hpcrun_merged *m, uint32_t name, uint32_t context);

/* As pm_profile_ops.run_costs. */
int64_t hpcrun_merged_costs(
	const struct hpcrun_merged *m, uint32_t context, struct pm_value *ret, size_t room);

#endif
