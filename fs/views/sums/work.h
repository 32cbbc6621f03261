/*
 * Work and waiting of threads. The inclusive cost of a context contains the waiting below it, which
 * is long where a thread has little to do, and so hides who works most. Its work is the primary
 * quantity below it without the cost of contexts that wait, which are those of the categories mpi,
 * openmp, thread and idle; of these, the whole cost is considered.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_WORK_H
#define PROFMOUNT_FS_VIEWS_SUMS_WORK_H

#include "fs/views/model/categories.h"
#include "fs/views/sums/peers.h"

/* Is it time in which a thread waits, or may do so? */
static inline bool pmfs_is_waiting(enum pmfs_category category)
{
	return category == PMFS_MPI || category == PMFS_OPENMP || category == PMFS_THREAD ||
		category == PMFS_IDLE;
}

/* The leading column of a context on one thread, and the work in it. */
struct pmfs_work_cost {
	uint32_t context;
	bool waits;
	double value, work;
};

struct pmfs_work_costs {
	struct pmfs_work_cost *items; /* by context */
	size_t n, room;
};

/* Reads the values of a thread; `ret`, zeroed before, is to be freed by pmfs_work_costs_done. */
int pmfs_work_costs(
	struct pmfs_model *m, uint32_t thread, struct pmfs_work_costs *ret, struct pm_error *err);
void pmfs_work_costs_done(struct pmfs_work_costs *w);

/* How unevenly work is spread over the peers, or waiting. */
struct pmfs_work {
	uint32_t threads, peers; /* with a value of the leading column; that are compared */
	uint32_t slowest;        /* index of a thread; of equals, the lowest */
	uint32_t slowest_rank;   /* index in struct pmfs_peers, or PM_NONE */
	double mean, max, rank_lost;
};

/* Adds up threads in the order of pmfs_peers.by_rank. */
struct pmfs_work_sum {
	struct pmfs_spread spread;
	double rank_sum, rank_max; /* of the current rank, of the greatest before it */
	uint32_t rank, slowest_rank;
	bool begun;
};

/* `kinds`: see pmfs_peers_add. */
void pmfs_work_add(const struct pmfs_peers *p, struct pmfs_work_sum *s, uint64_t *kinds,
	uint32_t thread, double figure);

/*
 * Of that sum, over `peers` threads on `ranks` ranks, or those with a value if these are more.
 * Nothing may be added afterwards.
 */
struct pmfs_work pmfs_work_of(
	const struct pmfs_peers *p, struct pmfs_work_sum *s, uint32_t peers, uint32_t ranks);

/*
 * By context; owned by the model. The first call reads the values of all threads. Threads that
 * cannot be read have none.
 */
int pmfs_works(struct pmfs_model *m, const struct pmfs_work **ret, struct pm_error *err);

#endif
