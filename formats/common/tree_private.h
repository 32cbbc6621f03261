/* Shared by the files of the tree only: tree_build.c, tree_freeze.c and tree.c. */
#ifndef PROFMOUNT_TREE_PRIVATE_H
#define PROFMOUNT_TREE_PRIVATE_H

#include "formats/common/tree.h"

/* A context that is being built. */
struct pm_tree_node {
	uint32_t parent, frame, number;
};

struct pm_tree_builder {
	struct pm_tree_node *contexts;
	size_t room;
	struct pm_map children; /* parent << 32 | frame → rank */

	struct pm_frame *frames;
	size_t frames_room;
	uint64_t *frame_slots; /* open addressing: hash << 32 | index + 1; 0 is free */
	uintptr_t frame_salt;
	size_t n_frame_slots;

	struct pm_function *functions;
	size_t functions_room;

	struct pm_strtab texts;
	struct pm_arena arena;

	uint32_t n, n_frames, n_functions;
	bool numbered; /* some context has a number */
	bool has_zero; /* one of them is a context: see struct pm_tree_extra */
	bool failed;   /* no memory, or too many items */
};

/* A tree with the memory behind its const pointers. */
struct pm_tree_frozen {
	struct pm_tree tree;     /* first: the two are converted into each other */
	uint32_t *arrays;        /* all arrays with one cell per context, one after the other */
	struct pm_frame *frames; /* like those of `tree` … */
	struct pm_function *functions;
	struct pm_strtab texts;
	struct pm_index *by_number;
	struct pm_arena arena; /* copied texts */
};

/*
 * An index over tree->number; `index` maps ranks to contexts of the tree. Of equal numbers the one
 * with the lowest rank is found; 0 is a number only `with_zero`. NULL if out of memory.
 */
struct pm_index *pm_index_new(const struct pm_tree *tree, const uint32_t *index, bool with_zero);

#endif
