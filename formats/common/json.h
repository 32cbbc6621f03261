/*
 * Writes JSON into a text builder; takes care of commas, nesting and indentation. What would not be
 * JSON, as a key after a key, fails the text.
 */
#ifndef PROFMOUNT_JSON_H
#define PROFMOUNT_JSON_H

#include "formats/common/text.h"

struct pm_json {
	struct pm_text *out;
	unsigned depth;
	bool first;    /* nothing written yet on this level */
	bool indented; /* two spaces per level and line feeds, for people */
	bool keyed;    /* a key was just written */
	bool script;   /* strings are written like pm_text_script */
};

void pm_json_open(struct pm_json *j, char bracket);  /* { or [ */
void pm_json_close(struct pm_json *j, char bracket); /* } or ] */
void pm_json_key(struct pm_json *j, const char *key);
void pm_json_key_bytes(struct pm_json *j, struct pm_bytes key);
void pm_json_text(struct pm_json *j, struct pm_bytes text);
void pm_json_str(struct pm_json *j, const char *s);
void pm_json_u64(struct pm_json *j, uint64_t u);
void pm_json_i64(struct pm_json *j, int64_t i);
void pm_json_f64(struct pm_json *j, double f); /* NaN and infinities: null */
void pm_json_bool(struct pm_json *j, bool b);
void pm_json_null(struct pm_json *j);

/* Text that is JSON already, written as one value. */
void pm_json_raw(struct pm_json *j, struct pm_bytes text);

#endif
