/*
 * A comparison of two runs, or of the repetitions of two: a profile whose documents are those of
 * compare/NAME/.
 */
#ifndef PROFMOUNT_FS_COMPARE_COMPARE_H
#define PROFMOUNT_FS_COMPARE_COMPARE_H

#include "formats/common/text.h"
#include "fs/views/model/model.h"

/* ---- runs, opened on request ---- */

/* Functions are thread-safe. An acquired model lives until it is released. */
struct pmfs_lender {
	/*
	 * Opens the run unless it is open. A run that cannot be opened fails in the same way each
	 * time; -ENOMEM if there is no memory or the work was cancelled.
	 */
	int (*acquire)(void *self, uint32_t run, struct pmfs_model **ret, struct pm_error *err);
	/* May be called while the cache is locked, for example by ops->close. */
	void (*release)(void *self, uint32_t run);
	void *self;
};

/* What is compared. Strings and arrays outlive the comparison. */
struct pmfs_comparison {
	struct pmfs_lender lender;
	const char *base_name, *name; /* exact */
	const uint32_t *base, *runs;  /* numbers of runs: the repetitions of both sides */
	uint32_t n_base, n_runs;
	bool exact;          /* names are not normalised */
	bool normalize;      /* shares of the total instead of values */
	const char *metric;  /* the requested primary quantity, or NULL */
	const char *of_runs; /* a quantity: see pmfs_compared_of_run; or NULL */
};

/* Only allocates. Close with ops->close; `memory` is what it uses in addition to its runs. */
int pmfs_compare_new(
	const struct pmfs_comparison *c, struct pm_profile **ret, struct pm_error *err);

/* The union of the trees of both sides, with the costs of each context. */
struct pmfs_union {
	const struct pm_tree *tree;
	uint32_t n_columns;
	const char *const
		*columns; /* exclusive cost of the primary quantity first, then inclusive */
	const pm_number *base, *other; /* n_columns cells per context: means; NaN: none */
};

/* Built on the first call; lives as long as the profile, which was made by pmfs_compare_new. */
int pmfs_compare_contexts(
	const struct pm_profile *p, const struct pmfs_union **ret, struct pm_error *err);

/* functions.csv of a comparison, with the costs of a quantity. */
struct pmfs_compared {
	uint32_t n;            /* rows */
	const uint32_t *order; /* of functions.csv */
	double whole[2];       /* means of the baseline and of the other side; NaN: none */
	/*
	 * Functions as spelled in the baseline: the same numbers in all comparisons with it, as
	 * long as its runs can be read.
	 */
	uint32_t n_base;
	const struct pmfs_joined *joined; /* the following is for tables.c */
	uint32_t own, incl;
};

struct pmfs_compared_row {
	struct pm_bytes name, module, file; /* live as long as the comparison */
	bool joined;
	double own[2], incl[2]; /* as `whole` */
};

/* Computed on the first call; lives as long as the profile. */
int pmfs_compare_functions(const struct pm_profile *p, const char *quantity,
	struct pmfs_compared *ret, struct pm_error *err);

struct pmfs_compared_row pmfs_compared_row(const struct pmfs_compared *c, uint32_t row);

/*
 * The exclusive cost of a row in one run, of the quantity `of_runs` of the comparison; runs are
 * numbered in the order of the comparison, the baseline's first. NaN: none.
 */
double pmfs_compared_of_run(const struct pmfs_compared *c, uint32_t row, uint32_t run);

/* The row of a function of the baseline, or PM_NONE; its name, module and file as spelled there. */
uint32_t pmfs_compared_base(
	const struct pmfs_compared *c, uint32_t spelling, struct pm_bytes ret_text[3]);

/* Appends at most `most` lines: the functions with the largest changes. */
int pmfs_compare_summary_lines(
	const struct pm_profile *p, unsigned most, struct pm_text *out, struct pm_error *err);

#endif
