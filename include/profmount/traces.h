/* Format interface: traces. */
#ifndef PROFMOUNT_SEAM_TRACES_H
#define PROFMOUNT_SEAM_TRACES_H

#include "profmount/document.h"
#include "profmount/tree.h"

/*
 * Of a call that was cut off: how much of that part is its children's is not known. Also of one
 * longer than INT64_MAX, or whose children take so much longer that the difference does not fit.
 */
#define PM_NO_SELF ((uint64_t)INT64_MIN)

#define PM_IN_NO_CALL UINT64_MAX

/* Of an event that has no weight: only its sample counts. */
#define PM_NO_WEIGHT INT64_MIN

/* A sample, or a call. */
struct pm_sample {
	uint64_t time_ns;     /* as stored, in ns */
	uint64_t duration_ns; /* PM_NO_TIME: none */
	uint64_t context;     /* number; 0 = nothing running; unknown if it is not in the tree */
	union {
		/*
		 * Of calls: duration minus that of direct children; two's complement; or
		 * PM_NO_SELF.
		 */
		uint64_t self_ns;
		int64_t weight; /* of weighed samples (struct pm_profile); or PM_NO_WEIGHT */
	};
	union {
		uint64_t seq;   /* of calls: number of the event in the stream */
		uint64_t event; /* of weighed samples: index of pm_profile.events */
		bool is_rest;   /* of other samples in a window: they began before it */
	};
	/*
	 * Of calls: the context of the call that this one's time is a part of: 0 for its caller;
	 * where the caller has no time, the nearest call above that has; PM_IN_NO_CALL: none has.
	 */
	union {
		uint64_t within;
		uint64_t drawn_ns; /* of weighed samples: how long pictures may show them */
	};
};

/*
 * A number that a call has (-o values), if it has it: a whole one, in the scale of what it is of
 * (struct pm_event), or a double.
 */
struct pm_amount {
	bool known, real;
	union {
		int64_t i;
		double f;
	};
};

/* Calls that took about as long: bucket 0 has those of 0 ns, bucket i those from √2^(i-1) ns on. */
struct pm_call_bucket {
	uint32_t index;
	uint64_t calls;
	unsigned __int128 ns; /* of all of them */
};

/*
 * How long the calls of a function took, each with all below it: the smallest duration that at
 * least that share of them does not exceed, exactly, and the longest.
 */
struct pm_call_times {
	bool known; /* it was called */
	uint64_t p50_ns, p90_ns, p95_ns, p99_ns, max_ns;
	/*
	 * The buckets that are not empty, shortest calls first. NULL if samples() returns the
	 * calls.
	 */
	const struct pm_call_bucket *buckets;
	uint32_t n_buckets;
};

/*
 * Events that a traced program recorded in addition to calls, or additional fields of calls: one
 * row per event, in the order of the stream. Column `seq` is the number of the event in the stream,
 * as in pm_sample, and column `time` its time relative to the time origin in ns.
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
	const bool *fields; /* by column: whether it is a field to be shown */
};

#endif
