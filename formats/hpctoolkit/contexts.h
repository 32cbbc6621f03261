/* The calling-context tree of meta.db. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_CONTEXTS_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_CONTEXTS_H

#include "formats/hpctoolkit/parts.h"

struct hpctk_tree {
	struct pm_tree *tree;
	uint32_t *of_rank;            /* context by rank: the records' pre-order in the file */
	uint64_t *record_at;          /* by rank: position of its record in meta.db */
	uint32_t *in_summary;         /* by context: its index entry in the summary profile */
	struct pm_damage_list damage; /* found while reading the records */
};

/* Built on first need; lives as long as the database. */
int hpctk_tree_get(struct hpctk_opened *db, const struct hpctk_tree **ret, struct pm_error *err);

/* The record of the context at that rank, as stored; false once the file has changed. */
bool hpctk_context_get(const struct hpctk_opened *db, const struct hpctk_tree *t, uint32_t rank,
	struct hpctk_context_record *ret);

#endif
