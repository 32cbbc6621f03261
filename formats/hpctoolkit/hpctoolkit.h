/*
 * A database and what is read from it, from the bottom up. The files are mapped, and the positions
 * of their tables fixed, once hpctk_opened_init has returned; anything that takes work is in lazy
 * objects.
 */
#ifndef PROFMOUNT_HPCTOOLKIT_HPCTOOLKIT_H
#define PROFMOUNT_HPCTOOLKIT_HPCTOOLKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/common/arena.h"
#include "formats/common/damage.h"
#include "formats/common/input.h"
#include "formats/common/lazy.h"
#include "formats/common/map.h"
#include "formats/hpctoolkit/records.h"
#include "profmount/profile.h"

/* ---- the files of a database (parts.c) ---- */

enum hpctk_file { HPCTK_META, HPCTK_PROFILE, HPCTK_CCT, HPCTK_TRACE, HPCTK_N_FILES };

/* meta.db, profile.db, cct.db, trace.db */
const char *hpctk_file_name(enum hpctk_file file);

struct hpctk_folder {
	int fd; /* the directory; negative: not open */
	struct pm_input files[HPCTK_N_FILES];
	bool present[HPCTK_N_FILES]; /* the file is there and can be read */
	struct pm_input formulas;    /* metrics/default.yaml */
	bool has_formulas;
};

#define HPCTK_FORMULAS "metrics/default.yaml"

/* ---- the open database (parts.c) ---- */

/* Sections of meta.db in the order of its header. */
enum hpctk_meta_section {
	HPCTK_GENERAL_SECTION,
	HPCTK_KINDS_SECTION,
	HPCTK_METRICS_SECTION,
	HPCTK_CONTEXT_SECTION,
	HPCTK_STRINGS_SECTION,
	HPCTK_MODULES_SECTION,
	HPCTK_FILES_SECTION,
	HPCTK_FUNCTIONS_SECTION,
	HPCTK_N_META_SECTIONS,
};

/* An array of records inside its file: row i is at rows.p + i × stride. */
struct hpctk_rows {
	struct pm_bytes rows;
	uint64_t at; /* in the file */
	uint32_t n;
	uint32_t stride;
	bool cut; /* the file promises more rows than it holds */
};

#define HPCTK_N_FACTS 3

struct hpctk_opened {
	struct hpctk_folder folder;
	struct hpctk_layout layout;
	const struct pm_profile *profile; /* the profile of this database; owned by the model */
	char version[8];                  /* of meta.db: 4.0 */
	struct pm_fact facts[HPCTK_N_FACTS];

	struct hpctk_section meta[HPCTK_N_META_SECTIONS];
	struct hpctk_rows kinds; /* pointers to names */
	struct hpctk_rows modules, sources, functions;
	struct hpctk_rows profiles;
	struct hpctk_rows contexts; /* of cct.db */
	/* Rows of profiles, and of contexts, whose values overlap those of others: see block.c. */
	struct pm_lazy sharing_lazy[2];
	uint8_t *sharing[2]; /* NULL: none */
	struct hpctk_rows traces;
	uint64_t first_ns; /* earliest time according to trace.db; PM_NO_TIME = unknown */

	/* Found while opening; parts keep what is found while they are built, to be built again. */
	struct pm_damage_list damage;

	struct pm_part metrics, columns, tree, threads, documents, copied, gathered, found;
	struct pm_part any_copied; /* has_copied: of `copied` there is at least one */
	bool has_copied;
	struct pm_lazy span_lazy;
	struct pm_span span;
	struct pm_parts parts;
};

/*
 * Opens the database in directory `folder` (borrowed). -ENOTSUP for unsupported versions, -EINVAL
 * for files that do not belong together; on failure nothing is left open.
 */
int hpctk_opened_init(struct hpctk_opened *db, int folder, struct pm_error *err);

/* Closes the files and frees what was built. */
void hpctk_opened_done(struct hpctk_opened *db);

static inline struct pm_bytes hpctk_bytes(const struct hpctk_opened *db, enum hpctk_file file)
{
	return db->folder.files[file].bytes;
}

static inline const uint8_t *hpctk_row(const struct hpctk_rows *rows, uint64_t i)
{
	return pm_bytes_row(rows->rows, i, rows->stride);
}

/* The position of row i in its file. */
static inline uint64_t hpctk_row_at(const struct hpctk_rows *rows, uint64_t i)
{
	return rows->at + i * rows->stride;
}

/* The profile's mutable parts, for lazy objects and the damage list, which do their own locking. */
static inline struct hpctk_opened *hpctk_opened_of(const struct pm_profile *p)
{
	return p->self;
}

/*
 * ---- layout (parts.c) ----
 * Determines which of the layouts with version 4.0 a database has, and its byte order. The version
 * field is the same for all of them, so the stored sizes of structures and the positions of tables
 * decide.
 */

/* 4.0, 4.0-draft-2022-06, 4.0-draft-2022-04, 4.0-first-draft */
const char *hpctk_layout_name(const struct hpctk_layout *l);

/* ---- meta.db: strings, identifier names, modules, source files, functions (meta.c) ---- */

/*
 * The string at an offset of meta.db; false, and the empty string, if it does not end in the file,
 * or is the end of another one and longer than 256 bytes. In a pass over all records, which may
 * refer to one string, `lengths` has those of long strings, so that each is scanned once: offset →
 * length, or HPCTK_NONE if it does not end. NULL: it is scanned each time.
 */
bool hpctk_string_find(
	const struct hpctk_opened *db, struct pm_map *lengths, uint64_t at, struct pm_bytes *ret);

/*
 * The same for a field where 0 means none; unreadable strings are empty (and listed in damage.csv).
 */
struct pm_bytes hpctk_string_get(
	const struct hpctk_opened *db, struct pm_map *lengths, uint64_t at);

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

/* Row i of db->modules or db->sources. */
struct hpctk_path hpctk_path_get(const struct hpctk_opened *db, struct pm_map *lengths,
	const struct hpctk_rows *rows, uint32_t i);

/* A function: module and file are indexes into their tables, or HPCTK_NONE. */
struct hpctk_function {
	struct pm_bytes name;
	uint32_t module, file, line;
	uint64_t offset; /* in the module */
};

struct hpctk_function hpctk_function_get(
	const struct hpctk_opened *db, struct pm_map *lengths, uint32_t i);

/* The index of the row at this offset of the file; false unless a row begins exactly there. */
bool hpctk_row_find(const struct hpctk_rows *rows, uint64_t at, uint32_t *ret);

/* The same for a field where 0 means none; HPCTK_NONE for 0 and if there is no row. */
uint32_t hpctk_row_get(const struct hpctk_rows *rows, uint64_t at);

/*
 * ---- metrics (meta.c) ----
 * The metrics section of meta.db: the meaning of values in profiles and in the summary.
 */

/* A metric in one propagation scope. Profiles store its values under `prop_id`. */
struct hpctk_quantity {
	uint32_t metric;      /* index in the database */
	uint32_t prop_id;     /* HPCTK_NONE: named by summaries only */
	uint32_t sum_id;      /* summary statistic: sum of the values; HPCTK_NONE: there is none */
	uint32_t scope_type;  /* HPCTK_NONE: not stored */
	uint32_t propagation; /* HPCTK_NONE: not stored */
	uint32_t n_summaries;
	struct pm_bytes name, scope;
};

/* A statistic that the summary profile stores under `stat_id`. */
struct hpctk_summary {
	uint32_t quantity; /* index */
	uint32_t combine;  /* 0 sum, 1 min, 2 max */
	uint32_t stat_id;  /* HPCTK_NONE: a quantity without any statistic */
	struct pm_bytes formula;
};

struct hpctk_metrics {
	uint32_t n_metrics;
	struct hpctk_quantity *quantities; /* database order: adjacent for one metric */
	size_t n_quantities;
	struct hpctk_summary *summaries; /* database order, each quantity at least once */
	size_t n_summaries;
	/* HPCTK_N_IDS of each: quantity + 1, or 0, so that ids without one take no memory. */
	uint32_t *of_prop, *of_sum;
	struct pm_damage_list damage; /* found while reading them */
};

#define HPCTK_N_IDS 0x10000u /* metric ids have 16 bits */

/* The quantity of a prop_id or sum_id below HPCTK_N_IDS; HPCTK_NONE for others. */
static inline uint32_t hpctk_quantity_of_prop(const struct hpctk_metrics *m, uint32_t id)
{
	return m->of_prop[id] - 1;
}

static inline uint32_t hpctk_quantity_of_sum(const struct hpctk_metrics *m, uint32_t id)
{
	return m->of_sum[id] - 1;
}

/* Read on first need; lives as long as the database. */
int hpctk_metrics_get(
	struct hpctk_opened *db, const struct hpctk_metrics **ret, struct pm_error *err);

/*
 * ---- overlaps (block.c) ----
 * Finds value blocks, or samples of threads, that overlap others. In a valid database they are
 * disjoint; a hostile file could make all of them refer to the same large block, which would then
 * be read once for each.
 */

/* Bytes [at, end) of a file that belong to a row of its table. */
struct hpctk_stretch {
	uint64_t at, end;
	uint32_t row;
};

/*
 * Marks rows until the others are disjoint: of two that overlap, the one that ends later, or else
 * the later row, so that a row that claims too much does not affect the others. Sorts `stretches`;
 * `marks` has a bit for each row. 0 or -ENOMEM. O(n log n).
 */
int hpctk_sharing_mark(struct hpctk_stretch *stretches, size_t n, uint8_t *marks);

static inline bool hpctk_sharing_marked(const uint8_t *marks, uint64_t row)
{
	return marks && marks[row / 8] >> row % 8 & 1;
}

/*
 * ---- value blocks (block.c) ----
 * Sparse value blocks. profile.db has one per profile, indexed by context, with values by metric;
 * cct.db has one per context, indexed by metric, with values by profile. Both consist of an array
 * of values and an index with the start of each key's values:
 *
 *   index   key | start    key | start    key | start          sorted by key
 *                   |             |             |
 *   values  [sub | f64, sub | f64][sub | f64 …][ … ]           n_values, sorted by sub
 */

struct hpctk_block {
	const struct hpctk_layout *layout;
	enum hpctk_file file;
	struct pm_bytes values, index;
	uint64_t n_values, values_at, index_at; /* at: in the file */
	uint32_t n_index;
	uint8_t value_size, index_size;
};

/* One index entry: its key, and the values [first, end) that belong to it. */
struct hpctk_run {
	uint32_t key;
	uint64_t first, end;
};

struct hpctk_block_value {
	uint32_t sub; /* metric, or profile */
	double value;
};

/*
 * The values of profile `i` of profile.db (the caller ensures that i < db->profiles.n), or of the
 * context with this number in cct.db (an empty block beyond the table). -EINVAL if they are outside
 * the file, overlap those of another row, or if a context's index is out of order; -ENODATA if
 * cct.db is missing or ends before it. The first call determines which blocks overlap, and can fail
 * with -ENOMEM: O(rows) if they are in order, else O(rows log rows).
 */
int hpctk_profile_block(
	const struct hpctk_opened *db, uint32_t i, struct hpctk_block *ret, struct pm_error *err);
int hpctk_context_block(const struct hpctk_opened *db, uint64_t number, struct hpctk_block *ret,
	struct pm_error *err);

/* Determines the overlaps in advance, for all blocks of contexts or of profiles. */
int hpctk_blocks_ready(const struct hpctk_opened *db, bool of_context, struct pm_error *err);

/* Index entry i (< n_index). -EINVAL if its values are not in order. */
int hpctk_block_run(
	const struct hpctk_block *b, uint32_t i, struct hpctk_run *ret, struct pm_error *err);

/* Checks that all keys and values of the index are in order; otherwise -EINVAL. O(n_index). */
int hpctk_block_check(const struct hpctk_block *b, struct pm_error *err);

/* Value v (< n_values). */
struct hpctk_block_value hpctk_block_value(const struct hpctk_block *b, uint64_t v);

/*
 * The index entry with this key, or HPCTK_NONE. `next` is where a larger key is looked for first: 0
 * in the beginning. O(1) for ascending keys, else O(log n).
 */
uint32_t hpctk_block_find(const struct hpctk_block *b, uint32_t key, uint32_t *next);

/* The index entry that value v belongs to, 0 if none begins at or before it. O(log n). */
uint32_t hpctk_block_entry_of(const struct hpctk_block *b, uint64_t v);

/*
 * ---- threads (threads.c) ----
 * Profiles as threads: identity and trace. The summary profile is not a thread.
 */

/* Samples of one thread: n of them from `at` in trace.db. */
struct hpctk_line {
	uint64_t at, n;
	bool present; /* it has a trace, possibly an empty one */
	bool damaged; /* … whose samples are outside the file or overlap those of another one */
};

struct hpctk_threads {
	struct pm_threads list;
	uint32_t *of_profile;         /* thread by profile index, PM_NONE for summaries */
	struct hpctk_line *lines;     /* by thread */
	uint32_t summary;             /* profile index of the summary profile, or PM_NONE */
	struct pm_damage_list damage; /* found while reading them */
};

/* Built on first need; lives as long as the database. */
int hpctk_threads_get(
	struct hpctk_opened *db, const struct hpctk_threads **ret, struct pm_error *err);

/* Whether there are two or more. Reads as little of the list of profiles as possible. */
bool hpctk_threads_several(const struct hpctk_opened *db);

/* The thread of a profile index in values and traces, or PM_NONE. */
uint32_t hpctk_thread_of(
	const struct hpctk_opened *db, const struct hpctk_threads *t, uint32_t profile);

/* Whether profile i is a summary over threads. */
bool hpctk_profile_is_summary(const struct hpctk_opened *db, uint32_t i);

/*
 * The identifier tuple of profile i: `*ret` ids of `*ret_n`, HPCTK_TUPLE_ID bytes each. None for a
 * summary; false if it is outside the file or longer than any real tuple.
 */
bool hpctk_tuple_find(
	const struct hpctk_opened *db, uint32_t i, struct pm_bytes *ret, uint32_t *ret_n);

/*
 * ---- samples (threads.c) ----
 * Samples of trace.db, and the time that they cover.
 */

/* Sample i (< line->n) of a line that is not damaged. */
struct hpctk_sample_record hpctk_sample_get(
	const struct hpctk_opened *db, const struct hpctk_line *line, uint64_t i);

/* As pm_profile_ops.samples; builds pm_parts.span. */
int64_t hpctk_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err);
int hpctk_span(void *opened, struct pm_error *err);

/*
 * ---- values of contexts that cct.db lacks (summary.c) ----
 * Values of profile.db by context, for contexts whose block in cct.db is missing or broken.
 * Computed on first need, for all contexts at once, because searching for each in every thread
 * would take contexts × threads. 24 bytes for each context of each thread.
 */

/* The values of a context on a thread: those of an index entry of its block. */
struct hpctk_gathered_run {
	uint32_t number; /* of the context */
	uint32_t thread;
	uint32_t entry;
	uint64_t before; /* values of this context in earlier threads */
};

struct hpctk_gathered {
	struct hpctk_gathered_run *runs; /* by context number, then thread */
	size_t n;
};

/* Lives as long as the database. Fails if the block of a thread cannot be read. */
int hpctk_gathered_get(
	const struct hpctk_opened *db, const struct hpctk_gathered **ret, struct pm_error *err);

/* The runs of a context: returns the first, and their number in `ret_n`; O(log n). */
const struct hpctk_gathered_run *hpctk_gathered_of(
	const struct hpctk_gathered *g, uint64_t number, size_t *ret_n);

/* Opens the block of a run's thread; its values there are those of `ret`. */
int hpctk_gathered_open(const struct hpctk_opened *db, const struct hpctk_threads *threads,
	const struct hpctk_gathered_run *run, struct hpctk_block *block, struct hpctk_run *ret,
	struct pm_error *err);

/*
 * ---- the run (summary.c) ----
 * Costs of the whole run: the summary profile, else sums over threads.
 */

/* The source of the costs of the whole run. A value that need not be freed. */
struct hpctk_run_reader {
	const struct hpctk_opened *db;
	const struct hpctk_metrics *metrics;
	const struct hpctk_threads *threads;
	struct hpctk_block summary; /* empty where there is none */
};

/* O(1). Does not read the summary's index. */
int hpctk_run_reader_init(
	struct hpctk_run_reader *r, struct hpctk_opened *db, struct pm_error *err);

/* The summary's index entry for a context number, or HPCTK_NONE; see hpctk_block_find. */
uint32_t hpctk_run_find(const struct hpctk_run_reader *r, uint32_t number, uint32_t *next);

/* All costs of a context whose summary entry is known, in database order of metrics. */
int64_t hpctk_run_all(const struct hpctk_run_reader *r, uint32_t number, uint32_t entry,
	struct pm_value *ret, size_t room, struct pm_error *err);

/*
 * One cost of a context whose summary entry is known; NaN if none is stored or readable. 0 or
 * -ENOMEM.
 */
int hpctk_run_cost(const struct hpctk_run_reader *r, uint32_t number, uint32_t entry,
	uint32_t quantity, double *ret);

/*
 * ---- columns (columns.c) ----
 * The metrics for views: roles, groups, and whether they have a value anywhere.
 */

struct hpctk_columns {
	struct pm_metrics list;
	struct pm_metric *metrics;
	struct pm_derived *derived;
	/* By group: metrics/default.yaml lists it as it is, and not as invisible by default. */
	bool *shown, *visible;
	struct pm_damage_list damage; /* found in metrics/default.yaml */
};

/* The text in the parentheses at the end of a metric's name: sec of `CPUTIME (sec)`. */
struct pm_bytes hpctk_unit_of(struct pm_bytes name);

/*
 * Reads the text of metrics/default.yaml: fills the derived metrics, hides those that are only
 * inputs of them, puts those behind that are not visible by default, and tells of formulas that
 * cannot be computed. `group_of` is by quantity. In a build.
 */
void hpctk_taxonomy_read(struct pm_arena *a, struct pm_bytes file,
	const struct hpctk_metrics *metrics, const uint32_t *group_of, struct hpctk_columns *c);

/* Computed on first need; lives as long as the database. */
int hpctk_columns_get(
	struct hpctk_opened *db, const struct hpctk_columns **ret, struct pm_error *err);

/*
 * ---- the tree (contexts.c) ----
 * The calling-context tree of meta.db.
 */

struct hpctk_tree {
	struct pm_tree *tree;
	struct pm_tree_builder *builder; /* until it is built */
	uint32_t *of_rank;               /* context by rank: the records' pre-order in the file */
	uint64_t *record_at;             /* by rank: position of its record in meta.db */
	uint32_t *in_summary;            /* by context: its index entry in the summary profile */
	struct pm_damage_list damage;    /* found while reading the records */
};

/* Built on first need; lives as long as the database. */
int hpctk_tree_get(struct hpctk_opened *db, const struct hpctk_tree **ret, struct pm_error *err);

/* The record of the context at that rank, as stored; false once the file has changed. */
bool hpctk_context_get(const struct hpctk_opened *db, const struct hpctk_tree *t, uint32_t rank,
	struct hpctk_context_record *ret);

/*
 * ---- costs (costs.c) ----
 * Costs of the whole run, of a thread (profile.db), and of a context over threads (cct.db).
 */

/* As in pm_profile_ops. */
int64_t hpctk_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err);
int64_t hpctk_values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err);

/*
 * ---- sources (sources.c) ----
 * Source files copied into the database.
 */

/* Builds pm_parts.sources. */
int hpctk_sources(void *opened, struct pm_error *err);

/* Whether there are any. 1, 0 or a negative errno; stops at the first. */
int hpctk_sources_any(struct hpctk_opened *db, struct pm_error *err);

/* Adds the copies that are there and cannot be opened. 0 or a negative errno. */
int hpctk_sources_scan(struct hpctk_opened *db, struct pm_damage_list *found, struct pm_error *err);

/*
 * ---- documents (raw.c) ----
 * The documents of a database.
 */

/* Builds pm_parts.documents. */
int hpctk_documents(void *opened, struct pm_error *err);

/*
 * ---- damage (damage.c) ----
 * What could not be read.
 */

/* Builds pm_parts.damage: reads everything. */
int hpctk_damage(void *opened, struct pm_error *err);

/*
 * ---- the profile (model.c) ----
 * A database as a pm_profile.
 */

/* Fills `ret`, which takes ownership of the database (allocated by malloc()). */
void hpctk_model_init(struct hpctk_opened *db, struct pm_profile *ret);

/* Frees everything, including the database. */
void hpctk_model_done(struct pm_profile *p);

#endif
