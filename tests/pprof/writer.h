/* Writes profile.proto for tests. */
#ifndef PROFMOUNT_TESTS_PPROF_WRITER_H
#define PROFMOUNT_TESTS_PPROF_WRITER_H

#include "formats/common/text.h"

/* Fields of a message. */
void pprofw_varint(struct pm_text *out, uint64_t u);
void pprofw_number(struct pm_text *out, unsigned field, uint64_t value);
void pprofw_bytes(struct pm_text *out, unsigned field, const void *p, size_t n);

/* Appends a message as a field and empties it. */
void pprofw_message(struct pm_text *out, unsigned field, struct pm_text *message);

/* Packed numbers, up to a 0. */
void pprofw_packed(struct pm_text *out, unsigned field, const uint64_t *numbers, size_t n);

/*
 * A profile of everything: two types in ms and bytes, inlined functions, an address, labels and
 * threads, a sample without a stack. `odd` adds a missing location, function and mapping, a wrong
 * number of values, a negative value.
 */
void pprofw_rich(struct pm_text *out, bool odd);

#endif
