/* callgrind.out.M and callgraph.dot, which show one graph. */
#include "exports.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fs/views/exports/export.h"

#define CALLGRIND "callgrind.out.*"
#define HEAD(title, total)                                                                         \
	"# callgrind format\nversion: 1\ncreator: " PMFS_EXPORTER "\npositions: line\n"            \
	"event: time_ns : time in nanoseconds\ncmd: " title "\nevents: time_ns\nsummary: " total   \
	"\n\n"

static void test_costs_are_by_line_and_calls_by_their_place(void **state)
{
	struct fake *f = fake_program();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, CALLGRIND, 0,
		HEAD("app", "100") "ob=(4) /bin/app\nfl=(3) /src/a.c\nfn=(2) main\n"
				   "3 6\n10 5\n12 5\n"
				   "cob=(4)\ncfi=(6) /src/b.c\ncfn=(5) solve\ncalls=0 7\n12 60\n"
				   "cob=(4)\ncfi=(1) ???\ncfn=(7) io\ncalls=0 0\n12 20\n"
				   "cob=(4)\ncfi=(3)\ncfn=(8) init\ncalls=0 40\n3 4\n\n"
				   "ob=(4)\nfl=(6)\nfn=(5)\n7 40\n20 20\n"
				   "cob=(4)\ncfi=(6)\ncfn=(5)\ncalls=0 7\n20 30\n\n"
				   "ob=(4)\nfl=(1)\nfn=(7)\n0 20\n\n"
				   "ob=(4)\nfl=(3)\nfn=(8)\n40 4\n\n"
				   "totals: 100\n");
	assert_thread_export(m, CALLGRIND, 1, 0,
		HEAD("app, rank=3/thread=1",
			"10") "ob=(4) /bin/app\nfl=(3) /src/a.c\nfn=(2) main\n"
			      "cob=(4)\ncfi=(6) /src/b.c\ncfn=(5) solve\ncalls=0 7\n12 10\n\n"
			      "ob=(4)\nfl=(6)\nfn=(5)\n7 10\n"
			      "cob=(4)\ncfi=(6)\ncfn=(5)\ncalls=0 7\n20 10\n\n"
			      "totals: 10\n");
	views_done(m, f);
}

/* even(10) → odd(8) → even(5) → odd(3): even → odd has 8, not 8 + 3. */
static void test_cycle_costs_once_on_a_path(void **state)
{
	struct fake *f = fake_with_thread();
	uint32_t calls = fake_metric(f, PM_ROLE_COUNT, 1, "calls", "");
	uint32_t even = fake_function(f, "even", NULL, 0), odd = fake_function(f, "odd", NULL, 0);
	static const double times[] = {10, 8, 5, 3};
	for (uint32_t i = 0; i < 4; i++) {
		fake_call(f, i + 1, i, i % 2 ? odd : even);
		fake_value(f, 0, i + 1, 1, times[i]);
		fake_value(f, 0, i + 1, calls, i + 1);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, CALLGRIND, 0,
		HEAD("app", "10") "ob=(3) /bin/app\nfl=(1) ???\nfn=(2) even\n0 4\n"
				  "cob=(3)\ncfi=(1)\ncfn=(4) odd\ncalls=6 0\n0 8\n\n"
				  "ob=(3)\nfl=(1)\nfn=(4)\n0 6\n"
				  "cob=(3)\ncfi=(1)\ncfn=(2)\ncalls=3 0\n0 5\n\n"
				  "totals: 10\n");
	views_done(m, f);
}

/* main → work → leaf, stored as edges: each sub with those that it calls below it. */
static struct fake *fake_edges(void)
{
	static const struct {
		const char *name;
		uint32_t parent;
		double incl, excl; /* NAN: not stored */
	} contexts[] = {{"RUNTIME", 0, NAN, NAN}, {"main", 1, 100, 40}, {"main", 0, 100, NAN},
		{"work", 3, 60, 20}, {"work", 0, 60, NAN}, {"leaf", 5, 40, 40}};
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	for (uint32_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		fake_call(
			f, i + 1, contexts[i].parent, fake_function(f, contexts[i].name, NULL, 0));
		if (!isnan(contexts[i].incl))
			fake_value(f, 0, i + 1, 1, contexts[i].incl);
		if (!isnan(contexts[i].excl))
			fake_value(f, 0, i + 1, 2, contexts[i].excl);
	}
	f->profile.kind_of_tree = "edges";
	f->profile.inclusive_overlaps = true;
	return f;
}

static void test_edges_have_the_cost_of_all_below(void **state)
{
	struct fake *f = fake_edges();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, CALLGRIND, 0,
		HEAD("fake.db", "100") "ob=(3) /bin/app\nfl=(1) ???\nfn=(2) main\n0 40\n"
				       "cob=(3)\ncfi=(1)\ncfn=(4) work\ncalls=0 0\n0 60\n\n"
				       "ob=(3)\nfl=(1)\nfn=(4)\n0 20\n"
				       "cob=(3)\ncfi=(1)\ncfn=(5) leaf\ncalls=0 0\n0 40\n\n"
				       "ob=(3)\nfl=(1)\nfn=(5)\n0 40\n\n"
				       "ob=(3)\nfl=(1)\nfn=(6) RUNTIME\n"
				       "cob=(3)\ncfi=(1)\ncfn=(2)\ncalls=0 0\n0 100\n\n"
				       "totals: 100\n");
	views_done(m, f);
}

static void test_functions_of_one_name_are_told_apart_by_place(void **state)
{
	struct fake *f = fake_with_thread();
	fake_call(f, 1, 0, fake_function(f, "init", "/a.c", 1));
	fake_call(f, 2, 0, fake_function(f, "init", "/b.c", 2));
	fake_value(f, 0, 1, 1, 5);
	fake_value(f, 0, 2, 1, 4);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, CALLGRIND, 0,
		HEAD("app", "9") "ob=(4) /bin/app\nfl=(3) /a.c\nfn=(2) init\n1 5\n\n"
				 "ob=(4)\nfl=(5) /b.c\nfn=(2)\n2 4\n\n"
				 "totals: 9\n");
	views_done(m, f);
}

static void test_hostile_names_stay_on_their_line(void **state)
{
	struct fake *f = fake_with_thread();
	f->profile.title = pm_bytes_of("my\napp");
	fake_call(f, 1, 0, fake_function(f, "a\nfn=(9) b\xff", "/x\r\n.c", 1));
	fake_value(f, 0, 1, 1, 5);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, CALLGRIND, 0,
		HEAD("my app",
			"5") "ob=(4) /bin/app\nfl=(3) /x  .c\nfn=(2) a fn=(9) b\xef\xbf\xbd\n1 5\n\n"
			     "totals: 5\n");
	views_done(m, f);
}

static void test_nothing_is_a_head_and_totals(void **state)
{
	struct fake *f = fake_with_thread();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_export(m, CALLGRIND, 0, HEAD("app", "0") "totals: 0\n");
	views_done(m, f);
}

/* ---- callgraph.dot ---- */

static char *dot_of(struct pmfs_model *m)
{
	struct pm_text text;
	assert_int_equal(
		render_export(m, PMFS_PLACE_EXPORT, "callgraph.dot", 0, PM_NONE, &text), 0);
	pm_text_char(&text, '\0');
	return text.p;
}

static void test_dot_shows_functions_and_calls_with_shares(void **state)
{
	struct fake *f = fake_program();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *dot = dot_of(m);
	assert_non_null(strstr(dot, "label=\"app: time_ns, 4 of 5 functions;"));
	assert_non_null(strstr(dot, "f0 [label=\"main\\n100.0% (self 16.0%)\""));
	assert_non_null(strstr(dot, "f1 [label=\"solve\\n60.0% (self 60.0%)\""));
	assert_non_null(strstr(dot, "f0 -> f1 [label=\"60.0%\""));
	assert_non_null(strstr(dot, "f1 -> f1 [label=\"30.0%\""));
	assert_null(strstr(dot, "idle"));
	free(dot);
	views_done(m, f);
}

static void test_dot_shows_shares_of_edges(void **state)
{
	struct fake *f = fake_edges();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *dot = dot_of(m);
	assert_non_null(strstr(dot, "label=\"RUNTIME\\n100.0% (self 0.0%)\""));
	assert_non_null(strstr(dot, "label=\"main\\n100.0% (self 40.0%)\""));
	assert_non_null(strstr(dot, "label=\"work\\n60.0% (self 20.0%)\""));
	assert_non_null(strstr(dot, "label=\"leaf\\n40.0% (self 40.0%)\""));
	free(dot);
	views_done(m, f);
}

static void test_dot_leaves_out_what_is_small_and_says_so(void **state)
{
	static char names[300][16];
	struct fake *f = fake_with_thread();
	fake_timed(f, 1, 0, "main \"\\N\" <b>", 1000);
	fake_timed(f, 2, 1, "small", 9);
	for (uint32_t i = 0; i < 300; i++) {
		snprintf(names[i], sizeof(names[i]), "deep%u", i);
		fake_timed(f, i + 3, i == 0 ? 1 : i + 2, names[i], 900);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *dot = dot_of(m);
	assert_non_null(
		strstr(dot, "200 of 302 functions; not shown: below 1%, or beyond the first 200"));
	assert_non_null(strstr(dot, "label=\"main \\\"\\\\N\\\" <b>\\n100.0% (self 9.1%)\""));
	assert_null(strstr(dot, "small"));
	assert_null(strstr(dot, "deep299"));
	free(dot);
	views_done(m, f);
}

static void test_dot_is_absent_without_metrics(void **state)
{
	struct fake *f = fake_new();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_false(view_named(PMFS_PLACE_EXPORT, "callgraph.dot")->present(m, 0, NULL));
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs_are_by_line_and_calls_by_their_place),
		cmocka_unit_test(test_cycle_costs_once_on_a_path),
		cmocka_unit_test(test_edges_have_the_cost_of_all_below),
		cmocka_unit_test(test_functions_of_one_name_are_told_apart_by_place),
		cmocka_unit_test(test_hostile_names_stay_on_their_line),
		cmocka_unit_test(test_nothing_is_a_head_and_totals),
		cmocka_unit_test(test_dot_shows_functions_and_calls_with_shares),
		cmocka_unit_test(test_dot_shows_shares_of_edges),
		cmocka_unit_test(test_dot_leaves_out_what_is_small_and_says_so),
		cmocka_unit_test(test_dot_is_absent_without_metrics),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
