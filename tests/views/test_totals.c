/* Totals of quantities, and the messages about contradicting costs. */
#include "harness.h"

#include <string.h>

#include "fs/views/sums/threads.h"
#include "fs/views/sums/totals.h"

static void cost(struct fake *f, uint32_t number, double inclusive, double exclusive)
{
	fake_value(f, 0, number, 1, inclusive);
	fake_value(f, 0, number, 2, exclusive);
}

/* main calls work: 100 ns, of which 60 in work, unless they are changed. */
static struct fake *fake_of_two(double main_own, double work_incl, double work_own)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_call(f, 2, 1, fake_function(f, "work", NULL, 0));
	cost(f, 1, 100, main_own);
	cost(f, 2, work_incl, work_own);
	return f;
}

static void assert_unaccounted(struct fake *f, const char *want)
{
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pm_text text = {.p = NULL};
	struct pm_arena arena = {.block = NULL};
	pmfs_unaccounted(&arena, m, &text, NULL);
	pm_arena_done(&arena);
	pm_text_char(&text, '\0');
	assert_string_equal(text.p, want);
	pm_text_done(&text);
	views_done(m, f);
}

static void test_nothing_is_said_where_all_adds_up(void **state)
{
	assert_unaccounted(fake_of_two(40, 60, 60), "");
	assert_unaccounted(fake_of_two(39, 60, 60), ""); /* rounded one by one */
}

static void test_what_stands_in_no_function_is_said(void **state)
{
	assert_unaccounted(fake_of_two(10, 60, 60),
		"unaccounted  time_ns: functions add up to 70 ns of 100 ns\n");
}

static void test_calls_that_are_longer_than_their_callers_are_said(void **state)
{
	assert_unaccounted(fake_of_two(-200, 300, 300),
		"unaccounted  time_ns: exports add up to 300 ns of 100 ns\n");
}

static void test_totals_are_of_the_top_or_of_own_costs(void **state)
{
	const struct pmfs_totals *w;
	struct fake *f = fake_of_two(40, 60, 60);
	uint32_t calls = fake_metric(f, PM_ROLE_COUNT, 1, "calls", "");
	fake_metric(f, PM_ROLE_COUNT, 2, "errors", "");
	fake_value(f, 0, 1, calls, 1);
	fake_value(f, 0, 2, calls, 7);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pmfs_totals(m, &w, NULL), 0);
	assert_true(w->of[0] == 100 && w->of[1] == 100 && w->of[2] == 8 && w->of[3] == 0);
	assert_int_equal(pmfs_has_cost(m, 2, NULL), 1);
	assert_int_equal(pmfs_has_cost(m, 3, NULL), 0);
	views_done(m, f);
}

/* Statements are counted by function and thread only. */
static void test_what_contexts_lack_is_summed_over_threads(void **state)
{
	static const pm_number functions[1][3] = {{100, 100, 7}};
	const struct pmfs_totals *w;
	struct fake *f = fake_with_time();
	uint32_t statements = fake_metric(f, PM_ROLE_COUNT, 1, "statements", "");
	fake_thread(f, 0, 0);
	fake_value(f, 0, 0, statements, 9); /* two of them in no function */
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	cost(f, 1, 100, 100);
	f->flat = (struct pm_flat){.functions = &functions[0][0]};
	f->parts.flat.it = &f->flat;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pmfs_totals(m, &w, NULL), 0);
	assert_true(w->of[0] == 100 && w->of[1] == 100 && w->of[2] == 9);
	assert_int_equal(pmfs_has_cost(m, 0, NULL), 1);
	assert_int_equal(pmfs_has_cost(m, 2, NULL), 0); /* no folder of metrics/, no exports */
	views_done(m, f);
}

/* work's inclusive cost is at the top again. */
static struct fake *fake_that_overlaps(const char *kind)
{
	struct fake *f = fake_of_two(40, 60, 60);
	fake_call(f, 3, 0, 1);
	cost(f, 3, 60, 0);
	f->profile.kind_of_tree = kind;
	f->profile.inclusive_overlaps = true;
	return f;
}

static void test_only_exclusive_costs_add_up_where_inclusive_ones_overlap(void **state)
{
	const struct pmfs_totals *w;
	struct fake *f = fake_that_overlaps("calls");
	pm_number cells[2];
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pmfs_totals(m, &w, NULL), 0);
	assert_true(w->of[0] == 100 && w->of[1] == 100);
	assert_int_equal(pmfs_thread_totals(m, 0, cells, NULL), 0);
	assert_true(cells[0] == 100 && cells[1] == 100);
	views_done(m, f);
}

static void test_overlapping_calls_are_mentioned(void **state)
{
	assert_unaccounted(fake_that_overlaps("calls"),
		"unaccounted  time_ns: inclusive costs of top-level contexts add up to 160 ns of 100 ns\n");
	assert_unaccounted(fake_that_overlaps("edges"), ""); /* README.txt explains it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_said_where_all_adds_up),
		cmocka_unit_test(test_what_stands_in_no_function_is_said),
		cmocka_unit_test(test_calls_that_are_longer_than_their_callers_are_said),
		cmocka_unit_test(test_totals_are_of_the_top_or_of_own_costs),
		cmocka_unit_test(test_what_contexts_lack_is_summed_over_threads),
		cmocka_unit_test(test_only_exclusive_costs_add_up_where_inclusive_ones_overlap),
		cmocka_unit_test(test_overlapping_calls_are_mentioned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
