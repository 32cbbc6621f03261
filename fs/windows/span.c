#include "fs/windows/span.h"

bool pmfs_span_clip(const struct pmfs_span *span, const struct pm_sample *s, uint64_t *ret_start,
	uint64_t *ret_duration)
{
	uint64_t end = pmfs_sample_end(s);
	uint64_t from = s->time_ns > span->start ? s->time_ns : span->start;
	uint64_t to = end < span->end ? end : span->end;
	*ret_start = from;
	*ret_duration = to > from ? to - from : 0;
	return to > from || pmfs_span_has_begin(span, s->time_ns);
}

int pmfs_run_length(
	const struct pm_profile *p, uint64_t *ret_origin, uint64_t *ret_ns, struct pm_error *err)
{
	*ret_origin = *ret_ns = PM_NO_TIME;
	int r = p->ops->span ? p->ops->span(p, ret_origin, ret_ns, err) : 0;
	if (*ret_origin == PM_NO_TIME)
		*ret_ns = PM_NO_TIME;
	return r;
}
