/*
 * Writes CBOR as JSON, one event at a time. What JSON has is written as such; everything else is an
 * object whose key begins with @. Does not interpret the items.
 */
#include "formats/zts/payload.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/cbor.h"
#include "formats/common/json.h"
#include "formats/common/list.h"
#include "profmount/limits.h"

struct writer {
	struct pm_json json;
	uint32_t depth;
	struct level {
		bool is_map, in_pair;
	} * levels; /* of each open item */
	size_t room;
};

/* The next event, rejected if it cannot be represented in JSON; 0 at the end of the data. */
static int next_event(struct pm_cbor *c, struct pm_cbor_event *e, struct pm_error *err)
{
	int n = pm_cbor_next(c, e, err);
	if (n == 0)
		n = pm_cbor_finish(c, e, err);
	if (n > 0 && e->kind == PM_CBOR_FLOAT && !isfinite(e->f))
		return pm_cbor_malformed(e, err, "CBOR number that JSON cannot represent");
	return n;
}

int zts_payload_check(struct pm_bytes payload, struct pm_error *err)
{
	struct pm_cbor c;
	struct pm_cbor_event e;
	int n;
	pm_cbor_init(&c, PM_LIMIT_JSON_DEPTH);
	pm_cbor_feed(&c, payload);
	do
		n = next_event(&c, &e, err);
	while (n > 0);
	pm_cbor_done(&c);
	return n;
}

static void write_bytes(struct pm_json *j, struct pm_bytes b)
{
	pm_json_open(j, '{');
	pm_json_key(j, "@bytes");
	pm_json_raw(j, pm_bytes_of("\""));
	for (size_t i = 0; i < b.len; i++)
		pm_text_hex(j->out, b.p[i], 2);
	pm_text_char(j->out, '"');
	pm_json_close(j, '}');
}

static void write_mark(struct pm_json *j, const char *key)
{
	pm_json_open(j, '{');
	pm_json_key(j, key);
	pm_json_bool(j, true);
	pm_json_close(j, '}');
}

static int open_item(struct writer *w, const struct pm_cbor_event *e, struct pm_error *err)
{
	struct pm_json *j = &w->json;
	if (pm_list_room(&w->levels, w->depth, &w->room, sizeof(*w->levels)) < 0)
		return pm_error_plain(err, -ENOMEM);
	w->levels[w->depth++] = (struct level){.is_map = e->kind == PM_CBOR_MAP};
	if (e->kind == PM_CBOR_ARRAY) {
		pm_json_open(j, '[');
		return 1;
	}
	pm_json_open(j, '{');
	if (e->kind == PM_CBOR_TAG) {
		pm_json_key(j, "@tag");
		pm_json_u64(j, e->u);
		pm_json_key(j, "@value");
		return 1;
	}
	pm_json_key(j, e->kind == PM_CBOR_MAP ? "@map" : "@indef");
	pm_json_open(j, '[');
	return 1;
}

static void close_item(struct writer *w, const struct pm_cbor_event *e)
{
	struct pm_json *j = &w->json;
	w->depth--;
	if (e->of != PM_CBOR_TAG)
		pm_json_close(j, ']');
	if (e->open) {
		pm_json_key(j, "@open");
		pm_json_bool(j, true);
	}
	if (e->of != PM_CBOR_ARRAY)
		pm_json_close(j, '}');
}

static int write_item(struct writer *w, const struct pm_cbor_event *e, struct pm_error *err)
{
	struct pm_json *j = &w->json;
	switch (e->kind) {
	case PM_CBOR_UINT: pm_json_u64(j, e->u); break;
	case PM_CBOR_NEGINT:
		pm_json_raw(j, pm_bytes_of("-"));
		pm_cbor_negated(e->u, j->out);
		break;
	case PM_CBOR_BYTES: write_bytes(j, e->bytes); break;
	case PM_CBOR_TEXT: pm_json_text(j, e->bytes); break;
	case PM_CBOR_FALSE: pm_json_bool(j, false); break;
	case PM_CBOR_TRUE: pm_json_bool(j, true); break;
	case PM_CBOR_NULL: pm_json_null(j); break;
	case PM_CBOR_FLOAT:
		if (e->f == 0 && signbit(e->f))
			pm_json_raw(j, pm_bytes_of("-0"));
		else
			pm_json_f64(j, e->f);
		break;
	case PM_CBOR_UNDEFINED: write_mark(j, "@undefined"); break;
	case PM_CBOR_BREAK: write_mark(j, "@break"); break;
	case PM_CBOR_END: close_item(w, e); break;
	case PM_CBOR_ARRAY:
	case PM_CBOR_INDEF:
	case PM_CBOR_MAP:
	case PM_CBOR_TAG: return open_item(w, e, err);
	}
	return 1;
}

/* Writes an event, and the brackets around key and value in a map. */
static int write_event(struct writer *w, const struct pm_cbor_event *e, struct pm_error *err)
{
	bool ends = e->kind == PM_CBOR_END;
	struct level *map = w->depth > 0 ? &w->levels[w->depth - 1] : NULL;
	if (!ends && map && map->is_map && !map->in_pair)
		pm_json_open(&w->json, '[');
	int n = write_item(w, e, err);
	bool complete = ends ||
		(e->kind != PM_CBOR_ARRAY && e->kind != PM_CBOR_INDEF && e->kind != PM_CBOR_MAP &&
			e->kind != PM_CBOR_TAG);
	map = w->depth > 0 ? &w->levels[w->depth - 1] : NULL;
	if (complete && map && map->is_map) {
		if (map->in_pair)
			pm_json_close(&w->json, ']');
		map->in_pair = !map->in_pair;
	}
	return n;
}

int zts_payload_write(struct pm_bytes payload, struct pm_text *out, struct pm_error *err)
{
	struct pm_cbor c;
	struct pm_cbor_event e;
	struct writer w = {.json = {.out = out, .first = true}};
	int n;
	pm_cbor_init(&c, PM_LIMIT_JSON_DEPTH);
	pm_cbor_feed(&c, payload);
	pm_json_open(&w.json, '[');
	do
		n = next_event(&c, &e, err);
	while (n > 0 && !out->failed && (n = write_event(&w, &e, err)) > 0);
	if (n == 0)
		pm_json_close(&w.json, ']');
	pm_text_char(out, '\n');
	pm_cbor_done(&c);
	free(w.levels);
	return n < 0 ? n : 0;
}
