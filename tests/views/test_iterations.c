/* sums/iterations.c: which calls and samples are iterations, and their times by category. */
#include "harness.h"

#include <string.h>

#include "fs/views/sums/iterations.h"
#include "profmount/limits.h"

enum { ORIGIN = 100 };

/* main → step → MPI_Wait, step (recursion); main → other. */
static struct fake *fake_run(bool calls)
{
	struct fake *f = fake_new();
	uint32_t step = fake_function(f, "step", "main.c", 2);
	fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "time", "ns");
	fake_call(f, 1, 0, fake_function(f, "main", "main.c", 1));
	fake_call(f, 2, 1, step);
	fake_call(f, 3, 2, fake_function(f, "MPI_Wait", "mpi.c", 3));
	fake_call(f, 4, 2, step);
	fake_call(f, 5, 1, fake_function(f, "other", "main.c", 5));
	f->profile.traces_are_calls = calls;
	f->span.origin_ns = ORIGIN;
	f->span.duration_ns = 1000;
	return f;
}

static void add_call(struct fake *f, uint32_t thread, uint64_t start, uint64_t number)
{
	fake_sample(f, thread, ORIGIN + start, number);
}

/* In place of those that the fake gives to samples. */
static void set_lengths(struct fake *f, uint32_t thread, const uint64_t *lengths)
{
	for (size_t i = 0; i < f->threads_data[thread].n_samples; i++)
		f->threads_data[thread].samples[i].duration_ns = lengths[i];
}

static void test_calls(void **state)
{
	struct fake *f = fake_run(true);
	uint32_t few = fake_thread(f, 0, 0), many = fake_thread(f, 0, 1);
	const struct pmfs_iterations *all;
	add_call(f, few, 0, 2);
	for (uint64_t i = 1; i < 5; i++)
		add_call(f, few, i, 4); /* more calls in all */
	add_call(f, many, 0, 1);
	add_call(f, many, 10, 2);
	add_call(f, many, 20, 3);
	add_call(f, many, 60, 4);
	add_call(f, many, 200, 5);
	add_call(f, many, 300, 2);
	set_lengths(f, few, (const uint64_t[]){50, 1, 1, 1, 1});
	set_lengths(f, many, (const uint64_t[]){500, 100, 30, 40, 10, 20});
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_false(pmfs_has_iterations(m, 0, NULL));
	pmfs_model_set_iterations(m, "step");
	assert_true(pmfs_has_iterations(m, 0, NULL));
	assert_int_equal(pmfs_iterations(m, &all, NULL), 0);
	assert_int_equal(all->thread, many);
	assert_int_equal(all->n, 2); /* recursion is part of the outermost one */
	assert_int_equal(all->items[0].time_ns, ORIGIN + 10);
	assert_int_equal(all->items[0].duration_ns, 100);
	assert_int_equal(all->items[0].own_ns[PMFS_MPI], 30);
	assert_int_equal(all->items[0].own_ns[PMFS_PROGRAM], 70);
	assert_int_equal(all->items[1].time_ns, ORIGIN + 300);
	assert_int_equal(all->items[1].own_ns[PMFS_PROGRAM], 20);
	pmfs_model_free(m);
	fake_free(f);
}

/*
 * What is below a call is part of its iteration, also if it begins before or ends after it, or
 * while another iteration lasts.
 */
static void test_calls_that_overlap(void **state)
{
	struct fake *f = fake_run(true);
	uint32_t thread = fake_thread(f, 0, 0);
	const struct pmfs_iterations *all;
	add_call(f, thread, 0, 2);
	add_call(f, thread, 100, 2);
	add_call(f, thread, 130, 3);
	add_call(f, thread, 90, 3);
	set_lengths(f, thread, (const uint64_t[]){1000, 50, 60, 20});
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	assert_int_equal(pmfs_iterations(m, &all, NULL), 0);
	assert_int_equal(all->n, 2);
	assert_int_equal(all->items[0].own_ns[PMFS_PROGRAM], 1000);
	assert_int_equal(all->items[0].own_ns[PMFS_MPI], 0);
	assert_int_equal(all->items[1].own_ns[PMFS_PROGRAM], -30);
	assert_int_equal(all->items[1].own_ns[PMFS_MPI], 80);
	pmfs_model_free(m);
	fake_free(f);
}

static void check_window(
	const struct pmfs_iterations *all, unsigned i, uint64_t start, uint64_t end)
{
	uint64_t is_start, is_end;
	assert_true(pmfs_iteration_window(all, &all->items[i], &is_start, &is_end));
	assert_int_equal(is_start, start);
	assert_int_equal(is_end, end);
}

/*
 * An iteration without a time, which takes as long as the calls below it, another one, and a call
 * in it that has none.
 */
static void test_calls_without_time(void **state)
{
	struct fake *f = fake_run(true);
	uint32_t thread = fake_thread(f, 0, 0);
	const struct pmfs_iterations *all;
	add_call(f, thread, 0, 1); /* has a time */
	add_call(f, thread, 60, 2);
	add_call(f, thread, 70, 3);
	add_call(f, thread, 80, 4);
	add_call(f, thread, 85, 3);
	add_call(f, thread, 90, 2);
	add_call(f, thread, 120, 4);
	add_call(f, thread, 130, 3);
	add_call(f, thread, 500, 2);
	set_lengths(f, thread,
		(const uint64_t[]){
			500, PM_NO_TIME, 7, PM_NO_TIME, 11, 100, PM_NO_TIME, 40, PM_NO_TIME});
	struct pm_sample *samples = f->threads_data[thread].samples;
	samples[2].within = samples[4].within = 1;
	samples[7].within = 2;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	assert_int_equal(pmfs_iterations(m, &all, NULL), 0);
	assert_int_equal(all->n, 3);
	assert_int_equal(all->items[0].duration_ns, 18);
	assert_int_equal(all->items[0].own_ns[PMFS_PROGRAM], 0);
	assert_int_equal(all->items[0].own_ns[PMFS_MPI], 18);
	check_window(all, 0, 60, 96);
	assert_int_equal(all->items[1].duration_ns, 100);
	assert_int_equal(all->items[1].own_ns[PMFS_PROGRAM], 60);
	assert_int_equal(all->items[1].own_ns[PMFS_MPI], 40);
	check_window(all, 1, 90, 190);
	assert_int_equal(all->items[2].duration_ns, 0);
	pmfs_model_free(m);
	fake_free(f);
}

/* No call around the iteration has a time; one below it began before it. */
static void test_unended_calls(void **state)
{
	struct fake *f = fake_run(true);
	uint32_t thread = fake_thread(f, 0, 0);
	const struct pmfs_iterations *all;
	const uint64_t times[] = {0, 60, 50};
	for (uint64_t i = 0; i < 3; i++)
		add_call(f, thread, times[i], i + 1);
	set_lengths(f, thread, (const uint64_t[]){PM_NO_TIME, PM_NO_TIME, 20});
	f->threads_data[thread].samples[2].within = PM_IN_NO_CALL;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	assert_int_equal(pmfs_iterations(m, &all, NULL), 0);
	assert_int_equal(all->n, 1);
	assert_int_equal(all->items[0].duration_ns, 20);
	assert_int_equal(all->items[0].own_ns[PMFS_MPI], 20);
	check_window(all, 0, 50, 70);
	pmfs_model_free(m);
	fake_free(f);
}

/* Nothing is said about times that int64 cannot hold: the rest of the iteration is as it is. */
static void test_times_beyond_63_bits(void **state)
{
	const uint64_t half = (uint64_t)INT64_MAX + 1;
	struct fake *f = fake_run(true);
	uint32_t thread = fake_thread(f, 0, 0);
	const struct pmfs_iterations *all;
	add_call(f, thread, 0, 2);
	add_call(f, thread, 10, 3);
	add_call(f, thread, 20, 4);
	set_lengths(f, thread, (const uint64_t[]){half, 30, half / 2});
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	assert_int_equal(pmfs_iterations(m, &all, NULL), 0);
	assert_int_equal(all->n, 1);
	assert_true(all->items[0].duration_ns == half);
	assert_true(all->items[0].own_ns[PMFS_PROGRAM] == (int64_t)PM_NO_SELF);
	assert_int_equal(all->items[0].own_ns[PMFS_MPI], 30);
	pmfs_model_free(m);
	fake_free(f);
}

/* The clock is set back between two samples. */
static void test_samples_beyond_64_bits(void **state)
{
	struct fake *f = fake_run(false);
	uint32_t thread = fake_thread(f, 0, 0);
	const struct pmfs_iterations *all;
	add_call(f, thread, 10, 2);
	add_call(f, thread, 10, 3);
	set_lengths(f, thread, (const uint64_t[]){PM_NO_TIME - 1, 2});
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	assert_int_equal(pmfs_iterations(m, &all, NULL), 0);
	assert_int_equal(all->n, 1);
	assert_true(all->items[0].duration_ns == PM_NO_TIME);
	assert_int_equal(all->items[0].own_ns[PMFS_MPI], 2);
	pmfs_model_free(m);
	fake_free(f);
}

static void test_samples(void **state)
{
	static const uint64_t numbers[] = {1, 2, 3, 4, 5, 0, 9, 3, 3, 2};
	struct fake *f = fake_run(false);
	uint32_t thread = fake_thread(f, 0, 0);
	const struct pmfs_iterations *all;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		fake_sample(f, thread, ORIGIN + 10 * i, numbers[i]);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	assert_int_equal(pmfs_iterations(m, &all, NULL), 0);
	assert_int_equal(all->n, 2);
	assert_int_equal(all->items[0].time_ns, ORIGIN + 10);
	assert_int_equal(all->items[0].duration_ns, 30);
	assert_int_equal(all->items[0].own_ns[PMFS_MPI], 10);
	assert_int_equal(all->items[0].own_ns[PMFS_PROGRAM], 20);
	assert_int_equal(all->items[1].time_ns, ORIGIN + 70);
	assert_int_equal(all->items[1].duration_ns, 20); /* the last sample has none */
	pmfs_model_free(m);
	fake_free(f);
}

/* The part inside the run, which lasts from 0 to 1000; none where there is no such part. */
static void test_windows(void **state)
{
	struct fake *f = fake_run(true);
	uint32_t thread = fake_thread(f, 0, 0);
	const struct pmfs_iterations *all;
	uint64_t start, end;
	const uint64_t times[] = {50, 0, 990, 1000, 1200, 300};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		fake_sample(f, thread, ORIGIN + times[i], 2);
	set_lengths(f, thread, (const uint64_t[]){100, 40, 50, 50, 50, 0});
	f->threads_data[thread].samples[0].time_ns = ORIGIN - 60;
	f->threads_data[thread].samples[1].time_ns = ORIGIN - 60;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	assert_int_equal(pmfs_iterations(m, &all, NULL), 0);
	assert_int_equal(all->n, 6);
	assert_int_equal(all->items[0].time_ns, ORIGIN - 60);
	check_window(all, 0, 0, 40);
	check_window(all, 2, 990, 1000);
	for (unsigned i = 1; i < 6; i += i == 1 ? 2 : 1)
		assert_false(pmfs_iteration_window(all, &all->items[i], &start, &end));
	pmfs_model_free(m);
	fake_free(f);
}

/* The window of an iteration has all of its samples. */
static void test_windows_of_samples(void **state)
{
	struct fake *f = fake_run(false);
	uint32_t thread = fake_thread(f, 0, 0);
	const struct pmfs_iterations *all;
	const uint64_t times[] = {500, 600, 400, 450, 470, 700};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		fake_sample(f, thread, ORIGIN + times[i], i < 4 ? 2 : 1);
	set_lengths(f, thread, (const uint64_t[]){100, PM_NO_TIME, 50, 20, 230, PM_NO_TIME});
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	assert_int_equal(pmfs_iterations(m, &all, NULL), 0);
	assert_int_equal(all->n, 1);
	assert_int_equal(all->items[0].time_ns, ORIGIN + 500);
	assert_int_equal(all->items[0].duration_ns, 170);
	check_window(all, 0, 400, 600);
	pmfs_model_free(m);
	fake_free(f);
}

/* One of five takes ten times as long as the others. */
static void test_picture(void **state)
{
	struct fake *f = fake_run(true);
	uint32_t thread = fake_thread(f, 0, 0);
	for (uint64_t i = 0; i < 5; i++)
		fake_sample(f, thread, ORIGIN + 100 * i, 2);
	set_lengths(f, thread, (const uint64_t[]){5, 5, 5, 5, 50});
	f->threads_data[thread].samples[0].time_ns = ORIGIN - 40;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	char *svg = view_text(m, PMFS_PLACE_ROOT, "iterations.svg", 0);
	assert_non_null(strstr(svg, "5 iterations · median 5 ns · 1 outlier (red"));
	assert_non_null(strstr(svg, "<title>iteration 1\n-40 ns, 5 ns</title>"));
	free(svg);
	views_done(m, f);
}

static void test_no_such_name(void **state)
{
	struct fake *f = fake_run(false);
	struct pm_error err = {.offset = PM_NO_OFFSET};
	const struct pmfs_iterations *all;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "nothing");
	assert_int_equal(pmfs_iterations(m, &all, &err), -ENOENT);
	assert_non_null(strstr(err.text, "`nothing`"));
	pmfs_model_free(m);
	fake_free(f);
}

/* As many as can be listed, and one more. */
static void test_too_many(void **state)
{
	struct fake *f = fake_run(true);
	uint32_t thread = fake_thread(f, 0, 0);
	struct pm_error err = {.offset = PM_NO_OFFSET};
	const struct pmfs_iterations *all;
	for (uint64_t i = 0; i < PM_LIMIT_ITERATIONS; i++)
		add_call(f, thread, i, 2);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	assert_int_equal(pmfs_iterations(m, &all, NULL), 0);
	assert_int_equal(all->n, PM_LIMIT_ITERATIONS);
	pmfs_model_free(m);
	add_call(f, thread, PM_LIMIT_ITERATIONS, 2);
	m = pmfs_model_new(&f->profile);
	pmfs_model_set_iterations(m, "step");
	assert_int_equal(pmfs_iterations(m, &all, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "more than 1048576 iterations"));
	pmfs_model_free(m);
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_calls_that_overlap),
		cmocka_unit_test(test_calls_without_time),
		cmocka_unit_test(test_unended_calls),
		cmocka_unit_test(test_times_beyond_63_bits),
		cmocka_unit_test(test_samples_beyond_64_bits),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_picture),
		cmocka_unit_test(test_windows_of_samples),
		cmocka_unit_test(test_no_such_name),
		cmocka_unit_test(test_too_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
