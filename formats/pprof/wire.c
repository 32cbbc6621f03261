#include <errno.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/pprof/pprof.h"
#include "profmount/limits.h"

enum { HEAD = 20 /* bytes of a tag and a length at most */ };

bool pprof_varint(struct pm_bytes *in, uint64_t *ret)
{
	uint64_t value = 0;
	for (size_t i = 0; i < in->len && i < 10; i++) {
		value |= (uint64_t)(in->p[i] & 0x7f) << 7 * i;
		if (in->p[i] < 0x80) {
			in->p += i + 1;
			in->len -= i + 1;
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool take(struct pm_bytes *in, uint64_t n, struct pm_bytes *ret)
{
	if (!pm_bytes_sub(*in, 0, n, ret))
		return false;
	in->p += n;
	in->len -= (size_t)n;
	return true;
}

int pprof_next(struct pm_bytes *in, struct pprof_field *ret)
{
	uint64_t tag, n;
	if (in->len == 0)
		return 0;
	if (!pprof_varint(in, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		return -EINVAL;
	*ret = (struct pprof_field){
		.number = (uint32_t)(tag >> 3), .wire = (enum pprof_wire)(tag & 7)};
	switch (tag & 7) {
	case PPROF_VARINT: return pprof_varint(in, &ret->value) ? 1 : -EINVAL;
	case PPROF_LENGTH: return pprof_varint(in, &n) && take(in, n, &ret->bytes) ? 1 : -EINVAL;
	case PPROF_FIXED64:
		if (!take(in, 8, &ret->bytes))
			return -EINVAL;
		ret->value = pm_le64(ret->bytes.p);
		return 1;
	case PPROF_FIXED32:
		if (!take(in, 4, &ret->bytes))
			return -EINVAL;
		ret->value = pm_le32(ret->bytes.p);
		return 1;
	default: return -EINVAL; /* groups, which nobody writes */
	}
}

int pprof_numbers_add(struct pprof_numbers *l, const struct pprof_field *f)
{
	struct pm_bytes rest = f->bytes;
	uint64_t value = f->value;
	if (f->wire != PPROF_VARINT && f->wire != PPROF_LENGTH)
		return -EINVAL;
	do {
		if (f->wire == PPROF_LENGTH && rest.len == 0)
			return 0;
		if (f->wire == PPROF_LENGTH && !pprof_varint(&rest, &value))
			return -EINVAL;
		if (l->n >= l->room &&
			pm_list_room_in(l->arena, &l->items, l->n, &l->room, sizeof(*l->items)) < 0)
			return -ENOMEM;
		l->items[l->n++] = value;
	} while (rest.len > 0);
	return 0;
}

/* ---- a source ---- */

uint32_t pprof_string(struct pprof *p, uint64_t string)
{
	if (string < p->n_strings)
		return p->strings[string];
	p->bad_strings += string != 0;
	return 0;
}

int pprof_peek(struct pm_inflate *stream, struct pprof_field *f, size_t *ret_used)
{
	struct pm_bytes w = pm_inflate_peek(stream, HEAD), rest = w;
	uint64_t tag, n;
	if (w.len == 0)
		return 0;
	if (pprof_varint(&rest, &tag) && (tag & 7) == PPROF_LENGTH && pprof_varint(&rest, &n)) {
		uint64_t need = w.len - rest.len + n;
		if (n > PM_LIMIT_WINDOW - HEAD)
			return -EFBIG;
		w = pm_inflate_peek(stream, (size_t)need);
		if (w.len > need)
			w.len = (size_t)need;
	}
	rest = w;
	int r = pprof_next(&rest, f);
	*ret_used = w.len - rest.len;
	return r;
}

void pprof_for_fields(struct pprof *p, bool says,
	int (*each)(void *context, const struct pprof_field *f, uint64_t offset), void *context)
{
	struct pm_inflate *stream = pm_rec_stream(p->r);
	int r = stream ? 1 : 0, e = 0;
	while (r > 0) {
		struct pprof_field f;
		size_t used = 0;
		uint64_t at = pm_inflate_status(stream).out;
		r = pprof_peek(stream, &f, &used);
		if (r > 0 && (e = each(context, &f, at)) < 0) {
			if (e != -EINVAL)
				return;
			r = e;
		}
		struct pm_inflate_status s = pm_inflate_status(stream);
		if (s.state == PM_INFLATE_FAILED)
			pm_build_fail(&p->arena, PM_NO_MEMORY);
		if (r < 0 && says && s.state != PM_INFLATE_BROKEN)
			pm_rec_damage(p->r, at, PM_NO_OFFSET,
				r == -EFBIG ? "a message of more than %zu MiB"
					    : "a message that is cut or broken; what follows it is "
					      "not read (%zu MiB at most)",
				PM_LIMIT_WINDOW >> 20);
		pm_inflate_consume(stream, used);
	}
}
