/* Profiles as threads: identity and trace. The summary profile is not a thread. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_THREADS_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_THREADS_H

#include "formats/common/arena.h"
#include "formats/hpctoolkit/parts.h"

/* Samples of one thread: n of them from `at` in trace.db. */
struct hpctk_line {
	uint64_t at, n;
	bool present; /* it has a trace, possibly an empty one */
	bool damaged; /* … whose samples are outside the file or overlap those of another one */
};

struct hpctk_threads {
	struct pm_threads list;
	struct pm_arena arena;
	uint32_t *of_profile;         /* thread by profile index, PM_NONE for summaries */
	struct hpctk_line *lines;     /* by thread */
	uint32_t summary;             /* profile index of the summary profile, or PM_NONE */
	struct pm_damage_list damage; /* found while reading them */
};

/* Built on first need; lives as long as the database. */
int hpctk_threads_get(
	struct hpctk_opened *db, const struct hpctk_threads **ret, struct pm_error *err);

/* Whether there are two or more. Reads as little of the list of profiles as possible. */
bool hpctk_threads_several(const struct hpctk_opened *db);

/* The thread of a profile index in values and traces, or PM_NONE. */
uint32_t hpctk_thread_of(
	const struct hpctk_opened *db, const struct hpctk_threads *t, uint32_t profile);

/* Whether profile i is a summary over threads. */
bool hpctk_profile_is_summary(const struct hpctk_opened *db, uint32_t i);

/*
 * The identifier tuple of profile i: `*ret` ids of `*ret_n`, HPCTK_TUPLE_ID bytes each. None for a
 * summary; false if it is outside the file or longer than any real tuple.
 */
bool hpctk_tuple_find(
	const struct hpctk_opened *db, uint32_t i, struct pm_bytes *ret, uint32_t *ret_n);

#endif
