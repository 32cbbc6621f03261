/*
 * Parts of Parquet files in the cache: row groups, or, of tables that are laid out (layout.h),
 * columns of row groups and footers.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_MADE_H
#define PROFMOUNT_FS_DOCUMENT_MADE_H

#include "fs/document/parquet.h"

struct pmfs_made {
	struct pm_cached cached;
	uint64_t document; /* the document, since keys are hashes: pmfs_parquet.key */
	uint64_t of;       /* its key in the cache */
	uint64_t at; /* which part (see groups.c); for a row group, the position of its first row */
	struct pm_text text;
};

/* An object for the cache. Takes ownership of the contents of the text. 0 or -ENOMEM. */
int pmfs_made_new(const struct pmfs_parquet *p, uint64_t at, struct pm_text *text,
	struct pm_cached **ret, struct pm_error *err);

/* Its key in the cache. */
uint64_t pmfs_made_key(const struct pmfs_parquet *p, uint64_t at);

/* Whether a key of the cache is that of a row group. */
bool pmfs_made_is(uint64_t key);

/*
 * Puts a row group that was made while measuring into the cache, if there is room, so that reading
 * need not make it again. The caller frees the text, which may be empty then.
 */
void pmfs_made_keep(struct pmfs_parquet *p, uint64_t at, struct pm_text *text);

#endif
