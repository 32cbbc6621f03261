/* Format interface: threads and their properties. */
#ifndef PROFMOUNT_SEAM_THREADS_H
#define PROFMOUNT_SEAM_THREADS_H

#include <string.h>

#include "profmount/tree.h"

struct pm_identity {
	uint32_t key;   /* index into pm_threads.keys */
	uint64_t value; /* shown as int64_t: ids may be negative */
};

struct pm_thread {
	uint32_t id; /* thread_id */
	uint32_t n_identity;
	const struct pm_identity *identity; /* in stored order: the levels of its directory */
	/* No thread by itself: further calls of one that overlap, or calls of no thread. */
	bool is_lane;
	bool has_trace;
	bool on_gpu; /* a GPU's stream; those with an identity gpu… are, too: see pm_time_of */
	uint64_t n_samples;   /* of the trace; known in O(1) */
	struct pm_bytes file; /* the file it was read from, for formats with a file per thread */
	/* What the program calls it, and its process; empty: unknown. */
	struct pm_bytes name, process;
};

struct pm_threads {
	uint32_t n, n_lanes; /* lanes among them */
	const struct pm_thread *threads;
	uint32_t n_keys;
	const char *const
		*keys;  /* identity columns, lower case, in the order in which they appear */
	bool has_files; /* threads.csv gets the column `file` */
	bool has_names, has_processes; /* the columns `thread_name`, `process_name` */
};

/*
 * Whose time the time of a thread is. That of GPUs, of work in flight that no thread does, and of
 * samples beside the calls of the same thread, overlaps with that of processors, so it is a
 * quantity of its own.
 */
enum pm_time { PM_TIME_PROCESSORS, PM_TIME_GPUS, PM_TIME_ASYNC, PM_TIME_SAMPLED, PM_N_TIMES };

static inline enum pm_time pm_time_of(const struct pm_threads *threads, uint32_t thread)
{
	const struct pm_thread *t = &threads->threads[thread];
	for (uint32_t i = 0; i < t->n_identity; i++) {
		const char *key = threads->keys[t->identity[i].key];
		if (strncmp(key, "gpu", 3) == 0)
			return PM_TIME_GPUS;
		if (strcmp(key, "async") == 0)
			return PM_TIME_ASYNC;
		if (strcmp(key, "sampled") == 0)
			return PM_TIME_SAMPLED;
	}
	return t->on_gpu ? PM_TIME_GPUS : PM_TIME_PROCESSORS;
}

/* Columns of threads.csv other than the identity; PM_NO_TIME = unknown. */
struct pm_thread_counts {
	uint64_t contexts;
	uint64_t values;
	uint64_t last_ns; /* if traces consist of calls: the latest end, as stored; 0 = unknown */
};

#endif
