/* The seam: what ran when. */
#ifndef PROFMOUNT_SEAM_TRACES_H
#define PROFMOUNT_SEAM_TRACES_H

#include "profmount/document.h"
#include "profmount/tree.h"

/* Of a call that was cut off: how much of that part is its children's is not known. */
#define PM_NO_SELF ((uint64_t)INT64_MIN)

/* A sample of what ran, or a call. */
struct pm_sample {
	uint64_t time_ns;     /* as stored, in ns */
	uint64_t duration_ns; /* PM_NO_TIME: none */
	uint64_t context;     /* number; 0 = nothing running, one the tree lacks = unknown */
	uint64_t self_ns;     /* of calls: duration less direct children's; two's complement; or
			       * PM_NO_SELF */
	uint64_t seq;         /* of calls: the event's place in the stream */
};

/*
 * Events that a traced program recorded beside its calls, or fields of calls beyond when, how long
 * and what: a row an event, in the order of the stream. Of the columns, `seq` has its place in the
 * stream, the one that a call's sample has, and `time` its time from the time origin in ns.
 */
enum pm_series_kind {
	PM_SERIES_COUNTER, /* numbers over time */
	PM_SERIES_INSTANT, /* events without numbers */
	PM_SERIES_CALLS,   /* fields of calls */
};

struct pm_series {
	enum pm_series_kind kind;
	struct pm_bytes name;
	struct pm_table table;
	uint64_t n; /* rows */
	uint32_t seq, time;
	const bool *fields; /* by column: is a field to be shown */
};

#endif
