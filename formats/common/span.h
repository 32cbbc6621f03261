/*
 * Names of spans of time: START-END, times since a run began with a unit.
 */
#ifndef PROFMOUNT_SPAN_H
#define PROFMOUNT_SPAN_H

#include "formats/common/text.h"

/*
 * Reads START-END. Each side has digits, optionally a fraction, and a unit: ns, us, ms or s; 0
 * needs no unit. An empty side is that end of the run, whose duration is `run_ns`. Unless the run's
 * begin since 1970, `origin_ns`, is PM_NO_TIME, a side can also be a time of day, UTC:
 * 20261126T140000Z, 20261126T140000.5Z; what is outside of the run is its end then. True if the
 * span is within the run and not empty; times are since the beginning of the run.
 */
bool pm_span_read(struct pm_bytes name, uint64_t origin_ns, uint64_t run_ns, uint64_t *ret_start,
	uint64_t *ret_end);

/* The canonical name of a span: each time in the largest unit that it has at least one of. */
void pm_span_print(struct pm_text *out, uint64_t start, uint64_t end);

#endif
