/*
 * Pynytprof's chunks: a tag, a length of 4 bytes and a payload each: records of fixed size or with
 * a text that ends in NUL. They are not compressed, so the file's size limits the number of rows.
 * In its few weeks of existence, the writer used different contents under the letters D and F, and
 * in its last days packed numbers like NYTProf's records. So a payload is decoded in every known
 * way, and the first one that uses it up exactly is accepted.
 */
#include "formats/nytprof/nytprof.h"

#include <stdio.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"

/* ==== payloads ==== */

enum { COUNTS_SIZE = 28, EVENT_SIZE = 17, FILE_ID_SIZE = 8, NUMBER_MOST = 5 };

#define OK       "ok"
#define LEFTOVER "its length is not a multiple of the record size"
#define UNKNOWN  "no known layout"

/* The next row of a list. */
#define ADD(f, list)                                                                               \
	(pm_list_grow((f)->arena, &(f)->py.list, (f)->py.n_##list, &(f)->py.list##_room,           \
		 sizeof(*(f)->py.list)),                                                           \
		&(f)->py.list[(f)->py.n_##list++])

/* ---- S and C: three numbers and two times a record ---- */

struct counts {
	uint32_t u[3];
	uint64_t ticks[2];
};

static uint32_t take_packed(struct pm_cur *c)
{
	uint8_t padded[NUMBER_MOST] = {0};
	uint32_t number;
	struct pm_cur ahead = *c;
	size_t left = pm_cur_left(c);
	struct pm_bytes bytes = pm_cur_bytes(&ahead, left < NUMBER_MOST ? left : NUMBER_MOST);
	if (bytes.len)
		memcpy(padded, bytes.p, bytes.len);
	pm_cur_take(c, (size_t)(nytp_varint_decode(padded, &number) - padded));
	return c->bad ? 0 : number;
}

static struct counts take_counts(struct pm_cur *c, bool packed)
{
	struct counts r;
	for (size_t i = 0; i < 3; i++)
		r.u[i] = packed ? take_packed(c) : pm_cur_u32(c);
	r.ticks[0] = pm_cur_u64(c);
	r.ticks[1] = pm_cur_u64(c);
	return r;
}

enum counts_layout { COUNTS_FIXED, COUNTS_PACKED, COUNTS_UNKNOWN };

/* The announced length of a chunk that is cut off by the end of the file. */
static enum counts_layout layout_of(struct pm_bytes payload, size_t whole)
{
	struct pm_cur c = pm_cur_of(payload, false);
	if (whole % COUNTS_SIZE == 0)
		return COUNTS_FIXED;
	while (pm_cur_left(&c))
		take_counts(&c, true);
	if (!c.bad)
		return COUNTS_PACKED;
	return payload.len < whole ? COUNTS_UNKNOWN : COUNTS_FIXED;
}

static const char *read_counts(
	struct nytp_file *f, uint8_t tag, struct pm_bytes payload, size_t whole)
{
	struct pm_cur c = pm_cur_of(payload, false);
	enum counts_layout layout = layout_of(payload, whole);
	bool packed = layout == COUNTS_PACKED;
	while (layout != COUNTS_UNKNOWN && pm_cur_left(&c) >= (packed ? 1 : COUNTS_SIZE)) {
		struct counts r = take_counts(&c, packed);
		if (tag == 'S')
			*ADD(f, samples) = (struct nytp_py_sample){.fid = r.u[0],
				.line = r.u[1],
				.calls = r.u[2],
				.incl = r.ticks[0],
				.excl = r.ticks[1]};
		else
			*ADD(f, edges) = (struct nytp_py_edge){.caller = r.u[0],
				.callee = r.u[1],
				.calls = r.u[2],
				.ticks = r.ticks[0],
				.sub_ticks = r.ticks[1]};
	}
	return pm_cur_left(&c) ? LEFTOVER : OK;
}

/* ---- D: statement events, names, or names with places ---- */

/* Each event begins with 1; a 0 follows the last one. */
static bool are_events(struct pm_bytes payload)
{
	if (payload.len % EVENT_SIZE != 1 || payload.p[payload.len - 1] != 0)
		return false;
	for (size_t at = 0; at + 1 < payload.len; at += EVENT_SIZE)
		if (payload.p[at] != 1)
			return false;
	return true;
}

static struct nytp_py_event take_event(struct pm_cur *c, bool packed)
{
	struct nytp_py_event e;
	pm_cur_take(c, 1);
	e.fid = packed ? take_packed(c) : pm_cur_u32(c);
	e.line = packed ? take_packed(c) : pm_cur_u32(c);
	e.ticks = pm_cur_u64(c);
	return e;
}

static bool are_packed_events(struct pm_bytes payload)
{
	struct pm_cur c = pm_cur_of(payload, false);
	while (pm_cur_left(&c) > 1) {
		if (payload.p[c.at] != 1)
			return false;
		take_event(&c, true);
	}
	return pm_cur_left(&c) == 1 && pm_cur_u8(&c) == 0;
}

static const char *read_events(struct nytp_file *f, struct pm_bytes payload, bool packed)
{
	struct pm_cur c = pm_cur_of(payload, false);
	while (pm_cur_left(&c) > 1)
		*ADD(f, events) = take_event(&c, packed);
	return OK;
}

static bool has_control(struct pm_bytes text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] < 0x20)
			return true;
	return false;
}

enum names { NAMES_NOT, NAMES_ODD, NAMES_GOOD };

/* Whether this is exactly a list of items with `head` bytes and a name each. */
static enum names are_names(struct pm_bytes payload, size_t head)
{
	struct pm_cur c = pm_cur_of(payload, false);
	bool odd = false;
	while (pm_cur_left(&c)) {
		pm_cur_take(&c, head);
		odd |= has_control(pm_cur_cstr(&c));
		if (c.bad)
			return NAMES_NOT;
	}
	return odd ? NAMES_ODD : NAMES_GOOD;
}

static const char *read_names(struct nytp_adding *a, struct pm_bytes payload, size_t head)
{
	struct pm_cur c = pm_cur_of(payload, false);
	while (pm_cur_left(&c)) {
		struct nytp_py_sub s = {.sid = pm_cur_u32(&c)};
		s.flags = pm_cur_u32(&c);
		pm_cur_take(&c, head - 8);
		s.name = nytp_name_add(a->n, pm_cur_cstr(&c));
		*ADD(a->f, subs) = s;
	}
	return OK;
}

static const char *read_d(struct nytp_adding *a, struct pm_bytes payload)
{
	if (payload.len == 0)
		return OK;
	if (are_events(payload))
		return read_events(a->f, payload, false);
	enum names plain = are_names(payload, 8);
	enum names placed = are_names(payload, 16);
	if (plain != NAMES_GOOD && placed != NAMES_GOOD && are_packed_events(payload))
		return read_events(a->f, payload, true);
	if (placed != NAMES_NOT && plain != NAMES_GOOD) {
		a->f->py.placed = true;
		return read_names(a, payload, 16);
	}
	return plain != NAMES_NOT ? read_names(a, payload, 8) : UNKNOWN;
}

/* ---- F: file names, or ids alone ---- */

/* Two numbers each, of fixed size or packed; they are not presented. */
static bool are_ids(struct pm_bytes payload)
{
	struct pm_cur c = pm_cur_of(payload, false);
	if (payload.len % FILE_ID_SIZE == 0)
		return true;
	while (pm_cur_left(&c)) {
		take_packed(&c);
		take_packed(&c);
	}
	return !c.bad;
}

static const char *read_files(struct nytp_adding *a, struct pm_bytes payload)
{
	struct pm_cur c = pm_cur_of(payload, false);
	if (are_names(payload, 16) == NAMES_NOT)
		return are_ids(payload) ? OK : UNKNOWN;
	while (pm_cur_left(&c)) {
		struct nytp_record r = {.tag = NYTP_NEW_FID};
		r.u[0] = pm_cur_u32(&c);
		r.u[3] = pm_cur_u32(&c);
		r.u[4] = pm_cur_u32(&c);
		r.u[5] = pm_cur_u32(&c);
		r.s[0] = pm_cur_cstr(&c);
		nytp_add(a, &r);
	}
	return OK;
}

static const char *read_attributes(struct nytp_adding *a, struct pm_bytes payload)
{
	struct pm_cur c = pm_cur_of(payload, false);
	while (pm_cur_left(&c)) {
		struct pm_bytes line = pm_cur_cstr(&c);
		if (c.bad)
			return UNKNOWN;
		nytp_add_attribute(a, false, line);
	}
	return OK;
}

/* Returns the status of the chunk. */
static const char *payload_read(
	struct nytp_adding *a, uint8_t tag, struct pm_bytes payload, size_t whole)
{
	switch (tag) {
	case 'S':
	case 'C': return read_counts(a->f, tag, payload, whole);
	case 'D': return read_d(a, payload);
	case 'F': return read_files(a, payload);
	case 'A': return read_attributes(a, payload);
	default: return payload.len ? UNKNOWN : OK;
	}
}

/* ==== chunks ==== */

enum { CHUNK_HEAD = 5 };

#define CUT "cut"

/* Reads the chunk at `at`, a truncated one as far as it goes. Returns where the next one is. */
static size_t read_chunk(struct nytp_adding *a, struct pm_bytes file, size_t at)
{
	struct pm_bytes length, payload = {NULL, 0};
	uint8_t tag = file.p[at];
	uint32_t len = 0;
	bool bare_end = tag == 'E' && at + 1 == file.len;
	bool headed = pm_bytes_sub(file, at + 1, 4, &length);
	if (headed)
		len = pm_le32(length.p);
	size_t begin = headed ? at + CHUNK_HEAD : file.len, left = file.len - begin;
	bool cut = !bare_end && (!headed || len > left);
	if (headed)
		pm_bytes_sub(file, begin, len < left ? len : left, &payload);
	const char *status = payload_read(a, tag, payload, len);
	*ADD(a->f, chunks) = (struct nytp_py_chunk){.offset = at,
		.bytes = cut ? payload.len : len,
		.tag = {(char)tag},
		.status = cut ? CUT : status};
	if (cut || strcmp(status, OK) != 0)
		pm_damage_add(&a->n->damage, a->f->name, at,
			file.len - at < CHUNK_HEAD ? file.len - at : CHUNK_HEAD + payload.len,
			"chunk %c: %s", tag, cut ? "the file ends within it" : status);
	return begin + payload.len;
}

/* ---- after the last chunk ---- */

static void name_sid(struct nytp_adding *a, uint32_t sid, uint32_t name)
{
	bool fresh;
	char text[24];
	uint32_t *known = pm_map_put(&a->f->py.by_sid, sid, name, &fresh);
	if (fresh && name == NYTP_NONE) {
		snprintf(text, sizeof(text), "sub %u", sid);
		*known = nytp_name_add(a->n, pm_bytes_of(text));
	}
}

/* Call records of the C extension contain a place instead of the caller. */
static void name_subs(struct nytp_adding *a)
{
	const struct nytp_py *py = &a->f->py;
	for (size_t i = 0; i < py->n_subs; i++)
		name_sid(a, py->subs[i].sid, py->subs[i].name);
	for (size_t i = 0; i < py->n_edges; i++) {
		const struct nytp_py_edge *e = &py->edges[i];
		name_sid(a, py->placed ? e->calls : e->callee, NYTP_NONE);
		if (!py->placed)
			name_sid(a, e->caller, NYTP_NONE);
	}
}

void nytp_chunks_read(struct nytp_adding *a, struct pm_bytes file, size_t at)
{
	struct nytp_file *f = a->f;
	bool ended = false;
	while (at < file.len && !ended && memchr("SDCFEA", file.p[at], 6)) {
		ended = file.p[at] == 'E';
		at = read_chunk(a, file, at);
		nytp_progress(a->n, at);
	}
	if (at < file.len)
		pm_damage_add(&a->n->damage, a->f->name, at, file.len - at,
			ended ? "bytes after the chunk that ends a profile"
			      : "no chunk begins with these bytes");
	else if (!ended)
		pm_damage_add(&a->n->damage, a->f->name, at, 0, "there is no chunk that ends it");
	for (size_t i = 0; f->n_threads && i < f->py.n_samples; i++)
		f->threads[0].statements += f->py.samples[i].calls;
	name_subs(a);
}
