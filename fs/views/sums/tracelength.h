/*
 * The length of the part of a trace row that depends on its context only: number, depth, category
 * and names. A trace has many millions of rows and few contexts, so it is computed once per
 * context.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_TRACELENGTH_H
#define PROFMOUNT_FS_VIEWS_SUMS_TRACELENGTH_H

#include "fs/views/model/identity.h"
#include "fs/views/model/parts.h"

/* Data of contexts for rows of traces. */
struct pmfs_trace_contexts {
	const struct pm_tree *tree;
	const struct pmfs_identity *identity;
	const uint8_t *categories;
};

int pmfs_trace_contexts(
	struct pmfs_model *m, struct pmfs_trace_contexts *ret, struct pm_error *err);

/* The name of the function that contains a context; empty if there is none. */
struct pm_bytes pmfs_trace_function(const struct pmfs_trace_contexts *c, uint32_t context);

struct pmfs_trace_lengths {
	enum pm_form form;
	uint32_t *
		bytes; /* by context; 0 = not computed yet. Written atomically by several threads */
};

/* Owned by the model. Takes 4 bytes per context that occurs. */
int pmfs_trace_lengths(struct pmfs_model *m, enum pm_form form, struct pmfs_trace_lengths **ret,
	struct pm_error *err);

/* The length of that part for a context; 0 if out of memory. */
uint32_t pmfs_trace_length_compute(
	struct pmfs_trace_lengths *lengths, const struct pmfs_trace_contexts *c, uint32_t context);

#endif
