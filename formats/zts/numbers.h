/* The numbers of a call that has not ended, by key: each is stored in the same way. */
#ifndef PROFMOUNT_FORMATS_ZTS_NUMBERS_H
#define PROFMOUNT_FORMATS_ZTS_NUMBERS_H

#include "formats/zts/calls.h"

enum { ZTS_KEYS = 24 }; /* greater ones have no meaning */
_Static_assert(ZTS_HAS_EXCEPTION >= 1 << ZTS_KEYS, "bits of keys are bits of numbers only");

struct zts_numbers {
	uint32_t given; /* bit k: key k was there */
	uint64_t of[ZTS_KEYS];
};

static inline bool zts_is_given(const struct zts_numbers *n, enum zts_info key)
{
	return n->given >> key & 1;
}

/* 0 if it was not there. */
static inline uint64_t zts_number(const struct zts_numbers *n, enum zts_info key)
{
	return zts_is_given(n, key) ? n->of[key] : 0;
}

/* To the call, whose numbers are those of the same record, or 0. */
static inline void zts_numbers_to_call(const struct zts_numbers *n, struct zts_call *call)
{
	enum {
		RARE = ZTS_HAS_TIMESTAMP | ZTS_HAS_TYPE | ZTS_HAS_FLAGS | ZTS_HAS_PARENT |
			ZTS_HAS_SPAN,
	};
	call->has |= n->given & (RARE | ZTS_HAS_TSTART | ZTS_HAS_TSTOP);
	call->tstart = zts_number(n, ZTS_TSTART);
	call->tstop = zts_number(n, ZTS_TSTOP);
	call->method = zts_number(n, ZTS_METHOD);
	call->calls = zts_number(n, ZTS_CALLS);
	if (!(n->given & RARE))
		return;
	call->flags = zts_number(n, ZTS_FLAGS);
	call->timestamp_ms = zts_number(n, ZTS_TIMESTAMP);
	call->span_id = zts_number(n, ZTS_SPAN);
	call->parent_id = zts_number(n, ZTS_PARENT);
	call->type = zts_number(n, ZTS_TYPE);
}

#endif
