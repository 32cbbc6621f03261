/* Metadata indexes of both generations. */
#include <stdlib.h>

#include "formats/zts/meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zts_spans spans = {.n = 0};
	struct pm_bytes b = {data, size};
	bool whole;
	zts_meta_carve(&spans, b, 0, 14, &whole);
	zts_meta_read_old(&spans, b, 0, &whole);
	zts_spans_unite(&spans);
	free(spans.items);
	return 0;
}
