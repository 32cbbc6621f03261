/*
 * Value blocks, samples and names that overlap others: shared bytes are not read for each of them.
 */
#include "tests/unittest.h"

#include <string.h>

#include "formats/common/cursor.h"
#include "formats/hpctoolkit/hpctoolkit.h"
#include "tests/hpctoolkit/fixtures.h"

static struct fixture_folder folder;
static struct hpctkw_files files; /* the rich database in the released layout */

static int write_rich(void **state)
{
	struct hpctkw_database *w =
		fixture_rich(&(struct hpctkw_style){.generation = HPCTKW_RELEASED});
	hpctkw_write(w, &files);
	hpctkw_free(w);
	fixture_folder_make(&folder);
	return 0;
}

static int remove_rich(void **state)
{
	fixture_folder_done(&folder);
	hpctkw_files_free(&files);
	return 0;
}

/* Row i of the one table that a file begins with. */
static uint8_t *row(enum hpctkw_file file, uint32_t i)
{
	const struct pm_bytes bytes = {files.file[file].p, files.file[file].n};
	uint64_t table = pm_le64(bytes.p + 0x18);
	return files.file[file].p + pm_le64(bytes.p + table) + (uint64_t)i * bytes.p[table + 0x0c];
}

/* How many rows of damage say that what lies at `offset` belongs to another one. */
static size_t shared_at(const struct pm_profile *p, const char *file, uint64_t offset)
{
	const struct pm_damages *damages;
	size_t n = 0;
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	for (size_t i = 0; i < damages->n; i++)
		n += strcmp(damages->rows[i].file, file) == 0 &&
			damages->rows[i].offset == offset &&
			strstr(damages->rows[i].what, "overlap those of another one");
	return n;
}

static void test_blocks_of_one_place_are_read_once(void **state)
{
	struct pm_value value;
	for (uint32_t i = 5; i < 9; i++)
		memcpy(row(HPCTKW_CCT, i), row(HPCTKW_CCT, 9), 0x20);
	memcpy(row(HPCTKW_PROFILE, 2), row(HPCTKW_PROFILE, 1), 0x20);
	fixture_folder_save(&folder, &files);
	struct pm_profile *p = fixture_open(&folder);
	/* Of five rows one keeps it. */
	assert_int_equal(shared_at(p, "cct.db", pm_le64(row(HPCTKW_CCT, 9) + 8)), 4);
	assert_int_equal(shared_at(p, "profile.db", pm_le64(row(HPCTKW_PROFILE, 1) + 8)), 1);
	assert_int_equal(p->ops->values(p, (struct pm_values_of){PM_OF_THREAD, 0, false}, 0, &value,
				 1, NULL),
		1);
	assert_int_equal(p->ops->values(p, (struct pm_values_of){PM_OF_THREAD, 1, false}, 0, &value,
				 1, NULL),
		-EINVAL);
	pm_profile_close(p);
}

/* The damage is in the row that claims too much, not in those that it covers. */
static void test_a_block_that_covers_others_costs_none_of_theirs(void **state)
{
	struct pm_value value;
	const struct pm_damages *damages;
	uint64_t values = pm_le64(row(HPCTKW_CCT, 4) + 8);
	uint64_t n = (files.file[HPCTKW_CCT].n - values) / 12;
	for (int i = 0; i < 8; i++)
		row(HPCTKW_CCT, 4)[i] = (uint8_t)(n >> 8 * i);
	fixture_folder_save(&folder, &files);
	struct pm_profile *p = fixture_open(&folder);
	assert_int_equal(shared_at(p, "cct.db", values), 1);
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	assert_int_equal(damages->n, 1);
	assert_int_equal(p->ops->values(p, fixture_costs_of(p, 9), 0, &value, 1, NULL), 1);
	assert_true(value.f == 3);
	pm_profile_close(p);
}

static void test_samples_of_one_place_are_those_of_one_thread(void **state)
{
	struct pm_sample sample;
	const struct pm_threads *threads;
	memcpy(row(HPCTKW_TRACE, 1) + 8, row(HPCTKW_TRACE, 0) + 8, 0x10);
	fixture_folder_save(&folder, &files);
	struct pm_profile *p = fixture_open(&folder);
	assert_int_equal(shared_at(p, "trace.db", pm_le64(row(HPCTKW_TRACE, 0) + 8)), 1);
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	assert_int_equal(threads->threads[0].n_samples, 4);
	assert_int_equal(threads->threads[2].n_samples, 0);
	assert_int_equal(p->ops->samples(p, 0, 0, &sample, 1, NULL), 1);
	assert_int_equal(p->ops->samples(p, 2, 0, &sample, 1, NULL), -EINVAL);
	pm_profile_close(p);
}

static void test_marks_leave_what_is_disjoint(void **state)
{
	static const struct {
		struct hpctk_stretch stretches[5];
		size_t n;
		uint8_t marks;
	} cases[] = {
		{{{0, 10, 0}, {10, 20, 1}, {20, 30, 2}}, 3, 0},
		{{{20, 30, 0}, {0, 10, 1}, {10, 20, 2}}, 3, 0},
		{{{0, 10, 0}, {0, 10, 1}, {0, 10, 2}}, 3, 0x06},
		{{{0, 100, 0}, {10, 20, 1}, {30, 40, 2}}, 3, 0x01},
		{{{0, 10, 0}, {9, 20, 1}, {20, 30, 2}}, 3, 0x02},
		{{{0, 10, 0}, {40, 50, 0}, {10, 20, 1}, {45, 50, 1}, {60, 70, 2}}, 5, 0x02},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hpctk_stretch stretches[5];
		uint8_t marks = 0;
		memcpy(stretches, cases[i].stretches, sizeof(stretches));
		assert_int_equal(hpctk_sharing_mark(stretches, cases[i].n, &marks), 0);
		assert_int_equal(marks, cases[i].marks);
	}
}

/* A database with three functions: of a name of 1000 letters, and of its last 900 and 100. */
static void write_ends_of_a_name(void)
{
	enum { LONG = 1000, SECTION = 0x18 + 16 * 7 };
	static char name[LONG + 1];
	struct hpctkw_database *w =
		hpctkw_new(&(struct hpctkw_style){.generation = HPCTKW_RELEASED});
	memset(name, 'n', LONG);
	hpctkw_metric(w, "CPUTIME (sec)");
	uint32_t module = hpctkw_module(w, "/bin/app"), file = hpctkw_file(w, "a.c", 0);
	for (unsigned i = 0; i < 3; i++)
		hpctkw_function(w, i ? "f" : name, module, 0, file, i);
	struct hpctkw_context c = {.parent = HPCTKW_NONE, .id = 1, .entry = "main thread"};
	hpctkw_context(w, &c);
	hpctkw_profile(w);
	hpctkw_files_free(&files);
	hpctkw_write(w, &files);
	hpctkw_free(w);
	uint8_t *meta = files.file[HPCTKW_META].p;
	uint8_t *table = meta + pm_le64(meta + SECTION), *first = meta + pm_le64(table);
	for (unsigned i = 1; i < 3; i++) {
		uint64_t at = pm_le64(first) + (i == 1 ? 100 : 900);
		for (unsigned b = 0; b < 8; b++)
			first[i * pm_le16(table + 0x0c) + b] = (uint8_t)(at >> 8 * b);
	}
}

static void test_a_long_end_of_a_name_is_no_name(void **state)
{
	const struct pm_damages *damages;
	size_t n = 0;
	write_ends_of_a_name();
	fixture_folder_save(&folder, &files);
	struct pm_profile *p = fixture_open(&folder);
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	for (size_t i = 0; i < damages->n; i++)
		n += strstr(damages->rows[i].what, "its string is the end of another") != NULL;
	assert_int_equal(n, 1);
	pm_profile_close(p);
}

/* What becomes of the bytes later shows whether they are looked through again. */
static void test_a_name_without_an_end_is_looked_for_once(void **state)
{
	enum { BYTES = 70000, AT = 8, END = 1000 };
	static uint8_t bytes[BYTES];
	static struct hpctk_opened db;
	struct pm_map lengths = {.slots = NULL};
	struct pm_bytes name;
	memset(bytes + AT, 'n', BYTES - AT);
	db.folder.files[HPCTK_META].bytes = (struct pm_bytes){bytes, BYTES};
	assert_false(hpctk_string_find(&db, &lengths, AT, &name));
	bytes[END] = 0;
	assert_false(hpctk_string_find(&db, &lengths, AT, &name));
	assert_true(name.p == NULL && name.len == 0);
	assert_true(hpctk_string_find(&db, NULL, AT, &name));
	assert_int_equal(name.len, END - AT);
	pm_map_done(&lengths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_blocks_of_one_place_are_read_once, write_rich, remove_rich),
		cmocka_unit_test_setup_teardown(
			test_a_block_that_covers_others_costs_none_of_theirs, write_rich,
			remove_rich),
		cmocka_unit_test_setup_teardown(
			test_samples_of_one_place_are_those_of_one_thread, write_rich, remove_rich),
		cmocka_unit_test(test_marks_leave_what_is_disjoint),
		cmocka_unit_test_setup_teardown(
			test_a_long_end_of_a_name_is_no_name, write_rich, remove_rich),
		cmocka_unit_test(test_a_name_without_an_end_is_looked_for_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
