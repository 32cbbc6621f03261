/* What calls add up to: of a path of methods, and of a method. */
#ifndef PROFMOUNT_FORMATS_ZTS_SUMS_H
#define PROFMOUNT_FORMATS_ZTS_SUMS_H

#include "formats/zts/calls.h"
#include "profmount/traces.h"

struct zts_sums {
	uint64_t calls, errors;
	zts_sum inclusive_ns, exclusive_ns;
};

static inline void zts_sums_add(struct zts_sums *to, const struct zts_sums *from)
{
	to->calls += from->calls;
	to->errors += from->errors;
	to->inclusive_ns += from->inclusive_ns;
	to->exclusive_ns += from->exclusive_ns;
}

struct zts_method {
	struct pm_bytes name;
	uint32_t function;    /* of the run's tree, once that is finished */
	struct zts_sums sums; /* inclusive: of outermost calls */
	bool ended;           /* one call at least: min and max are known */
	int64_t min_ns, max_ns;
	struct pm_call_times times;
};

#endif
