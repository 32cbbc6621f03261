/* Histograms of the durations of calls, in powers of √2. */
#ifndef PROFMOUNT_BUCKETS_H
#define PROFMOUNT_BUCKETS_H

#include "profmount/traces.h"

enum { PM_BUCKETS = 129 };

/* The shortest duration of a bucket: see struct pm_call_bucket. */
uint64_t pm_bucket_start(uint32_t index);

uint32_t pm_bucket_of(uint64_t duration_ns);

#endif
