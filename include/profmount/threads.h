/* Format interface: threads and their properties. */
#ifndef PROFMOUNT_SEAM_THREADS_H
#define PROFMOUNT_SEAM_THREADS_H

#include "profmount/tree.h"

struct pm_identity {
	uint32_t key;   /* index into pm_threads.keys */
	uint64_t value; /* shown as int64_t: ids may be negative */
};

struct pm_thread {
	uint32_t id; /* thread_id */
	uint32_t n_identity;
	const struct pm_identity *identity; /* in stored order: the levels of its directory */
	bool has_trace;
	uint64_t n_samples;   /* of the trace; known in O(1) */
	struct pm_bytes file; /* the file it was read from, for formats with a file per thread */
	/* What the program calls it, and its process; empty: unknown. */
	struct pm_bytes name, process;
};

struct pm_threads {
	uint32_t n;
	const struct pm_thread *threads;
	uint32_t n_keys;
	const char *const
		*keys;  /* identity columns, lower case, in the order in which they appear */
	bool has_files; /* threads.csv gets the column `file` */
	bool has_names, has_processes; /* the columns `thread_name`, `process_name` */
};

/* Columns of threads.csv other than the identity; PM_NO_TIME = unknown. */
struct pm_thread_counts {
	uint64_t contexts;
	uint64_t values;
	uint64_t last_ns; /* if traces consist of calls: the latest end, as stored; 0 = unknown */
};

#endif
