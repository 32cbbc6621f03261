/*
 * Converts places to chains of frames in the tree, outermost first. Without symbols a chain is one
 * frame, MODULE+0xOFFSET; with symbols it is the function, inlined functions, loops and the line. A
 * chain depends only on the place, and is requested once per place, by one thread, in the order of
 * the files. Different places may share frames: siblings with equal frames are one context with the
 * sums of their costs.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_FRAMES_H
#define PROFMOUNT_FORMATS_HPCRUN_FRAMES_H

#include "formats/common/text.h"
#include "formats/common/tree.h"
#include "formats/hpcrun/place.h"
#include "formats/symbols/symbols.h"

/* Frames of the tree's builder, outermost first; at least one. Valid until the next call. */
struct hpcrun_chain {
	const uint32_t *frames;
	uint32_t n;
};

/* Zeroed = empty; set named.names if there are symbols. */
struct hpcrun_frames {
	struct sym_frames named;
	struct pm_map modules;   /* name among the tree's texts → number among the symbols */
	struct pm_strtab places; /* distinct (kind, module, ip) */
	uint32_t *starts; /* by place: start of its chain in `frames`, which ends where the next one
			     starts */
	uint32_t *frames;
	uint32_t n_frames;
	uint8_t *inner; /* by frame of the builder */
	size_t starts_room, frames_room, inner_room, n_inner;
	struct pm_arena arena;
	struct pm_text text;
};

/*
 * The chain of a place, created if new. `module` is the index of its module's name among the tree's
 * texts, `module_name` the name from the load map; 0 and empty for places without a module. 0 or
 * -ENOMEM.
 */
int hpcrun_frames_find(struct hpcrun_frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_place *place, uint32_t module, struct pm_bytes module_name,
	struct hpcrun_chain *ret);

/* The context at the end of a chain below `parent` (or PM_NONE); PM_NONE if out of memory. */
uint32_t hpcrun_frames_descend(
	struct pm_tree_builder *builder, uint32_t parent, const struct hpcrun_chain *chain);

/* Whether a frame is inside the function of its chain; the same for all chains with this frame. */
bool hpcrun_frames_is_inner(const struct hpcrun_frames *f, uint32_t frame);

void hpcrun_frames_done(struct hpcrun_frames *f);

#endif
