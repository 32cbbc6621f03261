/* Evals: which are one, and under which names they are shown. */
#include "tests/unittest.h"

#include <math.h>
#include <stdio.h>

#include "formats/common/map.h"
#include "formats/nytprof/limits.h"
#include "formats/nytprof/nytprof.h"
#include "tests/nytprof/expect.h"

/* ---- writing and reading ---- */

static struct pm_profile *open_with(struct nytpw *w, bool keep_evals)
{
	char path[128];
	const struct pm_open_options options = {.keep_evals = keep_evals};
	struct pm_profile *p = NULL;
	nytpx_save(w, "x.out");
	snprintf(path, sizeof(path), "%s/x.out", nytpx_folder);
	assert_int_equal(pm_profile_open(path, NULL, &options, &p, NULL), 0);
	nytpx_drop("x.out");
	return p;
}

static void begin(struct nytpw *w, uint32_t pid, uint32_t ppid)
{
	nytpw_header(w, 5);
	nytpw_line(w, ":application=x.pl");
	nytpw_pid_start(w, pid, ppid, 1.7e9 + pid);
	nytpw_fid(w, 1, 0, 0, "x.pl");
}

/*
 * `(eval N)[x.pl:3]` in process `pid` with the fid N + 1: `ticks` on its line 1, and one call of
 * its anonymous sub as long.
 */
static void run_eval(struct nytpw *w, uint32_t n, int32_t ticks)
{
	char name[64], sub[96];
	snprintf(name, sizeof(name), "(eval %u)[x.pl:3]", n);
	snprintf(sub, sizeof(sub), "M::__ANON__[%s:1]", name);
	nytpw_time(w, 0, 1, 3);
	nytpw_fid(w, n + 1, 1, 3, name);
	nytpw_time(w, ticks, n + 1, 1);
	nytpw_return(w, 1, ticks, ticks, sub);
}

/* What a process that is not killed writes of it at its end. */
static void end_eval(struct nytpw *w, uint32_t n, const char *text)
{
	char sub[96];
	snprintf(sub, sizeof(sub), "M::__ANON__[(eval %u)[x.pl:3]:1]", n);
	if (text)
		nytpw_source(w, n + 1, 1, text);
	else
		nytpw_sub(w, n + 1, sub, 1, 1);
}

/* `file texts:ns` of each line but that of x.pl. */
static void expect_files(const struct pm_profile *p, const char *want)
{
	const struct pm_flat *flat;
	const struct pm_tree *tree;
	struct pm_text got = {.p = NULL};
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	for (uint64_t i = 0; i < flat->lines->n; i++) {
		uint32_t file = flat->lines->lines[i].file;
		double ns = flat->lines->values[i * NYTP_N_METRICS + NYTP_STATEMENTS_NS];
		uint32_t texts = 0;
		if (pm_bytes_equal(tree->texts[file], pm_bytes_of("x.pl")))
			continue;
		assert_true(isnan(flat->lines->values[i * NYTP_N_METRICS + NYTP_EXCL]));
		for (uint64_t k = 0; k < flat->evals->n; k++)
			if (flat->evals->evals[k].text == file)
				texts = flat->evals->evals[k].texts;
		pm_text_bytes(&got, tree->texts[file]);
		pm_text_printf(&got, " %u:%.0f\n", texts, ns);
	}
	pm_text_char(&got, 0);
	assert_string_equal(got.p, want);
	pm_text_done(&got);
}

/* The names of texts that their digits are of, as files of x.pl:3. */
static const char *named(const char *text)
{
	static char names[4][64];
	static unsigned next;
	char *name = names[next++ % 4];
	snprintf(name, 64, "(eval %08x)[x.pl:3]",
		(unsigned)(pm_hash_bytes(pm_bytes_of(text)) >> 32));
	return name;
}

/* ---- one process ---- */

static void test_evals_of_one_text_are_one(void **state)
{
	struct nytpw w = {.big = false};
	const struct pm_source *sources;
	const struct pm_flat *flat;
	size_t n;
	begin(&w, 7, 1);
	for (uint32_t i = 1; i <= 3; i++)
		run_eval(&w, i, 10);
	for (uint32_t i = 1; i <= 3; i++)
		end_eval(&w, i, "sub { 1 }");
	nytpw_pid_end(&w, 7, 1.7e9 + 10);
	struct pm_profile *p = open_with(&w, false);
	nytpx_expect_tree(p, "0 M::__ANON__[(eval)[x.pl:3]:1] 3000 3000 3\n");
	expect_files(p, "(eval)[x.pl:3] 1:3000\n");
	nytpx_expect_table(p, "raw/lines.csv",
		"1|3|3|0|x.pl\n2|1|1|10|(eval 1)[x.pl:3]\n3|1|1|10|(eval 2)[x.pl:3]\n4|1|1|10|(eval 3)[x.pl:3]\n");
	assert_int_equal(pm_profile_sources(p, &sources, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_string_equal(sources[0].path, "x.pl.evals/(eval) line 3");
	assert_true(pm_bytes_equal(sources[0].file, pm_bytes_of("(eval)[x.pl:3]")));
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_int_equal(flat->evals->n, 1);
	assert_int_equal(flat->evals->evals[0].n, 3);
	assert_int_equal(flat->evals->evals[0].line, 3);
	assert_int_equal(flat->evals->n_joined, 0);
	pm_profile_close(p);
}

static void write_two(struct nytpw *w, const char *const texts[static 3])
{
	begin(w, 7, 1);
	for (uint32_t i = 1; i <= 3; i++)
		run_eval(w, i, (int32_t)i);
	for (uint32_t i = 1; i <= 3; i++)
		end_eval(w, i, texts[i - 1]);
	nytpw_pid_end(w, 7, 1.7e9 + 10);
}

static void test_other_texts_have_names_of_their_own(void **state)
{
	static const char *const texts[] = {"sub { 'fast' }", "sub { 'slow' }", "sub { 'fast' }"};
	struct nytpw w = {.big = false};
	const struct pm_source *sources;
	char want[256];
	size_t n;
	write_two(&w, texts);
	struct pm_profile *p = open_with(&w, false);
	snprintf(want, sizeof(want),
		"0 M::__ANON__[%s:1] 400 400 2\n0 M::__ANON__[%s:1] 200 200 1\n", named(texts[0]),
		named(texts[1]));
	nytpx_expect_tree(p, want);
	snprintf(want, sizeof(want), "%s 1:400\n%s 1:200\n", named(texts[0]), named(texts[1]));
	expect_files(p, want);
	assert_int_equal(pm_profile_sources(p, &sources, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_true(pm_bytes_equal(sources[1].file, pm_bytes_of(named(texts[1]))));
	pm_profile_close(p);
}

static void test_all_are_kept_apart_where_asked_for(void **state)
{
	static const char *const texts[] = {"sub { 1 }", "sub { 2 }", "sub { 1 }"};
	struct nytpw w = {.big = false};
	const struct pm_source *sources;
	size_t n;
	write_two(&w, texts);
	struct pm_profile *p = open_with(&w, true);
	nytpx_expect_tree(p,
		"0 M::__ANON__[(eval 3)[x.pl:3]:1] 300 300 1\n"
		"0 M::__ANON__[(eval 2)[x.pl:3]:1] 200 200 1\n"
		"0 M::__ANON__[(eval 1)[x.pl:3]:1] 100 100 1\n");
	assert_int_equal(pm_profile_sources(p, &sources, &n, NULL), 0);
	assert_int_equal(n, 3);
	assert_string_equal(sources[2].path, "x.pl.evals/(eval 3) line 3");
	pm_profile_close(p);
}

/* Without texts: evals 1 and 3 define the same sub, eval 2 another one. */
static void test_subs_tell_evals_apart_that_have_no_text(void **state)
{
	struct nytpw w = {.big = false};
	const struct pm_tree *tree;
	begin(&w, 7, 1);
	for (uint32_t i = 1; i <= 3; i++)
		run_eval(&w, i, (int32_t)i);
	for (uint32_t i = 1; i <= 3; i++)
		end_eval(&w, i, NULL);
	nytpw_sub(&w, 3, "M::named", 2, 4);
	nytpw_pid_end(&w, 7, 1.7e9 + 10);
	struct pm_profile *p = open_with(&w, false);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(tree->n_contexts, 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct pm_value values[3];
		assert_int_equal(p->ops->run_costs(p, i, values, 3, NULL), 3);
		assert_true(values[0].f == (i == 0 ? 400 : 200));
	}
	pm_profile_close(p);
}

/* Neither text nor sub: one, and counted; beside it, a text that is known has its digits. */
static void test_unknown_texts_are_one_and_counted(void **state)
{
	struct nytpw w = {.big = false};
	char want[128];
	begin(&w, 7, 1);
	for (uint32_t i = 1; i <= 4; i++)
		run_eval(&w, i, 10);
	end_eval(&w, 4, "sub { 1 }");
	nytpw_pid_end(&w, 7, 1.7e9 + 10);
	struct pm_profile *p = open_with(&w, false);
	snprintf(want, sizeof(want), "(eval)[x.pl:3] 3:3000\n%s 1:1000\n", named("sub { 1 }"));
	expect_files(p, want);
	pm_profile_close(p);
}

static struct pm_profile *open_texts(uint32_t n)
{
	struct nytpw w = {.big = false};
	char text[32];
	begin(&w, 7, 1);
	for (uint32_t i = 1; i <= n; i++)
		run_eval(&w, i, 10);
	for (uint32_t i = 1; i <= n; i++) {
		snprintf(text, sizeof(text), "sub { %u }", i);
		end_eval(&w, i, text);
	}
	nytpw_pid_end(&w, 7, 1.7e9 + 10);
	return open_with(&w, false);
}

static void test_beyond_a_limit_texts_are_one_and_counted(void **state)
{
	const struct pm_source *sources;
	const struct pm_flat *flat;
	size_t n;
	struct pm_profile *p = open_texts(NYTP_LIMIT_EVAL_TEXTS);
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_int_equal(flat->evals->n, NYTP_LIMIT_EVAL_TEXTS);
	assert_int_equal(flat->evals->n_joined, 0);
	pm_profile_close(p);
	p = open_texts(NYTP_LIMIT_EVAL_TEXTS + 1);
	nytpx_expect_tree(p, "0 M::__ANON__[(eval)[x.pl:3]:1] 201000 201000 201\n");
	expect_files(p, "(eval)[x.pl:3] 201:201000\n");
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_int_equal(flat->evals->n_joined, 1);
	assert_int_equal(flat->evals->evals[0].n, NYTP_LIMIT_EVAL_TEXTS + 1);
	/* Each text is there, and none of them has the costs of all. */
	assert_int_equal(pm_profile_sources(p, &sources, &n, NULL), 0);
	assert_int_equal(n, NYTP_LIMIT_EVAL_TEXTS + 1);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(sources[i].file.len, 0);
	pm_profile_close(p);
}

/* Two texts whose checksums begin with the same digits. */
static void find_twins(char a[static 32], char b[static 32])
{
	struct pm_map seen = {.slots = NULL};
	for (uint32_t i = 0;; i++) {
		bool fresh;
		snprintf(b, 32, "sub { %u }", i);
		uint32_t *first = pm_map_put(&seen, pm_hash_bytes(pm_bytes_of(b)) >> 32, i, &fresh);
		assert_non_null(first);
		if (fresh)
			continue;
		snprintf(a, 32, "sub { %u }", *first);
		break;
	}
	pm_map_done(&seen);
}

static void test_texts_with_the_same_digits_are_told_apart(void **state)
{
	char a[32], b[32];
	struct nytpw w = {.big = false};
	const struct pm_tree *tree;
	find_twins(a, b);
	begin(&w, 7, 1);
	run_eval(&w, 1, 10);
	run_eval(&w, 2, 20);
	end_eval(&w, 1, a);
	end_eval(&w, 2, b);
	nytpw_pid_end(&w, 7, 1.7e9 + 10);
	struct pm_profile *p = open_with(&w, false);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(tree->n_contexts, 2);
	pm_profile_close(p);
}

/* In evals that are told apart, equal evals are several; in equal ones, they are one. */
static void test_a_site_is_in_the_eval_around_it(void **state)
{
	for (int same = 0; same < 2; same++) {
		struct nytpw w = {.big = false};
		const struct pm_flat *flat;
		begin(&w, 7, 1);
		for (uint32_t i = 1; i <= 2; i++) {
			char name[64];
			run_eval(&w, i, 10);
			snprintf(name, sizeof(name), "(eval %u)[(eval %u)[x.pl:3]:4]", i + 5, i);
			nytpw_fid(&w, i + 6, i + 1, 4, name);
			nytpw_time(&w, 10, i + 6, 1);
			nytpw_source(&w, i + 6, 1, "inner");
			end_eval(&w, i, same || i == 1 ? "outer" : "another");
		}
		nytpw_pid_end(&w, 7, 1.7e9 + 10);
		struct pm_profile *p = open_with(&w, false);
		assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
		assert_int_equal(flat->lines->n, same ? 3 : 5);
		if (same)
			expect_files(p, "(eval)[x.pl:3] 1:2000\n(eval)[(eval)[x.pl:3]:4] 1:2000\n");
		pm_profile_close(p);
	}
}

static void test_only_numbers_of_evals_are_taken_out(void **state)
{
	static const char *const names[] = {
		"(eval )[x]", "(eval 12", "(eval 3) [x]", "((eval 4)[x"};
	static const char want[] = "0 ((eval)[x 100 100 1\n"
				   "0 (eval )[x] 100 100 1\n"
				   "0 (eval 12 100 100 1\n"
				   "0 (eval 3) [x] 100 100 1\n";
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 7, 1, 1.7e9);
	nytpw_return(&w, 1, 1, 1, names[3]);
	for (size_t i = 0; i < 3; i++)
		nytpw_return(&w, 1, 1, 1, names[i]);
	nytpw_pid_end(&w, 7, 1.7e9 + 1);
	struct pm_profile *p = open_with(&w, false);
	nytpx_expect_tree(p, want);
	pm_profile_close(p);
}

/* ---- several processes ---- */

static struct pm_profile *open_folder(bool keep_evals)
{
	const struct pm_open_options options = {.keep_evals = keep_evals};
	struct pm_profile *p = NULL;
	assert_int_equal(pm_profile_open(nytpx_folder, NULL, &options, &p, NULL), 0);
	return p;
}

static void drop_folder(struct pm_profile *p)
{
	pm_profile_close(p);
	nytpx_drop("x.out");
	nytpx_drop("x.out.8");
	nytpx_drop("x.out.9");
}

/* Eval 1 of each process after the fork; the third one has the text of the first. */
static void save_three(void)
{
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const files[] = {"x.out", "x.out.8", "x.out.9"};
		struct nytpw w = {.big = false};
		begin(&w, 7 + i, i ? 7 : 1);
		run_eval(&w, 1, 10);
		end_eval(&w, 1, i == 1 ? "other" : "same");
		nytpw_pid_end(&w, 7 + i, 1.7e9 + 20);
		nytpx_save(&w, files[i]);
	}
}

static void test_one_number_in_two_processes_is_two_texts(void **state)
{
	char want[256];
	save_three();
	struct pm_profile *p = open_folder(false);
	snprintf(want, sizeof(want),
		"0 M::__ANON__[%s:1] 2000 2000 2\n0 M::__ANON__[%s:1] 1000 1000 1\n", named("same"),
		named("other"));
	nytpx_expect_tree(p, want);
	drop_folder(p);
	save_three();
	p = open_folder(true);
	snprintf(want, sizeof(want),
		"0 M::__ANON__[(eval 1%s:1] 2000 2000 2\n0 M::__ANON__[(eval 1%s:1] 1000 1000 1\n",
		named("same") + 5, named("other") + 5);
	nytpx_expect_tree(p, want);
	drop_folder(p);
}

/*
 * Two accessors that the parent compiled, used by a child that was killed: it has neither texts nor
 * subs, but repeats the fids. Its own third eval is not known.
 */
static void test_killed_children_inherit_texts(void **state)
{
	struct nytpw w = {.big = false};
	char want[256];
	begin(&w, 7, 1);
	for (uint32_t i = 1; i <= 2; i++)
		run_eval(&w, i, 10);
	end_eval(&w, 1, "get a");
	end_eval(&w, 2, "get b");
	nytpw_pid_end(&w, 7, 1.7e9 + 20);
	nytpx_save(&w, "x.out");
	w = (struct nytpw){.big = false};
	begin(&w, 8, 7);
	nytpw_fid(&w, 2, 1, 3, "(eval 1)[x.pl:3]");
	nytpw_fid(&w, 3, 1, 3, "(eval 2)[x.pl:3]");
	nytpw_time(&w, 1, 3, 1);
	nytpw_return(&w, 1, 1, 1, "M::__ANON__[(eval 2)[x.pl:3]:1]");
	run_eval(&w, 3, 2);
	nytpx_save(&w, "x.out.8");
	struct pm_profile *p = open_folder(false);
	const struct pm_flat *flat;
	uint64_t n = 0;
	snprintf(want, sizeof(want),
		"0 M::__ANON__[%s:1] 1100 1100 2\n0 M::__ANON__[%s:1] 1000 1000 1\n"
		"0 M::__ANON__[(eval)[x.pl:3]:1] 200 200 1\n",
		named("get b"), named("get a"));
	nytpx_expect_tree(p, want);
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	for (uint64_t i = 0; i < flat->evals->n; i++)
		n += flat->evals->evals[i].n;
	assert_int_equal(n, 3); /* those of the parent ran once */
	pm_profile_close(p);
	nytpx_drop("x.out");
	nytpx_drop("x.out.8");
}

/* nytprofmerge keeps the names of evals: two of one name in a file may be anything. */
static void test_two_texts_of_one_name_in_a_file_are_not_known(void **state)
{
	struct nytpw w = {.big = false};
	begin(&w, 7, 1);
	run_eval(&w, 1, 10);
	nytpw_pid_end(&w, 7, 1.7e9 + 10);
	nytpw_pid_start(&w, 8, 7, 1.7e9 + 8);
	nytpw_fid(&w, 9, 1, 3, "(eval 1)[x.pl:3]");
	nytpw_time(&w, 20, 9, 1);
	nytpw_source(&w, 2, 1, "one");
	nytpw_source(&w, 9, 1, "two");
	nytpw_pid_end(&w, 8, 1.7e9 + 10);
	struct pm_profile *p = open_with(&w, false);
	nytpx_expect_tree(p, "0 M::__ANON__[(eval)[x.pl:3]:1] 1000 1000 1\n");
	expect_files(p, "(eval)[x.pl:3] 2:3000\n");
	pm_profile_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evals_of_one_text_are_one),
		cmocka_unit_test(test_other_texts_have_names_of_their_own),
		cmocka_unit_test(test_all_are_kept_apart_where_asked_for),
		cmocka_unit_test(test_subs_tell_evals_apart_that_have_no_text),
		cmocka_unit_test(test_unknown_texts_are_one_and_counted),
		cmocka_unit_test(test_beyond_a_limit_texts_are_one_and_counted),
		cmocka_unit_test(test_texts_with_the_same_digits_are_told_apart),
		cmocka_unit_test(test_a_site_is_in_the_eval_around_it),
		cmocka_unit_test(test_only_numbers_of_evals_are_taken_out),
		cmocka_unit_test(test_one_number_in_two_processes_is_two_texts),
		cmocka_unit_test(test_killed_children_inherit_texts),
		cmocka_unit_test(test_two_texts_of_one_name_in_a_file_are_not_known),
	};
	return cmocka_run_group_tests(tests, nytpx_folder_make, nytpx_folder_remove);
}
