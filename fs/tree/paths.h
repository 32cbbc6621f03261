/*
 * A small directory tree built from paths: the format's own documents, and the key=value levels of
 * threads/. Const once built.
 */
#ifndef PROFMOUNT_FS_TREE_PATHS_H
#define PROFMOUNT_FS_TREE_PATHS_H

#include "formats/common/map.h"
#include "profmount/profile.h"

/* The kind of a path; a node without a payload is a plain folder. */
enum pmfs_payload {
	PMFS_PAYLOAD_NONE,
	PMFS_PAYLOAD_DOCUMENT,   /* index of a document of the format */
	PMFS_PAYLOAD_SOURCE,     /* index of a source file */
	PMFS_PAYLOAD_ANNOTATED,  /* the same source file, annotated */
	PMFS_PAYLOAD_COLLECTION, /* index of a collection: its items are the entries */
	PMFS_PAYLOAD_THREAD,     /* index of a thread; also a folder */
};

struct pmfs_path {
	struct pm_bytes name; /* name of this level; part of the path that was added */
	uint32_t parent;      /* PM_NONE for the root, which is node 0 */
	uint32_t first, n;    /* children in order of addition: paths.order[first … first + n) */
	enum pmfs_payload payload;
	uint32_t index; /* of the payload */
};

struct pmfs_paths {
	struct pmfs_path *nodes; /* nodes[0]: the root */
	uint32_t n;
	size_t room;
	uint32_t *order;        /* children by node, in order of addition */
	uint32_t *sorted;       /* the same, with each node's children sorted by name */
	struct pm_map found;    /* while building: hash of parent and name → node */
	struct pm_arena *arena; /* of the build, which has all of it */
};

/* Without paths. */
struct pmfs_paths pmfs_paths_in(struct pm_arena *a);

/*
 * Adds `path` (a/b/c; it must outlive the tree) with its payload, or a plain folder without one.
 * False if the path has a payload already, which is kept.
 */
bool pmfs_paths_add(
	struct pmfs_paths *paths, const char *path, enum pmfs_payload payload, uint32_t index);

/* Call once after all paths have been added. */
void pmfs_paths_freeze(struct pmfs_paths *paths);

/* The child with this name, or PM_NONE. O(log n). */
uint32_t pmfs_paths_find(const struct pmfs_paths *paths, uint32_t node, struct pm_bytes name);

/* The k-th child of a node, k < n. */
static inline uint32_t pmfs_paths_child(const struct pmfs_paths *paths, uint32_t node, uint32_t k)
{
	return paths->order[paths->nodes[node].first + k];
}

#endif
