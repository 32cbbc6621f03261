#include "formats/hpcrun/named.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/hpcrun/facts.h"

struct hpcrun_symbols_place hpcrun_named_place(const struct hpcrun_folder *folder)
{
	struct hpcrun_symbols_place place = {.folder = folder->fd,
		.elsewhere = &folder->elsewhere,
		.program = hpcrun_program_find(folder)};
	for (uint32_t i = 0; i < folder->n; i++)
		if (folder->sources[i].profile.mtime_ns > place.written_ns)
			place.written_ns = folder->sources[i].profile.mtime_ns;
	return place;
}

/* NULL if out of memory. */
static uint32_t *frames_of(struct hpcrun_named *n, const struct hpcrun_scopes *scopes)
{
	bool is_new;
	uint32_t *place = pm_map_put(&n->by_address, (uintptr_t)scopes, n->n, &is_new);
	if (!place || !is_new)
		return place ? n->items[*place].frames : NULL;
	if (pm_list_room(&n->items, n->n, &n->room, sizeof(*n->items)) < 0)
		return NULL;
	uint32_t *frames = malloc(((size_t)scopes->n + 1) * sizeof(*frames));
	if (frames)
		memset(frames, 0xff, (size_t)scopes->n * sizeof(*frames));
	n->items[n->n++] = (struct hpcrun_named_scopes){scopes, frames};
	return frames;
}

static uint32_t text_of(
	struct pm_tree_builder *builder, const struct hpcrun_scopes *scopes, uint32_t text)
{
	return text ? pm_tree_text(builder, hpcrun_scopes_text_of(scopes, text), true) : 0;
}

/* Functions are identified by their scopes: two of the same name in one file stay two. */
static uint32_t make_frame(struct pm_tree_builder *builder, const struct hpcrun_scopes *scopes,
	const struct hpcrun_scope *scope, uint32_t module)
{
	static const uint8_t kinds[] = {
		[HPCRUN_SCOPE_FUNCTION] = PM_KIND_FUNCTION,
		[HPCRUN_SCOPE_INLINED] = PM_KIND_INLINED,
		[HPCRUN_SCOPE_LOOP] = PM_KIND_LOOP,
		[HPCRUN_SCOPE_LINE] = PM_KIND_LINE,
	};
	struct pm_frame frame = {.kind = kinds[scope->kind],
		.function = PM_NONE,
		.name = text_of(builder, scopes, scope->name),
		.file = text_of(builder, scopes, scope->file),
		.module = scope->kind == HPCRUN_SCOPE_LINE ? 0 : module,
		.line = scope->line,
		.offset = scope->offset};
	frame.has_offset = scope->kind == HPCRUN_SCOPE_FUNCTION || scope->kind == HPCRUN_SCOPE_LOOP;
	if (frame.name == PM_NONE || frame.file == PM_NONE)
		return PM_NONE;
	if (scope->kind == HPCRUN_SCOPE_LOOP || scope->kind == HPCRUN_SCOPE_LINE)
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

static int find_module(
	struct hpcrun_named *n, uint32_t module, struct pm_bytes module_name, uint32_t *ret)
{
	const uint32_t *known = pm_map_find(&n->modules, module);
	if (known) {
		*ret = *known;
		return 0;
	}
	bool fresh;
	int r = hpcrun_symbols_module(n->symbols, module_name, ret);
	return r == 0 && !pm_map_put(&n->modules, module, *ret, &fresh) ? -ENOMEM : r;
}

int hpcrun_named_frames(struct hpcrun_named *n, struct pm_tree_builder *builder, uint32_t module,
	struct pm_bytes module_name, uint64_t address, uint32_t ret[HPCRUN_SCOPE_DEPTH_MAX])
{
	if (!n->symbols)
		return 0;
	const struct hpcrun_scopes *scopes;
	uint32_t scope, number, *frames;
	int r = find_module(n, module, module_name, &number);
	if (r == 0)
		r = hpcrun_symbols_find(n->symbols, number, address, &scopes, &scope);
	if (r < 0 || !scopes)
		return r;
	frames = frames_of(n, scopes);
	if (!frames)
		return -ENOMEM;
	int depth = 0, at;
	for (uint32_t i = scope; i != UINT32_MAX && depth < HPCRUN_SCOPE_DEPTH_MAX; depth++)
		i = scopes->items[i].parent;
	at = depth;
	for (uint32_t i = scope; at > 0; i = scopes->items[i].parent) {
		if (frames[i] == PM_NONE)
			frames[i] = make_frame(builder, scopes, &scopes->items[i], module);
		if (frames[i] == PM_NONE)
			return -ENOMEM;
		ret[--at] = frames[i];
	}
	return depth;
}

void hpcrun_named_done(struct hpcrun_named *n)
{
	for (uint32_t i = 0; i < n->n; i++)
		free(n->items[i].frames);
	free(n->items);
	pm_map_done(&n->modules);
	pm_map_done(&n->by_address);
	*n = (struct hpcrun_named){.symbols = NULL};
}
