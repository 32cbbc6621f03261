/*
 * The namespace: names → nodes → documents. Knows no FUSE and no format by name. Thread-safe;
 * every node id that comes in is checked.
 */
#ifndef PROFMOUNT_FS_TREE_TREE_H
#define PROFMOUNT_FS_TREE_TREE_H

#include "formats/common/cache.h"
#include "fs/tree/names.h"
#include "fs/tree/node.h"
#include "fs/views/model/views.h"

enum pmfs_type { PMFS_DIRECTORY, PMFS_FILE, PMFS_LINK };

struct pmfs_entry {
	char name[PMFS_NAME_SIZE]; /* not NUL-terminated: len bytes */
	size_t len;
	pm_node node;
	enum pmfs_type type;
};

struct pmfs_tree;

/* Both outlive the tree. NULL without memory. Reads nothing of the source. */
struct pmfs_tree *pmfs_tree_new(struct pmfs_model *model, struct pm_cache *cache);

/* The same of another shape than that of a run; one that is a tree. */
struct pmfs_tree *pmfs_tree_new_shaped(
	struct pmfs_model *model, struct pm_cache *cache, enum pm_shape shape);

/* Accepts NULL. */
void pmfs_tree_free(struct pmfs_tree *t);

/* What a node is; -ENOENT (ESTALE for an NFS client) for an id that names nothing. */
int pmfs_tree_type(struct pmfs_tree *t, pm_node node, enum pmfs_type *ret, struct pm_error *err);

/* The entry of that name in a directory. -ENOENT, -ENOTDIR. O(log n) of the siblings or better. */
int pmfs_tree_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name, struct pmfs_entry *ret,
	struct pm_error *err);

/*
 * The entry at a directory's cookie (0 = the first), without `.` and `..`; moves the cookie to the
 * next one. Cookies are the same on every mount. 1, 0 at the end, or a negative errno. O(1) but
 * for the first call in a directory.
 */
int pmfs_tree_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err);

/* The parent of a directory; the root's is itself. */
int pmfs_tree_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err);

/*
 * The document of a file or link, in use until it is released. -EISDIR for a directory. Renders
 * nothing.
 */
int pmfs_tree_document(struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err);

/* The document of that node, which was asked for with success, is not used any more. */
void pmfs_tree_release(struct pmfs_tree *t, pm_node node);

/* Is rendering this document so cheap that a listing may do it for its size? */
bool pmfs_tree_is_cheap(pm_node node);

/* Is it a document of the format's own, which pmfs_tree_document gives at once? */
bool pmfs_tree_is_of_format(pm_node node);

/* The node at a path from the root, `/` between names, for the command line. */
int pmfs_tree_walk(
	struct pmfs_tree *t, const char *path, struct pmfs_entry *ret, struct pm_error *err);

/*
 * The context that a node belongs to, for extended attributes: index, or PM_NONE. For a file of
 * metrics/ also its column.
 */
uint32_t pmfs_tree_context_of(pm_node node, uint32_t *ret_column);

#endif
