/*
 * The namespace: names → nodes → documents. Independent of FUSE and of individual formats.
 * Thread-safe; every incoming node id is checked.
 */
#ifndef PROFMOUNT_FS_TREE_TREE_H
#define PROFMOUNT_FS_TREE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/common/cache.h"
#include "fs/tree/names.h"
#include "fs/views/model/views.h"

/*
 * ---- node.c ----
 *
 * Node ids: the identity of a file or directory of the mount, packed into its inode number. A
 * pure function of the source: there is no inode table, and ids are the same on every mount.
 *
 *     63      56 55                        24 23                 0
 *     kind       a: an index (context …)      b: which document
 *
 * An id from outside is hostile until its kind and indexes have been checked.
 */

typedef uint64_t pm_node;

/* FUSE requires the root to be 1. */
#define PMFS_NODE_ROOT ((pm_node)1)

/* Add a kind also in tree.c: dirs[] or documents[]. */
enum pmfs_node_kind {
	PMFS_ROOT,            /* a = 0, b = 1: the id is 1 */
	PMFS_VIEW,            /* a document of views: a = item, b = place | view | column */
	PMFS_EXPORT,          /* export/ */
	PMFS_CONTEXTS,        /* contexts/ */
	PMFS_CONTEXT,         /* a = context */
	PMFS_CONTEXT_METRICS, /* metrics/ of context a */
	PMFS_CONTEXT_VALUE,   /* document: metrics/COLUMN of context a, b = column */
	PMFS_BY_ID,           /* by-id/ */
	PMFS_BY_ID_CONTEXT,   /* a = context */
	PMFS_BY_ID_METRICS,   /* metrics/ below it */
	PMFS_FUNCTIONS,       /* functions/ */
	PMFS_FUNCTION,        /* a = row of functions.csv */
	PMFS_THREADS,         /* threads/ and each KEY=VALUE below it: a = node of the paths */
	PMFS_THREAD_EXPORT,   /* export/ of thread a */
	PMFS_THREAD_RAW,      /* raw/ of thread a */
	PMFS_THREAD_DOC,      /* document: the b-th format-specific document of thread a */
	PMFS_PATH,            /* a folder of the format's documents: a = node of the paths */
	PMFS_PATH_DOC,        /* document: a = node of the paths */
	PMFS_ITEM,           /* an item of a collection, as a directory: a = item, b = collection */
	PMFS_ITEM_DOC,       /* its document: b = collection | document */
	PMFS_REPORT,         /* report/, the data of report.html: found by name, never listed */
	PMFS_REPORT_DATA,    /* document: a, b as fs/views/report/report.h says */
	PMFS_THREAD_WINDOWS, /* windows/ of thread a */
	PMFS_THREAD_FILTERS, /* focus/ … of thread a, b = enum pmfs_filter_kind */
	PMFS_N_KINDS,        /* at most PMFS_TWIN_VIEW */
	PMFS_PROGRESS = 31,  /* used by the mount only, not by the tree: a snapshot of .progress */
};

static inline pm_node pmfs_node(enum pmfs_node_kind kind, uint32_t a, uint32_t b)
{
	return (uint64_t)kind << 56 | (uint64_t)a << 24 | (b & 0xffffff);
}

static inline unsigned pmfs_node_kind_of(pm_node node)
{
	return (unsigned)(node >> 56);
}

static inline uint32_t pmfs_node_a(pm_node node)
{
	return (uint32_t)(node >> 24);
}

static inline uint32_t pmfs_node_b(pm_node node)
{
	return (uint32_t)(node & 0xffffff);
}

/*
 * Nodes of a profile that is an item of another one contain a space that identifies it
 * (docs/decisions/0007), from 1 on. Such a node has bit 63 set and the rest packed; pmfs_node_a and
 * _b are meaningless for it.
 */
enum { PMFS_SPACE_MOST = (1 << 15) - 1 };

/* False if the space is invalid or the node does not fit: see node.c. */
bool pmfs_node_nest(uint32_t space, pm_node node, pm_node *ret);

/* The space of a node; 0: the outermost tree. */
uint32_t pmfs_node_space(pm_node node);

/* The node within its space; of an invalid kind if the id was never packed. */
pm_node pmfs_node_unnest(pm_node node);

/* The node of a document's Parquet form; 0 if documents of that kind have none. */
pm_node pmfs_node_twin(pm_node node);

/* The CSV document of a node that is a Parquet form; other nodes are returned unchanged. */
pm_node pmfs_node_untwin(pm_node node);

/* Parts of b of PMFS_VIEW. */
enum { PMFS_VIEW_MOST = 256, PMFS_COLUMN_MOST = 4096 };

static inline uint32_t pmfs_view_b(uint32_t place, uint32_t view, uint32_t column)
{
	return place << 20 | view << 12 | column;
}

/* Parts of b of PMFS_ITEM and PMFS_ITEM_DOC. */
enum { PMFS_COLLECTION_MOST = 65536, PMFS_ITEM_DOC_MOST = 256 };

static inline uint32_t pmfs_item_b(uint32_t collection, uint32_t document)
{
	return collection << 8 | document;
}

enum pmfs_type { PMFS_DIRECTORY, PMFS_FILE, PMFS_LINK };

struct pmfs_entry {
	char name[PMFS_NAME_SIZE]; /* not NUL-terminated: len bytes */
	size_t len;
	pm_node node;
	enum pmfs_type type;
	bool is_unlisted;    /* by its number, which is given anew when it is not in use */
	uint32_t generation; /* of that number */
};

struct pmfs_tree;

/*
 * A tree of this shape (any but PM_SHAPE_TRACE). The model and the cache outlive the tree.
 * NULL if out of memory. Does not read the source.
 */
struct pmfs_tree *pmfs_tree_new(
	struct pmfs_model *model, struct pm_cache *cache, enum pm_shape shape);

/* Accepts NULL. */
void pmfs_tree_free(struct pmfs_tree *t);

/* The kind of a node; -ENOENT (ESTALE for an NFS client) if the id is invalid. */
int pmfs_tree_type(struct pmfs_tree *t, pm_node node, enum pmfs_type *ret, struct pm_error *err);

/*
 * The entry with this name in a directory. -ENOENT, -ENOTDIR. O(log n) in the number of siblings,
 * or better.
 */
int pmfs_tree_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name, struct pmfs_entry *ret,
	struct pm_error *err);

/*
 * The entry at a directory's cookie (0 = the first), without `.` and `..`; moves the cookie to the
 * next one. Cookies are the same on every mount. 1, 0 at the end, or a negative errno. O(1) except
 * for the first call in a directory.
 */
int pmfs_tree_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err);

/* The parent of a directory; the parent of the root is the root. */
int pmfs_tree_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err);

/*
 * The document of a file or link, in use until it is released. -EISDIR for a directory. Renders
 * nothing.
 */
int pmfs_tree_document(struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err);

/* Releases the document of this node after a successful pmfs_tree_document. */
void pmfs_tree_release(struct pmfs_tree *t, pm_node node);

/* Whether rendering this document is cheap enough for a listing to do it for the size. */
bool pmfs_tree_is_cheap(pm_node node);

/* Whether it is a format-specific document, which pmfs_tree_document returns without work. */
bool pmfs_tree_is_of_format(pm_node node);

/* Whether it is contexts/ or by-id/, which have documents for each context. */
bool pmfs_tree_is_of_contexts(pm_node node);

/* ---- names that are not listed ---- */

/*
 * Numbers of windows, and of other names that are found and not listed, are counted. They are part
 * of node ids, so a number must not mean something else while an id with it is in use: whoever
 * keeps ids (the mount) says so.
 */

/*
 * The innermost directory or link with such a name that a node is, or lies in, as a node: false if
 * there is none. `*ret_outer`: the same of what that one lies in, or 0.
 */
bool pmfs_tree_owner(struct pmfs_tree *t, pm_node node, pm_node *ret, pm_node *ret_outer);

/* Such a node is in use, in this generation: false if that has ended. In any generation there is.
 */
bool pmfs_tree_hold(struct pmfs_tree *t, pm_node owner, uint32_t generation);
uint32_t pmfs_tree_generation(struct pmfs_tree *t, pm_node owner);

/* It is not in use any more. */
void pmfs_tree_let_go(struct pmfs_tree *t, pm_node owner);

/*
 * How to forget what was kept of nodes when their numbers are given to other names: everything for
 * which belongs(what, key, in_use) is true. Once, before the tree is used; default: nothing is kept
 * but in the tree's cache.
 */
typedef void pmfs_tree_purge_fn(
	void *context, bool (*belongs)(void *what, uint64_t key, bool in_use), void *what);
void pmfs_tree_set_purge(struct pmfs_tree *t, pmfs_tree_purge_fn *purge, void *context);

/* The node at a path from the root, with `/` between names. Follows no links. */
int pmfs_tree_walk(
	struct pmfs_tree *t, const char *path, struct pmfs_entry *ret, struct pm_error *err);

/*
 * The context of a node, for extended attributes: index, or PM_NONE. For a file of metrics/ also
 * its column.
 */
uint32_t pmfs_tree_context_of(pm_node node, uint32_t *ret_column);

#endif
