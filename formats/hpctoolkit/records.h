/*
 * The records of meta.db, profile.db, cct.db and trace.db: converts bytes, which have been checked
 * to be inside the file, to native structs. Decoding cannot fail and validates nothing; the offsets
 * are those of docs/formats/hpctoolkit.md.
 */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_RECORDS_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_RECORDS_H

#include "formats/common/cursor.h"

/* The layouts with version 4.0, oldest first. */
enum hpctk_generation {
	HPCTK_FIRST,    /* the first text: bare tree roots, profiles and values behind pointers */
	HPCTK_APRIL,    /* draft of April 2022: bare tree roots, 40-byte profiles */
	HPCTK_JUNE,     /* draft of June 2022: as released, but 40-byte profiles */
	HPCTK_RELEASED, /* September 2022 to now */
	HPCTK_N_GENERATIONS,
};

struct hpctk_layout {
	enum hpctk_generation generation;
	bool big; /* byte order of every number */
};

/* A code, id or index that the layout does not store. */
#define HPCTK_NONE UINT32_MAX

/* Sizes of the records as far as they are read; strides in the file may be larger. */
enum {
	HPCTK_FILE_HEADER = 0x10,
	HPCTK_SECTION = 0x10,
	HPCTK_META_TABLE = 0x0e,
	HPCTK_TABLE = 0x0d,
	HPCTK_GENERAL = 0x10,
	HPCTK_KINDS = 0x0a,
	HPCTK_ENTRIES = 0x0b,
	HPCTK_ROOTS = 0x10,
	HPCTK_ENTRY = 0x20,
	HPCTK_MODULE = 0x10,
	HPCTK_SOURCE = 0x10,
	HPCTK_FUNCTION = 0x28,
	HPCTK_METRICS_NESTED = 0x0f,
	HPCTK_METRICS_SHARED = 0x1b,
	HPCTK_TUPLE_ID = 0x10,
	HPCTK_TRACES_TIMED = 0x20,
	HPCTK_TRACE_HEADER = 0x18,
	HPCTK_SAMPLE = 0x0c,
	HPCTK_BLOCK = 0x20,
};

static inline uint16_t hpctk_u16(const struct hpctk_layout *l, const uint8_t *d)
{
	return l->big ? pm_be16(d) : pm_le16(d);
}

static inline uint32_t hpctk_u32(const struct hpctk_layout *l, const uint8_t *d)
{
	return l->big ? pm_be32(d) : pm_le32(d);
}

static inline uint64_t hpctk_u64(const struct hpctk_layout *l, const uint8_t *d)
{
	return l->big ? pm_be64(d) : pm_le64(d);
}

static inline double hpctk_f64(const struct hpctk_layout *l, const uint8_t *d)
{
	return pm_f64_of_bits(hpctk_u64(l, d));
}

/* ---- headers ---- */

struct hpctk_section {
	uint64_t size, at;
};

void hpctk_section_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_section *ret);

/* The description of a section's array: modules, files, functions, profiles, contexts, traces. */
struct hpctk_table {
	uint64_t at;
	uint32_t n;
	uint32_t stride;
};

/* With a stride of 16 bits (modules, files, functions) … */
void hpctk_table16_decode(const struct hpctk_layout *l, const uint8_t *d, struct hpctk_table *ret);

/* … or of 8 (profiles, contexts, traces). */
void hpctk_table8_decode(const struct hpctk_layout *l, const uint8_t *d, struct hpctk_table *ret);

/* ---- meta.db: metrics ---- */

struct hpctk_metrics_head {
	uint64_t metrics_at, scopes_at; /* scopes: a shared table, from June 2022 on */
	uint32_t n_metrics, n_scopes;
	uint8_t metric_size, scope_size, summary_size; /* as stored */
	uint8_t instance_size;                         /* of a scope instance in a metric */
};

void hpctk_metrics_head_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_metrics_head *ret);

struct hpctk_metric_record {
	uint64_t name_at;
	uint64_t instances_at; /* scope instances; in nested layouts the scopes themselves */
	uint64_t summaries_at; /* 0 in nested layouts, where they belong to the scopes */
	uint16_t n_instances, n_summaries;
};

void hpctk_metric_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_metric_record *ret);

/* A scope of one metric. */
struct hpctk_instance_record {
	uint64_t scope_at;     /* shared layouts: the scope's record */
	uint64_t name_at;      /* nested layouts: the scope's name … */
	uint64_t summaries_at; /* … and its summaries */
	uint16_t n_summaries;
	uint16_t prop_id;
};

void hpctk_instance_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_instance_record *ret);

struct hpctk_summary_record {
	uint64_t scope_at; /* shared layouts */
	uint64_t formula_at;
	uint8_t combine;
	uint16_t stat_id;
};

void hpctk_summary_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_summary_record *ret);

struct hpctk_scope_record {
	uint64_t name_at;
	uint8_t type, propagation;
};

void hpctk_scope_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_scope_record *ret);

/* ---- meta.db: modules, files, functions ---- */

/* A module or a source file. */
struct hpctk_path_record {
	uint32_t flags;
	uint64_t path_at;
};

void hpctk_path_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_path_record *ret);

struct hpctk_function_record {
	uint64_t name_at, module_at, file_at; /* 0 = none */
	uint64_t offset;
	uint32_t line;
};

void hpctk_function_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_function_record *ret);

/* ---- meta.db: contexts ---- */

/*
 * An entry point or a context. Fields that are absent in the layout or by flags are 0 or
 * HPCTK_NONE.
 */
struct hpctk_context_record {
	uint64_t size; /* of the whole record */
	uint64_t children_size, children_at;
	uint32_t id;
	uint32_t lexical_type; /* HPCTK_NONE: an entry point */
	uint32_t relation;     /* 0 nested, 1 called, 2 inlined; of an entry point its code */
	uint64_t name_at;      /* of an entry point */
	uint64_t function_at, file_at, module_at;
	uint32_t line;
	uint64_t offset;
	bool has_place, has_point; /* file and line, module and offset are stored */
};

void hpctk_entry_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_context_record *ret);

/* The fixed part of a context record, and the position of its size. */
size_t hpctk_context_head(const struct hpctk_layout *l);

/* The total size of the context record with its fixed part at d. */
size_t hpctk_context_size(const struct hpctk_layout *l, const uint8_t *d);

/* False if the flags require more than the record's `size` bytes. */
bool hpctk_context_decode(const struct hpctk_layout *l, const uint8_t *d, size_t size,
	struct hpctk_context_record *ret);

/* ---- profile.db ---- */

/* The fields of a profile, except for its values: see hpctk_block_record. */
struct hpctk_profile_record {
	uint64_t tuple_at;
	uint32_t flags; /* HPCTK_NONE: not stored */
};

uint32_t hpctk_profile_size(const struct hpctk_layout *l);
void hpctk_profile_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_profile_record *ret);

/* Offset of the ids of a tuple from its u16 count. */
uint32_t hpctk_tuple_head(const struct hpctk_layout *l);

struct hpctk_tuple_id {
	uint32_t kind;
	uint32_t flags; /* bit 0: the physical id is meaningful */
	uint32_t logical;
	uint64_t physical;
};

void hpctk_tuple_id_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_tuple_id *ret);

/* ---- value blocks of profile.db and cct.db ---- */

struct hpctk_block_record {
	uint64_t n_values, values_at;
	uint32_t n_index;
	uint64_t index_at;
};

/* Of a profile (contexts as index), or of a context (metrics as index). */
void hpctk_block_decode(const struct hpctk_layout *l, bool of_context, const uint8_t *d,
	struct hpctk_block_record *ret);

/* ---- trace.db ---- */

struct hpctk_trace_record {
	uint32_t profile;
	uint64_t at, end;
};

void hpctk_trace_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_trace_record *ret);

struct hpctk_sample_record {
	uint64_t time_ns;
	uint32_t context;
};

/* In line: traces have hundreds of millions. */
static inline void hpctk_sample_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_sample_record *ret)
{
	ret->time_ns = hpctk_u64(l, d + 0x00);
	ret->context = hpctk_u32(l, d + 0x08);
}

#endif
