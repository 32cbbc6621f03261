/* The seam: threads, and what is known of each. */
#ifndef PROFMOUNT_SEAM_THREADS_H
#define PROFMOUNT_SEAM_THREADS_H

#include "profmount/tree.h"

struct pm_identity {
	uint32_t key; /* index into pm_threads.keys */
	uint64_t value;
};

struct pm_thread {
	uint32_t id; /* thread_id */
	uint32_t n_identity;
	const struct pm_identity *identity; /* in stored order: the levels of its directory */
	bool has_trace;
	uint64_t n_samples;   /* of the trace; O(1) to know */
	struct pm_bytes file; /* the file it was read from, for formats with one each */
};

struct pm_threads {
	uint32_t n;
	const struct pm_thread *threads;
	uint32_t n_keys;
	const char *const
		*keys;  /* identity columns, lower case, in the order in which they appear */
	bool has_files; /* threads.csv gets the column `file` */
};

/* What threads.csv says of a thread beyond its identity; PM_NO_TIME = unknown. */
struct pm_thread_counts {
	uint64_t contexts;
	uint64_t values;
	uint64_t last_ns; /* where traces are calls: the latest end, as stored; 0 = unknown */
};

#endif
