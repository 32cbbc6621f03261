/* Arbitrary bytes as an HTDUMP stream: no crashes, and what is presented must be consistent. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/htdump/drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_profile p;
	struct pm_error err;
	if (stream_open(data, size, &p, &err) < 0)
		return 0;
	const char *wrong = stream_drain(&p);
	if (wrong) {
		fprintf(stderr, "%s\n", wrong);
		abort();
	}
	stream_close(&p);
	return 0;
}
