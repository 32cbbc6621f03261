/*
 * Grouping: processes of one run, callers and calls; and the messages about what does not belong
 * together.
 */
#include "tests/unittest.h"

#include <stdio.h>

#include "formats/nytprof/nytprof.h"
#include "tests/nytprof/expect.h"

static void expect_remark(const struct pm_profile *p, const char *text)
{
	struct pm_text out = {0};
	assert_int_equal(p->ops->remarks(p, &out, NULL), 0);
	pm_text_char(&out, '\0');
	if (text)
		assert_non_null(strstr(out.p, text));
	else
		assert_string_equal(out.p, "");
	pm_text_done(&out);
}

/* ---- callers and calls ---- */

static void test_callers_of_more_than_is_in_the_file_are_told(void **state)
{
	static const struct nytpw_callers callers[] = {
		{1, 3, 40, 0, 4e-6, 4e-6, 0, "main::RUNTIME", "main::leaf"},
		{1, 1, 1, 0, 9e-6, 9e-6, 0, "main::NULL", "main::BEGIN@1"},
	};
	struct nytpw w = {.big = false};
	const struct pm_tree *tree;
	const struct pm_flat *flat;
	double sum = 0;
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 7, 1, 1.7e9);
	for (size_t i = 0; i < 20; i++)
		nytpw_return(&w, 1, 1, 1, "main::leaf");
	for (size_t i = 0; i < 2; i++)
		nytpw_callers(&w, &callers[i]);
	nytpw_pid_end(&w, 7, 1.7e9 + 1);
	struct pm_profile *p = nytpx_open_written(&w);
	expect_remark(p,
		"callers.csv differs from functions.csv in 2 subs, most in main::leaf "
		"(40 calls and 20)");
	/* What the file has no calls of costs nothing: functions add up to the tree. */
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	const pm_number *costs = flat->functions;
	for (uint32_t i = 0; i < tree->n_functions; i++)
		sum += costs[i * 5 + 1] == costs[i * 5 + 1] ? costs[i * 5 + 1] : 0;
	assert_true(sum == 2000);
	pm_profile_close(p);
}

/* ---- runs ---- */

static void save(const char *name, uint32_t pid, uint32_t ppid, uint32_t basetime)
{
	char line[64];
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	snprintf(line, sizeof(line), ":basetime=%u", basetime);
	nytpw_line(&w, line);
	nytpw_line(&w, ":application=x.pl");
	nytpw_pid_start(&w, pid, ppid, basetime + pid * 1e-3);
	nytpw_return(&w, 1, 1, 1, "main::work");
	nytpw_pid_end(&w, pid, basetime + 1);
	nytpx_save(&w, name);
}

static struct pm_profile *open_runs(uint32_t n_keys)
{
	struct pm_profile *p = NULL;
	const struct pm_threads *threads;
	assert_int_equal(pm_profile_open(nytpx_folder, NULL, NULL, &p, NULL), 0);
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	assert_int_equal(threads->n_keys, n_keys);
	assert_string_equal(threads->keys[n_keys - 1], "process");
	return p;
}

static void test_runs_that_do_not_belong_together_are_told_apart(void **state)
{
	static const uint64_t run_of[] = {2, 2, 1};
	const struct pm_threads *threads;
	save("x.out", 50, 1, 1700000100);
	save("x.out.51", 51, 50, 1700000100);
	save("x.out.9", 9, 8, 1700000000); /* left by a run before: 8 wrote x.out, too */
	struct pm_profile *p = open_runs(2);
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	assert_string_equal(threads->keys[0], "run");
	for (uint32_t i = 0; i < 3; i++) {
		const struct pm_thread *t = &threads->threads[i];
		assert_int_equal(t->n_identity, 2);
		/* x.out, x.out.9, x.out.51 */
		assert_int_equal(t->identity[0].value, t->id == 9 ? run_of[2] : run_of[0]);
		assert_int_equal(t->identity[1].value, t->id);
	}
	assert_int_equal(nytpx_count_damage(p, "run 1 of 2 in this directory: process 9 and 0"), 1);
	assert_int_equal(
		nytpx_count_damage(p, "run 2 of 2 in this directory: process 50 and 1"), 1);
	assert_int_equal(
		nytpx_count_damage(p, "the parent 8 of process 9 left no profile here"), 1);
	expect_remark(p, "2 runs that have nothing to do with each other");
	pm_profile_close(p);
	nytpx_drop("x.out");
	nytpx_drop("x.out.51");
	nytpx_drop("x.out.9");
}

/* `sh -c 'perl x.pl; perl x.pl'`: a shell may become its last command, which keeps its number. */
static void test_a_process_that_began_later_is_no_parent(void **state)
{
	const struct pm_threads *threads;
	save("x.out.51", 51, 50, 1700000000);
	save("x.out.50", 50, 1, 1700000100);
	struct pm_profile *p = open_runs(2);
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	for (uint32_t i = 0; i < 2; i++) {
		const struct pm_thread *t = &threads->threads[i];
		assert_int_equal(t->identity[0].value, t->id == 51 ? 1 : 2);
	}
	expect_remark(p, "2 runs that have nothing to do with each other");
	pm_profile_close(p);
	nytpx_drop("x.out.51");
	nytpx_drop("x.out.50");
}

static void test_children_of_a_parent_that_is_not_there_are_one_run(void **state)
{
	save("x.out.51", 51, 50, 1700000100);
	save("x.out.52", 52, 50, 1700000100);
	save("x.out.53", 53, 52, 1700000100);
	struct pm_profile *p = open_runs(1);
	assert_int_equal(nytpx_count_damage(p, "the parent 50 of process 51 left no profile"), 1);
	assert_int_equal(nytpx_count_damage(p, ""), 1);
	expect_remark(p, "Only exclusive times add up");
	pm_profile_close(p);
	nytpx_drop("x.out.51");
	nytpx_drop("x.out.52");
	nytpx_drop("x.out.53");
}

/* As nytprofmerge writes it: processes of a program one after the other in a file. */
static void test_a_merged_file_has_forks(void **state)
{
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	for (uint32_t pid = 50; pid < 52; pid++) {
		nytpw_pid_start(&w, pid, pid - 1, 1.7e9);
		nytpw_fid(&w, 1, 0, 0, "x.pl");
		nytpw_return(&w, 1, 5, 5, "main::work");
		nytpw_sub(&w, 1, "main::work", 1, 1);
		nytpw_pid_end(&w, pid, 1.7e9 + 1);
	}
	struct pm_profile *p = nytpx_open_written(&w);
	expect_remark(p, "Only exclusive times add up");
	pm_profile_close(p);
}

/* Line 3 of `file` calls main::work there, of line 1. */
static void save_sub(uint32_t pid, const char *file, double ticks)
{
	char name[24];
	struct nytpw w = {.big = false};
	struct nytpw_callers c = {
		1, 3, 1, 0, ticks * 1e-7, ticks * 1e-7, 0, "main::RUNTIME", "main::work"};
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, pid, 1, 1.7e9);
	nytpw_fid(&w, 1, 0, 0, file);
	nytpw_time(&w, (int32_t)ticks, 1, 1);
	nytpw_return(&w, 1, ticks, ticks, "main::work");
	nytpw_sub(&w, 1, "main::RUNTIME", 1, 1);
	nytpw_sub(&w, 1, "main::work", 1, 1);
	nytpw_callers(&w, &c);
	nytpw_pid_end(&w, pid, 1.7e9 + 1);
	snprintf(name, sizeof(name), "x.out.%u", pid);
	nytpx_save(&w, name);
}

/* Such as test programs that `prove` runs. */
static void test_subs_of_one_name_in_several_files_are_several(void **state)
{
	static const double ticks[] = {10, 20, 40};
	const struct pm_tree *tree;
	const struct pm_flat *flat;
	save_sub(51, "/t/a.t", ticks[0]);
	save_sub(52, "/t/b.t", ticks[1]);
	save_sub(53, "/t/a.t", ticks[2]);
	struct pm_profile *p = open_runs(1);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_int_equal(tree->n_functions, 4);
	assert_int_equal(tree->n_contexts, 2);
	assert_int_equal(flat->lines->n, 2);
	assert_int_equal(flat->edges->n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct pm_line *line = &flat->lines->lines[i];
		const struct pm_edge *edge = &flat->edges->edges[i];
		const struct pm_function *callee = &tree->functions[edge->callee];
		bool is_b = pm_bytes_equal(tree->texts[callee->file], pm_bytes_of("/t/b.t"));
		double ns = 100 * (is_b ? ticks[1] : ticks[0] + ticks[2]);
		assert_int_equal(edge->calls, is_b ? 1 : 2);
		assert_int_equal(tree->functions[edge->caller].file, callee->file);
		assert_int_equal(tree->functions[line->function].file, line->file);
		assert_true(flat->edges->values[i * NYTP_N_METRICS + NYTP_EXCL] == ns);
		assert_true(flat->functions[edge->callee * NYTP_N_METRICS + NYTP_EXCL] == ns);
	}
	pm_profile_close(p);
	nytpx_drop("x.out.51");
	nytpx_drop("x.out.52");
	nytpx_drop("x.out.53");
}

/* A process that calls main::work, and was killed before it could write its tables. */
static void save_killed(uint32_t pid, uint32_t parent, double ticks)
{
	char name[24];
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, pid, parent, 1.7e9 + 0.5);
	nytpw_return(&w, 1, ticks, ticks, "main::work");
	snprintf(name, sizeof(name), "x.out.%u", pid);
	nytpx_save(&w, name);
}

static void test_a_killed_process_calls_the_subs_of_its_parent(void **state)
{
	static const struct {
		const char *file;
		double ticks;
	} want[] = {{"/t/a.t", 10}, {"/t/b.t", 20 + 400 + 8000}, {"", 1600}};
	const struct pm_tree *tree;
	const struct pm_flat *flat;
	size_t found = 0;
	save_sub(51, "/t/a.t", 10);
	save_sub(52, "/t/b.t", 20);
	save_killed(53, 52, 400);
	save_killed(54, 53, 8000);
	save_killed(55, 1, 1600);
	struct pm_profile *p = open_runs(1);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	for (uint32_t i = 0; i < tree->n_functions; i++) {
		const struct pm_function *f = &tree->functions[i];
		double ns = flat->functions[i * NYTP_N_METRICS + NYTP_EXCL];
		for (size_t k = 0; k < sizeof(want) / sizeof(*want); k++)
			found += ns == 100 * want[k].ticks &&
				pm_bytes_equal(tree->texts[f->file], pm_bytes_of(want[k].file));
	}
	assert_int_equal(found, 3);
	pm_profile_close(p);
	for (unsigned pid = 51; pid <= 55; pid++) {
		char name[24];
		snprintf(name, sizeof(name), "x.out.%u", pid);
		nytpx_drop(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers_of_more_than_is_in_the_file_are_told),
		cmocka_unit_test(test_runs_that_do_not_belong_together_are_told_apart),
		cmocka_unit_test(test_a_process_that_began_later_is_no_parent),
		cmocka_unit_test(test_a_merged_file_has_forks),
		cmocka_unit_test(test_children_of_a_parent_that_is_not_there_are_one_run),
		cmocka_unit_test(test_subs_of_one_name_in_several_files_are_several),
		cmocka_unit_test(test_a_killed_process_calls_the_subs_of_its_parent),
	};
	return cmocka_run_group_tests(tests, nytpx_folder_make, nytpx_folder_remove);
}
