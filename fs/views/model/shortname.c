/*
 * Parses names written by compilers and profilers from the end. The contents of brackets are
 * skipped, so that template arguments are not mistaken for parts of the name.
 */
#include "fs/views/model/shortname.h"

#include <string.h>

#include "formats/common/affix.h"

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

size_t pmfs_name_component(struct pm_bytes bare, size_t before)
{
	const uint8_t *offset = bare.len ? memmem(bare.p, bare.len, "+0x", 3) : NULL;
	if (offset)
		return offset < bare.p + before ? (size_t)(offset - bare.p) : 0;
	size_t depth = 0;
	for (size_t i = before < bare.len ? before : bare.len; i-- > 0;) {
		uint8_t c = bare.p[i];
		if (c == ')' || c == '}' || c == '>')
			depth++;
		else if ((c == '(' || c == '{' || c == '<') && depth > 0)
			depth--;
		else if (depth == 0 && i + 1 < before &&
			(c == '/' || c == '.' || (c == ' ' && bare.p[0] == '<') ||
				(c == ':' && i > 0 && bare.p[i - 1] == ':')))
			return i + 1;
	}
	return 0;
}
