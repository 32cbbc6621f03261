/*
 * Identities: which keys and values tell a thread from all others of the directory, so that each
 * has a directory of its own. Knows no files.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_IDENTITY_H
#define PROFMOUNT_FORMATS_HPCRUN_IDENTITY_H

#include "formats/common/map.h"
#include "profmount/profile.h"

/* Levels of one thread: real ones have up to four. */
enum { HPCRUN_MOST_LEVELS = 8 };

struct hpcrun_level {
	char key[24];
	bool renumber; /* `logical` was made by this file alone: `physical` tells it from others */
	uint64_t physical, logical;
};

/* What one thread's files say of it. */
struct hpcrun_claim {
	struct hpcrun_level levels[HPCRUN_MOST_LEVELS];
	uint32_t n;
	bool has_process;
	uint64_t process;
};

/* Appends a level with a key made legal from `name`; at most one of a key. */
struct hpcrun_level *hpcrun_claim_add(struct hpcrun_claim *claim, struct pm_bytes name);

/*
 * Settles n claims: `threads[i]` gets identity and n_identity, the keys go into ret_keys in the
 * order in which they first appear. All of it lives in the arena. 0 or -ENOMEM.
 */
int hpcrun_identities_settle(const struct hpcrun_claim *claims, uint32_t n,
	struct pm_thread *threads, struct pm_arena *arena, struct pm_threads *ret_keys);

#endif
