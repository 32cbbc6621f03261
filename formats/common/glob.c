#include "formats/common/glob.h"

#include <string.h>

#include "formats/common/affix.h"
#include "formats/common/utf8.h"

enum { ANY_TEXT, ANY_ONE, ONE_OF, ONE_BUT, THIS, SLASH };

static const char slash[] = "\xe2\x88\x95"; /* U+2215, which names of entries have for `/` */

/* The end of the set that `[` at `at` opens, or 0. A `]` that comes first belongs to it. */
static size_t end_of_set(struct pm_bytes text, size_t at, size_t *ret_from)
{
	*ret_from = at + 1;
	if (*ret_from < text.len && (text.p[*ret_from] == '!' || text.p[*ret_from] == '^'))
		++*ret_from;
	const uint8_t *end = *ret_from + 1 < text.len
		? memchr(text.p + *ret_from + 1, ']', text.len - *ret_from - 1)
		: NULL;
	return end ? (size_t)(end - text.p) : 0;
}

static size_t length_at(struct pm_bytes text, size_t at)
{
	size_t len = pm_utf8_next(text, at);
	return len ? len : 1;
}

void pm_glob_read(struct pm_glob *g, struct pm_bytes text)
{
	g->text = text;
	g->n = 0;
	for (size_t at = 0; at < text.len && g->n < PM_GLOB_SIZE;) {
		struct pm_glob_step *s = &g->steps[g->n];
		size_t from = 0, end = text.p[at] == '[' ? end_of_set(text, at, &from) : 0;
		bool again = g->n > 0 && s[-1].kind == ANY_TEXT;
		struct pm_bytes rest = {text.p + at, text.len - at};
		if (text.p[at] == '*') {
			*s = (struct pm_glob_step){.kind = ANY_TEXT};
			g->n += !again;
			at++;
			continue;
		}
		if (end) {
			*s = (struct pm_glob_step){
				from == at + 1 ? ONE_OF : ONE_BUT, (uint8_t)from, (uint8_t)end};
			at = end + 1;
		} else if (text.p[at] == '?') {
			*s = (struct pm_glob_step){.kind = ANY_ONE};
			at++;
		} else if (pm_begins_with(rest, slash)) {
			*s = (struct pm_glob_step){.kind = SLASH};
			at += strlen(slash);
		} else {
			at += text.p[at] == '\\' && at + 1 < text.len;
			size_t len = length_at(text, at);
			*s = (struct pm_glob_step){THIS, (uint8_t)at, (uint8_t)(at + len)};
			at += len;
		}
		g->n++;
	}
}

/* Whether a set (`a-z` is a range of it) has the character. */
static bool is_in_set(struct pm_bytes set, struct pm_bytes c)
{
	for (size_t at = 0, len; at < set.len; at += len) {
		len = length_at(set, at);
		struct pm_bytes low = {set.p + at, len}, high = low;
		size_t dash = at + len;
		if (dash + 1 < set.len && set.p[dash] == '-') {
			high = (struct pm_bytes){set.p + dash + 1, length_at(set, dash + 1)};
			len += 1 + high.len;
		}
		/* The order of bytes is that of characters. */
		if (pm_bytes_compare(low, c) <= 0 && pm_bytes_compare(c, high) <= 0)
			return true;
	}
	return false;
}

/* The length of what the step matches at that place of the name, 0 if it does not match. */
static size_t step_matches(
	const struct pm_glob *g, const struct pm_glob_step *s, struct pm_bytes name, size_t at)
{
	if (at >= name.len)
		return 0;
	size_t len = length_at(name, at);
	struct pm_bytes c = {name.p + at, len};
	struct pm_bytes text = {g->text.p + s->from, (size_t)(s->to - s->from)};
	bool matches = s->kind == ANY_ONE || (s->kind == SLASH && name.p[at] == '/') ||
		(s->kind == SLASH && pm_bytes_equal(c, pm_bytes_of(slash))) ||
		(s->kind == THIS && pm_bytes_equal(c, text)) ||
		(s->kind == ONE_OF && is_in_set(text, c)) ||
		(s->kind == ONE_BUT && !is_in_set(text, c));
	return matches ? len : 0;
}

bool pm_glob_matches(const struct pm_glob *g, struct pm_bytes name)
{
	unsigned i = 0, after_any = 0; /* steps; 0: there was no ANY_TEXT */
	size_t at = 0, any_at = 0, len;
	for (;;) {
		if (i < g->n && g->steps[i].kind == ANY_TEXT) {
			after_any = ++i;
			any_at = at;
		} else if (i == g->n && at == name.len) {
			return true;
		} else if (i < g->n && (len = step_matches(g, &g->steps[i], name, at)) > 0) {
			i++;
			at += len;
		} else if (after_any == 0 || any_at >= name.len) {
			return false;
		} else {
			i = after_any;
			any_at += length_at(name, any_at);
			at = any_at;
		}
	}
}
