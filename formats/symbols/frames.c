/* What symbols say of a place, as frames of the tree. */
#include "formats/symbols/internal.h"

#include <errno.h>
#include <string.h>

#include "formats/common/list.h"

static uint32_t *frames_of(struct sym_frames *f, const struct sym_scopes *scopes)
{
	bool is_new;
	uint32_t *place = pm_map_put(&f->by_address, (uintptr_t)scopes, f->n, &is_new);
	if (!is_new)
		return f->frames[*place];
	size_t bytes = (size_t)scopes->n * sizeof(**f->frames);
	pm_list_grow(f->by_address.arena, &f->frames, f->n, &f->room, sizeof(*f->frames));
	return f->frames[f->n++] = memset(pm_arena_alloc(f->by_address.arena, bytes), 0xff, bytes);
}

static uint32_t text_of(
	struct pm_tree_builder *builder, const struct sym_scopes *scopes, uint32_t text)
{
	return text ? pm_tree_text(builder, sym_scopes_text_of(scopes, text), true) : 0;
}

/* Functions are identified by their scopes: two of the same name in one file stay two. */
static uint32_t make_frame(struct pm_tree_builder *builder, const struct sym_scopes *scopes,
	const struct sym_scope *scope, uint32_t module)
{
	static const uint8_t kinds[] = {
		[SYM_SCOPE_FUNCTION] = PM_KIND_FUNCTION,
		[SYM_SCOPE_INLINED] = PM_KIND_INLINED,
		[SYM_SCOPE_LOOP] = PM_KIND_LOOP,
		[SYM_SCOPE_LINE] = PM_KIND_LINE,
	};
	struct pm_frame frame = {.kind = kinds[scope->kind],
		.function = PM_NONE,
		.name = text_of(builder, scopes, scope->name),
		.file = text_of(builder, scopes, scope->file),
		.module = scope->kind == SYM_SCOPE_LINE ? 0 : module,
		.line = scope->line,
		.offset = scope->offset};
	frame.has_offset = scope->kind == SYM_SCOPE_FUNCTION || scope->kind == SYM_SCOPE_LOOP;
	if (scope->kind == SYM_SCOPE_LOOP || scope->kind == SYM_SCOPE_LINE)
		return pm_tree_intern(builder, &frame);
	struct pm_function function = {.name = frame.name,
		.file = frame.file,
		.module = module,
		.line = scope->line,
		.id = PM_NONE,
		.offset = scope->offset};
	frame.function = pm_tree_function(builder, &function);
	return pm_tree_intern(builder, &frame);
}

int sym_frames_find(struct sym_frames *f, struct pm_tree_builder *builder, uint32_t module,
	uint32_t module_text, uint64_t address, uint32_t ret[SYM_SCOPE_DEPTH_MAX])
{
	const struct sym_scopes *scopes;
	struct pm_arena *a = f->by_address.arena;
	uint32_t scope;
	int depth = 0;
	pm_build_check(a, sym_names_find(f->names, module, address, &scopes, &scope));
	if (!scopes)
		return 0;
	uint32_t *frames = frames_of(f, scopes);
	for (uint32_t i = scope; i != UINT32_MAX && depth < SYM_SCOPE_DEPTH_MAX; depth++)
		i = scopes->items[i].parent;
	int at = depth;
	for (uint32_t i = scope; at > 0; i = scopes->items[i].parent) {
		if (frames[i] == PM_NONE)
			frames[i] = make_frame(builder, scopes, &scopes->items[i], module_text);
		pm_build_check(a, frames[i] == PM_NONE ? -ENOMEM : 0);
		ret[--at] = frames[i];
	}
	return depth;
}
