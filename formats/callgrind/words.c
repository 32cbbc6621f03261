/* Words of a line, and numbers as writers have them: decimal, hexadecimal, with decimals. */
#include "formats/callgrind/callgrind.h"

struct pm_bytes cg_trimmed(struct pm_bytes b)
{
	while (b.len && (b.p[0] == ' ' || b.p[0] == '\t'))
		b.p++, b.len--;
	while (b.len && (b.p[b.len - 1] == ' ' || b.p[b.len - 1] == '\t'))
		b.len--;
	return b;
}

struct pm_bytes cg_word(struct pm_bytes *line)
{
	struct pm_bytes w;
	if (line->len == 0) /* and perhaps nowhere */
		return *line;
	while (line->len && (line->p[0] == ' ' || line->p[0] == '\t'))
		line->p++, line->len--;
	w = (struct pm_bytes){line->p, 0};
	while (w.len < line->len && w.p[w.len] != ' ' && w.p[w.len] != '\t')
		w.len++;
	line->p += w.len;
	line->len -= w.len;
	return w;
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool cg_whole(struct pm_bytes b, uint64_t *ret)
{
	uint64_t base = 10, n = 0;
	if (b.len > 2 && b.p[0] == '0' && (b.p[1] | 0x20) == 'x') {
		base = 16;
		b.p += 2;
		b.len -= 2;
	}
	for (size_t i = 0; i < b.len; i++) {
		int d = hex_digit(b.p[i]);
		if (d < 0 || (uint64_t)d >= base || __builtin_mul_overflow(n, base, &n) ||
			__builtin_add_overflow(n, (uint64_t)d, &n))
			return false;
	}
	*ret = n;
	return b.len > 0;
}

bool cg_number_of(struct pm_bytes b, struct cg_number *ret)
{
	bool negative = b.len && b.p[0] == '-', point = false;
	uint64_t n = 0, more;
	unsigned decimals = 0;
	if (negative)
		b.p++, b.len--;
	*ret = (struct cg_number){.digits = 0};
	if (b.len > 2 && b.p[0] == '0' && (b.p[1] | 0x20) == 'x') {
		if (!cg_whole(b, &n))
			return false;
		ret->real = n > INT64_MAX;
		ret->f = negative ? -(double)n : (double)n;
		ret->digits = ret->real ? 0 : negative ? -(int64_t)n : (int64_t)n;
		return true;
	}
	bool is_full = false;
	double f = 0, place = 1;
	for (size_t i = 0; i < b.len; i++) {
		if (b.p[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (b.p[i] < '0' || b.p[i] > '9')
			return false;
		f = f * 10 + (b.p[i] - '0');
		place = point ? place * 10 : place;
		is_full |= __builtin_mul_overflow(n, 10, &more) ||
			__builtin_add_overflow(more, b.p[i] - '0', &more) || more > INT64_MAX;
		if (!is_full) {
			n = more;
			decimals += point;
		} else if (!point || b.p[i] != '0') {
			ret->real = true;
		}
	}
	if (b.len == 0 || (point && b.len == 1))
		return false;
	ret->f = negative ? -f / place : f / place;
	ret->digits = negative ? -(int64_t)n : (int64_t)n;
	ret->decimals = decimals;
	return true;
}

double cg_value(const struct cg_number *n)
{
	double f = (double)n->digits;
	if (n->real)
		return n->f;
	for (unsigned i = 0; i < n->decimals; i++)
		f /= 10;
	return f;
}
