/* trace.json: one trace with all its calls, names resolved. See docs/formats/zts.md. */
#include "formats/common/json.h"
#include "formats/zts/names.h"
#include "formats/zts/parts.h"
#include "formats/zts/records.h"
#include "profmount/limits.h"

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
static void key_known(struct writer *w, const char *key, bool known, uint64_t u)
{
	pm_json_key(&w->json, key);
	if (known)
		pm_json_u64(&w->json, u);
	else
		pm_json_null(&w->json);
}

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

static void key_id(struct writer *w, const char *key, bool known, uint64_t id)
{
	pm_json_key(&w->json, key);
	if (!known) {
		pm_json_null(&w->json);
		return;
	}
	pm_text_clear(&w->scratch);
	pm_text_hex(&w->scratch, id, 16);
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
		key_id(w, "span_id", true, call->span_id);
	if (call->has & ZTS_HAS_PARENT)
		key_id(w, "parent_id", true, call->parent_id);
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
	key_known(w, "tstart", call->has & ZTS_HAS_TSTART, call->tstart);
	key_known(w, "tstop", call->has & ZTS_HAS_TSTOP, call->tstop);
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

static void write_trace_id(struct writer *w)
{
	pm_json_key(&w->json, "trace_id");
	if (!w->trace->has_trace_id) {
		pm_json_null(&w->json);
		return;
	}
	pm_text_clear(&w->scratch);
	pm_text_hex(&w->scratch, w->trace->trace_id[0], 16);
	pm_text_hex(&w->scratch, w->trace->trace_id[1], 16);
	pm_json_text(&w->json, pm_text_view(&w->scratch));
}

static void write_trace(struct writer *w, const struct zts_survey *v)
{
	const struct zts_trace *t = w->trace;
	const struct zts_call *root = &w->tree->calls[0];
	pm_json_open(&w->json, '{');
	write_trace_id(w);
	key_id(w, "span_id", t->span_id != 0, t->span_id);
	key_id(w, "parent_id", t->parent_id != 0, t->parent_id);
	pm_json_key(&w->json, "store");
	pm_json_str(&w->json, w->z->stores.items[t->store].number);
	key_u64(w, "timestamp_ns", t->timestamp_ns);
	key_known(w, "duration_ns", t->duration_ns != PM_NO_TIME, t->duration_ns);
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
