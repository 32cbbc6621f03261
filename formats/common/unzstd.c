#include "formats/common/unzstd.h"

#include "formats/common/work.h"

#ifdef PM_HAVE_ZSTD
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "profmount/limits.h"

struct pm_unzstd {
	ZSTD_DStream *stream;
	size_t at;       /* of a whole stream */
	uint64_t out;    /* what it has come to so far */
	bool is_between; /* a frame has ended there */
};

static const char *reason(size_t error)
{
	return ZSTD_getErrorCode(error) == ZSTD_error_frameParameter_windowTooLarge
		? "it refers back further than 128 MiB"
		: "it is damaged";
}

struct pm_unzstd *pm_unzstd_new(void)
{
	struct pm_unzstd *z = calloc(1, sizeof(*z));
	if (!z)
		return NULL;
	z->stream = ZSTD_createDStream();
	/* Frames may ask for a window of any size: 128 MiB is what the library takes by itself. */
	if (z->stream && !ZSTD_isError(ZSTD_initDStream(z->stream)))
		return z;
	pm_unzstd_free(z);
	return NULL;
}

const char *pm_unzstd_add(struct pm_unzstd *z, struct pm_bytes in, struct pm_text *out)
{
	ZSTD_inBuffer from = {in.p, in.len, 0};
	if (!z) {
		pm_arena_failed(out->arena);
		return "there is no memory to decompress it";
	}
	for (bool more = true; more;) {
		size_t step = ZSTD_DStreamOutSize();
		char *room = pm_text_reserve(out, step);
		if (!room || pm_work_cancelled())
			return "it decompresses to more than there is memory for";
		ZSTD_outBuffer to = {room, step, 0};
		size_t r = ZSTD_decompressStream(z->stream, &to, &from);
		if (ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation)
			pm_arena_failed(out->arena);
		if (ZSTD_isError(r))
			return reason(r);
		out->len += to.pos;
		more = from.pos < from.size || to.pos == to.size;
	}
	return NULL;
}

struct pm_ahead_step pm_unzstd_step(struct pm_unzstd *z, struct pm_bytes in, uint8_t *out, size_t n)
{
	struct pm_ahead_step step = {.state = z ? PM_INFLATE_MORE : PM_INFLATE_FAILED};
	ZSTD_inBuffer from = {in.p, in.len, z ? z->at : 0};
	ZSTD_outBuffer to = {out, n, 0};
	while (step.state == PM_INFLATE_MORE && to.pos < n) {
		struct pm_bytes next = {in.p + from.pos, in.len - from.pos};
		if (z->is_between && pm_inflate_kind_of(next) != PM_INFLATE_ZSTD) {
			step.state = PM_INFLATE_ENDED;
			break;
		}
		/* Frames may be empty, so that there can be any number in one step. */
		if (z->is_between && pm_work_cancelled()) {
			step.state = PM_INFLATE_FAILED;
			break;
		}
		size_t had = to.pos, r = ZSTD_decompressStream(z->stream, &to, &from);
		z->is_between = r == 0;
		z->out += to.pos - had;
		if (ZSTD_isError(r))
			step.why = reason(r);
		else if (z->out > PM_LIMIT_ZSTD + (uint64_t)in.len * PM_LIMIT_ZSTD_RATIO)
			step.why = "it decompresses to more than 1032 times its size";
		else if (r > 0 && from.pos == from.size && to.pos < n)
			step.why = "it is cut";
		if (ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation)
			step.state = PM_INFLATE_FAILED;
		else if (step.why)
			step.state = PM_INFLATE_BROKEN;
	}
	if (z)
		z->at = from.pos;
	step.n = to.pos;
	step.in = from.pos;
	return step;
}

void pm_unzstd_free(struct pm_unzstd *z)
{
	if (z)
		ZSTD_freeDStream(z->stream);
	free(z);
}

#else

struct pm_unzstd *pm_unzstd_new(void)
{
	return NULL;
}

const char *pm_unzstd_add(struct pm_unzstd *z, struct pm_bytes in, struct pm_text *out)
{
	(void)z;
	(void)in;
	(void)out;
	return "this program was built without libzstd";
}

struct pm_ahead_step pm_unzstd_step(struct pm_unzstd *z, struct pm_bytes in, uint8_t *out, size_t n)
{
	(void)z;
	(void)in;
	(void)out;
	(void)n;
	return (struct pm_ahead_step){
		.state = PM_INFLATE_BROKEN, .why = "this program was built without libzstd"};
}

void pm_unzstd_free(struct pm_unzstd *z)
{
	(void)z;
}
#endif
