/* Contents of meta.db: strings, identifier names, modules, source files, functions. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_META_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_META_H

#include "formats/common/map.h"
#include "formats/hpctoolkit/parts.h"

/*
 * The string at an offset of meta.db; false, and the empty string, if it does not end in the file,
 * or is the end of another one and longer than 256 bytes.
 */
bool hpctk_string_find(const struct hpctk_opened *db, uint64_t at, struct pm_bytes *ret);

/*
 * The same for a field where 0 means none; unreadable strings are empty (and listed in damage.csv).
 */
struct pm_bytes hpctk_string_get(const struct hpctk_opened *db, uint64_t at);

/* Title and description. */
void hpctk_general_get(const struct hpctk_opened *db, struct pm_bytes *ret_title,
	struct pm_bytes *ret_description);

/* NODE, RANK …; empty for a kind without a name. */
struct pm_bytes hpctk_kind_name(const struct hpctk_opened *db, uint32_t kind);

/* A load module or a source file. */
struct hpctk_path {
	uint32_t flags; /* of a source file: bit 0 = copied into the database */
	struct pm_bytes path;
};

struct hpctk_path hpctk_module_get(const struct hpctk_opened *db, uint32_t i);
struct hpctk_path hpctk_source_get(const struct hpctk_opened *db, uint32_t i);

/* A function: module and file are indexes into their tables, or HPCTK_NONE. */
struct hpctk_function {
	struct pm_bytes name;
	uint32_t module, file, line;
	uint64_t offset; /* in the module */
};

/*
 * Lengths of long strings, for a pass over all records, since many records may refer to one string.
 * Zeroed = empty; pm_map_done frees it.
 */
struct hpctk_lengths {
	struct pm_map of; /* offset → length; HPCTK_NONE: it does not end */
};

/* Like hpctk_string_find and others, but a long string is scanned only once. */
bool hpctk_string_find_again(const struct hpctk_opened *db, struct hpctk_lengths *lengths,
	uint64_t at, struct pm_bytes *ret);
struct hpctk_path hpctk_source_get_again(
	const struct hpctk_opened *db, struct hpctk_lengths *lengths, uint32_t i);
struct hpctk_path hpctk_module_get_again(
	const struct hpctk_opened *db, struct hpctk_lengths *lengths, uint32_t i);
struct hpctk_function hpctk_function_get_again(
	const struct hpctk_opened *db, struct hpctk_lengths *lengths, uint32_t i);

struct hpctk_function hpctk_function_get(const struct hpctk_opened *db, uint32_t i);

/* The index of the row at this offset of the file; false unless a row begins exactly there. */
bool hpctk_row_find(const struct hpctk_rows *rows, uint64_t at, uint32_t *ret);

/* The same for a field where 0 means none; HPCTK_NONE for 0 and if there is no row. */
uint32_t hpctk_row_get(const struct hpctk_rows *rows, uint64_t at);

#endif
