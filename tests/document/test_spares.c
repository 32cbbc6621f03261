/* fs/document/spares.c: which buffers are kept. The sanitizer sees what is freed twice or never. */
#include "tests/unittest.h"

#include <stdlib.h>

#include "fs/document/spares.h"

enum { LONG = 1 << 20 };

static void give(struct pmfs_spares *s, size_t taken)
{
	char *p = malloc(taken);
	assert_non_null(p);
	pmfs_spares_give(s, p, taken);
}

static void test_a_long_buffer_is_used_again(void **state)
{
	struct pmfs_spares s;
	(void)state;
	pmfs_spares_init(&s);
	give(&s, LONG);
	struct pm_text t = pmfs_spares_take(&s), other = pmfs_spares_take(&s);
	assert_int_equal(t.taken, LONG);
	assert_int_equal(t.len, 0);
	assert_null(other.p);
	const char *before = t.p;
	pm_text_expect(&t, LONG);
	for (int i = 0; i < LONG; i++)
		pm_text_char(&t, 'x');
	assert_int_equal(pm_text_status(&t), 0);
	assert_ptr_equal(t.p, before);
	pmfs_spares_give(&s, t.p, t.taken);
	pmfs_spares_done(&s);
}

static void test_few_are_kept_and_none_of_other_sizes(void **state)
{
	struct pmfs_spares s;
	(void)state;
	pmfs_spares_init(&s);
	pmfs_spares_give(&s, NULL, 0);
	give(&s, LONG - 1);
	give(&s, 2 * LONG + 1);
	struct pm_text none = pmfs_spares_take(&s);
	assert_null(none.p);
	for (int i = 0; i < PMFS_N_SPARES + 2; i++)
		give(&s, LONG);
	unsigned n = 0;
	for (struct pm_text t; (t = pmfs_spares_take(&s)).p; n++)
		pm_text_done(&t);
	assert_int_equal(n, PMFS_N_SPARES);
	pmfs_spares_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_long_buffer_is_used_again),
		cmocka_unit_test(test_few_are_kept_and_none_of_other_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
