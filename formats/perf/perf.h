/* Shared by the files of the perf readers. */
#ifndef PROFMOUNT_FORMATS_PERF_PERF_H
#define PROFMOUNT_FORMATS_PERF_PERF_H

#include "formats/builder/builder.h"

/* data.c: whether a source is a perf.data, and reads one; see pm_reader. */
bool perf_data_is(const struct pm_candidate *c);
int perf_data_read(struct pm_recording *r, struct pm_error *err);

#endif
