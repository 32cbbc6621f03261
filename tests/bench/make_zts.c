/*
 * Writes a big valid ZTS0 store (second generation, deflated, with checksums), the same bytes
 * every time:
 *
 *     make_zts DIR MEGABYTES [PATHS[,FUNCTIONS[,DEPTH[,SKEW]]]]
 *
 * MEGABYTES of traces.dat: a chunk for each trace, of some hundred calls. With PATHS they are of a
 * wide tree (program.h). Of each trace, only its row of the index is kept until the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/inflate.h"
#include "tests/bench/make.h"
#include "tests/bench/program.h"
#include "tests/zts/writer.h"

enum {
	CLASSES = 100,
	METHODS = 2000,
	KEY_METHOD = 1, /* ids of texts */
	KEY_USER = 2,
	SIGNATURE = 3,
	USERS = 50,
	FIRST_USER = 10,
	FIRST_CLASS = FIRST_USER + USERS,
	FIRST_NAME = FIRST_CLASS + CLASSES,
	FIRST_METHOD = FIRST_NAME + METHODS, /* of a narrow tree */
	TRACE_CALLS = 400,                   /* of a wide one, about */
	GZIP_HEAD = 10,
	GZIP_TAIL = 8,
	DEFLATED_CHECKED = 0x11,
};

#define BEGIN_MS 1558000000000ull
#define STEP_MS  50

struct trace {
	uint64_t at;
	uint32_t calls, records, ticks, method;
};

struct store {
	const char *folder;
	uint64_t bytes;
	struct trace *traces;
	size_t n, room;
	uint64_t clock; /* ticks, while a trace is made */
	uint32_t methods;
	struct program *program; /* a wide tree, or NULL */
	uint32_t *calls;         /* by depth: of each open call, those below it and itself */
};

/* ---- text-….wal ---- */

static void put_wal_number(struct pm_text *t, uint64_t v)
{
	if (v >= 64)
		put_wal_number(t, v / 64);
	pm_text_char(t, (char)(0x30 + v % 64));
}

static void put_text(struct pm_text *t, uint64_t id, const char *text)
{
	put_wal_number(t, id);
	pm_text_char(t, 1);
	pm_text_str(t, text);
	pm_text_char(t, 2);
	put_wal_number(t, id);
	pm_text_char(t, 3);
}

static void put_method(const struct store *s, struct pm_text *t, uint32_t i)
{
	struct pm_text text = {.p = NULL};
	pm_text_char(&text, 11);
	put_wal_number(&text, FIRST_CLASS + i % CLASSES);
	pm_text_char(&text, 11);
	put_wal_number(&text, FIRST_NAME + i);
	pm_text_char(&text, 11);
	put_wal_number(&text, SIGNATURE);
	pm_text_char(&text, 11);
	pm_text_char(&text, 0);
	put_text(t, FIRST_NAME + s->methods + i, text.p);
	pm_text_done(&text);
}

static void write_texts(const struct store *s)
{
	struct pm_text t = {.p = NULL};
	char text[64];
	pm_text_str(&t, "WAL\3");
	put_text(&t, KEY_METHOD, "call.method");
	put_text(&t, KEY_USER, "user");
	put_text(&t, SIGNATURE, "\10(I)V\10");
	for (unsigned i = 0; i < USERS; i++) {
		snprintf(text, sizeof(text), "user%u@example.org", i);
		put_text(&t, FIRST_USER + i, text);
	}
	for (unsigned i = 0; i < CLASSES; i++) {
		snprintf(text, sizeof(text), "\5com.shop.service.Service%u\5", i);
		put_text(&t, FIRST_CLASS + i, text);
	}
	for (unsigned i = 0; i < s->methods; i++) {
		snprintf(text, sizeof(text), "\6handle%u\6", i);
		put_text(&t, FIRST_NAME + i, text);
	}
	for (unsigned i = 0; i < s->methods; i++)
		put_method(s, &t, i);
	for (unsigned i = 0; i < 64; i++)
		pm_text_char(&t, 0);
	out_open(s->folder, "text-00000001.wal");
	out_bytes(t.p, t.len);
	out_close();
	pm_text_done(&t);
}

/* ---- traces.dat ---- */

/* A call and what it calls, down to `depth` levels below it. Returns how many. */
static uint32_t put_call(struct store *s, struct pm_text *p, uint32_t what, uint32_t depth)
{
	uint32_t n = 1, children = depth ? 2 + make_mix(what) % 4 : 0;
	zts_put_begin(p, s->clock++, FIRST_METHOD + make_mix(what + 1) % METHODS);
	for (uint32_t i = 0; i < children; i++)
		n += put_call(s, p, what * 5 + i + 1, depth - 1);
	s->clock += make_mix(what + 2) % 16;
	zts_put_end(p, s->clock, n);
	return n;
}

/* Calls of a wide tree until one at its top returns and there are enough. Returns how many. */
static uint32_t put_wide_calls(struct store *s, struct pm_text *p)
{
	struct program_event e;
	uint32_t n = 0, depth = 1;
	while ((n < TRACE_CALLS || depth > 1) && program_next(s->program, &e)) {
		depth = e.depth + e.call;
		if (e.call) {
			s->calls[e.depth] = 1;
			zts_put_begin(p, s->clock, FIRST_NAME + s->methods + e.function);
			n++;
		} else {
			zts_put_end(p, s->clock, s->calls[e.depth]);
			s->calls[e.depth - 1] += s->calls[e.depth];
		}
		s->clock += make_mix((uint32_t)s->clock) % 512;
	}
	return n;
}

/* Returns how many calls. */
static uint32_t put_calls(struct store *s, struct pm_text *p, uint32_t shape)
{
	uint32_t n = 0;
	if (s->program)
		return put_wide_calls(s, p);
	for (uint32_t i = 0; i < 3; i++)
		n += put_call(s, p, shape + i, 4);
	return n;
}

static void make_trace(struct store *s, struct pm_text *p)
{
	uint32_t n = (uint32_t)s->n, shape = n % 512 * 1000;
	struct trace *t = &s->traces[s->n];
	uint64_t begin = 1000 + (uint64_t)n * STEP_MS * 1000000 / 65536;
	s->clock = begin;
	*t = (struct trace){.method = FIRST_METHOD + make_mix(shape + 1) % METHODS, .calls = 1};
	if (s->program)
		t->method = FIRST_NAME + s->methods;
	zts_put_begin(p, begin, t->method);
	zts_put_info(p, 0x05, BEGIN_MS + (uint64_t)n * STEP_MS);
	zts_put_info(p, 0x12, n + 1);
	zts_put_attr(p, KEY_USER, FIRST_USER + make_mix(n) % USERS);
	t->calls += put_calls(s, p, shape);
	t->records = t->calls;
	t->ticks = (uint32_t)(s->clock - begin);
	zts_put_end(p, s->clock, t->calls);
}

static void big_endian(uint64_t v, unsigned bytes)
{
	out_int(__builtin_bswap64(v) >> (64 - 8 * bytes), bytes);
}

/* Returns the chunk's bytes. */
static uint64_t put_chunk(struct pm_bytes payload)
{
	struct pm_text gzip = {.p = NULL};
	pm_gzip(&gzip, payload);
	if (pm_text_status(&gzip) < 0)
		make_die("no memory");
	struct pm_bytes data = {
		(const uint8_t *)gzip.p + GZIP_HEAD, gzip.len - GZIP_HEAD - GZIP_TAIL};
	out_bytes("ZCH0", 4);
	big_endian(data.len, 4);
	big_endian(payload.len, 4);
	big_endian(pm_crc32(0, data), 4);
	out_bytes(data.p, data.len);
	pm_text_done(&gzip);
	return 16 + data.len;
}

static void write_traces(struct store *s)
{
	struct pm_text p = {.p = NULL};
	uint64_t at = 16;
	out_open(s->folder, "traces.dat");
	out_bytes("ZTS0", 4);
	big_endian(DEFLATED_CHECKED, 4);
	out_zeros(8);
	while (at < s->bytes || (s->program && !program_is_complete(s->program))) {
		if (s->n == s->room) {
			s->room = s->room * 2 + 1024;
			s->traces = realloc(s->traces, s->room * sizeof(*s->traces));
			if (!s->traces)
				make_die("no memory");
		}
		pm_text_clear(&p);
		make_trace(s, &p);
		s->traces[s->n++].at = at;
		at += put_chunk(pm_text_view(&p));
	}
	out_close();
	pm_text_done(&p);
}

/* ---- meta.db.p ---- */

static void write_index(const struct store *s)
{
	struct pm_text t = {.p = NULL};
	out_open(s->folder, "meta.db.p");
	for (size_t i = 0; i < s->n; i++) {
		const struct trace *trace = &s->traces[i];
		uint64_t begin = 1000 + (uint64_t)i * STEP_MS * 1000000 / 65536;
		struct zts_record record = {.trace_id = {1, i + 1},
			.span_id = i + 1,
			.flags = 0x60,
			.timestamp_ns = (BEGIN_MS + i * STEP_MS) * 1000000,
			.duration_ns = (uint64_t)trace->ticks << 16,
			.data_offset = trace->at,
			.calls = trace->calls,
			.records = trace->records,
			.tstart = begin,
			.tstop = begin + trace->ticks,
			.method_key = KEY_METHOD,
			.method = trace->method};
		zts_put_meta(&t, &record);
		out_bytes(t.p, t.len);
		pm_text_clear(&t);
	}
	out_close();
	pm_text_done(&t);
}

int main(int argc, char **argv)
{
	if (argc != 3 && argc != 4) {
		fprintf(stderr,
			"usage: make_zts DIR MEGABYTES [PATHS[,FUNCTIONS[,DEPTH[,SKEW]]]]\n");
		return 2;
	}
	struct store s = {
		.folder = argv[1], .bytes = make_number(argv[2]) * 1000000, .methods = METHODS};
	if (argc == 4) {
		struct program_shape shape = program_parse(argv[3]);
		s.methods = shape.functions;
		s.program = program_new(shape);
		s.calls = calloc((size_t)shape.depth + 1, sizeof(*s.calls));
		if (!s.calls)
			make_die("no memory");
	}
	make_folder(s.folder);
	write_texts(&s);
	write_traces(&s);
	write_index(&s);
	if (s.program)
		program_free(s.program);
	free(s.calls);
	free(s.traces);
	return 0;
}
