/* Names of metric columns, and which metric fills which. */
#include "harness.h"

#include <string.h>

#define PLACE PMFS_PLACE_ROOT

/* One metric, alone: its name and unit, and what the column and the export are called. */
static const struct {
	enum pm_role role;
	const char *name, *unit, *column, *export;
	double scale;
} names[] = {
	{PM_ROLE_INCLUSIVE, "CPUTIME (sec)", "sec", "cputime_sec_incl", "cputime_ns", 1e9},
	{PM_ROLE_EXCLUSIVE, "CPUTIME (sec)", "sec", "cputime_sec_excl", "cputime_ns", 1e9},
	{PM_ROLE_EXCLUSIVE, "perf::task-clock", "", "perf_task_clock_excl", "perf_task_clock", 1},
	{PM_ROLE_EXCLUSIVE, "time", "ns", "time_ns_excl", "time_ns", 1},
	{PM_ROLE_EXCLUSIVE, "REALTIME (usec)", "usec", "realtime_usec_excl", "realtime_ns", 1e3},
	{PM_ROLE_EXCLUSIVE, "wait", "ms", "wait_ms_excl", "wait_ns", 1e6},
	{PM_ROLE_EXCLUSIVE, "sec", "sec", "sec_excl", "sec", 1},
	{PM_ROLE_EXCLUSIVE, "bytes read", "bytes", "bytes_read_excl", "bytes_read", 1},
	{PM_ROLE_COUNT, "calls", "", "calls", "calls", 1},
	{PM_ROLE_COUNT, "line", "", "line_2", "line_2", 1},
	{PM_ROLE_COUNT, "--Ä--", "", "metric", "metric", 1},
	{PM_ROLE_COUNT, "", "", "metric", "metric", 1},
	{PM_ROLE_COUNT, "__A  (b)c\n", "", "a_b_c", "a_b_c", 1},
};

static void test_names_follow_the_rules(void **state)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct pm_error err = {.code = 0};
		struct fake *f = fake_new();
		const struct pmfs_columns *c;
		fake_metric(f, names[i].role, 0, names[i].name, names[i].unit);
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		assert_int_equal(pmfs_model_columns(m, &c, &err), 0);
		assert_int_equal(c->n, 1);
		assert_string_equal(c->columns[0].name, names[i].column);
		assert_string_equal(c->columns[0].export, names[i].export);
		assert_true(c->columns[0].export_scale == names[i].scale);
		pmfs_model_free(m);
		fake_free(f);
	}
}

static void test_clashes_are_numbered_on_the_metrics_part(void **state)
{
	struct fake *f = fake_new();
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "x", "");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "x", "");
	fake_metric(f, PM_ROLE_INCLUSIVE, 1, "X", "");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 1, "X", "");
	fake_metric(f, PM_ROLE_COUNT, 2, "x incl", "");
	fake_metric(f, PM_ROLE_COUNT, 3, "x 2", "");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 4, "t (sec)", "sec");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 5, "t(sec)", "sec");
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, PLACE, "metrics.csv", 0,
		"metric_id|column|unit|scope|name\n"
		"1|x_incl||execution|x\n"
		"2|x_excl||function|x\n"
		"3|x_2_incl||execution|X\n"
		"4|x_2_excl||function|X\n"
		"5|x_incl_2||function|x incl\n"
		"6|x_2_2||function|x 2\n"
		"7|t_sec_excl|sec|function|t (sec)\n"
		"8|t_sec_2_excl|sec|function|t(sec)\n");
	const struct pmfs_columns *c;
	assert_int_equal(pmfs_model_columns(m, &c, NULL), 0);
	assert_string_equal(c->columns[7].export, "t_ns_2");
	views_done(m, f);
}

static void test_units_of_time_that_become_one_are_numbered_in_exports(void **state)
{
	struct fake *f = fake_new();
	const struct pmfs_columns *c;
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "t (sec)", "sec");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "t (sec)", "sec");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 1, "t (usec)", "usec");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 2, "t", "ns");
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pmfs_model_columns(m, &c, NULL), 0);
	assert_string_equal(c->columns[0].export, "t_ns");
	assert_string_equal(c->columns[1].export, "t_ns");
	assert_string_equal(c->columns[2].export, "t_ns_2");
	assert_string_equal(c->columns[3].export, "t_ns_3");
	views_done(m, f);
}

static void test_metrics_without_values_have_no_column(void **state)
{
	struct fake *f = fake_with_time();
	fake_metric_of(f, 1)->has_values = false;
	fake_metric(f, PM_ROLE_OTHER, 0, "time", "ns");
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, PLACE, "metrics.csv", 0,
		"metric_id|column|unit|scope|name\n"
		"1||ns|execution|time\n"
		"2|time_ns_excl|ns|function|time\n"
		"3||ns|function|time\n");
	const struct pmfs_columns *c;
	assert_int_equal(pmfs_model_columns(m, &c, NULL), 0);
	assert_int_equal(c->n, 1);
	assert_int_equal(c->first_incl, PM_NONE);
	assert_int_equal(c->first_excl, 0);
	assert_int_equal(c->columns[0].pair, PM_NONE);
	views_done(m, f);
}

static void test_tree_and_flat_tables_can_show_other_metrics_in_one_column(void **state)
{
	struct fake *f = fake_with_time();
	const struct pmfs_columns *c;
	uint32_t flat = fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "time", "ns");
	fake_metric_of(f, 2)->in_flat = false;
	fake_metric_of(f, flat)->in_tree = false;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pmfs_model_columns(m, &c, NULL), 0);
	assert_int_equal(c->n, 2);
	assert_int_equal(c->columns[0].pair, 1);
	assert_int_equal(c->columns[1].pair, 0);
	assert_int_equal(pmfs_column_of(c, 2, false), 0);
	assert_int_equal(pmfs_column_of(c, 2, true), PM_NONE);
	assert_int_equal(pmfs_column_of(c, flat, true), 0);
	assert_int_equal(pmfs_column_of(c, flat, false), PM_NONE);
	assert_int_equal(pmfs_column_of(c, 99, false), PM_NONE);
	views_done(m, f);
}

static void test_header_is_the_same_array_every_time(void **state)
{
	static const char *const before[] = {"a", NULL}, *const some[] = {"_x", "_y", NULL};
	static const char *const after[] = {"b", NULL};
	struct fake *f = fake_with_time();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const char *const *names_of, *const *again;
	uint32_t n;
	assert_int_equal(pmfs_model_header(m, before, some, after, 1, &names_of, &n, NULL), 0);
	assert_int_equal(n, 4);
	assert_string_equal(names_of[1], "time_ns_excl_x");
	assert_string_equal(names_of[2], "time_ns_excl_y");
	assert_string_equal(names_of[3], "b");
	assert_int_equal(pmfs_model_header(m, before, some, after, 1, &again, &n, NULL), 0);
	assert_ptr_equal(names_of, again);
	assert_int_equal(pmfs_model_header(m, before, some, after, PM_NONE, &again, &n, NULL), 0);
	assert_int_equal(n, 6);
	views_done(m, f);
}

static void test_many_metrics_of_one_name_get_a_column_each(void **state)
{
	enum { MANY = 3000 };
	struct fake *f = fake_new();
	const struct pmfs_columns *c;
	for (uint32_t i = 0; i < MANY; i++)
		fake_metric(f, PM_ROLE_COUNT, i, "n", "");
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pmfs_model_columns(m, &c, NULL), 0);
	assert_int_equal(c->n, MANY);
	assert_string_equal(c->columns[MANY - 1].name, "n_3000");
	assert_int_equal(pmfs_column_of(c, MANY, true), MANY - 1);
	views_done(m, f);
}

/* A launch count, a time of a GPU and a time: each has own and inclusive costs of two calls. */
static struct fake *fake_with_three_quantities(void)
{
	static const double costs[2][3] = {{5, 300, 20}, {7, 200, 30}}; /* by call */
	static const char *const quantities[] = {"launches", "GKER (sec)", "CPUTIME (sec)"};
	static const char *const units[] = {"", "sec", "sec"};
	struct fake *f = fake_new();
	for (uint32_t g = 0; g < 3; g++) {
		fake_metric(f, PM_ROLE_INCLUSIVE, g, quantities[g], units[g]);
		fake_metric(f, PM_ROLE_EXCLUSIVE, g, quantities[g], units[g]);
	}
	fake_thread(f, 0, 0);
	fake_call(f, 7, 0, fake_function(f, "f", NULL, 0));
	fake_call(f, 9, 0, fake_function(f, "g", NULL, 0));
	for (uint32_t call = 0; call < 2; call++)
		for (uint32_t i = 0; i < 6; i++)
			fake_value(f, 0, 7 + 2 * call, i + 1, costs[call][i / 2]);
	return f;
}

static void test_what_leads_comes_first_and_orders_siblings(void **state)
{
	static const struct {
		const char *wish, *lead, *want;
	} rows[] = {
		{NULL, "cputime_sec", "9|0|30|30|7|7|200|200\n7|0|20|20|5|5|300|300\n"},
		{"gker_sec", "gker_sec", "7|0|300|300|5|5|20|20\n9|0|200|200|7|7|30|30\n"},
		{"launches_incl", "launches", "9|0|7|7|200|200|30|30\n7|0|5|5|300|300|20|20\n"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fake *f = fake_with_three_quantities();
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		const struct pmfs_columns *c;
		struct pm_text got = {.p = NULL};
		pm_number cells[6];
		const struct pm_tree *tree;
		if (rows[i].wish)
			assert_int_equal(pmfs_model_lead_with(m, rows[i].wish, NULL), 0);
		assert_int_equal(pmfs_model_columns(m, &c, NULL), 0);
		assert_string_equal(c->lead, rows[i].lead);
		assert_int_equal(c->first_excl, 0);
		assert_int_equal(c->first_incl, 1);
		assert_int_equal(pmfs_model_tree(m, &tree, NULL), 0);
		for (uint32_t context = 0; context < 2; context++) {
			assert_int_equal(pmfs_run_cells(m, context, false, cells, NULL), 0);
			pm_text_printf(
				&got, "%u|%u", pm_tree_number(tree, context), tree->depth[context]);
			for (unsigned k = 0; k < 6; k++)
				pm_text_printf(&got, "|%.0Lf", cells[k]);
			pm_text_char(&got, '\n');
		}
		pm_text_char(&got, '\0');
		assert_string_equal(got.p, rows[i].want);
		pm_text_done(&got);
		pmfs_model_free(m);
		fake_free(f);
	}
}

static void test_a_wish_that_is_not_there_is_told_what_is(void **state)
{
	struct fake *f = fake_with_three_quantities();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pm_error err = {.code = 0};
	assert_int_equal(pmfs_model_lead_with(m, "gker", &err), -EINVAL);
	assert_string_equal(
		err.text, "no metric is named gker: there are launches, gker_sec, cputime_sec");
	views_done(m, f);
}

/* Counts have no inclusive cost: all contexts are added up, though no one is at the top. */
static void test_a_count_leads_where_times_are_zero(void **state)
{
	struct fake *f = fake_with_time();
	const struct pmfs_columns *c;
	uint32_t errors = fake_metric(f, PM_ROLE_COUNT, 1, "errors", "");
	uint32_t calls = fake_metric(f, PM_ROLE_COUNT, 2, "calls", "");
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_call(f, 2, 1, fake_function(f, "a", NULL, 0));
	fake_call(f, 3, 1, fake_function(f, "b", NULL, 0));
	fake_value(f, 0, 1, 1, 0);
	fake_value(f, 0, 2, errors, 0);
	fake_value(f, 0, 2, calls, 1);
	fake_value(f, 0, 3, calls, 2);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pm_tree *tree;
	assert_int_equal(pmfs_model_columns(m, &c, NULL), 0);
	assert_string_equal(c->lead, "calls");
	assert_string_equal(c->columns[0].name, "calls");
	assert_int_equal(c->first_excl, 0);
	assert_int_equal(c->first_incl, PM_NONE);
	assert_int_equal(pmfs_model_tree(m, &tree, NULL), 0);
	assert_int_equal(pm_tree_number(tree, 1), 3); /* more calls than a */
	views_done(m, f);
}

/* As in a part of a run in which calls begin and take no time. */
static void test_names_decide_where_the_profile_wants_it(void **state)
{
	struct fake *f = fake_with_time();
	const struct pmfs_columns *c;
	uint32_t calls = fake_metric(f, PM_ROLE_COUNT, 1, "calls", "");
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_value(f, 0, 1, 1, 0);
	fake_value(f, 0, 1, calls, 1);
	f->profile.lead_by_name = true;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_int_equal(pmfs_model_columns(m, &c, NULL), 0);
	assert_string_equal(c->lead, "time_ns");
	assert_string_equal(c->columns[c->n - 1].name, "calls");
	views_done(m, f);
}

static void test_names_decide_where_the_tree_is_broken(void **state)
{
	struct fake *f = fake_with_three_quantities();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pmfs_columns *c;
	f->tree_error = -ENOTSUP;
	assert_int_equal(pmfs_model_columns(m, &c, NULL), 0);
	assert_string_equal(c->lead, "cputime_sec");
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_follow_the_rules),
		cmocka_unit_test(test_clashes_are_numbered_on_the_metrics_part),
		cmocka_unit_test(test_units_of_time_that_become_one_are_numbered_in_exports),
		cmocka_unit_test(test_metrics_without_values_have_no_column),
		cmocka_unit_test(test_tree_and_flat_tables_can_show_other_metrics_in_one_column),
		cmocka_unit_test(test_header_is_the_same_array_every_time),
		cmocka_unit_test(test_many_metrics_of_one_name_get_a_column_each),
		cmocka_unit_test(test_what_leads_comes_first_and_orders_siblings),
		cmocka_unit_test(test_a_wish_that_is_not_there_is_told_what_is),
		cmocka_unit_test(test_a_count_leads_where_times_are_zero),
		cmocka_unit_test(test_names_decide_where_the_profile_wants_it),
		cmocka_unit_test(test_names_decide_where_the_tree_is_broken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
