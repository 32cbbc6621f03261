/* Shared by the files of the perf readers. */
#ifndef PROFMOUNT_FORMATS_PERF_PERF_H
#define PROFMOUNT_FORMATS_PERF_PERF_H

#include "formats/builder/builder.h"
#include "formats/symbols/symbols.h"

struct perf;

/* What a source is opened with: where names are looked for, and the state between its files. */
struct perf_own {
	struct sym_root root;
	struct perf *reading;
};

/* data.c: whether a file is a perf.data, by its first 16 bytes, and reads one; see pm_reader. */
bool perf_data_is(struct pm_bytes head);
void perf_own_free(void *own);
int perf_data_read(struct pm_recording *r, struct pm_error *err);

/* What a function of the kernel is where thread 0 (`swapper`) runs. */
enum perf_role {
	PERF_OTHER,
	PERF_IDLE_LOOP,
	PERF_INTERRUPT, /* below the loop: work, although the idle thread does it */
};

/* script.c */
enum perf_role perf_role_of(struct pm_bytes name);

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
