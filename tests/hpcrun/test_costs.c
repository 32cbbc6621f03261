/*
 * Tests formats/hpcrun/costs.c and what is kept of decoded files: whichever way costs are asked
 * for, they are the same.
 */
#include "tests/unittest.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/crew.h"
#include "formats/hpcrun/hpcrun.h"
#include "profmount/limits.h"
#include "tests/hpcrun/exercise.h"
#include "tests/hpcrun/fixture.h"

enum { THREADS = 19, NODES = 150, ROOM = 7, MOST = 1 << 16 };

static char folder[SCRATCH_PATH];
static struct pm_profile *profile;
static struct hpcrun_opened *model;
static const struct pm_tree *tree;

static int set_up(void **state)
{
	scratch_new(folder);
	assert_int_equal(fixture_run_write(folder, THREADS, NODES, 40), 0);
	assert_int_equal(pm_profile_open(folder, NULL, NULL, &profile, NULL), 0);
	assert_int_equal(pm_profile_tree(profile, &tree, NULL), 0);
	model = profile->self;
	return 0;
}

static int tear_down(void **state)
{
	profile = pm_profile_close(profile);
	scratch_remove(folder);
	return 0;
}

enum { COSTS, VALUES };

static struct pm_values_of of_thread(uint32_t thread, bool stored)
{
	return (struct pm_values_of){PM_OF_THREAD, thread, stored};
}

static struct pm_values_of of_context(uint32_t context, bool stored)
{
	return (struct pm_values_of){PM_OF_CONTEXT, context, stored};
}

static size_t read_values(struct pm_values_of of, struct pm_value *ret)
{
	size_t n = 0;
	int64_t got;
	while ((got = profile->ops->values(profile, of, n, ret + n, ROOM, NULL)) > 0)
		n += (size_t)got;
	assert_int_equal(got, 0);
	return n;
}

static bool is_same(const struct pm_value *a, const struct pm_value *b)
{
	return a->context == b->context && a->metric == b->metric && a->thread == b->thread &&
		a->whole == b->whole && a->u == b->u;
}

/* Every value of every thread, by context: as context after context must be. */
static void check_across(bool stored)
{
	struct pm_value *all = calloc(MOST, sizeof(*all)), *some = calloc(MOST, sizeof(*some));
	size_t n = 0, seen = 0;
	for (uint32_t t = 0; t < THREADS; t++)
		n += read_values(of_thread(t, stored), all + n);
	for (uint32_t context = 0; context < tree->n_contexts; context++) {
		size_t there = read_values(of_context(context, stored), some), at = 0;
		for (size_t i = 0; i < n; i++)
			if (all[i].context == pm_tree_number(tree, context)) {
				assert_true(at < there);
				assert_true(is_same(&all[i], &some[at]));
				at++;
			}
		assert_int_equal(at, there);
		seen += there;
	}
	assert_int_equal(seen, n);
	assert_true(n > THREADS * NODES / 2);
	free(all);
	free(some);
}

/* Blocks of any size are parts of the same whole. */
static void divide(uint32_t size)
{
	static uint32_t starts[MOST];
	struct hpcrun_merged *m = model->merged;
	assert_true(tree->n_contexts / size + 2 <= MOST);
	m->block_start = starts;
	m->n_blocks = 0;
	for (uint32_t i = 0; i < tree->n_contexts; i += size)
		m->block_start[m->n_blocks++] = i;
	m->block_start[m->n_blocks] = tree->n_contexts;
	pm_cache_free(model->decoded);
	model->decoded = pm_cache_new(PM_LIMIT_DECODED);
}

static void test_threads_and_contexts_agree(void **state)
{
	check_across(COSTS);
	check_across(VALUES);
	const uint32_t sizes[] = {1, 2, 13, tree->n_contexts - 1};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		divide(sizes[i]);
		check_across(COSTS);
		check_across(VALUES);
	}
}

/* Quarters and integers: their sums are exact. */
static void test_the_run_is_the_sum_of_its_threads(void **state)
{
	struct pm_value of_run[8], *threads = calloc(MOST, sizeof(*threads));
	for (uint32_t context = 0; context < tree->n_contexts; context++) {
		double sums[4] = {0};
		size_t n = read_values(of_context(context, COSTS), threads);
		for (size_t i = 0; i < n; i++)
			sums[threads[i].metric] += threads[i].f;
		int64_t got = profile->ops->run_costs(profile, context, of_run, 8, NULL);
		for (int64_t i = 0; i < got; i++) {
			assert_true(of_run[i].f == sums[of_run[i].metric]);
			sums[of_run[i].metric] = 0;
		}
		for (uint32_t i = 0; i < 4; i++)
			assert_true(sums[i] == 0);
	}
	free(threads);
}

/* Counted while files were merged, and again where places share contexts. */
static void test_counts_of_threads(void **state)
{
	struct pm_thread_counts merged, decoded;
	assert_false(model->merged->shares);
	for (uint32_t t = 0; t < THREADS; t++) {
		model->merged->shares = false;
		assert_int_equal(profile->ops->thread_counts(profile, t, &merged, NULL), 0);
		model->merged->shares = true;
		assert_int_equal(profile->ops->thread_counts(profile, t, &decoded, NULL), 0);
		assert_int_equal(merged.contexts, decoded.contexts);
		assert_int_equal(merged.values, decoded.values);
		assert_true(merged.contexts > 0 && merged.contexts < merged.values);
	}
}

/* Where there is room for one or two things, all others are decoded again and again. */
static void test_little_is_kept(void **state)
{
	enum { LIMIT = 20000 };
	struct pm_value *first = calloc(MOST, sizeof(*first)),
			*again = calloc(MOST, sizeof(*again));
	struct pm_sample samples[64], same[64];
	pm_cache_free(model->decoded);
	model->decoded = pm_cache_new(LIMIT);
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t t = 0; t < THREADS; t++) {
			size_t n = read_values(of_thread(t, COSTS), first);
			read_values(of_thread(THREADS - 1 - t, VALUES), again);
			assert_int_equal(
				profile->ops->samples(profile, t, 0, samples, 64, NULL), 40);
			assert_int_equal(read_values(of_thread(t, COSTS), again), n);
			for (size_t i = 0; i < n; i++)
				assert_true(is_same(&first[i], &again[i]));
			assert_int_equal(profile->ops->samples(profile, t, 0, same, 64, NULL), 40);
			assert_memory_equal(samples, same, 40 * sizeof(*samples));
			assert_true(pm_cache_bytes(model->decoded) <= LIMIT);
		}
	assert_true(pm_cache_bytes(model->decoded) > 0);
	free(first);
	free(again);
}

/* Reads as views do, in batches: of threads and contexts, while others are read. */
static void read_at_once(bool stored, size_t *ret_batches)
{
	enum { CONTEXT = 1 };
	struct pm_value v[ROOM];
	const struct pm_values_of of[] = {
		of_thread(0, stored), of_thread(1, stored), of_context(CONTEXT, stored)};
	size_t at[3] = {0};
	int64_t got[3] = {1};
	while (got[0] > 0) {
		for (size_t i = 0; i < 3; i++) {
			got[i] = profile->ops->values(profile, of[i], at[i], v, ROOM, NULL);
			assert_true(got[i] >= 0);
			at[i] += (size_t)got[i];
		}
		(*ret_batches)++;
	}
}

/* What is larger than all that is kept is decoded once, and not for each batch. */
static void test_what_is_read_is_decoded_once(void **state)
{
	size_t batches = 0;
	pm_cache_free(model->decoded);
	model->decoded = hpcrun_decoded_new(1);
	read_at_once(COSTS, &batches);
	assert_int_equal(model->n_decoded, 3);
	read_at_once(VALUES, &batches);
	assert_int_equal(model->n_decoded, 6);
	assert_true(batches > 20);
}

/* Only some stay, however many are looked at. */
static void test_few_are_kept_beyond_the_limit(void **state)
{
	struct pm_value v;
	uint64_t most = 0, now;
	pm_cache_free(model->decoded);
	model->decoded = hpcrun_decoded_new(1);
	unsigned spared = pm_crew_width() + 2;
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(
			profile->ops->values(profile, of_thread(i, COSTS), 0, &v, 1, NULL), 1);
		now = pm_cache_bytes(model->decoded);
		most = i < spared && now > most ? now : most;
		assert_true(now > 0 && now <= 2 * most);
	}
	assert_int_equal(model->n_decoded, THREADS);
}

/* Every number around the items' numbers, and the extremes. */
static void check_links(struct hpcrun_link *items, size_t n)
{
	static struct pm_tree numbered;
	const struct hpcrun_merged merged = {.tree = &numbered};
	struct pm_arena arena = {.block = NULL};
	struct hpcrun_links_of_thread l = {.items = items, .n = n};
	hpcrun_links_index(&l, &arena);
	for (size_t i = 0; i < n; i++) {
		uint32_t number = items[i].number;
		items[i].context = (uint32_t)i;
		assert_int_equal(hpcrun_links_find(&l, &merged, number), i + 1);
		if (number > 0 && (i == 0 || items[i - 1].number != number - 1))
			assert_true(hpcrun_links_find(&l, &merged, number - 1) == UINT64_MAX);
		if (number < UINT32_MAX && (i + 1 == n || items[i + 1].number != number + 1))
			assert_true(hpcrun_links_find(&l, &merged, number + 1) == UINT64_MAX);
	}
	if (n == 0 || items[n - 1].number != UINT32_MAX)
		assert_true(hpcrun_links_find(&l, &merged, UINT32_MAX) == UINT64_MAX);
	if (n > 0) /* about one range for each */
		assert_true((items[n - 1].number - items[0].number) >> l.shift <= n);
	pm_arena_done(&arena);
}

static void test_nodes_are_found_however_they_are_numbered(void **state)
{
	enum { MOST_LINKS = 3000 };
	static struct hpcrun_link items[MOST_LINKS];
	(void)state;
	for (size_t n = 0; n < 40; n++)
		for (uint32_t gap = 1; gap < 20; gap += 3) {
			for (uint32_t i = 0; i < n; i++)
				items[i].number = 1 + i * gap;
			check_links(items, n);
		}
	for (uint32_t i = 0; i < 32; i++) /* as uneven as can be */
		items[i].number = i < 31 ? UINT32_C(1) << i : UINT32_MAX;
	check_links(items, 32);
	uint64_t number = 1;
	for (uint32_t i = 0; i < MOST_LINKS; i++) {
		items[i].number = (uint32_t)number;
		number += 1 + (number * 2654435761U >> 13) % (i % 100 == 0 ? 10000000 : 3);
	}
	assert_true(number <= UINT32_MAX);
	check_links(items, MOST_LINKS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_threads_and_contexts_agree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_the_run_is_the_sum_of_its_threads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_counts_of_threads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_little_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_what_is_read_is_decoded_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_few_are_kept_beyond_the_limit, set_up, tear_down),
		cmocka_unit_test(test_nodes_are_found_however_they_are_numbered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
