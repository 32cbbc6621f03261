/* A table of a mount, read whole. Stops the program without memory. */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_SHEET_H
#define PROFMOUNT_TESTS_CONFORMANCE_SHEET_H

#include "formats/common/arena.h"
#include "fs/instance.h"

enum { SHEET_NONE = -1 };

struct sheet_cell {
	double number; /* 0 where the cell is empty, or text */
	bool is_empty;
	struct pm_bytes text;
};

struct sheet {
	const char *const *columns;
	int n_columns;
	size_t n, room; /* rows */
	struct sheet_cell *cells;
	struct pm_arena arena;
};

/* The file at that path from the root: false where it is not there, or cannot be read. */
bool sheet_read(struct pmfs_instance *in, const char *name, struct sheet *ret);
void sheet_done(struct sheet *s);

/* The place of a column, or SHEET_NONE. */
int sheet_column(const struct sheet *s, const char *name);

static inline const struct sheet_cell *sheet_at(const struct sheet *s, size_t row, int column)
{
	return &s->cells[row * (size_t)s->n_columns + (size_t)column];
}

/* The sum of a column; infinities and what is no number count nothing. */
double sheet_sum(const struct sheet *s, int column);

/* Is every cell of a column empty? */
bool sheet_is_empty(const struct sheet *s, int column);

/* The text of a document that is rendered whole, for free(); NULL where there is none. */
char *sheet_text(struct pmfs_instance *in, pm_node node, size_t *ret_len);

#endif
