/* fs/compare: tables of comparisons of profiles in memory. */
#include "pair.h"

#include <string.h>

#define COSTS(own, all) ((const double[]){(own), (all)})

/* main calls work and old, or work and fresh. */
static struct fake *run(double main_, double work, const char *third, double cost)
{
	struct fake *f = run_new();
	run_call(f, 1, 0, "main", "/src/main.c", COSTS(main_, main_ + work + cost));
	run_call(f, 2, 1, "work", "/src/work.c", COSTS(work, work));
	run_call(f, 3, 1, third, "/src/work.c", COSTS(cost, cost));
	return f;
}

static void test_two_runs(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 1, 1, (struct fake *[]){run(10, 100, "old", 5), run(10, 140, "fresh", 7)});
	assert_pair(&p, "functions.csv",
		"time_ns_excl_base|time_ns_excl|time_ns_excl_diff|time_ns_excl_ratio|"
		"time_ns_incl_base|time_ns_incl|time_ns_incl_diff|time_ns_incl_ratio|"
		"p|q|matched|only_in|module|file|name\n"
		"100|140|40|1.4|100|140|40|1.4|||exact||/bin/app|/src/work.c|work\n"
		"|7|7|||7|7|||||new|/bin/app|/src/work.c|fresh\n"
		"5||-5||5||-5|||||base|/bin/app|/src/work.c|old\n"
		"10|10|0|1|115|157|42|1.3652173913043477|||exact||/bin/app|/src/main.c|main\n");
	assert_pair(&p, "metrics.csv",
		"quantity|base|value|diff|ratio\ntime_ns|115|157|42|1.3652173913043477\n");
	assert_pair(&p, "names.csv", "names|name|joined\n");
	assert_pair(&p, "nothing.csv", "!none");
	pair_close(&p);
}

static void test_a_run_against_itself(void **state)
{
	static const char *const paths[] = {"functions.csv", "lines.csv", "modules.csv",
		"files.csv", "callers.csv", "categories.csv"};
	struct pair p = {.held = 0};
	pair_open(&p, 1, 1, (struct fake *[]){run(1, 2, "x", 3), run(1, 2, "x", 3)});
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		char *text = pair_text(&p, paths[i]), *line = strtok(text, "\n");
		assert_non_null(strstr(line, "time_ns_excl_base|time_ns_excl|time_ns_excl_diff|"));
		while ((line = strtok(NULL, "\n"))) {
			assert_non_null(strstr(line, "|0|1|"));
			assert_null(strstr(line, "base"));
			assert_null(strstr(line, "new"));
		}
		free(text);
	}
	pair_close(&p);
}

static void test_repetitions(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 2, 2,
		(struct fake *[]){run(10, 100, "old", 6), run(10, 102, "x", 2),
			run(10, 140, "x", 4), run(10, 142, "x", 6)});
	assert_pair(&p, "modules.csv",
		"time_ns_excl_base|time_ns_excl_base_stddev|time_ns_excl|time_ns_excl_stddev|"
		"time_ns_excl_diff|time_ns_excl_ratio|time_ns_incl_base|time_ns_incl_base_stddev|"
		"time_ns_incl|time_ns_incl_stddev|time_ns_incl_diff|time_ns_incl_ratio|"
		"p|q|matched|only_in|module\n"
		"115|1.4142135623730951|156|2.8284271247461903|41|1.3565217391304347|"
		"115|1.4142135623730951|156|2.8284271247461903|41|1.3565217391304347|"
		"0.01029971455714518|0.01029971455714518|exact||/bin/app\n");
	char *text = pair_text(&p, "functions.csv");
	/* What a repetition lacks is 0 there: old is 6 and 0. */
	assert_non_null(strstr(text, "\n3|4.242640687119285|||-3||"));
	/* main never varies. */
	assert_non_null(strstr(text, "\n10|0|10|0|0|1|"));
	assert_non_null(strstr(text, "|1|1|exact||/bin/app|/src/main.c|main\n"));
	free(text);
	pair_close(&p);
}

static void test_names_that_are_one(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 1, 1,
		(struct fake *[]){run(1, 2, "x.isra.0", 3), run(1, 2, "x.constprop.1", 4)});
	assert_pair(&p, "names.csv",
		"names|name|joined\n2|x.constprop.1|x.isra.0\n2|x.constprop.1|x.constprop.1\n");
	char *text = pair_text(&p, "functions.csv");
	assert_non_null(strstr(text, "\n3|4|1|"));
	free(text);
	pair_close(&p);
	p = (struct pair){.of.exact = true};
	pair_open(&p, 1, 1,
		(struct fake *[]){run(1, 2, "x.isra.0", 3), run(1, 2, "x.constprop.1", 4)});
	assert_pair(&p, "names.csv", "names|name|joined\n");
	pair_close(&p);
}

static void test_shares(void **state)
{
	struct pair p = {.of.normalize = true};
	pair_open(&p, 1, 1, (struct fake *[]){run(10, 85, "x", 5), run(20, 170, "x", 10)});
	assert_pair(&p, "files.csv",
		"share_base|share|share_diff|share_incl_base|share_incl|share_incl_diff|"
		"p|q|matched|only_in|file\n"
		"0.9|0.9|0|0.9|0.9|0|||exact||/src/work.c\n0.1|0.1|0|1|1|0|||exact||/src/main.c\n");
	pair_close(&p);
}

static void test_broken_runs_count_for_nothing(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 2, 1, (struct fake *[]){NULL, run(1, 2, "x", 3), run(1, 2, "x", 4)});
	assert_pair(&p, "metrics.csv",
		"quantity|base|value|diff|ratio\ntime_ns|6|7|1|1.1666666666666667\n");
	pair_close(&p);
}

/* A run that can be opened, but whose contexts cannot be read. */
static void test_unreadable_runs_count_for_nothing(void **state)
{
	struct pair p = {.held = 0};
	struct fake *unreadable = run(1, 2, "x", 3);
	unreadable->tree_error = -EIO;
	pair_open(&p, 2, 1, (struct fake *[]){unreadable, run(1, 2, "x", 3), run(1, 2, "x", 4)});
	assert_pair(&p, "metrics.csv",
		"quantity|base|value|diff|ratio\ntime_ns|6|7|1|1.1666666666666667\n");
	char *summary = pair_text(&p, "summary.txt");
	assert_non_null(strstr(summary, "\n1 of 3 runs cannot be read: "));
	free(summary);
	pair_close(&p);
}

/* The lines of `f`, which begins at line 10, have moved by 5 below an edit. */
static struct fake *run_with_lines(int by, double cost)
{
	struct fake *f = run_new();
	run_call(f, 1, 0, "f", "/src/f.c", COSTS(4 * cost, 4 * cost));
	run_line(f, 2, 1, "/src/f.c", 12, COSTS(cost, cost));
	run_line(f, 3, 1, "/src/f.c", (uint32_t)(20 + by), COSTS(cost, cost));
	run_line(f, 4, 1, "/src/f.c", (uint32_t)(25 + by), COSTS(cost, cost));
	run_line(f, 5, 1, "/src/f.c", (uint32_t)(28 + by), COSTS(cost, cost));
	return f;
}

static void test_lines_that_have_moved(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 1, 1, (struct fake *[]){run_with_lines(0, 1), run_with_lines(5, 2)});
	assert_pair(&p, "lines.csv",
		"line_base|line|"
		"time_ns_excl_base|time_ns_excl|time_ns_excl_diff|time_ns_excl_ratio|"
		"time_ns_incl_base|time_ns_incl|time_ns_incl_diff|time_ns_incl_ratio|"
		"p|q|matched|only_in|file|name\n"
		"12|12|1|2|1|2|1|2|1|2|||exact||/src/f.c|f\n"
		"20|25|1|2|1|2|1|2|1|2|||order||/src/f.c|f\n"
		"25|30|1|2|1|2|1|2|1|2|||order||/src/f.c|f\n"
		"28|33|1|2|1|2|1|2|1|2|||order||/src/f.c|f\n");
	pair_close(&p);
}

/* A kernel, and a copy of 4000 B or none. */
static struct fake *run_of_kernels(double launches, double seconds, bool copies)
{
	struct fake *f = run_new();
	uint32_t kernels = fake_metric(f, PM_ROLE_EXCLUSIVE, 1, "GKER (sec)", "sec");
	uint32_t count = fake_metric(f, PM_ROLE_EXCLUSIVE, 2, "GKER:COUNT", "");
	uint32_t time = fake_metric(f, PM_ROLE_EXCLUSIVE, 3, "GXCOPY (sec)", "sec");
	uint32_t bytes = fake_metric(f, PM_ROLE_EXCLUSIVE, 4, "GXCOPY:H2D (B)", "B");
	run_call(f, 1, 0, "saxpy", "/src/a.cu", COSTS(1, 1));
	run_call(f, 2, 0, "<gpu copyin>", "", COSTS(1, 1));
	fake_value(f, 0, 1, kernels, seconds);
	fake_value(f, 0, 1, count, launches);
	if (copies) {
		fake_value(f, 0, 2, time, 2e-6);
		fake_value(f, 0, 2, bytes, 4000);
	}
	return f;
}

static void test_operations_of_gpus(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 1, 1,
		(struct fake *[]){run_of_kernels(4, 3e-6, true), run_of_kernels(2, 5e-6, false)});
	assert_pair(&p, "gpu.csv",
		"total_ns_base|total_ns|total_ns_diff|total_ns_ratio|launches_base|launches|"
		"launches_diff|bytes_base|bytes|bytes_diff|bytes_ratio|"
		"mean_ns_base|mean_ns|mean_ns_diff|mean_ns_ratio|"
		"bytes_per_sec_base|bytes_per_sec|bytes_per_sec_diff|bytes_per_sec_ratio|"
		"p|q|matched|only_in|operation|module|kernel\n"
		"3000|5000|2000|1.6666666666666667|4|2|-2|||0||750|2500|1750|3.3333333333333335|"
		"||||||exact||kernel|/bin/app|saxpy\n"
		"2000||-2000||||0|4000||-4000||||||2000000000|||||||base|copy|/bin/app|"
		"<gpu copyin>\n");
	pair_close(&p);
	/* With repetitions, and where only one side has a GPU. */
	p = (struct pair){.held = 0};
	pair_open(&p, 2, 2,
		(struct fake *[]){run_of_kernels(4, 3e-6, false), run_of_kernels(4, 5e-6, false),
			run_of_kernels(4, 13e-6, false), run_of_kernels(4, 15e-6, false)});
	char *text = pair_text(&p, "gpu.csv");
	assert_non_null(
		strstr(text, "\n4000|1414.213562373095|14000|1414.213562373095|10000|3.5|"));
	free(text);
	pair_close(&p);
	p = (struct pair){.held = 0};
	pair_open(&p, 1, 1, (struct fake *[]){run_of_kernels(4, 3e-6, true), run(1, 2, "x", 3)});
	assert_pair(&p, "gpu.csv", "!none");
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_runs),
		cmocka_unit_test(test_a_run_against_itself),
		cmocka_unit_test(test_repetitions),
		cmocka_unit_test(test_names_that_are_one),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_broken_runs_count_for_nothing),
		cmocka_unit_test(test_unreadable_runs_count_for_nothing),
		cmocka_unit_test(test_lines_that_have_moved),
		cmocka_unit_test(test_operations_of_gpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
