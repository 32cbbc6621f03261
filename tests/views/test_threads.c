/* threads.csv, the directory of a thread, imbalance. */
#include "harness.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fs/views/sums/imbalance.h"

#define ROOT   PMFS_PLACE_ROOT
#define THREAD PMFS_PLACE_THREAD

static void test_threads_have_identity_totals_and_times(void **state)
{
	struct fake *f = fake_with_two_threads();
	fake_sample(f, 0, 1500, 2);
	fake_sample(f, 0, 1700, 0);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const char *want =
		"thread_id|rank|thread|time_ns_excl|time_ns_incl|contexts|values|samples|first_ns|"
		"last_ns|path\n"
		"10|0|1|6|10|3|4|2|500|700|threads/rank=0/thread=1\n"
		"11|3|0|30|30|1|2|0|||threads/rank=3/thread=0\n";
	assert_view(m, ROOT, "threads.csv", 0, want);
	assert_view(m, ROOT, "threads.csv", 0, want); /* from what was kept */
	assert_dense(m, ROOT, "threads.csv", 0);
	views_done(m, f);
}

/* `a` has a line of 4 ns, which is part of its 6 ns only if it is nested. */
static void check_exclusive_total(bool nested, const char *want)
{
	struct fake *f = fake_with_two_threads();
	const struct pm_frame line = {
		.kind = PM_KIND_LINE, .nested = nested, .function = PM_NONE, .line = 7};
	fake_context(f, 3, 2, &line);
	fake_value(f, 0, 3, 2, 4);
	fake_value(f, 0, 3, 1, 4);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "threads.csv", 0);
	assert_non_null(strstr(text, want));
	free(text);
	views_done(m, f);
}

static void test_a_line_counts_unless_it_is_nested(void **state)
{
	check_exclusive_total(true, "\n10|0|1|6|10|");
	check_exclusive_total(false, "\n10|0|1|10|10|");
}

static int given_ends(const struct pm_profile *p, uint32_t thread, uint64_t *ret_first_ns,
	uint64_t *ret_last_ns, struct pm_error *err)
{
	(void)p;
	(void)err;
	*ret_first_ns = thread == 0 ? 1501 : PM_NO_TIME;
	*ret_last_ns = thread == 0 ? 1502 : PM_NO_TIME;
	return 0;
}

static void test_a_format_may_know_the_ends_of_a_trace(void **state)
{
	struct fake *f = fake_with_two_threads();
	(void)state;
	fake_sample(f, 0, 1500, 2);
	fake_sample(f, 1, 1600, 2);
	f->ops.trace_ends = given_ends;
	f->ops.samples = NULL; /* is not asked */
	assert_view_of(f, ROOT, "threads.csv", 0,
		"thread_id|rank|thread|time_ns_excl|time_ns_incl|contexts|values|samples|first_ns|"
		"last_ns|path\n"
		"10|0|1|6|10|3|4|1|501|502|threads/rank=0/thread=1\n"
		"11|3|0|30|30|1|2|1|||threads/rank=3/thread=0\n");
}

static void test_stored_total_of_a_thread_wins(void **state)
{
	struct fake *f = fake_with_two_threads();
	fake_value(f, 0, 0, 1, 11.5);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "threads.csv", 0);
	assert_non_null(strstr(text, "\n10|0|1|6|11.5|"));
	free(text);
	views_done(m, f);
}

static void test_a_value_that_is_no_number_loses_no_others(void **state)
{
	struct fake *f = fake_with_two_threads();
	fake_call(f, 3, 1, fake_function(f, "b", NULL, 0));
	fake_value(f, 1, 2, 2, NAN);
	fake_value(f, 1, 3, 2, 5);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "threads.csv", 0);
	assert_non_null(strstr(text, "\n11|3|0|35|30|"));
	free(text);
	views_done(m, f);
}

static void test_paths_are_unique_and_plain(void **state)
{
	static const char *const keys[] = {"GPU/Stream", "gpu_stream", ""};
	static const struct pm_identity same[] = {{0, 1}, {1, 2}}, last[] = {{2, 5}};
	static const struct pm_thread threads[] = {
		{.id = 1, .n_identity = 2, .identity = same},
		{.id = 2, .n_identity = 2, .identity = same},
		{.id = 3, .n_identity = 2, .identity = same},
		{.id = 4, .n_identity = 1, .identity = last},
		{.id = 5},
	};
	static const char *const want[] = {"threads/gpu_stream=1/gpu_stream_2=2",
		"threads/gpu_stream=1/gpu_stream_2=2~2", "threads/gpu_stream=1/gpu_stream_2=2~3",
		"threads/key=5", "threads/profile=5"};
	struct fake *f = fake_new();
	const struct pm_threads before = f->threads;
	const char *path;
	f->threads = (struct pm_threads){
		.n = 5, .threads = threads, .n_keys = 3, .keys = keys, .has_files = true};
	f->ops.thread_counts = NULL;
	struct fake_thread data[5] = {{.values = NULL}};
	f->threads_data = data;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(pmfs_thread_path(m, i, &path, NULL), 0);
		assert_string_equal(path, want[i]);
	}
	assert_int_equal(pmfs_thread_path(m, 5, &path, NULL), -ENOENT);
	char *text = view_text(m, ROOT, "threads.csv", 0);
	assert_non_null(strstr(text,
		"thread_id|gpu_stream|gpu_stream_2|key|contexts|values|samples|first_ns|last_ns|"
		"file|path\n1|1|2||||||||threads/"));
	free(text);
	pmfs_model_free(m);
	f->threads = before;
	f->threads_data = NULL;
	fake_free(f);
}

static void test_profile_has_the_contexts_of_the_tree_in_stored_order(void **state)
{
	struct fake *f = fake_with_two_threads();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, THREAD, "profile.csv", 0,
		"context_id|time_ns_excl|time_ns_incl|line|kind|category|file|name\n"
		"2|6|7||function|||a\n"
		"1||10|1|function||/src/a.c|main\n");
	assert_view(m, THREAD, "values.csv", 0,
		"context_id|metric_id|value\n99|1|5\n2|2|6\n2|1|7\n1|1|10\n");
	assert_dense(m, THREAD, "profile.csv", 0);
	assert_dense(m, THREAD, "values.csv", 0);
	assert_view(m, THREAD, "functions.csv", 0,
		"function_id|contexts|time_ns_excl|time_ns_incl|line|category|module|file|name\n"
		"2|1|6|7|||/bin/app||a\n"
		"1|1||10|1||/bin/app|/src/a.c|main\n");
	views_done(m, f);
}

static void test_profile_has_whole_numbers_exactly(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "a", NULL, 0));
	fake_value(f, 0, 1, 1, 0);
	fake_value(f, 0, 1, 2, 0);
	struct pm_value *values = f->threads_data[0].values;
	values[0].whole = values[1].whole = true;
	values[0].u = UINT64_MAX;
	values[1].negative = true;
	values[1].i = -(INT64_C(1) << 53) - 1;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, THREAD, "profile.csv", 0,
		"context_id|time_ns_excl|time_ns_incl|line|kind|category|file|name\n"
		"1|-9007199254740993|18446744073709551615||function|||a\n");
	views_done(m, f);
}

static void test_profile_beyond_one_batch_loses_nothing(void **state)
{
	enum { MANY = 700 };
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	uint32_t a = fake_function(f, "a", NULL, 0);
	for (uint32_t i = 1; i <= MANY; i++) {
		fake_call(f, i, 0, a);
		fake_value(f, 0, i, 1, i);
		fake_value(f, 0, i, 2, i);
		fake_value(f, 0, i, 77, i);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, THREAD, "profile.csv", 0), want[64];
	const char *line = strchr(text, '\n') + 1;
	for (uint32_t i = 1; i <= MANY; i++, line = strchr(line, '\n') + 1) {
		snprintf(want, sizeof(want), "%u|%u|%u||function|||a\n", i, i, i);
		assert_memory_equal(line, want, strlen(want));
	}
	assert_int_equal(*line, '\0');
	assert_dense(m, THREAD, "profile.csv", 0);
	free(text);
	views_done(m, f);
}

/* ---- whoever sees samples on the way ---- */

struct seen {
	unsigned begun, ended;
	size_t samples;
};

static void *seen_begin(void *self, uint32_t thread, uint64_t first)
{
	struct seen *seen = self;
	assert_int_equal(thread, 0);
	assert_int_equal(first, 0);
	seen->begun++;
	return self;
}

static void seen_take(void *piece, const struct pm_sample *samples, size_t n)
{
	struct seen *seen = piece;
	(void)samples;
	seen->samples += n;
}

static void seen_end(void *piece)
{
	struct seen *seen = piece;
	seen->ended++;
}

/* Reading on at the end of a trace does not begin it again. */
static void test_measuring_shows_each_sample_once(void **state)
{
	struct fake *f = fake_with_time();
	uint32_t t = fake_thread(f, 0, 0);
	struct seen seen = {.begun = 0};
	const struct pm_tap tap = {
		.self = &seen, .begin = seen_begin, .take = seen_take, .end = seen_end};
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 1));
	for (uint64_t i = 0; i < 5; i++)
		fake_sample(f, t, 1000 * i, 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	pmfs_model_set_tap(m, &tap);
	assert_measured(m, THREAD, "trace.csv", t);
	assert_int_equal(seen.begun, 1);
	assert_int_equal(seen.ended, 1);
	assert_int_equal(seen.samples, 5);
	views_done(m, f);
}

static void test_trace_tells_what_ran_when(void **state)
{
	struct fake *f = fake_with_two_threads();
	fake_sample(f, 0, 900, 1);
	fake_sample(f, 0, 1500, 2);
	fake_sample(f, 0, 1600, 0);
	fake_sample(f, 0, 1650, 99);
	fake_sample(f, 0, 1700, UINT64_MAX);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, THREAD, "trace.csv", 0,
		"time_ns|duration_ns|timestamp_ns|context_id|depth|category|function|name\n"
		"-100|600|900|1|0||main|main\n"
		"500|100|1500|2|1||a|a\n"
		"600|50|1600|0||idle||\n"
		"650|50|1650|||||\n"
		"700||1700|||||\n");
	assert_dense(m, THREAD, "trace.csv", 0);
	assert_measured(m, THREAD, "trace.csv", 0);
	assert_measured(m, THREAD, "trace.tsv", 0);
	assert_view(m, THREAD, "trace.csv", 1,
		"time_ns|duration_ns|timestamp_ns|context_id|depth|category|function|name\n");
	views_done(m, f);
}

static void test_trace_of_unknown_times(void **state)
{
	struct fake *f = fake_with_two_threads();
	fake_sample(f, 0, PM_NO_TIME - 1, 1);
	fake_sample(f, 0, PM_NO_TIME, 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, THREAD, "trace.csv", 0,
		"time_ns|duration_ns|timestamp_ns|context_id|depth|category|function|name\n"
		"18446744073709550614|1|18446744073709551614|1|0||main|main\n"
		"||18446744073709551615|1|0||main|main\n");
	assert_measured(m, THREAD, "trace.csv", 0);
	views_done(m, f);
}

/* A time is shown as far before the origin as int64 can hold, and no further. */
static void test_trace_long_before_the_origin(void **state)
{
	struct fake *f = fake_with_two_threads();
	f->span.origin_ns = (uint64_t)INT64_MAX + 1000;
	fake_sample(f, 0, 999, 1);
	fake_sample(f, 0, 1000, 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, THREAD, "trace.csv", 0,
		"time_ns|duration_ns|timestamp_ns|context_id|depth|category|function|name\n"
		"|1|999|1|0||main|main\n"
		"-9223372036854775807||1000|1|0||main|main\n");
	assert_measured(m, THREAD, "trace.csv", 0);
	views_done(m, f);
}

static void test_trace_of_calls_has_self_time_and_sequence(void **state)
{
	struct fake *f = fake_with_two_threads();
	f->profile.traces_are_calls = true;
	fake_sample(f, 0, 1500, 2);
	f->threads_data[0].samples[0].duration_ns = 7;
	f->threads_data[0].samples[0].self_ns = (uint64_t)-3;
	f->threads_data[0].samples[0].seq = 42;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, THREAD, "trace.csv", 0,
		"time_ns|duration_ns|timestamp_ns|context_id|depth|self_ns|seq|category|function|name\n"
		"500|7|1500|2|1|-3|42||a|a\n");
	assert_measured(m, THREAD, "trace.csv", 0);
	views_done(m, f);
}

#define SPREADS                                                                                    \
	"time_ns_excl_min|time_ns_excl_mean|time_ns_excl_max|time_ns_excl_stddev|"                 \
	"time_ns_incl_min|time_ns_incl_mean|time_ns_incl_max|time_ns_incl_stddev|threads|peers|"   \
	"waiting|imbalance|lost|slowest_thread_id|rank_lost|slowest_rank|name\n"

/* However costs are stored. */
static void assert_imbalance(struct fake *f, const char *want)
{
	for (int by_thread = 0; by_thread < 2; by_thread++) {
		f->profile.costs_by_thread = by_thread;
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		assert_view(m, ROOT, "imbalance.csv", 0, want);
		assert_dense(m, ROOT, "imbalance.csv", 0);
		pmfs_model_free(m);
	}
	fake_free(f);
}

/* Three threads of one rank: 20, 40, and own 30; then 60 on one thread only. */
static void test_imbalance_is_over_the_threads_that_have_a_value(void **state)
{
	struct fake *f = fake_with_time();
	uint32_t main_ = fake_function(f, "main", NULL, 0);
	fake_call(f, 1, 0, main_);
	fake_call(f, 2, 1, main_);
	for (uint32_t t = 0; t < 4; t++) {
		fake_thread(f, 0, t);
		fake_value(f, t, 1, 77, 1);
	}
	fake_value(f, 1, 1, 1, 20);
	fake_value(f, 2, 1, 1, 40);
	fake_value(f, 3, 1, 2, 30);
	fake_value(f, 3, 2, 1, 60); /* on one thread only */
	assert_imbalance(f,
		"context_id|" SPREADS
		"1|30|30|30|0|20|30|40|10|2|2|0|1.3333333333333333|10|12|||main\n"
		"2|||||60|60|60|0|1|1|0|1|0|13|||main\n");
}

/* A lane of a thread is none by itself: it is not compared with threads, and not counted. */
static void test_lanes_are_no_threads(void **state)
{
	struct fake *f = fake_with_time();
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	for (uint32_t t = 0; t < 3; t++) {
		fake_thread(f, 0, t);
		fake_value(f, t, 1, 1, 20 + 20 * t);
	}
	fake_lane(f, 2);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "info.json", 0);
	assert_non_null(strstr(text, "\"threads\": 2,"));
	free(text);
	pmfs_model_free(m);
	assert_imbalance(f,
		"context_id|" SPREADS "1|||||20|30|40|10|2|2|0|1.3333333333333333|10|11|||main\n");
}

/*
 * Two ranks of two threads, and one without any cost. Thread 0 of rank 1 alone writes: a loss of
 * all that it takes. No worker writes: they are not compared.
 */
static void test_what_one_rank_does_alone_is_an_imbalance(void **state)
{
	struct fake *f = fake_with_time();
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_call(f, 2, 1, fake_function(f, "write_all", NULL, 0));
	for (uint32_t t = 0; t < 5; t++)
		fake_thread(f, t / 2, t % 2);
	for (uint32_t t = 0; t < 4; t++)
		fake_value(f, t, 1, 1, 80);
	fake_value(f, 2, 2, 1, 20);
	fake_value(f, 2, 2, 2, 20);
	assert_imbalance(f,
		"context_id|" SPREADS "1|||||80|80|80|0|4|4|0|1|0|10|0|0|main\n"
		"2|0|10|20|10|0|10|20|10|1|2|0|2|10|12|10|1|write_all\n");
}

/*
 * Both ranks take 100 in main. The first one works for 30 and waits for 70 in MPI, the other works
 * for 90, of which MPI called back for 10, and waits for 10.
 */
static struct fake *fake_with_waiting(void)
{
	struct fake *f = fake_with_time();
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_call(f, 2, 1, fake_function(f, "MPI_Wait", NULL, 0));
	fake_call(f, 3, 2, fake_function(f, "main._omp_fn.0", NULL, 0)); /* the program again */
	fake_thread(f, 0, 0);
	fake_thread(f, 7, 0);
	fake_value(f, 0, 1, 1, 100);
	fake_value(f, 0, 2, 1, 70);
	fake_value(f, 1, 1, 1, 100);
	fake_value(f, 1, 2, 1, 20);
	fake_value(f, 1, 3, 1, 10);
	return f;
}

static void test_imbalance_is_of_work_and_waiting_apart(void **state)
{
	assert_imbalance(fake_with_waiting(),
		"context_id|" SPREADS "1|||||100|100|100|0|2|2|0|1.5|30|11|30|7|main\n"
		"2|||||20|45|70|25|2|2|1|1.5555555555555556|25|10|25|0|MPI_Wait\n"
		"3|||||0|5|10|5|1|2|0|2|5|11|5|7|main._omp_fn.0\n");
}

static void test_imbalance_of_functions_is_over_all_threads(void **state)
{
	struct fake *f = fake_with_waiting();
	fake_thread(f, 7, 1);
	fake_call(f, 4, 0, fake_function(f, "worker", NULL, 0));
	fake_value(f, 2, 4, 1, 60);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, ROOT, "imbalance-functions.csv", 0,
		"function_id|" SPREADS
		"1|||||0|66.66666666666667|100|47.14045207910317|2|3|0|2.25|50|11|30|7|main\n"
		"2|||||0|30|70|29.43920288775949|2|3|1|2.3333333333333335|40|10|25|0|MPI_Wait\n"
		"3|||||0|3.3333333333333335|10|4.714045207910317|1|3|0|3|6.666666666666666|11|5|7|"
		"main._omp_fn.0\n"
		"4|||||0|20|60|28.284271247461902|1|3|0|3|40|12|30|7|worker\n");
	views_done(m, f);
}

static void test_ranks_are_sums_of_their_threads(void **state)
{
	struct fake *f = fake_with_waiting();
	fake_thread(f, 7, 1);
	fake_thread(f, 3, 0);
	fake_value(f, 2, 1, 1, 60);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, ROOT, "ranks.csv", 0,
		"rank|threads|time_ns_excl|time_ns_incl\n0|1||100\n3|1||\n7|2||160\n");
	assert_dense(m, ROOT, "ranks.csv", 0);
	views_done(m, f);
}

/* The program, MPI and the program again: the inclusive cost of a category is of the outermost. */
static void test_threads_by_category(void **state)
{
	struct fake *f = fake_with_waiting();
	fake_thread(f, 7, 1);
	fake_value(f, 0, 1, 2, 30);
	fake_value(f, 0, 2, 2, 70);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, ROOT, "threads-by-category.csv", 0,
		"thread_id|rank|thread|time_ns_excl|time_ns_incl|share|category|path\n"
		"10|0|0|70|70|0.7|mpi|threads/rank=0/thread=0\n"
		"10|0|0|30|100|0.3||threads/rank=0/thread=0\n"
		"11|7|0||100|||threads/rank=7/thread=0\n"
		"11|7|0||20||mpi|threads/rank=7/thread=0\n");
	assert_dense(m, ROOT, "threads-by-category.csv", 0);
	views_done(m, f);
}

/*
 * `main` calls `a`, which calls `b`; 90 and 110, that much less and more in a and b. Of a chain,
 * the deepest call that loses at least 90 % of it is listed.
 */
static void check_worst(double lost_by_a, double lost_by_b, const char *want)
{
	struct fake *f = fake_with_time();
	struct pmfs_worst_list list;
	char names[64] = "";
	static const char *const of[] = {"", "main ", "a ", "b "};
	fake_thread(f, 0, 0);
	fake_thread(f, 1, 0);
	for (uint32_t i = 1; i <= 3; i++)
		fake_call(f, i, i - 1, fake_function(f, of[i], NULL, 0));
	for (uint32_t t = 0; t < 2; t++) {
		fake_value(f, t, 1, 1, t ? 110 : 90);
		fake_value(f, t, 2, 1, t ? 50 + lost_by_a : 50 - lost_by_a);
		fake_value(f, t, 3, 1, t ? 50 + lost_by_b : 50 - lost_by_b);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	int r = pmfs_worst_imbalances(m, 200, true, &list, NULL);
	assert_int_equal(r, 0);
	assert_int_equal(list.n, 0);
	r = pmfs_worst_imbalances(m, 200, false, &list, NULL);
	assert_int_equal(r, 0);
	for (uint32_t i = 0; i < list.n; i++)
		strcat(names, of[list.contexts[i] + 1]);
	assert_string_equal(names, want);
	views_done(m, f);
}

static void test_worst_imbalances_have_a_chain_once(void **state)
{
	check_worst(10, 10, "b ");
	check_worst(9.5, 9.1, "b ");
	check_worst(9.5, 8.5, "a b ");
	check_worst(5, 0, "main a ");
	check_worst(30, 29, "b ");
}

static void test_views_of_threads_are_absent_without_threads(void **state)
{
	struct fake *f = fake_with_time();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_true(view_named(ROOT, "threads.csv")->present(m, 0, NULL));
	assert_false(view_named(ROOT, "imbalance.csv")->present(m, 0, NULL)); /* of no threads */
	fake_without_threads(f);
	assert_false(view_named(ROOT, "threads.csv")->present(m, 0, NULL));
	assert_false(view_named(PMFS_PLACE_CONTEXT, "threads.csv")->present(m, 0, NULL));
	assert_false(view_named(PMFS_PLACE_CONTEXT, "values.csv")->present(m, 0, NULL));
	views_done(m, f);
}

static void test_trace_is_there_where_the_thread_has_one(void **state)
{
	struct fake *f = fake_with_two_threads();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	((struct pm_thread *)(uintptr_t)f->threads.threads)[1].has_trace = false;
	assert_true(view_named(THREAD, "trace.csv")->present(m, 0, NULL));
	assert_false(view_named(THREAD, "trace.csv")->present(m, 1, NULL));
	assert_false(view_named(THREAD, "trace.tsv")->present(m, 1, NULL));
	views_done(m, f);
}

/* main, in which MPI_Wait and a barrier are called: own costs on a thread. */
static void add_costs(struct fake *f, uint32_t thread, double main_, double mpi, double barrier)
{
	const double own[] = {main_, mpi, barrier};
	for (uint32_t i = 0; i < 3; i++) {
		fake_value(f, thread, i + 1, 1, i == 0 ? main_ + mpi + barrier : own[i]);
		fake_value(f, thread, i + 1, 2, own[i]);
	}
}

static struct fake *fake_with_ranks(uint32_t n_ranks)
{
	struct fake *f = fake_with_time();
	f->span.duration_ns = 100;
	for (uint32_t rank = 0; rank < n_ranks; rank++)
		for (uint32_t thread = 0; thread < 2; thread++)
			fake_thread(f, rank, thread);
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_call(f, 2, 1, fake_function(f, "MPI_Wait", NULL, 0));
	fake_call(f, 3, 1, fake_function(f, "<omp barrier wait>", NULL, 0));
	return f;
}

static void test_efficiency_by_the_definitions_of_pop(void **state)
{
	struct fake *f = fake_with_ranks(2);
	add_costs(f, 0, 60, 30, 5);
	add_costs(f, 1, 40, 0, 50);
	add_costs(f, 2, 80, 10, 0);
	add_costs(f, 3, 20, 0, 0);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pmfs_view *view = view_named(PMFS_PLACE_ROOT, "efficiency.csv");
	assert_int_equal(view->present(m, 0, NULL), 1);
	assert_view(m, PMFS_PLACE_ROOT, "efficiency.csv", 0,
		"run|threads|ranks|duration_ns|speedup|load_balance|communication_efficiency|"
		"parallel_efficiency|mpi_parallel_efficiency|openmp_parallel_efficiency|"
		"computation_scaling|global_efficiency\n"
		"|4|2|100||0.625|0.8|0.5|0.725|0.6896551724137931||\n");
	views_done(m, f);
}

static void test_efficiency_is_of_sampled_time_on_several_threads(void **state)
{
	const struct pmfs_view *view = view_named(PMFS_PLACE_ROOT, "efficiency.csv");
	for (unsigned i = 0; i < 4; i++) {
		struct fake *f = fake_with_ranks(1);
		add_costs(f, 0, 60, 30, 5);
		if (i != 1) /* else one thread has all costs */
			add_costs(f, 1, 40, 0, 50);
		if (i == 2)
			f->profile.kind_of_tree = "calls";
		if (i == 3)
			f->span.duration_ns = PM_NO_TIME;
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		assert_int_equal(view->present(m, 0, NULL), i == 0);
		views_done(m, f);
	}
}

static int has_traces_and_times(
	const struct pm_profile *p, enum pm_feature feature, struct pm_error *err)
{
	(void)p;
	(void)err;
	return feature == PM_HAS_SEVERAL_THREADS || feature == PM_HAS_TRACES ||
		feature == PM_HAS_TIMES;
}

static int64_t no_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	(void)p;
	(void)context;
	(void)ret;
	(void)room;
	(void)err;
	fail_msg("a cost is read");
	return 0;
}

/* Listing a directory reads no costs; that only one thread has some leaves a header. */
static void test_efficiency_is_listed_without_costs(void **state)
{
	struct fake *f = fake_with_ranks(1);
	const struct pmfs_view *view = view_named(PMFS_PLACE_ROOT, "efficiency.csv");
	int64_t (*costs)(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
		size_t room, struct pm_error *err) = f->ops.run_costs;
	add_costs(f, 0, 60, 30, 5);
	f->ops.has = has_traces_and_times;
	f->ops.run_costs = no_costs;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(view->present(m, 0, NULL), 1);
	f->ops.run_costs = costs;
	assert_view(m, PMFS_PLACE_ROOT, "efficiency.csv", 0,
		"run|threads|ranks|duration_ns|speedup|load_balance|communication_efficiency|"
		"parallel_efficiency|mpi_parallel_efficiency|openmp_parallel_efficiency|"
		"computation_scaling|global_efficiency\n");
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_efficiency_by_the_definitions_of_pop),
		cmocka_unit_test(test_efficiency_is_of_sampled_time_on_several_threads),
		cmocka_unit_test(test_efficiency_is_listed_without_costs),
		cmocka_unit_test(test_threads_have_identity_totals_and_times),
		cmocka_unit_test(test_a_line_counts_unless_it_is_nested),
		cmocka_unit_test(test_a_format_may_know_the_ends_of_a_trace),
		cmocka_unit_test(test_stored_total_of_a_thread_wins),
		cmocka_unit_test(test_a_value_that_is_no_number_loses_no_others),
		cmocka_unit_test(test_paths_are_unique_and_plain),
		cmocka_unit_test(test_profile_has_the_contexts_of_the_tree_in_stored_order),
		cmocka_unit_test(test_profile_has_whole_numbers_exactly),
		cmocka_unit_test(test_profile_beyond_one_batch_loses_nothing),
		cmocka_unit_test(test_trace_tells_what_ran_when),
		cmocka_unit_test(test_trace_of_unknown_times),
		cmocka_unit_test(test_trace_long_before_the_origin),
		cmocka_unit_test(test_trace_of_calls_has_self_time_and_sequence),
		cmocka_unit_test(test_imbalance_is_over_the_threads_that_have_a_value),
		cmocka_unit_test(test_lanes_are_no_threads),
		cmocka_unit_test(test_what_one_rank_does_alone_is_an_imbalance),
		cmocka_unit_test(test_imbalance_is_of_work_and_waiting_apart),
		cmocka_unit_test(test_imbalance_of_functions_is_over_all_threads),
		cmocka_unit_test(test_ranks_are_sums_of_their_threads),
		cmocka_unit_test(test_threads_by_category),
		cmocka_unit_test(test_worst_imbalances_have_a_chain_once),
		cmocka_unit_test(test_views_of_threads_are_absent_without_threads),
		cmocka_unit_test(test_trace_is_there_where_the_thread_has_one),
		cmocka_unit_test(test_measuring_shows_each_sample_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
