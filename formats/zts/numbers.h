/* The numbers of a call that has not ended, by key: each is stored in the same way. */
#ifndef PROFMOUNT_FORMATS_ZTS_NUMBERS_H
#define PROFMOUNT_FORMATS_ZTS_NUMBERS_H

#include "formats/zts/calls.h"

enum { ZTS_KEYS = 24 }; /* greater ones have no meaning */

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

/* `bit` if it was there. */
static inline uint32_t zts_has(const struct zts_numbers *n, enum zts_info key, enum zts_has bit)
{
	return zts_is_given(n, key) ? bit : 0;
}

static inline void zts_numbers_to_call(const struct zts_numbers *n, struct zts_call *call)
{
	call->has |= zts_has(n, ZTS_TSTART, ZTS_HAS_TSTART) | zts_has(n, ZTS_TSTOP, ZTS_HAS_TSTOP) |
		zts_has(n, ZTS_FLAGS, ZTS_HAS_FLAGS) |
		zts_has(n, ZTS_TIMESTAMP, ZTS_HAS_TIMESTAMP) | zts_has(n, ZTS_SPAN, ZTS_HAS_SPAN) |
		zts_has(n, ZTS_PARENT, ZTS_HAS_PARENT) | zts_has(n, ZTS_TYPE, ZTS_HAS_TYPE);
	call->tstart = zts_number(n, ZTS_TSTART);
	call->tstop = zts_number(n, ZTS_TSTOP);
	call->method = zts_number(n, ZTS_METHOD);
	call->calls = zts_number(n, ZTS_CALLS);
	call->flags = zts_number(n, ZTS_FLAGS);
	call->timestamp_ms = zts_number(n, ZTS_TIMESTAMP);
	call->span_id = zts_number(n, ZTS_SPAN);
	call->parent_id = zts_number(n, ZTS_PARENT);
	call->type = zts_number(n, ZTS_TYPE);
}

#endif
