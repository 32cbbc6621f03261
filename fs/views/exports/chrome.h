/*
 * Writes Chrome trace events, for chrome://tracing, Perfetto, speedscope and the Firefox Profiler.
 * Times are relative and in microseconds, because viewers keep them as doubles; slices have args
 * only where calls have fields of their own, because speedscope takes those for part of the name;
 * what takes no time is an instant, because speedscope breaks on slices of no length.
 *
 *     pmfs_chrome_begin, other data as JSON, pmfs_chrome_events, events, pmfs_chrome_end
 *
 * Slices of one thread nest, and come in order of start, longest first.
 */
#ifndef PROFMOUNT_FS_VIEWS_EXPORTS_CHROME_H
#define PROFMOUNT_FS_VIEWS_EXPORTS_CHROME_H

#include "formats/common/text.h"

struct pmfs_chrome {
	struct pm_text *out;
	uint64_t n_events;
};

/* The caller appends one JSON object after it: what the file is. */
void pmfs_chrome_begin(struct pmfs_chrome *c);
void pmfs_chrome_events(struct pmfs_chrome *c);
void pmfs_chrome_end(struct pmfs_chrome *c);

/* The name of a `process` or `thread`, and its place among its like. */
void pmfs_chrome_name(
	struct pmfs_chrome *c, const char *what, uint64_t pid, uint64_t tid, struct pm_bytes name);
void pmfs_chrome_place(
	struct pmfs_chrome *c, const char *what, uint64_t pid, uint64_t tid, uint64_t place);

struct pmfs_chrome_slice {
	uint64_t pid, tid, start_ns, length_ns;
	struct pm_bytes name;
	struct pm_bytes args; /* a JSON object, or empty */
};

void pmfs_chrome_slice(struct pmfs_chrome *c, const struct pmfs_chrome_slice *slice);

/* Numbers at a time, and something that happened; `args` as above. */
void pmfs_chrome_counter(struct pmfs_chrome *c, uint64_t pid, uint64_t time_ns,
	struct pm_bytes name, struct pm_bytes args);
void pmfs_chrome_instant(struct pmfs_chrome *c, uint64_t pid, uint64_t time_ns,
	struct pm_bytes name, struct pm_bytes args);

#endif
