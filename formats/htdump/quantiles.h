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

/* Memory for durations: of all calls of a stream of 300 MB, so that it is read once. */
#define HTD_QUANTILE_BYTES ((size_t)64 << 20)

/*
 * Reads all calls: once if their durations, 8 bytes each, fit into `bytes`, else several times. If
 * not even a part of the labels fits, more is used. 0, or a negative errno with nothing left
 * allocated: -EIO if the file has changed. `q` is zeroed before.
 */
int htd_quantiles_build(
	struct htd_quantiles *q, const struct htd_calls *c, size_t bytes, struct pm_error *err);
void htd_quantiles_done(struct htd_quantiles *q);

#endif
