/* Tests formats/common/lazy.c and list.c. */
#include "tests/unittest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/lazy.h"
#include "formats/common/list.h"

struct work {
	struct pm_lazy lazy;
	int runs;
	int result; /* of the next run */
	const char *text;
};

static int build(void *context, struct pm_error *err)
{
	struct work *work = context;
	work->runs++;
	if (work->text)
		return pm_error_set(err, work->result, "a.db", 16, "%s", work->text);
	return work->result;
}

static int get(struct work *work, struct pm_error *err)
{
	*err = (struct pm_error){.code = 0};
	return pm_lazy_get(&work->lazy, build, work, err);
}

static void test_success_is_built_once(void **state)
{
	struct work work = {.result = 5};
	struct pm_error err;
	for (int i = 0; i < 3; i++)
		assert_int_equal(get(&work, &err), 0);
	assert_int_equal(work.runs, 1);
	assert_int_equal(err.code, 0);
}

static void test_failure_lasts_with_its_words(void **state)
{
	struct work work = {.result = -EINVAL, .text = "bad magic"};
	struct pm_error err;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(get(&work, &err), -EINVAL);
		assert_int_equal(err.code, -EINVAL);
		assert_string_equal(err.text, "bad magic");
		assert_string_equal(err.file, "a.db");
		assert_int_equal(err.offset, 16);
	}
	assert_int_equal(work.runs, 1);
	assert_int_equal(pm_lazy_get(&work.lazy, build, &work, NULL), -EINVAL);
}

static void test_lack_of_memory_is_tried_again(void **state)
{
	struct work work = {.result = -ENOMEM};
	struct pm_error err;
	assert_int_equal(get(&work, &err), -ENOMEM);
	assert_string_equal(err.text, "no memory");
	work.result = 0;
	assert_int_equal(get(&work, &err), 0);
	assert_int_equal(work.runs, 2);
}

static void *get_in_thread(void *work)
{
	struct pm_error err = {.code = 0};
	return pm_lazy_get(&((struct work *)work)->lazy, build, work, &err) == 0 ? work : NULL;
}

static void test_threads_at_once_build_once(void **state)
{
	struct work work = {.result = 0};
	pthread_t threads[8];
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, get_in_thread, &work), 0);
	for (size_t i = 0; i < 8; i++) {
		void *result;
		pthread_join(threads[i], &result);
		assert_ptr_equal(result, &work);
	}
	assert_int_equal(work.runs, 1);
}

static void test_list_grows_and_keeps_its_items(void **state)
{
	uint32_t *items = NULL;
	size_t room = 0;
	for (size_t n = 0; n < 10000; n++) {
		assert_int_equal(pm_list_room(&items, n, &room, sizeof(*items)), 0);
		assert_true(room > n);
		items[n] = (uint32_t)n;
	}
	for (size_t n = 0; n < 10000; n++)
		assert_int_equal(items[n], n);
	free(items);
}

static void test_list_refuses_sizes_that_overflow(void **state)
{
	uint32_t *items = NULL;
	size_t room = 0;
	assert_int_equal(pm_list_room(&items, SIZE_MAX, &room, 4), -ENOMEM);
	assert_int_equal(pm_list_room(&items, SIZE_MAX / 4, &room, 4), -ENOMEM);
	assert_null(items);
	assert_int_equal(room, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_success_is_built_once),
		cmocka_unit_test(test_failure_lasts_with_its_words),
		cmocka_unit_test(test_lack_of_memory_is_tried_again),
		cmocka_unit_test(test_threads_at_once_build_once),
		cmocka_unit_test(test_list_grows_and_keeps_its_items),
		cmocka_unit_test(test_list_refuses_sizes_that_overflow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
