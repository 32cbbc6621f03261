/* The text builder. */
#include "formats/common/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/number.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

enum { UNASKED = 64 << 10, SHRUNK = 16 << 10, FLOWS = 1 << 20 };

/* ---- memory ---- */

void pm_text_done(struct pm_text *t)
{
	free(t->p);
	*t = (struct pm_text){.limit = t->limit};
}

void pm_text_clear(struct pm_text *t)
{
	t->len = 0;
}

void pm_text_end(struct pm_text *t, struct pm_text *out)
{
	out->failed |= t->failed;
	out->full |= t->full;
	pm_text_done(t);
}

void pm_text_shrink(struct pm_text *t)
{
	bool much = t->taken > SHRUNK && t->taken - t->len > t->taken / 8;
	char *p = much ? realloc(t->p, t->len + 1) : NULL;
	if (p) {
		t->p = p;
		t->room = t->taken = t->len + 1;
	}
}

static size_t limit_of(const struct pm_text *t)
{
	return t->limit ? t->limit : PM_LIMIT_TEXT;
}

/* Takes memory for `taken` bytes in total, which is within the limit. */
static bool take(struct pm_text *t, size_t taken)
{
	char *p = realloc(t->p, taken);
	if (!p)
		return false;
	if (t->grown)
		t->grown(t->grown_context, taken - t->taken);
	t->p = p;
	t->taken = taken;
	return true;
}

/* Makes room for `need` bytes in total, which is within the limit. */
static bool grow(struct pm_text *t, size_t need)
{
	size_t limit = limit_of(t), taken = t->taken < 128 ? 128 : t->taken;
	while (taken < need && taken <= limit / 2)
		taken *= 2;
	return take(t, taken < need || taken > limit ? limit : taken);
}

/* Long renderings stop here when they are cancelled. `need` is within the limit. */
static bool make_room(struct pm_text *t, size_t need)
{
	size_t most = limit_of(t) - t->flowed;
	if (need > UNASKED && pm_work_cancelled())
		return false;
	if ((!t->p || need > t->taken) && !grow(t, need))
		return false;
	t->room = t->taken - need > UNASKED ? need + UNASKED : t->taken;
	t->room = t->room < most ? t->room : most;
	return true;
}

void pm_text_expect(struct pm_text *t, size_t n)
{
	if (!t->failed && n > t->taken - t->len && n <= limit_of(t) - t->len)
		take(t, t->len + n); /* failing is reported where the bytes are written */
}

static bool flow(struct pm_text *t)
{
	if (pm_work_cancelled() || !t->flow(t->flow_context, pm_text_view(t)))
		return false;
	t->flowed += t->len;
	t->len = 0;
	return true;
}

char *pm_text_reserve_more(struct pm_text *t, size_t n)
{
	if (t->failed)
		return NULL;
	t->full = n > limit_of(t) - t->flowed - t->len;
	t->failed =
		t->full || (t->flow && t->len >= FLOWS && !flow(t)) || !make_room(t, t->len + n);
	return t->failed ? NULL : t->p + t->len;
}

int pm_text_status(const struct pm_text *t)
{
	return t->failed ? -ENOMEM : 0;
}

/* ---- plain ---- */

void pm_text_add(struct pm_text *t, const void *p, size_t n)
{
	if (n == 0)
		return;
	char *out = pm_text_reserve(t, n);
	if (!out)
		return;
	memcpy(out, p, n);
	t->len += n;
}

void pm_text_bytes(struct pm_text *t, struct pm_bytes b)
{
	pm_text_add(t, b.p, b.len);
}

void pm_text_str(struct pm_text *t, const char *s)
{
	pm_text_bytes(t, pm_bytes_of(s));
}

void pm_text_printf(struct pm_text *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	char *out = n < 0 ? NULL : pm_text_reserve(t, (size_t)n + 1);
	if (!out) {
		t->failed = true;
		return;
	}
	va_start(args, format);
	vsnprintf(out, (size_t)n + 1, format, args);
	va_end(args);
	t->len += (size_t)n;
}

/* ---- numbers: the last few bytes below the limit are not for them ---- */

void pm_text_u64(struct pm_text *t, uint64_t u)
{
	char *out = pm_text_reserve(t, PM_NUMBER_SIZE);
	if (out)
		t->len += pm_u64_format(u, out);
}

void pm_text_i64(struct pm_text *t, int64_t i)
{
	char *out = pm_text_reserve(t, PM_NUMBER_SIZE);
	if (out)
		t->len += pm_i64_format(i, out);
}

void pm_text_f64(struct pm_text *t, double f)
{
	char *out = pm_text_reserve(t, PM_NUMBER_SIZE);
	if (out)
		t->len += pm_f64_format(f, out);
}

void pm_text_hex(struct pm_text *t, uint64_t u, unsigned width)
{
	char *out = pm_text_reserve(t, PM_NUMBER_SIZE);
	if (out)
		t->len += pm_hex_format(u, width, out);
}
