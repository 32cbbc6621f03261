/*
 * Events: bytes → native values, for any plan and both byte orders. Every access uses the slice
 * that htd_event_extent has checked.
 */
#include "formats/htdump/stream.h"

#include <errno.h>
#include <math.h>

#include "formats/common/cursor.h"

/* Strings of at least this length are remembered while scanning. */
enum { WORTH_KNOWING = 1024 };

/* The end of the string at `from`, NUL included; 0 if it is not terminated. */
static uint64_t string_end(struct pm_bytes stream, uint64_t from, struct htd_no_nul *seen)
{
	struct pm_bytes text;
	bool known = seen && from >= seen->from && from < seen->to;
	uint64_t start = known ? seen->to : from;
	if (start - from >= PM_LIMIT_STRING)
		return 0;
	bool ends = pm_bytes_cstr(stream, start, &text);
	if (ends && text.len < WORTH_KNOWING && !known)
		return start + text.len + 1;
	uint64_t left = start < stream.len ? stream.len - start : 0;
	uint64_t looked = left < PM_LIMIT_STRING ? left : PM_LIMIT_STRING;
	if (ends)
		looked = text.len;
	if (seen)
		*seen = (struct htd_no_nul){known ? seen->from : from, start + looked};
	return ends && start - from + looked < PM_LIMIT_STRING ? start + looked + 1 : 0;
}

int htd_event_extent_texts(struct pm_bytes stream, uint64_t at, const struct htd_plan *plan,
	struct htd_no_nul *seen, struct pm_bytes *ret)
{
	if (!pm_bytes_sub(stream, at, plan->head, ret))
		return -ENODATA;
	uint64_t end = at + plan->head;
	for (uint32_t i = 0; i < plan->n_texts; i++) {
		uint64_t text = end;
		end = string_end(stream, text, seen);
		if (!end && stream.len - text >= PM_LIMIT_STRING)
			return -E2BIG;
		if (!end || plan->gaps[i] > stream.len - end)
			return -ENODATA;
		end += plan->gaps[i];
	}
	return pm_bytes_sub(stream, at, end - at, ret) ? 0 : -ENODATA;
}

/* ---- fields ---- */

bool htd_fields_next(struct htd_fields *w, const struct htd_flat **ret, struct pm_bytes *ret_bytes)
{
	const struct htd_plan *p = w->e->plan;
	if (w->i == p->n)
		return false;
	const struct htd_flat *f = *ret = &p->fields[w->i++];
	uint64_t at = w->base + f->at;
	if (f->kind != HTD_KIND_TEXT)
		return pm_bytes_sub(w->e->bytes, at, f->size, ret_bytes);
	if (!pm_bytes_cstr(w->e->bytes, at, ret_bytes))
		return false;
	w->base = at + ret_bytes->len + 1;
	return true;
}

/* A field without a fixed offset: a string, or a field after one. */
static struct pm_bytes field_search(const struct htd_event *e, uint32_t i)
{
	struct htd_fields w = {.e = e};
	const struct htd_flat *f;
	struct pm_bytes b = {NULL, 0};
	while (w.i <= i)
		if (!htd_fields_next(&w, &f, &b))
			return (struct pm_bytes){NULL, 0};
	return b;
}

/* Most fields with a role precede the first string, and have fixed offsets. */
static inline struct pm_bytes field_bytes(const struct htd_event *e, uint32_t i)
{
	const struct htd_flat *f = &e->plan->fields[i];
	struct pm_bytes b;
	if (f->strings > 0 || f->kind == HTD_KIND_TEXT)
		return field_search(e, i);
	pm_bytes_sub(e->bytes, f->at, f->size, &b);
	return b;
}

static uint64_t odd_load(struct pm_bytes b, bool big)
{
	uint64_t u = 0;
	for (size_t i = 0; i < b.len && i < 8; i++)
		u = big ? u << 8 | b.p[i] : u | (uint64_t)b.p[i] << 8 * i;
	return u;
}

static inline uint64_t unsigned_load(struct pm_bytes b, bool big)
{
	if (b.len == 8)
		return big ? pm_be64(b.p) : pm_le64(b.p);
	if (b.len == 4)
		return big ? pm_be32(b.p) : pm_le32(b.p);
	return odd_load(b, big);
}

static int64_t signed_load(struct pm_bytes b, bool big)
{
	unsigned unused = b.len < 8 ? 64 - 8 * (unsigned)b.len : 0;
	if (b.len == 0)
		return 0;
	return (int64_t)(unsigned_load(b, big) << unused) >> unused;
}

static double real_load(struct pm_bytes b, bool big)
{
	uint64_t bits = unsigned_load(b, big);
	uint32_t single = (uint32_t)bits;
	float f;
	if (b.len == 8)
		return pm_f64_of_bits(bits);
	memcpy(&f, &single, sizeof(f));
	return (double)f;
}

uint64_t htd_event_integer(const struct htd_event *e, uint32_t i)
{
	struct pm_bytes b = field_bytes(e, i);
	return e->plan->fields[i].kind == HTD_KIND_SIGNED ? (uint64_t)signed_load(b, e->big)
							  : unsigned_load(b, e->big);
}

struct pm_bytes htd_event_text(const struct htd_event *e, uint32_t i)
{
	return e->plan->fields[i].kind == HTD_KIND_TEXT ? field_bytes(e, i)
							: (struct pm_bytes){NULL, 0};
}

static inline bool natural(const struct htd_event *e, uint32_t i, uint64_t *ret)
{
	*ret = htd_event_integer(e, i);
	return e->plan->fields[i].kind == HTD_KIND_UNSIGNED || (int64_t)*ret >= 0;
}

bool htd_event_call_any(const struct htd_event *e, uint64_t *ret_duration, uint64_t *ret_thread)
{
	const struct htd_plan *p = e->plan;
	return p->role == HTD_ROLE_CALL && natural(e, p->duration, ret_duration) &&
		natural(e, p->thread, ret_thread);
}

/* ---- values to show ---- */

struct pm_cell htd_value_cell(const struct htd_flat *f, struct pm_bytes bytes, bool big)
{
	switch ((enum htd_kind)f->kind) {
	case HTD_KIND_UNSIGNED: return pm_cell_u64(unsigned_load(bytes, big));
	case HTD_KIND_SIGNED: return pm_cell_i64(signed_load(bytes, big));
	case HTD_KIND_REAL: return pm_cell_f64(real_load(bytes, big));
	case HTD_KIND_POINTER: return pm_cell_hex(unsigned_load(bytes, big));
	case HTD_KIND_TEXT:
	case HTD_KIND_ARRAY: break;
	}
	return pm_cell_empty();
}

static void real_text(struct pm_text *out, double f)
{
	if (isnan(f))
		pm_text_str(out, "nan");
	else if (isinf(f))
		pm_text_str(out, f < 0 ? "-inf" : "inf");
	else
		pm_text_f64(out, f);
}

static void number_text(struct pm_text *out, enum htd_kind kind, struct pm_bytes b, bool big)
{
	if (kind == HTD_KIND_SIGNED)
		pm_text_i64(out, signed_load(b, big));
	else if (kind == HTD_KIND_REAL)
		real_text(out, real_load(b, big));
	else
		pm_text_u64(out, unsigned_load(b, big));
}

static void array_text(struct pm_text *out, const struct htd_flat *f, struct pm_bytes b, bool big)
{
	struct pm_bytes element;
	pm_text_char(out, '[');
	for (uint64_t at = 0; pm_bytes_sub(b, at, f->step, &element); at += f->step) {
		if (at)
			pm_text_char(out, ',');
		number_text(out, (enum htd_kind)f->element, element, big);
	}
	pm_text_char(out, ']');
}

void htd_value_text(struct pm_text *out, const struct htd_flat *f, struct pm_bytes bytes, bool big)
{
	switch ((enum htd_kind)f->kind) {
	case HTD_KIND_UNSIGNED:
	case HTD_KIND_SIGNED:
	case HTD_KIND_REAL: number_text(out, (enum htd_kind)f->kind, bytes, big); break;
	case HTD_KIND_POINTER:
		pm_text_str(out, "0x");
		pm_text_hex(out, unsigned_load(bytes, big), 1);
		break;
	case HTD_KIND_TEXT: pm_text_bytes(out, bytes); break;
	case HTD_KIND_ARRAY: array_text(out, f, bytes, big); break;
	}
}

void htd_event_show(struct pm_text *out, const struct htd_event *e, uint32_t i)
{
	htd_value_text(out, &e->plan->fields[i], field_bytes(e, i), e->big);
}

struct pm_cell htd_event_cell(const struct htd_event *e, uint32_t i)
{
	return htd_value_cell(&e->plan->fields[i], field_bytes(e, i), e->big);
}
