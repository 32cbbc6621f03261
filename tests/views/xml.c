#include "xml.h"

#include <ctype.h>
#include <string.h>

#include "formats/common/utf8.h"
#include "harness.h"

enum { MAX_DEPTH = 64 };

struct xml {
	const char *at;
	const char *open[MAX_DEPTH]; /* where the names of the open elements stand */
	size_t len[MAX_DEPTH];
	unsigned depth;
};

static void fail_at(const struct xml *x, const char *what)
{
	fail_msg("no well-formed XML: %s at `%.60s`", what, x->at);
}

static size_t name_length(const struct xml *x)
{
	size_t n = 0;
	while (isalnum((unsigned char)x->at[n]) || x->at[n] == '-')
		n++;
	if (n == 0)
		fail_at(x, "a name is missing");
	return n;
}

static void skip_entity(struct xml *x)
{
	static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#39;"};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strncmp(x->at, known[i], strlen(known[i])) == 0) {
			x->at += strlen(known[i]);
			return;
		}
	fail_at(x, "an unknown entity");
}

static void skip_text(struct xml *x, const char *end)
{
	while (*x->at && !strchr(end, *x->at)) {
		unsigned char c = (unsigned char)*x->at;
		if (c < 0x20 && c != '\n' && c != '\t')
			fail_at(x, "a control character");
		if (c == '&')
			skip_entity(x);
		else
			x->at++;
	}
}

static void skip_to(struct xml *x, const char *end)
{
	const char *found = strstr(x->at, end);
	if (!found)
		fail_at(x, "something does not end");
	else
		x->at = found + strlen(end);
}

static void skip_attributes(struct xml *x)
{
	while (*x->at == ' ') {
		x->at++;
		x->at += name_length(x);
		if (strncmp(x->at, "=\"", 2) != 0)
			fail_at(x, "an attribute without a value");
		x->at += 2;
		skip_text(x, "\"<");
		if (*x->at++ != '"')
			fail_at(x, "an attribute does not end");
	}
}

static void read_tag(struct xml *x)
{
	bool closing = x->at[1] == '/';
	x->at += closing ? 2 : 1;
	size_t len = name_length(x);
	const char *name = x->at;
	x->at += len;
	if (closing) {
		if (x->depth == 0 || x->len[x->depth - 1] != len ||
			strncmp(x->open[x->depth - 1], name, len) != 0)
			fail_at(x, "the wrong element ends");
		x->depth--;
	} else {
		skip_attributes(x);
		x->open[x->depth] = name;
		x->len[x->depth++] = len;
		assert_true(x->depth < MAX_DEPTH);
	}
	if (!closing && *x->at == '/') {
		x->depth--;
		x->at++;
	}
	if (*x->at++ != '>')
		fail_at(x, "a tag does not end");
}

void assert_xml(const char *text)
{
	struct xml x = {.at = text};
	assert_true(pm_utf8_valid(pm_bytes_of(text)));
	if (strncmp(x.at, "<?xml", 5) == 0)
		skip_to(&x, "?>");
	do {
		skip_text(&x, "<");
		if (strncmp(x.at, "<![CDATA[", 9) == 0)
			skip_to(&x, "]]>");
		else if (*x.at == '<')
			read_tag(&x);
		else if (x.depth > 0)
			fail_at(&x, "an element is open");
	} while (*x.at);
	assert_int_equal(x.depth, 0);
}

unsigned count_of(const char *text, const char *part)
{
	unsigned n = 0;
	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}
