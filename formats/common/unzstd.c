#include "formats/common/unzstd.h"

#include "formats/common/work.h"

#ifdef PM_HAVE_ZSTD
#include <stdlib.h>
#include <zstd.h>

struct pm_unzstd {
	ZSTD_DStream *stream;
};

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
	if (!z)
		return "no memory to decompress them";
	for (bool more = true; more;) {
		size_t step = ZSTD_DStreamOutSize();
		char *room = pm_text_reserve(out, step);
		if (!room || pm_work_cancelled())
			return "they decompress to more than there is memory for";
		ZSTD_outBuffer to = {room, step, 0};
		size_t r = ZSTD_decompressStream(z->stream, &to, &from);
		if (ZSTD_isError(r))
			return "they are damaged";
		out->len += to.pos;
		more = from.pos < from.size || to.pos == to.size;
	}
	return NULL;
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

void pm_unzstd_free(struct pm_unzstd *z)
{
	(void)z;
}
#endif
