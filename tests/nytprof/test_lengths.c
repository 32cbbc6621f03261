/* Percentiles of the times of calls: which calls count, and when there are none. */
#include "tests/unittest.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/buckets.h"
#include "formats/nytprof/limits.h"
#include "formats/nytprof/nytprof.h"
#include "tests/nytprof/expect.h"

enum { MANY = 1000 };

/* ---- what is expected ---- */

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* The smallest that at least `percent` of the n sorted values do not exceed. */
static uint64_t quantile(const double *sorted, size_t n, unsigned percent)
{
	size_t i = 0;
	while ((i + 1) * 100 < n * percent)
		i++;
	return (uint64_t)round(sorted[i]);
}

static const struct pm_call_times *times_of(const struct pm_profile *p, const char *name)
{
	const struct pm_call_times *times;
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(pm_profile_call_times(p, &times, NULL), 0);
	for (uint32_t i = 0; i < tree->n_functions; i++)
		if (pm_bytes_equal(tree->texts[tree->functions[i].name], pm_bytes_of(name)))
			return &times[i];
	fail_msg("no function %s", name);
	return NULL;
}

static void expect(const struct pm_profile *p, const char *name, double *ns, size_t n)
{
	const struct pm_call_times *t = times_of(p, name);
	qsort(ns, n, sizeof(*ns), by_value);
	assert_true(t->known);
	assert_int_equal(t->p50_ns, quantile(ns, n, 50));
	assert_int_equal(t->p90_ns, quantile(ns, n, 90));
	assert_int_equal(t->p99_ns, quantile(ns, n, 99));
	assert_int_equal(t->max_ns, quantile(ns, n, 100));
}

/* ---- profiles ---- */

static void begin(struct nytpw *w, const char *ticks_per_sec)
{
	pm_text_str(&w->out, "NYTProf 5 0\n");
	if (ticks_per_sec)
		nytpw_line(w, ticks_per_sec);
	nytpw_pid_start(w, 7, 1, 1.7e9);
}

static double next_length(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	switch (*random >> 30) {
	case 0: return *random >> 8 & 7;             /* many are equal */
	case 1: return *random >> 8;                 /* beyond 2 bytes */
	case 2: return (*random >> 16 & 0xff) / 8.0; /* not whole */
	default: return 0xfff0 + (*random >> 8 & 0x1f);
	}
}

/* Subs that call themselves and one another: each return counts, with all below it. */
static void test_percentiles_are_those_of_all_returns(void **state)
{
	static double ns[2][MANY];
	static const char *const names[] = {"A::f", "B::g"};
	struct nytpw w = {.big = false};
	size_t n[2] = {0};
	uint32_t random = 1;
	begin(&w, ":ticks_per_sec=10000000");
	for (uint32_t i = 0; i < MANY; i++) {
		int sub = next_length(&random) < 20;
		double ticks = next_length(&random);
		ns[sub][n[sub]++] = ticks * 100;
		nytpw_return(&w, 1 + i * 7 % 5, ticks, 1, names[sub]);
	}
	nytpw_pid_end(&w, 7, 1.7e9 + 1);
	struct pm_profile *p = nytpx_open_written(&w);
	assert_int_equal(p->ops->has(p, PM_HAS_CALL_TIMES, NULL), 1);
	expect(p, "A::f", ns[0], n[0]);
	expect(p, "B::g", ns[1], n[1]);
	pm_profile_close(p);
}

/* How long a tick takes may be said after the calls, as in a merged file, or not at all. */
static void test_ticks_have_the_length_that_the_file_says(void **state)
{
	static const struct {
		const char *before, *after;
		double ns;
	} cases[] = {{":ticks_per_sec=1000000", NULL, 1000}, {NULL, ":ticks_per_sec=1000000", 1000},
		{NULL, NULL, 100}, {NULL, ":ticks_per_sec=0", 100},
		{":ticks_per_sec=3579545", NULL, 1e9 / 3579545}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct nytpw w = {.big = i % 2 > 0};
		double ns[] = {3 * cases[i].ns, 70000 * cases[i].ns, 3 * cases[i].ns};
		begin(&w, cases[i].before);
		nytpw_return(&w, 1, 3, 3, "f");
		nytpw_return(&w, 1, 70000, 3, "f");
		nytpw_return(&w, 1, 3, 3, "f");
		if (cases[i].after)
			nytpw_line(&w, cases[i].after);
		nytpw_pid_end(&w, 7, 1.7e9 + 1);
		struct pm_profile *p = nytpx_open_written(&w);
		expect(p, "f", ns, 3);
		pm_profile_close(p);
	}
}

/* A clock that is set back makes calls of no time; what is no time makes a function unknown. */
static void test_times_that_cannot_be(void **state)
{
	static const double bad[] = {NAN, INFINITY, 1e300};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct nytpw w = {.big = false};
		double back[] = {0, 0, 400};
		begin(&w, ":ticks_per_sec=10000000");
		nytpw_return(&w, 1, -5, -5, "back");
		nytpw_return(&w, 1, 4, 4, "back");
		nytpw_return(&w, 1, -0.0, 0, "back");
		nytpw_return(&w, 1, 4, 4, "bad");
		nytpw_return(&w, 1, bad[i], 4, "bad");
		nytpw_return(&w, 1, -INFINITY, 4, "negative");
		nytpw_pid_end(&w, 7, 1.7e9 + 1);
		struct pm_profile *p = nytpx_open_written(&w);
		expect(p, "back", back, 3);
		assert_false(times_of(p, "bad")->known);
		assert_true(times_of(p, "negative")->known);
		assert_int_equal(times_of(p, "negative")->max_ns, 0);
		pm_profile_close(p);
	}
}

/* Two processes of a run, with other clocks and numbers of evals: one function. */
static void test_processes_and_evals_have_functions_in_common(void **state)
{
	static const char *const subs[] = {"f[(eval 1)[x.pl:3]:1]", "f[(eval 9)[x.pl:3]:1]"};
	static const char *const rates[] = {":ticks_per_sec=10000000", ":ticks_per_sec=1000000"};
	struct pm_profile *p = NULL;
	double ns[] = {100, 200, 300, 1000, 2000, 3000}, none[] = {700};
	for (uint32_t i = 0; i < 2; i++) {
		struct nytpw w = {.big = false};
		pm_text_str(&w.out, "NYTProf 5 0\n");
		nytpw_line(&w, rates[i]);
		nytpw_pid_start(&w, 7 + i, i ? 7 : 1, 1.7e9);
		for (uint32_t k = 1; k <= 3; k++)
			nytpw_return(&w, 1, k, k, subs[i]);
		if (i == 0)
			nytpw_return(&w, 1, 7, 7, "only one has this");
		nytpw_pid_end(&w, 7 + i, 1.7e9 + 1);
		nytpx_save(&w, i ? "x.out.8" : "x.out");
	}
	assert_int_equal(pm_profile_open(nytpx_folder, NULL, NULL, &p, NULL), 0);
	expect(p, "f[(eval)[x.pl:3]:1]", ns, 6);
	expect(p, "only one has this", none, 1);
	pm_profile_close(p);
	nytpx_drop("x.out");
	nytpx_drop("x.out.8");
}

/* What limits count of all files is counted of those that are presented. */
static void expect_counts_of(const struct nytp *want, const struct nytp *n)
{
	assert_int_equal(n->log_bytes, want->log_bytes);
	assert_int_equal(n->rows, want->rows);
	assert_int_equal(n->source_bytes, want->source_bytes);
}

/* A file that is given up in the middle leaves no trace in the one after it. */
static void test_a_file_that_is_refused_counts_no_calls(void **state)
{
	struct pm_profile *p = NULL, *alone = NULL;
	double ns[] = {500};
	for (uint32_t i = 0; i < 2; i++) {
		struct nytpw w = {.big = false};
		pm_text_str(&w.out, "NYTProf 5 0\n");
		nytpw_pid_start(&w, 7 + i, i ? 7 : 1, 1.7e9);
		nytpw_return(&w, 1, 5, 5, i ? "both" : "first");
		if (i == 0) {
			nytpw_return(&w, 1, 6, 5, "both");
			nytpw_fid(&w, 1, 0, 0, "x.pl");
			nytpw_source(&w, 1, 1, "text");
			nytpw_line(&w, ":nv_size=16");
		}
		nytpw_pid_end(&w, 7 + i, 1.7e9 + 1);
		nytpx_save(&w, i ? "x.out.8" : "x.out");
	}
	assert_int_equal(pm_profile_open(nytpx_folder, NULL, NULL, &p, NULL), 0);
	assert_int_equal(nytp_ready(&nytp_opened_of(p)->native, NULL), 0);
	nytpx_drop("x.out");
	assert_int_equal(pm_profile_open(nytpx_folder, NULL, NULL, &alone, NULL), 0);
	assert_int_equal(nytp_ready(&nytp_opened_of(alone)->native, NULL), 0);
	expect_counts_of(&nytp_opened_of(alone)->native, &nytp_opened_of(p)->native);
	expect(p, "both", ns, 1);
	assert_int_equal(nytpx_count_damage(p, "nv_size"), 1);
	pm_profile_close(alone);
	pm_profile_close(p);
	nytpx_drop("x.out.8");
}

static void test_profiles_without_returns_have_none(void **state)
{
	struct nytpw w = {.big = false}, chunks = {.big = false};
	struct nytpw_callers c = {1, 3, 1, 0, 1e-6, 1e-6, 0, "main::RUNTIME", "f"};
	begin(&w, NULL);
	nytpw_fid(&w, 1, 0, 0, "x.pl");
	nytpw_sub(&w, 1, "f", 1, 1);
	nytpw_callers(&w, &c);
	nytpw_pid_end(&w, 7, 1.7e9 + 1);
	nytpw_chunks(&chunks, false);
	for (int i = 0; i < 2; i++) {
		struct pm_profile *p = nytpx_open_written(i ? &chunks : &w);
		assert_int_equal(p->ops->has(p, PM_HAS_CALL_TIMES, NULL), 0);
		pm_profile_close(p);
	}
}

/* More than can be kept: nothing is known, of no sub. */
static void test_too_many_calls(void **state)
{
	struct nytp n;
	struct nytp_file f = {.ns_per_tick = 100};
	uint64_t i = 0;
	nytp_init(&n);
	n.files = &f;
	n.n_files = 1;
	nytp_log_add(&n, &f, 3, 5);
	for (; !n.logs_full; i++)
		nytp_log_add(&n, &f, 9, 1e6);
	assert_true(i > NYTP_LIMIT_LOGS / 10 / 4);
	assert_true(n.log_bytes <= NYTP_LIMIT_LOGS);
	nytp_logs_settle(&n);
	assert_int_equal(n.log_bytes, 0);
	nytp_done(&n);
}

struct timing {
	struct pm_arena arena;
	const struct nytp *n;
	const struct nytp_model *m;
	struct pm_call_times *times;
};

static void build_times(void *context)
{
	struct timing *t = context;
	t->times = nytp_times_build(&t->arena, t->n, t->m);
}

/* Histograms that together are larger than PM_LIMIT_DURATIONS: nothing is known, either. */
static void test_too_many_buckets(void **state)
{
	enum { FUNCTIONS = 40000, LENGTHS = 120 };
	static uint32_t function_of[FUNCTIONS];
	struct pm_tree tree = {.n_functions = FUNCTIONS};
	struct nytp_model m = {.tree = &tree, .function_of = function_of};
	struct nytp_file f = {.ns_per_tick = 1};
	struct nytp n;
	struct timing t = {.n = &n, .m = &m};
	nytp_init(&n);
	n.files = &f;
	n.n_files = 1;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		function_of[i] = i;
		for (uint32_t k = 0; k < LENGTHS; k++)
			nytp_log_add(&n, &f, i, (double)pm_bucket_start(k));
		if (i == FUNCTIONS / 2) {
			assert_int_equal(pm_build(&t.arena, build_times, &t), 0);
			assert_true(t.times[i].known);
			assert_int_equal(t.times[i].n_buckets, LENGTHS - 1);
			pm_arena_done(&t.arena);
		}
	}
	assert_false(n.logs_full);
	assert_int_equal(pm_build(&t.arena, build_times, &t), 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		assert_false(t.times[i].known || t.times[i].buckets);
	pm_arena_done(&t.arena);
	nytp_logs_done(&n);
	nytp_logs_settle(&n);
	nytp_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentiles_are_those_of_all_returns),
		cmocka_unit_test(test_ticks_have_the_length_that_the_file_says),
		cmocka_unit_test(test_times_that_cannot_be),
		cmocka_unit_test(test_processes_and_evals_have_functions_in_common),
		cmocka_unit_test(test_a_file_that_is_refused_counts_no_calls),
		cmocka_unit_test(test_profiles_without_returns_have_none),
		cmocka_unit_test(test_too_many_calls),
		cmocka_unit_test(test_too_many_buckets),
	};
	return cmocka_run_group_tests(tests, nytpx_folder_make, nytpx_folder_remove);
}
