/*
 * Documents as files: exact sizes and any window of bytes, for the mount, --cat, --extract and
 * tests. Thread-safe. If the source has changed since it was opened, everything that is not in the
 * cache gives -EIO: old bytes or an error, never other bytes.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_ENGINE_H
#define PROFMOUNT_FS_DOCUMENT_ENGINE_H

#include "fs/document/body.h"
#include "profmount/profile.h"

struct pmfs_engine;

/* `cache` and `profile` outlive the engine. NULL if out of memory. */
struct pmfs_engine *pmfs_engine_new(const struct pm_profile *profile, struct pm_cache *cache);

/* Accepts NULL. */
void pmfs_engine_free(struct pmfs_engine *e);

/* Exact size in bytes. `key` identifies the document. */
int pmfs_engine_size(struct pmfs_engine *e, uint64_t key, const struct pm_doc *doc, uint64_t *ret,
	struct pm_error *err);

enum pmfs_size {
	PMFS_SIZE_KNOWN,
	PMFS_SIZE_NEVER_TOLD, /* never returned by pmfs_engine_size */
	PMFS_SIZE_FORGOTTEN,  /* it may have been reported */
};

/* The size of a TEXT, CSV, TSV or LINK as far as known: O(1), renders nothing. */
enum pmfs_size pmfs_engine_recall(struct pmfs_engine *e, uint64_t key, uint64_t *ret);

/* Bytes of a document; release them with pmfs_engine_release. */
struct pmfs_piece {
	const void *p;
	size_t len;
	bool mapped;              /* they are mapped pages of the input: copying may raise SIGBUS */
	struct pm_cached *cached; /* what keeps them valid, or */
	void *memory;
	size_t memory_bytes; /* 0 if it is unknown */
};

/* The window [off, off + len) of the document, shorter at its end, empty beyond. */
int pmfs_engine_read(struct pmfs_engine *e, uint64_t key, const struct pm_doc *doc, uint64_t off,
	size_t len, struct pmfs_piece *ret, struct pm_error *err);

void pmfs_engine_release(struct pmfs_engine *e, struct pmfs_piece *piece);

/*
 * Renders a text that flows from its beginning to its end, without keeping it. `take` gets the
 * bytes in order, in pieces; if it sets the error and returns false, rendering ends. A failure may
 * come after some of the pieces.
 */
int pmfs_engine_flow(struct pmfs_engine *e, const struct pm_doc *doc,
	bool (*take)(void *context, struct pm_bytes piece, struct pm_error *err), void *context,
	struct pm_error *err);

static inline bool pmfs_engine_flows(const struct pm_doc *doc)
{
	return doc->kind == PM_DOC_TEXT && doc->text.flows;
}

/*
 * Frees the body of a document that will not be read again. Its size is kept; parts of Parquet
 * files (parquet.h) stay in the cache until it needs the memory.
 */
void pmfs_engine_forget(struct pmfs_engine *e, uint64_t key);

/*
 * Frees everything in the cache, and forgets all sizes, of keys for which belongs(context, key,
 * whether it is in use) is true: they mean something else from now on, unless they are in use.
 * O(objects in the cache).
 */
void pmfs_engine_purge(struct pmfs_engine *e,
	bool (*belongs)(void *context, uint64_t key, bool in_use), void *context);

#endif
