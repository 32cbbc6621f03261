/* Tests formats/hpcrun through the seam: what a source becomes as a profile. */
#include "tests/unittest.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "formats/hpcrun/hpcrun.h"
#include "tests/hpcrun/exercise.h"
#include "tests/hpcrun/fixture.h"

/* Threads 1 and 2 of rank 3, as the fixture's header and tuple say of both. */
#define FIRST  "made-000003-001-007f0101-4242-0"
#define SECOND "made-000003-002-007f0101-4242-0"

static char folder[SCRATCH_PATH];
static struct pm_profile *profile;

static int set_up(void **state)
{
	scratch_new(folder);
	return 0;
}

static int tear_down(void **state)
{
	profile = pm_profile_close(profile);
	scratch_remove(folder);
	return 0;
}

static void save_profile(enum fixture_version version, const char *name)
{
	struct pm_text t = {.p = NULL};
	struct fixture_profile p = fixture_small(version);
	fixture_profile_write(&p, &t);
	assert_int_equal(fixture_save(&t, folder, name), 0);
	pm_text_done(&t);
}

static void save_trace(const struct fixture_sample *samples, size_t n, const char *name)
{
	struct pm_text t = {.p = NULL};
	fixture_trace_write(FIXTURE_TRACE_0101, 0, samples, n, &t);
	assert_int_equal(fixture_save(&t, folder, name), 0);
	pm_text_done(&t);
}

static void save_text(const char *text, const char *name)
{
	struct pm_text t = {.p = NULL};
	pm_text_str(&t, text);
	assert_int_equal(fixture_save(&t, folder, name), 0);
	pm_text_done(&t);
}

static int open_below(const char *name, struct pm_error *err)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	profile = pm_profile_close(profile);
	return pm_profile_open(path, NULL, NULL, &profile, err);
}

static const struct pm_tree *tree_of(void)
{
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(profile, &tree, NULL), 0);
	return tree;
}

static const struct pm_threads *threads_of(void)
{
	const struct pm_threads *threads;
	assert_int_equal(pm_profile_threads(profile, &threads, NULL), 0);
	return threads;
}

static size_t damage_of(void)
{
	const struct pm_damages *damages;
	assert_int_equal(pm_profile_damage(profile, &damages, NULL), 0);
	return damages->n;
}

/* The metric's cost over the whole run at the context. */
static double cost_at(uint32_t context, uint32_t metric)
{
	struct pm_value values[8];
	int64_t n = profile->ops->run_costs(profile, context, values, 8, NULL);
	for (int64_t i = 0; i < n; i++)
		if (values[i].metric == metric)
			return values[i].f;
	return -1;
}

/* As of threads that only launch work: nodes, and not one value. */
static void test_a_run_without_values_costs_nothing(void **state)
{
	struct pm_text t = {.p = NULL};
	struct fixture_profile p = fixture_small(FIXTURE_0400);
	struct fixture_node nodes[FIXTURE_NODES];
	struct pm_value value;
	memcpy(nodes, p.nodes, sizeof(nodes));
	for (size_t i = 0; i < FIXTURE_NODES; i++)
		memset(nodes[i].values, 0, sizeof(nodes[i].values));
	p.nodes = nodes;
	fixture_profile_write(&p, &t);
	assert_int_equal(fixture_save(&t, folder, "a.hpcrun"), 0);
	pm_text_done(&t);
	assert_int_equal(open_below("a.hpcrun", NULL), 0);
	assert_true(tree_of()->n_contexts > 0);
	for (uint32_t i = 0; i < tree_of()->n_contexts; i++)
		assert_int_equal(profile->ops->run_costs(profile, i, &value, 1, NULL), 0);
	assert_int_equal(profile->ops->values(profile,
				 (struct pm_values_of){PM_OF_THREAD, 0, false}, 0, &value, 1, NULL),
		0);
	assert_int_equal(damage_of(), 0);
}

static void test_every_version_becomes_the_same_tree(void **state)
{
	for (enum fixture_version v = 0; v < FIXTURE_N_VERSIONS; v++) {
		save_profile(v, FIRST ".hpcrun");
		assert_int_equal(open_below(FIRST ".hpcrun", NULL), 0);
		const struct pm_tree *tree = tree_of();
		const struct pm_metrics *metrics;
		assert_int_equal(pm_profile_metrics(profile, &metrics, NULL), 0);
		assert_int_equal(metrics->n, 4);
		assert_int_equal(tree->n_contexts, FIXTURE_NODES);
		assert_int_equal(tree->end[0], FIXTURE_NODES);
		assert_true(cost_at(0, 3) == 11000); /* PAPI_TOT_CYC, period 1000 */
		assert_int_equal(pm_tree_frame(tree, 0)->kind, PM_KIND_PLACEHOLDER);
		assert_int_equal(damage_of(), 0);
		exercise_profile(profile);
	}
}

static void test_threads_merge_into_one_tree(void **state)
{
	save_profile(FIXTURE_0300, FIRST ".hpcrun");
	save_profile(FIXTURE_0200, SECOND ".hpcrun");
	save_text("not ours", "README");
	assert_int_equal(open_below("", NULL), 0);
	assert_int_equal(tree_of()->n_contexts, FIXTURE_NODES);
	assert_true(cost_at(0, 3) == 22000);
	assert_int_equal(threads_of()->n, 2);
	assert_int_equal(damage_of(), 0);
	exercise_profile(profile);
}

static bool has(enum pm_feature feature)
{
	const struct hpcrun_opened *m = profile->self;
	int r = profile->ops->has(profile, feature, NULL);
	assert_true(r == 0 || r == 1);
	assert_int_equal(m->merged_part.lazy.state, 0);
	return r;
}

/* In the second file alone, of each version; no tree is read for it. */
static void test_what_a_run_has_is_told_without_its_trees(void **state)
{
	for (enum fixture_version v = 0; v < FIXTURE_N_VERSIONS; v++) {
		struct pm_text t = {.p = NULL};
		struct fixture_profile p = fixture_small(v);
		struct fixture_metric metrics[2] = {p.metrics[0], p.metrics[1]};
		metrics[0].name = "PAPI_L1_DCM";
		p.metrics = metrics;
		fixture_profile_write(&p, &t);
		assert_int_equal(fixture_save(&t, folder, FIRST ".hpcrun"), 0);
		pm_text_clear(&t);
		assert_int_equal(open_below(FIRST ".hpcrun", NULL), 0);
		assert_false(has(PM_HAS_SEVERAL_THREADS));
		assert_false(has(PM_HAS_GPU_METRICS));
		assert_false(has(PM_HAS_TIMES));
		metrics[0].name = "CPUTIME (sec)";
		metrics[1].name = "GKER (sec)";
		fixture_profile_write(&p, &t);
		assert_int_equal(fixture_save(&t, folder, SECOND ".hpcrun"), 0);
		pm_text_done(&t);
		assert_int_equal(open_below("", NULL), 0);
		assert_true(has(PM_HAS_SEVERAL_THREADS));
		assert_true(has(PM_HAS_GPU_METRICS));
		assert_true(has(PM_HAS_TIMES));
		assert_false(has(PM_HAS_TRACES));
	}
	save_trace(NULL, 0, SECOND ".hpctrace");
	assert_int_equal(open_below("", NULL), 0);
	assert_true(has(PM_HAS_TRACES));
}

static void test_stored_values_are_neither_scaled_nor_rounded(void **state)
{
	struct pm_value values[8];
	save_profile(FIXTURE_0400, FIRST ".hpcrun");
	assert_int_equal(open_below("", NULL), 0);
	int64_t n = profile->ops->values(
		profile, (struct pm_values_of){PM_OF_THREAD, 0, true}, 0, values, 8, NULL);
	assert_int_equal(n, FIXTURE_VALUES);
	assert_false(values[0].whole);
	assert_true(values[0].f == 0.25);
	assert_true(values[2].whole);
	assert_int_equal(values[2].u, 7);
	assert_int_equal(values[2].metric, 2);
}

static void test_a_trace_is_shown_in_the_order_of_time(void **state)
{
	const struct fixture_sample samples[] = {{1700000000000000500, 19, 0},
		{1700000000000000100, 27, 0}, {1700000000000000900, 4711, 0},
		{1700000000000000500, 20, 0}};
	struct pm_sample shown[8];
	uint64_t origin, duration, first, last;
	save_profile(FIXTURE_0400, FIRST ".hpcrun");
	save_trace(samples, 4, FIRST ".hpctrace");
	assert_int_equal(open_below("", NULL), 0);
	assert_int_equal(threads_of()->n, 1);
	assert_int_equal(profile->ops->samples(profile, 0, 0, shown, 8, NULL), 4);
	assert_true(shown[0].time_ns == 1700000000000000100 && shown[0].duration_ns == 400);
	assert_true(shown[1].duration_ns == 0 && shown[1].context != shown[2].context);
	assert_true(shown[3].context == UINT64_MAX && shown[3].duration_ns == PM_NO_TIME);
	assert_int_equal(pm_profile_span(profile, &origin, &duration, NULL), 0);
	assert_true(origin == 1700000000000000100 && duration == 800);
	assert_int_equal(profile->ops->trace_ends(profile, 0, &first, &last, NULL), 0);
	assert_true(first == 1700000000000000100 && last == 1700000000000000900);
	assert_int_equal(damage_of(), 1); /* of node 4711 */
}

static void test_old_profiles_count_microseconds(void **state)
{
	const struct fixture_sample samples[] = {{1461000000000007, 19, 0}};
	const struct {
		enum fixture_version version;
		uint64_t ns;
	} units[] = {{FIXTURE_0200, 1461000000000007000}, {FIXTURE_0300, 1461000000000007}};
	for (size_t i = 0; i < 2; i++) {
		struct pm_sample sample;
		save_profile(units[i].version, FIRST ".hpcrun");
		save_trace(samples, 1, FIRST ".hpctrace");
		assert_int_equal(open_below("", NULL), 0);
		assert_int_equal(profile->ops->samples(profile, 0, 0, &sample, 1, NULL), 1);
		assert_true(sample.time_ns == units[i].ns);
	}
}

static void test_incomplete_runs_are_presented_with_their_damage(void **state)
{
	const struct fixture_sample samples[] = {{1700000000000000500, 19, 0}};
	save_profile(FIXTURE_0400, FIRST ".hpcrun");
	save_text("", SECOND ".hpcrun");
	save_trace(samples, 1, "made-000003-003-007f0101-4242-0.hpctrace");
	assert_int_equal(open_below("", NULL), 0);
	assert_int_equal(threads_of()->n, 3);
	assert_int_equal(tree_of()->n_contexts, FIXTURE_NODES);
	assert_int_equal(damage_of(), 2);
	exercise_profile(profile);
}

static void test_raw_tables_are_those_of_the_version(void **state)
{
	static const struct {
		enum fixture_version version;
		const char *second;
		uint32_t n;
	} lists[] = {{FIXTURE_ERA_BIG, "raw/epochs.csv", 6}, {FIXTURE_0300, "raw/epochs.csv", 6},
		{FIXTURE_0400, "raw/sections.csv", 8}};
	for (size_t i = 0; i < 3; i++) {
		struct pm_named_doc doc;
		save_profile(lists[i].version, FIRST ".hpcrun");
		assert_int_equal(open_below("", NULL), 0);
		assert_int_equal(profile->ops->thread_document(profile, 0, 1, &doc, NULL), 1);
		assert_string_equal(doc.path, lists[i].second);
		assert_int_equal(
			profile->ops->thread_document(profile, 0, lists[i].n - 1, &doc, NULL), 1);
		assert_int_equal(
			profile->ops->thread_document(profile, 0, lists[i].n, &doc, NULL), 0);
	}
}

static void test_what_holds_nothing_is_refused(void **state)
{
	struct pm_error err = {.code = 0};
	assert_int_equal(open_below("", &err), -EINVAL);
	save_text("", FIRST ".hpcrun");
	err.code = 0;
	assert_int_equal(open_below("", &err), -EINVAL);
	err.code = 0;
	assert_int_equal(open_below(FIRST ".hpcrun", &err), -EINVAL);
	assert_non_null(strstr(err.text, "is empty"));
	save_text("HPCRUN-profile____07.00b", FIRST ".hpcrun");
	err.code = 0;
	assert_int_equal(open_below(FIRST ".hpcrun", &err), -EINVAL);
	assert_non_null(strstr(err.text, "version"));
}

static void test_a_file_brings_what_stands_beside_it(void **state)
{
	const struct fixture_sample samples[] = {{1700000000000000500, 19, 0}};
	save_profile(FIXTURE_0400, FIRST ".hpcrun");
	save_profile(FIXTURE_0400, SECOND ".hpcrun");
	save_trace(samples, 1, FIRST ".hpctrace");
	static const char *const names[] = {FIRST ".hpcrun", FIRST ".hpctrace"};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(open_below(names[i], NULL), 0);
		assert_int_equal(threads_of()->n, 1);
		assert_int_equal(threads_of()->threads[0].n_samples, 1);
		assert_int_equal(tree_of()->n_contexts, FIXTURE_NODES);
	}
}

static void test_a_file_that_changes_is_noticed(void **state)
{
	save_profile(FIXTURE_0400, FIRST ".hpcrun");
	assert_int_equal(open_below("", NULL), 0);
	assert_false(profile->ops->changed(profile));
	save_profile(FIXTURE_0300, FIRST ".hpcrun");
	tree_of();
	assert_true(profile->ops->changed(profile));
}

static void test_a_large_run_is_the_same_each_time(void **state)
{
	assert_int_equal(fixture_run_write(folder, 100, 60, 20), 0);
	double total = 0;
	uint32_t contexts = 0;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(open_below("", NULL), 0);
		assert_int_equal(threads_of()->n, 100);
		assert_true(
			i == 0 || (total == cost_at(0, 1) && contexts == tree_of()->n_contexts));
		total = cost_at(0, 1);
		contexts = tree_of()->n_contexts;
		assert_int_equal(damage_of(), 0);
	}
	exercise_profile(profile);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_run_without_values_costs_nothing),
		TEST(test_every_version_becomes_the_same_tree),
		TEST(test_threads_merge_into_one_tree),
		TEST(test_what_a_run_has_is_told_without_its_trees),
		TEST(test_stored_values_are_neither_scaled_nor_rounded),
		TEST(test_a_trace_is_shown_in_the_order_of_time),
		TEST(test_old_profiles_count_microseconds),
		TEST(test_incomplete_runs_are_presented_with_their_damage),
		TEST(test_raw_tables_are_those_of_the_version),
		TEST(test_what_holds_nothing_is_refused),
		TEST(test_a_file_brings_what_stands_beside_it),
		TEST(test_a_file_that_changes_is_noticed),
		TEST(test_a_large_run_is_the_same_each_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
