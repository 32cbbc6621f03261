/* The longest times that a record can store: their sums do not wrap. */
#include "tests/unittest.h"

#include <stdlib.h>
#include <string.h>

#include "tests/zts/drain.h"
#include "tests/zts/writer.h"

enum { CALLS = 300 };

#define MOST_TICKS ((1ull << 40) - 1)
#define LATEST_MS  9223372036854ull

static char folder[] = "/tmp/profmount-zts-XXXXXX";

/* A trace whose call made others, and each of them took as long as can be. */
static struct pm_profile *open_long(void)
{
	struct pm_text traces = {0}, payload = {0};
	zts_put_file_header(&traces, 0x10);
	zts_put_begin(&payload, 0, 1);
	zts_put_info(&payload, 0x05, 1558000000000ull);
	for (int i = 0; i < CALLS; i++) {
		zts_put_begin(&payload, 0, 2);
		zts_put_end(&payload, MOST_TICKS, 1);
	}
	zts_put_end(&payload, MOST_TICKS, CALLS + 1);
	zts_put_chunk(&traces, 0x10, pm_text_view(&payload));
	struct pm_profile *p = zts_open_traces(folder, pm_text_view(&traces));
	assert_non_null(p);
	pm_text_done(&traces);
	pm_text_done(&payload);
	return p;
}

static struct pm_value cost_of(const struct pm_profile *p, uint32_t context, uint32_t metric)
{
	struct pm_value values[4];
	assert_int_equal(p->ops->run_costs(p, context, values, 4, NULL), 4);
	return values[metric];
}

static void test_sums_of_long_calls_do_not_wrap(void **state)
{
	struct pm_profile *p = open_long();
	const double longest = (double)(MOST_TICKS * 65536);
	/* The call, and those that it made: in 64 bits 3.2e18 and -3.1e18. */
	assert_true(cost_of(p, 0, 0).whole && cost_of(p, 0, 0).u == MOST_TICKS * 65536);
	assert_false(cost_of(p, 0, 1).whole);
	assert_true(cost_of(p, 0, 1).f == -(CALLS - 1) * longest);
	assert_false(cost_of(p, 1, 0).whole);
	assert_true(cost_of(p, 1, 0).f == CALLS * longest);
	pm_profile_close(p);
}

static void test_tables_show_what_64_bits_do_not_hold(void **state)
{
	struct pm_text out = {0};
	struct pm_profile *p = open_long();
	assert_int_equal(zts_drain_path(p, "methods.csv", &out), 0);
	pm_text_char(&out, '\0');
	assert_non_null(strstr(out.p, "300,0,21617278211358720000,21617278211358720000,7205"));
	assert_non_null(strstr(out.p, "1,0,72057594037862400,-21545220617320858000,7205"));
	pm_text_done(&out);
	pm_profile_close(p);
}

/* A trace at the latest time that a payload can store, and one long before it. */
static struct pm_profile *open_late(void)
{
	const uint64_t stamps[] = {1, LATEST_MS};
	struct pm_text traces = {0}, payload = {0};
	zts_put_file_header(&traces, 0x10);
	for (int i = 0; i < 2; i++) {
		zts_put_begin(&payload, 0, 1);
		zts_put_info(&payload, 0x05, stamps[i]);
		zts_put_begin(&payload, MOST_TICKS, 2);
		zts_put_end(&payload, MOST_TICKS, 1);
		zts_put_end(&payload, 1, 2);
		zts_put_chunk(&traces, 0x10, pm_text_view(&payload));
		pm_text_clear(&payload);
	}
	struct pm_profile *p = zts_open_traces(folder, pm_text_view(&traces));
	assert_non_null(p);
	pm_text_done(&traces);
	pm_text_done(&payload);
	return p;
}

static void test_a_call_beyond_63_bits_has_no_time(void **state)
{
	struct pm_profile *p = open_late();
	const char *calls = "stores/000000/traces/22620411T234716.854/calls.csv";
	struct pm_text out = {0};
	assert_int_equal(zts_drain_path(p, calls, &out), 0);
	pm_text_char(&out, '\0');
	assert_string_equal(
		out.p, "9223372036853000000,65536,65536,0,2,0,000000#1\n,0,0,1,1,0,000000#2\n");
	pm_text_done(&out);
	pm_profile_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_of_long_calls_do_not_wrap),
		cmocka_unit_test(test_tables_show_what_64_bits_do_not_hold),
		cmocka_unit_test(test_a_call_beyond_63_bits_has_no_time),
	};
	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	zts_remove_folder(folder);
	return failed;
}
