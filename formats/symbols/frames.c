/* What symbols say of a place, as frames of the tree. */
#include "formats/symbols/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"

/* NULL if out of memory. */
static uint32_t *frames_of(struct sym_frames *f, const struct sym_scopes *scopes)
{
	bool is_new;
	uint32_t *place = pm_map_put(&f->by_address, (uintptr_t)scopes, f->n, &is_new);
	if (!place || !is_new)
		return place ? f->items[*place].frames : NULL;
	if (pm_list_room(&f->items, f->n, &f->room, sizeof(*f->items)) < 0)
		return NULL;
	uint32_t *frames = malloc(((size_t)scopes->n + 1) * sizeof(*frames));
	if (frames)
		memset(frames, 0xff, (size_t)scopes->n * sizeof(*frames));
	f->items[f->n++] = (struct sym_frames_of_scopes){scopes, frames};
	return frames;
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
	if (frame.name == PM_NONE || frame.file == PM_NONE)
		return PM_NONE;
	if (scope->kind == SYM_SCOPE_LOOP || scope->kind == SYM_SCOPE_LINE)
		return pm_tree_intern(builder, &frame);
	struct pm_function function = {.name = frame.name,
		.file = frame.file,
		.module = module,
		.line = scope->line,
		.id = PM_NONE,
		.offset = scope->offset};
	frame.function = pm_tree_function(builder, &function);
	return frame.function == PM_NONE ? PM_NONE : pm_tree_intern(builder, &frame);
}

int sym_frames_find(struct sym_frames *f, struct pm_tree_builder *builder, uint32_t module,
	uint32_t module_text, uint64_t address, uint32_t ret[SYM_SCOPE_DEPTH_MAX])
{
	if (!f->names)
		return 0;
	const struct sym_scopes *scopes;
	uint32_t scope, *frames;
	int r = sym_names_find(f->names, module, address, &scopes, &scope);
	if (r < 0 || !scopes)
		return r;
	frames = frames_of(f, scopes);
	if (!frames)
		return -ENOMEM;
	int depth = 0, at;
	for (uint32_t i = scope; i != UINT32_MAX && depth < SYM_SCOPE_DEPTH_MAX; depth++)
		i = scopes->items[i].parent;
	at = depth;
	for (uint32_t i = scope; at > 0; i = scopes->items[i].parent) {
		if (frames[i] == PM_NONE)
			frames[i] = make_frame(builder, scopes, &scopes->items[i], module_text);
		if (frames[i] == PM_NONE)
			return -ENOMEM;
		ret[--at] = frames[i];
	}
	return depth;
}

void sym_frames_done(struct sym_frames *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		free(f->items[i].frames);
	free(f->items);
	pm_map_done(&f->by_address);
	*f = (struct sym_frames){.names = NULL};
}
