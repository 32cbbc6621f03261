/* formats/nytprof/slots.c against a list with linear search. */
#include "formats/nytprof/slots.h"

#include "tests/unittest.h"

#include <stdlib.h>

#include "formats/nytprof/limits.h"

enum { MOST = 2000 };

struct simple {
	struct nytp_line rows[MOST];
	size_t n;
};

static void simple_add(struct simple *s, uint32_t fid, uint32_t line, int64_t count, int64_t ticks)
{
	size_t i = 0;
	while (i < s->n && (s->rows[i].fid != fid || s->rows[i].line != line))
		i++;
	assert_true(i < MOST);
	if (i == s->n)
		s->rows[s->n++] = (struct nytp_line){fid, line, 0, 0};
	s->rows[i].count += count;
	s->rows[i].ticks += ticks;
}

static int by_place(const void *a, const void *b)
{
	const struct nytp_line *x = a, *y = b;
	if (x->fid != y->fid)
		return x->fid < y->fid ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static void expect_taken(const struct nytp_slots *s, struct simple *want)
{
	size_t n;
	const struct nytp_line *rows = nytp_slots_take(s, s->arena, &n);
	assert_int_equal(n, want->n);
	qsort(want->rows, want->n, sizeof(*want->rows), by_place);
	for (size_t i = 0; i < n; i++)
		assert_memory_equal(&rows[i], &want->rows[i], sizeof(rows[i]));
	pm_arena_done(s->arena);
}

static uint32_t seed = 7;

static uint32_t roll(uint32_t sides)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 12) % sides;
}

static void test_lines_near_and_far_are_added_up(void **state)
{
	static const uint32_t far[] = {0, 65535, 65536, 1 << 20, (1 << 20) - 1, UINT32_MAX};
	static struct simple want;
	for (uint32_t round = 0; round < 20; round++) {
		struct pm_arena arena = {.total = 0};
		struct nytp_slots s = nytp_slots_in(&arena);
		size_t rows = 5;
		want.n = 0;
		for (int i = 0; i < 3000; i++) {
			uint32_t fid = roll(50) ? roll(1 + round) : far[roll(6)];
			uint32_t line = roll(50) ? roll(40) : far[roll(6)];
			int64_t count = (int64_t)roll(4) - 1, ticks = (int64_t)roll(9) - 4;
			nytp_slots_add(&s, fid, line, count, ticks, &rows);
			simple_add(&want, fid, line, count, ticks);
		}
		assert_true(rows >= 5 + want.n);
		expect_taken(&s, &want);
	}
}

/* Each file has a line that would take all the cells there are. */
static void test_a_line_that_gets_its_cell_late_is_one_row(void **state)
{
	static struct simple want;
	struct pm_arena arena = {.total = 0};
	struct nytp_slots s = nytp_slots_in(&arena);
	size_t rows = 0;
	want.n = 0;
	for (int round = 0; round < 3; round++)
		for (uint32_t fid = 0; fid < 20; fid++)
			for (uint32_t line = 100000; line > 0; line /= 8) {
				nytp_slots_add(&s, fid, line - 1, 1, 7, &rows);
				simple_add(&want, fid, line - 1, 1, 7);
			}
	assert_true(s.n_far > 0);
	assert_true(s.n_cells <= (1 << 20) + 4 * s.n_used);
	expect_taken(&s, &want);
}

struct adding {
	struct nytp_slots slots;
	uint32_t fid, line;
	size_t rows;
};

static void add(void *adding)
{
	struct adding *a = adding;
	nytp_slots_add(&a->slots, a->fid, a->line, 1, 1, &a->rows);
}

static void test_no_line_is_added_beyond_the_limit(void **state)
{
	static const struct {
		uint32_t fid, line;
		int want;
	} lines[] = {{1, 1, 0}, {UINT32_MAX, 1, 0}, {1, 2, NYTP_FULL}, {UINT32_MAX, 2, NYTP_FULL},
		{1, 1, 0}};
	struct pm_arena arena = {.total = 0};
	struct adding a = {.slots = nytp_slots_in(&arena), .rows = NYTP_LIMIT_ROWS - 2};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		a.fid = lines[i].fid;
		a.line = lines[i].line;
		assert_int_equal(pm_build(&arena, add, &a), lines[i].want);
	}
	assert_int_equal(a.rows, NYTP_LIMIT_ROWS);
	pm_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_near_and_far_are_added_up),
		cmocka_unit_test(test_a_line_that_gets_its_cell_late_is_one_row),
		cmocka_unit_test(test_no_line_is_added_beyond_the_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
