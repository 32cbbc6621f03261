/* Names of frames in tables and texts. Legal directory names are made by fs/tree. */
#include "fs/views/model/model.h"

#include <string.h>

#include "profmount/limits.h"

struct pm_bytes pmfs_base_name(struct pm_bytes path)
{
	if (path.len > PM_LIMIT_BASE_NAME) {
		path.p += path.len - PM_LIMIT_BASE_NAME;
		path.len = PM_LIMIT_BASE_NAME;
		while (path.len > 0 && (*path.p & 0xc0) == 0x80) { /* the rest of a character */
			path.p++;
			path.len--;
		}
	}
	const uint8_t *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;
	if (!slash || (slash == path.p + 1 && path.p[0] == '/')) /* memory (`//anon`) is no path */
		return path;
	size_t skipped = (size_t)(slash + 1 - path.p);
	return (struct pm_bytes){slash + 1, path.len - skipped};
}

/* The part of the scratch that was added since it was `from` bytes long. */
static struct pm_bytes added(const struct pm_text *scratch, size_t from)
{
	struct pm_bytes all = pm_text_view(scratch);
	if (scratch->failed || all.len <= from)
		return (struct pm_bytes){NULL, 0};
	return (struct pm_bytes){all.p + from, all.len - from};
}

static struct pm_bytes place_name(const struct pm_tree *tree, const struct pm_frame *frame,
	const char *before, struct pm_text *scratch)
{
	size_t from = scratch->len;
	pm_text_str(scratch, before);
	pm_text_bytes(scratch, pmfs_base_name(tree->texts[frame->file]));
	pm_text_char(scratch, ':');
	pm_text_u64(scratch, frame->line);
	return added(scratch, from);
}

static struct pm_bytes instruction_name(
	const struct pm_tree *tree, const struct pm_frame *frame, struct pm_text *scratch)
{
	struct pm_bytes module = pmfs_base_name(tree->texts[frame->module]);
	size_t from = scratch->len;
	if (!frame->has_offset)
		return module;
	pm_text_bytes(scratch, module);
	pm_text_str(scratch, "+0x");
	pm_text_hex(scratch, frame->offset, 1);
	return added(scratch, from);
}

struct pm_bytes pmfs_frame_name(
	const struct pm_tree *tree, const struct pm_frame *frame, struct pm_text *scratch)
{
	if (frame->name != 0)
		return tree->texts[frame->name];
	switch ((enum pm_kind)frame->kind) {
	case PM_KIND_LOOP: return place_name(tree, frame, "loop@", scratch);
	case PM_KIND_LINE: return place_name(tree, frame, "", scratch);
	case PM_KIND_INSTRUCTION: return instruction_name(tree, frame, scratch);
	case PM_KIND_ENTRY:
	case PM_KIND_FUNCTION:
	case PM_KIND_INLINED:
	case PM_KIND_PLACEHOLDER:
	case PM_KIND_OTHER: break;
	}
	return tree->texts[0];
}

struct pm_bytes pmfs_frame_kind(const struct pm_frame *frame, struct pm_text *scratch)
{
	static const char *const names[] = {
		[PM_KIND_ENTRY] = "entry",
		[PM_KIND_FUNCTION] = "function",
		[PM_KIND_INLINED] = "inlined",
		[PM_KIND_LOOP] = "loop",
		[PM_KIND_LINE] = "line",
		[PM_KIND_INSTRUCTION] = "instruction",
		[PM_KIND_PLACEHOLDER] = "placeholder",
	};
	if (frame->kind < PM_KIND_OTHER)
		return pm_bytes_of(names[frame->kind]);
	size_t from = scratch->len;
	pm_text_u64(scratch, frame->code);
	return added(scratch, from);
}
