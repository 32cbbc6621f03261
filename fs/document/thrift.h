/*
 * Thrift's compact protocol, as far as Parquet's metadata needs it: appends to a text. A struct is
 * written field by field, with ids that increase by less than 16, and then ended.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_THRIFT_H
#define PROFMOUNT_FS_DOCUMENT_THRIFT_H

#include "formats/common/text.h"

enum pmfs_thrift_type {
	PMFS_THRIFT_TRUE = 1,
	PMFS_THRIFT_FALSE = 2,
	PMFS_THRIFT_I8 = 3,
	PMFS_THRIFT_I32 = 5,
	PMFS_THRIFT_I64 = 6,
	PMFS_THRIFT_BINARY = 8,
	PMFS_THRIFT_LIST = 9,
	PMFS_THRIFT_STRUCT = 12,
};

/* The struct being written. Zeroed at its beginning, one for each level. */
struct pmfs_thrift {
	struct pm_text *out;
	unsigned last; /* id of the previous field */
};

/* A number of 1 to 10 bytes with 7 bits each. */
void pmfs_thrift_varint(struct pm_text *out, uint64_t u);

/* The header of a field, followed by its value. */
void pmfs_thrift_field(struct pmfs_thrift *t, unsigned id, enum pmfs_thrift_type type);

void pmfs_thrift_bool(struct pmfs_thrift *t, unsigned id, bool is);
void pmfs_thrift_i32(struct pmfs_thrift *t, unsigned id, int32_t i);
void pmfs_thrift_i64(struct pmfs_thrift *t, unsigned id, int64_t i);
void pmfs_thrift_binary(struct pmfs_thrift *t, unsigned id, struct pm_bytes b);
void pmfs_thrift_str(struct pmfs_thrift *t, unsigned id, const char *s);

/* A list of n items, which follow without headers: structs, i32 or binaries. */
void pmfs_thrift_list(struct pmfs_thrift *t, unsigned id, enum pmfs_thrift_type type, uint32_t n);

/* An item of a list. */
void pmfs_thrift_item_i32(struct pm_text *out, int32_t i);
void pmfs_thrift_item_binary(struct pm_text *out, struct pm_bytes b);

/* A field that is a struct, whose fields follow. End it with pmfs_thrift_end. */
struct pmfs_thrift pmfs_thrift_struct(struct pmfs_thrift *t, unsigned id);

/* A field that is an empty struct: a member of a union. */
void pmfs_thrift_empty(struct pmfs_thrift *t, unsigned id);

void pmfs_thrift_end(struct pmfs_thrift *t);

#endif
