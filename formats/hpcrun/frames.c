/*
 * Interns places. A place without a name is a function of its own, because the extent of its
 * function is unknown.
 */
#include "formats/hpcrun/frames.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/hpcrun/names.h"
#include "profmount/limits.h"

/* Placeholders by their readable names, others as MODULE+0xOFFSET. */
static void compose_name(
	struct pm_text *out, const struct hpcrun_place *place, struct pm_bytes module)
{
	pm_text_clear(out);
	if (place->kind == HPCRUN_PLACE_SPECIAL) {
		hpcrun_placeholder_name(out, place->module, place->ip);
		return;
	}
	/* Each address has a name of its own: as in views, the end of a long one is shown. */
	if (module.len > PM_LIMIT_BASE_NAME) {
		module.p += module.len - PM_LIMIT_BASE_NAME;
		module.len = PM_LIMIT_BASE_NAME;
	}
	const uint8_t *slash = module.len ? memrchr(module.p, '/', module.len) : NULL;
	const uint8_t *base = slash ? slash + 1 : module.p;
	pm_text_add(out, base, module.len - (size_t)(base - module.p));
	if (place->kind == HPCRUN_PLACE_UNKNOWN)
		pm_text_str(out, "(unknown)");
	pm_text_str(out, "+0x");
	pm_text_hex(out, place->ip, 1);
}

static uint32_t make_frame(struct hpcrun_frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_place *place, uint32_t module, struct pm_bytes module_name)
{
	compose_name(&f->text, place, module_name);
	if (f->text.failed)
		return PM_NONE;
	uint32_t name = pm_tree_text(builder, pm_text_view(&f->text), true);
	struct pm_function function = {
		.name = name, .module = module, .id = PM_NONE, .offset = place->ip};
	struct pm_frame frame = {.kind = PM_KIND_INSTRUCTION,
		.has_offset = true,
		.function = pm_tree_function(builder, &function),
		.module = module,
		.offset = place->ip};
	if (place->kind != HPCRUN_PLACE_MODULE)
		frame.name = name; /* views name instructions in known modules in the same way */
	if (place->kind == HPCRUN_PLACE_SPECIAL) {
		frame.kind = PM_KIND_PLACEHOLDER;
		frame.is_idle = hpcrun_is_idle(place->module, place->ip);
		frame.is_nothing = hpcrun_is_nothing(place->module, place->ip);
		frame.is_root = hpcrun_is_root(place->module, place->ip);
	}
	return pm_tree_intern(builder, &frame);
}

/* Adds a frame to the chain under construction; it is the last one. */
static int add_frame(struct hpcrun_frames *f, uint32_t frame)
{
	if (frame == PM_NONE ||
		pm_list_room(&f->frames, f->n_frames, &f->frames_room, sizeof(*f->frames)) < 0)
		return -ENOMEM;
	f->frames[f->n_frames++] = frame;
	return 0;
}

static int note_inner(struct hpcrun_frames *f, uint32_t frame, bool inner)
{
	for (; f->n_inner <= frame; f->n_inner++) {
		if (pm_list_room(&f->inner, f->n_inner, &f->inner_room, sizeof(*f->inner)) < 0)
			return -ENOMEM;
		f->inner[f->n_inner] = false;
	}
	f->inner[frame] |= inner;
	return 0;
}

bool hpcrun_frames_is_inner(const struct hpcrun_frames *f, uint32_t frame)
{
	return frame < f->n_inner && f->inner[frame];
}

/* The frames of an address that symbols know of: how many, 0, or -ENOMEM. */
static int find_named(struct hpcrun_frames *f, struct pm_tree_builder *builder, uint32_t module,
	struct pm_bytes module_name, uint64_t ip, uint32_t ret[SYM_SCOPE_DEPTH_MAX])
{
	if (!f->named.names)
		return 0;
	bool fresh;
	uint32_t *number = pm_map_put(&f->modules, module, 0, &fresh);
	if (!number)
		return -ENOMEM;
	const struct sym_module described = {.path = module_name};
	int r = fresh ? sym_names_module(f->named.names, &described, number) : 0;
	return r < 0 ? r : sym_frames_find(&f->named, builder, *number, module, ip, ret);
}

static int make_chain(struct hpcrun_frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_place *place, uint32_t module, struct pm_bytes module_name)
{
	uint32_t frames[SYM_SCOPE_DEPTH_MAX];
	int n = 0, r = 0;
	if (place->kind == HPCRUN_PLACE_MODULE)
		n = find_named(f, builder, module, module_name, place->ip, frames);
	if (n == 0)
		return add_frame(f, make_frame(f, builder, place, module, module_name));
	for (int i = 0; i < n && r == 0; i++)
		if ((r = add_frame(f, frames[i])) == 0)
			r = note_inner(f, frames[i], i > 0); /* the first frame is the function */
	return n < 0 ? n : r;
}

int hpcrun_frames_find(struct hpcrun_frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_place *place, uint32_t module, struct pm_bytes module_name,
	struct hpcrun_chain *ret)
{
	bool special = place->kind == HPCRUN_PLACE_SPECIAL;
	struct {
		uint64_t ip;
		uint32_t module, kind;
	} key = {place->ip, special ? place->module : module, place->kind};
	uint32_t known = f->places.n;
	f->places.arena = &f->arena;
	uint32_t i =
		pm_strtab_add(&f->places, (struct pm_bytes){(const uint8_t *)&key, sizeof(key)});
	if (i == PM_NONE)
		return -ENOMEM;
	if (i == known) {
		if (pm_list_room(&f->starts, i, &f->starts_room, sizeof(*f->starts)) < 0)
			return -ENOMEM;
		f->starts[i] = f->n_frames;
		if (make_chain(f, builder, place, module, module_name) < 0)
			return -ENOMEM;
	}
	uint32_t end = i + 1 < f->places.n ? f->starts[i + 1] : f->n_frames;
	*ret = (struct hpcrun_chain){f->frames + f->starts[i], end - f->starts[i]};
	return 0;
}

uint32_t hpcrun_frames_descend(
	struct pm_tree_builder *builder, uint32_t parent, const struct hpcrun_chain *chain)
{
	for (uint32_t i = 0; i < chain->n; i++) {
		parent = pm_tree_child(builder, parent, chain->frames[i]);
		if (parent == PM_NONE)
			break;
	}
	return parent;
}

void hpcrun_frames_done(struct hpcrun_frames *f)
{
	pm_strtab_done(&f->places);
	pm_arena_done(&f->arena);
	pm_text_done(&f->text);
	sym_frames_done(&f->named);
	pm_map_done(&f->modules);
	free(f->inner);
	free(f->starts);
	free(f->frames);
	*f = (struct hpcrun_frames){.frames = NULL};
}
