/* Tests formats/common/tree.c. */
#include "tests/unittest.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/tree.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

static struct pm_tree *freeze(struct pm_tree_builder *b, const double *weight, uint32_t **ret_index)
{
	struct pm_tree *tree;
	struct pm_error err = {.code = 0};
	assert_int_equal(pm_tree_freeze(b, weight, &tree, ret_index, &err), 0);
	return tree;
}

/* Everything that the header of struct pm_tree promises of its arrays. */
static void assert_is_pre_order(const struct pm_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i];
		assert_true(tree->end[i] > i && tree->end[i] <= tree->n_contexts);
		if (parent == PM_NONE) {
			assert_int_equal(tree->depth[i], 0);
		} else {
			assert_true(parent < i && tree->end[i] <= tree->end[parent]);
			assert_int_equal(tree->depth[i], tree->depth[parent] + 1);
		}
		uint32_t at = i + 1;
		while (at < tree->end[i]) {
			assert_int_equal(tree->parent[at], i);
			at = tree->end[at];
		}
		assert_int_equal(at, tree->end[i]);
	}
}

/*
 * Ranks:  0          6
 *        / \ \
 *       1  4  5
 *      / \
 *     2   3
 */
static const uint32_t parents[] = {PM_NONE, 0, 1, 1, 0, 0, PM_NONE};

static struct pm_tree_builder *seven(const uint32_t *numbers)
{
	struct pm_tree_builder *b = pm_tree_builder_new();
	struct pm_frame frame = {.kind = PM_KIND_FUNCTION};
	for (uint32_t i = 0; i < 7; i++) {
		frame.line = i;
		uint32_t f = pm_tree_intern(b, &frame);
		assert_int_equal(pm_tree_add(b, parents[i], f, numbers ? numbers[i] : 0), i);
	}
	return b;
}

static void test_siblings_come_heaviest_first_then_in_database_order(void **state)
{
	static const struct {
		double weight[7];
		uint32_t ranks[7]; /* in pre-order */
	} rows[] = {
		{{0, 0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5, 6}},
		{{1, 1, 1, 2, 1, 1, 2}, {6, 0, 1, 3, 2, 4, 5}},
		{{9, 1, 0, 0, 2, 3, 1}, {0, 5, 4, 1, 2, 3, 6}},
		{{9, NAN, NAN, -1, 2, NAN, 1}, {0, 4, 1, 3, 2, 5, 6}},
		{{9, NAN, 1, 2, NAN, -INFINITY, NAN}, {0, 5, 1, 3, 2, 4, 6}},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint32_t *index;
		struct pm_tree *tree = freeze(seven(NULL), rows[i].weight, &index);
		assert_is_pre_order(tree);
		assert_memory_equal(tree->rank, rows[i].ranks, sizeof(rows[i].ranks));
		for (uint32_t at = 0; at < 7; at++) {
			assert_int_equal(index[tree->rank[at]], at);
			assert_int_equal(pm_tree_frame(tree, at)->line, tree->rank[at]);
		}
		free(index);
		pm_tree_free(tree);
	}
}

static void test_another_order_keeps_numbers_and_ranks(void **state)
{
	static const uint32_t numbers[] = {70, 10, 20, 30, 30, 50, 60};
	static const double first[] = {9, 1, 0, 0, 2, 3, 1};   /* 0 5 4 1 2 3 6 */
	static const double then[] = {1, 2, 2, 5, NAN, 6, 2};  /* by context of that tree */
	static const uint32_t ranks[] = {6, 0, 1, 3, 2, 4, 5}; /* 4, 5 and 1 weigh 2, 2, 5 */
	struct pm_error err = {.code = 0};
	for (unsigned numbered = 0; numbered < 2; numbered++) {
		struct pm_tree *tree = freeze(seven(numbered ? numbers : NULL), first, NULL),
			       *other;
		uint32_t *from;
		assert_int_equal(tree->ordered_by, 0);
		assert_int_equal(pm_tree_reorder(tree, then, &other, &from, &err), 0);
		assert_is_pre_order(other);
		assert_memory_equal(other->rank, ranks, sizeof(ranks));
		for (uint32_t i = 0; i < 7; i++) {
			uint32_t old = from[i], number = pm_tree_number(tree, old);
			assert_int_equal(pm_tree_number(other, i), number);
			assert_int_equal(
				from[pm_tree_find(other, number)], pm_tree_find(tree, number));
			assert_int_equal(other->rank[i], tree->rank[old]);
			assert_int_equal(other->frame[i], tree->frame[old]);
			assert_int_equal(other->depth[i], tree->depth[old]);
		}
		assert_ptr_equal(other->frames, tree->frames);
		assert_int_equal(pm_tree_find(other, 0), PM_NONE);
		free(from);
		pm_tree_free(other);
		pm_tree_free(tree);
	}
}

static void test_without_weights_database_order_stays(void **state)
{
	static const uint32_t end[] = {6, 4, 3, 4, 5, 6, 7}, depth[] = {0, 1, 2, 2, 1, 1, 0};
	struct pm_tree *tree = freeze(seven(NULL), NULL, NULL);
	assert_memory_equal(tree->end, end, sizeof(end));
	assert_memory_equal(tree->depth, depth, sizeof(depth));
	assert_memory_equal(tree->parent, parents, sizeof(parents));
	assert_null(tree->number);
	pm_tree_free(tree);
}

static void test_contexts_without_numbers_are_found_by_index_plus_one(void **state)
{
	struct pm_tree *tree = freeze(seven(NULL), NULL, NULL);
	assert_int_equal(pm_tree_find(tree, 1), 0);
	assert_int_equal(pm_tree_find(tree, 7), 6);
	assert_int_equal(pm_tree_find(tree, 0), PM_NONE);
	assert_int_equal(pm_tree_find(tree, 8), PM_NONE);
	assert_int_equal(pm_tree_find(tree, (uint64_t)1 << 32 | 1), PM_NONE);
	pm_tree_free(tree);
}

static void test_contexts_are_found_by_the_numbers_of_the_database(void **state)
{
	static const uint32_t rows[][7] = {
		{12, 7, 3, 40, 1, 2, 1000},               /* dense */
		{4000000000u, 7, 3, UINT32_MAX, 1, 2, 5}, /* sparse */
	};
	static const double weight[] = {1, 2, 3, 4, 5, 6, 7};
	for (size_t i = 0; i < 2; i++) {
		uint32_t *index;
		struct pm_tree *tree = freeze(seven(rows[i]), weight, &index);
		for (uint32_t rank = 0; rank < 7; rank++) {
			assert_int_equal(pm_tree_find(tree, rows[i][rank]), index[rank]);
			assert_int_equal(pm_tree_number(tree, index[rank]), rows[i][rank]);
		}
		assert_int_equal(pm_tree_find(tree, 0), PM_NONE);
		assert_int_equal(pm_tree_find(tree, 6), PM_NONE);
		assert_int_equal(pm_tree_find(tree, 1001), PM_NONE);
		assert_int_equal(pm_tree_find(tree, UINT64_MAX), PM_NONE);
		assert_int_equal(pm_tree_find(tree, (uint64_t)1 << 32 | 7), PM_NONE);
		free(index);
		pm_tree_free(tree);
	}
}

static void test_of_equal_numbers_the_first_in_database_order_is_found(void **state)
{
	static const uint32_t rows[][7] = {{1, 2, 3, 3, 5, 5, 5}, {4000000000u, 2, 3, 3, 5, 5, 5}};
	static const double weight[] = {1, 1, 1, 2, 1, 2, 3}; /* the last one comes first */
	for (size_t i = 0; i < 2; i++) {
		uint32_t *index;
		struct pm_tree *tree = freeze(seven(rows[i]), weight, &index);
		assert_int_equal(pm_tree_find(tree, 3), index[2]);
		assert_int_equal(pm_tree_find(tree, 5), index[4]);
		free(index);
		pm_tree_free(tree);
	}
}

static void test_child_finds_what_it_made(void **state)
{
	struct pm_tree_builder *b = pm_tree_builder_new();
	struct pm_frame frame = {.kind = PM_KIND_FUNCTION};
	uint32_t f = pm_tree_intern(b, &frame);
	frame.line = 3;
	uint32_t g = pm_tree_intern(b, &frame);
	uint32_t top = pm_tree_child(b, PM_NONE, f);
	uint32_t below = pm_tree_child(b, top, f);
	assert_int_equal(pm_tree_child(b, PM_NONE, f), top);
	assert_int_equal(pm_tree_child(b, top, f), below);
	assert_int_not_equal(pm_tree_child(b, top, g), below);
	assert_int_equal(pm_tree_count(b), 3);
	assert_int_equal(pm_tree_parent_of(b, top), PM_NONE);
	assert_int_equal(pm_tree_parent_of(b, below), top);
	assert_int_equal(pm_tree_frame_of(b, 2), g);
	pm_tree_builder_free(b);
}

static void test_frames_that_differ_in_any_field_are_different(void **state)
{
	static const struct pm_frame rows[] = {
		{.kind = PM_KIND_LOOP},
		{.has_offset = true},
		{.code = 1},
		{.function = 1},
		{.name = 1},
		{.file = 1},
		{.module = 1},
		{.line = 1},
		{.offset = 1},
		{.offset = (uint64_t)1 << 32},
	};
	struct pm_tree_builder *b = pm_tree_builder_new();
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
			assert_int_equal(pm_tree_intern(b, &rows[i]), i);
	struct pm_frame many = {.kind = PM_KIND_LINE};
	for (uint32_t i = 10; i < 5000; i++) {
		many.line = i;
		assert_int_equal(pm_tree_intern(b, &many), i);
		assert_int_equal(pm_tree_intern(b, &many), i);
	}
	pm_tree_builder_free(b);
}

static void test_texts_and_functions_go_into_the_tree(void **state)
{
	static const char kept[] = "kept";
	char copied[] = "copied";
	struct pm_tree_builder *b = pm_tree_builder_new();
	assert_int_equal(pm_tree_text(b, pm_bytes_of(kept), false), 1);
	assert_int_equal(pm_tree_text(b, pm_bytes_of(copied), true), 2);
	assert_int_equal(pm_tree_text(b, pm_bytes_of("kept"), true), 1);
	assert_int_equal(pm_tree_text(b, pm_bytes_of(NULL), false), 0);
	assert_int_equal(pm_tree_function(b, &(struct pm_function){.name = 1}), 0);
	assert_int_equal(pm_tree_function(b, &(struct pm_function){.name = 2}), 1);
	copied[0] = '!';
	struct pm_tree *tree = freeze(b, NULL, NULL);
	assert_int_equal(tree->n_texts, 3);
	assert_int_equal(tree->texts[0].len, 0);
	assert_ptr_equal(tree->texts[1].p, kept);
	assert_true(pm_bytes_equal(tree->texts[2], pm_bytes_of("copied")));
	assert_int_equal(tree->n_functions, 2);
	assert_int_equal(tree->functions[1].name, 2);
	pm_tree_free(tree);
}

static void test_empty_tree_is_a_tree(void **state)
{
	uint32_t *index;
	struct pm_tree *tree = freeze(pm_tree_builder_new(), NULL, &index);
	assert_int_equal(tree->n_contexts, 0);
	assert_int_equal(tree->n_texts, 1);
	assert_int_equal(pm_tree_find(tree, 1), PM_NONE);
	free(index);
	pm_tree_free(tree);
	pm_tree_free(NULL);
	assert_null(pm_tree_builder_free(NULL));
}

static void test_path_goes_from_the_outermost_context_down(void **state)
{
	struct pm_tree *tree = freeze(seven(NULL), NULL, NULL);
	struct pm_arena arena = {.block = NULL};
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t n, *path = pm_tree_path(&arena, tree, i, &n);
		assert_int_equal(n, tree->depth[i] + 1);
		assert_int_equal(path[n - 1], i);
		assert_int_equal(tree->parent[path[0]], PM_NONE);
		for (uint32_t k = 1; k < n; k++)
			assert_int_equal(tree->parent[path[k]], path[k - 1]);
	}
	pm_arena_done(&arena);
	pm_tree_free(tree);
}

static struct pm_tree_builder *chain(uint32_t n)
{
	struct pm_tree_builder *b = pm_tree_builder_new();
	uint32_t at = PM_NONE;
	for (uint32_t i = 0; i < n; i++)
		at = pm_tree_add(b, at, 0, 0);
	return b;
}

static void test_chain_as_deep_as_the_limit_freezes(void **state)
{
	struct pm_tree *tree = freeze(chain(PM_LIMIT_DEPTH), NULL, NULL);
	assert_int_equal(tree->depth[PM_LIMIT_DEPTH - 1], PM_LIMIT_DEPTH - 1);
	assert_int_equal(tree->end[0], PM_LIMIT_DEPTH);
	pm_tree_free(tree);
}

static void test_chain_beyond_the_limit_is_refused_with_the_limit(void **state)
{
	struct pm_tree *tree;
	uint32_t *index;
	struct pm_error err = {.code = 0};
	assert_int_equal(
		pm_tree_freeze(chain(PM_LIMIT_DEPTH + 1), NULL, &tree, &index, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "1000000"));
}

static void test_big_random_tree_keeps_its_promises(void **state)
{
	uint32_t n = 200000, random = 1, *index;
	double *weight = malloc(n * sizeof(*weight));
	struct pm_tree_builder *b = pm_tree_builder_new();
	for (uint32_t i = 0; i < n; i++) {
		random = random * 1103515245 + 12345;
		uint32_t r = random >> 4;
		pm_tree_add(b, i % 4 == 0 ? PM_NONE : r % i, 0, i + 1);
		weight[i] = r % 100 == 0 ? NAN : r % 1000;
	}
	struct pm_tree *tree = freeze(b, weight, &index);
	assert_is_pre_order(tree);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(pm_tree_find(tree, i + 1), index[i]);
		uint32_t next = tree->end[i];
		if (next == n || tree->parent[next] != tree->parent[i])
			continue;
		double a = weight[tree->rank[i]], c = weight[tree->rank[next]];
		bool tie = a == c || (isnan(a) && isnan(c));
		assert_true(tie ? tree->rank[i] < tree->rank[next] : isnan(c) || a > c);
	}
	free(weight);
	free(index);
	pm_tree_free(tree);
}

static void test_freezing_ends_with_the_work(void **state)
{
	struct pm_work work = {.cancelled = true};
	struct pm_tree *tree = NULL;
	struct pm_tree_builder *built = seven(NULL);
	pm_work_enter(&work);
	assert_int_equal(pm_tree_freeze(built, NULL, &tree, NULL, NULL), -ENOMEM);
	pm_work_enter(NULL);
	assert_null(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siblings_come_heaviest_first_then_in_database_order),
		cmocka_unit_test(test_without_weights_database_order_stays),
		cmocka_unit_test(test_contexts_without_numbers_are_found_by_index_plus_one),
		cmocka_unit_test(test_contexts_are_found_by_the_numbers_of_the_database),
		cmocka_unit_test(test_of_equal_numbers_the_first_in_database_order_is_found),
		cmocka_unit_test(test_child_finds_what_it_made),
		cmocka_unit_test(test_frames_that_differ_in_any_field_are_different),
		cmocka_unit_test(test_texts_and_functions_go_into_the_tree),
		cmocka_unit_test(test_empty_tree_is_a_tree),
		cmocka_unit_test(test_another_order_keeps_numbers_and_ranks),
		cmocka_unit_test(test_path_goes_from_the_outermost_context_down),
		cmocka_unit_test(test_chain_as_deep_as_the_limit_freezes),
		cmocka_unit_test(test_chain_beyond_the_limit_is_refused_with_the_limit),
		cmocka_unit_test(test_big_random_tree_keeps_its_promises),
		cmocka_unit_test(test_freezing_ends_with_the_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
