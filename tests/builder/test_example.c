/* The example of docs/adding-a-format.md is a format. */
#include "tests/unittest.h"

#include <sys/mman.h>
#include <unistd.h>

#include "profmount/format.h"

extern const struct pm_format slashed_format;

static void test_the_example_of_the_documentation_reads(void **state)
{
	const struct pm_open_options options = {.no_symbols = true};
	struct pm_bytes b = pm_bytes_of("#slashed\nmain/work\t30\nmain\t12\nmain/work\t1x\n");
	const struct pm_damages *damages;
	const struct pm_tree *t;
	struct pm_profile p = {.ops = NULL};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_value v[4];
	int fd = memfd_create("slashed", MFD_CLOEXEC);
	assert_int_equal(write(fd, b.p, b.len), (ssize_t)b.len);
	struct pm_candidate c = {
		.path = "/a.txt", .fd = fd, .size = b.len, .head = b, .inflated = b, .text = b};
	assert_int_equal(slashed_format.probe(&c), PM_PROBE_CERTAIN);
	assert_int_equal(slashed_format.open(&c, &options, &p, &err), 0);
	assert_int_equal(pm_profile_ready(&p, &err), 0);
	assert_int_equal(pm_profile_tree(&p, &t, NULL), 0);
	assert_int_equal(t->n_contexts, 2);
	assert_true(p.ops->run_costs(&p, 0, v, 4, NULL) > 0);
	assert_int_equal(v[0].i, 42000); /* µs are ns now */
	assert_int_equal(pm_profile_damage(&p, &damages, NULL), 0);
	assert_int_equal(damages->n, 1); /* the count that is none */
	slashed_format.close(&p);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_example_of_the_documentation_reads)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
