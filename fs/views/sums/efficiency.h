/*
 * How well the threads of a run are used, by the definitions of POP (https://pop-coe.eu): of the
 * time of all threads, which part is work, and what takes the rest.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_EFFICIENCY_H
#define PROFMOUNT_FS_VIEWS_SUMS_EFFICIENCY_H

#include "fs/views/model/views.h"

/* Of a run, or the means of several. */
struct pmfs_efficiency {
	double threads; /* with time on processors */
	double ranks;   /* of these; 0: there are none */
	/* Of the run, but not less than the longest time of a thread: it is measured by samples. */
	double duration_ns;
	double useful_ns, most_useful_ns; /* sum and maximum over the threads */
	double outside_ns; /* mean over ranks: of the main thread, outside of MPI and idling */
};

/*
 * 1 if the run has sampled time on processors and a known duration, else 0, or a negative errno.
 * O(1), or the time to find out which quantity is the primary one.
 */
int pmfs_efficiency_applies(struct pmfs_model *m, struct pm_error *err);

/* The same by what is known without costs: 0 if it certainly does not. */
int pmfs_efficiency_may_apply(struct pmfs_model *m, struct pm_error *err);

/* Without threads if it does not apply. Computed on the first call; owned by the model. Reads all
 * threads. */
int pmfs_efficiency(struct pmfs_model *m, const struct pmfs_efficiency **ret, struct pm_error *err);

/* efficiency.csv. The cells after the first one, against a baseline; NULL: without. */
enum { PMFS_EFFICIENCY_COLUMNS = 12 };
extern const char *const pmfs_efficiency_columns[PMFS_EFFICIENCY_COLUMNS];
void pmfs_efficiency_cells(const struct pmfs_efficiency *e, const struct pmfs_efficiency *base,
	bool weak, struct pm_cell *cells);

#endif
