/*
 * A comparison of two runs, or of the repetitions of two: a profile whose documents are those of
 * compare/NAME/.
 */
#ifndef PROFMOUNT_FS_COMPARE_COMPARE_H
#define PROFMOUNT_FS_COMPARE_COMPARE_H

#include "formats/common/text.h"
#include "fs/compare/lender.h"

/* What is compared. Strings and arrays outlive the comparison. */
struct pmfs_comparison {
	struct pmfs_lender lender;
	const char *base_name, *name; /* exact */
	const uint32_t *base, *runs;  /* numbers of runs: the repetitions of both sides */
	uint32_t n_base, n_runs;
	bool exact;         /* names are not normalised */
	bool normalize;     /* shares of the total instead of values */
	const char *metric; /* the requested primary quantity, or NULL */
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
	const double *base, *other; /* n_columns cells per context: means; NaN: none */
};

/* Built on the first call; lives as long as the profile, which was made by pmfs_compare_new. */
int pmfs_compare_contexts(
	const struct pm_profile *p, const struct pmfs_union **ret, struct pm_error *err);

/* Appends at most `most` lines: the functions with the largest changes. */
int pmfs_compare_summary_lines(
	const struct pm_profile *p, unsigned most, struct pm_text *out, struct pm_error *err);

#endif
