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
	NYTP_STATEMENTS_NS, /* by line, and hence by function; exclusive time of subs is measured
			       separately */
	NYTP_N_METRICS,
};

extern const struct pm_metrics nytp_metrics;
extern const struct pm_metrics nytp_metrics_untimed; /* if no statement times are known */

#endif
