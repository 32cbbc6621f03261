/*
 * Fields of tracepoints: what each sample recorded, by the descriptions of the kernel that are in
 * the file (the feature and the record "tracing data").
 */
#include "formats/common/json.h"
#include "formats/perf/data.h"

/* Real tracepoints have up to 60 fields, with names of 40 bytes. */
enum { MOST_FIELDS = 256, LONGEST_NAME = 128 };

enum perf_field_kind { FIELD_NUMBER, FIELD_TEXT, FIELD_BYTES };

struct perf_field {
	struct pm_bytes name;
	uint32_t offset, size;
	enum perf_field_kind kind;
	bool is_signed;
	bool is_elsewhere; /* at its place is where it is: offset and size, two halves of 32 bits */
};

struct perf_trace_event {
	struct pm_bytes name;
	struct perf_field *fields;
	uint32_t n;
	bool big;
};

/* A sample of a tracepoint. */
struct perf_traced {
	uint64_t time;
	const struct perf_trace_event *of;
	const uint8_t *raw;
	uint32_t len, pid, tid;
};

/* ---- descriptions ---- */

/* Behind `key` up to `end`; false if it is not in there. */
static bool between(struct pm_bytes line, const char *key, char end, struct pm_bytes *ret)
{
	const uint8_t *at = line.len ? memmem(line.p, line.len, key, strlen(key)) : NULL;
	if (!at)
		return false;
	at += strlen(key);
	size_t left = line.len - (size_t)(at - line.p);
	const uint8_t *stop = left ? memchr(at, end, left) : NULL;
	*ret = (struct pm_bytes){at, stop ? (size_t)(stop - at) : left};
	return true;
}

static uint32_t number_in(struct pm_bytes line, const char *key)
{
	struct pm_bytes digits;
	uint64_t n = 0;
	if (!between(line, key, ';', &digits))
		return 0;
	for (size_t i = 0;
		i < digits.len && digits.p[i] >= '0' && digits.p[i] <= '9' && n < UINT32_MAX / 10;
		i++)
		n = n * 10 + (digits.p[i] - '0');
	return (uint32_t)n;
}

/* `field:DECLARATION; offset:N; size:N; signed:N;`; false if it is none, or of all events alike. */
static bool read_field(struct perf *f, struct pm_bytes line, struct perf_field *ret)
{
	struct pm_bytes is;
	if (!between(line, "field:", ';', &is) || is.len == 0)
		return false;
	bool is_array = memchr(is.p, '[', is.len) != NULL;
	*ret = (struct perf_field){.offset = number_in(line, "offset:"),
		.size = number_in(line, "size:"),
		.is_signed = number_in(line, "signed:") == 1,
		.is_elsewhere = perf_starts(is, "__data_loc")};
	struct pm_bytes name = is;
	if (name.p[name.len - 1] == ']') /* NAME[16] */
		name.len = (size_t)((const uint8_t *)memrchr(name.p, '[', name.len) - name.p);
	const uint8_t *blank = name.len ? memrchr(name.p, ' ', name.len) : NULL;
	if (blank)
		name = (struct pm_bytes){blank + 1, name.len - 1 - (size_t)(blank - name.p)};
	bool is_text = is_array && memmem(is.p, is.len, "char", 4);
	ret->kind = is_text                                         ? FIELD_TEXT
		: !is_array && !ret->is_elsewhere && ret->size <= 8 ? FIELD_NUMBER
								    : FIELD_BYTES;
	if (perf_starts(name, "common_") || perf_starts(is, "__rel_loc") || ret->size == 0 ||
		name.len == 0 || name.len > LONGEST_NAME)
		return false;
	ret->name = pm_rec_copy(f->r, name);
	return true;
}

static void read_format(struct perf *f, struct pm_bytes text)
{
	struct pm_bytes rest = text;
	struct perf_field *fields = NULL;
	size_t n = 0, room = 0;
	uint64_t id = number_in(text, "\nID: ");
	bool fresh;
	while (rest.len > 0 && n < MOST_FIELDS) {
		const uint8_t *end = memchr(rest.p, '\n', rest.len);
		struct pm_bytes line = {rest.p, end ? (size_t)(end - rest.p) : rest.len};
		rest.p += line.len + (end != NULL);
		rest.len -= line.len + (end != NULL);
		pm_items_grow(&f->arena, &fields, n, &room, sizeof(*fields));
		n += read_field(f, line, &fields[n]);
	}
	struct perf_trace_event *event = pm_rec_alloc(f->r, sizeof(*event));
	struct perf_field *kept = n ? pm_rec_alloc(f->r, n * sizeof(*kept)) : NULL;
	if (event && kept && pm_map_put(&f->trace_index, id, (uint32_t)f->n_trace_events, &fresh) &&
		fresh) {
		pm_items_grow(&f->arena, &f->trace_events, f->n_trace_events, &f->trace_events_room,
			sizeof(*f->trace_events));
		memcpy(kept, fields, n * sizeof(*kept));
		*event = (struct perf_trace_event){.fields = kept, .n = (uint32_t)n, .big = f->big};
		f->trace_events[f->n_trace_events++] = event;
	}
	pm_arena_free(&f->arena, fields);
}

static struct pm_bytes sized(struct pm_cur *c)
{
	uint64_t n = pm_cur_u64(c);
	if (n > pm_cur_left(c))
		c->bad = true;
	return pm_cur_bytes(c, c->bad ? 0 : (size_t)n);
}

void perf_take_tracing(struct perf *f, struct pm_bytes b)
{
	static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
	struct pm_cur c = perf_cur(f, b);
	const uint8_t *is = pm_cur_take(&c, sizeof(magic));
	if (!is || memcmp(is, magic, sizeof(magic)) != 0)
		return;
	pm_cur_cstr(&c);                   /* version */
	pm_cur_bytes(&c, 1 + 1 + 4);       /* byte order, size of a long, of a page */
	for (unsigned i = 0; i < 2; i++) { /* header_page, header_event */
		pm_cur_cstr(&c);
		sized(&c);
	}
	for (uint32_t n = pm_cur_u32(&c); n > 0 && !c.bad; n--)
		sized(&c); /* of ftrace itself */
	for (uint32_t n = pm_cur_u32(&c); n > 0 && !c.bad; n--) {
		pm_cur_cstr(&c);
		for (uint32_t k = pm_cur_u32(&c); k > 0 && !c.bad && pm_rec_goes_on(f->r); k--) {
			struct pm_bytes text = sized(&c);
			if (!c.bad)
				read_format(f, text);
		}
	}
	if (c.bad)
		pm_rec_damage(f->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"the descriptions of tracepoints end too early: some fields are unknown");
}

/* ---- samples ---- */

void perf_take_traced(struct perf *f, const struct perf_sample *s)
{
	enum { TRACEPOINT = 2 };
	if (s->event->type != TRACEPOINT || s->raw.len == 0)
		return;
	const uint32_t *at = pm_map_find(&f->trace_index, s->event->config);
	if (!at)
		return;
	pm_items_grow(&f->arena, &f->traced, f->n_traced, &f->traced_room, sizeof(*f->traced));
	struct pm_bytes file = pm_rec_bytes(f->r), raw = s->raw;
	/* What was decompressed is gone once all is read. */
	if (raw.p < file.p || raw.p >= file.p + file.len)
		raw = pm_rec_copy(f->r, raw);
	struct perf_trace_event *of = f->trace_events[*at];
	of->name = s->event->name;
	f->traced[f->n_traced++] = (struct perf_traced){.time = s->time,
		.of = of,
		.raw = raw.p,
		.len = (uint32_t)raw.len,
		.pid = (uint32_t)s->pid,
		.tid = (uint32_t)s->tid};
}

/* ---- the table ---- */

/* Writes a field, unless it is longer than `*left`: what is left of all that was recorded. */
static void write_field(struct pm_json *json, const struct perf_traced *t,
	const struct perf_field *is, uint64_t *left)
{
	static const char digits[] = "0123456789abcdef";
	bool big = t->of->big;
	struct pm_bytes all = {t->raw, t->len}, b;
	uint64_t offset = is->offset, size = is->size, u = 0;
	if (is->is_elsewhere && pm_bytes_sub(all, offset, 4, &b)) {
		uint32_t where = big ? pm_be32(b.p) : pm_le32(b.p);
		offset = where & 0xffff;
		size = where >> 16;
	}
	if (size > *left || !pm_bytes_sub(all, offset, size, &b))
		return;
	*left -= size;
	pm_json_key_bytes(json, is->name);
	if (is->kind == FIELD_TEXT) {
		pm_json_text(json, perf_string(b));
	} else if (is->kind == FIELD_NUMBER) {
		for (size_t i = 0; i < b.len; i++)
			u = u << 8 | b.p[big ? i : b.len - 1 - i];
		if (is->is_signed && b.len > 0)
			pm_json_i64(json, (int64_t)(u << (64 - 8 * b.len)) >> (64 - 8 * b.len));
		else
			pm_json_u64(json, u);
	} else {
		char hex[2 * 64 + 1];
		size_t n = b.len < 64 ? b.len : 64;
		for (size_t i = 0; i < n; i++) {
			hex[2 * i] = digits[b.p[i] >> 4];
			hex[2 * i + 1] = digits[b.p[i] & 15];
		}
		pm_json_text(json, (struct pm_bytes){(const uint8_t *)hex, 2 * n});
	}
}

static void write_fields(struct pm_rows *rows, const void *record, struct pm_text *out)
{
	const struct perf_traced *t = record;
	struct pm_json json = {.out = out};
	uint64_t left = t->len;
	(void)rows;
	pm_json_open(&json, '{');
	for (uint32_t i = 0; i < t->of->n; i++)
		write_field(&json, t, &t->of->fields[i], &left);
	pm_json_close(&json, '}');
}

static struct pm_cell event_cell(struct pm_rows *rows, const void *field)
{
	const struct perf_trace_event *const *of = field;
	(void)rows;
	return pm_cell_text((*of)->name);
}

static int traced_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	ret->p = (const struct perf_traced *)rows->table->self + rows->at;
	return rows->at < rows->table->end;
}

#define T struct perf_traced
static const struct pm_column columns[] = {PM_COLUMN(T, time, "timestamp_ns"),
	PM_COLUMN_OR_NONE(T, pid, "process"), PM_COLUMN_OR_NONE(T, tid, "thread"),
	PM_COLUMN_BY(T, of, "event", event_cell), PM_RECORD_WRITTEN("fields", write_fields)};
static const struct pm_sheet events =
	PM_SHEET("raw/events.csv", columns, traced_record, .dense = true);

void perf_add_traced(struct perf *f)
{
	T *all = f->n_traced ? pm_rec_alloc(f->r, f->n_traced * sizeof(*all)) : NULL;
	if (!all)
		return;
	memcpy(all, f->traced, f->n_traced * sizeof(*all));
	pm_rec_sheet(f->r, &events, all, f->n_traced);
}
