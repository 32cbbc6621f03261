#include "formats/common/inflate_isal.h"

#ifdef PM_HAVE_ISAL

#include <isa-l/igzip_lib.h>
#include <limits.h>
#include <stdlib.h>

struct pm_isal {
	struct inflate_state state;
	struct pm_bytes in;
};

struct pm_isal *pm_isal_new(struct pm_bytes in)
{
	struct pm_isal *s = malloc(sizeof(*s));
	if (!s)
		return NULL;
	isal_inflate_init(&s->state);
	s->state.crc_flag = ISAL_ZLIB;
	s->state.next_in = (uint8_t *)(uintptr_t)in.p; /* only read */
	s->in = in;
	return s;
}

struct pm_isal *pm_isal_free(struct pm_isal *s)
{
	free(s);
	return NULL;
}

/* ISA-L counts input and output in 32 bits. */
bool pm_isal_step(struct pm_isal *s, uint8_t *out, size_t n, struct pm_ahead_step *ret)
{
	struct inflate_state *z = &s->state;
	uint32_t room = n < UINT_MAX ? (uint32_t)n : UINT_MAX;
	size_t left = s->in.len - (size_t)(z->next_in - s->in.p);
	z->avail_in = left < UINT_MAX ? (uint32_t)left : UINT_MAX;
	z->next_out = out;
	z->avail_out = room;
	int r = isal_inflate(z);
	bool ended = z->block_state == ISAL_BLOCK_FINISH;
	size_t used = (size_t)(z->next_in - s->in.p);
	if (ended) /* whole bytes that were read ahead */
		used -= (size_t)(z->read_in_length > 0 ? z->read_in_length : 0) / 8;
	*ret = (struct pm_ahead_step){.n = room - z->avail_out,
		.in = used,
		.state = ended ? PM_INFLATE_ENDED : PM_INFLATE_MORE};
	return r == ISAL_DECOMP_OK && (ended || ret->n > 0);
}

#else

struct pm_isal *pm_isal_new(struct pm_bytes in)
{
	(void)in;
	return NULL;
}

struct pm_isal *pm_isal_free(struct pm_isal *s)
{
	(void)s;
	return NULL;
}

bool pm_isal_step(struct pm_isal *s, uint8_t *out, size_t n, struct pm_ahead_step *ret)
{
	(void)s, (void)out, (void)n, (void)ret;
	return false;
}

#endif
