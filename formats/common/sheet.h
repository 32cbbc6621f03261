/*
 * Tables described by data: each column has a name and the offset of its value in a record. For the
 * format's own tables (raw/), with one row per record.
 *
 *     static const struct pm_column line_columns[] = {
 *         PM_COLUMN(struct nytp_line, fid, "fid"),
 *         PM_COLUMN(struct nytp_line, line, "line"),
 *         PM_COLUMN_BY(struct nytp_line, fid, "file", file_cell),
 *     };
 *     static const struct pm_sheet lines =
 *         PM_SHEET("raw/lines.csv", line_columns, line_record, .dense = true);
 */
#ifndef PROFMOUNT_SHEET_H
#define PROFMOUNT_SHEET_H

#include <stddef.h>

#include "formats/common/text.h"
#include "profmount/document.h"

#define PM_RECORD_ROOM 512 /* bytes; no record is larger */

/* Type of the field at a column's offset in the record. */
enum pm_field {
	PM_FIELD_NONE, /* nothing: the cell is the row's position */
	PM_FIELD_BOOL, /* 0 or 1 */
	PM_FIELD_U8,
	PM_FIELD_U16,
	PM_FIELD_U32,
	PM_FIELD_U64,
	PM_FIELD_I32,
	PM_FIELD_I64,
	PM_FIELD_F64,
	PM_FIELD_TEXT,  /* struct pm_bytes */
	PM_FIELD_STR,   /* a pointer to a string, or NULL: empty */
	PM_FIELD_CHARS, /* a string in the record itself */
	PM_FIELD_CELL,  /* struct pm_cell */
};

struct pm_column {
	const char *name;
	enum pm_field field;
	uint16_t offset;
	uint16_t known; /* 1 + offset of a bool: while false, the cell is empty; 0: none */
	bool hex;       /* as 0x… */
	char type;      /* see pm_table.types; 0: as the field is, or by the name */
	bool none;      /* the greatest value of an unsigned field means unknown: empty */
	/* Instead of `field`: makes the cell from the data at the offset. May be NULL. */
	struct pm_cell (*cell)(struct pm_rows *rows, const void *field);
	/* Or appends the cell's text to the cursor's scratch. May be NULL. */
	void (*write)(struct pm_rows *rows, const void *field, struct pm_text *out);
};

/* The field of a member; the compiler rejects types that are not in the list. */
#define PM_FIELD_OF(type, member)                                                                  \
	_Generic(((type *)0)->member,                                                              \
		bool: PM_FIELD_BOOL,                                                               \
		uint8_t: PM_FIELD_U8,                                                              \
		uint16_t: PM_FIELD_U16,                                                            \
		uint32_t: PM_FIELD_U32,                                                            \
		uint64_t: PM_FIELD_U64,                                                            \
		unsigned long long: PM_FIELD_U64,                                                  \
		int32_t: PM_FIELD_I32,                                                             \
		int64_t: PM_FIELD_I64,                                                             \
		double: PM_FIELD_F64,                                                              \
		struct pm_bytes: PM_FIELD_TEXT,                                                    \
		const char *: PM_FIELD_STR,                                                        \
		char *: PM_FIELD_CHARS,                                                            \
		struct pm_cell: PM_FIELD_CELL)

/* For records that fit into PM_RECORD_ROOM; a negative array size is reported if they do not. */
#define PM_OFFSET_OF(type, member)                                                                 \
	(offsetof(type, member) + 0 * sizeof(char[sizeof(type) <= PM_RECORD_ROOM ? 1 : -1]))

#define PM_COLUMN_WITH(type, member, title, ...)                                                   \
	{                                                                                          \
		.name = (title), .field = PM_FIELD_OF(type, member),                               \
		.offset = PM_OFFSET_OF(type, member), __VA_ARGS__                                  \
	}
#define PM_COLUMN(type, member, title)     PM_COLUMN_WITH(type, member, title, .hex = false)
#define PM_COLUMN_HEX(type, member, title) PM_COLUMN_WITH(type, member, title, .hex = true)

/* Empty if an unsigned member has its greatest value: PM_NONE, PM_NO_TIME … */
#define PM_COLUMN_OR_NONE(type, member, title) PM_COLUMN_WITH(type, member, title, .none = true)

/* Empty while the record's bool `flag` is false. */
#define PM_COLUMN_IF(type, member, title, flag)                                                    \
	PM_COLUMN_WITH(type, member, title, .known = 1 + offsetof(type, flag))
#define PM_COLUMN_HEX_IF(type, member, title, flag)                                                \
	PM_COLUMN_WITH(type, member, title, .known = 1 + offsetof(type, flag), .hex = true)

/* Made by a function that gets the cursor and a pointer to the member. */
#define PM_COLUMN_BY(type, member, title, function)                                                \
	{                                                                                          \
		.name = (title), .offset = offsetof(type, member), .cell = (function)              \
	}
#define PM_COLUMN_BY_IF(type, member, title, flag, function)                                       \
	{                                                                                          \
		.name = (title), .offset = offsetof(type, member),                                 \
		.known = 1 + offsetof(type, flag), .cell = (function)                              \
	}
#define PM_COLUMN_WRITTEN(type, member, title, function)                                           \
	{                                                                                          \
		.name = (title), .offset = offsetof(type, member), .write = (function)             \
	}

/* The same with a pointer to the whole record. */
#define PM_RECORD_BY(title, function)                                                              \
	{                                                                                          \
		.name = (title), .cell = (function)                                                \
	}
#define PM_RECORD_WRITTEN(title, function)                                                         \
	{                                                                                          \
		.name = (title), .write = (function)                                               \
	}

/* The row's position. */
#define PM_COLUMN_ROW(title)                                                                       \
	{                                                                                          \
		.name = (title)                                                                    \
	}

/* A record of a source, valid until the cursor's next step. */
struct pm_record {
	const void *p; /* `room`, or elsewhere */
	void *room;    /* PM_RECORD_ROOM bytes, aligned for anything, not zeroed */
};

/* A kind of table. Const data. */
struct pm_sheet {
	struct pm_table_type type; /* .next is pm_sheet_next */
	const char *path;          /* of the document, or NULL */
	const struct pm_column *columns;
	uint32_t n_columns;
	/*
	 * The record at rows->at: sets ret->p, or fills ret->room. Returns 1, 0 at the end, or a
	 * negative errno. The row after it is at rows->at + 1 unless rows->at is moved here.
	 */
	int (*record)(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err);
};

/* With further members of struct pm_table_type, as .dense = true, at the end. */
#define PM_SHEET(file, list, read, ...)                                                            \
	{                                                                                          \
		.type = {.next = pm_sheet_next, ##__VA_ARGS__}, .path = (file), .columns = (list), \
		.n_columns = sizeof(list) / sizeof((list)[0]), .record = (read)                    \
	}

/* Like pm_table_type.next. */
int pm_sheet_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err);

/* A table of this kind; `self` and `a` as in struct pm_table. */
struct pm_table pm_sheet_table(const struct pm_sheet *sheet, const void *self, uint64_t a);

/* The same as a document at sheet->path. */
struct pm_named_doc pm_sheet_document(const struct pm_sheet *sheet, const void *self, uint64_t a);

/* A cursor over any table with its cells, in a build (arena.h), whose arena frees it. */
struct pm_table_reader {
	struct pm_table table;
	struct pm_rows rows;
	struct pm_cell *cells;
	uint64_t n; /* rows read */
};

/* From a position on. */
struct pm_table_reader *pm_table_read(
	struct pm_arena *a, const struct pm_table *table, uint64_t at, struct pm_error *err);

/* Reads the next row; false: there is none. */
bool pm_table_next(struct pm_arena *a, struct pm_table_reader *r, struct pm_error *err);

#endif
