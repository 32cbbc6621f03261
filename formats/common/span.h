/*
 * Names of spans of time: START-END, times since a run began with a unit.
 */
#ifndef PROFMOUNT_SPAN_H
#define PROFMOUNT_SPAN_H

#include "formats/common/text.h"

/*
 * Reads START-END: each side digits, perhaps with a fraction, and ns, us, ms or s; 0 needs no unit;
 * an empty side is that end of the run, which lasts `run_ns`. True where it is a span inside of the
 * run that is longer than nothing: times since the run began.
 */
bool pm_span_read(struct pm_bytes name, uint64_t run_ns, uint64_t *ret_start, uint64_t *ret_end);

/* The canonical name of a span: each time in the largest unit that it has at least one of. */
void pm_span_print(struct pm_text *out, uint64_t start, uint64_t end);

#endif
