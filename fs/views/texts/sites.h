/* The calls on the lines of a file, which annotated source shows below a line. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_SITES_H
#define PROFMOUNT_FS_VIEWS_TEXTS_SITES_H

#include "fs/views/sums/callers.h"

struct pmfs_sites {
	const struct pmfs_calls *calls;
	uint32_t *rows; /* indexes of calls, by line, then in the order of callers.csv; owned */
	uint32_t n;
	uint32_t at; /* lines are requested in ascending order */
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
 * Appends a line for each callee of the line, most expensive first, indented by `indent` columns.
 */
void pmfs_sites_add(
	const struct pmfs_sites *s, uint32_t line, unsigned indent, struct pm_text *out);

#endif
