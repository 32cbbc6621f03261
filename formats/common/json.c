/*
 * Punctuation of JSON. A key without a value, and a bracket too many, fail the text: a document
 * that went wrong is an error, whatever the input did to get there.
 *
 * One bit of state (`first`) is enough for all levels: a level that has been closed was an item of
 * the enclosing level, which is therefore no longer empty.
 */
#include "formats/common/json.h"

#include <math.h>

static void start_line(struct pm_json *j)
{
	if (!j->indented)
		return;
	pm_text_char(j->out, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		pm_text_add(j->out, "  ", 2);
}

/* The separator before a key or a value; nothing before the value of a key. */
static void start_item(struct pm_json *j)
{
	if (!j->keyed && j->depth > 0) {
		if (!j->first)
			pm_text_char(j->out, ',');
		start_line(j);
	}
	j->keyed = false;
	j->first = false;
}

void pm_json_open(struct pm_json *j, char bracket)
{
	start_item(j);
	pm_text_char(j->out, bracket);
	j->depth++;
	j->first = true;
}

void pm_json_close(struct pm_json *j, char bracket)
{
	if (j->depth == 0 || j->keyed) {
		j->out->failed = true;
		return;
	}
	j->depth--;
	if (!j->first)
		start_line(j);
	pm_text_char(j->out, bracket);
	j->first = false;
}

void pm_json_key_bytes(struct pm_json *j, struct pm_bytes key)
{
	if (j->keyed)
		j->out->failed = true;
	pm_json_text(j, key);
	pm_text_char(j->out, ':');
	if (j->indented)
		pm_text_char(j->out, ' ');
	j->keyed = true;
}

void pm_json_key(struct pm_json *j, const char *key)
{
	pm_json_key_bytes(j, pm_bytes_of(key));
}

void pm_json_text(struct pm_json *j, struct pm_bytes text)
{
	start_item(j);
	(j->script ? pm_text_script : pm_text_json)(j->out, text);
}

void pm_json_str(struct pm_json *j, const char *s)
{
	pm_json_text(j, pm_bytes_of(s));
}

void pm_json_u64(struct pm_json *j, uint64_t u)
{
	start_item(j);
	pm_text_u64(j->out, u);
}

void pm_json_i64(struct pm_json *j, int64_t i)
{
	start_item(j);
	pm_text_i64(j->out, i);
}

void pm_json_f64(struct pm_json *j, double f)
{
	if (!isfinite(f)) {
		pm_json_null(j);
		return;
	}
	start_item(j);
	pm_text_f64(j->out, f);
}

void pm_json_bool(struct pm_json *j, bool b)
{
	start_item(j);
	pm_text_str(j->out, b ? "true" : "false");
}

void pm_json_null(struct pm_json *j)
{
	start_item(j);
	pm_text_str(j->out, "null");
}

void pm_json_raw(struct pm_json *j, struct pm_bytes text)
{
	start_item(j);
	pm_text_bytes(j->out, text);
}
