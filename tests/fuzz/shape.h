/*
 * Changes of a payload that keep it a sequence of parts: what a fuzzer's changes of single bytes
 * hardly ever make. Parts are the items of CBOR (ZTS payloads), those in others, too, or the
 * records of a Devel::NYTProf stream.
 */
#ifndef PROFMOUNT_TESTS_FUZZ_SHAPE_H
#define PROFMOUNT_TESTS_FUZZ_SHAPE_H

#include "formats/common/text.h"

struct shape_part {
	size_t at, len;
};

enum { SHAPE_PARTS = 8192 }; /* what lies behind them stays as it is */

struct shape {
	struct pm_bytes payload;
	size_t n;
	struct shape_part
		parts[SHAPE_PARTS]; /* by `at`; a part lies in another one, or beside it */
	/* Appends a part with one of its numbers replaced. */
	void (*with_number)(
		struct pm_text *out, struct pm_bytes part, unsigned which, uint64_t value);
};

/* Finds the parts of `payload`, which stays the caller's. */
void shape_cbor(struct shape *s, struct pm_bytes payload);
void shape_records(struct shape *s, struct pm_bytes payload);

/* Appends the payload with one part left out, said again, put elsewhere, or with another number. */
void shape_change(const struct shape *s, uint64_t *random, struct pm_text *out);

uint64_t shape_random(uint64_t *random);

#endif
