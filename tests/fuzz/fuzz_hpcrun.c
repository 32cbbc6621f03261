/*
 * Fuzzes formats/hpcrun: the input is a profile, or a trace where it begins as one; beside it
 * stands a sound file of the other kind.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/hpcrun/exercise.h"
#include "tests/hpcrun/fixture.h"

#define STEM "made-000003-001-007f0101-4242-0"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len);

static char folder[SCRATCH_PATH];

static void remove_folder(void)
{
	scratch_remove(folder);
}

static void save_sound_files(void)
{
	static const struct fixture_sample samples[] = {{1700000000000000007, 19, 0},
		{1700000000000000003, 27, 1}, {1700000000000000011, 4711, 2}};
	struct fixture_profile p = fixture_small(FIXTURE_0400);
	struct pm_text t = {.p = NULL};
	fixture_profile_write(&p, &t);
	if (fixture_save(&t, folder, STEM ".hpcrun") < 0)
		abort();
	fixture_trace_write(FIXTURE_TRACE_0101, 0, samples, 3, &t);
	if (fixture_save(&t, folder, STEM ".hpctrace") < 0)
		abort();
	pm_text_done(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static const char magic[] = "HPCRUN-trace";
	bool trace = len >= strlen(magic) && memcmp(p, magic, strlen(magic)) == 0;
	struct pm_text t = {.p = NULL};
	if (!folder[0]) {
		scratch_new(folder);
		atexit(remove_folder);
	}
	save_sound_files();
	pm_text_add(&t, p, len);
	if (fixture_save(&t, folder, trace ? STEM ".hpctrace" : STEM ".hpcrun") < 0)
		abort();
	pm_text_done(&t);
	exercise_bytes(p, len);
	exercise_path(folder);
	return 0;
}
