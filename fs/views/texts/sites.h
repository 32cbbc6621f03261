/* The calls on the lines of one file: what annotated source shows below a line. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_SITES_H
#define PROFMOUNT_FS_VIEWS_TEXTS_SITES_H

#include "fs/views/sums/callers.h"

struct pmfs_sites {
	const struct pmfs_calls *calls;
	uint32_t *rows; /* of calls, by line, then as callers.csv has them; owned */
	uint32_t n;
	uint32_t at; /* lines are asked for in rising order */
};

/* Which lines: of the file with that text (PM_NONE: none), first … last. */
struct pmfs_lines_of {
	uint32_t file, first, last;
};

/* Give back with pmfs_sites_done. */
int pmfs_sites_of(struct pmfs_model *m, const struct pmfs_lines_of *of, struct pmfs_sites *ret,
	struct pm_error *err);
void pmfs_sites_done(struct pmfs_sites *s);

/* Goes to a line behind the one before: what its calls cost by the primary quantity, or NaN. */
double pmfs_sites_cost(struct pmfs_sites *s, uint32_t line);

/* A line for each of the line's callees, most costly first; `indent` columns in front. */
void pmfs_sites_add(
	const struct pmfs_sites *s, uint32_t line, unsigned indent, struct pm_text *out);

#endif
