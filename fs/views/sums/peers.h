/*
 * The threads that an imbalance is about. Where there are ranks, what one of them does and the
 * others do not is an imbalance, too: the peers of a thread are the threads of all ranks with the
 * same number (and stream of a GPU), and one of them without a cost has a cost of 0.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_PEERS_H
#define PROFMOUNT_FS_VIEWS_SUMS_PEERS_H

#include "fs/views/model/views.h"

/* For one column, over the threads with a value in it at the context, or over their peers. */
struct pmfs_spread {
	uint32_t n;       /* number of threads with a value */
	uint32_t n_apart; /* of those, threads that have no peers on other ranks; see peers.h */
	uint32_t
		slowest; /* index of the thread with the maximum; the lowest if there are several */
	double min, max, mean;
	double squares; /* sum of (value - mean)² */
};

/* Adds a thread's value; call once per thread. */
void pmfs_spread_add(struct pmfs_spread *s, double value, uint32_t thread);

/* Adds values of 0, so that there are `n` values; none if there are as many. */
void pmfs_spread_extend(struct pmfs_spread *s, uint32_t n);

struct pmfs_peers {
	uint32_t n_threads; /* without lanes (pm_thread.is_lane), which are none of them */
	const struct pm_thread *threads;
	uint32_t n_ranks;          /* different ranks */
	const uint32_t *rank;      /* by thread: index of its rank, or PM_NONE */
	const uint64_t *number_of; /* by that index: the rank */
	const uint32_t *by_rank;   /* the threads in order of their ranks' indexes */
	uint32_t n_words;          /* of a set of kinds; 0: threads have no peers across ranks */
	uint32_t n_kinds;
	const uint32_t *kind;       /* by thread: threads of one kind are peers; or PM_NONE */
	const uint32_t *n_of;       /* by kind: threads with a cost anywhere */
	const uint32_t *of_kind;    /* those threads, by kind … */
	const uint32_t *kind_first; /* … from here on; n_kinds + 1 */
	const uint32_t *ranks_of;   /* by kind: the number of their ranks */
};

/* Computed on the first call; owned by the model. */
int pmfs_peers(struct pmfs_model *m, const struct pmfs_peers **ret, struct pm_error *err);

/* Adds a thread's value, unless it is a lane, to a spread and to the set of kinds that have one:
 * n_words words, or NULL.
 */
void pmfs_peers_add(const struct pmfs_peers *p, struct pmfs_spread *s, uint64_t *kinds,
	double value, uint32_t thread);

/* Adds the costs of 0 of the peers without a value. */
void pmfs_peers_complete(const struct pmfs_peers *p, struct pmfs_spread *s, const uint64_t *kinds);

/* The number of ranks that the peers of these kinds are on. `seen` has room for n_ranks marks. */
uint32_t pmfs_peers_ranks(const struct pmfs_peers *p, const uint64_t *kinds, uint8_t *seen);

#endif
