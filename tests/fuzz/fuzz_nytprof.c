/*
 * A profile in any layout: as given, and with its records deflated, so that they are mutated too.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/nytprof/exercise.h"
#include "tests/nytprof/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *first = size ? memmem(data, size, "\nP", 2) : NULL;
	nytpw_exercise((struct pm_bytes){data, size});
	if (!first)
		return 0;
	size_t head = (size_t)(first - data) + 1;
	struct nytpw w = {.deflated_at = 0};
	pm_text_add(&w.out, data, head);
	nytpw_deflate(&w);
	pm_text_add(&w.out, data + head, size - head);
	struct pm_bytes deflated = nytpw_take(&w);
	nytpw_exercise(deflated);
	free((void *)(uintptr_t)deflated.p);
	return 0;
}
