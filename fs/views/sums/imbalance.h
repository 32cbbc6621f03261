/*
 * The distribution of costs, and of work, over threads: of contexts, one or all at once, and of
 * functions.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_IMBALANCE_H
#define PROFMOUNT_FS_VIEWS_SUMS_IMBALANCE_H

#include "fs/views/model/categories.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/peers.h"

/* One that is not kept in a table: where few contexts have a value of a column. */
struct pmfs_lone_spread {
	uint64_t place; /* context × columns + column */
	size_t made;    /* its number in the order in which they were made */
	struct pmfs_spread spread;
};

/* For all contexts, for profiles with costs stored thread by thread. */
struct pmfs_spreads {
	struct pmfs_spread *spreads;    /* by context, then column; NULL: see `alone` */
	struct pmfs_lone_spread *alone; /* by place */
	size_t n_alone;
	/* n_words of struct pmfs_peers for each spread: by place, or by `made`. NULL: no words */
	uint64_t *kinds;
};

/* Reads contexts one by one. */
struct pmfs_imbalance {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	const struct pm_threads *threads;
	const struct pmfs_peers *peers;
	const struct pmfs_spreads *all; /* NULL: contexts are read one by one */
	uint64_t *kinds;                /* by column: of the context read last */
	struct pmfs_spread *spreads;    /* by column, over the peers: of the context read last */
};

/* In a build of the arena. */
void pmfs_imbalance_start(
	struct pm_arena *a, struct pmfs_imbalance *s, struct pmfs_model *m, struct pm_error *err);

/* Fills `spreads` for a context (by index): 1, 0 if no thread has a value, or a negative errno. */
int pmfs_imbalance_read(struct pmfs_imbalance *s, uint32_t context, struct pm_error *err);

/*
 * ---- work and waiting ----
 *
 * The inclusive cost of a context contains the waiting below it, which is long where a thread has
 * little to do, and so hides who works most. Its work is the primary quantity below it without the
 * cost of contexts that wait (pmfs_is_waiting); of these, the whole cost is considered.
 */

/* How unevenly work is spread over the peers, or waiting. */
struct pmfs_work {
	uint32_t threads, peers; /* with a value of the leading column; that are compared */
	uint32_t slowest;        /* index of a thread; of equals, the lowest */
	uint32_t slowest_rank;   /* index in struct pmfs_peers, or PM_NONE */
	double mean, max, rank_lost;
};

/*
 * By context; owned by the model. The first call reads the values of all threads. Threads that
 * cannot be read have none.
 */
int pmfs_works(struct pmfs_model *m, const struct pmfs_work **ret, struct pm_error *err);

/* ---- the distribution of functions' costs over threads ---- */

/*
 * Of each row of functions.csv. The peers are all threads with a cost of the quantity, so what one
 * thread does alone is seen in programs without ranks, too.
 */
struct pmfs_function_imbalance {
	const struct pmfs_functions *functions;
	const struct pmfs_peers *peers;
	struct pmfs_spread *spreads; /* by row, then column */
	struct pmfs_work *work;      /* by row */
};

/* Reads all values of all threads on the first call; owned by the model. */
int pmfs_function_imbalance(
	struct pmfs_model *m, const struct pmfs_function_imbalance **ret, struct pm_error *err);

/* ---- the contexts with the worst load imbalance ---- */

enum { PMFS_N_WORST = 5 };

struct pmfs_worst_list {
	const struct pmfs_work *work; /* by context */
	uint32_t n;
	uint32_t contexts[PMFS_N_WORST]; /* that lose the most first */
};

/*
 * The calls that lose the most (max - mean), those that wait or those that do not. A call chain is
 * in the list once, as its deepest call with at least 90 % of what the chain loses. Only contexts
 * with at least 1 % of `whole` are considered.
 */
int pmfs_worst_imbalances(struct pmfs_model *m, double whole, bool waiting,
	struct pmfs_worst_list *ret, struct pm_error *err);

#endif
