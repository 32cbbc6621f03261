/*
 * Distinguishes the variants. There is no magic number: a stream is recognised by the fact that it
 * begins with the descriptions of its own classes, so there must be a class description with a
 * readable name at the offset of one of the variants.
 */
#include "formats/htdump/stream.h"

#include "formats/common/cursor.h"
#include "formats/htdump/klass.h"

enum { ENDIANNESS_SIZE = 0x15 };

static const struct htd_fixed_ids common_ids = {0, 1, 2, 3};
static const struct htd_fixed_ids release_06_ids = {2, 1, 3, 4};

/* Whether these bytes are a name: not empty, printable. */
static bool is_name(struct pm_bytes text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] < 0x20 || text.p[i] == 0x7f)
			return false;
	return text.len > 0;
}

bool htd_dialect_klass_info(
	struct pm_bytes bytes, uint64_t at, const struct htd_dialect *d, bool big)
{
	struct htd_header h;
	struct pm_bytes name;
	return htd_header_read(bytes, at, d->timestamp_first, big, &h) &&
		h.klass_id == d->ids.klass_info && pm_bytes_cstr(bytes, at + 0x18, &name) &&
		name.len <= HTD_LIMIT_NAME && is_name(name);
}

static bool is_zero(struct pm_bytes b, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (i >= b.len || b.p[i])
			return false;
	return true;
}

/* The first layout and byte order that give a class description at `at`. */
static bool describes_at(struct pm_bytes head, uint64_t at, struct htd_dialect *d)
{
	for (int i = 0; i < 4; i++) {
		d->timestamp_first = i >= 2;
		d->big = i % 2;
		if (htd_dialect_klass_info(head, at, d, d->big))
			return true;
	}
	*d = (struct htd_dialect){.ids = d->ids};
	return false;
}

int htd_dialect_detect(struct pm_bytes head, struct htd_dialect *ret)
{
	*ret = (struct htd_dialect){.ids = common_ids};
	uint8_t order = head.len >= ENDIANNESS_SIZE ? head.p[0x14] : 0xff;
	if (order <= 1 && is_zero(head, 0x00, 0x14)) {
		bool described = describes_at(head, ENDIANNESS_SIZE, ret);
		ret->big = order; /* the stream's own events */
		return described ? 95 : 0;
	}
	if (order <= 1 && is_zero(head, 0x04, 0x14)) {
		struct htd_dialect d = {.big = order, .ids = release_06_ids};
		struct htd_header h;
		if (htd_header_read(head, 0, false, d.big, &h) && h.klass_id == d.ids.endianness &&
			htd_dialect_klass_info(head, ENDIANNESS_SIZE, &d, d.big)) {
			*ret = d;
			return 95;
		}
	}
	return describes_at(head, 0, ret) ? 80 : 0;
}
