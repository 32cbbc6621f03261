/* formats/nytprof/calls.c: trees from sub returns, against a simple rebuilding that keeps events.
 */
#include "formats/nytprof/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/common/text.h"
#include "profmount/limits.h"

static int by_name(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* `a2(b1 c1)`: names as letters, calls as numbers, kids by name; `?` = not returned. */
static void show(const struct nytp_calls *c, uint32_t node, struct pm_text *out)
{
	uint64_t kids[64];
	size_t n = 0;
	for (uint32_t k = c->nodes[node].kids.first; k != NYTP_NONE; k = c->nodes[k].next)
		kids[n++] = (uint64_t)c->nodes[k].name << 32 | k;
	assert_int_equal(n, c->nodes[node].kids.n);
	qsort(kids, n, sizeof(*kids), by_name);
	for (size_t i = 0; i < n; i++) {
		const struct nytp_call *kid = &c->nodes[(uint32_t)kids[i]];
		if (i)
			pm_text_char(out, ' ');
		pm_text_char(
			out, kid->name == NYTP_NOT_RETURNED ? '?' : (char)('a' + (int)kid->name));
		pm_text_u64(out, kid->calls);
		if (kid->kids.n == 0)
			continue;
		pm_text_char(out, '(');
		show(c, (uint32_t)kids[i], out);
		pm_text_char(out, ')');
	}
}

/* Feeds `3a 2b …`: depth and name of each return; every call costs 10 ticks and 1. */
static void expect(const char *returns, const char *want)
{
	struct nytp_calls c;
	size_t rows = 0;
	struct pm_text got = {.p = NULL};
	unsigned depth;
	char name;
	int used;
	nytp_calls_init(&c, &rows);
	for (; sscanf(returns, "%u%c%n", &depth, &name, &used) == 2; returns += used)
		assert_int_equal(nytp_calls_return(&c, depth, (uint32_t)(name - 'a'), 10, 1), 0);
	assert_int_equal(nytp_calls_finish(&c), 0);
	show(&c, c.roots, &got);
	pm_text_char(&got, 0);
	assert_string_equal(got.p, want);
	pm_text_done(&got);
	nytp_calls_done(&c);
}

static void test_callees_become_kids_of_the_next_return_above(void **state)
{
	(void)state;
	expect("", "");
	expect("1a", "a1");
	expect("3c 2b 2d 1a", "a1(b1(c1) d1)");
	expect("2b 1a 2b 1c", "a1(b1) c1(b1)");
}

static void test_calls_of_one_name_merge_with_all_below(void **state)
{
	(void)state;
	expect("2b 1a 2b 1a 2c 1a", "a3(b2 c1)");
	expect("3c 2b 1a 3d 2b 3c 2b 1a", "a2(b3(c2 d1))");
	expect("4d 3c 2b 4e 3c 2b 4d 3c 2b 1a", "a1(b3(c3(d2 e1)))");
}

static void test_recursion_is_a_chain(void **state)
{
	(void)state;
	expect("4a 3a 3a 2a 1a", "a1(a1(a2(a1)))");
}

static void test_missing_callers_have_a_context_each(void **state)
{
	(void)state;
	expect("3c", "?0(?0(c1))");
	expect("4d 2b 1a", "a1(b1(?0(d1)))");
	expect("4d 2c 1a 4d 4e 2c", "a1(c1(?0(d1))) ?0(c1(?0(d1 e1)))");
	expect("3d 2b", "?0(b1(d1))");
}

static void test_depths_that_make_no_sense_lose_no_call(void **state)
{
	(void)state;
	expect("0a 1b 0c", "a1 c1(b1)");
	expect("1a 1b 0a", "a1(a1 b1)");
	expect("0a 2b", "a1 ?0(b1)");
}

static void test_long_gap_is_shown_as_one_context_once_there_are_too_many(void **state)
{
	struct nytp_calls c;
	size_t rows = 0;
	(void)state;
	nytp_calls_init(&c, &rows);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(nytp_calls_return(&c, UINT32_MAX, 0, 1, 1), 0);
		assert_int_equal(nytp_calls_return(&c, 1, i % 50, 1, 1), 0);
	}
	assert_int_equal(nytp_calls_finish(&c), 0);
	assert_true(c.too_deep);
	assert_true(c.n < 2 * PM_LIMIT_DEPTH);
	assert_int_equal(c.returns, 200);
	nytp_calls_done(&c);
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

static size_t list(const struct nytp_calls *c, uint32_t node, char (*lines)[64], const char *path,
	size_t count)
{
	for (uint32_t k = c->nodes[node].kids.first; k != NYTP_NONE; k = c->nodes[k].next) {
		char own[64];
		snprintf(own, sizeof(own), "%s%c", path, 'a' + (int)c->nodes[k].name);
		assert_true(c->nodes[k].incl == 3.0 * (double)c->nodes[k].calls);
		for (uint64_t i = 0; i < c->nodes[k].calls; i++)
			strcpy(lines[count++], own);
		count = list(c, k, lines, own, count);
	}
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

static void test_tree_equals_one_that_was_built_from_all_events(void **state)
{
	enum { MOST = 400 };
	static char got[MOST][64], want[MOST][64];
	static struct event e[MOST];
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct nytp_calls c;
		size_t rows = 0;
		size_t n = 0;
		for (int i = 0; i < 50; i++)
			n = make_events(e, n, 1, MOST);
		if (n == MOST && e[n - 1].depth > 1)
			continue; /* cut within a call: the simple way knows nothing of that */
		nytp_calls_init(&c, &rows);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(nytp_calls_return(&c, e[i].depth, e[i].name, 3, 1), 0);
		assert_int_equal(nytp_calls_finish(&c), 0);
		assert_int_equal(rebuild(e, n, want, "", 0), n);
		assert_int_equal(list(&c, c.roots, got, "", 0), n);
		qsort(got, n, sizeof(*got), by_text);
		qsort(want, n, sizeof(*want), by_text);
		for (size_t i = 0; i < n; i++)
			assert_string_equal(got[i], want[i]);
		nytp_calls_done(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callees_become_kids_of_the_next_return_above),
		cmocka_unit_test(test_calls_of_one_name_merge_with_all_below),
		cmocka_unit_test(test_recursion_is_a_chain),
		cmocka_unit_test(test_missing_callers_have_a_context_each),
		cmocka_unit_test(test_depths_that_make_no_sense_lose_no_call),
		cmocka_unit_test(test_long_gap_is_shown_as_one_context_once_there_are_too_many),
		cmocka_unit_test(test_tree_equals_one_that_was_built_from_all_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
