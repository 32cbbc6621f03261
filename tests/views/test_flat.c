/* Flat tables: functions, lines, call edges; recursion; native costs; annotated source. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fs/views/texts/source.h"

#define ROOT     PMFS_PLACE_ROOT
#define FUNCTION PMFS_PLACE_FUNCTION

static void cost(struct fake *f, uint32_t number, double inclusive, double exclusive)
{
	fake_value(f, 0, number, 1, inclusive);
	fake_value(f, 0, number, 2, exclusive);
}

/*
 * main (1) ┬ line 10 (8) ─ a (2) ─ b (3) ─ a (4) ─ a (5) ─ line 10 (9)
 *          └ b (6)
 */
static struct fake *fake_with_recursion(void)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	uint32_t main_ = fake_function(f, "main", "/src/a.c", 1);
	uint32_t a = fake_function(f, "a", "/src/a.c", 3);
	uint32_t b = fake_function(f, "b", "/src/b.c", 7);
	fake_call(f, 1, 0, main_);
	fake_line(f, 8, 1, "/src/a.c", 10);
	fake_call(f, 2, 8, a);
	fake_call(f, 3, 2, b);
	fake_call(f, 4, 3, a);
	fake_call(f, 5, 4, a);
	fake_line(f, 9, 5, "/src/a.c", 10);
	fake_call(f, 6, 1, b);
	cost(f, 1, 90, 10);
	cost(f, 8, 50, 0);
	cost(f, 2, 50, 10);
	cost(f, 3, 40, 15);
	cost(f, 4, 25, 10);
	cost(f, 5, 15, 15);
	cost(f, 9, 15, 15);
	cost(f, 6, 30, 30);
	return f;
}

static void test_functions_count_recursion_once(void **state)
{
	struct fake *f = fake_with_recursion();
	assert_view_of(f, ROOT, "functions.csv", 0,
		"function_id|contexts|time_ns_excl|time_ns_incl|line|category|module|file|name\n"
		"1|2|45|70|7||/bin/app|/src/b.c|b\n"
		"2|3|35|50|3||/bin/app|/src/a.c|a\n"
		"3|1|10|90|1||/bin/app|/src/a.c|main\n");
}

static void test_functions_keep_the_ids_of_the_database(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	struct pm_function own = {.name = fake_text(f, "own"), .id = 0};
	pm_tree_function(f->builder, &own);
	fake_context(f, 1, 0,
		&(struct pm_frame){.kind = PM_KIND_FUNCTION, .function = 0, .name = own.name});
	assert_view_of(f, ROOT, "functions.csv", 0,
		"function_id|contexts|time_ns_excl|time_ns_incl|line|category|module|file|name\n"
		"0|1|||||||own\n");
}

static void test_functions_without_contexts_or_values(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_function(f, "unused", NULL, 0);
	uint32_t none = fake_function(f, "no value", NULL, 0);
	uint32_t zero = fake_function(f, "zero", NULL, 0);
	uint32_t nan = fake_function(f, "nan", NULL, 0);
	fake_call(f, 1, 0, none);
	fake_call(f, 2, 0, zero);
	fake_call(f, 3, 0, nan);
	fake_value(f, 0, 2, 2, 0);
	fake_value(f, 0, 3, 2, NAN);
	assert_view_of(f, ROOT, "functions.csv", 0,
		"function_id|contexts|time_ns_excl|time_ns_incl|line|category|module|file|name\n"
		"1|1|0||||/bin/app||zero\n"
		"2|1|||||/bin/app||no value\n"
		"3|1|||||/bin/app||nan\n");
}

static void test_lines_add_up_by_file_and_line(void **state)
{
	struct fake *f = fake_with_recursion();
	assert_view_of(f, ROOT, "lines.csv", 0,
		"line|time_ns_excl|time_ns_incl|module|file|name\n"
		"|45|70|/bin/app|/src/b.c|b\n"
		"|20|50|/bin/app|/src/a.c|a\n"
		"10|15|50|/bin/app|/src/a.c|a\n"
		"|10|10|/bin/app|/src/a.c|main\n");
}

/* Inclusive cost counts once in a module and in a file, too: main and a share both. */
static void test_modules_and_files_add_functions_up(void **state)
{
	struct fake *f = fake_with_recursion();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, ROOT, "modules.csv", 0,
		"functions|time_ns_excl|time_ns_incl|module\n"
		"3|90|90|/bin/app\n");
	assert_view(m, ROOT, "files.csv", 0,
		"functions|time_ns_excl|time_ns_incl|file\n"
		"1|45|70|/src/b.c\n"
		"2|45|90|/src/a.c\n");
	views_done(m, f);
}

/*
 * Contexts have no statements: lines have them, 8 of line 9 of b.c in no function, and are sorted
 * by them.
 */
static void test_statements_are_those_of_lines(void **state)
{
	static const pm_number functions[3][3] = {{45, 90, 1}, {NAN, 80, 2}, {45, 70, 4}};
	static const pm_number values[4][3] = {
		{NAN, NAN, 1}, {NAN, NAN, 2}, {NAN, NAN, 4}, {NAN, NAN, 8}};
	static const struct pm_statements statements = {.metric = 2, .whole_ns = 15};
	struct fake *f = fake_with_recursion();
	fake_metric(f, PM_ROLE_COUNT, 1, "statements", "");
	uint32_t a = f->functions[0].file, b = f->functions[2].file;
	const struct pm_line lines[] = {{a, 1, 0}, {a, 2, 1}, {b, 3, 2}, {b, 9, PM_NONE}};
	f->lines = (struct pm_lines){4, lines, &values[0][0]};
	f->flat = (struct pm_flat){
		.functions = &functions[0][0], .lines = &f->lines, .statements = &statements};
	f->parts.flat.it = &f->flat;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, ROOT, "lines.csv", 0,
		"line|time_ns_excl|time_ns_incl|statements|module|file|name\n"
		"9|||8||/src/b.c|\n"
		"3|||4|/bin/app|/src/b.c|b\n"
		"2|||2|/bin/app|/src/a.c|a\n"
		"1|||1|/bin/app|/src/a.c|main\n");
	assert_view(m, ROOT, "modules.csv", 0,
		"functions|time_ns_excl|time_ns_incl|statements|module\n"
		"3|90|90|7|/bin/app\n"
		"0|||8|\n");
	assert_view(m, ROOT, "files.csv", 0,
		"functions|time_ns_excl|time_ns_incl|statements|file\n"
		"2|45|90|3|/src/a.c\n"
		"1|45|70|12|/src/b.c\n");
	assert_view(m, ROOT, "categories.csv", 0,
		"contexts|time_ns_excl|time_ns_incl|statements|share|category\n"
		"8|90|90|15|1|\n");
	views_done(m, f);
}

/* The file b.c stands for 5 texts that are not told apart. */
static void test_rows_say_how_many_texts_they_join(void **state)
{
	static const pm_number values[2][2] = {{NAN, 1}, {NAN, 2}};
	struct fake *f = fake_with_recursion();
	uint32_t a = f->functions[0].file, b = f->functions[2].file;
	const struct pm_line lines[] = {{a, 1, 0}, {b, 3, 2}};
	const struct pm_eval joined[] = {{.file = a, .line = 1, .text = b, .texts = 5, .n = 9}};
	const struct pm_evals evals = {1, joined, 1, joined};
	f->lines = (struct pm_lines){2, lines, &values[0][0]};
	f->flat = (struct pm_flat){.lines = &f->lines, .evals = &evals};
	f->parts.flat.it = &f->flat;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, ROOT, "functions.csv", 0,
		"function_id|contexts|time_ns_excl|time_ns_incl|texts|line|category|module|file|name\n"
		"1|2|45|70|5|7||/bin/app|/src/b.c|b\n"
		"2|3|35|50||3||/bin/app|/src/a.c|a\n"
		"3|1|10|90||1||/bin/app|/src/a.c|main\n");
	assert_view(m, ROOT, "lines.csv", 0,
		"line|time_ns_excl|time_ns_incl|texts|module|file|name\n"
		"3|2||5|/bin/app|/src/b.c|b\n"
		"1|1|||/bin/app|/src/a.c|main\n");
	assert_view(m, ROOT, "files.csv", 0,
		"functions|time_ns_excl|time_ns_incl|texts|file\n"
		"1|45|70|5|/src/b.c\n"
		"2|45|90||/src/a.c\n");
	views_done(m, f);
}

static void assert_module(const char *end, const char *name, const char *module)
{
	char want[200];
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, name, NULL, 0));
	cost(f, 1, 1, 1);
	f->profile.module_end = end;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	snprintf(want, sizeof(want), "functions|time_ns_excl|time_ns_incl|module\n1|1|1|%s\n",
		module);
	assert_view(m, ROOT, "modules.csv", 0, want);
	views_done(m, f);
}

static void test_packages_and_classes_are_read_from_names(void **state)
{
	assert_module("::", "Mail::Conf::parse", "Mail::Conf");
	assert_module("::", "main::__ANON__[/a b/x::y.pl:12]", "main");
	assert_module("::", "CORE:sort", "");
	assert_module(".", "void org.app.Valve.invoke(a.B, int)", "org.app.Valve");
	assert_module(".", "java.lang.String[] org.app.Valve.names()", "org.app.Valve");
	assert_module(".", "#70", "");
}

/* Below the call of a (2): b's cost is there once, a's outermost instance is the root. */
static void test_subtrees_have_a_flat_profile(void **state)
{
	struct fake *f = fake_with_recursion();
	const struct pm_tree *tree;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pm_profile_tree(&f->profile, &tree, &err), 0);
	assert_view(m, PMFS_PLACE_CONTEXT, "functions.csv", pm_tree_find(tree, 2),
		"function_id|contexts|time_ns_excl|time_ns_incl|line|category|module|file|name\n"
		"2|3|35|50|3||/bin/app|/src/a.c|a\n"
		"1|1|15|40|7||/bin/app|/src/b.c|b\n");
	assert_view(m, PMFS_PLACE_CONTEXT, "functions.csv", pm_tree_find(tree, 9),
		"function_id|contexts|time_ns_excl|time_ns_incl|line|category|module|file|name\n"
		"2|1|15|15|3||/bin/app|/src/a.c|a\n");
	views_done(m, f);
}

static void test_lines_are_named_after_the_function_that_costs_most_there(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "little", "/src/a.c", 1));
	fake_line(f, 2, 1, "/src/a.h", 5);
	fake_call(f, 3, 0, fake_function(f, "much", "/src/a.c", 9));
	fake_line(f, 4, 3, "/src/a.h", 5);
	fake_call(f, 5, 4, fake_function(f, "stripped", "libc", 0));
	fake_line(f, 6, 5, "libc", 0);
	fake_call(f, 7, 6, fake_function(f, "silent", "libc", 0));
	fake_line(f, 8, 7, "libc", 0);
	cost(f, 1, 10, 10);
	cost(f, 2, 10, 10);
	cost(f, 3, 90, 20.3);
	cost(f, 4, 90, 20.3);
	cost(f, 5, 69.7, 0.7);
	cost(f, 6, 69.7, 0.7);
	cost(f, 7, 69, 69);
	cost(f, 8, 69, 69);
	assert_view_of(f, ROOT, "lines.csv", 0,
		"line|time_ns_excl|time_ns_incl|module|file|name\n"
		"|69|69|/bin/app|libc|silent\n"
		"5|30.3|100|/bin/app|/src/a.h|much\n"
		"|0.7|69.7|/bin/app|libc|stripped\n");
}

static void test_callers_have_a_row_for_each_edge_and_place(void **state)
{
	struct fake *f = fake_with_recursion();
	assert_view_of(f, ROOT, "callers.csv", 0,
		"caller_id|callee_id|calls|time_ns_excl|time_ns_incl|line|file|caller|callee\n"
		"|3||10|90||||main\n"
		"3|2||10|50|10|/src/a.c|main|a\n"
		"2|1||15|40|||a|b\n"
		"3|1||30|30|||main|b\n"
		"1|2||10|0|||b|a\n"
		"2|2||15|0|||a|a\n");
}

static void test_edge_inside_itself_counts_once(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	uint32_t a = fake_function(f, "a", NULL, 0);
	for (uint32_t i = 1; i <= 4; i++) {
		fake_call(f, i, i - 1, a);
		cost(f, i, 50 - i, 1);
	}
	assert_view_of(f, ROOT, "callers.csv", 0,
		"caller_id|callee_id|calls|time_ns_excl|time_ns_incl|line|file|caller|callee\n"
		"|1||1|49||||a\n"
		"1|1||3|0|||a|a\n");
}

static void test_calls_column_fills_the_calls_of_callers(void **state)
{
	struct fake *f = fake_new();
	fake_metric(f, PM_ROLE_COUNT, 0, "calls", "");
	fake_metric(f, PM_ROLE_COUNT, 1, "errors", "");
	fake_thread(f, 0, 0);
	uint32_t main_ = fake_function(f, "main", NULL, 0), a = fake_function(f, "a", NULL, 0);
	uint32_t b = fake_function(f, "b", NULL, 0);
	fake_call(f, 1, 0, main_);
	fake_call(f, 2, 1, a);
	fake_call(f, 3, 2, a);
	fake_call(f, 4, 3, a);
	fake_call(f, 5, 1, b);
	fake_value(f, 0, 2, 1, 3);
	fake_value(f, 0, 2, 2, 1);
	fake_value(f, 0, 3, 1, 4);
	fake_value(f, 0, 4, 1, 5);
	fake_value(f, 0, 5, 1, 0x1p64); /* no number of calls */
	assert_view_of(f, ROOT, "callers.csv", 0,
		"caller_id|callee_id|calls|errors|line|file|caller|callee\n"
		"3|1|||||main|b\n"
		"2|2|9||||a|a\n"
		"3|2|3|1|||main|a\n"
		"|3||||||main\n");
}

static void test_function_directory_tells_about_one_function(void **state)
{
	struct fake *f = fake_with_recursion();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, FUNCTION, "info.txt", 1,
		"function_id: 2\nname: a\nfile: /src/a.c\nline: 3\nmodule: /bin/app\ncontexts: 3\n"
		"recursion_depth: 2\nrecursive_time_ns_incl: 40\n");
	assert_view(m, FUNCTION, "metrics.csv", 1,
		"metric_id|value|scope|name\n2|35|function|time\n1|50|execution|time\n");
	assert_view(m, FUNCTION, "callers.csv", 1,
		"caller_id|callee_id|calls|time_ns_excl|time_ns_incl|line|file|caller|callee\n"
		"3|2||10|50|10|/src/a.c|main|a\n"
		"1|2||10|0|||b|a\n"
		"2|2||15|0|||a|a\n");
	assert_view(m, FUNCTION, "callees.csv", 1,
		"caller_id|callee_id|calls|time_ns_excl|time_ns_incl|line|file|caller|callee\n"
		"2|1||15|40|||a|b\n"
		"2|2||15|0|||a|a\n");
	assert_view(m, FUNCTION, "contexts.csv", 1,
		"context_id|parent_id|depth|time_ns_excl|time_ns_incl|line|offset|kind|category|module|file|name\n"
		"2|8|2|10|50|3||function||/bin/app|/src/a.c|a\n"
		"4|3|4|10|25|3||function||/bin/app|/src/a.c|a\n"
		"5|4|5|15|15|3||function||/bin/app|/src/a.c|a\n");
	assert_false(view_named(FUNCTION, "source.txt")->present(m, 1, NULL));
	views_done(m, f);
}

static void test_native_costs_replace_sums_over_contexts(void **state)
{
	static const pm_number functions[] = {1, 2, 30, 40, 5, NAN};
	static const struct pm_edge edges[] = {
		{.caller = 0, .callee = 1, .file = 0, .line = 0, .calls = 7},
		{.caller = PM_NONE, .callee = 0, .calls = 0},
	};
	static const pm_number edge_values[] = {3, NAN, 90, 10};
	static const struct pm_line lines[] = {{0, 5, 1}, {0, 6, PM_NONE}};
	static const pm_number line_values[] = {NAN, 1, NAN, 2};
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_function(f, "a", NULL, 0);
	fake_function(f, "b", NULL, 0);
	cost(f, 1, 1000, 1000);
	f->edges = (struct pm_edges){2, edges, edge_values};
	f->lines = (struct pm_lines){2, lines, line_values};
	f->flat = (struct pm_flat){&f->edges, &f->lines, functions, NULL};
	f->parts.flat.it = &f->flat;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, ROOT, "functions.csv", 0,
		"function_id|contexts|time_ns_excl|time_ns_incl|line|category|module|file|name\n"
		"1|0|40|30|||/bin/app||a\n"
		"2|1|2|1|||/bin/app||main\n"
		"3|0||5|||/bin/app||b\n");
	assert_view(m, ROOT, "callers.csv", 0,
		"caller_id|callee_id|calls|time_ns_excl|time_ns_incl|line|file|caller|callee\n"
		"|2|0|10|90||||main\n"
		"2|1|7||3|||main|a\n");
	assert_view(m, ROOT, "lines.csv", 0,
		"line|time_ns_excl|time_ns_incl|module|file|name\n"
		"6|2||||\n"
		"5|1||/bin/app||a\n");
	views_done(m, f);
}

static void test_source_stands_with_the_cost_of_its_lines(void **state)
{
	static const char text[] = "one\x1b[m\u202e\ntwo\r\n\tthree\xff";
	struct fake *f = fake_with_recursion();
	struct pm_source source = {.path = "src/a.c",
		.file = pm_bytes_of("/src/a.c"),
		.doc = {.kind = PM_DOC_BYTES, .bytes = pm_bytes_of(text)}};
	struct pm_error err = {.code = 0};
	struct pm_text t = {.p = NULL};
	struct pm_doc doc;
	fake_line(f, 20, 6, "/src/a.c", 2);
	fake_value(f, 0, 20, 2, 1e6);
	f->parts.sources.it = &source;
	f->parts.sources.n = 1;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pmfs_source_annotated(m, &source, &doc, &err), 0);
	assert_int_equal(doc.text.render(&doc, &t, &err), 0);
	pm_text_char(&t, '\0');
	assert_string_equal(t.p,
		"   time_ns_excl    time_ns_incl    callees_incl    line  source\n"
		"                                                      1  one\ufffd[m\ufffd\n"
		"        1000000                                       2  two\n"
		"                                                      3  \tthree\xef\xbf\xbd\n"
		"             15              50              50      10  \n"
		"                                                         #          50 ns in calls of "
		"a\n");
	pm_text_done(&t);
	/* main is at line 1, a at 3; b is of another file. */
	assert_view(m, FUNCTION, "source.txt", 2,
		"   time_ns_excl    line  source\n"
		"                      1  one\ufffd[m\ufffd\n"
		"        1000000       2  two\n");
	assert_true(view_named(FUNCTION, "source.txt")->present(m, 1, NULL));
	assert_false(view_named(FUNCTION, "source.txt")->present(m, 0, NULL));
	views_done(m, f);
}

static void test_source_says_whom_its_lines_call(void **state)
{
	enum { CALLEES = 10, METRICS = 2 };
	struct fake *f = fake_with_time();
	struct pm_source source = {.path = "a.pl",
		.file = pm_bytes_of("a.pl"),
		.doc = {.kind = PM_DOC_BYTES, .bytes = pm_bytes_of("one\ntwo\nthree\n")}};
	struct pm_edge edges[CALLEES + 2];
	pm_number values[(CALLEES + 2) * METRICS];
	static char names[CALLEES][8];
	struct pm_error err = {.code = 0};
	struct pm_text t = {.p = NULL};
	struct pm_doc doc;
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", "a.pl", 1));
	cost(f, 1, 1000, 1000);
	uint32_t file = fake_text(f, "a.pl");
	for (uint32_t i = 0; i <= CALLEES; i++) {
		if (i < CALLEES) {
			snprintf(names[i], sizeof(names[i]), "f%u", i);
			fake_function(f, names[i], NULL, 0);
		}
		/* f0 is called from the second line, all of them from the third. */
		edges[i] = (struct pm_edge){0, i < CALLEES ? i + 1 : 1, file, i < CALLEES ? 3 : 2,
			i < CALLEES ? i + 1 : 7};
		values[i * METRICS] = i < CALLEES ? 1e6 * (i + 1) : 4e9;
		values[i * METRICS + 1] = NAN;
	}
	/* The first line calls f1 from within f1. */
	edges[CALLEES + 1] = (struct pm_edge){2, 2, file, 1, 3};
	values[(CALLEES + 1) * METRICS] = 0;
	values[(CALLEES + 1) * METRICS + 1] = 5;
	f->edges = (struct pm_edges){CALLEES + 2, edges, values};
	f->flat.edges = &f->edges;
	f->parts.flat.it = &f->flat;
	f->parts.sources.it = &source;
	f->parts.sources.n = 1;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pmfs_source_annotated(m, &source, &doc, &err), 0);
	assert_int_equal(doc.text.render(&doc, &t, &err), 0);
	pm_text_char(&t, '\0');
	assert_non_null(strstr(t.p, "     4000000000       2  two\n"));
	assert_non_null(strstr(t.p, "#            4 s in 7 calls of f0\n"));
	assert_non_null(strstr(t.p, "       55000000       3  three\n"));
	assert_non_null(strstr(
		t.p, "three\n                         #          10 ms in 10 calls of f9\n"));
	assert_non_null(strstr(t.p, "# … and of 2 more: see callers.csv\n"));
	assert_null(strstr(t.p, "1 call of f0"));
	assert_non_null(strstr(t.p, "# 3 calls of f1, all within another call of it\n"));
	pm_text_done(&t);
	views_done(m, f);
}

static void test_hotpath_follows_the_heaviest_while_it_holds_half(void **state)
{
	struct fake *f = fake_with_recursion();
	assert_view_of(f, ROOT, "hotpath.txt", 0,
		"100.0%\t90\tmain\t/src/a.c:1\n"
		"55.6%\t50\ta.c:10\t/src/a.c:10\n"
		"55.6%\t50\ta\t/src/a.c:3\n"
		"44.4%\t40\tb\t/src/b.c:7\n"
		"27.8%\t25\ta\t/src/a.c:3\n"
		"16.7%\t15\ta\t/src/a.c:3\n"
		"16.7%\t15\ta.c:10\t/src/a.c:10\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_count_recursion_once),
		cmocka_unit_test(test_functions_keep_the_ids_of_the_database),
		cmocka_unit_test(test_functions_without_contexts_or_values),
		cmocka_unit_test(test_lines_add_up_by_file_and_line),
		cmocka_unit_test(test_modules_and_files_add_functions_up),
		cmocka_unit_test(test_statements_are_those_of_lines),
		cmocka_unit_test(test_rows_say_how_many_texts_they_join),
		cmocka_unit_test(test_packages_and_classes_are_read_from_names),
		cmocka_unit_test(test_subtrees_have_a_flat_profile),
		cmocka_unit_test(test_lines_are_named_after_the_function_that_costs_most_there),
		cmocka_unit_test(test_callers_have_a_row_for_each_edge_and_place),
		cmocka_unit_test(test_edge_inside_itself_counts_once),
		cmocka_unit_test(test_calls_column_fills_the_calls_of_callers),
		cmocka_unit_test(test_function_directory_tells_about_one_function),
		cmocka_unit_test(test_native_costs_replace_sums_over_contexts),
		cmocka_unit_test(test_source_stands_with_the_cost_of_its_lines),
		cmocka_unit_test(test_source_says_whom_its_lines_call),
		cmocka_unit_test(test_hotpath_follows_the_heaviest_while_it_holds_half),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
