/*
 * Every prefix of the fixtures, and each bit flipped, in blocks of exactly their size. The only
 * expectation is that reading ends.
 */
#include "tests/unittest.h"

#include <stdlib.h>
#include <string.h>

#include "tests/nytprof/exercise.h"
#include "tests/nytprof/writer.h"

enum { N_FIXTURES = 7 };

static struct pm_bytes fixture_new(size_t i)
{
	struct nytpw w = {.big = i == 3};
	if (i < 4)
		nytpw_rich(&w, i == 2 ? 4 : 5, i == 1);
	else if (i < 6)
		nytpw_chunks(&w, i == 5);
	else
		nytpw_packed_chunks(&w);
	return nytpw_take(&w);
}

static void exercise_copy(const uint8_t *p, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, p, len);
	nytpw_exercise((struct pm_bytes){copy, len});
	free(copy);
}

static void test_fixtures_are_presented(void **state)
{
	for (size_t i = 0; i < N_FIXTURES; i++) {
		struct pm_bytes file = fixture_new(i);
		assert_true(nytpw_exercise(file));
		free((void *)(uintptr_t)file.p);
	}
}

static void test_every_prefix_ends(void **state)
{
	for (size_t i = 0; i < N_FIXTURES; i++) {
		struct pm_bytes file = fixture_new(i);
		for (size_t len = 0; len < file.len; len++)
			exercise_copy(file.p, len);
		free((void *)(uintptr_t)file.p);
	}
}

static void test_every_flipped_bit_ends(void **state)
{
	for (size_t i = 0; i < N_FIXTURES; i++) {
		struct pm_bytes file = fixture_new(i);
		uint8_t *p = (uint8_t *)(uintptr_t)file.p;
		for (size_t bit = 0; bit < 8 * file.len; bit++) {
			p[bit / 8] ^= (uint8_t)(1 << bit % 8);
			nytpw_exercise(file);
			p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixtures_are_presented),
		cmocka_unit_test(test_every_prefix_ends),
		cmocka_unit_test(test_every_flipped_bit_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
