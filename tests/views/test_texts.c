/* Texts for people: summary.txt, functions.txt, README.txt, recipes.txt, info.json, damage.csv. */
#include "harness.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fs/views/model/screen.h"

#define ROOT PMFS_PLACE_ROOT

/* No longer and no wider than a screen, and no control characters. */
static void assert_screen(const char *text, unsigned lines, unsigned columns)
{
	unsigned n = 0, width = 0;
	for (size_t at = 0; text[at]; at++) {
		unsigned char c = (unsigned char)text[at];
		assert_true(c == '\n' || c >= 0x20);
		if (c == '\n') {
			n++;
			width = 0;
		} else if ((c & 0xc0) != 0x80) {
			assert_true(++width <= columns);
		}
	}
	assert_true(n <= lines);
}

/* 300 functions with long names one below the other, and as many threads as wanted. */
static struct fake *fake_with_long_names(uint32_t n_threads)
{
	static char names[300][400];
	struct fake *f = fake_with_time();
	for (uint32_t t = 0; t < n_threads; t++)
		fake_thread(f, UINT64_MAX - t, UINT64_MAX);
	for (uint32_t i = 0; i < 300; i++) {
		snprintf(names[i], sizeof(names[i]), "f%u\n\x01\xff%0300d", i, 0);
		uint32_t function = fake_function(f, names[i], "/src/with\nnewline.c", i);
		fake_call(f, i + 1, i, function);
		for (uint32_t t = 0; t < n_threads; t++) {
			fake_value(f, t, i + 1, 1, (300 - i) * (t + 1.0));
			fake_value(f, t, i + 1, 2, t + 1.0);
		}
	}
	return f;
}

/* Any amount, right-aligned. */
static void test_amounts_fit_their_columns(void **state)
{
	static const double values[] = {
		0, 1500, -999999e9, -999999.995e9, 0x1p120, -0x1p64, 0.1, 999.99};
	static const struct pmfs_column columns[] = {{.export = "time_ns", .export_scale = 1},
		{.export = "mem_bytes", .export_scale = 1}, {.export = "cycles", .export_scale = 1},
		{.export = "cputime_ns", .export_scale = 1e9}};
	struct pm_text text = {.p = NULL};
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		for (size_t k = 0; k < sizeof(columns) / sizeof(*columns); k++) {
			pm_text_clear(&text);
			pmfs_add_amount(&text, &columns[k], values[i]);
			pm_text_char(&text, '\n');
			pm_text_char(&text, '\0');
			assert_screen(text.p, 1, PMFS_AMOUNT_WIDTH);
		}
	pm_text_done(&text);
}

static void test_summary_fits_a_screen(void **state)
{
	struct fake *f = fake_with_long_names(3);
	static const struct pm_damage damage[] = {{16, 4, "a.db", "is not there"}};
	f->profile.title = pm_bytes_of("t\x1b[31m");
	f->damages = (struct pm_damages){1, damage};
	f->span.duration_ns = 1500000000;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "summary.txt", 0);
	assert_screen(text, 50, 100);
	assert_non_null(strstr(text, "fake.db"));
	assert_non_null(strstr(
		text, "has      300 contexts   300 functions   3 threads\nrun      1.500 s\n"));
	assert_non_null(strstr(text, "\ntotal    1.800 µs time_ns, the primary quantity"));
	assert_non_null(strstr(text, "damage.csv: 1 row\n"));
	assert_non_null(strstr(text, "Hot path by time_ns_incl\n 100.0%"));
	assert_non_null(strstr(text, "291 more: see hotpath.txt"));
	assert_non_null(strstr(text, "  1.50 "));
	free(text);
	text = view_text(m, PMFS_PLACE_THREAD, "summary.txt", 2);
	assert_screen(text, 50, 100);
	assert_non_null(strstr(text, "Functions by time_ns_excl"));
	free(text);
	views_done(m, f);
}

/* Calls of one share: with lines of source if they fit, without them, and with `…` for calls. */
static void test_a_hot_path_says_what_it_leaves_out(void **state)
{
	static const struct {
		uint32_t n;
		const char *shown;
	} paths[] = {
		{2, "  call number 0 > a.c:10 > call number 1 > a.c:11\n"},
		{5, "  call number 0 > call number 1 > call number 2 > call number 3 > call number 4\n"},
		{9, "  call number 0 > call number 1 > … > call number 8\n"},
	};
	for (size_t k = 0; k < sizeof(paths) / sizeof(*paths); k++) {
		struct fake *f = fake_with_time();
		uint32_t n = 0;
		fake_thread(f, 0, 0);
		for (uint32_t i = 0; i < paths[k].n; i++) {
			char name[32];
			snprintf(name, sizeof(name), "call number %u", i);
			fake_call(f, n + 1, n, fake_function(f, name, "a.c", 1));
			fake_line(f, n + 2, n + 1, "a.c", 10 + i);
			fake_value(f, 0, n + 1, 1, 5);
			fake_value(f, 0, n + 2, 1, 5);
			n += 2;
		}
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		char *text = view_text(m, ROOT, "summary.txt", 0);
		if (!strstr(text, paths[k].shown))
			fail_msg("%s", text);
		free(text);
		views_done(m, f);
	}
}

/* One of two functions of a name, one that only calls, and how often. */
static void test_functions_fit_a_table(void **state)
{
	struct fake *f = fake_with_time();
	fake_metric(f, PM_ROLE_COUNT, 1, "calls", "");
	fake_thread(f, 0, 0);
	fake_thread(f, 1, 0);
	fake_call(f, 1, 0, fake_function(f, "main", "/src/a.cc", 1));
	fake_call(f, 2, 1, fake_function(f, "twin", "/src/a.cc", 7));
	fake_call(f, 3, 1, fake_function(f, "twin", "/src/b.cc", 9));
	for (uint32_t thread = 0; thread < 2; thread++) {
		fake_value(f, thread, 1, 1, 40);
		fake_value(f, thread, 2, 1, 30);
		fake_value(f, thread, 2, 2, 30);
		fake_value(f, thread, 3, 1, 10);
		fake_value(f, thread, 3, 2, 10);
		fake_value(f, thread, 2, 3, 123456);
	}
	static const char table[] =
		"Functions by time_ns_excl (total 80 ns)\n"
		"  share           own     inclusive         calls  function\n"
		"  75.0%         60 ns         60 ns         247 k  twin  a.cc:7\n"
		"  25.0%         20 ns         20 ns                twin  b.cc:9\n"
		"                              80 ns                main\n";
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "functions.txt", 0);
	assert_string_equal(text, table);
	free(text);
	text = view_text(m, PMFS_PLACE_THREAD, "functions.txt", 1);
	assert_non_null(strstr(text, "(total 40 ns)\n"));
	assert_non_null(strstr(text, "  75.0%         30 ns         30 ns         123 k  twin"));
	free(text);
	text = view_text(m, PMFS_PLACE_CONTEXT, "functions.txt", 2);
	assert_non_null(strstr(text, "(total 20 ns)\n"));
	assert_non_null(strstr(text, " 100.0%         20 ns         20 ns                twin"));
	assert_null(strstr(text, "main"));
	free(text);
	views_done(m, f);
	f = fake_with_long_names(1);
	m = pmfs_model_new(&f->profile);
	text = view_text(m, ROOT, "functions.txt", 0);
	assert_screen(text, 103, 100);
	assert_non_null(strstr(text, "  … 200 more: see functions.csv\n"));
	free(text);
	views_done(m, f);
}

static void test_a_thread_leads_to_its_place_in_the_report(void **state)
{
	struct fake *f = fake_with_long_names(3);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char link[200];
	const char *path;
	assert_int_equal(pmfs_thread_path(m, 2, &path, NULL), 0);
	char *text = view_text(m, PMFS_PLACE_THREAD, "report.html", 2);
	assert_non_null(strstr(text, path));
	strcpy(link, "url=");
	for (const char *at = path; at; at = strchr(at + 1, '/'))
		strcat(link, "../");
	strcat(link, "report.html#view=flame&amp;thread=2\"");
	assert_non_null(strstr(text, link));
	free(text);
	views_done(m, f);
}

/* CPU time leads; one of two functions of a name runs on the GPU alone, and a thread does nothing.
 */
static void test_summary_tells_about_gpus_and_empty_threads(void **state)
{
	struct fake *f = fake_new();
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "GKER (sec)", "sec");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "GKER (sec)", "sec");
	fake_metric(f, PM_ROLE_INCLUSIVE, 1, "CPUTIME (sec)", "sec");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 1, "CPUTIME (sec)", "sec");
	for (uint32_t t = 0; t < 3; t++)
		fake_thread(f, t, 0);
	fake_call(f, 1, 0, fake_function(f, "twin", "/src/a.cc", 7));
	fake_call(f, 2, 0, fake_function(f, "twin", "/src/b.cc", 9));
	fake_call(f, 3, 2, fake_function(f, "kernel", NULL, 0));
	fake_value(f, 0, 1, 3, 3);
	fake_value(f, 0, 1, 4, 3);
	fake_value(f, 1, 2, 3, 1);
	fake_value(f, 1, 2, 4, 0.5);
	fake_value(f, 1, 2, 1, 8);
	fake_value(f, 1, 3, 1, 8);
	fake_value(f, 1, 3, 2, 8);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "summary.txt", 0);
	assert_screen(text, 50, 100);
	assert_non_null(strstr(text, "3 threads, 1 of them empty"));
	assert_non_null(strstr(text, "\ntotal    4 s cputime_sec, the primary quantity"));
	assert_non_null(strstr(text, "\nalso     gker_sec 8 s\n"));
	assert_non_null(
		strstr(text, "unaccounted  cputime_sec: functions add up to 3.500 s of 4 s"));
	assert_non_null(strstr(text, "  75.0%           3 s  twin  a.cc:7\n"));
	assert_non_null(strstr(text, "  12.5%        500 ms  twin  b.cc:9\n"));
	assert_non_null(strstr(text, "GPU operations"));
	assert_non_null(strstr(
		text, "Kernels by gker_sec_excl (total 8 s)\n 100.0%           8 s  kernel\n"));
	free(text);
	views_done(m, f);
}

/* Of several runs in one directory, which threads/run=N keeps apart. */
static void test_the_time_between_runs_is_not_idle(void **state)
{
	static const char *const keys[] = {"run", "thread"};
	for (unsigned several = 0; several < 2; several++) {
		struct fake *f = fake_new();
		f->span.duration_ns = 11000;
		fake_metric(f, PM_ROLE_INCLUSIVE, 0, "CPUTIME (sec)", "sec");
		fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "CPUTIME (sec)", "sec");
		fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
		for (uint32_t t = 0; t < 2; t++) {
			fake_thread(f, t, 0);
			fake_value(f, t, 1, 1, 1e-6);
			fake_value(f, t, 1, 2, 1e-6);
			fake_sample(f, t, 1000 + 10000 * t, 1);
			fake_sample(f, t, 2000 + 10000 * t, 0);
		}
		if (several)
			f->threads.keys = keys;
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		char *text = view_text(m, ROOT, "summary.txt", 0);
		assert_int_equal(strstr(text, "\nrun      ") != NULL, !several);
		assert_int_equal(strstr(text, "\nbusy     ") != NULL, !several);
		assert_int_equal(strstr(text, " from the first to the last ") != NULL, several);
		free(text);
		views_done(m, f);
	}
}

/* A name that another function has, too, but no place; and none at all. */
static void test_names_without_a_place(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "", NULL, 0));
	fake_call(f, 2, 1, fake_function(f, "twin", "/src/a.cc", 7));
	const struct pm_frame nowhere = {
		.kind = PM_KIND_FUNCTION, .function = PM_NONE, .name = fake_text(f, "twin")};
	fake_context(f, 3, 1, &nowhere);
	fake_value(f, 0, 1, 1, 40);
	fake_value(f, 0, 2, 1, 10);
	fake_value(f, 0, 2, 2, 10);
	fake_value(f, 0, 3, 1, 30);
	fake_value(f, 0, 3, 2, 30);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "summary.txt", 0);
	if (!strstr(text, "  75.0%         30 ns  twin\n  25.0%         10 ns  twin  a.cc:7\n") ||
		!strstr(text, " 100.0%         40 ns  (unknown)\n"))
		fail_msg("%s", text);
	free(text);
	text = view_text(m, ROOT, "functions.txt", 0);
	assert_null(strstr(text, " \n"));
	free(text);
	views_done(m, f);
}

/* Samples do not say how often. */
static void test_recipes_ask_how_often_where_calls_are_counted(void **state)
{
	for (unsigned counted = 0; counted < 2; counted++) {
		struct fake *f = fake_with_time();
		if (counted)
			fake_metric(f, PM_ROLE_COUNT, 1, "calls", "");
		fake_thread(f, 0, 0);
		fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
		fake_value(f, 0, 1, 1, 40);
		fake_value(f, 0, 1, 2, 40);
		if (counted)
			fake_value(f, 0, 1, 3, 2);
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		char *text = view_text(m, ROOT, "recipes.txt", 0);
		assert_non_null(strstr(text,
			counted ? "this function, how often, and at what cost?"
				: "this function, and at what cost?"));
		free(text);
		views_done(m, f);
	}
}

/*
 * A thread as a window has it: of 100 ns, nothing runs in 60, and `<omp idle>`, which is of
 * category idle, too, is work of the processor.
 */
static struct fake *fake_partly_idle(struct pm_tree **ret_whole)
{
	static const double ns[] = {60, 30, 10};
	const double weight[] = {30, 10, 0};
	const bool kept[] = {true, true, false};
	struct fake *f = fake_new();
	struct pm_frame frame = {.kind = PM_KIND_PLACEHOLDER,
		.function = PM_NONE,
		.is_idle = true,
		.name = fake_text(f, "<omp idle>")};
	const struct pm_tree *tree;
	uint32_t *from;
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "time", "ns");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "time", "ns");
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_context(f, 2, 0, &frame);
	frame.is_nothing = true;
	frame.name = fake_text(f, "<no activity>");
	fake_context(f, 3, 0, &frame);
	for (uint32_t t = 0; t < 2; t++) {
		fake_thread(f, t, 0);
		for (uint32_t context = 0; context < 3; context++)
			for (uint32_t metric = 1; metric <= 2; metric++)
				fake_value(f, t, context, metric, ns[context]);
	}
	assert_int_equal(pm_profile_tree(&f->profile, &tree, NULL), 0);
	*ret_whole = f->tree;
	const struct pm_tree_extra nothing = {tree->frame[pm_tree_find(tree, 3)], 60};
	assert_int_equal(pm_tree_prune(tree, weight, kept, &nothing, &f->tree, &from, NULL), 0);
	f->parts.tree.it = f->tree;
	free(from);
	return f;
}

static void test_shares_are_of_the_time_in_which_something_runs(void **state)
{
	static const char functions[] = "Functions by time_ns_excl (total %s)\n"
					"  share           own     inclusive  function\n"
					"  75.0%%         %s         %s  main\n"
					"  25.0%%         %s         %s  <omp idle>\n";
	struct pm_tree *whole;
	struct fake *f = fake_partly_idle(&whole);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char expected[400];
	assert_view(m, ROOT, "categories.csv", 0,
		"contexts|time_ns_excl|time_ns_incl|share|category\n"
		"2|140|140|0.25|idle\n"
		"1|60|60|0.75|\n");
	assert_view(m, ROOT, "threads-by-category.csv", 0,
		"thread_id|rank|thread|time_ns_excl|time_ns_incl|share|category|path\n"
		"10|0|0|70|70|0.25|idle|threads/rank=0/thread=0\n"
		"10|0|0|30|30|0.75||threads/rank=0/thread=0\n"
		"11|1|0|70|70|0.25|idle|threads/rank=1/thread=0\n"
		"11|1|0|30|30|0.75||threads/rank=1/thread=0\n");
	char *text = view_text(m, ROOT, "functions.txt", 0);
	snprintf(
		expected, sizeof(expected), functions, "80 ns", "60 ns", "60 ns", "20 ns", "20 ns");
	assert_string_equal(text, expected);
	free(text);
	text = view_text(m, PMFS_PLACE_THREAD, "functions.txt", 1);
	snprintf(
		expected, sizeof(expected), functions, "40 ns", "30 ns", "30 ns", "10 ns", "10 ns");
	assert_string_equal(text, expected);
	free(text);
	text = view_text(m, ROOT, "summary.txt", 0);
	assert_non_null(strstr(text, "\nkinds    idle 25.0%, program 75.0%\n"));
	free(text);
	text = view_text(m, ROOT, "summary.json", 0);
	assert_non_null(
		strstr(text, "{\"share\":0.25,\"time_ns_excl\":140,\"category\":\"idle\"}"));
	assert_null(strstr(text, "<no activity>"));
	free(text);
	views_done(m, f);
	pm_tree_free(whole);
}

static void test_summary_has_the_slowest_lines_of_main_code(void **state)
{
	struct fake *f = fake_with_time();
	const struct pm_line lines[] = {{fake_text(f, "/src/main.pl"), 5, PM_NONE},
		{fake_text(f, "/src/main.pl"), 9, PM_NONE}};
	static const pm_number values[] = {NAN, 500, NAN, 1500};
	static struct pm_statements two = {.whole_ns = 2000, .outside_ns = 1500};
	fake_thread(f, 0, 0);
	f->lines = (struct pm_lines){2, lines, values};
	f->flat = (struct pm_flat){.lines = &f->lines, .statements = &two};
	f->parts.flat.it = &f->flat;
	fake_without_span(f);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "summary.txt", 0);
	assert_non_null(strstr(text, "0 functions   1 thread\n"));
	assert_non_null(strstr(text,
		"Slowest lines, share of 2 µs by statement, 1.500 µs (75.0%) "
		"outside of subs\n  75.0%      1.500 µs  /src/main.pl:9\n"));
	free(text);
	two.outside_ns = NAN;
	text = view_text(m, ROOT, "summary.txt", 0);
	assert_non_null(strstr(text, "by statement, the part outside of subs is not known\n"));
	free(text);
	views_done(m, f);
}

/* Shares of a difference are of what increases and decreases add up to, which is said. */
static void test_shares_of_differences_are_of_amounts(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "more", NULL, 0));
	fake_call(f, 2, 0, fake_function(f, "less", NULL, 0));
	for (uint32_t metric = 1; metric <= 2; metric++) {
		fake_metric_of(f, metric)->decreases = true;
		fake_value(f, 0, 1, metric, 60);
		fake_value(f, 0, 2, metric, -40);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "summary.txt", 0);
	assert_non_null(strstr(text, "\ntotal    20 ns time_ns, "));
	assert_non_null(strstr(text, "\nshares   of 100 ns: "));
	assert_non_null(strstr(text, "\n  60.0%"));
	assert_null(strstr(text, "unaccounted"));
	free(text);
	views_done(m, f);
}

static void test_summary_of_nothing_says_so(void **state)
{
	struct fake *f = fake_new();
	fake_without_threads(f);
	fake_without_span(f);
	assert_view_of(f, ROOT, "summary.txt", 0,
		"profile  fake.db\nsource   /data/fake.db\nformat   fake\nlayout   plain\n"
		"has      0 contexts   0 functions\n");
}

static void test_readme_tells_every_entry_and_recipes_use_no_hostile_name(void **state)
{
	static const struct pm_note notes[] = {{"traces.csv", "One row a trace."}, {NULL, NULL}};
	static const struct pm_named_doc raw[] = {{.path = "raw/a.csv"}};
	struct fake *f = fake_with_long_names(2);
	const struct pmfs_view *views;
	uint32_t n;
	f->profile.notes = notes;
	f->parts.documents.it = raw;
	f->parts.documents.n = 1;
	fake_call(f, 500, 0, fake_function(f, "it's", NULL, 0));
	fake_call(f, 501, 1, fake_function(f, "plain<a, b>()", NULL, 0));
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "README.txt", 0);
	assert_screen(text, 40, 110);
	views = pmfs_views(ROOT, &n);
	for (uint32_t i = 0; i < n; i++)
		assert_true((views[i].unlisted && !views[i].about) || strstr(text, views[i].name) ||
			(views[i].present && views[i].present(m, 0, NULL) == 0));
	assert_non_null(strstr(text, "\n  info.json metrics.csv   What the profile"));
	assert_non_null(strstr(text, "traces.csv"));
	assert_non_null(strstr(text, "raw/"));
	assert_null(strstr(text, "newline"));
	free(text);
	text = view_text(m, ROOT, "recipes.txt", 0);
	assert_non_null(strstr(text, "NR == 1 || $NF == \"plain<a, b>()\"' callers.tsv"));
	assert_null(strstr(text, "it's"));
	assert_null(strstr(text, "newline"));
	assert_non_null(strstr(text, "as rank, name, sum(time_ns_excl::double)"));
	free(text);
	views_done(m, f);
}

static void test_recipes_query_all_threads_whatever_their_keys(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, UINT64_MAX, 7);
	fake_thread(f, 0, 10);
	fake_thread(f, 1, 11);
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	for (uint32_t thread = 1; thread < 3; thread++) {
		fake_value(f, thread, 1, 1, 5);
		fake_value(f, thread, 1, 2, 5);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "recipes.txt", 0);
	assert_non_null(strstr(text,
		"regexp_extract(filename, '/rank=([0-9]+)', 1) as rank, name, "
		"sum(time_ns_excl::double) as cost from read_csv('threads/**/functions.csv', "));
	free(text);
	views_done(m, f);
}

static void test_recipes_ask_about_idle_time_where_there_is_some(void **state)
{
	static const char *const gpus[] = {"gpucontext", "gpustream"};
	for (unsigned idle = 0; idle < 2; idle++) {
		struct fake *f = fake_with_time();
		f->span.duration_ns = 1000;
		f->threads.keys = gpus;
		fake_thread(f, 1, 7);
		fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
		fake_value(f, 0, 1, 1, 5);
		fake_sample(f, 0, 100, 1);
		fake_sample(f, 0, 300, idle ? 0 : 1);
		fake_sample(f, 0, 700, 1);
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		char *text = view_text(m, ROOT, "recipes.txt", 0);
		assert_int_equal(idle,
			strstr(text,
				"$6 == \"idle\" { s += $2 } END { printf \"%.6f s, %.2f%%\\n\", "
				"s / 1e9, 100 * s / 1000 }' "
				"threads/gpucontext=1/gpustream=7/trace.csv\n") != NULL);
		assert_non_null(strstr(text, "each GPU stream busy"));
		assert_non_null(strstr(text, "-name trace.csv ! -path '*/raw/*' | "));
		free(text);
		pmfs_model_free(m);
		fake_free(f);
	}
}

/* At most five samples at a time; none of the first thread. */
static int64_t few_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	const struct fake_thread *t = &((const struct fake *)p->self)->threads_data[thread];
	size_t n = 0;
	if (thread == 0)
		return pm_error_set(err, -EINVAL, "trace.db", 0, "is damaged");
	for (; n < room && n < 5 && first + n < t->n_samples; n++)
		ret[n] = t->samples[first + n];
	return (int64_t)n;
}

static void test_recipes_find_idle_time_in_what_can_be_read(void **state)
{
	struct fake *f = fake_with_time();
	f->span.duration_ns = 1000;
	fake_thread(f, 0, 0);
	fake_thread(f, 1, 0);
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_value(f, 0, 1, 1, 5);
	fake_sample(f, 0, 100, 1);
	for (uint64_t i = 0; i < 20; i++)
		fake_sample(f, 1, 100 + i, i == 12 ? 0 : 1);
	f->ops.samples = few_samples;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "recipes.txt", 0);
	assert_non_null(strstr(text, "How long was this thread idle"));
	assert_non_null(strstr(text, "threads/rank=1/thread=0/trace.csv\n"));
	free(text);
	views_done(m, f);
}

/* Names that awk would read otherwise, and costs that are not there, are not asked about. */
static void test_recipes_ask_about_what_has_an_answer(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_thread(f, 1, 0);
	fake_call(f, 1, 0, fake_function(f, "a\\b", NULL, 0));
	fake_call(f, 2, 0, fake_function(f, "say \"x\"", NULL, 0));
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "recipes.txt", 0);
	assert_null(strstr(text, "$ awk"));
	assert_null(strstr(text, "duckdb"));
	assert_null(strstr(text, "imbalance.csv |"));
	assert_null(strstr(text, "hotpath.txt\n"));
	free(text);
	views_done(m, f);
}

static void test_readme_stands_without_contexts(void **state)
{
	struct fake *f = fake_with_time();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	f->tree_error = -ENOTSUP;
	char *text = view_text(m, ROOT, "README.txt", 0);
	assert_non_null(strstr(text, "\nEntries\n"));
	assert_non_null(strstr(text, "\n  X.parquet X.tsv "));
	free(text);
	text = view_text(m, ROOT, "recipes.txt", 0);
	assert_non_null(strstr(text, "  none: broken on purpose\n"));
	free(text);
	pmfs_model_free(m);
	f->tree_error = -EIO;
	m = pmfs_model_new(&f->profile);
	assert_view(m, ROOT, "recipes.txt", 0, "!-5");
	views_done(m, f);
}

/* Of statements alone, lines are what there is to look at. */
static void test_readme_begins_with_what_is_there(void **state)
{
	struct fake *f = fake_new();
	f->profile.kind_of_tree = "edges";
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "README.txt", 0);
	assert_non_null(strstr(text, "\n$ cat summary.txt\n$ head lines.csv\n"));
	assert_null(strstr(text, "$ cat hotpath.txt"));
	free(text);
	views_done(m, f);
	f = fake_new();
	m = pmfs_model_new(&f->profile);
	text = view_text(m, ROOT, "README.txt", 0);
	assert_non_null(strstr(text, "\n$ cat summary.txt\n"));
	assert_null(strstr(text, "$ head"));
	assert_null(strstr(text, "$ cat hotpath.txt"));
	free(text);
	views_done(m, f);
	f = fake_new();
	f->profile.kind_of_tree = "edges";
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	m = pmfs_model_new(&f->profile);
	text = view_text(m, ROOT, "README.txt", 0);
	assert_non_null(strstr(text, "\n$ cat hotpath.txt\n"));
	free(text);
	views_done(m, f);
}

/* A window has calls that begin in it; that others touch it is not a number of the same name. */
static void test_calls_of_a_window_are_those_that_begin(void **state)
{
	static const struct pm_window part;
	for (int window = 0; window < 2; window++) {
		struct fake *f = fake_with_time();
		fake_thread(f, 0, 0);
		fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
		fake_sample(f, 0, 5, 1);
		f->span.duration_ns = 100;
		f->profile.traces_are_calls = true;
		f->profile.window = window ? &part : NULL;
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		char *text = view_text(m, ROOT, "summary.txt", 0);
		assert_non_null(strstr(text, "run      100 ns"));
		assert_int_equal(strstr(text, "1 call\n") != NULL, !window);
		free(text);
		views_done(m, f);
	}
}

static void test_recipes_of_nothing_have_one_command(void **state)
{
	struct fake *f = fake_new();
	fake_without_threads(f);
	f->profile.has_lines = false;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, "recipes.txt", 0);
	const char *first = strstr(text, "\n$ ");
	assert_non_null(first);
	assert_null(strstr(first + 1, "\n$ "));
	free(text);
	text = view_text(m, ROOT, "README.txt", 0);
	assert_null(strstr(text, "lines.csv"));
	assert_null(strstr(text, "imbalance.csv"));
	free(text);
	views_done(m, f);
}

static void test_info_counts_and_has_the_formats_facts(void **state)
{
	static const struct pm_damage damage[] = {{16, PM_NO_OFFSET, "a.db", "is\nnot there"}};
	struct pm_fact facts[] = {
		{"pid", {.kind = PM_CELL_U64, .u = UINT64_MAX}},
		{"skew", {.kind = PM_CELL_I64, .i = -5}},
		{"host", {.kind = PM_CELL_EMPTY}},
		{"command", {.kind = PM_CELL_TEXT, .text = pm_bytes_of("a \"b\"\n")}},
	};
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_sample(f, 0, 5, 1);
	f->span.origin_ns = 5;
	f->span.duration_ns = PM_NO_TIME;
	f->parts.facts.it = facts;
	f->parts.facts.n = 4;
	f->damages = (struct pm_damages){1, damage};
	f->profile.title = pm_bytes_of("T");
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, ROOT, "info.json", 0,
		"{\n"
		"  \"source\": \"/data/fake.db\",\n"
		"  \"format\": \"fake\",\n"
		"  \"layout\": \"plain\",\n"
		"  \"title\": \"T\",\n"
		"  \"contexts\": 1,\n"
		"  \"threads\": 1,\n"
		"  \"metrics\": 2,\n"
		"  \"functions\": 1,\n"
		"  \"samples\": 1,\n"
		"  \"time_origin_ns\": 5,\n"
		"  \"duration_ns\": null,\n"
		"  \"damaged\": true,\n"
		"  \"contexts_are\": \"samples\",\n"
		"  \"primary_metric\": \"time_ns\",\n"
		"  \"pid\": 18446744073709551615,\n"
		"  \"skew\": -5,\n"
		"  \"host\": null,\n"
		"  \"command\": \"a \\\"b\\\"\\n\"\n"
		"}\n");
	assert_view(m, ROOT, "damage.csv", 0, "offset|bytes|file|what\n16||a.db|is\nnot there\n");
	views_done(m, f);
}

static void test_cut_keeps_whole_characters(void **state)
{
	static const struct {
		const char *text, *want;
		unsigned width;
	} cases[] = {{"abc", "abc", 3}, {"abcd", "ab…", 3}, {"äöüß", "äö…", 3}, {"", "", 3},
		{"abcdefgh", "abcd…h", 6}, {"äbcdefgü", "äbcd…ü", 6}, {"a\nb", "a b", 3},
		{"abc", "…", 1}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pm_text t = {.p = NULL};
		pm_text_str(&t, "|");
		pmfs_add_cut(&t, pm_bytes_of(cases[i].text), cases[i].width);
		pm_text_char(&t, '\0');
		assert_string_equal(t.p + 1, cases[i].want);
		pm_text_done(&t);
	}
}

static void test_amounts_have_fitting_units(void **state)
{
	static const struct {
		double value;
		const char *export, *want;
		double scale;
	} cases[] = {
		{12.3456, "t_ns", "       12.35 s", 1e9},
		{0.0021, "t_ns", "      2.100 ms", 1e9},
		{0, "t_ns", "           0 s", 1},
		{999, "t_ns", "        999 ns", 1},
		{-2e6, "t_ns", "         -2 ms", 1},
		{1234567, "cycles", "        1.23 M", 1},
		{0.25, "ratio", "          0.25", 1},
		{NAN, "cycles", "              ", 1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pmfs_column column = {
			.export = cases[i].export, .export_scale = cases[i].scale};
		struct pm_text t = {.p = NULL};
		pmfs_add_amount(&t, &column, cases[i].value);
		pm_text_char(&t, '\0');
		assert_string_equal(t.p, cases[i].want);
		pm_text_done(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amounts_fit_their_columns),
		cmocka_unit_test(test_summary_fits_a_screen),
		cmocka_unit_test(test_a_hot_path_says_what_it_leaves_out),
		cmocka_unit_test(test_functions_fit_a_table),
		cmocka_unit_test(test_a_thread_leads_to_its_place_in_the_report),
		cmocka_unit_test(test_summary_tells_about_gpus_and_empty_threads),
		cmocka_unit_test(test_the_time_between_runs_is_not_idle),
		cmocka_unit_test(test_names_without_a_place),
		cmocka_unit_test(test_recipes_ask_how_often_where_calls_are_counted),
		cmocka_unit_test(test_shares_are_of_the_time_in_which_something_runs),
		cmocka_unit_test(test_summary_has_the_slowest_lines_of_main_code),
		cmocka_unit_test(test_shares_of_differences_are_of_amounts),
		cmocka_unit_test(test_summary_of_nothing_says_so),
		cmocka_unit_test(test_readme_tells_every_entry_and_recipes_use_no_hostile_name),
		cmocka_unit_test(test_recipes_query_all_threads_whatever_their_keys),
		cmocka_unit_test(test_recipes_ask_about_idle_time_where_there_is_some),
		cmocka_unit_test(test_recipes_find_idle_time_in_what_can_be_read),
		cmocka_unit_test(test_recipes_ask_about_what_has_an_answer),
		cmocka_unit_test(test_readme_stands_without_contexts),
		cmocka_unit_test(test_readme_begins_with_what_is_there),
		cmocka_unit_test(test_calls_of_a_window_are_those_that_begin),
		cmocka_unit_test(test_recipes_of_nothing_have_one_command),
		cmocka_unit_test(test_info_counts_and_has_the_formats_facts),
		cmocka_unit_test(test_cut_keeps_whole_characters),
		cmocka_unit_test(test_amounts_have_fitting_units),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
