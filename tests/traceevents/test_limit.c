/* formats/traceevents/read.c with a limit of three events. */
#include "formats/traceevents/traceevents.h"

#include "tests/unittest.h"

#include <sys/mman.h>
#include <unistd.h>

#include "profmount/limits.h"

#undef PM_LIMIT_ITEMS
#define PM_LIMIT_ITEMS ((uint32_t)3)
#include "formats/traceevents/read.c"

extern const struct pm_format tev_format;

/* Opens the text; checks whether reading stopped at this offset (0: not at all). */
static void check(const char *text, uint64_t offset)
{
	const struct pm_open_options options = {.no_symbols = true};
	const struct pm_damages *d;
	const struct pm_tree *t;
	struct pm_profile p = {.ops = NULL};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct pm_bytes b = pm_bytes_of(text);
	assert_int_equal(write(fd, b.p, b.len), (ssize_t)b.len);
	struct pm_candidate c = {
		.path = "/t.json", .fd = fd, .size = b.len, .head = b, .inflated = b, .text = b};
	assert_int_equal(tev_format.open(&c, &options, &p, &err), 0);
	assert_int_equal(pm_profile_ready(&p, &err), 0);
	assert_int_equal(pm_profile_tree(&p, &t, NULL), 0);
	assert_int_equal(t->n_contexts, 3);
	assert_int_equal(pm_profile_damage(&p, &d, NULL), 0);
	assert_int_equal(d->n, offset > 0);
	if (offset > 0) {
		assert_int_equal(d->rows[0].offset, offset);
		assert_non_null(strstr(d->rows[0].what, "more than 3 events"));
	}
	tev_format.close(&p);
	close(fd);
}

#define EVENT(name) "{\"ph\":\"X\",\"name\":\"" name "\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1}"
#define THREE       EVENT("a") "," EVENT("b") "," EVENT("c")

static void test_events_beyond_the_limit_are_said(void **state)
{
	size_t event = strlen(EVENT("a"));
	check("[" THREE "]", 0);
	check("[" THREE "," EVENT("d") "," EVENT("e") "]", 1 + 3 * (event + 1));
	check("{\"traceEvents\":[" THREE "]}", 0);
	check("{\"traceEvents\":[" THREE "," EVENT("d") "],\"traceName\":\"x\"}",
		strlen("{\"traceEvents\":[") + 3 * (event + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_events_beyond_the_limit_are_said)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
