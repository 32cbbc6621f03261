/* Values exactly as stored, in stored order: of a thread, and of a context over the threads. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_STORED_H
#define PROFMOUNT_FORMATS_HPCRUN_STORED_H

#include "formats/hpcrun/contexts.h"

/* As pm_profile_ops.thread_values. */
int64_t hpcrun_stored_of_thread(const struct hpcrun_merged *m, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room);

/* Which values a context has. */
struct hpcrun_by_context {
	const struct hpcrun_merged *merged;
	uint32_t n_threads;
	uint64_t *places; /* of merged->values, context after context */
	uint64_t *start;  /* of each context in `places`; n_contexts + 2 */
};

/* 0 or -ENOMEM. `m` must outlive it. */
int hpcrun_by_context_make(
	struct hpcrun_by_context *ret, const struct hpcrun_merged *m, uint32_t n_threads);

/* As pm_profile_ops.context_values, of the context with that index. */
int64_t hpcrun_stored_of_context(const struct hpcrun_by_context *b, uint32_t context,
	uint64_t first, struct pm_value *ret, size_t room);

/* Also for a zeroed one. */
void hpcrun_by_context_done(struct hpcrun_by_context *b);

#endif
