/* Samples of trace.db, and the time that they cover. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_TRACE_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_TRACE_H

#include "formats/hpctoolkit/threads.h"

/* Sample i (< line->n) of a line that is not damaged. */
struct hpctk_sample_record hpctk_sample_get(
	const struct hpctk_opened *db, const struct hpctk_line *line, uint64_t i);

/* As pm_profile_ops.samples and .span. */
int64_t hpctk_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err);
int hpctk_span(const struct pm_profile *p, uint64_t *ret_origin_ns, uint64_t *ret_duration_ns,
	struct pm_error *err);

#endif
