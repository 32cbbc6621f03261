/*
 * Node ids: the identity of a file or directory of the mount, packed into its inode number. A pure
 * function of the source: there is no inode table, and ids are the same on every mount.
 *
 *     63      56 55                        24 23                 0
 *     kind       a: an index (context …)      b: which document
 *
 * An id from outside is hostile until its kind and indexes have been checked.
 */
#ifndef PROFMOUNT_FS_TREE_NODE_H
#define PROFMOUNT_FS_TREE_NODE_H

#include <stdbool.h>
#include <stdint.h>

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

/*
 * Each kind of document that may be a table as CSV has a second kind for the same table as Parquet,
 * with the same index and document, also in nested nodes.
 */
enum {
	PMFS_TWIN_VIEW = 27,
	PMFS_TWIN_THREAD_DOC,
	PMFS_TWIN_PATH_DOC,
	PMFS_TWIN_ITEM_DOC,
};

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

#endif
