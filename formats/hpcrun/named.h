/* What symbols say of a place, as frames of the tree: where the two meet. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_NAMED_H
#define PROFMOUNT_FORMATS_HPCRUN_NAMED_H

#include "formats/common/tree.h"
#include "formats/hpcrun/folder.h"
#include "formats/hpcrun/symbols/limits.h"
#include "formats/hpcrun/symbols/symbols.h"

/* Scopes, and the frames of those that were asked for. */
struct hpcrun_named_scopes {
	const struct hpcrun_scopes *scopes;
	uint32_t *frames; /* by scope; PM_NONE = not yet */
};

/* Zeroed but for `symbols`, which is the caller's (NULL: nothing has names). */
struct hpcrun_named {
	struct hpcrun_symbols *symbols;
	struct pm_map modules;    /* name among the tree's texts → number among the symbols */
	struct pm_map by_address; /* of scopes in memory → place in `items` */
	struct hpcrun_named_scopes *items;
	uint32_t n;
	size_t room;
};

/* Does a frame of that kind lie in the function of the place it is made for? */
static inline bool hpcrun_named_is_inner(uint8_t kind)
{
	return kind == PM_KIND_INLINED || kind == PM_KIND_LOOP || kind == PM_KIND_LINE;
}

/* Where names of a measurement come from. */
struct hpcrun_symbols_place hpcrun_named_place(const struct hpcrun_folder *folder);

/*
 * Fills `ret` with the frames of an address in the load module whose name has the index `module`
 * among the tree's texts, the outermost first: how many, 0 where nothing is known of it, or
 * -ENOMEM.
 */
int hpcrun_named_frames(struct hpcrun_named *n, struct pm_tree_builder *builder, uint32_t module,
	struct pm_bytes module_name, uint64_t address, uint32_t ret[HPCRUN_SCOPE_DEPTH_MAX]);

/* Also for a zeroed one. */
void hpcrun_named_done(struct hpcrun_named *n);

#endif
