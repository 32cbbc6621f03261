/* Shared by the files of the perf readers. */
#ifndef PROFMOUNT_FORMATS_PERF_PERF_H
#define PROFMOUNT_FORMATS_PERF_PERF_H

#include "formats/builder/builder.h"

/* data.c: whether a source is a perf.data, and reads one; see pm_reader. */
bool perf_data_is(const struct pm_candidate *c);
int perf_data_read(struct pm_recording *r, struct pm_error *err);

/* The line of a sample in the text of perf script. Slices are of the line. */
struct perf_head {
	struct pm_bytes comm, event;
	struct pm_bytes rest; /* what stands behind the event: a frame, or fields of a tracepoint */
	uint64_t pid, tid, time_ns, period;
	bool has_pid, has_period;
};

/* script.c: the line of a sample; a text of perf script, see pm_reader. */
bool perf_head_read(struct pm_bytes line, struct perf_head *ret);
int perf_script_read(struct pm_recording *r, struct pm_error *err);

#endif
