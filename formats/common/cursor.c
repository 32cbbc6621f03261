#include "formats/common/cursor.h"
#include "formats/common/work.h"

#include "profmount/limits.h"

bool pm_bytes_table(struct pm_bytes b, uint64_t off, uint64_t count, uint64_t stride, uint64_t need,
	struct pm_bytes *ret)
{
	uint64_t len;
	*ret = (struct pm_bytes){NULL, 0};
	if (stride < need || __builtin_mul_overflow(count, stride, &len))
		return false;
	return pm_bytes_sub(b, off, len, ret);
}

bool pm_bytes_cstr(struct pm_bytes b, uint64_t off, struct pm_bytes *ret)
{
	*ret = (struct pm_bytes){NULL, 0};
	if (off >= b.len)
		return false;
	size_t room = b.len - (size_t)off;
	if (room > PM_LIMIT_STRING)
		room = PM_LIMIT_STRING;
	const uint8_t *nul = memchr(b.p + off, 0, room);
	if (!nul)
		return false;
	*ret = (struct pm_bytes){b.p + off, (size_t)(nul - (b.p + off))};
	return true;
}

double pm_cur_f64(struct pm_cur *c)
{
	return pm_f64_of_bits(pm_cur_u64(c));
}

struct pm_bytes pm_cur_bytes(struct pm_cur *c, size_t n)
{
	const uint8_t *p = pm_cur_take(c, n);
	return (struct pm_bytes){p, p ? n : 0};
}

struct pm_bytes pm_cur_cstr(struct pm_cur *c)
{
	if (c->bad || c->at == c->b.len) {
		c->bad = true;
		return (struct pm_bytes){NULL, 0};
	}
	const uint8_t *p = c->b.p + c->at;
	const uint8_t *nul = memchr(p, 0, c->b.len - c->at);
	if (!nul) {
		c->bad = true;
		return (struct pm_bytes){NULL, 0};
	}
	c->at += (size_t)(nul - p) + 1;
	return (struct pm_bytes){p, (size_t)(nul - p)};
}

bool pm_bytes_fetch(struct pm_bytes b)
{
	enum { PAGE = 4096 };
	for (size_t at = 0; at < b.len; at += PAGE) {
		(void)*(const volatile uint8_t *)(b.p + at);
		if (pm_work_cancelled())
			return false;
	}
	return true;
}
