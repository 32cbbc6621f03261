/*
 * A table as Parquet (docs/decisions/0140): row groups of a bounded number of rows, each with the
 * pages of its columns one after the other, and a footer. Large tables are laid out without being
 * read where that is possible (layout.h). Otherwise measuring makes every row group once, stores
 * the metadata for the footer, and leaves the first ones in the cache; reading makes the others
 * again.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_PARQUET_H
#define PROFMOUNT_FS_DOCUMENT_PARQUET_H

#include "formats/common/cache.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "profmount/document.h"
#include "profmount/error.h"
#include "profmount/table.h"

/*
 * ---- chunk.c ----
 *
 * A column of a row group: a dictionary page of distinct texts, if it is text, and one data
 * page: levels that tell which rows have a value, then the values, or indexes into the
 * dictionary, each of the same width. Nothing is compressed.
 */

enum { PMFS_GROUP_ROWS = 1 << 17 }; /* at most; engines process so many as one piece */

/* How the cells of a column are stored. */
enum pmfs_storage {
	PMFS_STORE_TEXT,   /* BYTE_ARRAY, UTF-8 */
	PMFS_STORE_I64,    /* INT64 */
	PMFS_STORE_U64,    /* INT64 as unsigned */
	PMFS_STORE_DOUBLE, /* DOUBLE */
};

/* Properties of the cells seen in a column, which determine how they can be stored. */
enum {
	PMFS_SEEN_TEXT = 1,
	PMFS_SEEN_FRACTION = 2, /* not an integer, or one that only a double can represent */
	PMFS_SEEN_INEXACT = 4,  /* an integer that a double cannot represent */
	PMFS_SEEN_BEYOND = 8,   /* greater than INT64_MAX */
	PMFS_SEEN_NEGATIVE = 16,
	PMFS_SEEN_NUMBER = 32, /* any */
};

enum { PMFS_BOUND_ROOM = 32 };

#define PMFS_UNKNOWN UINT32_MAX

/* A text that is a lower, or upper, bound of all texts of a chunk: one of them, or a prefix. */
struct pmfs_bound {
	uint8_t n;     /* bytes; 0 = there is none */
	bool is_exact; /* it is one of them */
	char p[PMFS_BOUND_ROOM];
};

/* Metadata of a chunk; known after measuring, before it is made again. */
struct pmfs_chunk_facts {
	uint64_t min, max;                 /* as stored; of numbers */
	struct pmfs_bound least, greatest; /* of texts */
	uint32_t n, n_nulls;               /* rows, and rows without a value or PMFS_UNKNOWN */
	bool has_range;                    /* min and max are known */
	uint32_t dictionary;               /* bytes of its page, 0 = there is none */
	uint32_t bytes;                    /* of both pages, headers included */
	uint8_t seen;
};

/*
 * All texts that a column can have: the same dictionary page in every row group. Zeroed, but for
 * the arenas of `texts` and `page`, of which none is in a build: a format reports texts.
 */
struct pmfs_dictionary {
	struct pm_strtab texts;
	struct pm_text page;
	uint32_t *index_of; /* by the table's number: 2 + index, 1 = empty text, 0 = not reported */
	size_t room;        /* for index_of */
	uint64_t bytes;     /* of the texts */
};

/* Adds a text of CSV, and the table's number for it. 0 or -ENOMEM. */
int pmfs_dictionary_add(struct pmfs_dictionary *d, uint32_t number, struct pm_bytes text);

/* Makes the page, after the last text. 0, -ENOMEM or -EFBIG. */
int pmfs_dictionary_end(struct pmfs_dictionary *d);

/* A text of an earlier row, at an address in the table's memory. */
struct pmfs_seen {
	struct pm_bytes lasting; /* where it is, if it lasts; else NULL */
	uint32_t index;          /* 1 + its own, or 0 */
};

/* A chunk being made, in a build: zeroed, then pmfs_chunk_begin. */
struct pmfs_chunk {
	enum pmfs_storage storage;
	/*
	 * Set by the caller before pmfs_chunk_begin: the size of its pages depends on the number of
	 * rows only, as if all rows had values. Texts are those of `dictionary`.
	 */
	bool laid_out;
	const struct pmfs_dictionary *dictionary;
	uint8_t seen;
	uint32_t n, n_nulls;
	uint64_t bytes;            /* approximate size of values and distinct texts */
	uint64_t *values;          /* rows with a value */
	size_t room;               /* for values */
	uint8_t *present;          /* one bit per row */
	struct pmfs_seen *seen_at; /* texts by address */
	uint32_t last;             /* index of the previous text */
	struct pm_strtab texts;
	struct pm_arena *arena, *of_texts;
	struct pm_text scratch;
};

/* Empties it, and keeps memory of the arena that is reused. */
void pmfs_chunk_begin(struct pm_arena *a, struct pmfs_chunk *c, enum pmfs_storage storage);

/*
 * Adds the next row's cell. A cell that cannot be stored in this way becomes null, and is noted in
 * c->seen.
 */
void pmfs_chunk_add(struct pmfs_chunk *c, const struct pm_cell *cell);

/*
 * For a chunk that is laid out: sets all its `n` rows. The chunk uses and changes the strip's
 * values. -EIO if a text is not in the dictionary.
 */
int pmfs_chunk_take(struct pmfs_chunk *c, const struct pm_strip *strip, uint32_t n);

/*
 * The stored form of a number; false if the cell is not a number or cannot be stored in this way.
 */
bool pmfs_number_bits(enum pmfs_storage storage, const struct pm_cell *cell, uint64_t *ret);

/* Sets the least and the greatest number as required by parquet.thrift. */
void pmfs_chunk_range(
	enum pmfs_storage storage, uint64_t min, uint64_t max, struct pmfs_chunk_facts *ret);

/* A close upper bound of the size of its pages, for a chunk that is not laid out. */
uint64_t pmfs_chunk_most(const struct pmfs_chunk *c);

/* Appends its pages. */
void pmfs_chunk_render(struct pmfs_chunk *c, struct pm_text *out, struct pmfs_chunk_facts *ret);

/* How to store a column of this type, given the cells that were seen. */
enum pmfs_storage pmfs_storage_for(enum pm_type type, uint8_t seen);

enum { PMFS_PARQUET_BEGIN = 4 }; /* where the first row group begins: behind the magic number */

/* Rows of a table from a position on. */
struct pmfs_rowgroup {
	uint64_t at;     /* position of the first row */
	uint64_t offset; /* of its first byte in the file; of its first column, if laid out */
	uint64_t bytes;
	uint32_t rows;
	struct pmfs_chunk_facts *columns;
};

/* Bounds of a column of numbers in a row group, for the footer. */
struct pmfs_range {
	uint64_t min, max; /* as stored */
	bool is_known;
};

/* Sizes that are the same for all row groups of a table that is laid out, by column. */
struct pmfs_layout {
	struct pm_arena arena; /* of dictionaries */
	struct pmfs_dictionary *dictionaries;
	struct pmfs_chunk_facts *full, *last; /* of a full row group, and of the last one */
	uint32_t per_block;                   /* number of row groups in a block */
};

struct pmfs_parquet {
	uint32_t n_columns;
	enum pmfs_storage *storage; /* by column */
	struct pmfs_rowgroup *groups;
	size_t n;
	uint64_t n_rows;
	uint64_t footer_at;
	uint64_t size;
	struct pmfs_layout *layout; /* NULL: measured */
	struct pm_bytes footer; /* if measured, including its length and the final magic number */
	struct pm_text first;   /* the row group of a small file that has only one */
	struct pm_cache *cache; /* of row groups */
	uint64_t of;            /* key of the document in the cache */
	uint64_t key;           /* made of it; part of the keys of row groups */
	uint64_t n_kept;        /* atomic: bytes that measuring left in the cache */
};

/*
 * Measures the table of a document, in a build of the arena. `key` is the document's; `cache`
 * receives row groups, as many as pmfs_made allows, and may be NULL. -EFBIG for long texts.
 */
struct pmfs_parquet *pmfs_parquet_build(struct pm_arena *a, const struct pm_doc *doc,
	struct pm_cache *cache, uint64_t key, struct pm_error *err);

/* Memory used by it beside the arena. */
uint64_t pmfs_parquet_memory(const struct pmfs_parquet *p);

/* Appends the window [off, off + len), less at the end. Uses the cache for row groups. */
int pmfs_parquet_window(const struct pmfs_parquet *p, const struct pm_doc *doc, uint64_t off,
	size_t len, struct pm_text *out, struct pm_error *err);

/* ---- footer.c ---- */

/* Determines the size, by making the footer; keeps it unless the table is laid out. */
void pmfs_parquet_end(
	struct pm_arena *a, struct pmfs_parquet *p, const struct pm_doc *doc, struct pm_error *err);

/*
 * Appends the footer, including its length and the final magic number. `ranges` are p->n times
 * p->n_columns, or NULL: those of the measurements. The caller checks the text.
 */
void pmfs_footer_add(const struct pmfs_parquet *p, const struct pm_doc *doc,
	const struct pmfs_range *ranges, struct pm_text *out);

/*
 * ---- parts in the cache ----
 *
 * Parts of Parquet files in the cache: row groups, or, of tables that are laid out (layout.h),
 * columns of row groups and footers.
 */

struct pmfs_made {
	struct pm_cached cached;
	uint64_t document; /* the document, since keys are hashes: pmfs_parquet.key */
	uint64_t of;       /* its key in the cache */
	uint64_t at; /* which part (struct unit); for a row group, the position of its first row */
	struct pm_text text;
};

/* Whether a key of the cache is that of a row group. */
bool pmfs_made_is(uint64_t key);

#endif
