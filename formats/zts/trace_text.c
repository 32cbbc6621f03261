/* tree.txt and exception.txt: a trace as readable text. */
#include "formats/zts/names.h"
#include "formats/zts/parts.h"
#include "profmount/limits.h"

/* Deeper calls are indented like those of this depth, with their depth in front. */
enum { DEEPEST_INDENT = 100 };

/* The share and the duration in front of a call. */
enum { NUMBERS_WIDTH = 25 };

/* The part of a line in front of a name, for calls of that depth. */
static void write_indent(uint32_t depth, struct pm_text *out)
{
	for (uint32_t i = 0; i < depth && i < DEEPEST_INDENT; i++)
		pm_text_str(out, "  ");
}

static void write_call(const struct zts_opened *z, const struct zts_call *call, int64_t whole_ns,
	struct pm_text *name, struct pm_text *out)
{
	int64_t ns;
	bool ended = zts_call_duration(call, &ns);
	if (ended && whole_ns > 0)
		pm_text_printf(out, "%5.1f%%", 100.0 * (double)ns / (double)whole_ns);
	else
		pm_text_str(out, "      ");
	if (ended)
		pm_text_printf(out, "%14.3f ms  ", (double)ns / 1e6);
	else
		pm_text_str(out, "        not ended  ");
	write_indent(call->depth, out);
	if (call->depth > DEEPEST_INDENT)
		pm_text_printf(out, "[%u] ", call->depth);
	pm_text_clear(name);
	zts_name_method(zts_texts_of(z, call->store), call->method, name);
	pm_text_line(out, pm_text_view(name));
	if (call->flags & ZTS_FLAG_ERROR)
		pm_text_str(out, "  ERROR");
	pm_text_char(out, '\n');
}

/* Details of a call, each on a line of its own below it. */
static void write_attributes(
	const struct zts_tree *tree, const struct zts_call *call, struct pm_text *out)
{
	for (uint32_t i = 0; i < call->n_attrs; i++) {
		const struct zts_attr *attr = &tree->attrs[call->attr + i];
		pm_text_printf(out, "%*s", NUMBERS_WIDTH, "");
		write_indent(call->depth, out);
		pm_text_str(out, "  | ");
		pm_text_line(out, attr->key);
		pm_text_str(out, " = ");
		pm_text_line(out, attr->value);
		pm_text_char(out, '\n');
	}
}

/* Its class and message; exception.txt has the stack and the causes. */
static void write_thrown(const struct zts_opened *z, const struct zts_call *call,
	struct pm_text *text, struct pm_text *out)
{
	const struct zts_texts *t = zts_texts_of(z, call->store);
	struct zts_exception e;
	if (!(call->has & ZTS_HAS_EXCEPTION))
		return;
	pm_text_printf(out, "%*s", NUMBERS_WIDTH, "");
	write_indent(call->depth, out);
	pm_text_str(out, "  ! ");
	pm_text_clear(text);
	if (zts_exception_find(t, call->exception, &e)) {
		zts_name_string(t, e.class_id, text);
		pm_text_str(text, ": ");
		zts_name_string(t, e.message_id, text);
	} else {
		zts_name_unknown(t, call->exception, text);
	}
	pm_text_line(out, pm_text_view(text));
	pm_text_char(out, '\n');
}

int zts_render_trace_text(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct zts_opened *z = doc->text.self;
	const struct zts_tree *tree;
	struct pm_text name = {0};
	int r = zts_get_tree(z, (uint32_t)doc->text.a, &tree, err);
	if (r < 0)
		return r;
	int64_t whole_ns;
	zts_call_duration(&tree->calls[0], &whole_ns);
	for (uint32_t i = 0; i < tree->n && !out->failed; i++) {
		write_call(z, &tree->calls[i], whole_ns, &name, out);
		write_attributes(tree, &tree->calls[i], out);
		write_thrown(z, &tree->calls[i], &name, out);
	}
	pm_text_end(&name, out);
	zts_release_tree(z, tree);
	return 0;
}

/* ---- exception.txt ---- */

static void write_text(
	const struct zts_texts *t, uint64_t id, struct pm_text *scratch, struct pm_text *out)
{
	pm_text_clear(scratch);
	zts_name_string(t, id, scratch);
	pm_text_utf8(out, pm_text_view(scratch));
}

/* As printed by Java. */
static void write_exception(
	const struct zts_texts *t, uint64_t id, struct pm_text *scratch, struct pm_text *out)
{
	struct zts_exception e;
	struct zts_frame frame;
	for (unsigned i = 0; id != 0 && i < PM_LIMIT_CAUSES; id = e.cause_id, i++) {
		struct zts_frames frames = {.begun = false};
		if (i > 0)
			pm_text_str(out, "Caused by: ");
		if (!zts_exception_find(t, id, &e)) {
			zts_name_unknown(t, id, out);
			pm_text_char(out, '\n');
			return;
		}
		write_text(t, e.class_id, scratch, out);
		pm_text_str(out, ": ");
		write_text(t, e.message_id, scratch, out);
		pm_text_char(out, '\n');
		while (zts_frames_next(t, e.stack_id, &frames, &frame)) {
			pm_text_clear(scratch);
			zts_name_frame(t, &frame, scratch);
			pm_text_str(out, "\tat ");
			pm_text_utf8(out, pm_text_view(scratch));
			pm_text_char(out, '\n');
		}
	}
}

int zts_render_exceptions(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct zts_opened *z = doc->text.self;
	const struct zts_tree *tree;
	struct pm_text scratch = {0};
	int r = zts_get_tree(z, (uint32_t)doc->text.a, &tree, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < tree->n && !out->failed; i++) {
		const struct zts_call *call = &tree->calls[i];
		const struct zts_texts *t = zts_texts_of(z, call->store);
		if (!(call->has & ZTS_HAS_EXCEPTION))
			continue;
		if (out->len > 0)
			pm_text_char(out, '\n');
		pm_text_str(out, "in ");
		pm_text_clear(&scratch);
		zts_name_method(t, call->method, &scratch);
		pm_text_line(out, pm_text_view(&scratch));
		pm_text_char(out, '\n');
		write_exception(t, call->exception, &scratch, out);
	}
	pm_text_end(&scratch, out);
	zts_release_tree(z, tree);
	return 0;
}
