/* Spans of time, and the parts of samples and calls inside them. */
#ifndef PROFMOUNT_FS_WINDOWS_SPAN_H
#define PROFMOUNT_FS_WINDOWS_SPAN_H

#include <stdbool.h>

#include "profmount/profile.h"

/* In ns, as in samples. What begins at `end` is outside, unless the run ends there. */
struct pmfs_span {
	uint64_t start, end;
	bool is_last; /* the run ends at `end` */
};

/* Clips a sample or call to the span; false if nothing of it is inside. */
bool pmfs_span_clip(const struct pmfs_span *span, const struct pm_sample *s, uint64_t *ret_start,
	uint64_t *ret_duration);

static inline bool pmfs_span_has_begin(const struct pmfs_span *span, uint64_t time)
{
	return time >= span->start && (time < span->end || (span->is_last && time == span->end));
}

/* The end of a sample or call; its beginning if the end is unknown. Does not wrap. */
static inline uint64_t pmfs_sample_end(const struct pm_sample *s)
{
	uint64_t end;
	if (s->duration_ns == PM_NO_TIME)
		return s->time_ns;
	return __builtin_add_overflow(s->time_ns, s->duration_ns, &end) ? UINT64_MAX : end;
}

/*
 * The beginning and the duration of the run, for names of windows; both PM_NO_TIME if the beginning
 * is unknown. 0 or a negative errno.
 */
int pmfs_run_length(
	const struct pm_profile *p, uint64_t *ret_origin, uint64_t *ret_ns, struct pm_error *err);

#endif
