/* The CBOR decoder, fed in two parts, and the JSON made from its events. */
#include "formats/common/cbor.h"
#include "formats/common/text.h"
#include "formats/zts/payload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_cbor c;
	struct pm_cbor_event e;
	struct pm_text out = {.limit = 1 << 24};
	size_t half = size / 2;
	pm_cbor_init(&c, 256);
	pm_cbor_feed(&c, (struct pm_bytes){data, half});
	while (pm_cbor_next(&c, &e, NULL) > 0)
		;
	pm_cbor_feed(&c, (struct pm_bytes){data + half, size - half});
	while (pm_cbor_next(&c, &e, NULL) > 0)
		;
	while (pm_cbor_finish(&c, &e, NULL) > 0)
		;
	pm_cbor_done(&c);
	zts_payload_write((struct pm_bytes){data, size}, &out, NULL);
	pm_text_done(&out);
	return 0;
}
