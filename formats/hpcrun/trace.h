/*
 * A .hpctrace file: samples of one thread, each a time and a node (docs/formats/hpcrun.md §5).
 * Samples stay in the input.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_TRACE_H
#define PROFMOUNT_FORMATS_HPCRUN_TRACE_H

#include "formats/common/cursor.h"
#include "formats/hpcrun/damage.h"
#include "profmount/error.h"

struct hpcrun_trace {
	struct pm_bytes magic; /* empty in files of 2009 */
	bool has_flags;
	bool is_real;       /* times are doubles, in microseconds */
	uint64_t flags;     /* bit 0: samples have a metric */
	size_t start, size; /* of the records */
	uint64_t n;
	size_t leftover; /* bytes after the last complete record */
};

struct hpcrun_sample {
	uint64_t time; /* as stored: bits of a double if trace->is_real */
	uint32_t node;
	uint32_t metric; /* with flags bit 0 */
};

/*
 * Reads the header and counts the records. -EINVAL or -ENOTSUP, and a zeroed trace, if it is not a
 * readable trace. O(1); O(n) for traces of 2009.
 */
int hpcrun_trace_read(struct hpcrun_trace *ret, struct pm_bytes file,
	const struct hpcrun_report *report, struct pm_error *err);

/* Sample i of the records, below trace->n. */
void hpcrun_trace_decode(const struct hpcrun_trace *t, struct pm_bytes records, uint64_t i,
	struct hpcrun_sample *ret);

/* The records: n of them, or none if the file has changed since it was read. */
struct pm_bytes hpcrun_trace_records(const struct hpcrun_trace *t, struct pm_bytes file);

/* A sample's time in ns; stored times are in ns, or in microseconds for old traces. */
uint64_t hpcrun_trace_ns(const struct hpcrun_trace *t, uint64_t time, bool microseconds);

#endif
