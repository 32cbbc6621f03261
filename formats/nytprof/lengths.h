/*
 * The durations of the calls of each sub. While a file is read, each return adds a few bytes to the
 * log of its sub; percentiles and histograms are computed from the logs on request.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_LENGTHS_H
#define PROFMOUNT_FORMATS_NYTPROF_LENGTHS_H

#include "formats/nytprof/built.h"

/* A call of that name took `ticks`. 0 or -ENOMEM. */
int nytp_log_add(struct nytp *n, struct nytp_file *f, uint32_t name, double ticks);

/* Call at the end of each file, also one that could not be read. */
void nytp_logs_end(struct nytp *n, const struct nytp_file *f);

/* Call after the last file. */
void nytp_logs_settle(struct nytp *n);

/* Frees the logs of all files. */
void nytp_logs_done(struct nytp *n);

/* By function of the finished tree; all are unknown if there were too many calls. */
struct nytp_times {
	struct pm_call_times *by_function;
	struct pm_arena histograms;
};

/* 0 or -ENOMEM; then there is nothing to free. */
int nytp_times_build(const struct nytp *n, const struct nytp_model *m, struct nytp_times *ret);
void nytp_times_done(struct nytp_times *times);

#endif
