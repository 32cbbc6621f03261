/* What the lines of a file call and evaluate, which annotated source shows below a line. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_SITES_H
#define PROFMOUNT_FS_VIEWS_TEXTS_SITES_H

#include "fs/views/sums/callers.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/lines.h"

struct pmfs_sites {
	const struct pmfs_calls *calls;
	uint32_t *rows; /* indexes of calls, by line, then in the order of callers.csv; owned */
	uint32_t n;
	uint32_t at;                  /* lines are requested in ascending order */
	struct pmfs_site_eval *evals; /* by line, then most expensive first; owned */
	uint32_t n_evals, at_eval;
	const struct pmfs_functions *functions;
	uint32_t *subs; /* rows of functions that evals define, in order; owned */
	const struct pmfs_lines *lines;
};

/* A text that a line compiled. */
struct pmfs_site_eval {
	uint32_t line;
	uint32_t text;          /* name of its file */
	uint32_t texts;         /* that are not told apart */
	uint64_t n;             /* how often; 0: before the measurement */
	double ns;              /* of its statements; NaN: none ran */
	uint32_t first, n_subs; /* in pmfs_sites.subs */
};

/* The lines: of the file with this text (PM_NONE: none), first … last. */
struct pmfs_lines_of {
	uint32_t file, first, last;
};

/* Free with pmfs_sites_done. */
int pmfs_sites_of(struct pmfs_model *m, const struct pmfs_lines_of *of, struct pmfs_sites *ret,
	struct pm_error *err);
void pmfs_sites_done(struct pmfs_sites *s);

/* Moves to a later line; returns the cost of its calls in the primary quantity, or NaN. */
double pmfs_sites_cost(struct pmfs_sites *s, uint32_t line);

/*
 * Appends a line for each callee of the line, then for each text that it evaluated with the subs
 * defined there, most expensive first, indented by `indent` columns.
 */
void pmfs_sites_add(struct pmfs_sites *s, uint32_t line, unsigned indent, struct pm_text *out);

#endif
