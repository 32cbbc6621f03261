/*
 * How long the part of a trace's row is that depends on its context alone: number, depth, category
 * and names. A trace has many millions of rows and few contexts, so it is worked out once for each.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_TRACELENGTH_H
#define PROFMOUNT_FS_VIEWS_SUMS_TRACELENGTH_H

#include "fs/views/model/identity.h"
#include "fs/views/model/parts.h"

/* What rows of traces need of contexts. */
struct pmfs_trace_contexts {
	const struct pm_tree *tree;
	const struct pmfs_identity *identity;
	const uint8_t *categories;
};

int pmfs_trace_contexts(
	struct pmfs_model *m, struct pmfs_trace_contexts *ret, struct pm_error *err);

/* The name of the function around a context; empty where it lies in none. */
struct pm_bytes pmfs_trace_function(const struct pmfs_trace_contexts *c, uint32_t context);

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
	struct pmfs_trace_lengths *lengths, const struct pmfs_trace_contexts *c, uint32_t context);

static inline uint32_t pmfs_trace_length(
	struct pmfs_trace_lengths *lengths, const struct pmfs_trace_contexts *c, uint32_t context)
{
	uint32_t bytes = __atomic_load_n(&lengths->bytes[context], __ATOMIC_RELAXED);
	return bytes ? bytes : pmfs_trace_length_compute(lengths, c, context);
}

#endif
