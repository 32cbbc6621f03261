/*
 * Writes Chrome trace events, for chrome://tracing, Perfetto, speedscope and the Firefox Profiler.
 * Times are relative and in microseconds, because viewers store them as doubles. Slices have args
 * only if calls have fields of their own, because speedscope treats args as part of the name. A
 * slice without duration is written as an instant, because speedscope fails on slices of length 0.
 *
 *     pmfs_chrome_begin, other data as JSON, pmfs_chrome_events, events, pmfs_chrome_end
 *
 * Slices of one thread must nest, and must be in order of start, longest first.
 */
#ifndef PROFMOUNT_FS_VIEWS_EXPORTS_CHROME_H
#define PROFMOUNT_FS_VIEWS_EXPORTS_CHROME_H

#include "formats/common/text.h"

struct pmfs_chrome {
	struct pm_text *out;
	uint64_t n_events;
};

/* The caller then appends a JSON object that describes the file. */
void pmfs_chrome_begin(struct pmfs_chrome *c);
void pmfs_chrome_events(struct pmfs_chrome *c);
void pmfs_chrome_end(struct pmfs_chrome *c);

/* The name of a `process` or `thread`, and its sort order. */
void pmfs_chrome_name(
	struct pmfs_chrome *c, const char *what, uint64_t pid, uint64_t tid, struct pm_bytes name);
void pmfs_chrome_place(
	struct pmfs_chrome *c, const char *what, uint64_t pid, uint64_t tid, uint64_t place);

struct pmfs_chrome_slice {
	uint64_t pid, tid, start_ns, length_ns;
	struct pm_bytes name;
	struct pm_bytes cat;  /* category, or empty */
	struct pm_bytes args; /* a JSON object, or empty */
	/* Of calls of no thread: 'b' or 'e', the begin or end of one that nests in others of its
	 * id. */
	char phase;
	uint64_t id;
};

void pmfs_chrome_slice(struct pmfs_chrome *c, const struct pmfs_chrome_slice *slice);

/* A counter event, and an instant event; `args` as above. */
void pmfs_chrome_counter(struct pmfs_chrome *c, uint64_t pid, uint64_t time_ns,
	struct pm_bytes name, struct pm_bytes args);
void pmfs_chrome_instant(struct pmfs_chrome *c, uint64_t pid, uint64_t time_ns,
	struct pm_bytes name, struct pm_bytes args);

#endif
