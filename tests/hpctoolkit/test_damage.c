/* What is refused, and what a broken part spoils: its own documents, and no others. */
#include "tests/unittest.h"

#include <stdio.h>
#include <string.h>

#include "formats/common/cursor.h"
#include "tests/hpctoolkit/fixtures.h"

static const struct hpctkw_style released = {.generation = HPCTKW_RELEASED};
static struct fixture_folder folder;
static struct hpctkw_files files; /* the rich database in the released layout */

static int write_rich(void **state)
{
	struct hpctkw_database *w = fixture_rich(&released);
	hpctkw_write(w, &files);
	hpctkw_free(w);
	fixture_folder_make(&folder);
	fixture_folder_save(&folder, &files);
	return 0;
}

static int remove_rich(void **state)
{
	fixture_folder_done(&folder);
	hpctkw_files_free(&files);
	return 0;
}

static uint64_t get(enum hpctkw_file file, uint64_t at)
{
	assert_true(at + 8 <= files.file[file].n);
	return pm_le64(files.file[file].p + at);
}

static void set(enum hpctkw_file file, uint64_t at, unsigned size, uint64_t value)
{
	assert_true(at + size <= files.file[file].n);
	for (unsigned i = 0; i < size; i++)
		files.file[file].p[at + i] = (uint8_t)(value >> (8 * i));
}

static struct pm_profile *open_changed(void)
{
	fixture_folder_save(&folder, &files);
	return fixture_open(&folder);
}

static const struct pm_tree *tree_of(const struct pm_profile *p)
{
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	return tree;
}

/* Row i of the damage, or NULL. */
static const struct pm_damage *damage_row(const struct pm_profile *p, size_t i)
{
	const struct pm_damages *damages;
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	return i < damages->n ? &damages->rows[i] : NULL;
}

static void assert_damage(
	const struct pm_profile *p, const char *file, uint64_t offset, const char *what)
{
	const struct pm_damage *row;
	for (size_t i = 0; (row = damage_row(p, i)); i++)
		if (strcmp(row->file, file) == 0 && row->offset == offset &&
			strstr(row->what, what))
			return;
	for (size_t i = 0; (row = damage_row(p, i)); i++)
		print_message(
			"%s+%#llx: %s\n", row->file, (unsigned long long)row->offset, row->what);
	fail_msg("no row of damage says %s+%#llx: %s", file, (unsigned long long)offset, what);
}

static void assert_sound(const struct pm_profile *p)
{
	const struct pm_damage *row = damage_row(p, 0);
	if (row)
		fail_msg("%s+%#llx: %s", row->file, (unsigned long long)row->offset, row->what);
}

static void assert_refused(int code, const char *file, const char *why)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_profile *p = NULL;
	assert_int_equal(pm_profile_open(folder.path, NULL, NULL, &p, &err), code);
	assert_string_equal(err.file, file);
	if (!strstr(err.text, why))
		fail_msg("refused because it %s", err.text);
}

/* ---- what is refused ---- */

static void test_refuses_a_database_without_meta_db(void **state)
{
	fixture_folder_remove(&folder, "meta.db");
	assert_refused(-EINVAL, "meta.db", "is missing");
}

static void test_refuses_a_database_without_profile_db(void **state)
{
	fixture_folder_remove(&folder, "profile.db");
	assert_refused(-EINVAL, "profile.db", "is missing");
}

static void test_refuses_databases_older_than_version_4(void **state)
{
	memcpy(files.file[HPCTKW_PROFILE].p, "HPCPROF-profdb__", 16);
	fixture_folder_save(&folder, &files);
	fixture_folder_remove(&folder, "meta.db");
	assert_refused(-ENOTSUP, "profile.db", "older than version 4");
}

static void test_refuses_other_major_versions(void **state)
{
	files.file[HPCTKW_META].p[0x0e] = 5;
	fixture_folder_save(&folder, &files);
	assert_refused(-ENOTSUP, "meta.db", "is version 5.0");
}

static void test_accepts_later_minor_versions(void **state)
{
	files.file[HPCTKW_META].p[0x0f] = 3;
	struct pm_profile *p = open_changed();
	const struct pm_fact *facts;
	size_t n;
	assert_int_equal(pm_profile_facts(p, &facts, &n, NULL), 0);
	assert_memory_equal(facts[0].value.text.p, "4.3", 3);
	pm_profile_close(p);
}

/* Puts one file of the rich database in another style into the folder. */
static void mix_in(const struct hpctkw_style *style, enum hpctkw_file file)
{
	struct hpctkw_database *w = fixture_rich(style);
	struct hpctkw_files others;
	hpctkw_write(w, &others);
	hpctkw_free(w);
	for (unsigned i = 0; i < HPCTKW_N_FILES; i++)
		if (i != file)
			others.file[i].n = 0;
	fixture_folder_save(&folder, &others);
	hpctkw_files_free(&others);
}

static void test_refuses_files_of_different_layouts(void **state)
{
	mix_in(&(struct hpctkw_style){.generation = HPCTKW_APRIL}, HPCTKW_META);
	assert_refused(-EINVAL, "profile.db", "a different layout than meta.db");
	mix_in(&released, HPCTKW_META);
	mix_in(&(struct hpctkw_style){.generation = HPCTKW_FIRST}, HPCTKW_CCT);
	assert_refused(-EINVAL, "cct.db", "a different layout");
}

static void test_refuses_files_of_different_byte_orders(void **state)
{
	mix_in(&(struct hpctkw_style){.generation = HPCTKW_FIRST, .big = true}, HPCTKW_TRACE);
	assert_refused(-EINVAL, "trace.db", "a different byte order");
}

static void test_refuses_a_folder_that_holds_nothing(void **state)
{
	fixture_folder_remove(&folder, "meta.db");
	fixture_folder_remove(&folder, "profile.db");
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_profile *p = NULL;
	assert_int_equal(pm_profile_open(folder.path, NULL, NULL, &p, &err), -EINVAL);
}

/* ---- what may be missing ---- */

static void test_meta_db_leads_to_its_database(void **state)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/meta.db", folder.path);
	struct pm_profile *p = NULL;
	assert_int_equal(pm_profile_open(path, NULL, NULL, &p, NULL), 0);
	assert_int_equal(tree_of(p)->n_contexts, n_fixture_contexts);
	pm_profile_close(p);
}

static void test_traces_and_cct_db_may_be_missing(void **state)
{
	fixture_folder_remove(&folder, "trace.db");
	fixture_folder_remove(&folder, "cct.db");
	struct pm_profile *p = fixture_open(&folder);
	const struct pm_threads *threads;
	uint64_t origin, duration;
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	assert_false(threads->threads[0].has_trace);
	assert_int_equal(pm_profile_span(p, &origin, &duration, NULL), 0);
	assert_true(origin == PM_NO_TIME && duration == PM_NO_TIME);
	assert_sound(p);
	pm_profile_close(p);
}

static void test_an_empty_database_is_sound(void **state)
{
	for (size_t i = 0; i < n_fixture_styles; i++) {
		struct fixture_folder f;
		fixture_folder_make(&f);
		fixture_folder_write(&f, fixture_empty(&fixture_styles[i].style));
		struct pm_profile *p = fixture_open(&f);
		assert_int_equal(tree_of(p)->n_contexts, 0);
		assert_sound(p);
		fixture_exercise(p);
		pm_profile_close(p);
		fixture_folder_done(&f);
	}
}

static void test_deep_and_wide_trees_are_walked(void **state)
{
	struct fixture_folder f;
	fixture_folder_make(&f);
	fixture_folder_write(&f, fixture_deep(&released, 200000));
	struct pm_profile *p = fixture_open(&f);
	assert_int_equal(tree_of(p)->depth[199999], 199999);
	pm_profile_close(p);
	fixture_folder_write(&f, fixture_wide(&released, 100000, 2));
	p = fixture_open(&f);
	assert_int_equal(tree_of(p)->n_contexts, 100001);
	assert_int_equal(tree_of(p)->number[1], 100001); /* the heaviest is the last */
	assert_sound(p);
	pm_profile_close(p);
	fixture_folder_done(&f);
}

/* ---- meta.db ---- */

static uint64_t section_at(unsigned i)
{
	return get(HPCTKW_META, 0x18 + i * 0x10);
}

/* The array of children of the record at `at`. */
static uint64_t children_of(uint64_t at)
{
	return get(HPCTKW_META, at + 8);
}

/* The record of main: below the first entry point. */
static uint64_t main_at(void)
{
	return children_of(get(HPCTKW_META, section_at(3)));
}

static void test_a_record_that_lacks_words_takes_its_subtree_with_it(void **state)
{
	uint64_t line = children_of(main_at()), work = children_of(line);
	/* the word that work lacks now begins a record of its own that has no words either */
	set(HPCTKW_META, work + 0x17, 1, 0);
	struct pm_profile *p = open_changed();
	assert_damage(p, "meta.db", work, "shorter than its flags need");
	assert_int_equal(pm_tree_find(tree_of(p), 5), PM_NONE);
	assert_int_not_equal(pm_tree_find(tree_of(p), 3), PM_NONE);
	assert_int_not_equal(pm_tree_find(tree_of(p), 10), PM_NONE);
	pm_profile_close(p);
}

static void test_children_outside_of_the_section_are_left_out(void **state)
{
	uint64_t line = children_of(main_at());
	set(HPCTKW_META, line + 8, 8, files.file[HPCTKW_META].n);
	struct pm_profile *p = open_changed();
	assert_damage(p, "meta.db", line, "children are outside the section");
	assert_int_not_equal(pm_tree_find(tree_of(p), 3), PM_NONE);
	assert_int_equal(pm_tree_find(tree_of(p), 4), PM_NONE);
	assert_int_not_equal(pm_tree_find(tree_of(p), 10), PM_NONE);
	pm_profile_close(p);
}

static void test_a_cycle_of_children_ends(void **state)
{
	uint64_t caller = main_at();
	set(HPCTKW_META, caller + 8, 8, caller);
	set(HPCTKW_META, caller + 0, 8, 0x28);
	struct pm_profile *p = open_changed();
	assert_damage(p, "meta.db", caller, "contexts overlap");
	fixture_exercise(p);
	pm_profile_close(p);
}

static void test_an_id_that_is_used_twice_is_told(void **state)
{
	uint64_t line = children_of(main_at()), work = children_of(line);
	set(HPCTKW_META, work + 0x10, 4, 3);
	struct pm_profile *p = open_changed();
	assert_damage(p, "meta.db", work, "another context has the id 3");
	pm_profile_close(p);
}

static void test_a_function_that_is_none_leaves_the_name_empty(void **state)
{
	uint64_t caller = main_at();
	set(HPCTKW_META, caller + 0x20, 8, get(HPCTKW_META, caller + 0x20) + 1);
	struct pm_profile *p = open_changed();
	const struct pm_tree *tree = tree_of(p);
	assert_damage(p, "meta.db", caller, "function is not in the table");
	assert_int_equal(pm_tree_frame(tree, pm_tree_find(tree, 2))->name, 0);
	pm_profile_close(p);
}

static void test_a_name_beyond_the_file_is_empty(void **state)
{
	uint64_t function = get(HPCTKW_META, section_at(7));
	set(HPCTKW_META, function, 8, files.file[HPCTKW_META].n);
	struct pm_profile *p = open_changed();
	assert_damage(p, "meta.db", function, "does not end in the file");
	pm_profile_close(p);
}

static void test_a_table_that_is_cut_off_is_used_as_far_as_it_goes(void **state)
{
	set(HPCTKW_META, section_at(5) + 8, 4, 1000000);
	struct pm_profile *p = open_changed();
	assert_damage(p, "meta.db", section_at(5), "of 1000000 records at");
	const struct pm_tree *tree = tree_of(p);
	const struct pm_frame *frame = pm_tree_frame(tree, pm_tree_find(tree, 10));
	assert_int_equal(tree->texts[frame->module].len, strlen("/bin/app"));
	pm_profile_close(p);
}

static void test_a_missing_footer_is_told(void **state)
{
	files.file[HPCTKW_META].p[files.file[HPCTKW_META].n - 1] = 'x';
	struct pm_profile *p = open_changed();
	assert_damage(p, "meta.db", files.file[HPCTKW_META].n, "does not end with _meta.db");
	pm_profile_close(p);
}

/* ---- profile.db and cct.db ---- */

/* The description of profile i. */
static uint64_t profile_at(uint32_t i)
{
	return get(HPCTKW_PROFILE, get(HPCTKW_PROFILE, 0x18)) + i * 0x30u;
}

static void test_values_outside_of_the_file_spoil_their_thread_alone(void **state)
{
	struct pm_value value;
	set(HPCTKW_PROFILE, profile_at(1), 8, UINT64_MAX / 2);
	struct pm_profile *p = open_changed();
	assert_int_equal(p->ops->values(p, (struct pm_values_of){PM_OF_THREAD, 0, false}, 0, &value,
				 1, NULL),
		-EINVAL);
	assert_int_equal(p->ops->values(p, (struct pm_values_of){PM_OF_THREAD, 1, false}, 0, &value,
				 1, NULL),
		1);
	assert_int_equal(p->ops->run_costs(p, pm_tree_find(tree_of(p), 2), &value, 1, NULL), 1);
	assert_damage(p, "profile.db", profile_at(1), "are outside the file");
	pm_profile_close(p);
}

static void test_an_index_out_of_order_is_told(void **state)
{
	struct pm_value values[32];
	uint64_t index = get(HPCTKW_PROFILE, profile_at(2) + 0x18);
	set(HPCTKW_PROFILE, index + 12 + 4, 8, 7);
	struct pm_profile *p = open_changed();
	assert_int_equal(p->ops->values(p, (struct pm_values_of){PM_OF_THREAD, 1, false}, 0, values,
				 32, NULL),
		-EINVAL);
	assert_damage(p, "profile.db", index + 12, "index entry 1");
	pm_profile_close(p);
}

static void test_without_a_sound_summary_costs_are_summed(void **state)
{
	struct pm_value values[8];
	uint64_t index = get(HPCTKW_PROFILE, profile_at(0) + 0x18);
	set(HPCTKW_PROFILE, index + 12, 4, 0); /* the second entry has the key of the first */
	struct pm_profile *p = open_changed();
	uint32_t context = pm_tree_find(tree_of(p), 4);
	assert_int_equal(p->ops->run_costs(p, context, values, 8, NULL), 3);
	assert_true(values[0].f == 2.125 && values[1].f == 1.25 && values[2].f == 3);
	assert_damage(p, "profile.db", index + 12, "has key 0 after 0");
	pm_profile_close(p);
}

static void test_a_broken_block_of_cct_db_is_made_up_for_by_profile_db(void **state)
{
	struct pm_value value;
	uint64_t row = get(HPCTKW_CCT, get(HPCTKW_CCT, 0x18)) + 9 * 0x20;
	set(HPCTKW_CCT, row + 8, 8, UINT64_MAX);
	struct pm_profile *p = open_changed();
	assert_int_equal(p->ops->values(p, fixture_costs_of(p, 9), 0, &value, 1, NULL), 1);
	assert_true(value.f == 3 && value.thread == 1);
	assert_int_equal(p->ops->run_costs(p, pm_tree_find(tree_of(p), 9), &value, 1, NULL), 1);
	assert_true(value.f == 3);
	assert_damage(p, "cct.db", row, "are outside the file");
	pm_profile_close(p);
}

static void test_a_cct_db_that_is_none_is_left_out(void **state)
{
	struct pm_value value;
	memset(files.file[HPCTKW_CCT].p, 'x', 16);
	struct pm_profile *p = open_changed();
	assert_int_equal(p->ops->values(p, fixture_costs_of(p, 9), 0, &value, 1, NULL), 1);
	assert_damage(p, "cct.db", 0, "does not begin with HPCTOOLKITctxt");
	pm_profile_close(p);
}

static void test_values_of_unknown_metrics_and_profiles_are_told(void **state)
{
	uint64_t values = get(HPCTKW_PROFILE, profile_at(1) + 8);
	uint64_t row = get(HPCTKW_CCT, get(HPCTKW_CCT, 0x18)) + 9 * 0x20;
	set(HPCTKW_PROFILE, values + 10, 2, 555);
	set(HPCTKW_CCT, get(HPCTKW_CCT, row + 8), 4, 77);
	struct pm_profile *p = open_changed();
	struct pm_value value;
	assert_int_equal(p->ops->values(p, fixture_costs_of(p, 9), 0, &value, 1, NULL), -EINVAL);
	assert_damage(p, "profile.db", values + 10, "1 values of metrics");
	assert_damage(p, "cct.db", get(HPCTKW_CCT, row + 8), "1 values of profiles");
	pm_profile_close(p);
}

static void test_a_thread_without_a_readable_tuple_is_named_by_its_profile(void **state)
{
	set(HPCTKW_PROFILE, profile_at(2) + 0x20, 8, files.file[HPCTKW_PROFILE].n);
	struct pm_profile *p = open_changed();
	const struct pm_threads *threads;
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	const struct pm_identity *identity = threads->threads[1].identity;
	assert_int_equal(threads->threads[1].n_identity, 1);
	assert_string_equal(threads->keys[identity->key], "profile");
	assert_int_equal(identity->value, 2);
	assert_damage(p, "profile.db", profile_at(2), "tuple cannot be read");
	pm_profile_close(p);
}

/* ---- trace.db ---- */

static uint64_t trace_at(uint32_t i)
{
	return get(HPCTKW_TRACE, get(HPCTKW_TRACE, 0x18)) + i * 0x18u;
}

static void test_samples_outside_of_the_file_spoil_their_trace_alone(void **state)
{
	struct pm_sample sample;
	set(HPCTKW_TRACE, trace_at(0) + 0x10, 8, UINT64_MAX);
	struct pm_profile *p = open_changed();
	assert_int_equal(p->ops->samples(p, 0, 0, &sample, 1, NULL), -EINVAL);
	assert_int_equal(p->ops->samples(p, 2, 0, &sample, 1, NULL), 0);
	assert_damage(p, "trace.db", trace_at(0), "samples are outside the file");
	pm_profile_close(p);
}

static void test_samples_before_the_end_of_a_cut_file_are_there(void **state)
{
	struct pm_sample samples[8];
	files.file[HPCTKW_TRACE].n = get(HPCTKW_TRACE, trace_at(0) + 8) + 2 * 12 + 5;
	struct pm_profile *p = open_changed();
	assert_int_equal(p->ops->samples(p, 0, 0, samples, 8, NULL), 2);
	assert_damage(p, "trace.db", trace_at(0), "the file ends within its samples");
	pm_profile_close(p);
}

static void test_a_sample_that_is_cut_off_is_told(void **state)
{
	struct pm_sample samples[8];
	set(HPCTKW_TRACE, trace_at(0) + 0x10, 8, get(HPCTKW_TRACE, trace_at(0) + 0x10) - 5);
	struct pm_profile *p = open_changed();
	assert_int_equal(p->ops->samples(p, 0, 0, samples, 8, NULL), 3);
	assert_damage(
		p, "trace.db", get(HPCTKW_TRACE, trace_at(0) + 8) + 36, "ends within a sample");
	pm_profile_close(p);
}

static void test_a_second_trace_of_a_profile_is_told(void **state)
{
	set(HPCTKW_TRACE, trace_at(1), 4, 1);
	struct pm_profile *p = open_changed();
	assert_damage(p, "trace.db", trace_at(1), "a second one of profile 1");
	pm_profile_close(p);
}

static void test_a_trace_of_no_thread_is_told(void **state)
{
	set(HPCTKW_TRACE, trace_at(1), 4, 0);
	struct pm_profile *p = open_changed();
	assert_damage(p, "trace.db", trace_at(1), "is of profile 0, which is not a thread");
	pm_profile_close(p);
}

static void test_unknown_contexts_and_early_samples_are_told(void **state)
{
	uint64_t line = get(HPCTKW_TRACE, trace_at(0) + 8);
	struct pm_sample samples[4];
	set(HPCTKW_TRACE, line + 12 + 8, 4, 999);
	set(HPCTKW_TRACE, line + 24, 8, 1);
	struct pm_profile *p = open_changed();
	assert_int_equal(p->ops->samples(p, 0, 0, samples, 4, NULL), 4);
	assert_int_equal(samples[1].context, 999); /* as stored: the tree lacks it */
	assert_true(samples[1].duration_ns == PM_NO_TIME);
	assert_damage(p, "trace.db", line + 12, "1 samples in contexts");
	assert_damage(p, "trace.db", line + 24, "1 samples that are earlier");
	pm_profile_close(p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, write_rich, remove_rich)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_refuses_a_database_without_meta_db),
		TEST(test_refuses_a_database_without_profile_db),
		TEST(test_refuses_databases_older_than_version_4),
		TEST(test_refuses_other_major_versions),
		TEST(test_accepts_later_minor_versions),
		TEST(test_refuses_files_of_different_layouts),
		TEST(test_refuses_files_of_different_byte_orders),
		TEST(test_refuses_a_folder_that_holds_nothing),
		TEST(test_meta_db_leads_to_its_database),
		TEST(test_traces_and_cct_db_may_be_missing),
		TEST(test_an_empty_database_is_sound),
		TEST(test_deep_and_wide_trees_are_walked),
		TEST(test_a_record_that_lacks_words_takes_its_subtree_with_it),
		TEST(test_children_outside_of_the_section_are_left_out),
		TEST(test_a_cycle_of_children_ends),
		TEST(test_an_id_that_is_used_twice_is_told),
		TEST(test_a_function_that_is_none_leaves_the_name_empty),
		TEST(test_a_name_beyond_the_file_is_empty),
		TEST(test_a_table_that_is_cut_off_is_used_as_far_as_it_goes),
		TEST(test_a_missing_footer_is_told),
		TEST(test_values_outside_of_the_file_spoil_their_thread_alone),
		TEST(test_an_index_out_of_order_is_told),
		TEST(test_without_a_sound_summary_costs_are_summed),
		TEST(test_a_broken_block_of_cct_db_is_made_up_for_by_profile_db),
		TEST(test_a_cct_db_that_is_none_is_left_out),
		TEST(test_values_of_unknown_metrics_and_profiles_are_told),
		TEST(test_a_thread_without_a_readable_tuple_is_named_by_its_profile),
		TEST(test_samples_outside_of_the_file_spoil_their_trace_alone),
		TEST(test_samples_before_the_end_of_a_cut_file_are_there),
		TEST(test_a_sample_that_is_cut_off_is_told),
		TEST(test_a_second_trace_of_a_profile_is_told),
		TEST(test_a_trace_of_no_thread_is_told),
		TEST(test_unknown_contexts_and_early_samples_are_told),
	};
	return cmocka_run_group_tests_name("hpctoolkit damage", tests, NULL, NULL);
}
