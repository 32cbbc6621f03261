/*
 * How long the part of a trace's row is that depends on its context alone: number, depth and name.
 * A trace has many millions of rows and few contexts, so it is worked out once for each.
 */
#ifndef PROFMOUNT_FS_VIEWS_TRACELENGTH_H
#define PROFMOUNT_FS_VIEWS_TRACELENGTH_H

#include "fs/views/parts.h"

struct pmfs_trace_lengths {
	enum pm_form form;
	uint32_t
		bytes[]; /* by context; 0 = not known yet. Written by several threads, atomically */
};

/* The model's. Costs nothing but memory: 4 bytes a context that occurs. */
int pmfs_trace_lengths(struct pmfs_model *m, enum pm_form form, struct pmfs_trace_lengths **ret,
	struct pm_error *err);

/* Bytes of that part for a context; 0 without memory. */
uint32_t pmfs_trace_length_compute(
	struct pmfs_trace_lengths *lengths, const struct pm_tree *tree, uint32_t context);

static inline uint32_t pmfs_trace_length(
	struct pmfs_trace_lengths *lengths, const struct pm_tree *tree, uint32_t context)
{
	uint32_t bytes = __atomic_load_n(&lengths->bytes[context], __ATOMIC_RELAXED);
	return bytes ? bytes : pmfs_trace_length_compute(lengths, tree, context);
}

#endif
