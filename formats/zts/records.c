/*
 * Turns CBOR events into events of call records. Tags are only interpreted directly inside a
 * record, or outside all of them; anything else is skipped. The written specification has different
 * numbers for two tags than the writer's code; both are accepted.
 */
#include "formats/zts/records.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/json.h"
#include "formats/common/list.h"
#include "formats/zts/names.h"
#include "profmount/limits.h"

/* A record is a tag and an array; its contents may be nested a little further. */
enum { CBOR_DEPTH = 2 * PM_LIMIT_CALL_DEPTH + 64 };

void zts_records_init(struct zts_records *r)
{
	*r = (struct zts_records){.n = 0};
	pm_cbor_init(&r->cbor, CBOR_DEPTH);
}

void zts_records_feed(struct zts_records *r, struct pm_bytes part)
{
	pm_cbor_feed(&r->cbor, part);
}

void zts_records_done(struct zts_records *r)
{
	pm_cbor_done(&r->cbor);
	free(r->levels);
	r->levels = NULL;
}

/* Tells the CBOR reader which records are open. */
static int tell(struct zts_records *r, struct pm_error *err)
{
	if (r->n == r->n_told)
		return 0;
	uint32_t n = (uint32_t)(r->n - r->n_told), depth = r->cbor.depth;
	while (r->room < r->n)
		if (pm_list_room(&r->levels, r->room, &r->room, sizeof(*r->levels)) < 0)
			return pm_error_plain(err, -ENOMEM);
	if (pm_cbor_push_tagged(&r->cbor, n) < 0)
		return pm_error_plain(err, -ENOMEM);
	while (r->n_told < r->n)
		r->levels[r->n_told++] = depth += 2;
	return 0;
}

static int begin_record(struct zts_records *r, const struct pm_cbor_event *e,
	struct zts_record_event *ret, struct pm_error *err)
{
	if (r->n >= PM_LIMIT_CALL_DEPTH)
		return pm_cbor_malformed(e, err, "calls nested too deeply");
	if (pm_list_room(&r->levels, r->n, &r->room, sizeof(*r->levels)) < 0)
		return pm_error_plain(err, -ENOMEM);
	r->levels[r->n++] = r->cbor.depth;
	r->n_told = r->n;
	*ret = (struct zts_record_event){.kind = ZTS_RECORD_BEGIN, .at = e->at};
	return 1;
}

/* The value after a tag. Returns 1 with an event, 0 if it is not of interest. */
static int read_tagged(struct zts_records *r, const struct pm_cbor_event *tag,
	struct zts_record_event *ret, struct pm_error *err)
{
	struct pm_cbor_event e;
	int n = pm_cbor_next(&r->cbor, &e, err);
	if (n <= 0)
		return n;
	*ret = (struct zts_record_event){.at = tag->at, .value = e.u};
	switch (tag->u) {
	case ZTS_TAG_RECORD: return e.kind == PM_CBOR_INDEF ? begin_record(r, tag, ret, err) : 0;
	case ZTS_TAG_INFO:
	case ZTS_TAG_INFO_DESCRIBED: r->info_left = e.kind == PM_CBOR_MAP ? e.u : 0; return 0;
	case ZTS_TAG_ATTRS:
	case ZTS_TAG_ATTRS_DESCRIBED: ret->kind = ZTS_RECORD_ATTRS; return e.kind == PM_CBOR_MAP;
	case ZTS_TAG_EXCEPTION: ret->kind = ZTS_RECORD_EXCEPTION; return e.kind == PM_CBOR_UINT;
	default: return 0;
	}
}

static int read_info(struct zts_records *r, struct zts_record_event *ret, struct pm_error *err)
{
	struct pm_cbor_event key, value;
	int n = pm_cbor_next(&r->cbor, &key, err);
	if (n > 0)
		n = pm_cbor_next(&r->cbor, &value, err);
	if (n <= 0)
		return n < 0 ? n : pm_cbor_malformed(&key, err, "a number of a call is cut off");
	if (key.kind != PM_CBOR_UINT || value.kind > PM_CBOR_NEGINT)
		return pm_cbor_malformed(&key, err, "a number of a call is not an integer");
	bool negative = value.kind == PM_CBOR_NEGINT;
	const char *wrong =
		zts_wrong_info(key.u, negative && key.u == ZTS_TIMESTAMP ? UINT64_MAX : value.u);
	if (wrong)
		return pm_cbor_malformed(&key, err, wrong);
	r->info_left--;
	*ret = (struct zts_record_event){.kind = ZTS_RECORD_INFO,
		.at = key.at,
		.key = key.u,
		.value = negative ? ~value.u : value.u};
	return 1;
}

/* True if the end of an array is the end of the innermost record. */
static bool ends_record(struct zts_records *r, const struct pm_cbor_event *e)
{
	return e->kind == PM_CBOR_END && r->n > 0 && r->cbor.depth + 1 == zts_inner_level(r) &&
		e->of == PM_CBOR_INDEF;
}

static int end_record(
	struct zts_records *r, const struct pm_cbor_event *e, struct zts_record_event *ret)
{
	r->n_told = --r->n;
	*ret = (struct zts_record_event){.kind = ZTS_RECORD_END, .at = e->at, .open = e->open};
	return 1;
}

/*
 * The usual end of a record, with that of its tag: nothing is open where the next item begins, and
 * a run may go on (zts_reader_run).
 */
static bool end_usual(struct zts_records *r, struct zts_record_event *ret)
{
	const uint8_t *p = pm_cur_peek(&r->cbor.in, 1);
	size_t at = r->cbor.in.at;
	if (!p || p[0] != ZTS_HEAD_BREAK || r->n == 0 || r->info_left > 0)
		return false;
	if (r->n > r->n_told) {
		r->cbor.in.at++;
	} else {
		if (r->cbor.depth != zts_inner_level(r) || !pm_cbor_end_tagged(&r->cbor))
			return false;
		r->n_told--;
	}
	r->n--;
	*ret = (struct zts_record_event){.kind = ZTS_RECORD_END, .at = at};
	return true;
}

int zts_records_next(struct zts_records *r, struct zts_record_event *ret, struct pm_error *err)
{
	struct pm_cbor_event e;
	if (end_usual(r, ret))
		return 1;
	if (tell(r, err) < 0)
		return -ENOMEM;
	for (;;) {
		if (r->info_left > 0)
			return read_info(r, ret, err);
		int n = pm_cbor_next(&r->cbor, &e, err);
		if (n <= 0)
			return n;
		if (ends_record(r, &e))
			return end_record(r, &e, ret);
		if (e.kind <= PM_CBOR_NEGINT)
			pm_cbor_skip_small(&r->cbor);
		if (e.kind != PM_CBOR_TAG || r->cbor.depth - 1 != zts_inner_level(r))
			continue;
		n = read_tagged(r, &e, ret, err);
		if (n != 0)
			return n;
	}
}

int zts_records_finish(struct zts_records *r, struct zts_record_event *ret, struct pm_error *err)
{
	struct pm_cbor_event e;
	if (tell(r, err) < 0)
		return -ENOMEM;
	for (;;) {
		int n = pm_cbor_finish(&r->cbor, &e, err);
		if (n <= 0)
			return n;
		if (ends_record(r, &e))
			return end_record(r, &e, ret);
	}
}

/*
 * ==== values of attributes ====
 * Values of attributes: strings of the text index, numbers, lists and maps of them. A string
 * becomes text, everything else JSON, in which keys of maps are strings.
 */

enum { TAG_STRING = 0x06, VALUE_DEPTH = 64 };

struct writer {
	struct zts_records *r;
	const struct zts_texts *texts;
	struct pm_json json;
	struct pm_text scratch;
	bool is_map[VALUE_DEPTH]; /* open containers, outermost first */
	bool has_key[VALUE_DEPTH];
	uint32_t depth;
};

/* The next item; a reference to a string is replaced by the string (in scratch). */
static int next_item(struct writer *w, struct pm_cbor_event *e, struct pm_error *err)
{
	struct pm_cbor_event end;
	int n = pm_cbor_next(&w->r->cbor, e, err);
	if (n > 0 && e->kind == PM_CBOR_TAG && e->u == TAG_STRING) {
		n = pm_cbor_next(&w->r->cbor, e, err);
		if (n > 0 && e->kind != PM_CBOR_UINT)
			return pm_cbor_malformed(e, err, "a reference to a string is not a number");
		pm_text_clear(&w->scratch);
		if (n > 0)
			zts_name_string(w->texts, e->u, &w->scratch);
		e->kind = PM_CBOR_TEXT;
		e->bytes = pm_text_view(&w->scratch);
		if (n > 0)
			n = pm_cbor_next(&w->r->cbor, &end, err); /* the tag's */
	}
	return n == 0 ? pm_cbor_malformed(e, err, "an attribute is cut off") : n;
}

/* A value that contains no others. */
static void write_scalar(const struct pm_cbor_event *e, struct pm_text *out)
{
	switch (e->kind) {
	case PM_CBOR_UINT: pm_text_u64(out, e->u); break;
	case PM_CBOR_NEGINT:
		pm_text_char(out, '-');
		pm_cbor_negated(e->u, out);
		break;
	case PM_CBOR_BYTES:
		for (size_t i = 0; i < e->bytes.len; i++)
			pm_text_hex(out, e->bytes.p[i], 2);
		break;
	case PM_CBOR_TEXT: pm_text_bytes(out, e->bytes); break;
	case PM_CBOR_FALSE: pm_text_str(out, "false"); break;
	case PM_CBOR_TRUE: pm_text_str(out, "true"); break;
	case PM_CBOR_FLOAT: /* JSON cannot represent NaN and infinities */
		if (isfinite(e->f))
			pm_text_f64(out, e->f);
		else
			pm_text_str(out, "null");
		break;
	case PM_CBOR_NULL:
	case PM_CBOR_UNDEFINED: pm_text_str(out, "null"); break;
	case PM_CBOR_ARRAY:
	case PM_CBOR_INDEF:
	case PM_CBOR_MAP:
	case PM_CBOR_TAG:
	case PM_CBOR_END:
	case PM_CBOR_BREAK: break;
	}
}

static bool is_text(enum pm_cbor_kind kind)
{
	return kind == PM_CBOR_TEXT || kind == PM_CBOR_BYTES;
}

static bool is_container(enum pm_cbor_kind kind)
{
	return kind == PM_CBOR_ARRAY || kind == PM_CBOR_INDEF || kind == PM_CBOR_MAP;
}

static void write_json_scalar(struct writer *w, const struct pm_cbor_event *e, bool as_key)
{
	struct pm_text text = {0};
	write_scalar(e, &text);
	if (as_key)
		pm_json_key_bytes(&w->json, pm_text_view(&text));
	else if (is_text(e->kind))
		pm_json_text(&w->json, pm_text_view(&text));
	else
		pm_json_raw(&w->json, pm_text_view(&text));
	pm_text_done(&text);
}

/* One event within a list or map; tags other than those of strings are skipped. */
static int write_event(struct writer *w, const struct pm_cbor_event *e, struct pm_error *err)
{
	bool in_map = w->depth > 0 && w->is_map[w->depth - 1];
	bool as_key = in_map && !w->has_key[w->depth - 1];
	if (e->kind == PM_CBOR_TAG || (e->kind == PM_CBOR_END && e->of == PM_CBOR_TAG))
		return 1;
	if (e->kind == PM_CBOR_END) {
		pm_json_close(&w->json, e->of == PM_CBOR_MAP ? '}' : ']');
		w->depth--;
		return 1;
	}
	if (as_key && is_container(e->kind))
		return pm_cbor_malformed(e, err, "a key of an attribute is not a scalar");
	if (in_map)
		w->has_key[w->depth - 1] = as_key;
	if (!is_container(e->kind)) {
		write_json_scalar(w, e, as_key);
		return 1;
	}
	if (w->depth == VALUE_DEPTH)
		return pm_cbor_malformed(e, err, "an attribute is nested too deeply");
	w->is_map[w->depth] = e->kind == PM_CBOR_MAP;
	w->has_key[w->depth++] = false;
	pm_json_open(&w->json, e->kind == PM_CBOR_MAP ? '{' : '[');
	return 1;
}

/* Writes the container that `e` opens, up to its end. */
static int write_container(struct writer *w, struct pm_cbor_event *e, struct pm_error *err)
{
	int n = write_event(w, e, err);
	while (n > 0 && w->depth > 0) {
		n = next_item(w, e, err);
		if (n > 0)
			n = write_event(w, e, err);
	}
	return n;
}

int zts_value_read(struct zts_records *r, const struct zts_texts *t, bool as_key,
	struct pm_text *out, bool *ret_text, struct pm_error *err)
{
	struct pm_cbor_event e;
	struct writer w = {.r = r, .texts = t, .json = {.out = out, .first = true}};
	uint32_t outside = r->cbor.depth;
	int n = next_item(&w, &e, err);
	while (n > 0 && e.kind == PM_CBOR_TAG)
		n = next_item(&w, &e, err);
	*ret_text = false;
	if (n > 0 && is_container(e.kind)) {
		n = as_key ? pm_cbor_malformed(&e, err, "a key of an attribute is not a scalar")
			   : write_container(&w, &e, err);
	} else if (n > 0) {
		*ret_text = as_key || is_text(e.kind);
		write_scalar(&e, out);
	}
	while (n > 0 && r->cbor.depth > outside) /* ends of tags around the value */
		n = pm_cbor_next(&r->cbor, &e, err);
	pm_text_end(&w.scratch, out);
	return n < 0 ? n : 0;
}
