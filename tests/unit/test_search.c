/* Tests formats/common/search.h. */
#include "tests/unittest.h"

#include "formats/common/search.h"

/* All places of all small arrays, against looking at one after another. */
static void test_finds_the_first_that_is_not_before(void **state)
{
	for (uint32_t n = 0; n < 20; n++) {
		for (uint32_t from = 0; from <= n; from++) {
			for (uint32_t wanted = 0; wanted < 25; wanted++) {
				uint32_t expected = wanted < from ? from : wanted > n ? n : wanted;
				assert_int_equal(PM_LOWER_BOUND(i, from, n, i < wanted), expected);
			}
		}
	}
}

static void test_does_not_overflow(void **state)
{
	uint32_t end = UINT32_MAX;
	assert_int_equal(PM_LOWER_BOUND(i, 0, end, i < UINT32_MAX - 1), UINT32_MAX - 1);
	assert_int_equal(PM_LOWER_BOUND(i, 0, end, i < UINT32_MAX), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_the_first_that_is_not_before),
		cmocka_unit_test(test_does_not_overflow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
