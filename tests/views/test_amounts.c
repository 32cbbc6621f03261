/* Numbers in pictures. */
#include "harness.h"

#include "fs/views/model/screen.h"

static void assert_text(struct pm_text *t, const char *want)
{
	pm_text_char(t, '\0');
	assert_int_equal(pm_text_status(t), 0);
	assert_string_equal(t->p, want);
	pm_text_clear(t);
}

static void test_amounts_have_four_digits_and_a_fitting_unit(void **state)
{
	static const struct {
		double value;
		const char *unit, *text;
	} rows[] = {
		{0, "sec", "0 s"},
		{1.5, "sec", "1.500 s"},
		{0.99994, "s", "999.9 ms"},
		{0.99996, "s", "1.000 s"},
		{999999.6, "ns", "1.000 ms"},
		{-0.99996, "s", "-1.000 s"},
		{12345.678, "sec", "12346 s"},
		{7.2e16, "sec", "7.200e+16 s"},
		{12.345, "ms", "12.35 ms"},
		{999, "ns", "999 ns"},
		{2, "sec", "2 s"},
		{2e-10, "sec", "0.200 ns"},
		{4.941e-315, "ns", "0 s"},
		{1536, "bytes", "1.500 KiB"},
		{1048575, "bytes", "1.000 MiB"},
		{1023, "bytes", "1023 B"},
		{12345, "", "12,345"},
		{99999, "calls", "99,999 calls"},
		{999999, "", "1.00 M"},
		{1234567, "", "1.23 M"},
		{13163246252, "cycles", "13.2 G cycles"},
		{128079000, "", "128 M"},
		{1.5e18, "", "1.500e+18"},
		{0.12345, "", "0.1235"},
		{1e300, "", "1.000e+300"},
		{100, "a\nb", "100 a b"},
	};
	struct pm_text t = {.p = NULL};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		pmfs_print_amount(&t, rows[i].value, pm_bytes_of(rows[i].unit));
		assert_text(&t, rows[i].text);
	}
	pm_text_done(&t);
}

static void test_rests_of_sums_are_no_costs(void **state)
{
	assert_true(pmfs_is_cost(1e-9, 1));
	assert_true(pmfs_is_cost(-1e-9, 1));
	assert_true(pmfs_is_cost(1e-300, 0));
	assert_false(pmfs_is_cost(0x1p-41, 1));
	assert_false(pmfs_is_cost(0, 0));
}

static void test_shares_keep_what_is_small(void **state)
{
	static const struct {
		double part, whole;
		const char *text;
	} rows[] = {{1, 2, "50%"}, {1, 3, "33.3%"}, {1, 300, "0.33%"}, {1, 1e6, "≈0%"},
		{0, 5, "0%"}, {5, 0, "0%"}, {2, 2, "100%"}};
	struct pm_text t = {.p = NULL};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		pmfs_print_share(&t, rows[i].part, rows[i].whole);
		assert_text(&t, rows[i].text);
	}
	pm_text_done(&t);
}

/* In a column, what one digit would show as 0.0% is shown as elsewhere. */
static void test_shares_stand_in_a_column(void **state)
{
	static const struct {
		double part, whole;
		const char *text;
	} rows[] = {{1, 2, " 50.0%"}, {1, 1, "100.0%"}, {1, 1500, "  0.1%"}, {1, 3000, " 0.03%"},
		{1, 1e6, "   ≈0%"}, {0, 5, "    0%"}, {5, 0, "      "}, {NAN, 1, "      "},
		{11, 1, " >999%"}, {-1, 1, "-100.0%"}, {-1, 4, "-25.0%"}, {-1, 1e6, "   ≈0%"},
		{-12, 1, "<-999%"}, {9.9996, 1, " >999%"}};
	struct pm_text t = {.p = NULL};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		pmfs_add_share(&t, rows[i].part, rows[i].whole);
		assert_text(&t, rows[i].text);
	}
	pm_text_done(&t);
}

static void test_bare_names_keep_the_marks_of_copies(void **state)
{
	static const struct {
		const char *name, *text;
	} rows[] = {{"void a::f(int) [clone .isra.0] [app]", "a::f [clone .isra.0]"},
		{"a::f(int) [clone ._omp_fn.10] [clone .cold]",
			"a::f [clone ._omp_fn.10] [clone .cold]"},
		{"a::calculate_the_forces(int) [clone ._omp_fn.10]",
			"a::calculate_the_forces [c… ._omp_fn.10]"},
		{"f._omp_fn.1", "f._omp_fn.1"}, {"f(int) const [app]", "f"}};
	struct pm_text t = {.p = NULL};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		pmfs_add_bare_cut(&t, pm_bytes_of(rows[i].name), 40);
		assert_text(&t, rows[i].text);
	}
	pm_text_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amounts_have_four_digits_and_a_fitting_unit),
		cmocka_unit_test(test_rests_of_sums_are_no_costs),
		cmocka_unit_test(test_shares_keep_what_is_small),
		cmocka_unit_test(test_shares_stand_in_a_column),
		cmocka_unit_test(test_bare_names_keep_the_marks_of_copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
