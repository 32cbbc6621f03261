/* contexts.csv and the documents of one context. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fs/views/model/views.h"

/*
 * main (7) calls loop at a.c:3 (9), which holds line a.c:4 (12) with a call to f (15); f is heavier
 * than the instruction (20) beside it. An unknown kind (30) stands at the top.
 */
static struct fake *fake_of_every_kind(void)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_thread(f, 1, 0);
	uint32_t main_ = fake_function(f, "main", "/src/a.c", 1);
	uint32_t f_ = fake_function(f, "f", NULL, 0);
	fake_call(f, 7, 0, main_);
	fake_context(f, 9, 7,
		&(struct pm_frame){.kind = PM_KIND_LOOP,
			.function = PM_NONE,
			.file = fake_text(f, "/src/a.c"),
			.line = 3});
	fake_line(f, 12, 9, "/src/a.c", 4);
	fake_context(f, 20, 9,
		&(struct pm_frame){.kind = PM_KIND_INSTRUCTION,
			.function = PM_NONE,
			.module = fake_text(f, "/bin/app"),
			.has_offset = true,
			.offset = 0xbeef});
	fake_call(f, 15, 12, f_);
	fake_context(f, 30, 0,
		&(struct pm_frame){.kind = PM_KIND_OTHER, .code = 77, .function = PM_NONE});
	return f;
}

static void test_contexts_are_listed_with_costs_of_the_whole_run(void **state)
{
	struct fake *f = fake_of_every_kind();
	fake_value(f, 0, 7, 1, 100);
	fake_value(f, 0, 9, 1, 100);
	fake_value(f, 0, 12, 1, 70);
	fake_value(f, 0, 15, 1, 70);
	fake_value(f, 0, 15, 2, 70);
	fake_value(f, 1, 15, 2, 0.5);
	fake_value(f, 0, 20, 2, NAN);
	fake_value(f, 0, 30, 2, 0);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, PMFS_PLACE_ROOT, "contexts.csv", 0,
		"context_id|parent_id|depth|time_ns_excl|time_ns_incl|line|offset|kind|category|module|file|name\n"
		"7||0||100|1||function||/bin/app|/src/a.c|main\n"
		"9|7|1||100|3||loop|||/src/a.c|loop@a.c:3\n"
		"12|9|2||70|4||line|||/src/a.c|a.c:4\n"
		"15|12|3|70.5|70|||function||/bin/app||f\n"
		"20|9|2||||0xbeef|instruction||/bin/app||app+0xbeef\n"
		"30||0|0||||77||||\n");
	assert_dense(m, PMFS_PLACE_ROOT, "contexts.csv", 0);
	views_done(m, f);
}

static void test_contexts_without_numbers_count_from_one(void **state)
{
	struct fake *f = fake_new();
	fake_call(f, 0, 0, fake_function(f, "main", NULL, 0));
	assert_view_of(f, PMFS_PLACE_ROOT, "contexts.csv", 0,
		"context_id|parent_id|depth|line|offset|kind|category|module|file|name\n"
		"1||0|||function||/bin/app||main\n");
}

static void test_context_tells_who_it_is(void **state)
{
	struct fake *f = fake_of_every_kind();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pm_tree *tree;
	assert_int_equal(pmfs_model_tree(m, &tree, NULL), 0);
	assert_view(m, PMFS_PLACE_CONTEXT, "info.txt", pm_tree_find(tree, 9),
		"context_id: 9\nkind: loop\nname: loop@a.c:3\nfile: /src/a.c\nline: 3\n"
		"called from: main at /src/a.c:1\npath depth: 1\n");
	assert_view(m, PMFS_PLACE_CONTEXT, "info.txt", pm_tree_find(tree, 30),
		"context_id: 30\nkind: 77\nname: \npath depth: 0\n");
	assert_view(m, PMFS_PLACE_CONTEXT, "path.txt", pm_tree_find(tree, 15),
		"main\t/src/a.c:1\nloop@a.c:3\t/src/a.c:3\na.c:4\t/src/a.c:4\nf\t\n");
	views_done(m, f);
}

static void test_hostile_name_stays_on_its_line(void **state)
{
	struct fake *f = fake_new();
	fake_call(f, 1, 0, fake_function(f, "a\nkind: b\t\x01\xff", "x\ny", 2));
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *info = view_text(m, PMFS_PLACE_CONTEXT, "info.txt", 0);
	char *path = view_text(m, PMFS_PLACE_CONTEXT, "path.txt", 0);
	assert_non_null(strstr(info, "\nname: a kind: b "));
	assert_non_null(strstr(info, "\nfile: x y\nline: 2\n"));
	assert_int_equal(strchr(path, '\n') - path + 1, strlen(path));
	free(info);
	free(path);
	views_done(m, f);
}

/* The line is nested in the loop, whose own cost holds the line's. */
static void test_children_and_the_context_itself_add_up(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	uint32_t main_ = fake_function(f, "main", NULL, 0), f_ = fake_function(f, "f", NULL, 0);
	fake_call(f, 7, 0, main_);
	fake_context(f, 9, 7,
		&(struct pm_frame){.kind = PM_KIND_LINE,
			.nested = true,
			.function = PM_NONE,
			.file = fake_text(f, "/src/a.c"),
			.line = 4});
	fake_call(f, 15, 7, f_);
	fake_value(f, 0, 7, 1, 100);
	fake_value(f, 0, 7, 2, 50);
	fake_value(f, 0, 9, 1, 30);
	fake_value(f, 0, 9, 2, 30);
	fake_value(f, 0, 15, 1, 50);
	fake_value(f, 0, 15, 2, 50);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pm_tree *tree;
	assert_int_equal(pmfs_model_tree(m, &tree, NULL), 0);
	assert_view(m, PMFS_PLACE_CONTEXT, "children.csv", pm_tree_find(tree, 7),
		"context_id|time_ns_excl|time_ns_incl|share|kind|entry\n"
		"15|50|50|0.5|function|f\n"
		"9|30|30|0.3|line|a.c:4\n"
		"7|20|20|0.2|function|(self)\n");
	assert_view(m, PMFS_PLACE_CONTEXT, "children.csv", pm_tree_find(tree, 15),
		"context_id|time_ns_excl|time_ns_incl|share|kind|entry\n"
		"15|50|50|0.5|function|(self)\n");
	views_done(m, f);
}

static void test_context_has_its_values_by_metric_thread_and_as_stored(void **state)
{
	struct fake *f = fake_of_every_kind();
	fake_metric(f, PM_ROLE_OTHER, 0, "time", "ns");
	fake_value(f, 0, 7, 1, 4);
	fake_value(f, 0, 7, 3, 8);
	fake_value(f, 1, 7, 3, 1);
	f->threads_data[0].values[0].whole = true;
	f->threads_data[0].values[0].u = (UINT64_C(1) << 53) + 1;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pm_tree *tree;
	assert_int_equal(pmfs_model_tree(m, &tree, NULL), 0);
	uint32_t context = pm_tree_find(tree, 7);
	assert_view(m, PMFS_PLACE_CONTEXT, "metrics.csv", context,
		"metric_id|value|scope|name\n"
		"1|9007199254740993|execution|time\n"
		"3|9|function|time\n");
	assert_view(m, PMFS_PLACE_CONTEXT, "values.csv", context,
		"metric_id|thread_id|value\n"
		"3|11|1\n1|10|9007199254740993\n3|10|8\n");
	assert_view(m, PMFS_PLACE_CONTEXT, "threads.csv", context,
		"thread_id|time_ns_excl|time_ns_incl|path\n"
		"10||9007199254740993|threads/rank=0/thread=0\n"
		"11|||threads/rank=1/thread=0\n");
	assert_view(m, PMFS_PLACE_CONTEXT, "threads.csv", pm_tree_find(tree, 9),
		"thread_id|time_ns_excl|time_ns_incl|path\n");
	assert_dense(m, PMFS_PLACE_CONTEXT, "threads.csv", context);
	views_done(m, f);
}

static void test_threads_beyond_one_block_are_all_listed(void **state)
{
	enum { MANY = 9000 };
	struct fake *f = fake_with_time();
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	for (uint32_t i = 0; i < MANY; i++) {
		fake_thread(f, i, 0);
		fake_value(f, i, 1, 1, i);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, PMFS_PLACE_CONTEXT, "threads.csv", 0), want[64];
	const char *line = strchr(text, '\n') + 1;
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(want, sizeof(want), "%u||%u|threads/rank=%u/thread=0\n", i + 10, i, i);
		assert_memory_equal(line, want, strlen(want));
		line = strchr(line, '\n') + 1;
	}
	assert_int_equal(*line, '\0');
	free(text);
	views_done(m, f);
}

static void test_number_file_holds_the_cell_of_contexts_csv(void **state)
{
	struct fake *f = fake_of_every_kind();
	struct pm_error err = {.code = 0};
	struct pm_text t = {.p = NULL};
	struct pm_doc doc;
	fake_value(f, 0, 7, 1, 0.1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pm_tree *tree;
	assert_int_equal(pmfs_model_tree(m, &tree, NULL), 0);
	assert_int_equal(pmfs_value_document(m, pm_tree_find(tree, 7), 1, &doc), 0);
	assert_int_equal(doc.text.render(&doc, &t, &err), 0);
	assert_true(pm_bytes_equal(pm_text_view(&t), pm_bytes_of("0.1\n")));
	pm_text_done(&t);
	views_done(m, f);
}

static void test_empty_tree_gives_headers_alone(void **state)
{
	struct fake *f = fake_with_time();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, PMFS_PLACE_ROOT, "contexts.csv", 0,
		"context_id|parent_id|depth|time_ns_excl|time_ns_incl|line|offset|kind|category|module|file|name\n");
	assert_view(m, PMFS_PLACE_ROOT, "functions.csv", 0,
		"function_id|contexts|time_ns_excl|time_ns_incl|line|category|module|file|name\n");
	assert_view(m, PMFS_PLACE_ROOT, "lines.csv", 0,
		"line|time_ns_excl|time_ns_incl|module|file|name\n");
	assert_view(m, PMFS_PLACE_ROOT, "callers.csv", 0,
		"caller_id|callee_id|calls|time_ns_excl|time_ns_incl|line|file|caller|callee\n");
	assert_view(m, PMFS_PLACE_ROOT, "hotpath.txt", 0, "");
	views_done(m, f);
}

static void test_broken_tree_is_an_error_of_each_document(void **state)
{
	static const char *const names[] = {"contexts.csv", "functions.csv", "lines.csv",
		"callers.csv", "imbalance.csv", "hotpath.txt", "summary.txt", "functions.txt",
		"recipes.txt", "info.json"};
	struct fake *f = fake_with_time();
	f->tree_error = -EIO;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_view(m, PMFS_PLACE_ROOT, names[i], 0, "!-5");
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contexts_are_listed_with_costs_of_the_whole_run),
		cmocka_unit_test(test_contexts_without_numbers_count_from_one),
		cmocka_unit_test(test_context_tells_who_it_is),
		cmocka_unit_test(test_hostile_name_stays_on_its_line),
		cmocka_unit_test(test_children_and_the_context_itself_add_up),
		cmocka_unit_test(test_context_has_its_values_by_metric_thread_and_as_stored),
		cmocka_unit_test(test_threads_beyond_one_block_are_all_listed),
		cmocka_unit_test(test_number_file_holds_the_cell_of_contexts_csv),
		cmocka_unit_test(test_empty_tree_gives_headers_alone),
		cmocka_unit_test(test_broken_tree_is_an_error_of_each_document),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
