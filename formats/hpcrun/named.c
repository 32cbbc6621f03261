#include "formats/hpcrun/named.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"

/* NULL without memory. */
static struct hpcrun_named_module *module_of(
	struct hpcrun_named *n, uint32_t text, struct pm_bytes name)
{
	bool is_new;
	uint32_t *place = pm_map_put(&n->by_text, text, n->n, &is_new);
	if (!place)
		return NULL;
	if (!is_new)
		return &n->modules[*place];
	if (pm_list_room(&n->modules, n->n, &n->room, sizeof(*n->modules)) < 0)
		return NULL;
	struct hpcrun_named_module *m = &n->modules[n->n];
	*m = (struct hpcrun_named_module){NULL, NULL};
	n->n++;
	if (hpcrun_symbols_module(n->symbols, name, &m->scopes) < 0)
		return NULL;
	if (!m->scopes)
		return m;
	m->frames = malloc(((size_t)m->scopes->n + 1) * sizeof(*m->frames));
	if (!m->frames)
		return NULL;
	memset(m->frames, 0xff, (size_t)m->scopes->n * sizeof(*m->frames));
	return m;
}

static uint32_t text_of(
	struct pm_tree_builder *builder, const struct hpcrun_scopes *scopes, uint32_t text)
{
	return text ? pm_tree_text(builder, hpcrun_scopes_text_of(scopes, text), true) : 0;
}

/* Functions are what scopes say they are: two of the same name in one file stay two. */
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

int hpcrun_named_frames(struct hpcrun_named *n, struct pm_tree_builder *builder, uint32_t module,
	struct pm_bytes module_name, uint64_t address, uint32_t ret[HPCRUN_SCOPE_DEPTH_MAX])
{
	if (!n->symbols)
		return 0;
	struct hpcrun_named_module *m = module_of(n, module, module_name);
	if (!m)
		return -ENOMEM;
	uint32_t scope = m->scopes ? hpcrun_scopes_find(m->scopes, address) : UINT32_MAX;
	int depth = 0, at;
	for (uint32_t i = scope; i != UINT32_MAX && depth < HPCRUN_SCOPE_DEPTH_MAX; depth++)
		i = m->scopes->items[i].parent;
	at = depth;
	for (uint32_t i = scope; at > 0; i = m->scopes->items[i].parent) {
		if (m->frames[i] == PM_NONE)
			m->frames[i] = make_frame(builder, m->scopes, &m->scopes->items[i], module);
		if (m->frames[i] == PM_NONE)
			return -ENOMEM;
		ret[--at] = m->frames[i];
	}
	return depth;
}

void hpcrun_named_done(struct hpcrun_named *n)
{
	for (uint32_t i = 0; i < n->n; i++)
		free(n->modules[i].frames);
	free(n->modules);
	pm_map_done(&n->by_text);
	*n = (struct hpcrun_named){.symbols = NULL};
}
