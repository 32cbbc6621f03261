/* Readable forms of the entries of a text index. */
#include "formats/zts/names.h"

#include "formats/common/cursor.h"
#include "formats/common/text.h"

static struct pm_bytes part(struct pm_bytes b, size_t off, size_t len)
{
	struct pm_bytes ret;
	pm_bytes_sub(b, off, len, &ret);
	return ret;
}

/*
 * ==== signatures ====
 * JVM signatures as they are written in a Java program.
 */

static const char *primitive_name(uint8_t code)
{
	switch (code) {
	case 'V': return "void";
	case 'Z': return "boolean";
	case 'B': return "byte";
	case 'C': return "char";
	case 'S': return "short";
	case 'I': return "int";
	case 'J': return "long";
	case 'F': return "float";
	case 'D': return "double";
	default: return NULL;
	}
}

/* One type of a JVM signature, without its package: `[Ljava/lang/String;` is `String[]`. */
static bool add_type(struct pm_bytes *left, struct pm_text *out)
{
	size_t arrays = 0, n = 1;
	while (arrays < left->len && left->p[arrays] == '[')
		arrays++;
	struct pm_bytes type = part(*left, arrays, left->len - arrays);
	if (type.len == 0)
		return false;
	const char *primitive = primitive_name(type.p[0]);
	if (primitive) {
		pm_text_str(out, primitive);
	} else {
		const uint8_t *end = memchr(type.p, ';', type.len);
		if (type.p[0] != 'L' || !end)
			return false;
		n = (size_t)(end - type.p) + 1;
		const uint8_t *slash = memrchr(type.p, '/', n);
		size_t from = slash ? (size_t)(slash - type.p) + 1 : 1;
		pm_text_bytes(out, part(type, from, n - 1 - from));
	}
	for (size_t i = 0; i < arrays; i++)
		pm_text_str(out, "[]");
	*left = part(type, n, type.len - n);
	return true;
}

/*
 * `(Ljava/lang/String;I)V` → arguments `String, int` and result `void`. False if it is not a
 * signature; both texts may then contain a part of it.
 */
static bool read_signature(
	struct pm_bytes signature, struct pm_text *arguments, struct pm_text *result)
{
	if (signature.len == 0 || signature.p[0] != '(')
		return false;
	struct pm_bytes left = part(signature, 1, signature.len - 1);
	while (left.len > 0 && left.p[0] != ')') {
		if (arguments->len)
			pm_text_str(arguments, ", ");
		if (!add_type(&left, arguments))
			return false;
	}
	if (left.len == 0)
		return false;
	left = part(left, 1, left.len - 1);
	return add_type(&left, result) && left.len == 0;
}

/*
 * ==== entries ====
 * Entries begin and end with a mark that tells their kind. Some contain a text between two marks,
 * others several ids, with a mark before and after each. Texts of the measured program may begin
 * with the same bytes (SQL after a line feed), so an entry is only of a kind if all of it has that
 * shape; all others are plain strings.
 */

enum mark {
	MARK_KEYWORD = 0x04,
	MARK_CLASS = 0x05,
	MARK_SIGNATURE = 0x08,
	MARK_KEY_VALUE = 0x09,
	MARK_KEY_REF = 0x0a,
	MARK_METHOD = 0x0b,
	MARK_EXCEPTION = 0x0c,
	MARK_STACK = 0x0d,
	MARK_FRAME = 0x0e,
};

struct kind {
	const char *name;
	unsigned n_ids; /* between the marks; 0: a text, or any number of ids (MARK_STACK) */
};

static const struct kind kinds[] = {
	[0x04] = {"keyword", 0},
	[0x05] = {"class", 0},
	[0x06] = {"method", 0},
	[0x07] = {"uuid", 0},
	[0x08] = {"signature", 0},
	[0x09] = {"kvpair", 1},
	[0x0a] = {"krpair", 2},
	[0x0b] = {"methoddesc", 3},
	[0x0c] = {"exception", 4},
	[0x0d] = {"callstack", 0},
	[0x0e] = {"stackitem", 4},
};

/* Removes `digits mark` from the front of b. */
static bool take_id(struct pm_bytes *b, uint8_t mark, uint64_t *ret)
{
	const uint8_t *end = b->len ? memchr(b->p, mark, b->len) : NULL;
	if (!end)
		return false;
	size_t n = (size_t)(end - b->p);
	if (!zts_number_read(part(*b, 0, n), ret))
		return false;
	*b = part(*b, n + 1, b->len - n - 1);
	return true;
}

/* The first `n` ids after the first mark; *ret_rest is what follows them. */
static bool take_ids(struct pm_bytes raw, unsigned n, uint64_t *ids, struct pm_bytes *ret_rest)
{
	*ret_rest = part(raw, 1, raw.len - 1);
	for (unsigned i = 0; i < n; i++)
		if (!take_id(ret_rest, raw.p[0], &ids[i]))
			return false;
	return true;
}

static bool is_stack(struct pm_bytes raw)
{
	uint64_t id;
	struct pm_bytes left = part(raw, 1, raw.len - 1);
	do {
		if (!take_id(&left, MARK_STACK, &id))
			return false;
	} while (left.len > 0);
	return true;
}

/* The mark of an entry that has the shape of its kind, else 0. */
static uint8_t mark_of(struct pm_bytes raw)
{
	uint64_t ids[4];
	struct pm_bytes rest;
	if (raw.len < 2 || raw.p[0] < MARK_KEYWORD || raw.p[0] > MARK_FRAME ||
		raw.p[raw.len - 1] != raw.p[0])
		return 0;
	uint8_t mark = raw.p[0];
	if (mark <= MARK_SIGNATURE)
		return mark;
	if (mark == MARK_STACK)
		return is_stack(raw) ? mark : 0;
	if (!take_ids(raw, kinds[mark].n_ids, ids, &rest))
		return 0;
	return (mark == MARK_KEY_VALUE ? rest.len > 0 : rest.len == 0) ? mark : 0;
}

const char *zts_text_kind(struct pm_bytes raw)
{
	uint8_t mark = mark_of(raw);
	return mark ? kinds[mark].name : "string";
}

/* Appends text without the escapes that keep bytes 0 to 3 out of the index. */
static void unescape(struct pm_bytes raw, struct pm_text *out)
{
	size_t at = 0;
	while (at < raw.len) {
		const uint8_t *escape = memchr(raw.p + at, 0xff, raw.len - at);
		size_t plain = escape ? (size_t)(escape - raw.p) : raw.len;
		pm_text_add(out, raw.p + at, plain - at);
		at = plain;
		if (!escape)
			break;
		uint8_t code = at + 1 < raw.len ? raw.p[at + 1] : 0;
		bool known = code >= 4 && code <= 8;
		pm_text_char(out, (char)(code == 8 || !known ? 0xff : code - 4));
		at += known ? 2 : 1;
	}
}

void zts_name_unknown(const struct zts_texts *t, uint64_t id, struct pm_text *out)
{
	if (t->store)
		pm_text_str(out, t->store);
	pm_text_char(out, '#');
	pm_text_u64(out, id);
}

void zts_name_string(const struct zts_texts *t, uint64_t id, struct pm_text *out)
{
	if (id == 0)
		return;
	const struct zts_text *text = zts_texts_find(t, id);
	if (!text) {
		zts_name_unknown(t, id, out);
		return;
	}
	uint8_t mark = mark_of(text->raw);
	bool marked = mark && mark <= MARK_SIGNATURE;
	unescape(marked ? part(text->raw, 1, text->raw.len - 2) : text->raw, out);
}

/* The ids of an entry of that kind; false if the id has no such entry. */
static bool find_ids(const struct zts_texts *t, uint64_t id, uint8_t mark, uint64_t *ids)
{
	struct pm_bytes rest;
	const struct zts_text *text = zts_texts_find(t, id);
	return text && mark_of(text->raw) == mark &&
		take_ids(text->raw, kinds[mark].n_ids, ids, &rest);
}

/* ---- methods ---- */

static void name_or(
	const struct zts_texts *t, uint64_t id, const char *otherwise, struct pm_text *out)
{
	if (id == 0 || !zts_texts_find(t, id))
		pm_text_str(out, otherwise);
	else
		zts_name_string(t, id, out);
}

static void write_method(const struct zts_texts *t, const uint64_t ids[3], struct pm_text *out)
{
	struct pm_text signature = {0}, arguments = {0}, result = {0};
	bool known = ids[2] != 0 && zts_texts_find(t, ids[2]);
	if (known)
		zts_name_string(t, ids[2], &signature);
	else
		pm_text_str(&signature, "()V");
	bool parsed = read_signature(pm_text_view(&signature), &arguments, &result);
	if (parsed) {
		pm_text_bytes(out, pm_text_view(&result));
		pm_text_char(out, ' ');
	}
	name_or(t, ids[0], "UnknownClass", out);
	pm_text_char(out, '.');
	name_or(t, ids[1], "unknownMethod", out);
	if (parsed) {
		pm_text_char(out, '(');
		pm_text_bytes(out, pm_text_view(&arguments));
		pm_text_char(out, ')');
	} else {
		pm_text_bytes(out, pm_text_view(&signature));
	}
	pm_text_end(&signature, out);
	pm_text_end(&arguments, out);
	pm_text_end(&result, out);
}

void zts_name_method(const struct zts_texts *t, uint64_t id, struct pm_text *out)
{
	uint64_t ids[3];
	if (find_ids(t, id, MARK_METHOD, ids)) {
		write_method(t, ids, out);
	} else {
		zts_name_unknown(t, id, out);
	}
}

void zts_name_class(const struct zts_texts *t, uint64_t id, struct pm_text *out)
{
	uint64_t ids[3];
	if (find_ids(t, id, MARK_METHOD, ids))
		name_or(t, ids[0], "UnknownClass", out);
}

/* ---- exceptions ---- */

bool zts_exception_find(const struct zts_texts *t, uint64_t id, struct zts_exception *ret)
{
	uint64_t ids[4];
	if (!find_ids(t, id, MARK_EXCEPTION, ids))
		return false;
	*ret = (struct zts_exception){ids[0], ids[1], ids[2], ids[3]};
	return true;
}

bool zts_frames_next(const struct zts_texts *t, uint64_t stack_id, struct zts_frames *frames,
	struct zts_frame *ret)
{
	uint64_t id, ids[4];
	if (!frames->begun) {
		const struct zts_text *text = zts_texts_find(t, stack_id);
		frames->begun = true;
		if (text && mark_of(text->raw) == MARK_STACK)
			frames->left = part(text->raw, 1, text->raw.len - 1);
	}
	if (!take_id(&frames->left, MARK_STACK, &id))
		return false;
	*ret = (struct zts_frame){.id = id};
	if (find_ids(t, id, MARK_FRAME, ids))
		*ret = (struct zts_frame){ids[0], ids[1], ids[2], ids[3], id, true};
	return true;
}

void zts_name_frame(const struct zts_texts *t, const struct zts_frame *frame, struct pm_text *out)
{
	if (!frame->known) {
		zts_name_unknown(t, frame->id, out);
		return;
	}
	zts_name_string(t, frame->class_id, out);
	pm_text_char(out, '.');
	zts_name_string(t, frame->method_id, out);
	pm_text_char(out, '(');
	zts_name_string(t, frame->file_id, out);
	pm_text_char(out, ':');
	pm_text_u64(out, frame->line);
	pm_text_char(out, ')');
}

/* ---- strings.csv ---- */

static void resolve_stack(const struct zts_texts *t, struct pm_bytes raw, struct pm_text *out)
{
	struct zts_frames frames = {.begun = true, .left = part(raw, 1, raw.len - 1)};
	struct zts_frame frame;
	size_t before = out->len;
	while (zts_frames_next(t, 0, &frames, &frame)) {
		if (out->len > before)
			pm_text_str(out, "; ");
		zts_name_frame(t, &frame, out);
	}
}

static void resolve_tuple(
	const struct zts_texts *t, uint8_t mark, struct pm_bytes raw, struct pm_text *out)
{
	uint64_t ids[4] = {0};
	struct pm_bytes rest;
	struct zts_frame frame;
	take_ids(raw, kinds[mark].n_ids, ids, &rest);
	switch (mark) {
	case MARK_KEY_VALUE:
		zts_name_string(t, ids[0], out);
		pm_text_char(out, '=');
		unescape(part(rest, 0, rest.len - 1), out);
		break;
	case MARK_KEY_REF:
		zts_name_string(t, ids[0], out);
		pm_text_char(out, '=');
		zts_name_string(t, ids[1], out);
		break;
	case MARK_EXCEPTION:
		zts_name_string(t, ids[0], out);
		pm_text_str(out, ": ");
		zts_name_string(t, ids[1], out);
		break;
	case MARK_FRAME:
		frame = (struct zts_frame){ids[0], ids[1], ids[2], ids[3], 0, true};
		zts_name_frame(t, &frame, out);
		break;
	default: write_method(t, ids, out);
	}
}

void zts_text_resolve(const struct zts_texts *t, struct pm_bytes raw, struct pm_text *out)
{
	uint8_t mark = mark_of(raw);
	if (mark == 0)
		unescape(raw, out);
	else if (mark <= MARK_SIGNATURE)
		unescape(part(raw, 1, raw.len - 2), out);
	else if (mark == MARK_STACK)
		resolve_stack(t, raw, out);
	else
		resolve_tuple(t, mark, raw, out);
}
