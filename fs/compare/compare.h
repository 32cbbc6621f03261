/*
 * A comparison of two runs, or of the repetitions of two: a profile whose documents are those of
 * compare/NAME/.
 */
#ifndef PROFMOUNT_FS_COMPARE_COMPARE_H
#define PROFMOUNT_FS_COMPARE_COMPARE_H

#include "formats/common/text.h"
#include "fs/compare/lender.h"

/* What is compared with what. Strings and arrays outlive the comparison. */
struct pmfs_comparison {
	struct pmfs_lender lender;
	const char *base_name, *name; /* exact */
	const uint32_t *base, *runs;  /* numbers of runs: the repetitions of both sides */
	uint32_t n_base, n_runs;
	bool exact;         /* names are matched as they are */
	bool normalize;     /* shares of the whole instead of values */
	const char *metric; /* the primary quantity that was asked for, or NULL */
};

/* Allocates only; close with ops->close, and `memory` says what it takes beside its runs. */
int pmfs_compare_new(
	const struct pmfs_comparison *c, struct pm_profile **ret, struct pm_error *err);

/* The union of the trees of both sides, and what each context costs there. */
struct pmfs_union {
	const struct pm_tree *tree;
	uint32_t n_columns;
	const char *const
		*columns; /* the primary quantity's own cost first, then its inclusive one */
	const double *base, *other; /* n_columns cells a context, means of repetitions; NaN: none */
};

/* Built on the first call; lives as long as the profile, which is one of pmfs_compare_new. */
int pmfs_compare_contexts(
	const struct pm_profile *p, const struct pmfs_union **ret, struct pm_error *err);

/* Appends at most `most` lines: the functions that changed most. */
int pmfs_compare_summary_lines(
	const struct pm_profile *p, unsigned most, struct pm_text *out, struct pm_error *err);

#endif
