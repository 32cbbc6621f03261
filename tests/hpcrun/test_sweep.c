/*
 * Every fixture cut everywhere and with every byte broken: the readers, in blocks of exactly the
 * file's size, and now and then everything that stands above them. Whatever happens, nothing may
 * crash and what is presented must hold together.
 */
#include "tests/unittest.h"

#include <stdlib.h>

#include "tests/hpcrun/exercise.h"
#include "tests/hpcrun/fixture.h"

/* One in so many files is also mounted, as it were: a file is much slower than a block. */
enum { SAMPLED = 23 };

static char folder[SCRATCH_PATH];

static void try_bytes(const uint8_t *p, size_t len, const char *name, size_t turn)
{
	exercise_bytes(p, len);
	if (turn % SAMPLED)
		return;
	struct pm_text t = {.p = NULL};
	pm_text_add(&t, p, len);
	assert_int_equal(fixture_save(&t, folder, name), 0);
	pm_text_done(&t);
	exercise_path(folder);
}

static void sweep(const struct pm_text *t, const char *name)
{
	uint8_t *bytes = malloc(t->len);
	assert_non_null(bytes);
	memcpy(bytes, t->p, t->len);
	for (size_t len = 0; len <= t->len; len++)
		try_bytes(bytes, len, name, len);
	static const uint8_t masks[] = {0x01, 0x80, 0xff};
	for (size_t i = 0; i < t->len; i++)
		for (size_t k = 0; k < sizeof(masks); k++) {
			bytes[i] ^= masks[k];
			try_bytes(bytes, t->len, name, 3 * i + k);
			bytes[i] ^= masks[k];
		}
	free(bytes);
}

/* In place of the profile; its trace stands beside it. */
static const char profile_name[] = "made-000003-001-007f0101-4242-0.hpcrun";
static const char trace_name[] = "made-000003-001-007f0101-4242-0.hpctrace";

static const struct fixture_sample samples[] = {
	{1700000000000000007, 19, 0}, {1700000000000000003, 27, 1}, {1700000000000000011, 20, 2}};

static void test_broken_profiles_do_no_harm(void **state)
{
	struct pm_text t = {.p = NULL};
	for (enum fixture_version v = 0; v < FIXTURE_N_VERSIONS; v++) {
		struct fixture_profile p = fixture_small(v);
		p.n_epochs = 2;
		scratch_new(folder);
		fixture_trace_write(FIXTURE_TRACE_0101, 0, samples, 3, &t);
		assert_int_equal(fixture_save(&t, folder, trace_name), 0);
		fixture_profile_write(&p, &t);
		sweep(&t, profile_name);
		pm_text_clear(&t);
		scratch_remove(folder);
	}
	pm_text_done(&t);
}

static void test_broken_traces_do_no_harm(void **state)
{
	struct pm_text t = {.p = NULL};
	struct fixture_profile p = fixture_small(FIXTURE_0400);
	for (uint64_t flags = 0; flags < 2; flags++) {
		scratch_new(folder);
		fixture_profile_write(&p, &t);
		assert_int_equal(fixture_save(&t, folder, profile_name), 0);
		fixture_trace_write(FIXTURE_TRACE_0101, flags, samples, 3, &t);
		sweep(&t, trace_name);
		pm_text_clear(&t);
		scratch_remove(folder);
	}
	pm_text_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broken_profiles_do_no_harm),
		cmocka_unit_test(test_broken_traces_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
