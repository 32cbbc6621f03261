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
#include "fs/document/chunk.h"
#include "profmount/document.h"

enum { PMFS_PARQUET_BEGIN = 4 }; /* where the first row group begins: behind the magic number */

/* Rows of a table from a position on. */
struct pmfs_rowgroup {
	uint64_t at;     /* position of the first row */
	uint64_t offset; /* of its first byte in the file; of its first column, if laid out */
	uint64_t bytes;
	uint32_t rows;
	struct pmfs_chunk_facts *columns; /* owned, or the layout's */
};

/* Bounds of a column of numbers in a row group, for the footer. */
struct pmfs_range {
	uint64_t min, max; /* as stored */
	bool is_known;
};

/* Sizes that are the same for all row groups of a table that is laid out, by column. */
struct pmfs_layout {
	struct pmfs_dictionary *dictionaries;
	struct pmfs_chunk_facts *full, *last; /* of a full row group, and of the last one */
	uint32_t per_block;                   /* number of row groups in a block */
};

struct pmfs_parquet {
	uint32_t n_columns;
	enum pmfs_storage *storage; /* by column */
	struct pmfs_rowgroup *groups;
	size_t n, room;
	uint64_t n_rows;
	uint64_t footer_at;
	uint64_t size;
	struct pmfs_layout *layout; /* NULL: measured */
	struct pm_text footer;  /* if measured, including its length and the final magic number */
	struct pm_text first;   /* the row group of a small file that has only one */
	struct pm_cache *cache; /* of row groups */
	uint64_t of;            /* key of the document in the cache */
	uint64_t key;           /* made of it; part of the keys of row groups */
	uint64_t n_kept;        /* atomic: bytes that measuring left in the cache */
};

/*
 * Measures the table of a document. `key` is the document's; `cache` receives row groups, as many
 * as made.c allows, and may be NULL. -ENOMEM if the work is cancelled, -EFBIG for long texts.
 */
int pmfs_parquet_build(const struct pm_doc *doc, struct pm_cache *cache, uint64_t key,
	struct pmfs_parquet **ret, struct pm_error *err);

/* Accepts NULL. */
void pmfs_parquet_free(struct pmfs_parquet *p);

/* Memory used by it. */
uint64_t pmfs_parquet_memory(const struct pmfs_parquet *p);

/* Appends a row group of a table that was measured; -EIO if it has changed. */
int pmfs_parquet_group(const struct pmfs_parquet *p, const struct pm_table *table, size_t i,
	struct pm_text *out, struct pm_error *err);

/* ---- groups.c ---- */

/* Appends the window [off, off + len), less at the end. Uses the cache for row groups. */
int pmfs_parquet_window(const struct pmfs_parquet *p, const struct pm_doc *doc, uint64_t off,
	size_t len, struct pm_text *out, struct pm_error *err);

/* ---- footer.c ---- */

/* Determines the size, by making the footer; keeps it unless the table is laid out. */
int pmfs_parquet_end(struct pmfs_parquet *p, const struct pm_doc *doc, struct pm_error *err);

/*
 * Appends the footer, including its length and the final magic number. `ranges` are p->n times
 * p->n_columns, or NULL: those of the measurements. The caller checks the text.
 */
void pmfs_footer_add(const struct pmfs_parquet *p, const struct pm_doc *doc,
	const struct pmfs_range *ranges, struct pm_text *out);

#endif
