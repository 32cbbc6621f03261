/*
 * HPCToolkit databases. An input holds the four files: three lengths of 32 bits, little-endian,
 * then meta.db, profile.db, cct.db and, in what is left, trace.db. An empty file is a missing one.
 * tests/hpctoolkit/seeds.c writes inputs to start from.
 */
#include "formats/common/cursor.h"
#include "tests/hpctoolkit/heap_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_cur c = pm_cur_of((struct pm_bytes){data, size}, false);
	size_t lengths[HPCTK_N_FILES];
	for (unsigned i = 0; i < HPCTK_TRACE; i++)
		lengths[i] = pm_cur_u32(&c);
	for (unsigned i = 0; i < HPCTK_N_FILES; i++) {
		size_t left = pm_cur_left(&c);
		bool rest = i == HPCTK_TRACE || lengths[i] > left;
		heap_files[i] = pm_cur_bytes(&c, rest ? left : lengths[i]);
		if (heap_files[i].len == 0)
			heap_files[i].p = NULL;
	}
	heap_files_exercise();
	return 0;
}
