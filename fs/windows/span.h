/*
 * Spans of time, and their names: START-END, times since the run began with a unit.
 */
#ifndef PROFMOUNT_FS_WINDOWS_SPAN_H
#define PROFMOUNT_FS_WINDOWS_SPAN_H

#include "formats/common/text.h"
#include "profmount/traces.h"

/* In ns, as samples have them. What begins at `end` is outside, unless the run ends there. */
struct pmfs_span {
	uint64_t start, end;
	bool is_last; /* the run ends at `end` */
};

/* The part of a sample or call that lies inside: false where none of it does. */
bool pmfs_span_clip(const struct pmfs_span *span, const struct pm_sample *s, uint64_t *ret_start,
	uint64_t *ret_duration);

static inline bool pmfs_span_has_begin(const struct pmfs_span *span, uint64_t time)
{
	return time >= span->start && (time < span->end || (span->is_last && time == span->end));
}

/* When a sample or call ends; its beginning where that is not known. Does not wrap. */
static inline uint64_t pmfs_sample_end(const struct pm_sample *s)
{
	uint64_t end;
	if (s->duration_ns == PM_NO_TIME)
		return s->time_ns;
	return __builtin_add_overflow(s->time_ns, s->duration_ns, &end) ? UINT64_MAX : end;
}

/*
 * Reads START-END: each side digits, perhaps with a fraction, and ns, us, ms or s; 0 needs no unit;
 * an empty side is that end of the run, which lasts `run_ns`. True where it is a span inside of the
 * run that is longer than nothing: times since the run began.
 */
bool pmfs_span_read(struct pm_bytes name, uint64_t run_ns, uint64_t *ret_start, uint64_t *ret_end);

/* The one name that a span has: each time in the largest unit of which it has one or more. */
void pmfs_span_print(struct pm_text *out, uint64_t start, uint64_t end);

#endif
