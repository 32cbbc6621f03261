/*
 * Identities: keys and values that distinguish a thread from all others of the source, so that each
 * has a directory of its own. Independent of files.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_IDENTITY_H
#define PROFMOUNT_FORMATS_HPCRUN_IDENTITY_H

#include "formats/common/map.h"
#include "profmount/profile.h"

/* Levels of one thread: real ones have up to four. */
enum { HPCRUN_MOST_LEVELS = 8 };

struct hpcrun_level {
	char key[24];
	bool renumber; /* `logical` is unique only within its file; `physical` distinguishes it from
			  others */
	uint64_t physical, logical;
};

/* The identity claimed by the files of a thread. */
struct hpcrun_claim {
	struct hpcrun_level levels[HPCRUN_MOST_LEVELS];
	uint32_t n;
	bool has_process;
	uint64_t process;
};

/* Appends a level with a legal key made from `name`; at most one level per key. */
struct hpcrun_level *hpcrun_claim_add(struct hpcrun_claim *claim, struct pm_bytes name);

/*
 * Resolves n claims: sets identity and n_identity of `threads[i]`, and ret_keys to the keys in the
 * order of first appearance. All memory is from the arena. 0 or -ENOMEM.
 */
int hpcrun_identities_settle(const struct hpcrun_claim *claims, uint32_t n,
	struct pm_thread *threads, struct pm_arena *arena, struct pm_threads *ret_keys);

#endif
