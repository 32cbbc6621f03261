/* Tests formats/hpcrun/filetree.c: stored trees that are none. */
#include "tests/unittest.h"

#include "formats/hpcrun/hpcrun.h"

enum { MOST = 6, SIZE = 19 };

#define TOP UINT32_MAX

struct link {
	uint32_t number, parent;
};

static void put_number(uint8_t *p, uint32_t u)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(u >> (24 - 8 * i));
}

/* Nodes as 04.00 stores them, and what becomes of their parents: places, or TOP. */
static void check(const struct link *links, size_t n, const uint32_t *parents, size_t n_reports)
{
	uint8_t bytes[MOST * SIZE] = {0};
	for (size_t i = 0; i < n; i++) {
		put_number(bytes + i * SIZE, links[i].number);
		put_number(bytes + i * SIZE + 4, links[i].parent);
	}
	struct hpcrun_nodes nodes = {.table = {bytes, n * SIZE},
		.n = n,
		.size = SIZE,
		.big = true,
		.has_module = true,
		.has_flags = true};
	struct pm_damage_list list = PM_DAMAGE_LIST_INIT;
	struct hpcrun_report report = {.list = &list, .file = "made"};
	struct hpcrun_shape shape;
	bool seen[MOST] = {false};
	struct pm_arena arena = {.block = NULL};
	hpcrun_shape_read(&shape, &arena, &nodes, &report);
	for (size_t i = 0; i < n; i++) {
		uint32_t place = shape.order[i];
		assert_true(shape.parent[i] == parents[i]);
		assert_false(seen[place]);
		assert_true(shape.parent[place] == TOP || seen[shape.parent[place]]);
		seen[place] = true;
	}
	assert_int_equal(pm_damage_rows(&list).n, n_reports);
	pm_arena_done(&arena);
	pm_damage_done(&list);
}

static void test_a_sound_tree_stays_as_it_is(void **state)
{
	const struct link links[] = {{12, 0}, {14, 12}, {20, 14}, {16, 12}};
	const uint32_t parents[] = {TOP, 0, 1, 0};
	check(links, 4, parents, 0);
}

static void test_children_may_stand_before_their_parents(void **state)
{
	const struct link links[] = {{20, 14}, {14, 12}, {12, 0}};
	const uint32_t parents[] = {1, 2, TOP};
	check(links, 3, parents, 0);
}

static void test_a_missing_parent_and_a_node_of_its_own_go_to_the_top(void **state)
{
	const struct link links[] = {{12, 0}, {14, 99}, {16, 16}, {18, 16}};
	const uint32_t parents[] = {TOP, TOP, TOP, 2};
	check(links, 4, parents, 2);
}

static void test_a_cycle_is_cut_once(void **state)
{
	const struct link links[] = {{12, 0}, {14, 18}, {16, 14}, {18, 16}, {20, 18}};
	const uint32_t parents[] = {TOP, 3, TOP, 2, 3};
	check(links, 5, parents, 1);
}

static void test_a_number_belongs_to_the_first_that_has_it(void **state)
{
	const struct link links[] = {{12, 0}, {14, 12}, {14, 0}, {16, 14}, {0, 12}};
	const uint32_t parents[] = {TOP, 0, TOP, 1, 0};
	check(links, 5, parents, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sound_tree_stays_as_it_is),
		cmocka_unit_test(test_children_may_stand_before_their_parents),
		cmocka_unit_test(test_a_missing_parent_and_a_node_of_its_own_go_to_the_top),
		cmocka_unit_test(test_a_cycle_is_cut_once),
		cmocka_unit_test(test_a_number_belongs_to_the_first_that_has_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
