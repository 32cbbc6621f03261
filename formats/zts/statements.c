#include "formats/zts/sums.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Of a name or number; bytes of UTF-8, too. */
static bool is_word(uint8_t c)
{
	return isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

static size_t word_end(struct pm_bytes s, size_t at)
{
	while (at < s.len && is_word(s.p[at]))
		at++;
	return at;
}

bool zts_is_statement(struct pm_bytes value)
{
	static const char *const verbs[] = {"select", "insert", "update", "delete", "merge",
		"replace", "with", "call", "exec", "execute", "truncate", "create", "alter",
		"drop"};
	size_t from = 0;
	while (from < value.len && isspace(value.p[from]))
		from++;
	size_t to = word_end(value, from);
	if (to == value.len || !isspace(value.p[to]))
		return false;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strlen(verbs[i]) == to - from &&
			strncasecmp(verbs[i], (const char *)value.p + from, to - from) == 0)
			return true;
	return false;
}

/* Behind the text in quotes that begins at `at`; quotes in it are doubled or have a backslash. */
static size_t quoted_end(struct pm_bytes s, size_t at)
{
	uint8_t quote = s.p[at++];
	for (; at < s.len; at++) {
		if (s.p[at] == '\\' && quote == '\'')
			at++;
		else if (s.p[at] == quote && (at + 1 == s.len || s.p[at + 1] != quote))
			return at + 1;
		else if (s.p[at] == quote)
			at++;
	}
	return s.len;
}

/* Behind the number at `at`: 12, 1.5, 1e-3, 0x1f. */
static size_t number_end(struct pm_bytes s, size_t at)
{
	for (; at < s.len; at++) {
		bool sign = (s.p[at] == '+' || s.p[at] == '-') && (s.p[at - 1] | 0x20) == 'e';
		if (!is_word(s.p[at]) && s.p[at] != '.' && !sign)
			break;
	}
	return at;
}

/* What is being written: a list of `?` behind IN is written as one. */
struct shape {
	struct pm_text *out;
	bool after_in; /* the last word was IN */
	bool in_list;  /* behind `IN (?` */
};

/* Behind further `, ?` of a list and blanks before its end, which are left out. */
static size_t list_end(struct pm_bytes s, size_t at)
{
	size_t done = at;
	for (;;) {
		while (at < s.len && isspace(s.p[at]))
			at++;
		if (at == s.len || s.p[at] != ',')
			return at < s.len && s.p[at] == ')' ? at : done;
		do
			at++;
		while (at < s.len && isspace(s.p[at]));
		if (at == s.len)
			return done;
		bool negative = s.p[at] == '-' && at + 1 < s.len && isdigit(s.p[at + 1]);
		if (s.p[at] == '?')
			at++;
		else if (s.p[at] == '\'')
			at = quoted_end(s, at);
		else if (isdigit(s.p[at]) || negative)
			at = number_end(s, at + negative + 1);
		else
			return done;
		done = at;
	}
}

static size_t add_literal(struct shape *shape, struct pm_bytes s, size_t end)
{
	pm_text_char(shape->out, '?');
	if (shape->in_list)
		end = list_end(s, end);
	shape->in_list = false;
	return end;
}

static size_t add_token(struct shape *shape, struct pm_bytes s, size_t at)
{
	uint8_t c = s.p[at];
	size_t end = at + 1;
	if (c == '?' || c == '\'')
		return add_literal(shape, s, c == '?' ? end : quoted_end(s, at));
	if (isdigit(c))
		return add_literal(shape, s, number_end(s, end));
	if (is_word(c)) {
		end = word_end(s, at);
		shape->after_in =
			end - at == 2 && strncasecmp((const char *)s.p + at, "in", 2) == 0;
		shape->in_list = false;
	} else {
		if (c == '"' || c == '`')
			end = quoted_end(s, at);
		/* A sign before the first number is a part of it. */
		if (c == '-' && shape->in_list && end < s.len && isdigit(s.p[end]))
			return end;
		shape->in_list = c == '(' && shape->after_in;
		shape->after_in = false;
	}
	pm_text_bytes(shape->out, (struct pm_bytes){s.p + at, end - at});
	return end;
}

void zts_statement_shape(struct pm_bytes s, struct pm_text *out)
{
	struct shape shape = {.out = out};
	size_t at = 0;
	while (at < s.len && isspace(s.p[at]))
		at++;
	while (at < s.len) {
		size_t end = at;
		while (end < s.len && isspace(s.p[end]))
			end++;
		if (end > at && end < s.len && !shape.in_list)
			pm_text_char(out, ' ');
		at = end < s.len ? add_token(&shape, s, end) : end;
	}
}
