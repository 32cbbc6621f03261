/* The walk over traces.dat, and what its payloads hold. */
#include <stdlib.h>

#include "formats/zts/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zts_store store = {.number = "000000"};
	struct zts_attr_names names = {.texts = {.n = 0}};
	struct zts_scan scan;
	if (zts_chunks_walk(&store.chunks, (struct pm_bytes){data, size}, NULL) < 0)
		return 0;
	if (zts_scan_store(&store, &names, &scan, NULL) == 0)
		zts_scan_done(&scan);
	zts_attr_names_done(&names);
	zts_chunks_done(&store.chunks);
	return 0;
}
