/* libFuzzer target: one profile, in all layouts. */
#include "tests/nytprof/exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nytpw_exercise((struct pm_bytes){data, size});
	return 0;
}
