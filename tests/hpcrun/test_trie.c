/* Tests formats/hpcrun/trie.c, cells.c and the numbers of filetree.c: how files become one. */
#include "tests/unittest.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/hpcrun/hpcrun.h"
#include "tests/hpcrun/exercise.h"
#include "tests/hpcrun/fixture.h"

enum { FILES = 7, NODES = 200 };

static char path[SCRATCH_PATH];
static struct hpcrun_folder folder;

static int set_up(void **state)
{
	scratch_new(path);
	assert_int_equal(fixture_run_write(path, FILES, NODES, 0), 0);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(hpcrun_folder_open(&folder, fd, path, NULL), 0);
	close(fd);
	return 0;
}

static int tear_down(void **state)
{
	hpcrun_folder_close(&folder);
	scratch_remove(path);
	return 0;
}

/* ---- tries ---- */

static struct hpcrun_trie *enter_files(struct pm_arena *a, uint32_t first, uint32_t end)
{
	struct hpcrun_trie *t = hpcrun_trie_new(a);
	for (uint32_t i = first; i < end; i++) {
		const struct hpcrun_file_tree *h =
			hpcrun_file_tree_read(a, &folder, &folder.sources[i].profile, NULL);
		assert_int_equal(h->n_nodes, NODES);
		hpcrun_trie_add(t, h, hpcrun_trie_enter(t, h));
	}
	return t;
}

static void assert_same_nodes(const struct hpcrun_trie *a, const struct hpcrun_trie *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		struct hpcrun_place x = hpcrun_trie_place(a, i), y = hpcrun_trie_place(b, i);
		assert_int_equal(a->nodes[i].parent, b->nodes[i].parent);
		assert_true(x.ip == y.ip && x.module == y.module && x.kind == y.kind);
		assert_int_equal(a->tallies[i].visits, b->tallies[i].visits);
		assert_int_equal(a->tallies[i].values, b->tallies[i].values);
	}
}

/* Costs of the made run are quarters and integers: their sums are exact in any order. */
static void assert_same_sums(const struct hpcrun_trie *a, const struct hpcrun_trie *b)
{
	size_t n, m;
	const struct hpcrun_sum *x = hpcrun_sums_list(a->arena, &a->sums, &n),
				*y = hpcrun_sums_list(b->arena, &b->sums, &m);
	assert_int_equal(n, m);
	assert_true(n > NODES / 4);
	for (size_t i = 0; i < n; i++)
		assert_true(x[i].node == y[i].node && x[i].metric == y[i].metric &&
			x[i].cost == y[i].cost);
}

static void test_joined_stretches_are_the_whole(void **state)
{
	struct pm_arena arena = {.block = NULL};
	const struct hpcrun_trie *whole = enter_files(&arena, 0, FILES);
	for (uint32_t cut = 1; cut < FILES; cut++) {
		struct hpcrun_trie *first = enter_files(&arena, 0, cut);
		hpcrun_trie_join(first, enter_files(&arena, cut, FILES));
		assert_same_nodes(whole, first);
		assert_same_sums(whole, first);
		assert_int_equal(whole->modules.n, first->modules.n);
		assert_int_equal(whole->metrics.names.n, first->metrics.names.n);
	}
	pm_arena_done(&arena);
}

static void test_files_are_followed(void **state)
{
	struct pm_arena arena = {.block = NULL};
	struct hpcrun_trie *t = enter_files(&arena, 0, 1);
	const struct hpcrun_file_tree *h =
		hpcrun_file_tree_read(&arena, &folder, &folder.sources[FILES - 1].profile, NULL);
	uint32_t before = t->n;
	h->nodes[NODES - 1].place.ip = 0xdead;
	const uint32_t *followed = hpcrun_trie_follow(t, h);
	assert_int_equal(t->n, before);
	assert_int_equal(followed[NODES - 1], UINT32_MAX);
	const uint32_t *entered = hpcrun_trie_enter(t, h);
	assert_int_equal(t->n, before + 1);
	assert_memory_equal(entered, followed, (NODES - 1) * sizeof(*entered));
	hpcrun_trie_finish(t);
	assert_memory_equal(entered, hpcrun_trie_follow(t, h), NODES * sizeof(*entered));
	pm_arena_done(&arena);
}

/* ---- tries of wide trees ---- */

/* Finds nodes by looking through all of them. */
struct simple {
	struct hpcrun_file_node items[FILES * NODES];
	uint32_t n;
};

static uint32_t simple_node(struct simple *s, const struct hpcrun_file_node *node, uint32_t parent)
{
	struct hpcrun_place place = node->place;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->items[i].parent == parent && s->items[i].place.ip == place.ip &&
			s->items[i].place.module == place.module &&
			s->items[i].place.kind == place.kind)
			return i;
	s->items[s->n] = (struct hpcrun_file_node){.place = place, .parent = parent};
	return s->n++;
}

/* Each file has some of the paths, so most guesses are wrong. */
static void test_wide_trees(void **state)
{
	struct pm_arena arena = {.block = NULL};
	struct hpcrun_trie *t = hpcrun_trie_new(&arena), *joined = hpcrun_trie_new(&arena);
	struct simple *simple = calloc(1, sizeof(*simple));
	char wide[SCRATCH_PATH];
	struct hpcrun_folder files;
	scratch_new(wide);
	assert_int_equal(fixture_wide_run_write(wide, FILES, NODES, 0, 10 * NODES), 0);
	int fd = open(wide, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(hpcrun_folder_open(&files, fd, wide, NULL), 0);
	close(fd);
	for (uint32_t i = 0; i < FILES; i++) {
		struct hpcrun_trie *one = hpcrun_trie_new(&arena);
		uint32_t want[NODES];
		const struct hpcrun_file_tree *h =
			hpcrun_file_tree_read(&arena, &files, &files.sources[i].profile, NULL);
		const uint32_t *nodes = hpcrun_trie_enter(t, h);
		for (uint32_t k = 0; k < NODES; k++) {
			uint32_t parent = h->nodes[k].parent;
			want[k] = simple_node(
				simple, &h->nodes[k], parent == UINT32_MAX ? parent : want[parent]);
		}
		assert_memory_equal(nodes, want, sizeof(want));
		hpcrun_trie_enter(one, h);
		hpcrun_trie_join(joined, one);
		assert_memory_equal(hpcrun_trie_follow(joined, h), want, sizeof(want));
	}
	assert_true(t->n > 2 * NODES && t->n == simple->n);
	assert_same_nodes(t, joined);
	pm_arena_done(&arena);
	hpcrun_folder_close(&files);
	scratch_remove(wide);
	free(simple);
}

static void test_an_empty_trie_is_followed(void **state)
{
	struct pm_arena arena = {.block = NULL};
	const struct hpcrun_file_tree *h =
		hpcrun_file_tree_read(&arena, &folder, &folder.sources[0].profile, NULL);
	const uint32_t *nodes = hpcrun_trie_follow(hpcrun_trie_new(&arena), h);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(nodes[i], UINT32_MAX);
	pm_arena_done(&arena);
}

/* ---- sums ---- */

static void test_sums_of_many_metrics(void **state)
{
	enum { METRICS = 3 * HPCRUN_DENSE, SOME = 300 };
	struct pm_arena arena = {.block = NULL};
	struct hpcrun_sums s = {.arena = &arena}, other = s;
	uint32_t nodes[SOME], metrics[METRICS];
	size_t n;
	for (uint32_t i = 0; i < SOME; i++)
		nodes[i] = SOME - 1 - i;
	for (uint32_t i = 0; i < METRICS; i++)
		metrics[i] = METRICS - 1 - i;
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < SOME; i += 3)
			for (uint32_t k = 0; k < METRICS; k++)
				hpcrun_sums_add(&s, i, k, i + k);
	hpcrun_sums_join(&other, &s, nodes, metrics);
	hpcrun_sums_join(&other, &s, nodes, metrics);
	struct hpcrun_sum *list = hpcrun_sums_list(&arena, &other, &n);
	assert_int_equal(n, SOME / 3 * METRICS);
	for (size_t i = 0; i < n; i++) {
		uint32_t node = SOME - 1 - list[i].node, metric = METRICS - 1 - list[i].metric;
		assert_true(list[i].cost == 6 * (node + metric));
		assert_true(i == 0 || list[i - 1].metric < list[i].metric ||
			(list[i - 1].metric == list[i].metric && list[i - 1].node < list[i].node));
	}
	pm_arena_done(&arena);
}

/* ---- numbers ---- */

static void check_numbers(const uint32_t *numbers, size_t n, bool dense)
{
	struct pm_arena arena = {.block = NULL};
	struct hpcrun_numbers s;
	hpcrun_numbers_init(&s, &arena, numbers, n);
	assert_int_equal(s.places != NULL, dense);
	for (uint32_t i = 0; i < n; i++)
		assert_true(hpcrun_numbers_put(&s, numbers[i], i));
	assert_false(hpcrun_numbers_put(&s, numbers[0], 77));
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(hpcrun_numbers_find(&s, numbers[i]), i);
	assert_int_equal(hpcrun_numbers_find(&s, 0), UINT32_MAX);
	assert_int_equal(hpcrun_numbers_find(&s, 11), UINT32_MAX);
	assert_int_equal(hpcrun_numbers_find(&s, UINT32_MAX), UINT32_MAX);
	pm_arena_done(&arena);
}

static void test_numbers_near_and_far(void **state)
{
	const uint32_t near[] = {12, 300, 14, 1}, far[] = {12, 4000000000, 14, 1};
	struct pm_arena arena = {.block = NULL};
	struct hpcrun_numbers none;
	check_numbers(near, 4, true);
	check_numbers(far, 4, false);
	hpcrun_numbers_init(&none, &arena, near, 0);
	assert_int_equal(hpcrun_numbers_find(&none, 12), UINT32_MAX);
	pm_arena_done(&arena);
}

/* ---- cells ---- */

/* 0 ─ 1 ─ 2, 3 below 1, 4 below 0; 5 at the top with 6 … 299 in a chain below it. */
enum { CONTEXTS = 300 };

static struct pm_tree made_tree(uint32_t *parent)
{
	const uint32_t few[] = {PM_NONE, 0, 1, 1, 0, PM_NONE};
	for (uint32_t i = 0; i < CONTEXTS; i++)
		parent[i] = i < 6 ? few[i] : i - 1;
	return (struct pm_tree){.n_contexts = CONTEXTS, .parent = parent};
}

static void assert_cell(
	const struct hpcrun_cells *c, size_t i, uint32_t context, uint32_t metric, double cost)
{
	assert_true(i < c->n);
	assert_int_equal(c->items[i].context, context);
	assert_int_equal(c->items[i].metric, metric);
	assert_true(c->items[i].cost == cost);
}

static void test_costs_go_up(void **state)
{
	uint32_t parent[CONTEXTS];
	struct pm_tree tree = made_tree(parent);
	const struct hpcrun_own own[] = {
		{2, 1, 5}, {3, 0, 1}, {2, 0, 2}, {1, 0, 4}, {4, 0, NAN}, {2, 0, 8}, {1, 0, -4}};
	struct pm_arena arena = {.block = NULL};
	struct hpcrun_cells c;
	hpcrun_cells_make(&c, &arena, &tree, 2, own, 7, NULL);
	assert_int_equal(c.n, 11);
	assert_cell(&c, 0, 0, 1, 11);
	assert_cell(&c, 1, 0, 3, 5);
	assert_cell(&c, 2, 1, 0, 0); /* values that cancel each other are there */
	assert_cell(&c, 3, 1, 1, 11);
	assert_cell(&c, 4, 1, 3, 5);
	assert_cell(&c, 5, 2, 0, 10);
	assert_cell(&c, 6, 2, 1, 10);
	assert_cell(&c, 7, 2, 2, 5);
	assert_cell(&c, 8, 2, 3, 5);
	assert_cell(&c, 9, 3, 0, 1);
	assert_cell(&c, 10, 3, 1, 1);
	pm_arena_done(&arena);
}

static void test_a_few_costs_in_a_large_tree(void **state)
{
	uint32_t parent[CONTEXTS];
	struct pm_tree tree = made_tree(parent);
	const struct hpcrun_own own[] = {{299, 0, 1}, {5, 1, 2}, {7, 1, 3}};
	struct pm_arena arena = {.block = NULL};
	struct hpcrun_cells c;
	hpcrun_cells_make(&c, &arena, &tree, 2, own, 3, NULL);
	/* All of the chain and the last one's own; of the second group three and two own. */
	assert_int_equal(c.n, CONTEXTS - 5 + 1 + 3 + 2);
	assert_cell(&c, hpcrun_cells_find(&c, 5), 5, 1, 1);
	assert_cell(&c, 1, 5, 2, 2);
	assert_cell(&c, 2, 5, 3, 5);
	assert_cell(&c, c.n - 2, 299, 0, 1);
	assert_int_equal(hpcrun_cells_find(&c, 0), 0);
	assert_int_equal(hpcrun_cells_find(&c, CONTEXTS), c.n);
	hpcrun_cells_make(&c, &arena, &tree, 0, own, 0, NULL);
	assert_int_equal(c.n, 0);
	pm_arena_done(&arena);
}

struct making {
	struct pm_arena arena;
	struct hpcrun_cells cells;
	const struct pm_tree *tree;
	const struct hpcrun_own *own;
	uint32_t n_groups;
	size_t n;
	struct pm_error err;
};

static void make_cells(void *context)
{
	struct making *m = context;
	hpcrun_cells_make(&m->cells, &m->arena, m->tree, m->n_groups, m->own, m->n, &m->err);
}

/* Many metrics at the end of a long path: each has a cost at all of it. */
static void test_costs_of_a_long_path_end(void **state)
{
	enum { PATH = 1 << 13, METRICS = 1 << 8 };
	uint32_t *parent = malloc(PATH * sizeof(*parent));
	struct hpcrun_own *own = malloc(METRICS * sizeof(*own));
	struct pm_tree tree = {.n_contexts = PATH, .parent = parent};
	struct making m = {.tree = &tree, .own = own, .n_groups = METRICS, .n = METRICS};
	assert_true(parent && own);
	for (uint32_t i = 0; i < PATH; i++)
		parent[i] = i ? i - 1 : PM_NONE;
	for (uint32_t i = 0; i < METRICS; i++)
		own[i] = (struct hpcrun_own){PATH - 1, i, 1};
	assert_int_equal(pm_build(&m.arena, make_cells, &m), -ENOMEM);
	assert_int_equal(m.err.code, -ENOMEM);
	assert_non_null(strstr(m.err.text, "more than 1589248 at 8192 contexts"));
	assert_null(m.cells.items);
	m.n = METRICS / 2;
	assert_int_equal(pm_build(&m.arena, make_cells, &m), 0);
	assert_int_equal(m.cells.n, METRICS / 2 * (PATH + 1));
	pm_arena_done(&m.arena);
	free(parent);
	free(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_joined_stretches_are_the_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files_are_followed, set_up, tear_down),
		cmocka_unit_test(test_wide_trees),
		cmocka_unit_test_setup_teardown(test_an_empty_trie_is_followed, set_up, tear_down),
		cmocka_unit_test(test_sums_of_many_metrics),
		cmocka_unit_test(test_numbers_near_and_far),
		cmocka_unit_test(test_costs_go_up),
		cmocka_unit_test(test_a_few_costs_in_a_large_tree),
		cmocka_unit_test(test_costs_of_a_long_path_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
