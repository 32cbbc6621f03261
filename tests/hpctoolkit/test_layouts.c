/*
 * All layouts give the same results: the rich database in every style, read through the format
 * interface.
 */
#include "tests/unittest.h"

#include <string.h>

#include "formats/common/text.h"
#include "formats/symbols/symbols.h"
#include "tests/hpctoolkit/fixtures.h"

static const struct fixture_style *style; /* of the group that runs */
static struct fixture_folder folder;
static struct pm_profile *profile;

static int open_rich(void **state)
{
	fixture_folder_make(&folder);
	fixture_folder_write(&folder, fixture_rich(&style->style));
	profile = fixture_open(&folder);
	return 0;
}

static int close_rich(void **state)
{
	pm_profile_close(profile);
	fixture_folder_done(&folder);
	return 0;
}

static bool is_draft(void)
{
	return style->style.generation < HPCTKW_JUNE;
}

static const struct pm_tree *tree_of(const struct pm_profile *p)
{
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	return tree;
}

static const struct pm_threads *threads_of(const struct pm_profile *p)
{
	const struct pm_threads *threads;
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	return threads;
}

static void assert_text(struct pm_bytes got, const char *want)
{
	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.p ? (const char *)got.p : "", want, got.len);
}

static void test_layout_is_recognised(void **state)
{
	assert_string_equal(profile->layout, style->layout);
	assert_text(profile->title, "a title");
}

static void test_facts_tell_version_and_byte_order(void **state)
{
	const struct pm_fact *facts;
	size_t n;
	assert_int_equal(pm_profile_facts(profile, &facts, &n, NULL), 0);
	assert_int_equal(n, 3);
	assert_text(facts[0].value.text, "4.0");
	assert_text(facts[1].value.text, style->style.big ? "big" : "little");
	assert_text(facts[2].value.text, "a description");
}

/* Older layouts have no entry points: functions stand in for them. */
static enum pm_kind kind_in_style(const struct fixture_context *want)
{
	return want->kind == PM_KIND_ENTRY && is_draft() ? PM_KIND_FUNCTION : want->kind;
}

static void assert_context(
	const struct pm_tree *tree, uint32_t i, const struct fixture_context *want)
{
	const struct pm_frame *frame = pm_tree_frame(tree, i);
	assert_int_equal(frame->kind, kind_in_style(want));
	assert_text(tree->texts[frame->name], want->name);
	assert_text(tree->texts[frame->file], want->file);
	assert_text(tree->texts[frame->module], want->module);
	assert_int_equal(frame->line, want->line);
	assert_int_equal(frame->has_offset, want->has_offset);
	assert_int_equal(frame->offset, want->offset);
	assert_int_equal(frame->code, want->kind == PM_KIND_OTHER ? 9 : 0);
	uint32_t parent = tree->parent[i];
	assert_int_equal(parent == PM_NONE ? 0 : tree->number[parent], want->parent);
}

static void test_contexts_are_those_of_the_database(void **state)
{
	const struct pm_tree *tree = tree_of(profile);
	assert_int_equal(tree->n_contexts, n_fixture_contexts);
	for (uint32_t rank = 0; rank < n_fixture_contexts; rank++) {
		uint32_t i = pm_tree_find(tree, fixture_contexts[rank].id);
		assert_int_not_equal(i, PM_NONE);
		assert_int_equal(tree->rank[i], rank);
		assert_context(tree, i, &fixture_contexts[rank]);
	}
	assert_int_equal(pm_tree_find(tree, 20), PM_NONE);
}

/* hpcprof leaves the functions of GPU binaries as they are in their symbol tables. */
static void test_names_of_gpu_code_are_demangled(void **state)
{
	struct fixture_folder own;
	struct pm_text name = {.p = NULL};
	struct hpctkw_database *w = hpctkw_new(&style->style);
	uint32_t module = hpctkw_module(w, "/opt/kernels.gpubin");
	uint32_t file = hpctkw_file(w, "loops.cu", 0);
	uint32_t function = hpctkw_function(w, "_Z8kernmainv", module, 0x10, file, 16);
	hpctkw_context(w,
		&(struct hpctkw_context){.parent = HPCTKW_NONE, .id = 1, .entry = "main thread"});
	hpctkw_context(
		w, &(struct hpctkw_context){.id = 2, .has_function = true, .function = function});
	hpctkw_profile(w);
	fixture_folder_make(&own);
	fixture_folder_write(&own, w);
	struct pm_profile *p = fixture_open(&own);
	const struct pm_tree *tree = tree_of(p);
	sym_demangle(pm_bytes_of("_Z8kernmainv"), &name);
	uint32_t i = pm_tree_find(tree, 2);
	assert_int_not_equal(i, PM_NONE);
	const struct pm_frame *frame = pm_tree_frame(tree, i);
	assert_true(pm_bytes_equal(tree->texts[frame->name], pm_text_view(&name)));
	assert_true(pm_bytes_equal(
		tree->texts[tree->functions[frame->function].name], pm_text_view(&name)));
	pm_text_done(&name);
	pm_profile_close(p);
	fixture_folder_done(&own);
}

static void test_siblings_stand_heaviest_first(void **state)
{
	static const uint32_t order[] = {1, 2, 3, 8, 4, 5, 6, 7, 9, 10, 14, 11, 12, 13, 15};
	const struct pm_tree *tree = tree_of(profile);
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		assert_int_equal(tree->number[i], order[i]);
}

static void test_functions_are_those_with_a_context(void **state)
{
	const struct pm_tree *tree = tree_of(profile);
	bool draft = is_draft();
	assert_int_equal(tree->n_functions, draft ? 8 : 6);
	const struct pm_frame *frame = pm_tree_frame(tree, pm_tree_find(tree, 4));
	assert_int_equal(tree->functions[frame->function].id, 1);
	assert_int_equal(pm_tree_frame(tree, pm_tree_find(tree, 12))->function, PM_NONE);
	/* two siblings of one function share a frame and stay two contexts */
	assert_int_equal(tree->frame[pm_tree_find(tree, 8)], tree->frame[pm_tree_find(tree, 9)]);
}

static void test_metrics_have_roles_and_tell_whether_they_have_values(void **state)
{
	static const struct {
		const char *scope;
		enum pm_role role;
		bool in_tree, in_flat;
	} want[] = {
		{"point", PM_ROLE_OTHER, false, false},
		{"function", PM_ROLE_EXCLUSIVE, false, true},
		{"lex_aware", PM_ROLE_EXCLUSIVE, true, false},
		{"execution", PM_ROLE_INCLUSIVE, true, true},
	};
	const struct pm_metrics *metrics;
	assert_int_equal(pm_profile_metrics(profile, &metrics, NULL), 0);
	assert_int_equal(metrics->n, 8);
	for (uint32_t i = 0; i < 8; i++) {
		const struct pm_metric *m = &metrics->metrics[i];
		assert_int_equal(m->id, hpctkw_prop_id(i / 4, i % 4));
		assert_int_equal(m->group, i / 4);
		assert_text(m->name, i < 4 ? "CPUTIME (sec)" : "GPU OPS");
		assert_text(m->unit, i < 4 ? "sec" : "");
		assert_text(m->scope, want[i % 4].scope);
		assert_int_equal(m->role, want[i % 4].role);
		assert_int_equal(m->in_tree, want[i % 4].in_tree);
		assert_int_equal(m->in_flat, want[i % 4].in_flat);
		assert_int_equal(m->has_values, i < 4);
	}
}

static void test_costs_of_the_run_are_stored_or_summed(void **state)
{
	const struct pm_tree *tree = tree_of(profile);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		struct pm_value got[8];
		int64_t n = profile->ops->run_costs(profile, i, got, 8, NULL), seen = 0;
		assert_true(n >= 0);
		for (size_t k = 0; k < n_fixture_values; k++) {
			const struct fixture_value *want = &fixture_values[k];
			if (want->context != tree->number[i])
				continue;
			assert_true(seen < n);
			assert_int_equal(got[seen].context, want->context);
			assert_int_equal(got[seen].metric, hpctkw_prop_id(0, want->scope));
			assert_int_equal(got[seen].thread, PM_NONE);
			assert_true(got[seen].f == want->value[0] + want->value[1]);
			seen++;
		}
		assert_int_equal(seen, n);
	}
}

static void test_costs_of_a_thread_are_in_stored_order_from_any_place(void **state)
{
	for (uint32_t t = 0; t < 3; t++) {
		uint64_t n = 0;
		struct pm_value got;
		for (size_t k = 0; t < 2 && k < n_fixture_values; k++) {
			const struct fixture_value *want = &fixture_values[k];
			if (want->value[t] == 0)
				continue;
			assert_int_equal(profile->ops->values(profile,
						 (struct pm_values_of){PM_OF_THREAD, t, false}, n++,
						 &got, 1, NULL),
				1);
			assert_int_equal(got.context, want->context);
			assert_int_equal(got.metric, hpctkw_prop_id(0, want->scope));
			assert_int_equal(got.thread, t);
			assert_true(got.f == want->value[t]);
		}
		assert_int_equal(
			profile->ops->values(profile, (struct pm_values_of){PM_OF_THREAD, t, false},
				n, &got, 1, NULL),
			0);
		struct pm_thread_counts counts;
		assert_int_equal(profile->ops->thread_counts(profile, t, &counts, NULL), 0);
		assert_int_equal(counts.values, n);
	}
}

/* What the table says of a context and a thread in a scope; 0 for nothing. */
static double stored(uint64_t context, uint32_t metric, uint32_t thread)
{
	for (size_t k = 0; k < n_fixture_values; k++)
		if (fixture_values[k].context == context &&
			hpctkw_prop_id(0, fixture_values[k].scope) == metric)
			return fixture_values[k].value[thread];
	return 0;
}

/* Number of values of a context; each is checked. Read one at a time, from its place. */
static unsigned count_context_costs(const struct pm_profile *p, uint64_t context)
{
	struct pm_value got;
	unsigned n = 0;
	struct pm_values_of of = fixture_costs_of(p, context);
	while (of.index != PM_NONE && p->ops->values(p, of, n, &got, 1, NULL) == 1) {
		assert_true(got.f == stored(context, got.metric, got.thread));
		n++;
	}
	return n;
}

static unsigned count_stored(uint64_t context)
{
	unsigned n = 0;
	for (size_t k = 0; k < n_fixture_values; k++)
		for (uint32_t t = 0; t < 2; t++)
			n += fixture_values[k].context == context &&
				fixture_values[k].value[t] != 0;
	return n;
}

static void test_costs_of_a_context_are_those_of_its_threads(void **state)
{
	for (size_t i = 0; i < n_fixture_contexts; i++) {
		uint32_t context = fixture_contexts[i].id;
		assert_int_equal(count_context_costs(profile, context), count_stored(context));
	}
}

static void test_costs_are_gathered_where_there_is_no_cct_db(void **state)
{
	fixture_folder_remove(&folder, "cct.db");
	struct pm_profile *p = fixture_open(&folder);
	const struct pm_tree *tree = tree_of(p);
	struct pm_value got[8];
	for (size_t i = 0; i < n_fixture_contexts; i++) {
		uint32_t context = fixture_contexts[i].id;
		assert_int_equal(count_context_costs(p, context), count_stored(context));
	}
	assert_int_equal(p->ops->run_costs(p, pm_tree_find(tree, 9), got, 8, NULL), 1);
	assert_true(got[0].f == 3);
	pm_profile_close(p);
}

static void test_threads_have_identities(void **state)
{
	const struct pm_threads *threads = threads_of(profile);
	assert_int_equal(threads->n, 3);
	assert_int_equal(threads->n_keys, 3);
	assert_string_equal(threads->keys[0], "node");
	assert_string_equal(threads->keys[1], "rank");
	assert_string_equal(threads->keys[2], "thread");
	assert_int_equal(threads->threads[1].id, 2);
	assert_int_equal(threads->threads[1].n_identity, 3);
	assert_int_equal(threads->threads[1].identity[0].value, 0);
	assert_int_equal(threads->threads[1].identity[1].key, 1);
	assert_int_equal(threads->threads[1].identity[1].value, 7);
	assert_int_equal(threads->threads[2].n_identity, 1);
	assert_int_equal(threads->threads[2].identity[0].value, 1);
}

static void test_samples_last_until_the_next(void **state)
{
	const struct pm_threads *threads = threads_of(profile);
	struct pm_sample got[8];
	assert_true(threads->threads[0].has_trace);
	assert_int_equal(threads->threads[0].n_samples, n_fixture_samples);
	assert_int_equal(profile->ops->samples(profile, 0, 0, got, 8, NULL), n_fixture_samples);
	for (size_t i = 0; i < n_fixture_samples; i++) {
		bool last = i + 1 == n_fixture_samples;
		assert_true(got[i].time_ns == fixture_samples[i].time_ns);
		assert_int_equal(got[i].context, fixture_samples[i].context);
		assert_true(got[i].duration_ns ==
			(last ? PM_NO_TIME
			      : fixture_samples[i + 1].time_ns - fixture_samples[i].time_ns));
	}
	assert_int_equal(profile->ops->samples(profile, 0, 2, got, 1, NULL), 1);
	assert_int_equal(got[0].duration_ns, 240);
	assert_int_equal(profile->ops->samples(profile, 0, 4, got, 8, NULL), 0);
}

static void test_a_trace_can_be_empty_or_missing(void **state)
{
	const struct pm_threads *threads = threads_of(profile);
	struct pm_sample got;
	assert_false(threads->threads[1].has_trace);
	assert_true(threads->threads[2].has_trace);
	assert_int_equal(threads->threads[2].n_samples, 0);
	assert_int_equal(profile->ops->samples(profile, 2, 0, &got, 1, NULL), 0);
}

static void test_the_span_is_that_of_the_samples(void **state)
{
	uint64_t origin, duration;
	assert_int_equal(pm_profile_span(profile, &origin, &duration, NULL), 0);
	assert_true(origin == fixture_samples[0].time_ns);
	assert_int_equal(duration, 250);
	if (style->style.generation != HPCTKW_FIRST)
		assert_true(profile->mtime_ns == fixture_samples[0].time_ns);
}

static void test_nothing_is_damaged(void **state)
{
	const struct pm_damages *damages;
	assert_int_equal(pm_profile_damage(profile, &damages, NULL), 0);
	for (size_t i = 0; i < damages->n; i++)
		print_message("%s+%#llx: %s\n", damages->rows[i].file,
			(unsigned long long)damages->rows[i].offset, damages->rows[i].what);
	assert_int_equal(damages->n, 0);
}

/* ---- raw tables, as text ---- */

/* Row `at` of a table with `,` between its cells. */
static void assert_row(const char *path, uint64_t at, const char *want)
{
	const struct pm_named_doc *docs;
	struct pm_cell cells[16];
	struct pm_rows rows;
	struct pm_text line = {.len = 0};
	size_t n, i = 0;
	assert_int_equal(pm_profile_documents(profile, &docs, &n, NULL), 0);
	while (i < n && strcmp(docs[i].path, path) != 0)
		i++;
	assert_true(i < n);
	assert_int_equal(pm_rows_start(&rows, &docs[i].doc.table, at, NULL), 0);
	assert_int_equal(pm_rows_next(&rows, cells, NULL), 1);
	for (uint32_t k = 0; k < docs[i].doc.table.n_columns; k++) {
		if (k > 0)
			pm_text_char(&line, ',');
		if (cells[k].kind == PM_CELL_U64)
			pm_text_u64(&line, cells[k].u);
		if (cells[k].kind == PM_CELL_F64)
			pm_text_f64(&line, cells[k].f);
		if (cells[k].kind == PM_CELL_TEXT)
			pm_text_bytes(&line, cells[k].text);
	}
	pm_rows_done(&rows);
	assert_text(pm_text_view(&line), want);
	pm_text_done(&line);
}

static void test_raw_tables_show_records_as_stored(void **state)
{
	assert_row("raw/general.csv", 1, "description,a description");
	assert_row("raw/identifiers.csv", 7, "7,CORE");
	assert_row("raw/metrics.csv", 1,
		is_draft() ? "0,,,1,0,2,$$,function,CPUTIME (sec)"
			   : "0,3,0,1,0,2,$$,function,CPUTIME (sec)");
	assert_row("raw/modules.csv", 1, "1,/lib/libm.so");
	assert_row("raw/files.csv", 0, "0,1,src/app.c");
	assert_row("raw/functions.csv", 4, "4,153,0,/lib/libm.so,,");
	assert_row("raw/functions.csv", 5, "5,4352,1,/bin/app,/usr/include/x.h,helper");
	assert_row("raw/contexts.csv", 0,
		is_draft() ? "1,0,0,1,6,,,,,main thread" : "1,0,,1,,,,,,main thread");
	assert_row("raw/contexts.csv", 4, "5,4,1,0,,5,4660,/lib/libm.so,/usr/include/x.h,");
	assert_row("raw/contexts.csv", 6, "7,6,0,2,5,,,,,helper");
	assert_row("raw/contexts.csv", 10, "14,2,9,0,,0,,,[libc.so],");
	assert_row("raw/summary.csv", 3, "3,0,8.75");
	assert_row("raw/profiles.csv", 0,
		style->style.generation == HPCTKW_RELEASED ? "0,1,10,9," : "0,,10,9,");
	assert_row("raw/profiles.csv", 2,
		style->style.generation == HPCTKW_RELEASED
			? "2,0,10,8,NODE:0:296484867:1 RANK:7:7:0 THREAD:1:1:0"
			: "2,,10,8,NODE:0:296484867:1 RANK:7:7:0 THREAD:1:1:0");
}

static void test_every_op_survives_use(void **state)
{
	fixture_exercise(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout_is_recognised),
		cmocka_unit_test(test_facts_tell_version_and_byte_order),
		cmocka_unit_test(test_contexts_are_those_of_the_database),
		cmocka_unit_test(test_names_of_gpu_code_are_demangled),
		cmocka_unit_test(test_siblings_stand_heaviest_first),
		cmocka_unit_test(test_functions_are_those_with_a_context),
		cmocka_unit_test(test_metrics_have_roles_and_tell_whether_they_have_values),
		cmocka_unit_test(test_costs_of_the_run_are_stored_or_summed),
		cmocka_unit_test(test_costs_of_a_thread_are_in_stored_order_from_any_place),
		cmocka_unit_test(test_costs_of_a_context_are_those_of_its_threads),
		cmocka_unit_test(test_threads_have_identities),
		cmocka_unit_test(test_samples_last_until_the_next),
		cmocka_unit_test(test_a_trace_can_be_empty_or_missing),
		cmocka_unit_test(test_the_span_is_that_of_the_samples),
		cmocka_unit_test(test_nothing_is_damaged),
		cmocka_unit_test(test_raw_tables_show_records_as_stored),
		cmocka_unit_test(test_every_op_survives_use),
		cmocka_unit_test(test_costs_are_gathered_where_there_is_no_cct_db),
	};
	int failed = 0;
	for (size_t i = 0; i < n_fixture_styles; i++) {
		style = &fixture_styles[i];
		failed += cmocka_run_group_tests_name(style->name, tests, open_rich, close_rich);
	}
	return failed;
}
