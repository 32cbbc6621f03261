/*
 * Interns places. Every place is a function of its own: what lies between two addresses is not
 * known, since these files have no symbols.
 */
#include "formats/hpcrun/frames.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/hpcrun/names.h"

/* Placeholders by their pretty names, others as MODULE+0xOFFSET. */
static void compose_name(
	struct pm_text *out, const struct hpcrun_crop_node *node, struct pm_bytes module)
{
	pm_text_clear(out);
	if (node->kind == HPCRUN_PLACE_SPECIAL) {
		hpcrun_placeholder_name(out, node->module, node->ip);
		return;
	}
	const uint8_t *slash = module.len ? memrchr(module.p, '/', module.len) : NULL;
	const uint8_t *base = slash ? slash + 1 : module.p;
	pm_text_add(out, base, module.len - (size_t)(base - module.p));
	if (node->kind == HPCRUN_PLACE_UNKNOWN)
		pm_text_str(out, "(unknown)");
	pm_text_str(out, "+0x");
	pm_text_hex(out, node->ip, 1);
}

static uint32_t make_frame(struct hpcrun_frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_crop_node *node, uint32_t module, struct pm_bytes module_name)
{
	compose_name(&f->text, node, module_name);
	if (f->text.failed)
		return PM_NONE;
	uint32_t name = pm_tree_text(builder, pm_text_view(&f->text), true);
	struct pm_function function = {
		.name = name, .module = module, .id = PM_NONE, .offset = node->ip};
	struct pm_frame frame = {.kind = PM_KIND_INSTRUCTION,
		.has_offset = true,
		.function = pm_tree_function(builder, &function),
		.module = module,
		.offset = node->ip};
	if (node->kind != HPCRUN_PLACE_MODULE)
		frame.name = name; /* views name instructions of known modules alike */
	if (node->kind == HPCRUN_PLACE_SPECIAL) {
		frame.kind = PM_KIND_PLACEHOLDER;
		frame.is_idle = hpcrun_is_idle(node->module, node->ip);
	}
	return pm_tree_intern(builder, &frame);
}

uint32_t hpcrun_frames_find(struct hpcrun_frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_crop_node *node, uint32_t module, struct pm_bytes module_name)
{
	bool special = node->kind == HPCRUN_PLACE_SPECIAL;
	struct {
		uint64_t ip;
		uint32_t module, kind;
	} key = {node->ip, special ? node->module : module, node->kind};
	uint32_t known = f->places.n;
	f->places.arena = &f->arena;
	uint32_t place =
		pm_strtab_add(&f->places, (struct pm_bytes){(const uint8_t *)&key, sizeof(key)});
	if (place == PM_NONE || place < known)
		return place == PM_NONE ? PM_NONE : f->frames[place];
	if (pm_list_room(&f->frames, place, &f->room, sizeof(*f->frames)) < 0)
		return PM_NONE;
	f->frames[place] = make_frame(f, builder, node, module, module_name);
	return f->frames[place];
}

void hpcrun_frames_done(struct hpcrun_frames *f)
{
	pm_strtab_done(&f->places);
	pm_arena_done(&f->arena);
	pm_text_done(&f->text);
	free(f->frames);
	*f = (struct hpcrun_frames){.frames = NULL};
}
