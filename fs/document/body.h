/*
 * The body of a document in the cache: its exact size, and either its complete text (small
 * documents, and those that are rendered as a whole) or, for a table, marks from which any window
 * of the text can be rendered.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_BODY_H
#define PROFMOUNT_FS_DOCUMENT_BODY_H

#include <pthread.h>

#include "formats/common/cache.h"
#include "formats/common/row.h"
#include "fs/document/parquet.h"
#include "profmount/document.h"

/* The row at position `at` of the table begins at byte `offset` of its text. */
struct pmfs_mark {
	uint64_t offset;
	uint64_t at;
};

enum { PMFS_N_RESUME = 4 };

struct pmfs_body {
	struct pm_cached cached;
	uint64_t size;
	bool whole;
	struct pm_text text;     /* if whole: everything; else the header row */
	struct pm_arena arena;   /* has what follows: */
	struct pmfs_mark *marks; /* every PMFS_ROWS_PER_MARK rows, the first row first */
	size_t n_marks;
	struct pmfs_parquet *parquet; /* instead of these, for a document of that kind */
	/*
	 * Ends of earlier windows, from which sequential readers continue without rendering rows
	 * twice.
	 */
	pthread_mutex_t lock;
	struct pmfs_mark resume[PMFS_N_RESUME];
	unsigned next_resume;
};

/*
 * Renders or measures a document of kind TEXT, LINK, CSV, TSV or PARQUET. The memory counts
 * against the limit of `cache` unless it is NULL; `key` is the document's there. -ENOMEM if the
 * work is cancelled.
 */
int pmfs_body_build(const struct pm_doc *doc, struct pm_cache *cache, uint64_t key,
	struct pmfs_body **ret, struct pm_error *err);

/*
 * Appends the text [off, off + len), less at the end, of a body that is not whole. `doc` is the
 * document that it was built from. Renders the window and at most PMFS_ROWS_PER_MARK additional
 * rows. Not for Parquet: see pmfs_parquet_window.
 */
int pmfs_body_window(struct pmfs_body *body, const struct pm_doc *doc, uint64_t off, size_t len,
	struct pm_text *out, struct pm_error *err);

/* The error of a text that is full. */
int pmfs_body_too_long(const struct pm_text *text, struct pm_error *err);

#endif
