/* The frames of the merged tree: one for each place in a load module that any file knows. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_FRAMES_H
#define PROFMOUNT_FORMATS_HPCRUN_FRAMES_H

#include "formats/common/text.h"
#include "formats/common/tree.h"
#include "formats/hpcrun/harvest.h"

/* Zeroed = empty. */
struct hpcrun_frames {
	struct pm_strtab places; /* distinct (kind, module, ip) */
	uint32_t *frames;        /* by place */
	size_t room;
	struct pm_arena arena;
	struct pm_text text;
};

/*
 * The frame of a node, made with its function where it is new. `module_name` has the index
 * `module` among the tree's texts. PM_NONE without memory.
 */
uint32_t hpcrun_frames_find(struct hpcrun_frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_crop_node *node, uint32_t module, struct pm_bytes module_name);

void hpcrun_frames_done(struct hpcrun_frames *f);

#endif
