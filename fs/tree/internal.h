/* Shared by the files of fs/tree/: a struct of functions for each kind of directory. */
#ifndef PROFMOUNT_FS_TREE_INTERNAL_H
#define PROFMOUNT_FS_TREE_INTERNAL_H

#include <pthread.h>

#include "formats/common/lazy.h"
#include "fs/filters/filter.h"
#include "fs/tree/paths.h"
#include "fs/tree/tree.h"
#include "fs/windows/windows.h"

struct pmfs_dir;

/* An item that is a profile, and what is kept of it while it is closed. */
struct pmfs_space {
	pm_node item;
	struct pmfs_unlisted *unlisted; /* owned; NULL: none yet; see unlisted.c */
};

/* Which columns of a context have values. */
struct pmfs_presence {
	bool known;
	uint32_t context;
	uint64_t columns[PMFS_COLUMN_MOST / 64]; /* one bit per column */
};

enum { PMFS_N_PRESENCES = 16 };

/* Of the contexts that were requested last: a listing asks for the same context repeatedly. */
struct pmfs_presences {
	pthread_mutex_t lock;
	struct pmfs_presence of[PMFS_N_PRESENCES]; /* by context */
};

struct pmfs_tree {
	const struct pmfs_dir *const *dirs; /* by kind: an item of a tree may be a tree itself */
	struct pmfs_tree *top;              /* the outermost tree, possibly this one */
	uint32_t space; /* of its nodes, as seen from outside; 0 for the outermost tree */
	struct pmfs_nested
		*nested; /* the item that it is the tree of; NULL for the outermost tree */
	const struct pmfs_shape *shape;
	struct pmfs_model *model;
	const struct pm_profile *profile;
	struct pm_cache *cache; /* indexes of siblings, by the directory's node */

	/* The format's documents and collections by path. */
	struct pm_lazy paths_built;
	struct pm_arena lists;
	struct pmfs_paths paths;
	const struct pm_named_doc *docs;
	const struct pm_collection *collections;
	size_t n_docs, n_collections;
	/*
	 * With filters and windows, the lists above are these: the format's, then those of filters
	 * by kind, then that of windows.
	 */
	struct pmfs_filters *filters;            /* NULL: profiles of this shape have none */
	uint32_t first_filter, first_filter_doc; /* PM_NONE: there are none */
	struct pmfs_windows *windows;            /* NULL: profiles of this shape have none */
	struct pm_named_doc *own_docs;
	struct pm_collection *own_collections;
	bool has_windows; /* the last collection and the last document are theirs */

	struct pm_part sources; /* of source/: the list may require reading the whole profile */
	struct pm_part threads; /* struct pmfs_thread_paths */

	struct pmfs_presences presences;
	const char **context_reserved; /* names of a context's documents, ending with NULL */

	struct pmfs_unlisted
		*unlisted; /* names of this tree that are not listed; NULL: it has none */

	/* For the outermost tree: the spaces of items; see nested.c. */
	pthread_mutex_t spaces_lock;
	struct pm_map spaces_known;     /* node of the item → its space */
	struct pmfs_space *space_items; /* by space */
	uint32_t n_spaces;              /* number of spaces, including 0 */
	size_t room_spaces;
	/* Forgets what was kept of nodes: see pmfs_tree_set_purge. */
	pmfs_tree_purge_fn *purge;
	void *purge_context;
};

/*
 * A kind of directory. `check` gets a node of this kind with unverified indexes, and returns
 * -ENOENT if it does not exist; the other functions get nodes that have been checked.
 */
struct pmfs_dir {
	/* NULL: there is one directory of this kind, whose node is pmfs_node(kind, 0, 0). */
	int (*check)(struct pmfs_tree *t, pm_node dir, struct pm_error *err);
	int (*lookup)(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
		struct pmfs_entry *ret, struct pm_error *err);
	int (*next)(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
		struct pm_error *err);
	/* NULL: the root. */
	int (*parent)(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err);
};

extern const struct pmfs_dir pmfs_dir_root, pmfs_dir_export, pmfs_dir_contexts, pmfs_dir_context,
	pmfs_dir_context_metrics, pmfs_dir_by_id, pmfs_dir_by_id_context, pmfs_dir_functions,
	pmfs_dir_function, pmfs_dir_threads, pmfs_dir_thread_export, pmfs_dir_thread_raw,
	pmfs_dir_path, pmfs_dir_item, pmfs_dir_report, pmfs_dir_thread_windows,
	pmfs_dir_thread_filters;

/*
 * Directories list several parts one after the other: a cookie is part (8 bits) | position. If the
 * function of a part returns 0, the next part begins at position 0.
 */
static inline unsigned pmfs_cookie_part(uint64_t cookie)
{
	return (unsigned)(cookie >> 56);
}

static inline uint64_t pmfs_cookie_position(uint64_t cookie)
{
	return cookie & (((uint64_t)1 << 56) - 1);
}

static inline uint64_t pmfs_cookie(unsigned part, uint64_t position)
{
	return (uint64_t)part << 56 | position;
}

/* ---- state.c ---- */

/* A tree of its own, without names for entries. NULL if out of memory. */
struct pmfs_tree *pmfs_tree_make(const struct pmfs_dir *const *dirs, struct pmfs_model *model,
	struct pm_cache *cache, const struct pmfs_shape *shape);

/* The cache key of a directory: the node as seen from outside. */
int pmfs_tree_key(const struct pmfs_tree *t, pm_node dir, uint64_t *ret, struct pm_error *err);

/* Fills an entry; the name must be shorter than PMFS_NAME_SIZE. Returns 1. */
int pmfs_entry_fill(
	struct pmfs_entry *ret, struct pm_bytes name, pm_node node, enum pmfs_type type);

/* ---- views.c: the documents of a place ---- */

int pmfs_place_lookup(struct pmfs_tree *t, enum pmfs_place place, uint32_t item,
	struct pm_bytes name, struct pmfs_entry *ret, struct pm_error *err);
int pmfs_place_next(struct pmfs_tree *t, enum pmfs_place place, uint32_t item, uint64_t *position,
	struct pmfs_entry *ret, struct pm_error *err);
int pmfs_view_document(struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err);
/* Whether the item exists at this place. */
int pmfs_place_check(
	struct pmfs_tree *t, enum pmfs_place place, uint32_t item, struct pm_error *err);

/* ---- contexts.c ---- */

/* Gives the model the names of context directories. */
void pmfs_contexts_name_entries(struct pmfs_tree *t);

/* ---- documents of the other kinds ---- */

int pmfs_context_value_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err);
int pmfs_thread_doc_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err);
int pmfs_path_doc_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err);
int pmfs_item_doc_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err);
void pmfs_item_doc_release(struct pmfs_tree *t, pm_node node);

int pmfs_report_data_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err);

/* report/, which is not listed, for the root directory. */
int pmfs_report_root_lookup(struct pm_bytes name, struct pmfs_entry *ret);

/* Entries of the paths' root, for the root directory. */
int pmfs_paths_root_lookup(
	struct pmfs_tree *t, struct pm_bytes name, struct pmfs_entry *ret, struct pm_error *err);
int pmfs_paths_root_next(
	struct pmfs_tree *t, uint64_t *position, struct pmfs_entry *ret, struct pm_error *err);

/* source/, for the root directory. */
int pmfs_source_root_next(
	struct pmfs_tree *t, uint64_t *position, struct pmfs_entry *ret, struct pm_error *err);

/* Items of the collection in the directory `dir`: their number, by name, and by index. */
int pmfs_item_count(const struct pm_collection *c, uint32_t *ret, struct pm_error *err);
int pmfs_item_find(struct pmfs_tree *t, pm_node dir, const struct pm_collection *c,
	struct pm_bytes name, struct pmfs_entry *ret, struct pm_error *err);
int pmfs_item_entry(
	struct pmfs_tree *t, uint32_t collection, uint32_t item, struct pmfs_entry *ret);
int pmfs_item_get(struct pmfs_tree *t, pm_node dir, const struct pm_collection *c, uint32_t item,
	struct pmfs_entry *ret, struct pm_error *err);

/* An item that is a profile and has been opened; see nested.c. */
struct pmfs_nested {
	struct pm_cached cached;
	struct pm_profile *profile;
	struct pmfs_model *model;
	struct pmfs_tree *tree;    /* NULL if its shape has no tree */
	pm_node item;              /* its directory, as seen from outside */
	struct pmfs_nested *above; /* the profile of its collection; NULL: the outermost one */
	unsigned users; /* number of references: the cache, and those with it as `above` */
};

/* The item that a space has been given to; 0: none. */
static inline pm_node pmfs_space_item(struct pmfs_tree *top, uint32_t space)
{
	pthread_mutex_lock(&top->spaces_lock);
	pm_node item = space > 0 && space < top->n_spaces ? top->space_items[space].item : 0;
	pthread_mutex_unlock(&top->spaces_lock);
	return item;
}

/* Opens the item's profile if necessary. It is in use until it is released. */
int pmfs_nested_get(struct pmfs_tree *t, uint32_t collection, uint32_t item,
	struct pmfs_nested **ret, struct pm_error *err);
void pmfs_nested_release(struct pmfs_tree *t, struct pmfs_nested *n);

/* Releases it if it is in use, by its item or its space. */
void pmfs_nested_leave(struct pmfs_tree *t, uint32_t collection, uint32_t item);
void pmfs_nested_leave_space(struct pmfs_tree *top, uint32_t space);

/*
 * The tree of a node and the node within it, in use until pmfs_inside_leave. If it is not the
 * outermost tree, ->nested is the item that it belongs to.
 */
struct pmfs_inside {
	struct pmfs_tree *tree;
	pm_node node;
	struct pmfs_nested *nested;
};

int pmfs_inside_enter(
	struct pmfs_tree *top, pm_node node, struct pmfs_inside *ret, struct pm_error *err);
void pmfs_inside_leave(struct pmfs_tree *top, const struct pmfs_inside *in);

/* Converts a node within a tree to a node of the mount. */
int pmfs_inside_wrap(const struct pmfs_inside *in, pm_node *node, struct pm_error *err);

/* Entries of the root of an item's tree, as nodes of the mount; `item` is the item's directory. */
int pmfs_nested_lookup(struct pmfs_tree *t, pm_node item, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err);
int pmfs_nested_next(struct pmfs_tree *t, pm_node item, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err);

/* ---- lists.c ---- */

/* The format's documents and collections; fills t->paths and the fields after it. */
int pmfs_documents_get(struct pmfs_tree *t, struct pm_error *err);

/* The index of the collection windows/ in the lists. */
uint32_t pmfs_windows_number(const struct pmfs_tree *t);

/* The thread's windows/ or focus/ that contains this item: 1, or 0 if it is in that of the run. */
int pmfs_unlisted_parent(struct pmfs_tree *t, pm_node item, pm_node *ret);

/* The entry of a document of the lists, of which there is one in its directory: 1, or 0. */
int pmfs_document_entry(struct pmfs_tree *t, uint32_t document, struct pmfs_entry *ret);

/* ---- unlisted.c ---- */

/*
 * Gives the tree its list of names that are not listed: its own, or for the tree of an item the one
 * that its space has kept. Without it there are no windows. 0 or -ENOMEM.
 */
int pmfs_unlisted_open(struct pmfs_tree *t);

/* Accepts NULL. */
void pmfs_unlisted_free(struct pmfs_unlisted *u);

/* That list, once it is open. */
struct pm_unlisted *pmfs_unlisted_numbers(struct pmfs_tree *t);

/* The generation of an item that is not listed. */
uint32_t pmfs_unlisted_generation(struct pmfs_tree *t, uint32_t item);

/* Notes that a collection has such names: those that follow may, too, none before. */
void pmfs_unlisted_note(struct pmfs_tree *t, uint32_t collection);

/* ---- threads.c ---- */

/* The directory of thread `a` of a node. As pmfs_dir.parent. */
int pmfs_thread_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err);

/* -ENOENT without a message: the usual result for a wrong name or id. */
static inline int pmfs_no_entry(void)
{
	return -ENOENT;
}

/* ---- state.c: which columns of a context have values ---- */

/* `columns` are those of the tree's model. Thread-safe. */
int pmfs_presence_get(struct pmfs_tree *t, uint32_t context, const struct pmfs_columns *columns,
	struct pmfs_presence *ret, struct pm_error *err);

bool pmfs_presence_has(const struct pmfs_presence *p, uint32_t column);

#endif
