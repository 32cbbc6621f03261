/* fs/builders.c: counts the runnable threads that build, and no others. */
#include "tests/unittest.h"

#include <stdbool.h>

#include <pthread.h>
#include <unistd.h>

#include "fs/builders.h"

enum { PATIENCE = 3000 }; /* looks, of 10 ms each */

static bool stop; /* atomic */
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *spin(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		;
	return unused;
}

static void *build(void *unused)
{
	pmfs_builder_begin();
	return spin(unused);
}

static void *build_with_help(void *unused)
{
	pthread_t helper;
	pmfs_builder_begin();
	pthread_create(&helper, NULL, spin, NULL);
	pthread_join(helper, NULL);
	return unused;
}

static void *wait_for_another(void *unused)
{
	pmfs_builder_begin();
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return unused;
}

static void *build_no_more(void *unused)
{
	pmfs_builder_begin();
	pmfs_builder_end();
	return spin(unused);
}

/* A thread may be seen before it has its name, or on its way to sleep. */
static void assert_running(unsigned want)
{
	unsigned seen = pmfs_builders_running();
	for (unsigned i = 0; i < PATIENCE && seen != want; i++) {
		usleep(10000);
		seen = pmfs_builders_running();
	}
	assert_int_equal(seen, want);
}

static void test_who_has_work_is_counted(void **state)
{
	void *(*const all[])(void *) = {
		build, build, build_with_help, wait_for_another, build_no_more, spin};
	enum { N = sizeof(all) / sizeof(all[0]) };
	pthread_t threads[N];
	assert_int_equal(pmfs_builders_running(), 0);
	pthread_mutex_lock(&held);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, all[i], NULL), 0);
	assert_running(3); /* two, and a helper */
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	assert_running(0);
	pthread_mutex_unlock(&held);
	for (size_t i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_has_work_is_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
