/*
 * The event decoder. Each call reads one head, and pushes it on, or counts it in, the stack of open
 * items. The end of a counted item is an event of its own, so consumers see every level close.
 * Independent of the meaning of tags.
 */
#include "formats/common/cbor.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/utf8.h"
#include "formats/common/work.h"

enum { BETWEEN_QUESTIONS = 1 << 12 };

#define UNCOUNTED UINT64_MAX

struct pm_cbor_level {
	uint64_t left; /* items to come, or UNCOUNTED */
	enum pm_cbor_kind kind;
};

void pm_cbor_init(struct pm_cbor *c, uint32_t limit)
{
	*c = (struct pm_cbor){.limit = limit};
}

void pm_cbor_feed(struct pm_cbor *c, struct pm_bytes part)
{
	c->in = pm_cur_of(part, true);
}

void pm_cbor_done(struct pm_cbor *c)
{
	free(c->levels);
	c->levels = NULL;
}

uint64_t pm_cbor_read_last(struct pm_cur *in, size_t n)
{
	uint64_t value = 0;
	while (n-- > 0)
		value = value << 8 | pm_cur_u8(in);
	return value;
}

static double half_value(uint64_t bits)
{
	int exponent = bits >> 10 & 31;
	double fraction = (double)(bits & 1023);
	double size = exponent == 0 ? ldexp(fraction, -24)
		: exponent == 31    ? (fraction != 0 ? NAN : INFINITY)
				    : ldexp(fraction + 1024, exponent - 25);
	return bits & 0x8000 ? -size : size;
}

static double single_value(uint64_t bits)
{
	uint32_t word = (uint32_t)bits;
	float f;
	memcpy(&f, &word, sizeof(f));
	return f;
}

/* Counts a complete item in the innermost open item. */
static void count_item(struct pm_cbor *c)
{
	if (c->depth > 0 && c->levels[c->depth - 1].left != UNCOUNTED)
		c->levels[c->depth - 1].left--;
}

static int end_level(struct pm_cbor *c, struct pm_cbor_event *ret)
{
	ret->kind = PM_CBOR_END;
	ret->of = c->levels[--c->depth].kind;
	count_item(c);
	return 1;
}

int pm_cbor_malformed(const struct pm_cbor_event *e, struct pm_error *err, const char *what)
{
	return pm_error_set(
		err, -EINVAL, NULL, e->at, "%s at byte %zu of the payload", what, e->at);
}

/* Makes room for two more levels. */
static bool grow(struct pm_cbor *c)
{
	size_t room = c->room;
	bool grown = pm_list_room(&c->levels, (size_t)c->depth + 1, &room, sizeof(*c->levels)) == 0;
	c->room = (uint32_t)room;
	return grown;
}

static int push_level(
	struct pm_cbor *c, struct pm_cbor_event *e, uint64_t left, struct pm_error *err)
{
	if (e->kind != PM_CBOR_INDEF && left > pm_cur_left(&c->in))
		return pm_cbor_malformed(e, err, "CBOR with more items than bytes");
	if (c->depth >= c->limit)
		return pm_cbor_malformed(e, err, "CBOR nested too deeply");
	if (c->depth == c->room && !grow(c))
		return pm_error_plain(err, -ENOMEM);
	c->levels[c->depth++] = (struct pm_cbor_level){left, e->kind};
	c->deepest = c->depth > c->deepest ? c->depth : c->deepest;
	return 1;
}

static int read_string(struct pm_cbor *c, struct pm_cbor_event *e, struct pm_error *err)
{
	if (e->u > pm_cur_left(&c->in))
		return pm_cbor_malformed(e, err, "CBOR string longer than the data");
	e->bytes = pm_cur_bytes(&c->in, (size_t)e->u);
	if (e->kind == PM_CBOR_TEXT && !pm_utf8_valid(e->bytes))
		return pm_cbor_malformed(e, err, "CBOR text that is not UTF-8");
	count_item(c);
	return 1;
}

static int read_simple(
	struct pm_cbor *c, uint8_t low, struct pm_cbor_event *e, struct pm_error *err)
{
	switch (low) {
	case 20: e->kind = PM_CBOR_FALSE; break;
	case 21: e->kind = PM_CBOR_TRUE; break;
	case 22: e->kind = PM_CBOR_NULL; break;
	case 23: e->kind = PM_CBOR_UNDEFINED; break;
	case 25: e->f = half_value(e->u); break;
	case 26: e->f = single_value(e->u); break;
	case 27: e->f = pm_f64_of_bits(e->u); break;
	default: return pm_cbor_malformed(e, err, "CBOR simple value that is not defined");
	}
	c->not_finite |= e->kind == PM_CBOR_FLOAT && !isfinite(e->f);
	count_item(c);
	return 1;
}

static int read_break(struct pm_cbor *c, struct pm_cbor_event *e, struct pm_error *err)
{
	if (c->depth == 0) {
		e->kind = PM_CBOR_BREAK;
		return 1;
	}
	if (c->levels[c->depth - 1].left != UNCOUNTED)
		return pm_cbor_malformed(e, err, "CBOR break inside a counted item");
	return end_level(c, e);
}

/* Items without a length of their own: an indefinite array and its break. */
static int read_uncounted(
	struct pm_cbor *c, uint8_t major, struct pm_cbor_event *e, struct pm_error *err)
{
	if (major == 7)
		return read_break(c, e, err);
	if (major != 4)
		return pm_cbor_malformed(e, err, "CBOR of unknown length that is not an array");
	e->kind = PM_CBOR_INDEF;
	return push_level(c, e, UNCOUNTED, err);
}

int pm_cbor_next(struct pm_cbor *c, struct pm_cbor_event *ret, struct pm_error *err)
{
	struct pm_cbor_head head;
	*ret = (struct pm_cbor_event){.at = c->in.at};
	if (c->depth > 0 && c->levels[c->depth - 1].left == 0)
		return end_level(c, ret);
	if (pm_cur_left(&c->in) == 0)
		return 0;
	if (++c->unasked == BETWEEN_QUESTIONS) {
		c->unasked = 0;
		if (pm_work_cancelled())
			return pm_error_plain(err, PM_CANCELLED);
	}
	if (!pm_cbor_read_head(&c->in, &head))
		return pm_cbor_malformed(ret, err, "CBOR with a cut or reserved initial byte");
	if (head.low == 31)
		return read_uncounted(c, head.major, ret, err);
	ret->u = head.value;
	switch (head.major) {
	case 0:
	case 1:
		ret->kind = head.major ? PM_CBOR_NEGINT : PM_CBOR_UINT;
		count_item(c);
		return 1;
	case 2:
	case 3:
		ret->kind = head.major == 2 ? PM_CBOR_BYTES : PM_CBOR_TEXT;
		return read_string(c, ret, err);
	case 4: ret->kind = PM_CBOR_ARRAY; return push_level(c, ret, ret->u, err);
	case 5:
		ret->kind = PM_CBOR_MAP;
		return push_level(c, ret, ret->u < UINT64_MAX / 2 ? ret->u * 2 : ret->u, err);
	case 6: ret->kind = PM_CBOR_TAG; return push_level(c, ret, 1, err);
	default: ret->kind = PM_CBOR_FLOAT; return read_simple(c, head.low, ret, err);
	}
}

void pm_cbor_skip_small(struct pm_cbor *c)
{
	enum { SMALL_MOST = 23, LOW = 31, NOT_INTEGERS = 0xc0 };
	size_t n = 0, most = BETWEEN_QUESTIONS - 1 - c->unasked, left = pm_cur_left(&c->in);
	const uint8_t *p = pm_cur_peek(&c->in, most < left ? most : left);
	if (!p || (c->depth > 0 && c->levels[c->depth - 1].left != UNCOUNTED))
		return;
	for (most = most < left ? most : left; n < most; n++)
		if ((p[n] & NOT_INTEGERS) || (p[n] & LOW) > SMALL_MOST)
			break;
	c->in.at += n;
	c->unasked += (uint32_t)n;
}

int pm_cbor_push_tagged(struct pm_cbor *c, uint32_t n)
{
	for (; n > 0; n--) {
		if (c->depth + 2 > c->room && !grow(c))
			return -ENOMEM;
		c->levels[c->depth++] = (struct pm_cbor_level){1, PM_CBOR_TAG};
		c->levels[c->depth++] = (struct pm_cbor_level){UNCOUNTED, PM_CBOR_INDEF};
	}
	return 0;
}

bool pm_cbor_end_tagged(struct pm_cbor *c)
{
	const uint8_t *head = pm_cur_peek(&c->in, 1);
	if (!head || head[0] != 0xff || c->depth < 2 ||
		c->levels[c->depth - 1].kind != PM_CBOR_INDEF ||
		c->levels[c->depth - 2].kind != PM_CBOR_TAG)
		return false;
	c->in.at++;
	c->depth -= 2;
	count_item(c);
	return true;
}

int pm_cbor_finish(struct pm_cbor *c, struct pm_cbor_event *ret, struct pm_error *err)
{
	*ret = (struct pm_cbor_event){.at = c->in.at};
	if (c->depth == 0)
		return 0;
	uint64_t left = c->levels[c->depth - 1].left;
	if (left != 0 && left != UNCOUNTED)
		return pm_cbor_malformed(ret, err, "CBOR that ends inside a counted item");
	ret->open = left == UNCOUNTED;
	return end_level(c, ret);
}

void pm_cbor_negated(uint64_t u, struct pm_text *out)
{
	if (u == UINT64_MAX)
		pm_text_str(out, "18446744073709551616");
	else
		pm_text_u64(out, u + 1);
}
