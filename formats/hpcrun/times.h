/* Traces: units, time order, and samples for the format interface. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_TIMES_H
#define PROFMOUNT_FORMATS_HPCRUN_TIMES_H

#include "formats/common/lazy.h"
#include "formats/hpcrun/costs.h"

struct hpcrun_time {
	bool microseconds;
	bool sorted;          /* samples are in time order */
	uint64_t first, last; /* in ns; of a trace with samples */
	struct pm_lazy lazy;  /* of the order, where it is not as stored */
	uint32_t *order;      /* places by time */
};

struct hpcrun_times {
	struct hpcrun_time *items; /* one a thread */
	uint32_t n;
	uint64_t origin_ns, end_ns; /* of all; PM_NO_TIME without samples */
};

/* Scans all traces, in parallel. Unreadable files have no samples. 0 or -ENOMEM. */
int hpcrun_times_read(
	struct hpcrun_times *ret, struct hpcrun_folder *folder, const struct hpcrun_who *who);

/* Also for a zeroed one. */
void hpcrun_times_done(struct hpcrun_times *t);

/* The trace whose samples are requested. */
struct hpcrun_trace_place {
	struct hpcrun_folder *folder;
	const struct hpcrun_thread *thread;
	struct hpcrun_time *time;
	const struct hpcrun_merged *merged;
	const struct hpcrun_links_of_thread *links;
	uint32_t index; /* of the thread */
};

/* As pm_profile_ops.samples. */
int64_t hpcrun_samples(const struct hpcrun_trace_place *place, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err);

/* Reports samples whose node is not in the profile, and other losses of a trace. */
int hpcrun_trace_report(const struct hpcrun_trace_place *place, const struct hpcrun_report *report);

#endif
