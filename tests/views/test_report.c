/* The data of report.html: its names, and that each is a script with the numbers of the tables. */
#include "harness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/common/text.h"
#include "fs/views/model/catalog.h"
#include "fs/views/report/report.h"
#include "fs/views/sums/functions.h"

static bool finds(const char *name, struct pmfs_report_key *key)
{
	return pmfs_report_find(pm_bytes_of(name), key);
}

static void test_names_have_one_spelling(void **state)
{
	static const char *const good[] = {"start.js", "functions-0-0.js", "function-4294967295.js",
		"hot-7.js", "path-7.js", "sources.js", "categories.js", "children-0-1048575.js",
		"flame-7-4095.js", "time-1-16383-63.js", "threads-12.js"};
	static const char *const bad[] = {"", ".js", "start", "start.js ", "start-0.js",
		"functions.js", "functions-.js", "functions-00-0.js", "functions-+1-0.js",
		"functions- 1-0.js", "functions--1-0.js", "functions-0.js",
		"function-4294967296.js", "children-0.js", "children-0-1048576.js",
		"children-0-1-2.js", "flame-0-4096.js", "time-1-16384-0.js", "time-1-0-64.js",
		"nothing-0.js", "functions-0-0.jsx", "functions-0-0.js/"};
	struct pmfs_report_key key, other;
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(finds(good[i], &key));
		assert_true(pmfs_report_has(key));
		assert_true(key.b < 1U << 24);
		for (unsigned k = 0; k < i; k++) {
			assert_true(finds(good[k], &other));
			assert_false(key.a == other.a && key.b == other.b);
		}
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(finds(bad[i], &key));
	assert_false(pmfs_report_find((struct pm_bytes){(const uint8_t *)"start\0.js", 9}, &key));
}

/* The data of a document, NUL-terminated, for free(): what is between the brackets of pm.take. */
static char *data_of(struct pmfs_model *m, const char *name)
{
	struct pmfs_report_key key;
	struct pm_text out = {.p = NULL};
	char file[64], before[64];
	snprintf(file, sizeof(file), "%s.js", name);
	assert_true(finds(file, &key));
	struct pm_doc doc = pmfs_report_document(m, key);
	assert_int_equal(doc.text.render(&doc, &out, NULL), 0);
	int len = snprintf(before, sizeof(before), "pm.take(\"%s\",", name);
	assert_true(out.len > (size_t)len + 3);
	assert_memory_equal(out.p, before, (size_t)len);
	assert_memory_equal(out.p + out.len - 3, ");\n", 3);
	out.len -= 3;
	pm_text_char(&out, '\0');
	char *data = strdup(out.p + len);
	assert_non_null(data);
	pm_text_done(&out);
	return data;
}

static void assert_data(struct pmfs_model *m, const char *name, const char *want)
{
	char *data = data_of(m, name);
	assert_string_equal(data, want);
	free(data);
}

static void assert_has(struct pmfs_model *m, const char *name, const char *part)
{
	char *data = data_of(m, name);
	if (!strstr(data, part))
		fail_msg("%s: there is no %s in %s", name, part, data);
	free(data);
}

/* A context of the function with its inclusive and own time, on thread 0. */
static void add_call(struct fake *f, uint32_t number, uint32_t parent, const char *name,
	double incl, double excl)
{
	fake_call(f, number, parent, fake_function(f, name, "m.c", 10 * number));
	fake_value(f, 0, number, 1, incl);
	fake_value(f, 0, number, 2, excl);
}

/* main, which takes 1 of 10 itself, calls f and one with a hostile name. */
static struct fake *small(void)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_thread(f, 0, 1);
	add_call(f, 1, 0, "main", 10, 1);
	add_call(f, 2, 1, "f", 4, 4);
	add_call(f, 3, 1, "</script><!--", 5, 5);
	fake_sample(f, 0, 0, 2);
	fake_sample(f, 0, 500, 3);
	fake_sample(f, 0, 1000, 0);
	return f;
}

static void test_data_has_the_numbers_of_the_tables(void **state)
{
	struct fake *f = small();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_has(m, "start", "\"whole\":10");
	assert_has(m, "start", "\"places\":true,\"categories\":false,\"kinds_differ\":false");
	assert_has(m, "categories", "[[\"\",3,[10,10]]]");
	assert_has(m, "hot-1", "[[0,10,\"main\",\"m.c\",10,");
	assert_has(m, "functions-0-0", "\"f\",\"/bin/app\",\"m.c\",20,");
	assert_has(m, "functions-0-0", "[4,4],");
	assert_has(m, "functions-0-2", "[[2,\"main\",");
	assert_data(m, "functions-0-9", "null");
	assert_data(m, "functions-1-0", "[]");
	assert_has(m, "function-2", "\"callees\":[[0,");
	assert_has(m, "function-2", "\"names\":{\"0\":\"");
	assert_has(m, "function-2", "\"times\":null}");
	assert_has(m, "function-2", "\"context\":0,");
	assert_has(m, "path-1", "[[0,1,\"main\",\"function\",");
	assert_data(m, "path-3", "null");
	assert_has(m, "children-0-0", "[0,1,\"main\",\"function\",");
	assert_has(m, "children-1-0", "\"more\":false");
	assert_has(m, "flame-0-0", "\"whole\":10");
	assert_data(m, "costs-0-1", "[10,null]");
	assert_data(m, "costs-2-0", "[5,null]");
	assert_data(m, "functioncosts-2-1", "[10,null]");
	assert_data(m, "functioncosts-3-1", "null");
	assert_has(m, "threads-0", "threads/rank=0/thread=1");
	assert_has(m, "time-1-0-63", "\"end\":1000");
	views_done(m, f);
}

static int broken(void *self, struct pm_error *err)
{
	(void)self;
	return pm_error_set(err, -EIO, "trace.db", 0, "broken");
}

/* What cannot be read fails the document, in the middle of which it is found out. */
static void test_a_broken_source_is_an_error(void **state)
{
	struct pmfs_report_key key;
	assert_true(finds("start.js", &key));
	for (unsigned i = 0; i < 3; i++) {
		struct fake *f = small();
		struct pm_text out = {.p = NULL};
		struct pm_error err = {.offset = PM_NO_OFFSET};
		if (i == 0)
			f->parts.span.build = broken;
		else if (i == 1)
			f->parts.series.build = broken;
		else
			f->parts.documents.build = broken;
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		struct pm_doc doc = pmfs_report_document(m, key);
		assert_int_equal(doc.text.render(&doc, &out, &err), -EIO);
		assert_string_equal(err.text, "broken");
		pm_text_done(&out);
		views_done(m, f);
	}
}

/*
 * main (20) calls a (12) and b (7); both call f, and a's f calls itself: the outer calls of f cost
 * 10 and 5, of which g takes 3 and 1.
 */
static void test_a_function_between_callers_and_callees(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	add_call(f, 1, 0, "main", 20, 1);
	add_call(f, 2, 1, "a", 12, 2);
	add_call(f, 3, 2, "f", 10, 3);
	add_call(f, 4, 3, "f", 4, 4);
	add_call(f, 5, 3, "g", 3, 3);
	add_call(f, 6, 1, "b", 7, 2);
	add_call(f, 7, 6, "f", 5, 4);
	add_call(f, 8, 7, "g", 1, 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pmfs_functions *functions;
	assert_int_equal(pmfs_functions(m, &functions, NULL), 0);
	char name[32];
	for (uint32_t row = 0; row < functions->n; row++)
		if (pm_bytes_equal(pmfs_function_name(functions, row), pm_bytes_of("f")))
			snprintf(name, sizeof(name), "sandwich-%u-0", row);
	assert_has(m, name, "{\"whole\":20,\"callers\":{\"whole\":15,");
	/* node, depth, name, total, own, is it cut: f 15, a 10 of main 10, b 5 of main 5 */
	assert_has(m, name,
		"\"boxes\":[0,0,0,15,0,0,1,1,1,10,0,0,3,2,2,10,10,0,2,1,3,5,0,0,4,2,2,5,5,0]");
	assert_has(m, name, "\"callees\":{\"whole\":15,");
	assert_has(m, name, "\"boxes\":[0,0,0,15,7,0,1,1,0,4,4,0,2,1,1,4,4,0]");
	assert_data(m, "sandwich-99-0", "null");
	assert_data(m, "sandwich-0-99", "null");
	views_done(m, f);
}

/* Calls within calls that all cost the same: none is narrower than the others. */
static void test_a_chain_of_calls_is_shown_from_its_top(void **state)
{
	enum { DEPTH = 6000 };
	struct fake *f = fake_with_time();
	struct pmfs_model *m;
	char name[16], last[32];
	fake_thread(f, 0, 0);
	for (uint32_t i = 1; i <= DEPTH; i++) {
		fake_call(f, i, i - 1, fake_function(f, "f", "m.c", i));
		fake_value(f, 0, i, 1, 10);
	}
	fake_value(f, 0, DEPTH, 2, 10);
	m = pmfs_model_new(&f->profile);
	assert_has(m, "flame-0-1", "\"boxes\":[0,0,0,10,0,0,1,1,1,10,0,0,2,2,1,10,0,0");
	snprintf(last, sizeof(last), "%u,%u,1,10,0,1],", PMFS_REPORT_LEVELS - 1,
		PMFS_REPORT_LEVELS - 1);
	assert_has(m, "flame-0-1", last);
	snprintf(name, sizeof(name), "flame-%u-1", DEPTH);
	assert_has(m, name, "\"boxes\":[6000,0,0,10,10,0]");
	views_done(m, f);
}

/*
 * main calls a and b; both call f, and a's f calls itself. Own costs of f: 3 and 4 below a, 4 below
 * b. Each level is the sum of the one below it.
 */
static void test_bottom_up_levels_add_up(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	add_call(f, 1, 0, "main", 20, 1);
	add_call(f, 2, 1, "a", 12, 2);
	add_call(f, 6, 1, "b", 7, 2);
	static const struct {
		uint32_t number, parent;
		double incl, excl;
	} calls[] = {{3, 2, 10, 3}, {4, 3, 4, 4}, {7, 6, 5, 4}};
	uint32_t function = fake_function(f, "f", "m.c", 70);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		fake_call(f, calls[i].number, calls[i].parent, function);
		fake_value(f, 0, calls[i].number, 1, calls[i].incl);
		fake_value(f, 0, calls[i].number, 2, calls[i].excl);
	}
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pmfs_functions *functions;
	const struct pm_tree *tree;
	char name[32], want[64];
	uint32_t row[2] = {0, 0};
	assert_int_equal(pmfs_functions(m, &functions, NULL), 0);
	assert_int_equal(pmfs_model_tree(m, &tree, NULL), 0);
	for (uint32_t i = 0; i < functions->n; i++)
		for (unsigned k = 0; k < 2; k++)
			if (pm_bytes_equal(
				    pmfs_function_name(functions, i), pm_bytes_of(k ? "b" : "f")))
				row[k] = i;
	snprintf(name, sizeof(name), "up-%u-0", pm_tree_find(tree, 3));
	assert_has(m, name, "{\"n\":3,\"rows\":[");
	snprintf(want, sizeof(want), "[%u,%u,[4,null]]", row[0], pm_tree_find(tree, 4));
	assert_has(m, name, want);
	snprintf(want, sizeof(want), "[%u,%u,[4,null]]", row[1], pm_tree_find(tree, 7));
	assert_has(m, name, want);
	snprintf(name, sizeof(name), "up-%u-1", pm_tree_find(tree, 4)); /* f called by f */
	assert_has(m, name, "{\"n\":1,\"rows\":[");
	assert_has(m, name, "[4,null]]");
	views_done(m, f);
}

/* Two calls, of which each is in one half of the time: neither is seen in the other one's tile. */
static void test_calls_are_in_the_tiles_of_their_time(void **state)
{
	static const struct pm_sample calls[] = {
		{.time_ns = 0, .duration_ns = 400, .context = 2},
		{.time_ns = 1600, .duration_ns = 400, .context = 3},
	};
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	add_call(f, 1, 0, "main", 10, 1);
	add_call(f, 2, 1, "f", 4, 4);
	add_call(f, 3, 1, "g", 5, 5);
	f->profile.traces_are_calls = true;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		fake_sample(f, 0, calls[i].time_ns, calls[i].context);
	memcpy(f->threads_data[0].samples, calls, sizeof(calls));
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_has(m, "time-2-0-63", "\"rows\":[[0,0,400,-1,600]]");
	assert_has(m, "time-3-0-63", "\"rows\":[[0,-1,600,0,400]]");
	assert_has(m, "time-6-0-63", "\"rows\":[[0,-1,1000]]");
	assert_has(m, "stack-3-0", "\"cells\":[-1,600,-1,-1,0,400,");
	views_done(m, f);
}

static void test_no_text_ends_the_script(void **state)
{
	static const char *const names[] = {"start", "functions-0-0", "function-0", "function-2",
		"children-1-0", "flame-0-0", "threadflame-0-0", "time-1-0-63", "stack-1-0", "hot-1",
		"path-2"};
	struct fake *f = small();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_has(m, "functions-0-0", "\\u003c/script>\\u003c!--");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *data = data_of(m, names[i]);
		assert_null(strchr(data, '<'));
		free(data);
	}
	views_done(m, f);
}

static void test_numbers_beyond_the_profile_are_null(void **state)
{
	static const char *const names[] = {"function-3", "function-4294967295", "children-4-0",
		"children-4294967295-1", "flame-0-2", "flame-4-0", "threadflame-2-0", "costs-0-2",
		"costs-4-0", "threadfunctions-2-0", "source-99", "sites-99", "table-0-0", "plot-0",
		"time-0-0-0", "stack-0-0", "stack-1-9", "up-4-0", "up-1-2", "hot-2",
		"functioncosts-9-0"};
	struct fake *f = small();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_data(m, names[i], "null");
	assert_has(m, "time-4294967295-0-0", "\"rows\":[");
	assert_has(m, "time-1-16383-0", "\"rows\":[]");
	views_done(m, f);
}

static int fail_title(const struct pm_profile *p, struct pm_bytes *ret, struct pm_error *err)
{
	(void)p;
	(void)ret;
	return pm_error_set(err, -EIO, "f", PM_NO_OFFSET, "cannot be read");
}

/* A page that is named after the file instead would be another page. */
static void test_a_title_that_cannot_be_read_fails_the_page(void **state)
{
	struct fake *f = small();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pm_doc doc = {.kind = PM_DOC_TEXT, .text = {.self = m}};
	struct pmfs_report_key key;
	struct pm_text out = {.p = NULL};
	assert_int_equal(pmfs_report_page_render(&doc, &out, NULL), 0);
	f->ops.title = fail_title;
	assert_int_equal(pmfs_report_page_render(&doc, &out, NULL), -EIO);
	assert_true(finds("start.js", &key));
	doc = pmfs_report_document(m, key);
	assert_int_equal(doc.text.render(&doc, &out, NULL), -EIO);
	pm_text_done(&out);
	views_done(m, f);
}

/* It is read again for each directory that one opens, over networks, too. */
static void test_the_page_is_small(void **state)
{
	struct fake *f = small();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pm_doc doc = {.kind = PM_DOC_TEXT, .text = {.self = m}};
	struct pm_text out = {.p = NULL};
	assert_int_equal(pmfs_report_page_render(&doc, &out, NULL), 0);
	assert_in_range(out.len, 1, 200000);
	pm_text_done(&out);
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_have_one_spelling),
		cmocka_unit_test(test_data_has_the_numbers_of_the_tables),
		cmocka_unit_test(test_a_broken_source_is_an_error),
		cmocka_unit_test(test_a_function_between_callers_and_callees),
		cmocka_unit_test(test_a_chain_of_calls_is_shown_from_its_top),
		cmocka_unit_test(test_bottom_up_levels_add_up),
		cmocka_unit_test(test_calls_are_in_the_tiles_of_their_time),
		cmocka_unit_test(test_no_text_ends_the_script),
		cmocka_unit_test(test_numbers_beyond_the_profile_are_null),
		cmocka_unit_test(test_the_page_is_small),
		cmocka_unit_test(test_a_title_that_cannot_be_read_fails_the_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
