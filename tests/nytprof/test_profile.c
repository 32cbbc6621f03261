/* Profiles of Devel::NYTProf through the format interface: what is presented, what is damage. */
#include "tests/unittest.h"

#include <math.h>
#include <stdio.h>

#include "formats/nytprof/nytprof.h"
#include "tests/nytprof/expect.h"

/* ---- a whole profile ---- */

static struct pm_profile *open_rich(unsigned major, bool deflated, bool big)
{
	struct nytpw w = {.big = big};
	nytpw_rich(&w, major, deflated);
	return nytpx_open_written(&w);
}

static const char rich_tree[] = "0 main::top 30000 10000 1\n"
				"1 main::deep 20000 14000 2\n"
				"2 M::leaf 6000 6000 2\n"
				"0 main::CORE:print 400 400 1\n";

static void test_tree_of_calls_is_exact_in_every_dress(void **state)
{
	static const char *const layouts[] = {"nytprof-5", "nytprof-5", "nytprof-4", "nytprof-5"};
	for (int i = 0; i < 4; i++) {
		struct pm_profile *p = open_rich(i == 2 ? 4 : 5, i == 1, i == 3);
		assert_string_equal(p->layout, layouts[i]);
		assert_string_equal(pm_profile_kind_of_tree(p), "calls");
		nytpx_expect_tree(p, rich_tree);
		assert_int_equal(nytpx_count_damage(p, ""), 0);
		pm_profile_close(p);
	}
}

static void test_raw_tables_are_as_stored(void **state)
{
	struct pm_profile *p = open_rich(5, false, false);
	nytpx_expect_table(p, "raw/processes.csv", "100|99|1795248846.5|1795248848.5\n");
	nytpx_expect_table(p, "raw/files.csv",
		"2|50|0|0|1|3|(eval 1)[/dir/main.pl:3]\n"
		"1|50|0|0|0|0|/dir/main.pl\n"
		"3|50|0|0|0|0|lib/M.pm\n");
	nytpx_expect_table(p, "raw/lines.csv",
		"1|3|1|84|/dir/main.pl\n"
		"1|10|1|50|/dir/main.pl\n"
		"2|1|1|-5|(eval 1)[/dir/main.pl:3]\n"
		"3|5|2|40|lib/M.pm\n");
	nytpx_expect_table(p, "raw/blocks.csv", "1|2|1|70|/dir/main.pl\n");
	nytpx_expect_table(p, "raw/subblocks.csv", "1|2|1|70|/dir/main.pl\n");
	nytpx_expect_table(p, "raw/callers.csv",
		"1|10|1|0.00003|0.00001|0|0|main::RUNTIME|main::top\n"
		"1|2|2|0.00002|0.000014|0|0|main::top|main::deep\n"
		"1|3|2|6e-6|6e-6|1e-6|1|"
		"main::__ANON__[(eval 1)[/dir/main.pl:3]:1],main::deep|M::leaf\n"
		"1|10|1|4e-7|4e-7|0|0|main::RUNTIME|main::CORE:print\n");
	nytpx_expect_table(p, "raw/subs.csv",
		"0|0|0|0|0|1|1|1|/dir/main.pl|main::RUNTIME\n"
		"1|0.00001|0.00003|0|0|1|2|2|/dir/main.pl|main::top\n"
		"2|0.000014|0.00002|0|0|1|3|4|/dir/main.pl|main::deep\n"
		"2|6e-6|6e-6|1e-6|1|2|1|1|(eval 1)[/dir/main.pl:3]|M::leaf\n"
		"0|0|0|0|0|3|8|9|lib/M.pm|M::unused\n"
		"1|4e-7|4e-7|0|0|1|0|0|/dir/main.pl|main::CORE:print\n");
	nytpx_expect_table(p, "raw/source.csv",
		"1|1|use M;\n1|2|sub top { deep(); deep() }\n1|2|sub top { deep() for 1..2 }\n2|1|1\n");
	pm_profile_close(p);
}

static void test_attributes_keep_their_first_place_and_last_value(void **state)
{
	struct nytpw w = {.big = false};
	pm_text_str(&w.out, "NYTProf 5 0\n:a=1\n!a=2\n:no sign\n:b==x=\n:a=3\n");
	struct pm_profile *p = nytpx_open_written(&w);
	nytpx_expect_table(p, "raw/attributes.csv", "attribute|a|3\noption|a|2\nattribute|b|=x=\n");
	pm_profile_close(p);
}

static void test_edges_and_lines_are_native(void **state)
{
	struct pm_profile *p = open_rich(5, true, false);
	const struct pm_flat *flat;
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_int_equal(flat->edges->n, 5);
	const struct pm_lines *lines = flat->lines;
	assert_int_equal(lines->n, 4);
	for (size_t i = 0; i < lines->n; i++) {
		const struct pm_line *line = &lines->lines[i];
		const char *function = line->function == PM_NONE
			? ""
			: (const char *)tree->texts[tree->functions[line->function].name].p;
		/* M::leaf is the eval's since its fid is lower; file level is RUNTIME's. */
		const char *want = line->line == 3 ? "main::deep"
			: line->line == 10         ? "main::RUNTIME"
			: line->line == 1          ? "M::leaf"
						   : "";
		assert_memory_equal(function, want, strlen(want));
	}
	pm_profile_close(p);
}

/* Of 169 ticks of 100 ns, 84 + 50 are of the script's own code, and 35 of M::leaf and M::unused. */
static void test_statements_tell_what_is_outside_of_subs(void **state)
{
	struct pm_profile *p = open_rich(5, false, false);
	struct pm_value values[4];
	const struct pm_flat *flat;
	struct pm_error err = {0};
	assert_int_equal(pm_profile_flat(p, &flat, &err), 0);
	const struct pm_statements s = *flat->statements;
	assert_true(s.whole_ns == 16900);
	assert_int_equal(p->ops->values(p, (struct pm_values_of){PM_OF_THREAD, 0, false}, 0, values,
				 2, &err),
		2);
	assert_int_equal(values[0].metric, 3);
	assert_int_equal(values[1].metric, 4);
	assert_true(values[1].context == 0 && values[1].f == s.whole_ns);
	const struct pm_lines *lines = flat->lines;
	const struct pm_tree *tree;
	double outside = 0;
	assert_int_equal(pm_profile_tree(p, &tree, &err), 0);
	for (uint64_t i = 0; i < lines->n; i++) {
		uint32_t function = lines->lines[i].function;
		struct pm_bytes name = function == PM_NONE
			? pm_bytes_of("")
			: tree->texts[tree->functions[function].name];
		if (name.len == 0 || pm_bytes_equal(name, pm_bytes_of("main::RUNTIME")))
			outside += lines->values[i * 5 + NYTP_STATEMENTS_NS];
	}
	assert_true(outside > 0 && s.outside_ns == outside);
	pm_profile_close(p);
}

static void test_source_has_the_last_text_of_a_line_and_evals_under_their_parent(void **state)
{
	struct pm_profile *p = open_rich(5, false, false);
	const struct pm_source *sources;
	struct pm_text text = {.p = NULL};
	size_t n;
	assert_int_equal(pm_profile_sources(p, &sources, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(sources[0].path, "dir/main.pl");
	assert_string_equal(sources[1].path, "dir/main.pl.evals/(eval) line 3");
	assert_int_equal(sources[0].doc.text.render(&sources[0].doc, &text, NULL), 0);
	pm_text_char(&text, 0);
	assert_string_equal(text.p, "use M;\nsub top { deep() for 1..2 }\n");
	pm_text_done(&text);
	pm_profile_close(p);
}

static void test_source_paths_are_legal_and_unique(void **state)
{
	static const char *const names[] = {
		"../x", "a", "a/b", "a", "/a", "", "a.annotated.txt", "-e", "(eval 9)[/gone.pl:1]"};
	static const char *const want[] = {"_../x", "a", "a~/b", "a~2", "a~3", "(unknown)",
		"a.annotated.txt~2", "_-e", "(eval)[\u2215gone.pl:1]"};
	struct nytpw w = {.big = false};
	const struct pm_source *sources;
	char text[8];
	size_t n;
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 1, 0, 1.7e9);
	for (uint32_t i = 0; i < 9; i++) {
		nytpw_fid(&w, i + 1, 0, 0, names[i]);
		snprintf(text, sizeof(text), "%u", i);
		nytpw_source(&w, i + 1, 1, text);
	}
	nytpw_fid(&w, 10, 0, 0, "a"); /* the same text as the first one: shown once */
	nytpw_source(&w, 10, 1, "1");
	struct pm_profile *p = nytpx_open_written(&w);
	assert_int_equal(pm_profile_sources(p, &sources, &n, NULL), 0);
	assert_int_equal(n, 9);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(sources[i].path, want[i]);
	pm_profile_close(p);
}

/* A call has the bytes of a Latin-1 package before those of a UTF-8 name; the sub is in UTF-8. */
static void test_names_may_mix_encodings(void **state)
{
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 1, 0, 1.7e9);
	nytpw_fid(&w, 1, 0, 0, "x.pl");
	nytpw_return(&w, 1, 10, 10, "\xc9\xe4::\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e");
	nytpw_return(&w, 1, 5, 5, "\xc9::\xc3\xa9::__ANON__[lib/\xe6\x97\xa5::x.pl:1]");
	nytpw_sub(&w, 1, "\u00c9\u00e4::\u65e5\u672c\u8a9e", 2, 2);
	struct pm_profile *p = nytpx_open_written(&w);
	nytpx_expect_table(
		p, "raw/subs.csv", "0|0|0|0|0|1|2|2|x.pl|\u00c9\u00e4::\u65e5\u672c\u8a9e\n");
	nytpx_expect_tree(p,
		"0 \u00c9\u00e4::\u65e5\u672c\u8a9e 1000 1000 1\n"
		"0 \u00c9::\u00c3\u00a9::__ANON__[lib/\u65e5::x.pl:1] 500 500 1\n");
	pm_profile_close(p);
}

/* `sub work { no strict 'refs'; … } sub idle {}`: three subs of line 4, of which one has the time.
 */
static void test_of_subs_on_one_line_the_slowest_has_it(void **state)
{
	static const struct nytpw_callers callers[] = {
		{1, 4, 1, 0, 1e-6, 1e-6, 0, "main::work", "main::BEGIN@4"},
		{1, 9, 1, 0, 5e-3, 5e-3, 0, "main::RUNTIME", "main::work"},
		{1, 9, 1, 0, 1e-6, 1e-6, 0, "main::RUNTIME", "main::idle"},
	};
	struct nytpw w = {.big = false};
	const struct pm_flat *flat;
	const struct pm_tree *tree;
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 1, 0, 1.7e9);
	nytpw_fid(&w, 1, 0, 0, "x.pl");
	nytpw_time(&w, 50000, 1, 4);
	for (size_t i = 0; i < 3; i++) {
		nytpw_callers(&w, &callers[i]);
		nytpw_sub(&w, 1, callers[i].called, 4, 4);
	}
	struct pm_profile *p = nytpx_open_written(&w);
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(flat->lines->n, 1);
	uint32_t function = flat->lines->lines[0].function;
	assert_true(pm_bytes_equal(
		tree->texts[tree->functions[function].name], pm_bytes_of("main::work")));
	pm_profile_close(p);
}

/*
 * A comparator of sort, lines 3 and 4, has no calls; neither has the sub of line 6, and nothing of
 * it ran but the line that defines it.
 */
static void test_a_sub_that_ran_without_calls_has_its_lines(void **state)
{
	static const struct nytpw_callers caller = {
		1, 9, 1, 0, 5e-3, 5e-3, 0, "main::RUNTIME", "main::work"};
	static const char *const expected[] = {"main::by_cost", "main::by_cost", "main::work"};
	struct nytpw w = {.big = false};
	const struct pm_flat *flat;
	const struct pm_tree *tree;
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 1, 0, 1.7e9);
	nytpw_fid(&w, 1, 0, 0, "x.pl");
	nytpw_time(&w, 10, 1, 3);
	nytpw_time(&w, 10, 1, 4);
	nytpw_time(&w, 10, 1, 6);
	nytpw_callers(&w, &caller);
	nytpw_sub(&w, 1, "main::work", 5, 7);
	nytpw_sub(&w, 1, "main::by_cost", 3, 4);
	nytpw_sub(&w, 1, "main::__ANON__[x.pl:6]", 6, 6);
	struct pm_profile *p = nytpx_open_written(&w);
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(flat->lines->n, 3);
	for (size_t i = 0; i < 3; i++) {
		uint32_t function = flat->lines->lines[i].function;
		assert_true(pm_bytes_equal(
			tree->texts[tree->functions[function].name], pm_bytes_of(expected[i])));
	}
	pm_profile_close(p);
}

/* ---- less than a whole profile ---- */

static void test_without_returns_the_tree_has_two_levels(void **state)
{
	static const struct nytpw_callers callers[] = {
		{1, 1, 3, 0, 0.5, 0.25, 0, "main::RUNTIME", "main::a"},
		{1, 2, 1, 0, 0.25, 0.25, 0, "main::a", "main::b"},
		{1, 3, 1, 0, 0.125, 0.125, 0, "main::a", "main::b"},
	};
	struct nytpw w = {.big = false};
	struct pm_value values[8];
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 7, 0, 1.7e9);
	nytpw_fid(&w, 1, 0, 0, "x.pl");
	for (size_t i = 0; i < 3; i++)
		nytpw_callers(&w, &callers[i]);
	nytpw_pid_end(&w, 7, 1.7e9 + 1);
	struct pm_profile *p = nytpx_open_written(&w);
	assert_string_equal(pm_profile_kind_of_tree(p), "edges");
	nytpx_expect_tree(p,
		"0 main::a 500000000\n"
		"1 main::b 375000000 375000000 2\n"
		"0 main::b 375000000\n"
		"0 main::RUNTIME\n"
		"1 main::a 500000000 250000000 3\n");
	/* The thread's time is that of its calls, not the sum of the first level. */
	assert_true(p->ops->values(p, (struct pm_values_of){PM_OF_THREAD, 0, false}, 0, values, 8,
			    NULL) == 8);
	assert_int_equal(values[0].context, 0);
	assert_true(values[0].f == 625000000);
	pm_profile_close(p);
}

static void test_killed_process_is_presented_up_to_its_last_record(void **state)
{
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 7, 0, 1.7e9);
	nytpw_return(&w, 2, 20, 20, "main::b");
	nytpw_return(&w, 1, 30, 10, "main::a");
	nytpw_return(&w, 3, 5, 5, "main::c");
	nytpw_time(&w, 3, 1, 1);
	pm_text_str(&w.out, "+\x01"); /* cut here */
	struct pm_profile *p = nytpx_open_written(&w);
	nytpx_expect_tree(p,
		"0 main::a 3000 1000 1\n"
		"1 main::b 2000 2000 1\n"
		"0 (not returned) 500\n"
		"1 (not returned) 500\n"
		"2 main::c 500 500 1\n");
	const struct pm_flat *flat;
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_null(flat->edges);
	nytpx_expect_table(p, "raw/processes.csv", "7|0|1700000000|\n");
	nytpx_expect_table(p, "raw/subs.csv", "");
	assert_int_equal(nytpx_count_damage(p, "the stream ends within a record"), 1);
	assert_int_equal(nytpx_count_damage(p, "1 of 1 processes did not finish (7)"), 1);
	assert_int_equal(nytpx_count_damage(p, ""), 2);
	pm_profile_close(p);
}

static void test_processes_of_a_merged_file_are_threads(void **state)
{
	struct nytpw w = {.big = false};
	struct pm_value values[8];
	const struct pm_threads *threads;
	nytpw_header(&w, 5);
	nytpw_time(&w, 1, 1, 1); /* before the first P: its own */
	for (uint32_t pid = 5; pid < 7; pid++) {
		nytpw_pid_start(&w, pid, 1, 1.7e9);
		nytpw_time(&w, 1, 1, 1);
		nytpw_return(&w, 2, pid, pid, "main::b");
		nytpw_pid_end(&w, pid, 1.7e9);
	}
	struct pm_profile *p = nytpx_open_written(&w);
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	assert_int_equal(threads->n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(threads->threads[i].identity[0].value, 5 + i);
		assert_true(p->ops->values(p, (struct pm_values_of){PM_OF_THREAD, i, false}, 0,
				    values, 8, NULL) == 6);
		assert_true(values[0].f == 2 - i);         /* statements */
		assert_true(values[1].f == 100 * (2 - i)); /* their time */
		assert_true(values[2].f == 100 * (5 + i)); /* of the caller that never returned */
	}
	pm_profile_close(p);
}

static void test_numbers_that_are_none_are_empty(void **state)
{
	static const struct nytpw_callers callers = {
		UINT32_MAX, UINT32_MAX, 1, 0, NAN, -INFINITY, 0, "a", "b"};
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 7, 0, 1.7e9);
	nytpw_callers(&w, &callers);
	nytpw_time(&w, INT32_MIN, UINT32_MAX, UINT32_MAX);
	nytpw_time(&w, INT32_MIN, UINT32_MAX, UINT32_MAX);
	struct pm_profile *p = nytpx_open_written(&w);
	nytpx_expect_table(p, "raw/lines.csv", "4294967295|4294967295|2|-4294967296|\n");
	nytpx_expect_table(p, "raw/callers.csv", "4294967295|4294967295|1|||0|0|a|b\n");
	nytpx_expect_tree(p, "0 a\n1 b  1\n");
	pm_profile_close(p);
}

static void test_latin1_names_become_utf8(void **state)
{
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 7, 0, 1.7e9);
	nytpw_fid(&w, 1, 0, 0, "gr\xf6\xdf");
	nytpw_fid(&w, 2, 0, 0, "gr\u00f6\u00df");
	struct pm_profile *p = nytpx_open_written(&w);
	nytpx_expect_table(
		p, "raw/files.csv", "1|50|0|0|0|0|gr\u00f6\u00df\n2|50|0|0|0|0|gr\u00f6\u00df\n");
	pm_profile_close(p);
}

static void test_missing_tick_rate_is_damage(void **state)
{
	static const char *const lines[] = {
		":x=1", ":ticks_per_sec=0", ":ticks_per_sec=nan", ":ticks_per_sec=many"};
	for (size_t i = 0; i < 4; i++) {
		struct nytpw w = {.big = false};
		pm_text_str(&w.out, "NYTProf 5 0\n");
		nytpw_line(&w, lines[i]);
		nytpw_pid_start(&w, 7, 0, 1.7e9);
		nytpw_return(&w, 1, 3, 3, "a");
		struct pm_profile *p = nytpx_open_written(&w);
		nytpx_expect_tree(p, "0 a 300 300 1\n");
		assert_int_equal(nytpx_count_damage(p, "ticks_per_sec"), 1);
		pm_profile_close(p);
	}
}

/* Two subs in one line of the source, described in this order. */
static void check_owner_of_line(const char *first, const char *second)
{
	struct nytpw w = {.big = false};
	const struct pm_flat *flat;
	const struct pm_tree *tree;
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 7, 1, 1.7e9);
	nytpw_fid(&w, 1, 0, 0, "x.pl");
	nytpw_return(&w, 1, 10, 10, first);
	nytpw_return(&w, 1, 10, 10, second);
	nytpw_sub(&w, 1, first, 3, 3);
	nytpw_sub(&w, 1, second, 3, 3);
	nytpw_time(&w, 5, 1, 3);
	nytpw_pid_end(&w, 7, 1.7e9 + 1);
	struct pm_profile *p = nytpx_open_written(&w);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_int_equal(flat->lines->n, 1);
	uint32_t name = tree->functions[flat->lines->lines[0].function].name;
	assert_true(pm_bytes_equal(tree->texts[name], pm_bytes_of("main::even")));
	pm_profile_close(p);
}

static void test_a_line_of_several_subs_goes_to_the_same_in_every_run(void **state)
{
	check_owner_of_line("main::even", "main::odd");
	check_owner_of_line("main::odd", "main::even");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree_of_calls_is_exact_in_every_dress),
		cmocka_unit_test(test_raw_tables_are_as_stored),
		cmocka_unit_test(test_attributes_keep_their_first_place_and_last_value),
		cmocka_unit_test(test_edges_and_lines_are_native),
		cmocka_unit_test(test_statements_tell_what_is_outside_of_subs),
		cmocka_unit_test(
			test_source_has_the_last_text_of_a_line_and_evals_under_their_parent),
		cmocka_unit_test(test_source_paths_are_legal_and_unique),
		cmocka_unit_test(test_names_may_mix_encodings),
		cmocka_unit_test(test_of_subs_on_one_line_the_slowest_has_it),
		cmocka_unit_test(test_without_returns_the_tree_has_two_levels),
		cmocka_unit_test(test_killed_process_is_presented_up_to_its_last_record),
		cmocka_unit_test(test_processes_of_a_merged_file_are_threads),
		cmocka_unit_test(test_numbers_that_are_none_are_empty),
		cmocka_unit_test(test_latin1_names_become_utf8),
		cmocka_unit_test(test_missing_tick_rate_is_damage),
		cmocka_unit_test(test_a_sub_that_ran_without_calls_has_its_lines),
		cmocka_unit_test(test_a_line_of_several_subs_goes_to_the_same_in_every_run),
	};
	return cmocka_run_group_tests(tests, nytpx_folder_make, nytpx_folder_remove);
}
