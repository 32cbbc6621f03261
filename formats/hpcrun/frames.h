/*
 * What places become in the tree: a chain of frames, the outermost first. Without symbols it is one
 * frame, MODULE+0xOFFSET; with them the function, what was inlined there, loops, the line. A chain
 * depends on the place alone and is asked for once per place, from one thread, in the order in
 * which files name them. Different places may share frames: contexts of equal frames below one
 * parent are one context, whose costs are the sums of both.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_FRAMES_H
#define PROFMOUNT_FORMATS_HPCRUN_FRAMES_H

#include "formats/common/text.h"
#include "formats/common/tree.h"
#include "formats/hpcrun/named.h"
#include "formats/hpcrun/place.h"

/* Frames of the tree's builder, outermost first; at least one. Valid until the next is asked for.
 */
struct hpcrun_chain {
	const uint32_t *frames;
	uint32_t n;
};

/* Zeroed = empty; named.symbols is set by whoever has symbols. */
struct hpcrun_frames {
	struct hpcrun_named named;
	struct pm_strtab places; /* distinct (kind, module, ip) */
	uint32_t *starts; /* by place: of its chain in `frames`, which ends with the next's */
	uint32_t *frames;
	uint32_t n_frames;
	uint8_t *inner; /* by frame of the builder */
	size_t starts_room, frames_room, inner_room, n_inner;
	struct pm_arena arena;
	struct pm_text text;
};

/*
 * The chain of a place, made where it is new. `module` is the index of its module's name among the
 * tree's texts, `module_name` that name, as the load map has it; 0 and empty for places in none.
 * 0 or -ENOMEM.
 */
int hpcrun_frames_find(struct hpcrun_frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_place *place, uint32_t module, struct pm_bytes module_name,
	struct hpcrun_chain *ret);

/* The context at the end of a chain below `parent` (or PM_NONE), or PM_NONE without memory. */
uint32_t hpcrun_frames_descend(
	struct pm_tree_builder *builder, uint32_t parent, const struct hpcrun_chain *chain);

/* Is a frame inner to the function of its chain? Told by any chain that has it. */
bool hpcrun_frames_is_inner(const struct hpcrun_frames *f, uint32_t frame);

void hpcrun_frames_done(struct hpcrun_frames *f);

#endif
