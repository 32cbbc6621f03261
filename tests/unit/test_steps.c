/* Tests formats/common/steps.c: many steps at once have the result of single steps. */
#include "formats/common/steps.h"

#include "tests/unittest.h"

#include <stdlib.h>

#include "profmount/profile.h"

enum { MOST = 300, BATCHES = 40 };

struct fixture {
	struct pm_paths one, many;
	struct pm_guesses guesses;
	struct pm_step steps[MOST];
	uint64_t hashes[1 << 16]; /* of paths */
	uint64_t measured[64];    /* of the first ones only: no step may need them */
};

static uint32_t seed = 11;

static uint32_t roll(uint32_t sides)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 12) % sides;
}

/* A batch of up to MOST steps, from earlier steps of it and from paths of earlier batches. */
static size_t make_batch(struct fixture *f, uint32_t n_keys)
{
	size_t n = roll(MOST + 1);
	for (size_t i = 0; i < n; i++) {
		struct pm_step *step = &f->steps[i];
		*step = (struct pm_step){
			.key = roll(n_keys), .above = PM_NONE, .from = PM_NONE, .path = 77};
		if (i > 0 && roll(4)) {
			step->above = roll(2) ? (uint32_t)i - 1 : roll((uint32_t)i);
		} else if (f->one.n > 0 && roll(2)) {
			step->from = roll(f->one.n);
			step->hash = f->hashes[step->from];
		}
	}
	return n;
}

static void expect_same(struct fixture *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct pm_step *step = &f->steps[i];
		uint32_t parent = step->above == PM_NONE ? step->from : f->steps[step->above].path;
		uint32_t path = pm_paths_child(&f->one, parent, step->key);
		assert_int_equal(step->path, path);
		if (path != PM_PATHS_FULL)
			f->hashes[path] = step->hash;
	}
	assert_int_equal(f->many.n, f->one.n);
}

static void run(uint32_t n_keys, uint32_t most)
{
	struct fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	const struct pm_measured measured = {f->measured, 64, sizeof(f->measured[0])};
	assert_int_equal(pm_paths_init(&f->one, most), 0);
	assert_int_equal(pm_paths_init(&f->many, most), 0);
	for (int i = 0; i < BATCHES; i++) {
		size_t n = make_batch(f, n_keys);
		assert_int_equal(pm_steps_take(&f->many, &f->guesses, f->steps, n, &measured), 0);
		expect_same(f, n);
	}
	pm_guesses_done(&f->guesses);
	pm_paths_done(&f->one);
	pm_paths_done(&f->many);
	free(f);
}

static void test_steps_end_where_single_ones_do(void **state)
{
	run(3, 1 << 16);
	run(50, 1 << 16);
	run(100000, 1 << 16); /* more paths than there are guesses at first */
}

static void test_steps_beyond_the_limit_are_full(void **state)
{
	run(50, 100);
	run(50, 1);
	run(50, 0);
}

/* Guesses are only that: those of a trie of other paths are not believed. */
static void test_wrong_guesses_do_no_harm(void **state)
{
	struct pm_paths a, b;
	struct pm_guesses guesses = {.slots = NULL};
	const struct pm_measured none = {NULL, 0, 0};
	struct pm_step steps[3];
	assert_int_equal(pm_paths_init(&a, 100), 0);
	assert_int_equal(pm_paths_init(&b, 100), 0);
	pm_paths_child(&b, PM_NONE, 9);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 3; i++)
			steps[i] = (struct pm_step){.key = i, .above = PM_NONE, .from = PM_NONE};
		assert_int_equal(pm_steps_take(round ? &b : &a, &guesses, steps, 3, &none), 0);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(steps[i].path, round ? i + 1 : i);
	}
	pm_guesses_done(&guesses);
	pm_paths_done(&a);
	pm_paths_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_end_where_single_ones_do),
		cmocka_unit_test(test_steps_beyond_the_limit_are_full),
		cmocka_unit_test(test_wrong_guesses_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
