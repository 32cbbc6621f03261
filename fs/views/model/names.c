/* Names of frames in tables and texts. Legal directory names are made by fs/tree. */
#include "fs/views/model/model.h"

#include <string.h>

#include "formats/common/affix.h"
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

/* ---- the part of a function name that identifies it ---- */

static bool is_operator(struct pm_bytes text)
{
	return pm_ends_with(text, "operator");
}

/*
 * The position of the bracket that matches the last byte; text.len if there is none. Only brackets
 * of that kind are counted, because the `<` of `operator<` opens nothing.
 */
static size_t opening(struct pm_bytes text, uint8_t open, uint8_t close)
{
	size_t depth = 0;
	for (size_t i = text.len; i-- > 0;) {
		depth += text.p[i] == close;
		if (text.p[i] == open && --depth == 0)
			return i;
	}
	return text.len;
}

/* Takes ` [libx.so]`, ` [clone .isra.0]`, ` const` off the end, as long as there is one. */
static struct pm_bytes without_notes(struct pm_bytes name)
{
	for (;;) {
		size_t at = pm_ends_with(name, "]") ? opening(name, '[', ']') : name.len;
		if (pm_ends_with(name, " const"))
			name.len -= strlen(" const");
		else if (at < name.len && at > 1 && name.p[at - 1] == ' ')
			name.len = at - 1;
		else
			return name;
	}
}

/* Takes the list of arguments off: it follows a name without a space between. */
static struct pm_bytes without_arguments(struct pm_bytes name)
{
	size_t at = pm_ends_with(name, ")") ? opening(name, '(', ')') : name.len;
	struct pm_bytes before = {name.p, at};
	if (at == 0 || at == name.len || name.p[at - 1] == ' ' || is_operator(before))
		return name;
	return before;
}

/*
 * Where the last space outside of brackets ends, or 0. A function within another one is named
 * behind its whole name: `a::f(int) const::{lambda(int)#1}::operator()`.
 */
static size_t after_space(struct pm_bytes name)
{
	static const char within[] = ") const::";
	size_t depth = 0;
	for (size_t i = name.len; i-- > 0;) {
		uint8_t c = name.p[i];
		bool arrow = c == '>' && i > 0 && name.p[i - 1] == '-';
		if (c == ')' || c == '}' || c == ']' || (c == '>' && !arrow))
			depth++;
		else if ((c == '(' || c == '{' || c == '[' || c == '<') && depth > 0)
			depth--;
		else if (c == ' ' && depth == 0 &&
			(i == 0 ||
				!pm_begins_with((struct pm_bytes){name.p + i - 1, name.len - i + 1},
					within)))
			return i + 1;
	}
	return 0;
}

struct pm_bytes pmfs_name_bare(struct pm_bytes name)
{
	struct pm_bytes bare = without_notes(name);
	struct pm_bytes called = without_arguments(bare);
	bool is_template = pm_ends_with(called, ">");
	if (called.len == bare.len && !is_template)
		return bare; /* a space in it may be anything */
	size_t at = after_space(called);
	if (at == 0 || at == called.len)
		return called;
	struct pm_bytes before = {called.p, at - 1};
	size_t earlier = after_space(before);
	struct pm_bytes word = {before.p + earlier, before.len - earlier};
	if (pm_ends_with(word, "operator")) /* operator new: the space belongs to the name */
		at = earlier;
	return (struct pm_bytes){called.p + at, called.len - at};
}

/* Where a word is in a text, or the text's length. */
static size_t find(struct pm_bytes text, const char *word)
{
	const uint8_t *at = text.len ? memmem(text.p, text.len, word, strlen(word)) : NULL;
	return at ? (size_t)(at - text.p) : text.len;
}

static struct pm_bytes from(struct pm_bytes text, size_t at)
{
	return (struct pm_bytes){at ? text.p + at : text.p, text.len - at};
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

size_t pmfs_name_suffix(struct pm_bytes name, size_t at)
{
	static const char *const words[] = {
		".isra", ".constprop", ".part", ".cold", ".llvm", ".lto_priv", ".localalias"};
	size_t n = 0, digits = 1;
	for (size_t i = 0; n == 0 && i < sizeof(words) / sizeof(*words); i++)
		if (pm_begins_with(from(name, at), words[i]))
			n = strlen(words[i]);
	while (n > 0 && digits > 0 && at + n < name.len && name.p[at + n] == '.') {
		struct pm_bytes number = from(name, at + n + 1);
		for (digits = 0; digits < number.len && is_digit(number.p[digits]);)
			digits++;
		n += digits ? 1 + digits : 0;
	}
	return n;
}

/*
 * Where a compiler's mark begins. Words of other languages have dots, too, but no such numbers, and
 * `.cold` not at their end.
 */
static size_t find_mark(struct pm_bytes bare)
{
	static const char outlined[] = ".omp_outlined", region[] = "._omp_fn.", cold[] = ".cold";
	for (size_t at = 1; at < bare.len; at++) {
		struct pm_bytes rest = from(bare, at);
		if (rest.p[0] != '.')
			continue;
		size_t n =
			pm_begins_with(rest, region) ? sizeof(region) : pmfs_name_suffix(bare, at);
		if ((n > 0 && n <= rest.len && is_digit(rest.p[n - 1])) ||
			pm_bytes_equal(rest, pm_bytes_of(cold)) || pm_begins_with(rest, outlined))
			return at;
	}
	return bare.len;
}

struct pm_bytes pmfs_name_original(struct pm_bytes name, struct pm_bytes *ret_mark)
{
	static const char clone[] = " [clone ";
	struct pm_bytes bare = pmfs_name_bare(name);
	struct pm_bytes notes = from(name, (size_t)(bare.p - name.p) + bare.len);
	size_t end = 0;
	notes = from(notes, find(notes, clone));
	while (end < notes.len && pm_begins_with(from(notes, end), clone))
		end += find(from(notes, end + 1), "]") + 2;
	size_t at = find_mark(bare);
	*ret_mark = at < bare.len ? from(bare, at)
				  : (struct pm_bytes){notes.p, end < notes.len ? end : notes.len};
	return (struct pm_bytes){bare.p, at};
}

/* Whether a dot begins the ending of a library's file: `.so` of `libm.so.6`. */
static bool is_library(struct pm_bytes name, size_t dot)
{
	struct pm_bytes rest = from(name, dot);
	return pm_begins_with(rest, ".so") && (rest.len == 3 || strchr(".] ", rest.p[3]));
}

size_t pmfs_name_component(struct pm_bytes bare, size_t before)
{
	size_t offset = find(bare, "+0x");
	if (offset < bare.len)
		return offset < before ? offset : 0;
	if (pm_ends_with(bare, " addresses)"))
		return 0;
	size_t depth = 0;
	for (size_t i = before < bare.len ? before : bare.len; i-- > 0;) {
		uint8_t c = bare.p[i];
		if (c == ')' || c == '}' || c == '>')
			depth++;
		else if ((c == '(' || c == '{' || c == '<') && depth > 0)
			depth--;
		else if (depth == 0 && i + 1 < before &&
			(c == '/' || (c == '.' && !is_library(bare, i)) ||
				(c == ' ' && bare.p[0] == '<') ||
				(c == ':' && i > 0 && bare.p[i - 1] == ':')))
			return i + 1;
	}
	return 0;
}
