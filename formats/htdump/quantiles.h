/*
 * Quantiles of the durations of each label's calls, exact: the smallest duration that is not
 * exceeded by at least that share of the calls, like quantile_disc in SQL.
 */
#ifndef PROFMOUNT_HTDUMP_QUANTILES_H
#define PROFMOUNT_HTDUMP_QUANTILES_H

#include "formats/htdump/contexts.h"

enum { HTD_P50, HTD_P90, HTD_P95, HTD_P99, HTD_N_QUANTILES };

struct htd_quantiles {
	uint64_t (*values)[HTD_N_QUANTILES]; /* by label, ns */
	struct pm_call_times *times;         /* by function of the tree */
};

/*
 * Reads all calls several times, depending on the number of labels, in bounded memory. 0 or a
 * negative errno with nothing left allocated. `q` is zeroed before.
 */
int htd_quantiles_build(struct htd_quantiles *q, const struct htd_calls *c, struct pm_error *err);
void htd_quantiles_done(struct htd_quantiles *q);

#endif
