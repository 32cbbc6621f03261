/* Costs by source line. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_LINES_H
#define PROFMOUNT_FS_VIEWS_SUMS_LINES_H

#include "fs/views/model/identity.h"

struct pmfs_lines {
	uint32_t n;
	const struct pm_line *lines;  /* functions of pmfs_identity; line 0: unknown */
	const pm_number *cells;       /* columns->n per line */
	uint32_t column;              /* what lines cost; PM_NONE: there are no columns */
	uint32_t statements;          /* the time of statements, or PM_NONE */
	const uint32_t *order;        /* in the order of lines.csv: highest cost first */
	const uint32_t *by_place;     /* by file (index of the text), then line */
	const struct pm_evals *evals; /* or NULL */
	const struct pmfs_identity *identity;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
};

/* Computed on the first call; owned by the model. Only for profiles with lines. */
int pmfs_lines(struct pmfs_model *m, const struct pmfs_lines **ret, struct pm_error *err);

/* The first index in by_place of a line of this file at or after `line`, or n. */
uint32_t pmfs_lines_find(const struct pmfs_lines *l, uint32_t file, uint32_t line);

/* The time of all statements of a file, or NaN; there is a column of it. O(its lines). */
double pmfs_lines_statements(const struct pmfs_lines *l, uint32_t file);

#endif
