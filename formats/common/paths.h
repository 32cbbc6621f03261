/*
 * Call paths: a trie whose nodes are paths and whose edges are keys. Keys are any numbers: methods,
 * labels, frames or names. It is for streams of calls, each of which takes a step from a path that
 * was reached a moment ago. Such a step usually costs one cache line, that of the path's first
 * children.
 *
 *	struct pm_paths p;
 *	if (pm_paths_init(&p, PM_LIMIT_CALL_PATHS) < 0)
 *		… no memory
 *	uint32_t outer = pm_paths_child(&p, PM_NONE, key_a);
 *	uint32_t inner = pm_paths_child(&p, outer, key_b);
 *
 * Paths are numbered from 0 in order of first use, so a parent's number is less than its children'.
 * Values of paths are kept by the user, in arrays by number. A path takes 40 to 62 bytes. Not
 * thread-safe: each thread builds its own trie, and they are joined.
 */
#ifndef PROFMOUNT_PATHS_H
#define PROFMOUNT_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/common/arena.h"

/* Returned instead of a path when the limit has been reached, also for children of this value. */
#define PM_PATHS_FULL (UINT32_MAX - 1)

struct pm_path {
	uint32_t parent; /* a path, or PM_NONE at the top */
	uint32_t key;
};

/* The first children of a path, and the one that was looked up last. PM_NONE: no child. */
enum { PM_PATHS_INLINE = 3 };

struct pm_path_children {
	uint32_t last_key, last;
	uint32_t key[PM_PATHS_INLINE], child[PM_PATHS_INLINE];
};

struct pm_paths {
	const struct pm_path *items; /* by number */
	uint32_t n;
	uint32_t most;
	/* Private: */
	struct pm_path_children *children; /* by number + 1; the top is first */
	size_t room;                       /* of items; children have one more */
	struct pm_path_slot *slots;        /* of children beyond the first */
	size_t n_slots, n_taken;
	struct pm_arena *arena; /* has all of it; NULL: pm_paths_done frees it */
};

/*
 * Initialises an empty trie of at most `most` paths, and at most PM_LIMIT_ITEMS. 0 or -ENOMEM. Free
 * with pm_paths_done.
 */
int pm_paths_init(struct pm_paths *p, uint32_t most);

/* The same in a build (arena.h), which fails in place of the functions that have no memory. */
void pm_paths_init_in(struct pm_arena *a, struct pm_paths *p, uint32_t most);

/* Accepts a zeroed trie; the trie is zeroed afterwards. */
void pm_paths_done(struct pm_paths *p);

/* Slow path of pm_paths_child: not the child that was looked up last. */
uint32_t pm_paths_find(struct pm_paths *p, uint32_t parent, uint32_t key);

/*
 * The child of `parent` (a path, or PM_NONE for the top) with this key, found or added;
 * PM_PATHS_FULL if that would exceed `most`, or if the parent is PM_PATHS_FULL; PM_NONE if out of
 * memory. The path is new if it equals the previous value of p->n. O(1), even for hostile keys.
 */
static inline uint32_t pm_paths_child(struct pm_paths *p, uint32_t parent, uint32_t key)
{
	if (parent == PM_PATHS_FULL)
		return PM_PATHS_FULL;
	const struct pm_path_children *children = &p->children[(size_t)(uint32_t)(parent + 1)];
	if (children->last_key == key && children->last != UINT32_MAX)
		return children->last;
	return pm_paths_find(p, parent, key);
}

/*
 * Adds the paths of `from` below `top` (a path, or PM_NONE), in their order: joining tries in the
 * order of their inputs gives the same numbers as a single trie built from all inputs, if each
 * input begins at the top. `keys[k]` is the key in `to` of key k of `from`; NULL: they are the
 * same. `ret_place[from->n]` receives the new number of each path, PM_PATHS_FULL if there is no
 * room. -ENOMEM, also if the work is cancelled; `to` then has some of the paths.
 */
int pm_paths_join(struct pm_paths *to, uint32_t top, const struct pm_paths *from,
	const uint32_t *keys, uint32_t *ret_place);

/*
 * Children as lists: first[p + 1] is the first child of path p, first[0] that of the top, next[k]
 * the sibling after k, by number; PM_NONE ends a list. `ret_first` has n + 1 items, `ret_next` n.
 * O(n).
 */
void pm_paths_link(const struct pm_paths *p, uint32_t *ret_first, uint32_t *ret_next);

#endif
