/*
 * formats/nytprof/calls.c: trees from sub returns, against a simple implementation that keeps all
 * events.
 */
#include "formats/nytprof/calls.h"

#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/common/text.h"
#include "profmount/limits.h"

static int by_name(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* `a2(b1 c1)`: names as letters, calls as numbers, children by name; `?` = not returned. */
static void show(const struct nytp_trie *t, uint32_t parent, struct pm_text *out)
{
	uint64_t children[64];
	size_t n = 0;
	for (uint32_t k = 0; k < t->paths.n; k++)
		if (t->paths.items[k].parent == parent)
			children[n++] = (uint64_t)t->paths.items[k].key << 32 | k;
	qsort(children, n, sizeof(*children), by_name);
	for (size_t i = 0; i < n; i++) {
		uint32_t child = (uint32_t)children[i], name = t->paths.items[child].key;
		struct pm_text below = {.p = NULL};
		if (i)
			pm_text_char(out, ' ');
		pm_text_char(out, name == NYTP_NOT_RETURNED ? '?' : (char)('a' + (int)name));
		pm_text_u64(out, t->costs[child].calls);
		show(t, child, &below);
		if (below.len) {
			pm_text_char(out, '(');
			pm_text_bytes(out, pm_text_view(&below));
			pm_text_char(out, ')');
		}
		pm_text_done(&below);
	}
}

/* Feeds `3a 2b …`: depth and name of each return; every call costs 10 ticks and 1. */
static void expect(const char *returns, const char *want)
{
	struct pm_arena arena = {.total = 0};
	struct nytp_calls c;
	size_t rows = 0;
	struct pm_text got = {.p = NULL};
	unsigned depth;
	char name;
	int used;
	nytp_calls_init(&c, &arena, &arena, &rows);
	for (; sscanf(returns, "%u%c%n", &depth, &name, &used) == 2; returns += used)
		nytp_calls_return(&c, depth, (uint32_t)(name - 'a'), 10, 1);
	nytp_calls_finish(&c);
	show(&c.tree, UINT32_MAX, &got);
	pm_text_char(&got, 0);
	assert_string_equal(got.p, want);
	pm_text_done(&got);
	pm_arena_done(&arena);
}

static void test_callees_become_children_of_the_next_return_above(void **state)
{
	expect("", "");
	expect("1a", "a1");
	expect("3c 2b 2d 1a", "a1(b1(c1) d1)");
	expect("2b 1a 2b 1c", "a1(b1) c1(b1)");
}

static void test_calls_of_one_name_merge_with_all_below(void **state)
{
	expect("2b 1a 2b 1a 2c 1a", "a3(b2 c1)");
	expect("3c 2b 1a 3d 2b 3c 2b 1a", "a2(b3(c2 d1))");
	expect("4d 3c 2b 4e 3c 2b 4d 3c 2b 1a", "a1(b3(c3(d2 e1)))");
}

static void test_recursion_is_a_chain(void **state)
{
	expect("4a 3a 3a 2a 1a", "a1(a1(a2(a1)))");
}

static void test_missing_callers_have_a_context_each(void **state)
{
	expect("3c", "?0(?0(c1))");
	expect("4d 2b 1a", "a1(b1(?0(d1)))");
	expect("4d 2c 1a 4d 4e 2c", "a1(c1(?0(d1))) ?0(c1(?0(d1 e1)))");
	expect("3d 2b", "?0(b1(d1))");
}

static void test_depths_that_make_no_sense_lose_no_call(void **state)
{
	expect("0a 1b 0c", "a1 c1(b1)");
	expect("1a 1b 0a", "a1(a1 b1)");
	expect("0a 2b", "a1 ?0(b1)");
}

static void test_long_gap_is_shown_as_one_context_once_there_are_too_many(void **state)
{
	struct pm_arena arena = {.total = 0};
	struct nytp_calls c;
	size_t rows = 0;
	nytp_calls_init(&c, &arena, &arena, &rows);
	for (uint32_t i = 0; i < 100; i++) {
		nytp_calls_return(&c, UINT32_MAX, 0, 1, 1);
		nytp_calls_return(&c, 1, i % 50, 1, 1);
	}
	nytp_calls_finish(&c);
	assert_true(c.too_deep);
	assert_true(c.tree.paths.n < 2 * PM_LIMIT_DEPTH);
	assert_int_equal(c.returns, 200);
	pm_arena_done(&arena);
}

/* ---- the simple way: all events kept, merged at the end ---- */

struct event {
	uint32_t depth, name;
	size_t n_below; /* events before it that are in its subtree */
};

/* Sums of costs of a forest of events, path by path, as lines of text, sorted. */
static size_t rebuild(
	const struct event *e, size_t n, char (*lines)[64], const char *path, size_t count)
{
	size_t at = n;
	while (at > 0) {
		const struct event *top = &e[at - 1];
		size_t below = top->n_below;
		snprintf(lines[count], 64, "%s%c", path, 'a' + (int)top->name);
		char own[64];
		strcpy(own, lines[count]);
		count = rebuild(e + at - 1 - below, below, lines, own, count + 1);
		at -= below + 1;
	}
	return count;
}

/* The same of a tree. */
static size_t list(const struct nytp_trie *t, char (*lines)[64])
{
	char(*own)[64] = calloc(t->paths.n + 1, sizeof(*own));
	size_t count = 0;
	for (uint32_t k = 0; k < t->paths.n; k++) {
		struct pm_path p = t->paths.items[k];
		snprintf(own[k], sizeof(own[k]), "%.60s%c",
			p.parent == UINT32_MAX ? "" : own[p.parent],
			p.key == NYTP_NOT_RETURNED ? '?' : 'a' + (int)p.key);
		assert_true(t->costs[k].incl == 3.0 * (double)t->costs[k].calls);
		for (uint64_t i = 0; i < t->costs[k].calls; i++)
			strcpy(lines[count++], own[k]);
	}
	free(own);
	return count;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static uint32_t seed = 7;

static uint32_t roll(uint32_t sides)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % sides;
}

/* A random program: calls nest at random, each return one event. */
static size_t make_events(struct event *e, size_t n, uint32_t depth, size_t most)
{
	while (n < most && roll(4)) {
		size_t begin = n;
		if (depth < 20)
			n = make_events(e, n, depth + 1, most);
		if (n >= most)
			return n;
		e[n] = (struct event){depth, roll(3), n - begin};
		n++;
	}
	return n;
}

static void expect_rebuilt(
	const struct event *e, size_t n, char (*got)[64], char (*want)[64], size_t *rows)
{
	struct pm_arena arena = {.total = 0};
	struct nytp_calls c;
	nytp_calls_init(&c, &arena, &arena, rows);
	for (size_t i = 0; i < n; i++)
		nytp_calls_return(&c, e[i].depth, e[i].name, 3, 1);
	nytp_calls_finish(&c);
	assert_int_equal(*rows, c.tree.paths.n);
	assert_int_equal(rebuild(e, n, want, "", 0), n);
	assert_int_equal(list(&c.tree, got), n);
	qsort(got, n, sizeof(*got), by_text);
	qsort(want, n, sizeof(*want), by_text);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(got[i], want[i]);
	pm_arena_done(&arena);
}

static void test_tree_equals_one_that_was_built_from_all_events(void **state)
{
	enum { MOST = 400 };
	static char got[MOST][64], want[MOST][64];
	static struct event e[MOST];
	for (int round = 0; round < 300; round++) {
		size_t rows = 0;
		size_t n = 0;
		for (int i = 0; i < 50; i++)
			n = make_events(e, n, 1, MOST);
		if (n == MOST && e[n - 1].depth > 1)
			continue; /* cut within a call: the simple way knows nothing of that */
		expect_rebuilt(e, n, got, want, &rows);
	}
}

/*
 * A long program: its outer calls last as long as `drift` makes them (a call is that much more
 * likely than a return, in 16ths), so that what is added up waits at all depths.
 */
static size_t make_long(struct event *e, size_t most, uint32_t drift, uint32_t names)
{
	enum { DEEP = 30 };
	size_t begin[DEEP + 1], n = 0;
	uint32_t depth = 0;
	while (n < most - DEEP || depth) {
		bool ends = n >= most - DEEP;
		if (!ends && depth < DEEP && (depth == 0 || roll(16) < 8 + drift)) {
			begin[++depth] = n;
			continue;
		}
		e[n] = (struct event){depth, roll(names), n - begin[depth]};
		n++;
		depth--;
	}
	return n;
}

static void test_long_programs_are_added_up_in_parts(void **state)
{
	enum { MOST = 60000 };
	char(*got)[64] = malloc(MOST * sizeof(*got)), (*want)[64] = malloc(MOST * sizeof(*want));
	struct event *e = malloc(MOST * sizeof(*e));
	for (uint32_t round = 0; round < 12; round++) {
		size_t rows = 0;
		size_t n = make_long(e, MOST, round % 6, round < 6 ? 2 : 20);
		expect_rebuilt(e, n, got, want, &rows);
	}
	free(e);
	free(got);
	free(want);
}

/* The path of each event: that of its caller, the next event of less depth, and what is missing. */
static void find_paths(const struct event *e, size_t n, char (*paths)[64])
{
	for (size_t i = n; i-- > 0;) {
		size_t caller = i + 1;
		while (caller < n && e[caller].depth >= e[i].depth)
			caller++;
		uint32_t above = caller < n ? e[caller].depth : 0;
		size_t len = caller < n ? strlen(strcpy(paths[i], paths[caller])) : 0;
		for (uint32_t depth = above + 1; depth < e[i].depth; depth++)
			paths[i][len++] = '?';
		paths[i][len++] = (char)('a' + (int)e[i].name);
		paths[i][len] = 0;
	}
}

static void test_calls_with_missing_callers_are_at_their_paths(void **state)
{
	enum { MOST = 30000 };
	char(*got)[64] = malloc(MOST * sizeof(*got)), (*want)[64] = malloc(MOST * sizeof(*want));
	struct event *e = malloc(MOST * sizeof(*e));
	for (uint32_t round = 1; round < 10; round++) {
		struct pm_arena arena = {.total = 0};
		struct nytp_calls c;
		size_t rows = 0;
		nytp_calls_init(&c, &arena, &arena, &rows);
		for (uint32_t i = 0; i < MOST; i++) {
			e[i] = (struct event){1 + roll(3 * round), roll(round), 0};
			nytp_calls_return(&c, e[i].depth, e[i].name, 3, 1);
		}
		nytp_calls_finish(&c);
		assert_int_equal(list(&c.tree, got), MOST);
		find_paths(e, MOST, want);
		qsort(got, MOST, sizeof(*got), by_text);
		qsort(want, MOST, sizeof(*want), by_text);
		for (size_t i = 0; i < MOST; i++)
			assert_string_equal(got[i], want[i]);
		pm_arena_done(&arena);
	}
	free(e);
	free(got);
	free(want);
}

/* Callers are missing everywhere: whatever is added up when, no call is lost. */
static void test_depths_at_random_lose_no_call(void **state)
{
	enum { MOST = 100000 };
	for (uint32_t round = 1; round < 6; round++) {
		struct pm_arena arena = {.total = 0};
		struct nytp_calls c;
		size_t rows = 0;
		uint64_t calls = 0;
		double excl = 0;
		nytp_calls_init(&c, &arena, &arena, &rows);
		for (uint32_t i = 0; i < MOST; i++)
			nytp_calls_return(&c, roll(4 * round), roll(round), 3, 1);
		nytp_calls_finish(&c);
		for (uint32_t i = 0; i < c.tree.paths.n; i++) {
			calls += c.tree.costs[i].calls;
			excl += c.tree.costs[i].excl;
		}
		assert_int_equal(calls, MOST);
		assert_true(excl == MOST);
		assert_int_equal(rows, c.tree.paths.n);
		pm_arena_done(&arena);
	}
}

/* Depths of 1, 2, 3 …: each waits for a caller of its own, while the innermost goes on for long. */
static void test_very_many_depths_wait(void **state)
{
	enum { DEEP = 20000, MOST = 200000 };
	struct pm_arena arena = {.total = 0};
	struct nytp_calls c;
	size_t rows = 0;
	uint64_t calls = 0;
	nytp_calls_init(&c, &arena, &arena, &rows);
	for (uint32_t i = 0; i < MOST; i++)
		nytp_calls_return(&c, i < DEEP ? i + 1 : DEEP - i % 2, i % 3, 1, 1);
	for (uint32_t i = DEEP; i > 0; i--)
		nytp_calls_return(&c, i, 3, 1, 1);
	nytp_calls_finish(&c);
	for (uint32_t i = 0; i < c.tree.paths.n; i++)
		calls += c.tree.costs[i].calls;
	assert_int_equal(calls, MOST + DEEP);
	pm_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callees_become_children_of_the_next_return_above),
		cmocka_unit_test(test_calls_of_one_name_merge_with_all_below),
		cmocka_unit_test(test_recursion_is_a_chain),
		cmocka_unit_test(test_missing_callers_have_a_context_each),
		cmocka_unit_test(test_depths_that_make_no_sense_lose_no_call),
		cmocka_unit_test(test_long_gap_is_shown_as_one_context_once_there_are_too_many),
		cmocka_unit_test(test_tree_equals_one_that_was_built_from_all_events),
		cmocka_unit_test(test_long_programs_are_added_up_in_parts),
		cmocka_unit_test(test_calls_with_missing_callers_are_at_their_paths),
		cmocka_unit_test(test_depths_at_random_lose_no_call),
		cmocka_unit_test(test_very_many_depths_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
