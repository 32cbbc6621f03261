/* Tests formats/common/formula.c. */
#include "tests/unittest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/formula.h"

/* a is 6, b is 4, none is NaN, zero is 0. */
static double value_of(const void *self, uint32_t leaf)
{
	static const double values[] = {6, 4, NAN, 0};
	(void)self;
	return values[leaf];
}

static int read_text(const char *text, struct pm_formula *ret, struct pm_formula_fault *fault)
{
	static const char *const names[] = {"a", "b", "none", "zero"};
	int r = pm_formula_read(pm_bytes_of(text), ret, fault);
	for (uint32_t i = 0; r == 0 && i < ret->n; i++)
		for (uint32_t k = 0; ret->ops[i].kind == PM_OP_NAME && k < 4; k++)
			if (pm_bytes_equal(ret->ops[i].name, pm_bytes_of(names[k])))
				ret->ops[i].leaf = k;
	return r;
}

static void test_values(void **state)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {
		{"1", 1},
		{" .5e1 ", 5},
		{"a/b", 1.5},
		{"a - b - 1", 1},
		{"a/b/2", 0.75},
		{"a+b*2", 14},
		{"(a+b)*2", 20},
		{"2*(a-(b-1))", 6},
		{"2^3^2", 512},
		{"-2^2", -4},
		{"2^-1*4", 2},
		{"--a", 6},
		{"+a*-b", -24},
		{"min(a, b, 5)", 4},
		{"max(b,min(a,9)) + 1", 7},
		{"sum(a,b,1)", 11},
		{"prod(a, b)", 24},
		{"pow(2, 10)", 1024},
		{"sqrt(b)", 2},
		{"ln(1)", 0},
		{"log(8, 2)", 3},
		{"floor(3/2)", 1},
		{"ceil(3/2)", 2},
		{"strict_floor(b)", 3},
		{"strict_ceil(b)", 5},
		{"floor (a/b) * 2", 2},
		{"a/zero", NAN},
		{"zero/zero", NAN},
		{"1/(1/zero)", NAN},
		{"none+a", NAN},
		{"min(none, a)", NAN},
		{"max(a, none)", NAN},
		{"none*0", NAN},
		{"sqrt(-1)", NAN},
		{"log(0)", NAN},
		{"10^400", NAN},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pm_formula f;
		struct pm_formula_fault fault;
		assert_int_equal(read_text(rows[i].text, &f, &fault), 0);
		double value = pm_formula_value(&f, value_of, NULL);
		pm_formula_done(&f);
		if (isnan(rows[i].value) ? !isnan(value) : fabs(value - rows[i].value) > 1e-12)
			fail_msg("%s is %g, not %g", rows[i].text, value, rows[i].value);
	}
}

static void test_names_may_begin_with_digits(void **state)
{
	struct pm_formula f;
	struct pm_formula_fault fault;
	(void)state;
	assert_int_equal(pm_formula_read(pm_bytes_of("1d_cache*2e3 + 2e + 2e3x"), &f, &fault), 0);
	assert_int_equal(f.n, 7);
	assert_true(pm_bytes_equal(f.ops[0].name, pm_bytes_of("1d_cache")));
	assert_true(f.ops[1].number == 2000);
	assert_true(pm_bytes_equal(f.ops[3].name, pm_bytes_of("2e")));
	assert_true(pm_bytes_equal(f.ops[5].name, pm_bytes_of("2e3x")));
	pm_formula_done(&f);
}

static void test_faults_have_a_place(void **state)
{
	static const struct {
		const char *text;
		size_t at;
	} rows[] = {
		{"", 0},
		{"  ", 2},
		{"a b", 2},
		{"a+", 2},
		{"a+*b", 2},
		{"(a", 2},
		{"a)", 1},
		{"a,b", 1},
		{"(a,b)", 2},
		{"()", 1},
		{"min()", 4},
		{"min(a", 5},
		{"sqrt(a,b)", 0},
		{"1+pow(a)", 2},
		{"gcd(a,b)", 0},
		{"a%b", 1},
		{"\"a\"", 0},
		{"1.2.3", 3},
		{"1e999", 0},
		{"log(1,2,3)", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pm_formula f;
		struct pm_formula_fault fault;
		int r = pm_formula_read(pm_bytes_of(rows[i].text), &f, &fault);
		if (r != -EINVAL || fault.at != rows[i].at || !fault.expected)
			fail_msg("%s: %d at %zu", rows[i].text, r, fault.at);
		assert_null(f.ops);
	}
}

/* `count` times `text`, then `middle`, then `count` times `end`. */
static int read_nested(const char *text, const char *middle, const char *end, size_t count)
{
	size_t n = strlen(text), m = strlen(middle), e = strlen(end);
	char *all = malloc(count * (n + e) + m + 1), *to = all;
	struct pm_formula f;
	struct pm_formula_fault fault;
	assert_non_null(all);
	for (size_t i = 0; i < count; i++, to += n)
		memcpy(to, text, n);
	memcpy(to, middle, m);
	to += m;
	for (size_t i = 0; i < count; i++, to += e)
		memcpy(to, end, e);
	*to = '\0';
	int r = read_text(all, &f, &fault);
	if (r == 0) {
		double value = pm_formula_value(&f, value_of, NULL);
		assert_true(isfinite(value));
		pm_formula_done(&f);
	}
	free(all);
	return r;
}

static void test_depth_and_length_are_bounded(void **state)
{
	(void)state;
	assert_int_equal(read_nested("(", "a", ")", 90), 0);
	assert_int_equal(read_nested("(", "a", ")", 100000), -EINVAL);
	assert_int_equal(read_nested("-", "a", "", 100000), -EINVAL);
	assert_int_equal(read_nested("2^", "a", "", 100000), -EINVAL);
	assert_int_equal(read_nested("max(1,", "a", ")", 40), 0);
	assert_int_equal(read_nested("max(1,", "a", ")", 100000), -EINVAL);
	assert_int_equal(read_nested("a+", "a", "", 400), 0);
	assert_int_equal(read_nested("a+", "a", "", 100000), -EINVAL);
	assert_int_equal(read_nested("", "min(a", ",a", 98), -EINVAL); /* without its end */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_names_may_begin_with_digits),
		cmocka_unit_test(test_faults_have_a_place),
		cmocka_unit_test(test_depth_and_length_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
