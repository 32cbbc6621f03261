/*
 * What a comparison reports as a change: random splits of one program's runs, and a change made on
 * purpose.
 */
#include "pair.h"

#include <stdio.h>
#include <string.h>

enum { FUNCTIONS = 12, SIDE = 10, SPLITS = 200, DRAWS = 40 };

/* Numbers that are the same each time, about normally distributed. */
static double noise(uint64_t *state)
{
	double sum = 0;
	for (unsigned i = 0; i < 12; i++) {
		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		sum += (double)(*state >> 11) / (double)((uint64_t)1 << 53);
	}
	return sum - 6;
}

static struct fake *noisy_run(uint64_t *state, unsigned slower, double factor)
{
	struct fake *f = run_new();
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		char name[16];
		double cost = 1000 * (i + 1) * (1 + 0.02 * noise(state));
		if (i == slower)
			cost *= factor;
		snprintf(name, sizeof(name), "f%u", i);
		run_call(f, i + 1, 0, name, "/src/f.c", (const double[]){cost, cost});
	}
	return f;
}

/* How many functions are said to have changed. */
static unsigned changes(struct pair *p)
{
	static const char words[] = "changes beyond the noise: ";
	char *text = pair_text(p, "summary.txt"), *at = strstr(text, words);
	assert_non_null(at);
	unsigned n = (unsigned)strtoul(at + sizeof(words) - 1, NULL, 10);
	free(text);
	return n;
}

/* The 20 runs of seed 5 on two sides, in any order. */
static void test_random_splits(void **state)
{
	struct pair p = {.held = 0};
	struct fake *runs[2 * SIDE];
	uint64_t random = 5;
	unsigned alarms = 0;
	for (unsigned i = 0; i < 2 * SIDE; i++)
		runs[i] = noisy_run(&random, FUNCTIONS, 1);
	pair_open(&p, SIDE, SIDE, runs);
	for (unsigned split = 0; split < SPLITS; split++) {
		for (unsigned i = 2 * SIDE - 1; i > 0; i--) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			unsigned j = (unsigned)(random % (i + 1));
			uint32_t swap = p.numbers[i];
			p.numbers[i] = p.numbers[j];
			p.numbers[j] = swap;
		}
		p.profile->ops->close(p.profile);
		assert_int_equal(pmfs_compare_new(&p.of, &p.profile, NULL), 0);
		alarms += changes(&p) > 0;
	}
	if (alarms > SPLITS * 5 / 100)
		fail_msg("%u of %u splits report a change", alarms, SPLITS);
	pair_close(&p);
}

static void test_a_planted_change(void **state)
{
	unsigned found = 0;
	for (unsigned draw = 0; draw < DRAWS; draw++) {
		struct pair p = {.held = 0};
		struct fake *runs[2 * SIDE];
		uint64_t random = 1000 + draw;
		for (unsigned i = 0; i < 2 * SIDE; i++)
			runs[i] = noisy_run(&random, draw % FUNCTIONS, i < SIDE ? 1 : 1.05);
		pair_open(&p, SIDE, SIDE, runs);
		char name[16], *text = pair_text(&p, "summary.txt");
		snprintf(name, sizeof(name), "  f%u\n", draw % FUNCTIONS);
		found += strstr(text, name) != NULL;
		free(text);
		pair_close(&p);
	}
	if (found < DRAWS * 95 / 100)
		fail_msg("found in %u of %u draws", found, DRAWS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_splits),
		cmocka_unit_test(test_a_planted_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
