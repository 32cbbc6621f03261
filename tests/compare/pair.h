/* Comparisons of profiles in memory, and their documents as text. */
#ifndef PROFMOUNT_TESTS_COMPARE_PAIR_H
#define PROFMOUNT_TESTS_COMPARE_PAIR_H

#include "tests/unittest.h"

#include <stdlib.h>

#include "fake.h"
#include "fs/compare/compare.h"

enum { MOST_RUNS = 20 };

/* The first n_base runs are of the baseline. Set `of` before pair_open where it matters. */
struct pair {
	struct fake *fakes[MOST_RUNS];
	struct pmfs_model *models[MOST_RUNS];
	uint32_t numbers[MOST_RUNS];
	unsigned held; /* atomic: models that are in use */
	struct pmfs_comparison of;
	struct pm_profile *profile;
};

/* A run with the metric pair `time` in ns (ids 1 incl, 2 excl) and a thread. */
struct fake *run_new(void);

/* A function below the context `parent` (0: at the top) with its costs. */
void run_call(struct fake *f, uint32_t number, uint32_t parent, const char *name, const char *file,
	const double costs[2]);
void run_line(struct fake *f, uint32_t number, uint32_t parent, const char *file, uint32_t line,
	const double costs[2]);

/* Takes the runs. NULL for one that cannot be opened. */
void pair_open(struct pair *p, uint32_t n_base, uint32_t n_runs, struct fake *const *runs);
void pair_close(struct pair *p);

/* Tables as tests/views/harness.h has them. For free(). */
char *pair_text(struct pair *p, const char *path);
void assert_pair(struct pair *p, const char *path, const char *want);

#endif
