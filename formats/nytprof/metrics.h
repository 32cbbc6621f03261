/* The metrics of every source. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_METRICS_H
#define PROFMOUNT_FORMATS_NYTPROF_METRICS_H

#include "profmount/profile.h"

/* Index and metric_id at once. Times are in ns. */
enum nytp_metric {
	NYTP_INCL,
	NYTP_EXCL,
	NYTP_CALLS,
	NYTP_STATEMENTS,
	NYTP_STATEMENTS_NS, /* by line, and so by function; subs' own time is measured apart */
	NYTP_N_METRICS,
};

extern const struct pm_metrics nytp_metrics;
extern const struct pm_metrics nytp_metrics_untimed; /* where no statement's time is known */

#endif
