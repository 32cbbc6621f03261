/* fs/windows: names of windows, and the collection that finds them by name. */
#include "tests/unittest.h"

#include <stdlib.h>

#include "fake.h"
#include "formats/common/span.h"
#include "fs/windows/windows.h"
#include "profmount/limits.h"

#define SECOND UINT64_C(1000000000)

/* A run of 2 ms with a thread. */
static struct fake *fake_run(bool calls)
{
	struct fake *f = fake_new();
	fake_call(f, 1, 0, fake_function(f, "main", "main.c", 1));
	fake_sample(f, fake_thread(f, 0, 0), 1000, 1);
	f->profile.traces_are_calls = calls;
	f->span.origin_ns = 1000;
	f->span.duration_ns = 2000000;
	return f;
}

/* ---- names ---- */

static void test_names(void **state)
{
	static const struct {
		const char *name;
		uint64_t start, end;
		const char *canonical; /* NULL: it is */
	} names[] = {
		{"1.5s-2s", 3 * SECOND / 2, 2 * SECOND, NULL},
		{"250ms-300ms", 250000000, 300000000, NULL},
		{"0-1000000ns", 0, 1000000, "0-1ms"},
		{"0-1ns", 0, 1, NULL},
		{"0s-0.001us", 0, 1, "0-1ns"},
		{"1.5s-", 3 * SECOND / 2, 10 * SECOND, "1.5s-10s"},
		{"-1us", 0, 1000, "0-1us"},
		{"-", 0, 10 * SECOND, "0-10s"},
		{"001.500s-0010s", 3 * SECOND / 2, 10 * SECOND, "1.5s-10s"},
		{"1.000000001s-1.00000001s", SECOND + 1, SECOND + 10, NULL},
		{"1.0000000000s-2s", SECOND, 2 * SECOND, "1s-2s"},
		{"999us-1ms", 999000, 1000000, NULL},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct pm_text text = {.p = NULL};
		uint64_t start, end;
		assert_true(pm_span_read(
			pm_bytes_of(names[i].name), PM_NO_TIME, 10 * SECOND, &start, &end));
		assert_int_equal(start, names[i].start);
		assert_int_equal(end, names[i].end);
		pm_span_print(&text, start, end);
		const char *canonical = names[i].canonical ? names[i].canonical : names[i].name;
		assert_true(pm_bytes_equal(pm_text_view(&text), pm_bytes_of(canonical)));
		pm_text_done(&text);
	}
}

static void test_no_names(void **state)
{
	static const char *const names[] = {"", "1s", "2s-1s", "5ns-5ns", "1s-2", "1-2s", "a-b",
		"--", "-1s-2s", "1s--2s", "0.0000000001s-1s", "1.05ns-2s", "1e3ns-2s", "1s-11s",
		"18446744073709551616ns-", "18446744073709551615s-", "99999999999999999999s-",
		"1s-2s-3s", "+1ns-2ns", " 0-1ns", "0-1ns ", "1.ns-2ns", ".5s-1s", "1..5s-2s",
		"1S-2S", "0x1ns-1s", "1m-2m", "1s-2s\n", "README.txt"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint64_t start, end;
		assert_false(
			pm_span_read(pm_bytes_of(names[i]), PM_NO_TIME, 10 * SECOND, &start, &end));
	}
}

/* The run begins on 2026-11-26 at 14:00:00.25 UTC and takes ten seconds. */
static void test_times_of_day(void **state)
{
	static const uint64_t origin = 1795701600250000000;
	static const struct {
		const char *name;
		uint64_t start, end; /* both 0: no name */
	} names[] = {
		{"20261126T140001Z-20261126T140002Z", 3 * SECOND / 4, 7 * SECOND / 4},
		{"20261126T140001.000000001Z-20261126T140002.50Z", 3 * SECOND / 4 + 1,
			9 * SECOND / 4},
		{"20261126T140001Z-", 3 * SECOND / 4, 10 * SECOND},
		{"-20261126T140001Z", 0, 3 * SECOND / 4},
		{"1s-20261126T140002Z", SECOND, 7 * SECOND / 4},
		{"20261126T140000Z-20261126T150000Z", 0, 10 * SECOND},
		{"20261126T130000Z-20261126T140001Z", 0, 3 * SECOND / 4},
		{"20240229T000000Z-20261126T140001Z", 0, 3 * SECOND / 4},
		{"20261126T120000Z-20261126T130000Z", 0, 0},
		{"20261126T150000Z-20261126T160000Z", 0, 0},
		{"20261126T140002Z-20261126T140001Z", 0, 0},
		{"20230229T000000Z-", 0, 0},
		{"20261301T000000Z-", 0, 0},
		{"20261100T000000Z-", 0, 0},
		{"-20261126T240000Z", 0, 0},
		{"-20261126T140060Z", 0, 0},
		{"20261126T140001-20261126T140002Z", 0, 0},
		{"20261126T140001.Z-", 0, 0},
		{"20261126T140001.0000000001Z-", 0, 0},
		{"20261126T140001.5ZZ-", 0, 0},
		{"20261126140001Z-", 0, 0},
		{"2026-1126T140001Z", 0, 0},
		{"00000101T000000Z-", 0, 0},
		{"-99991231T235959Z", 0, 0},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct pm_bytes name = pm_bytes_of(names[i].name);
		uint64_t start, end;
		bool is_name = pm_span_read(name, origin, 10 * SECOND, &start, &end);
		assert_int_equal(is_name, names[i].end > 0);
		if (is_name)
			assert_true(start == names[i].start && end == names[i].end);
		assert_false(pm_span_read(name, PM_NO_TIME, 10 * SECOND, &start, &end));
	}
}

/* ---- the collection ---- */

static void forget_nothing(void *context, uint8_t *numbers)
{
	(void)context, (void)numbers;
}

static void test_collection(void **state)
{
	struct fake *f = fake_run(false);
	struct pmfs_windows *w = pmfs_windows_new(&f->profile);
	struct pmfs_window_number first, same, of_thread, link, none;
	struct pm_unlisted *names = pm_unlisted_new(forget_nothing, NULL);
	pmfs_windows_number_from(w, names);
	assert_int_equal(pmfs_windows_are_there(w, NULL), 1);
	const struct pm_collection *c = pmfs_windows_collection(w);
	assert_int_equal(c->has(c, 0, NULL), 0);
	assert_int_equal(c->has(c, PM_FIRST_UNLISTED, NULL), 0);
	assert_int_equal(pmfs_windows_find(w, PM_NONE, pm_bytes_of("0-1us"), &first, NULL), 1);
	assert_int_equal(pmfs_windows_find(w, PM_NONE, pm_bytes_of("0-1us"), &same, NULL), 1);
	assert_int_equal(pmfs_windows_find(w, 0, pm_bytes_of("0-1us"), &of_thread, NULL), 1);
	assert_int_equal(pmfs_windows_find(w, PM_NONE, pm_bytes_of("0-1000ns"), &link, NULL), 1);
	assert_int_equal(pmfs_windows_find(w, PM_NONE, pm_bytes_of("0-1h"), &none, NULL), 0);
	assert_int_equal(first.item, same.item);
	assert_int_not_equal(first.item, of_thread.item);
	assert_int_equal(pmfs_windows_thread(w, first.item), PM_NONE);
	assert_int_equal(pmfs_windows_thread(w, of_thread.item), 0);
	assert_false(c->is_document(c, first.item));
	assert_true(c->is_document(c, link.item));
	struct pm_named_doc doc;
	struct pm_text target = {.p = NULL};
	assert_int_equal(c->document(c, link.item, 0, &doc), 1);
	assert_int_equal(doc.doc.kind, PM_DOC_LINK);
	assert_int_equal(doc.doc.text.render(&doc.doc, &target, NULL), 0);
	assert_true(pm_bytes_equal(pm_text_view(&target), pm_bytes_of("0-1us")));
	pm_text_done(&target);
	pmfs_windows_free(w);
	pm_unlisted_drop(names);
	fake_free(f);
}

static int list_nothing(
	void *context, struct pmfs_listed **ret, uint32_t *ret_n, struct pm_error *err)
{
	(void)context;
	(void)err;
	*ret = calloc(1, sizeof(**ret));
	*ret_n = 0;
	return *ret ? 0 : -ENOMEM;
}

static void check_readme(bool threads, bool listed, const char *about, const char *where)
{
	struct fake *f = fake_run(true);
	struct pm_text text = {.p = NULL};
	if (!threads)
		fake_without_threads(f);
	struct pmfs_windows *w = pmfs_windows_new(&f->profile);
	if (listed)
		pmfs_windows_list(w, list_nothing, NULL);
	const struct pm_named_doc *readme = pmfs_windows_readme(w);
	assert_int_equal(readme->doc.text.render(&readme->doc, &text, NULL), 0);
	pm_text_char(&text, '\0');
	assert_non_null(strstr(text.p, about));
	assert_non_null(strstr(text.p, where));
	assert_int_equal(!threads, !strstr(text.p, "thread"));
	pm_text_done(&text);
	pmfs_windows_free(w);
	fake_free(f);
}

static void test_readme(void **state)
{
	check_readme(true, false, "Windows are not listed", "on all threads?");
	check_readme(true, true, "Those of iterations are listed", "on all threads?");
	check_readme(false, true, "Those of iterations are listed", "in all traces?");
}

/* Names never run out: those that nobody uses make room, and those in use stay what they are. */
static void test_many_names(void **state)
{
	struct fake *f = fake_run(false);
	f->span.duration_ns = UINT64_C(1) << 40;
	struct pmfs_windows *w = pmfs_windows_new(&f->profile);
	struct pm_unlisted *names = pm_unlisted_new(forget_nothing, NULL);
	struct pmfs_window_number first, number;
	struct pm_text name = {.p = NULL};
	pmfs_windows_number_from(w, names);
	assert_int_equal(pmfs_windows_find(w, PM_NONE, pm_bytes_of("0-1us"), &first, NULL), 1);
	assert_true(pm_unlisted_hold(names, first.item - PM_FIRST_UNLISTED, first.generation));
	for (unsigned i = 1; i <= 3 * PM_LIMIT_UNLISTED; i++) {
		pm_text_clear(&name);
		pm_span_print(&name, i, i + 1000);
		assert_int_equal(
			pmfs_windows_find(w, PM_NONE, pm_text_view(&name), &number, NULL), 1);
		assert_int_not_equal(number.item, first.item);
	}
	assert_true(number.generation > 0);
	assert_int_equal(pmfs_windows_find(w, PM_NONE, pm_bytes_of("0-1us"), &number, NULL), 1);
	assert_int_equal(number.item, first.item);
	pm_text_done(&name);
	pmfs_windows_free(w);
	pm_unlisted_drop(names);
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_times_of_day),
		cmocka_unit_test(test_collection),
		cmocka_unit_test(test_readme),
		cmocka_unit_test(test_many_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
