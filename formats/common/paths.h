/*
 * Call paths: a trie whose nodes are paths and whose edges are keys. Keys are any numbers: methods,
 * labels, frames or names. It is for streams of calls, each of which takes a step from a path that
 * was reached a moment ago. Such a step usually costs one cache line, that of the path's first
 *kids.
 *
 *	struct pm_paths p;
 *	if (pm_paths_init(&p, PM_LIMIT_CALL_PATHS) < 0)
 *		… no memory
 *	uint32_t outer = pm_paths_child(&p, PM_NONE, key_a);
 *	uint32_t inner = pm_paths_child(&p, outer, key_b);
 *
 * Paths are numbered from 0 in order of first use, so a parent's number is less than its kids'.
 * What is measured of a path is its owner's, in arrays by number. A path takes 40 to 62 bytes. Not
 * for use by several threads at once: each builds its own, and they are joined.
 */
#ifndef PROFMOUNT_PATHS_H
#define PROFMOUNT_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "profmount/bytes.h"

/* Instead of a path: there are as many as there may be. Its kids are the same. */
#define PM_PATHS_FULL (UINT32_MAX - 1)

struct pm_path {
	uint32_t parent; /* a path, or PM_NONE at the top */
	uint32_t key;
};

/* The first kids of a path, and the one that was last asked for. PM_NONE: no kid. */
enum { PM_PATHS_INLINE = 3 };

struct pm_path_kids {
	uint32_t last_key, last;
	uint32_t key[PM_PATHS_INLINE], kid[PM_PATHS_INLINE];
};

struct pm_paths {
	const struct pm_path *items; /* by number */
	uint32_t n;
	uint32_t most;
	/* The trie's own: */
	struct pm_path_kids *kids;  /* by number + 1: the top is the first */
	size_t room;                /* of items; kids have one more */
	struct pm_path_slot *slots; /* of kids beyond the first */
	size_t n_slots, n_taken;
};

/* An empty trie of at most `most` paths, but PM_LIMIT_ITEMS. -ENOMEM; ends with pm_paths_done. */
int pm_paths_init(struct pm_paths *p, uint32_t most);

/* Accepts a zeroed one and leaves one. */
void pm_paths_done(struct pm_paths *p);

/* pm_paths_child, where it is not the kid that was last asked for. */
uint32_t pm_paths_find(struct pm_paths *p, uint32_t parent, uint32_t key);

/*
 * The path that `key` leads to from `parent` (a path, or PM_NONE for the top), found or added;
 * PM_PATHS_FULL instead of a path beyond `most`, and below PM_PATHS_FULL; PM_NONE without memory.
 * It is new where it equals what p->n was before. O(1), whatever keys the input chooses.
 */
static inline uint32_t pm_paths_child(struct pm_paths *p, uint32_t parent, uint32_t key)
{
	if (parent == PM_PATHS_FULL)
		return PM_PATHS_FULL;
	const struct pm_path_kids *kids = &p->kids[(size_t)(uint32_t)(parent + 1)];
	if (kids->last_key == key && kids->last != UINT32_MAX)
		return kids->last;
	return pm_paths_find(p, parent, key);
}

/*
 * Adds the paths of `from` below `top` (a path, or PM_NONE), in their order: joining tries in the
 * order of what they were built from gives the same numbers as one that is built of all, if each
 * part begins at the top. `keys[k]` is the key in `to` of key k of `from`; NULL: they are the same.
 * `ret_place`, of from->n, receives where each path is now, PM_PATHS_FULL where there is no room.
 * -ENOMEM, also where the work is cancelled: `to` has some of them then.
 */
int pm_paths_join(struct pm_paths *to, uint32_t top, const struct pm_paths *from,
	const uint32_t *keys, uint32_t *ret_place);

/*
 * Kids as lists: first[p + 1] is the first kid of path p, first[0] that of the top, next[k] the kid
 * behind k, by number; PM_NONE ends a list. `ret_first` has n + 1 items, `ret_next` n. O(n).
 */
void pm_paths_link(const struct pm_paths *p, uint32_t *ret_first, uint32_t *ret_next);

#endif
