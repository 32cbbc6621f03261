/* The metrics of every source, in two lists: statements may have no time. */
#include "formats/nytprof/metrics.h"

#define TEXT(s)                                                                                    \
	{                                                                                          \
		(const uint8_t *)(s), sizeof(s) - 1                                                \
	}
#define METRIC(metric_id, group_id, metric_role, metric_name, metric_unit, metric_scope, known)    \
	{                                                                                          \
		.id = (metric_id), .group = (group_id), .role = (metric_role), .in_tree = (known), \
		.in_flat = (known), .has_values = (known), .name = TEXT(metric_name),              \
		.unit = TEXT(metric_unit), .scope = TEXT(metric_scope)                             \
	}
#define METRICS(timed)                                                                             \
	{                                                                                          \
		METRIC(NYTP_INCL, 0, PM_ROLE_INCLUSIVE, "time", "ns", "inclusive", true),          \
			METRIC(NYTP_EXCL, 0, PM_ROLE_EXCLUSIVE, "time", "ns", "exclusive", true),  \
			METRIC(NYTP_CALLS, 1, PM_ROLE_COUNT, "calls", "", "count", true),          \
			METRIC(NYTP_STATEMENTS, 2, PM_ROLE_COUNT, "statements", "", "count",       \
				true),                                                             \
			METRIC(NYTP_STATEMENTS_NS, 3, PM_ROLE_COUNT, "statements", "ns",           \
				"exclusive", timed),                                               \
	}

static const struct pm_metric metrics[NYTP_N_METRICS] = METRICS(true);
static const struct pm_metric untimed[NYTP_N_METRICS] = METRICS(false);

const struct pm_metrics nytp_metrics = {NYTP_N_METRICS, metrics};
const struct pm_metrics nytp_metrics_untimed = {NYTP_N_METRICS, untimed};
