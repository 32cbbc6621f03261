/* Fields: as described by classes, as stored in an event, and the interpretation of their bytes. */
#ifndef PROFMOUNT_HTDUMP_KIND_H
#define PROFMOUNT_HTDUMP_KIND_H

#include "profmount/bytes.h"

#define HTD_NONE UINT32_MAX

/* Numbers on the wire; the timestamp-first layout counts from 0 and is translated. */
enum htd_type {
	HTD_STRUCT = 1,
	HTD_STRING = 2,
	HTD_INTEGER = 3,
	HTD_FLOAT = 4,
	HTD_DOUBLE = 5,
	HTD_POINTER = 6,
	HTD_UNSIGNED = 99,
};

/* A field as described. The texts are slices of the input. */
struct htd_field {
	struct pm_bytes type, name;
	uint64_t size;
	uint8_t data_type; /* enum htd_type, or another number as stored */
};

/* Presentation of a field's bytes. */
enum htd_kind {
	HTD_KIND_UNSIGNED,
	HTD_KIND_SIGNED,
	HTD_KIND_REAL,
	HTD_KIND_POINTER,
	HTD_KIND_TEXT,  /* up to its NUL */
	HTD_KIND_ARRAY, /* of numbers, `step` bytes each */
};

/* A field as stored in an event, with structs and bases resolved. */
struct htd_flat {
	struct pm_bytes name; /* qualified: where.x */
	struct pm_bytes type;
	uint64_t size;
	uint8_t data_type;
	uint8_t kind;     /* enum htd_kind */
	uint8_t element;  /* enum htd_kind of an array's elements */
	uint8_t step;     /* bytes of an array's elements */
	bool composed;    /* the name is not a slice of the input */
	uint32_t column;  /* of its class version, in field order */
	uint32_t strings; /* how many lie before it */
	uint64_t at;      /* from the event, or from the end of the last string before it */
};

/* Sets kind, element and step of a field from its type, size and data type. */
void htd_kind_set(struct htd_flat *f);

static inline bool htd_is_number(const struct htd_flat *f)
{
	return f->kind == HTD_KIND_UNSIGNED || f->kind == HTD_KIND_SIGNED ||
		f->kind == HTD_KIND_REAL;
}

/* Whether it is one of enum htd_type; other numbers are unknown. */
static inline bool htd_type_is_known(uint8_t data_type)
{
	return (data_type >= HTD_STRUCT && data_type <= HTD_POINTER) || data_type == HTD_UNSIGNED;
}

static inline bool htd_is_integer(const struct htd_flat *f)
{
	return f->kind == HTD_KIND_UNSIGNED || f->kind == HTD_KIND_SIGNED;
}

#endif
