/* sums/durations.c: calls by length, and the longest ones, compared with all of them sorted. */
#include "tests/unittest.h"

#include <stdlib.h>

#include "fake.h"
#include "fs/views/sums/durations.h"

static int longest_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x < *y) - (*x > *y);
}

static void test_calls(void **state)
{
	enum { N = 3000 };
	static uint64_t lengths[N];
	struct fake *f = fake_new();
	uint32_t thread = fake_thread(f, 0, 0);
	uint64_t random = 4711;
	const struct pmfs_durations *d;
	fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "time", "ns");
	fake_call(f, 1, 0, fake_function(f, "main", "main.c", 1));
	f->profile.traces_are_calls = true;
	for (size_t i = 0; i < N; i++)
		fake_sample(f, thread, i, 1);
	fake_sample(f, thread, N, 1); /* never ends */
	for (size_t i = 0; i < N; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		lengths[i] = random >> (20 + random % 44);
		f->threads_data[thread].samples[i].duration_ns = lengths[i];
	}
	f->threads_data[thread].samples[N].duration_ns = PM_NO_TIME;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pmfs_durations(m, 0, &d, NULL), 0);
	uint64_t calls = 0;
	unsigned __int128 ns = 0;
	for (size_t i = 0; i < d->n_buckets; i++) {
		assert_true(i == 0 || d->buckets[i].index > d->buckets[i - 1].index);
		calls += d->buckets[i].calls;
		ns += d->buckets[i].ns;
	}
	for (size_t i = 0; i < N; i++)
		ns -= lengths[i];
	assert_int_equal(calls, N);
	assert_true(ns == 0);
	qsort(lengths, N, sizeof(*lengths), longest_first);
	assert_int_equal(d->n_slowest, PMFS_SLOWEST);
	for (size_t i = 0; i < PMFS_SLOWEST; i++)
		assert_int_equal(d->slowest[i].duration_ns, lengths[i]);
	pmfs_model_free(m);
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
