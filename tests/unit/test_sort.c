/* formats/common/sort.c: order, stability, and the array after cancelled work. */
#include "tests/unittest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "formats/common/sort.h"
#include "formats/common/work.h"

enum { MANY = 100000, KINDS = 1000 };

struct item {
	uint32_t key, number;
};

static struct pm_work work;
static uint64_t n_compared, cancel_after;

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	if (++n_compared == cancel_after)
		pm_work_cancel(&work);
	return (x->key > y->key) - (x->key < y->key);
}

static struct item *items_new(size_t n)
{
	struct item *items = malloc((n + 1) * sizeof(*items));
	uint32_t key = 1;
	assert_non_null(items);
	for (size_t i = 0; i < n; i++) {
		key = key * 1664525 + 1013904223;
		items[i] = (struct item){(key >> 8) % KINDS, (uint32_t)i};
	}
	return items;
}

static void test_items_are_in_order_and_equal_ones_stay_in_theirs(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 16383, 16384, 16385, 32769, 49153, MANY};
	cancel_after = 0;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct item *items = items_new(sizes[k]);
		assert_int_equal(pm_sort(items, sizes[k], sizeof(*items), by_key), 0);
		for (size_t i = 1; i < sizes[k]; i++) {
			assert_true(items[i - 1].key <= items[i].key);
			if (items[i - 1].key == items[i].key)
				assert_true(items[i - 1].number < items[i].number);
		}
		free(items);
	}
	assert_int_equal(pm_sort(NULL, 0, sizeof(struct item), by_key), 0);
}

static void test_cancelled_work_ends_soon_and_loses_nothing(void **state)
{
	n_compared = cancel_after = 0;
	struct item *items = items_new(MANY);
	assert_int_equal(pm_sort(items, MANY, sizeof(*items), by_key), 0);
	uint64_t all = n_compared;
	free(items);
	for (unsigned part = 0; part < 10; part++) {
		bool seen[MANY] = {false};
		items = items_new(MANY);
		work = (struct pm_work){.cancelled = false};
		n_compared = 0;
		cancel_after = 1 + all * part / 10;
		pm_work_enter(&work);
		assert_int_equal(pm_sort(items, MANY, sizeof(*items), by_key), -ENOMEM);
		pm_work_enter(NULL);
		assert_true(n_compared < cancel_after + all / 4);
		for (size_t i = 0; i < MANY; i++) {
			assert_false(seen[items[i].number]);
			seen[items[i].number] = true;
		}
		free(items);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items_are_in_order_and_equal_ones_stay_in_theirs),
		cmocka_unit_test(test_cancelled_work_ends_soon_and_loses_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
