/*
 * The documents of one trace (calls.csv, attributes.csv, trace.json, trace.txt, exceptions.txt) and
 * of one chunk (data.cbor, data.json, info.txt).
 */
#include "formats/zts/zts.h"

#include <stdlib.h>

#include "formats/common/json.h"
#include "formats/common/text.h"
#include "formats/zts/names.h"
#include "formats/zts/payload.h"
#include "formats/zts/records.h"
#include "profmount/limits.h"

/*
 * ==== tables ====
 * calls.csv and attributes.csv of one trace.
 */

static const char *const call_columns[] = {
	"time_ns", "duration_ns", "self_ns", "depth", "calls", "error", "method"};
static const char *const attr_columns[] = {"attribute", "value"};

/* State of a cursor: the trace's tree, held while the cursor lives. */
struct cursor {
	const struct zts_opened *z;
	const struct zts_tree *tree;
	zts_sum *self_ns;
	uint64_t begin_ns; /* of the trace, from the time origin */
};

static void trace_done(struct pm_rows *rows)
{
	struct cursor *c = rows->own;
	if (c->tree)
		zts_release_tree(c->z, c->tree);
	free(c->self_ns);
	free(c);
}

static int trace_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct zts_survey *v;
	struct cursor *c = calloc(1, sizeof(*c));
	if (!c)
		return pm_error_plain(err, -ENOMEM);
	rows->own = c;
	c->z = rows->table->self;
	int r = zts_get_survey(c->z, &v, err);
	if (r == 0)
		r = zts_get_tree(c->z, (uint32_t)rows->table->a, &c->tree, err);
	if (r < 0)
		return r;
	c->begin_ns = v->traces[rows->table->a].timestamp_ns - v->origin_ns;
	c->self_ns = zts_tree_self(c->tree);
	return c->self_ns ? 0 : pm_error_plain(err, -ENOMEM);
}

static int calls_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct cursor *c = rows->own;
	(void)err;
	if (rows->at >= c->tree->n)
		return 0;
	const struct zts_call *root = &c->tree->calls[0], *call = &c->tree->calls[rows->at];
	zts_sum self_ns = c->self_ns[rows->at++];
	int64_t duration_ns;
	bool ended = zts_call_duration(call, &duration_ns);
	int64_t time_ns;
	bool started = zts_call_delay(root, call, &time_ns) &&
		!__builtin_add_overflow(c->begin_ns, time_ns, &time_ns);
	zts_name_method(zts_texts_of(c->z, call->store), call->method, rows->scratch);
	cells[0] = started ? pm_cell_i64(time_ns) : pm_cell_empty();
	cells[1] = ended ? pm_cell_i64(duration_ns) : pm_cell_empty();
	cells[2] = ended ? zts_sum_cell(self_ns) : pm_cell_empty();
	cells[3] = pm_cell_u64(call->depth);
	cells[4] = pm_cell_u64(call->calls);
	cells[5] = pm_cell_u64((call->flags & ZTS_FLAG_ERROR) != 0);
	cells[6] = pm_cell_text(pm_text_view(rows->scratch));
	return 1;
}

static int attrs_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct cursor *c = rows->own;
	const struct zts_call *root = &c->tree->calls[0];
	(void)err;
	if (rows->at >= root->n_attrs)
		return 0;
	const struct zts_attr *attr = &c->tree->attrs[root->attr + rows->at++];
	cells[0] = pm_cell_text(attr->key);
	cells[1] = pm_cell_text(attr->value);
	return 1;
}

static const struct pm_table_type calls_type = {
	.next = calls_next, .start = trace_start, .done = trace_done};
static const struct pm_table_type attrs_type = {
	.next = attrs_next, .start = trace_start, .done = trace_done};

struct pm_table zts_calls_table(const struct zts_opened *z, uint32_t trace)
{
	return (struct pm_table){&calls_type, call_columns, 7, z, trace};
}

struct pm_table zts_trace_attrs_table(const struct zts_opened *z, uint32_t trace)
{
	return (struct pm_table){&attrs_type, attr_columns, 2, z, trace};
}

/*
 * ==== trace.json ====
 * trace.json: one trace with all its calls, names resolved. See docs/formats/zts.md.
 */

struct writer {
	const struct zts_opened *z;
	const struct zts_trace *trace;
	const struct zts_tree *tree;
	struct pm_json json;
	struct pm_text scratch;
};

typedef void naming(const struct zts_texts *t, uint64_t id, struct pm_text *out);

static void key_name(
	struct writer *w, const char *key, const struct zts_texts *t, naming *name, uint64_t id)
{
	pm_text_clear(&w->scratch);
	name(t, id, &w->scratch);
	pm_json_key(&w->json, key);
	pm_json_text(&w->json, pm_text_view(&w->scratch));
}

static void key_u64(struct writer *w, const char *key, uint64_t u)
{
	pm_json_key(&w->json, key);
	pm_json_u64(&w->json, u);
}

/* `known` false: null */
static void key_time(struct writer *w, const char *key, bool known, int64_t i)
{
	pm_json_key(&w->json, key);
	if (known)
		pm_json_i64(&w->json, i);
	else
		pm_json_null(&w->json);
}

static void key_bool(struct writer *w, const char *key, bool b)
{
	pm_json_key(&w->json, key);
	pm_json_bool(&w->json, b);
}

/* An id of n words. */
static void key_id(struct writer *w, const char *key, bool known, const uint64_t *id, size_t n)
{
	pm_json_key(&w->json, key);
	if (!known) {
		pm_json_null(&w->json);
		return;
	}
	pm_text_clear(&w->scratch);
	for (size_t i = 0; i < n; i++)
		pm_text_hex(&w->scratch, id[i], 16);
	pm_json_text(&w->json, pm_text_view(&w->scratch));
}

/* ---- exceptions ---- */

static void write_stack(struct writer *w, const struct zts_texts *t, uint64_t stack_id)
{
	struct zts_frames frames = {.begun = false};
	struct zts_frame frame;
	pm_json_key(&w->json, "stack");
	pm_json_open(&w->json, '[');
	while (zts_frames_next(t, stack_id, &frames, &frame)) {
		naming *name = frame.known ? zts_name_string : zts_name_unknown;
		pm_json_open(&w->json, '{');
		key_name(w, "class", t, name, frame.known ? frame.class_id : frame.id);
		key_name(w, "method", t, name, frame.known ? frame.method_id : frame.id);
		key_name(w, "file", t, name, frame.file_id);
		key_u64(w, "line", frame.line);
		pm_json_close(&w->json, '}');
	}
	pm_json_close(&w->json, ']');
}

/* The exception and its causes, each inside the previous one. */
static void write_exception(struct writer *w, const struct zts_texts *t, uint64_t id)
{
	struct zts_exception e = {0};
	unsigned depth = 0;
	pm_json_key(&w->json, "exception");
	for (; id != 0 && depth < PM_LIMIT_CAUSES; id = e.cause_id, depth++) {
		pm_json_open(&w->json, '{');
		key_u64(w, "id", id);
		if (!zts_exception_find(t, id, &e)) {
			e = (struct zts_exception){0};
			key_name(w, "class", t, zts_name_unknown, id);
		} else {
			key_name(w, "class", t, zts_name_string, e.class_id);
		}
		key_name(w, "message", t, zts_name_string, e.message_id);
		write_stack(w, t, e.stack_id);
		pm_json_key(&w->json, "cause");
	}
	pm_json_null(&w->json);
	while (depth-- > 0)
		pm_json_close(&w->json, '}');
}

/* ---- calls ---- */

static void write_attributes(struct writer *w, const struct zts_call *call)
{
	pm_json_key(&w->json, "attributes");
	pm_json_open(&w->json, '{');
	for (uint32_t i = 0; i < call->n_attrs; i++) {
		const struct zts_attr *attr = &w->tree->attrs[call->attr + i];
		pm_json_key_bytes(&w->json, attr->key);
		if (attr->is_text)
			pm_json_text(&w->json, attr->value);
		else
			pm_json_raw(&w->json, attr->value);
	}
	pm_json_close(&w->json, '}');
}

/* Fields that only some calls have. */
static void write_rare(struct writer *w, const struct zts_texts *t, const struct zts_call *call)
{
	if (call->has & ZTS_HAS_FLAGS)
		key_u64(w, "flags", call->flags);
	if (call->has & ZTS_HAS_EXCEPTION)
		write_exception(w, t, call->exception);
	if (call->has & ZTS_HAS_TIMESTAMP)
		key_u64(w, "timestamp_ns", call->timestamp_ms * ZTS_MS_NS);
	if (call->has & ZTS_HAS_SPAN)
		key_id(w, "span_id", true, &call->span_id, 1);
	if (call->has & ZTS_HAS_PARENT)
		key_id(w, "parent_id", true, &call->parent_id, 1);
	if (call->has & ZTS_HAS_TYPE)
		key_u64(w, "type", call->type);
	if (call->has & ZTS_IS_OPEN)
		key_bool(w, "open", true);
}

/* The beginning of a call, up to its children. */
static void begin_call(struct writer *w, const struct zts_call *call)
{
	const struct zts_texts *t = zts_texts_of(w->z, call->store);
	const struct zts_call *root = &w->tree->calls[0];
	int64_t duration_ns;
	bool ended = zts_call_duration(call, &duration_ns);
	int64_t delay_ns;
	bool started = zts_call_delay(root, call, &delay_ns);
	pm_json_open(&w->json, '{');
	key_name(w, "method", t, zts_name_method, call->method);
	key_name(w, "class", t, zts_name_class, call->method);
	key_u64(w, "method_id", call->method);
	key_time(w, "tstart", call->has & ZTS_HAS_TSTART, (int64_t)call->tstart);
	key_time(w, "tstop", call->has & ZTS_HAS_TSTOP, (int64_t)call->tstop);
	key_time(w, "duration", ended, duration_ns / (int64_t)ZTS_TICK_NS);
	key_time(w, "time_ns", started, delay_ns);
	key_time(w, "duration_ns", ended, duration_ns);
	key_u64(w, "calls", call->calls);
	key_bool(w, "error", call->flags & ZTS_FLAG_ERROR);
	write_rare(w, t, call);
	write_attributes(w, call);
	pm_json_key(&w->json, "children");
	pm_json_open(&w->json, '[');
}

static void write_tree(struct writer *w)
{
	uint32_t open = 0;
	pm_json_key(&w->json, "tree");
	/* A key needs a value, even if the text has failed. */
	for (uint32_t i = 0; i < w->tree->n && (i == 0 || !w->json.out->failed); i++) {
		for (; open > w->tree->calls[i].depth; open--) {
			pm_json_close(&w->json, ']');
			pm_json_close(&w->json, '}');
		}
		begin_call(w, &w->tree->calls[i]);
		open++;
	}
	for (; open > 0; open--) {
		pm_json_close(&w->json, ']');
		pm_json_close(&w->json, '}');
	}
}

/* ---- the trace ---- */

static void write_chunks(struct writer *w, const struct zts_survey *v)
{
	pm_json_key(&w->json, "chunks");
	pm_json_open(&w->json, '[');
	for (uint32_t i = 0; i < w->trace->n_parts; i++) {
		const struct zts_part *p = &v->parts[w->trace->part + i];
		pm_json_open(&w->json, '{');
		pm_json_key(&w->json, "store");
		pm_json_str(&w->json, w->z->stores.items[p->store].number);
		key_u64(w, "chunk", p->chunk);
		key_u64(w, "offset", p->data_offset);
		key_u64(w, "start", p->start_offset);
		pm_json_close(&w->json, '}');
	}
	pm_json_close(&w->json, ']');
}

static void write_trace(struct writer *w, const struct zts_survey *v)
{
	const struct zts_trace *t = w->trace;
	const struct zts_call *root = &w->tree->calls[0];
	pm_json_open(&w->json, '{');
	key_id(w, "trace_id", t->has_trace_id, t->trace_id, 2);
	key_id(w, "span_id", t->span_id != 0, &t->span_id, 1);
	key_id(w, "parent_id", t->parent_id != 0, &t->parent_id, 1);
	pm_json_key(&w->json, "store");
	pm_json_str(&w->json, w->z->stores.items[t->store].number);
	key_u64(w, "timestamp_ns", t->timestamp_ns);
	key_time(w, "duration_ns", t->duration_ns != PM_NO_TIME, (int64_t)t->duration_ns);
	key_u64(w, "calls", t->calls);
	key_u64(w, "records", t->records);
	key_u64(w, "errors", t->errors);
	key_bool(w, "error", t->error);
	key_name(w, "method", zts_texts_of(w->z, root->store), zts_name_method, root->method);
	write_chunks(w, v);
	write_tree(w);
	pm_json_close(&w->json, '}');
	pm_text_char(w->json.out, '\n');
}

int zts_render_trace_json(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct zts_opened *z = doc->text.self;
	const struct zts_survey *v;
	struct writer w = {.z = z, .json = {.out = out, .first = true}};
	int r = zts_get_survey(z, &v, err);
	if (r == 0)
		r = zts_get_tree(z, (uint32_t)doc->text.a, &w.tree, err);
	if (r < 0)
		return r;
	w.trace = &v->traces[doc->text.a];
	write_trace(&w, v);
	zts_release_tree(z, w.tree);
	pm_text_end(&w.scratch, out);
	return 0;
}

/*
 * ==== texts ====
 * tree.txt and exception.txt: a trace as readable text.
 */

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

static void text_call(const struct zts_opened *z, const struct zts_call *call, int64_t whole_ns,
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
static void text_attributes(
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
		text_call(z, &tree->calls[i], whole_ns, &name, out);
		text_attributes(tree, &tree->calls[i], out);
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
static void text_exception(
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
		text_exception(t, call->exception, &scratch, out);
	}
	pm_text_end(&scratch, out);
	zts_release_tree(z, tree);
	return 0;
}

/* ==== chunks: `a` of these documents is the store and `b` the chunk ==== */

int zts_render_payload(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct zts_stores *s = zts_stores_of(doc->text.self);
	const struct zts_payload *payload;
	int r = zts_payload_get(
		s, (uint32_t)doc->text.a, (uint32_t)doc->text.b, true, &payload, err);
	if (r < 0)
		return r;
	/* Not at once: where the text flows, it is never whole in memory. */
	enum { PIECE = 1 << 20 };
	for (size_t at = 0; at < payload->bytes.len && !out->failed; at += PIECE) {
		size_t left = payload->bytes.len - at;
		pm_text_add(out, payload->bytes.p + at, left < PIECE ? left : PIECE);
	}
	zts_payload_release(s, payload);
	return 0;
}

int zts_render_payload_json(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct zts_stores *s = zts_stores_of(doc->text.self);
	const struct zts_payload *payload;
	int r = zts_payload_get(
		s, (uint32_t)doc->text.a, (uint32_t)doc->text.b, true, &payload, err);
	if (r < 0)
		return r;
	r = zts_payload_write(payload->bytes, out, err);
	zts_payload_release(s, payload);
	return r == -EINVAL ? -EIO : r;
}

int zts_render_chunk_info(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct zts_opened *z = doc->text.self;
	const struct zts_store *store = &z->stores.items[doc->text.a];
	const struct zts_chunks *chunks = &store->chunks;
	const struct zts_survey *v;
	int r = zts_get_survey(z, &v, err);
	if (r < 0)
		return r;
	const struct zts_chunk *chunk = &chunks->chunks[doc->text.b];
	pm_text_printf(out, "store: %s\n", store->number);
	pm_text_printf(out, "chunk: %llu\n", (unsigned long long)doc->text.b);
	pm_text_printf(out, "offset: %llu\n", (unsigned long long)chunk->offset);
	pm_text_printf(out, "compressed_bytes: %u\n", chunk->compressed_bytes);
	pm_text_printf(out, "bytes: %u\n", chunk->bytes);
	pm_text_printf(out, "checksum: %08x\n", chunk->checksum);
	pm_text_printf(out, "checksums recorded: %s\n", zts_has_checksums(chunks) ? "yes" : "no");
	pm_text_printf(out, "flags: %08x\n", chunks->flags);
	pm_text_printf(out, "compression: %s\n", zts_codec_text(chunks->codec));
	pm_text_printf(
		out, "status: %s\n", zts_status_text(v->scans[doc->text.a].status[doc->text.b]));
	return 0;
}
