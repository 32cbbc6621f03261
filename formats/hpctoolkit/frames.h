/* Converts context records to frames of the tree, with their functions and texts. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_FRAMES_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_FRAMES_H

#include "formats/common/text.h"
#include "formats/common/tree.h"
#include "formats/hpctoolkit/meta.h"

/* Maps rows of meta.db's tables to items of the tree. */
struct hpctk_frames {
	struct hpctk_opened *db;
	struct pm_tree_builder *builder;
	struct pm_damage_list *damage;
	uint32_t *module_text, *source_text; /* by row; 0 = not yet known, or empty */
	uint32_t *function;                  /* of the tree, by row; PM_NONE = not yet known */
	uint32_t *frame, *inlined_frame;     /* of functions, by row; PM_NONE = not yet known */
	struct hpctk_lengths lengths;
	struct pm_text name; /* of a function, demangled */
};

/* 0 or -ENOMEM; hpctk_frames_done in either case. */
int hpctk_frames_init(struct hpctk_frames *f, struct hpctk_opened *db,
	struct pm_tree_builder *builder, struct pm_damage_list *damage);

/*
 * The frame of the record at `at`: a function has the place of its definition, everything else its
 * own place. Invalid pointers are added to `damage`. PM_NONE if out of memory.
 */
uint32_t hpctk_frame_of(
	struct hpctk_frames *f, const struct hpctk_context_record *record, uint64_t at);

void hpctk_frames_done(struct hpctk_frames *f);

#endif
