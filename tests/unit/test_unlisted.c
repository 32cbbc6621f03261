/* formats/common/unlisted: numbers of names that are not listed. */
#include "formats/common/unlisted.h"

#include <errno.h>
#include <string.h>

#include "profmount/limits.h"
#include "tests/unittest.h"

struct forgetting {
	unsigned calls, numbers;
	uint32_t kept; /* this one is still in use somewhere */
};

static void forget(void *context, uint8_t *numbers)
{
	struct forgetting *f = context;
	f->calls++;
	numbers[f->kept / 8] &= (uint8_t) ~(1 << f->kept % 8);
	for (uint32_t i = 0; i < PM_LIMIT_UNLISTED; i++)
		f->numbers += pm_unlisted_has_bit(numbers, i);
}

static uint32_t number_of(struct pm_unlisted *u, uint32_t key, uint32_t *generation)
{
	uint32_t ret;
	assert_int_equal(
		pm_unlisted_number(
			u, (struct pm_bytes){(const uint8_t *)&key, sizeof(key)}, &ret, generation),
		1);
	return ret;
}

static void test_a_key_keeps_its_number(void **state)
{
	struct forgetting f = {.calls = 0};
	struct pm_unlisted *u = pm_unlisted_new(forget, &f);
	uint32_t generation, key;
	uint32_t a = number_of(u, 7, &generation), b = number_of(u, 8, &generation);
	assert_int_not_equal(a, b);
	assert_int_equal(number_of(u, 7, &generation), a);
	assert_int_equal(pm_unlisted_get(u, b, &key, sizeof(key)), sizeof(key));
	assert_int_equal(key, 8);
	assert_int_equal(pm_unlisted_get(u, 99, &key, sizeof(key)), 0);
	assert_int_equal(f.calls, 0);
	pm_unlisted_drop(u);
}

static void test_unused_numbers_are_given_anew(void **state)
{
	struct forgetting f = {.kept = 5};
	struct pm_unlisted *u = pm_unlisted_new(forget, &f);
	uint32_t generation, n, most = 0, held = number_of(u, 3, &generation), key;
	assert_true(pm_unlisted_hold(u, held, generation));
	assert_false(pm_unlisted_hold(u, held, generation + 1));
	for (uint32_t i = 0; i < 100000; i++) {
		n = number_of(u, 1000 + i, &generation);
		most = n > most ? n : most;
	}
	assert_true(f.calls > 0);
	assert_true(most < PM_LIMIT_UNLISTED / 8);
	assert_true(pm_unlisted_generation(u, n) > 0);
	assert_int_equal(pm_unlisted_generation(u, f.kept), 0);
	assert_int_equal(number_of(u, 3, &generation), held);
	assert_int_equal(generation, 0);
	/* Whoever was slower than the name: its generation has ended. */
	assert_false(pm_unlisted_hold(u, n, pm_unlisted_generation(u, n) - 1));
	pm_unlisted_let_go(u, held);
	for (uint32_t i = 0; i < 10000; i++)
		number_of(u, 200000 + i, &generation);
	assert_true(pm_unlisted_get(u, held, &key, sizeof(key)) == 0 || key != 3);
	pm_unlisted_drop(u);
}

static void test_there_is_an_end_if_all_are_in_use(void **state)
{
	struct forgetting f = {.calls = 0};
	struct pm_unlisted *u = pm_unlisted_new(forget, &f);
	uint32_t generation, n, key = 0;
	for (uint32_t i = 0; i < PM_LIMIT_UNLISTED; i++) {
		n = number_of(u, i, &generation);
		assert_true(pm_unlisted_hold(u, n, generation));
	}
	key = PM_LIMIT_UNLISTED;
	struct pm_bytes bytes = {(const uint8_t *)&key, sizeof(key)};
	assert_int_equal(pm_unlisted_number(u, bytes, &n, &generation), -ENOMEM);
	for (uint32_t i = 0; i < 100; i++)
		pm_unlisted_let_go(u, i);
	assert_int_equal(pm_unlisted_number(u, bytes, &n, &generation), 1);
	assert_true(n < 100);
	pm_unlisted_drop(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_keeps_its_number),
		cmocka_unit_test(test_unused_numbers_are_given_anew),
		cmocka_unit_test(test_there_is_an_end_if_all_are_in_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
