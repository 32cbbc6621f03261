/*
 * Tables: rows of typed cells. Formats and views describe tables; fs/document/ turns them into CSV
 * and TSV text, determines the exact size, and reads any window of the text.
 *
 * A table is read through a cursor (struct pm_rows). Every row has a position, a number that is
 * defined by the table and increases from row to row. A cursor can start at any position that the
 * table has returned, and, if positions are `dense`, at any number.
 */
#ifndef PROFMOUNT_TABLE_H
#define PROFMOUNT_TABLE_H

#include "profmount/bytes.h"
#include "profmount/error.h"

struct pm_text;
struct pm_sheet;

enum pm_cell_kind {
	PM_CELL_EMPTY, /* unknown or none: an empty field */
	PM_CELL_U64,   /* plain decimal */
	PM_CELL_I64,   /* plain decimal */
	PM_CELL_F64,   /* shortest decimal that reads back; NaN and infinities are an empty field */
	PM_CELL_HEX,   /* 0x and lower-case digits: addresses, offsets */
	PM_CELL_ID,    /* `width` lower-case hex digits, no 0x: checksums, span ids */
	PM_CELL_TEXT,  /* any bytes; invalid UTF-8 and NUL are shown as U+FFFD */
};

struct pm_cell {
	enum pm_cell_kind kind;
	uint16_t width; /* of PM_CELL_ID: 1 to 16 */
	bool lasts;     /* of PM_CELL_TEXT: see pm_cell_lasting */
	union {
		uint64_t u;
		int64_t i;
		double f;
		struct pm_bytes text; /* valid until the cursor's next step */
	};
};

static inline struct pm_cell pm_cell_empty(void)
{
	return (struct pm_cell){.kind = PM_CELL_EMPTY};
}

static inline struct pm_cell pm_cell_u64(uint64_t u)
{
	return (struct pm_cell){.kind = PM_CELL_U64, .u = u};
}

static inline struct pm_cell pm_cell_i64(int64_t i)
{
	return (struct pm_cell){.kind = PM_CELL_I64, .i = i};
}

static inline struct pm_cell pm_cell_f64(double f)
{
	return (struct pm_cell){.kind = PM_CELL_F64, .f = f};
}

static inline struct pm_cell pm_cell_hex(uint64_t u)
{
	return (struct pm_cell){.kind = PM_CELL_HEX, .u = u};
}

static inline struct pm_cell pm_cell_id(uint64_t u, unsigned width)
{
	return (struct pm_cell){.kind = PM_CELL_ID, .width = (uint16_t)width, .u = u};
}

static inline struct pm_cell pm_cell_text(struct pm_bytes text)
{
	return (struct pm_cell){.kind = PM_CELL_TEXT, .text = text};
}

/*
 * A text whose bytes stay where they are, and as they are, while the table can be read: of a later
 * row with the same address and length it is known to be the same without a look at it. Says
 * nothing but that; a text that is shared by many rows and may be long should be one.
 */
static inline struct pm_cell pm_cell_lasting(struct pm_bytes text)
{
	return (struct pm_cell){.kind = PM_CELL_TEXT, .lasts = true, .text = text};
}

static inline struct pm_cell pm_cell_str(const char *s)
{
	return pm_cell_text(pm_bytes_of(s));
}

/*
 * The same in place, for tables with millions of rows: building a cell and copying it costs several
 * times as much.
 */
static inline void pm_set_empty(struct pm_cell *cell)
{
	cell->kind = PM_CELL_EMPTY;
}

static inline void pm_set_u64(struct pm_cell *cell, uint64_t u)
{
	cell->kind = PM_CELL_U64;
	cell->u = u;
}

static inline void pm_set_i64(struct pm_cell *cell, int64_t i)
{
	cell->kind = PM_CELL_I64;
	cell->i = i;
}

static inline void pm_set_f64(struct pm_cell *cell, double f)
{
	cell->kind = PM_CELL_F64;
	cell->f = f;
}

static inline void pm_set_text(struct pm_cell *cell, struct pm_bytes text)
{
	cell->kind = PM_CELL_TEXT;
	cell->lasts = false;
	cell->text.p = text.p;
	cell->text.len = text.len;
}

static inline void pm_set_lasting(struct pm_cell *cell, struct pm_bytes text)
{
	pm_set_text(cell, text);
	cell->lasts = true;
}

/* How a table is written. */
enum pm_form { PM_CSV, PM_TSV };

struct pm_rows;
struct pm_table;

/*
 * Receives a text of a column and the number that strips() has for it; an empty one is an empty
 * cell. 0, or a negative errno to stop.
 */
typedef int pm_text_fn(void *context, uint32_t column, uint32_t number, struct pm_bytes text);

/* Cells of one column in consecutive rows. The caller has made room. */
struct pm_strip {
	int64_t *values; /* integers, or numbers of texts; NULL: this column is not wanted */
	uint8_t *known;  /* 1, or 0 for an empty cell, whose value means nothing */
};

/* How rows of a kind of table are made. Const data, shared by all tables of the kind. */
struct pm_table_type {
	/*
	 * Fills the table's n_columns cells with the row at rows->at and moves rows->at to the next
	 * row's position. If it skips positions first, it sets rows->row to the position of the
	 * row. Returns 1, 0 at the end, or a negative errno. Mandatory.
	 */
	int (*next)(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err);

	/*
	 * Called once before the first next(), with rows->at set. Fills rows->state or rows->own.
	 * NULL if a position is sufficient.
	 */
	int (*start)(struct pm_rows *rows, struct pm_error *err);

	/*
	 * Optional, for tables of many millions of rows: adds to `*bytes` the sum that next() and
	 * pm_row_length would give for at most `most` rows from rows->at up to (excluding) `to`,
	 * and moves rows->at. Returns their number, 0 at the end, or a negative errno.
	 */
	int64_t (*measure)(struct pm_rows *rows, enum pm_form form, uint64_t to, uint64_t most,
		uint64_t *bytes, struct pm_error *err);

	/*
	 * table->end, for tables whose end is not known when they are described; called when the
	 * table is measured. If NULL, table->end is used.
	 */
	int (*end)(const struct pm_table *table, uint64_t *ret, struct pm_error *err);

	/*
	 * Optional, if determining the columns takes work: sets table->columns and n_columns.
	 * Called before any other function of the table, any number of times.
	 */
	int (*columns)(struct pm_table *table, struct pm_error *err);

	/* Frees rows->own. NULL: free() is used. */
	void (*done)(struct pm_rows *rows);

	/*
	 * Optional, for dense tables of many millions of rows whose position i is row i, table->end
	 * of them unless the source is damaged: calls each() for the texts that cells can have, any
	 * number of times and in any order, until it returns a negative errno, which is returned.
	 * Numbers are small; one that is told again has the same text. The size as Parquet then
	 * follows from the number of rows (fs/document/layout.h).
	 */
	int (*texts)(const struct pm_table *table, pm_text_fn *each, void *context,
		struct pm_error *err);

	/*
	 * With texts(): rows [from, to) of the columns that are wanted, strips[column]. All columns
	 * are integers or texts; an integer beyond int64 is empty. -EIO if there are fewer rows.
	 */
	int (*strips)(const struct pm_table *table, uint64_t from, uint64_t to,
		const struct pm_strip *strips, struct pm_error *err);

	/*
	 * With texts(), for columns of which it is cheap: the least and the greatest cell of rows
	 * [from, to) in least[column] and greatest[column]. They are empty before the call, and
	 * stay so if unknown. Exact for strips(), whatever the source says about its order.
	 */
	int (*bounds)(const struct pm_table *table, uint64_t from, uint64_t to,
		struct pm_cell *least, struct pm_cell *greatest, struct pm_error *err);

	/*
	 * True if a cursor may start at any number below the table's end and then returns the first
	 * row at or after it. Large tables can then be measured by several threads.
	 */
	bool dense;
};

/* What the cells of a column are, empty ones apart. */
enum pm_type {
	PM_TYPE_TEXT, /* also numbers that are names: PM_CELL_HEX, PM_CELL_ID */
	PM_TYPE_INTEGER,
	PM_TYPE_FLOAT, /* any number */
	PM_TYPE_ANY,   /* whatever the measured program stored: its cells tell */
};

/* A table of a source. A value, which can be copied; `self` must outlive it. */
struct pm_table {
	const struct pm_table_type *type;
	/* n_columns names; they live as long as the profile. NULL: `sheet` has them. */
	const char *const *columns;
	uint32_t n_columns;
	const void *self; /* with a and b: which table of the type this is */
	uint64_t a, b;
	uint64_t end; /* end of the positions; 0 = unknown; see pm_table_type.end */
	/*
	 * Of a dense table whose positions have large gaps: how many positions one processor
	 * takes at a time. 0: a position is about a row.
	 */
	uint64_t piece;
	/*
	 * Of strips(): reading rows costs far more than one column of them. bounds() reads a few
	 * rows at most then.
	 */
	bool decoded;
	const struct pm_sheet *sheet; /* columns as data: formats/common/sheet.h */
	/*
	 * n_columns letters, where names do not tell: i, f, t, a as enum pm_type has them, and `?`
	 * for a column whose name does. NULL: all names tell. Lives as long as `columns`.
	 */
	const char *types;
};

/* The name of column i, below n_columns. */
const char *pm_table_column(const struct pm_table *table, uint32_t i);

/*
 * The type of column i: by table->types, by the field of a sheet, by the rules for names of
 * formats/common/types.c; text where none of them knows. Cells of damaged sources may be others.
 */
enum pm_type pm_table_type_of(const struct pm_table *table, uint32_t i);

/* The unit that a column's name ends with: ns, bytes, sec …; empty where it has none. */
struct pm_bytes pm_column_unit(const char *name);

struct pm_rows {
	const struct pm_table *table;
	uint64_t at;             /* position of the next row */
	uint64_t row;            /* position of the last row that was returned */
	uint64_t state[8];       /* private to the table; zero before start() */
	void *own;               /* private memory of the table; NULL before start() */
	struct pm_text *scratch; /* emptied before every next(): for text cells that are built;
				    appending may move earlier bytes, so take slices after the whole
				    row has been built */
};

/* Begins at position `at` (0 = the first row). `rows` is the caller's; end with pm_rows_done. */
int pm_rows_start(
	struct pm_rows *rows, const struct pm_table *table, uint64_t at, struct pm_error *err);

/* The next row's cells: 1, 0 at the end, or a negative errno. Cells live until the next step. */
int pm_rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err);

/* May be called after a failed start, and twice. */
void pm_rows_done(struct pm_rows *rows);

#endif
