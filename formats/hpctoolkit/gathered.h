/*
 * Values of profile.db by context, for contexts whose block in cct.db is missing or broken.
 * Computed on first need, for all contexts at once, because searching for each in every thread
 * would take contexts × threads. 24 bytes for each context of each thread.
 */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_GATHERED_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_GATHERED_H

#include "formats/hpctoolkit/block.h"
#include "formats/hpctoolkit/threads.h"

/* The values of a context on a thread: those of an index entry of its block. */
struct hpctk_gathered_run {
	uint32_t number; /* of the context */
	uint32_t thread;
	uint32_t entry;
	uint64_t before; /* values of this context in earlier threads */
};

struct hpctk_gathered {
	struct hpctk_gathered_run *runs; /* by context number, then thread */
	size_t n;
};

/* Lives as long as the database. Fails if the block of a thread cannot be read. */
int hpctk_gathered_get(
	const struct hpctk_opened *db, const struct hpctk_gathered **ret, struct pm_error *err);

/* The runs of a context: returns the first, and their number in `ret_n`; O(log n). */
const struct hpctk_gathered_run *hpctk_gathered_of(
	const struct hpctk_gathered *g, uint64_t number, size_t *ret_n);

/* Opens the block of a run's thread; its values there are those of `ret`. */
int hpctk_gathered_open(const struct hpctk_opened *db, const struct hpctk_threads *threads,
	const struct hpctk_gathered_run *run, struct hpctk_block *block, struct hpctk_run *ret,
	struct pm_error *err);

#endif
