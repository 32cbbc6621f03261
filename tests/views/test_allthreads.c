/* The tables of all threads, profiles.parquet and timeline.parquet, as rows and as columns. */
#include "harness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ROOT   PMFS_PLACE_ROOT
#define THREAD PMFS_PLACE_THREAD

static int damage;            /* how the first thread fails: -EIO or -EINVAL */
static uint64_t damaged_from; /* and from which of its samples on */

static int64_t (*sound_values)(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err);

static int64_t values_but_of_the_first(const struct pm_profile *p, struct pm_values_of of,
	uint64_t first, struct pm_value *ret, size_t room, struct pm_error *err)
{
	if (of.what == PM_OF_THREAD && of.index == 0)
		return pm_error_set(err, damage, "profile.db", 0, "is damaged");
	return sound_values(p, of, first, ret, room, err);
}

static int64_t (*sound_samples)(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err);

static int64_t samples_but_of_the_first(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	if (thread == 0 && first >= damaged_from)
		return pm_error_set(err, damage, "trace.db", 0, "is damaged");
	room = thread == 0 && room > damaged_from - first ? damaged_from - first : room;
	return sound_samples(p, thread, first, ret, room, err);
}

/* Whether the view has rows of the threads 10 and 11. */
static void check_rows_of(struct fake *f, const char *name, bool first, bool second)
{
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *text = view_text(m, ROOT, name, 0);
	assert_int_equal(strstr(text, "\n10|") != NULL, first);
	assert_int_equal(strstr(text, "\n11|") != NULL, second);
	free(text);
	pmfs_model_free(m);
}

static void test_profiles_of_all_threads_leave_out_what_is_damaged(void **state)
{
	struct fake *f = fake_with_two_threads();
	check_rows_of(f, "profiles.parquet", true, true);
	sound_values = f->ops.values;
	f->ops.values = values_but_of_the_first;
	damage = -EIO;
	check_rows_of(f, "profiles.parquet", false, true);
	damage = -EINVAL;
	check_rows_of(f, "profiles.parquet", false, true);
	fake_free(f);
}

static void test_traces_of_all_threads_leave_out_what_is_damaged(void **state)
{
	struct fake *f = fake_with_two_threads();
	fake_sample(f, 0, 1500, 2);
	fake_sample(f, 1, 1600, 1);
	check_rows_of(f, "timeline.parquet", true, true);
	sound_samples = f->ops.samples;
	f->ops.samples = samples_but_of_the_first;
	damage = -EIO;
	check_rows_of(f, "timeline.parquet", false, true);
	damage = -EINVAL;
	check_rows_of(f, "timeline.parquet", false, true);
	fake_free(f);
}

enum { NO_BOUND = -1 };

/* Rows of timeline.parquet by columns, and what of them is known: thread, time, duration. */
static void check_strips(struct pmfs_model *m, const char *want, int64_t greatest_time)
{
	enum { ROWS = 5 };
	int64_t values[3][ROWS];
	uint8_t known[3][ROWS];
	struct pm_strip strips[12] = {{.values = NULL}};
	struct pm_cell least[12] = {{.kind = PM_CELL_EMPTY}},
		       greatest[12] = {{.kind = PM_CELL_EMPTY}};
	char got[256];
	size_t n = 0;
	struct pm_doc doc;
	memset(known, 7, sizeof(known));
	assert_int_equal(
		pmfs_view_doc(view_named(ROOT, "timeline.parquet"), m, 0, PM_NONE, &doc, NULL), 0);
	assert_int_equal(doc.table.end, ROWS);
	for (uint32_t c = 0; c < 3; c++)
		strips[c] = (struct pm_strip){values[c], known[c]};
	assert_int_equal(doc.table.type->strips(&doc.table, 0, ROWS, strips, NULL), 0);
	for (uint32_t i = 0; i < ROWS; i++)
		for (uint32_t c = 0; c < 3; c++)
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%.*lld%c", known[c][i],
				known[c][i] ? (long long)values[c][i] : 0LL, c < 2 ? '|' : ' ');
	assert_string_equal(got, want);
	assert_int_equal(doc.table.type->bounds(&doc.table, 0, ROWS, least, greatest, NULL), 0);
	assert_int_equal(
		greatest[1].kind == PM_CELL_EMPTY ? NO_BOUND : greatest[1].i, greatest_time);
	for (uint32_t c = 0; c < 12; c++)
		assert_true(greatest[c].kind != PM_CELL_U64 || greatest[c].u <= INT64_MAX);
}

/* There are as many rows as the traces say, whatever can be read of them. */
static void test_columns_of_all_traces_are_empty_where_damaged(void **state)
{
	static const char sound[] = "10|100|100 10|200|50 10|250| 11|600|100 11|700| ";
	static const char begun[] = "10|100|100 10|| 10|| 11|600|100 11|700| ";
	static const char none[] = "10|| 10|| 10|| 11|600|100 11|700| ";
	struct fake *f = fake_with_two_threads();
	fake_sample(f, 0, 1100, 2);
	fake_sample(f, 0, 1200, 2);
	fake_sample(f, 0, 1250, 2);
	fake_sample(f, 1, 1600, 1);
	fake_sample(f, 1, 1700, 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	check_strips(m, sound, 700);
	sound_samples = f->ops.samples;
	f->ops.samples = samples_but_of_the_first;
	for (int i = 0; i < 2; i++) {
		damage = i ? -EIO : -EINVAL;
		damaged_from = 1;
		check_strips(m, begun, 700);
		damaged_from = 0;
		check_strips(m, none, 700);
	}
	views_done(m, f);
}

/* One number that int64 cannot hold takes none of the others along. */
static void test_columns_of_all_traces_are_empty_beyond_63_bits(void **state)
{
	struct fake *f = fake_with_two_threads();
	for (uint64_t i = 0; i < 3; i++)
		fake_sample(f, 0, 1100 + 100 * i, 2);
	fake_sample(f, 1, 1700, 1);
	fake_sample(f, 1, 2000 + (UINT64_C(1) << 63), 1);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	check_strips(m, "10|100|100 10|200|100 10|300| 11|700| 11|| ", 700);
	views_done(m, f);
}

static uint64_t n_samples_read;

static int64_t counted_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	int64_t n = sound_samples(p, thread, first, ret, room, err);
	n_samples_read += n > 0 ? (uint64_t)n : 0;
	return n;
}

/* The first columns: least and greatest number, or nothing where it is unknown. */
static void check_bounds(
	struct pmfs_model *m, enum pmfs_place place, const char *name, const char *want)
{
	struct pm_cell least[12] = {{.kind = PM_CELL_EMPTY}},
		       greatest[12] = {{.kind = PM_CELL_EMPTY}};
	struct pm_doc doc;
	char got[256];
	size_t n = 0;
	assert_int_equal(pmfs_view_doc(view_named(place, name), m, 0, PM_NONE, &doc, NULL), 0);
	assert_int_equal(
		doc.table.type->bounds(&doc.table, 0, doc.table.end, least, greatest, NULL), 0);
	for (uint32_t c = 0; c < doc.table.n_columns; c++)
		if (greatest[c].kind != PM_CELL_EMPTY)
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%s %lld-%lld ",
				doc.table.columns[c], (long long)least[c].i,
				(long long)greatest[c].i);
	got[n] = 0;
	assert_string_equal(got, want);
}

/* All would have to be decoded: opening a file as Parquet would take as long as reading it. */
static void test_bounds_of_calls_need_few_samples(void **state)
{
	struct fake *f = fake_with_two_threads();
	for (uint64_t i = 0; i < 100; i++) {
		fake_sample(f, 0, 1100 + i, 2);
		fake_sample(f, 1, 1600 + i, 1);
	}
	sound_samples = f->ops.samples;
	f->ops.samples = counted_samples;
	f->profile.traces_are_calls = true;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	n_samples_read = 0;
	check_bounds(m, THREAD, "trace.csv", "");
	check_bounds(m, ROOT, "timeline.parquet", "thread_id 10-11 ");
	assert_int_equal(n_samples_read, 0);
	f->profile.calls_in_order = true;
	check_bounds(m, THREAD, "trace.csv", "time_ns 100-199 timestamp_ns 1100-1199 ");
	check_bounds(m, ROOT, "timeline.parquet",
		"thread_id 10-11 time_ns 100-699 timestamp_ns 1100-1699 ");
	assert_int_equal(n_samples_read, 6);
	f->profile.traces_are_calls = false;
	check_bounds(
		m, THREAD, "trace.csv", "time_ns 100-199 duration_ns 1-1 timestamp_ns 1100-1199 ");
	views_done(m, f);
}

static int count_text(void *context, uint32_t column, uint32_t number, struct pm_bytes text)
{
	(void)number;
	(void)text;
	((uint32_t *)context)[column]++;
	return 0;
}

static void test_texts_of_a_trace_are_told_once(void **state)
{
	enum { CONTEXTS = 50, CATEGORY = 5, FUNCTION, NAME };
	struct fake *f = fake_with_two_threads();
	uint32_t b = fake_function(f, "b", NULL, 0), told[12] = {0};
	for (uint32_t i = 0; i < CONTEXTS; i++)
		fake_call(f, 10 + i, 2, b);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pm_doc doc;
	assert_int_equal(
		pmfs_view_doc(view_named(THREAD, "trace.csv"), m, 0, PM_NONE, &doc, NULL), 0);
	assert_int_equal(doc.table.type->texts(&doc.table, count_text, told, NULL), 0);
	assert_in_range(told[CATEGORY], 2, 100);
	assert_int_equal(told[FUNCTION], 3);
	assert_int_equal(told[NAME], 3);
	views_done(m, f);
}

/* Otherwise they would be empty, as if nothing had been measured. */
static void test_tables_of_all_threads_need_the_tree(void **state)
{
	static const char *const names[] = {"profiles.parquet", "timeline.parquet"};
	static const int errors[] = {-EIO, -EINVAL};
	struct fake *f = fake_with_two_threads();
	fake_sample(f, 0, 1500, 2);
	for (size_t i = 0; i < 4; i++) {
		char want[16];
		f->tree_error = errors[i / 2];
		snprintf(want, sizeof(want), "!%d", errors[i / 2]);
		struct pmfs_model *m = pmfs_model_new(&f->profile);
		assert_view(m, ROOT, names[i % 2], 0, want);
		pmfs_model_free(m);
	}
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profiles_of_all_threads_leave_out_what_is_damaged),
		cmocka_unit_test(test_traces_of_all_threads_leave_out_what_is_damaged),
		cmocka_unit_test(test_columns_of_all_traces_are_empty_where_damaged),
		cmocka_unit_test(test_columns_of_all_traces_are_empty_beyond_63_bits),
		cmocka_unit_test(test_bounds_of_calls_need_few_samples),
		cmocka_unit_test(test_texts_of_a_trace_are_told_once),
		cmocka_unit_test(test_tables_of_all_threads_need_the_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
