/* Reads an event while classes are still being collected. */
#include "formats/htdump/scan.h"

#include <errno.h>

#include "formats/common/cursor.h"

static bool unreadable(struct htd_scan *c, const char *why)
{
	c->why = why;
	c->why_end = false;
	return false;
}

static bool cut_off(struct htd_scan *c, const char *why)
{
	c->why = why;
	c->why_end = true;
	return false;
}

/* A hole of zeros looks like many byte order events: only one that begins a dump is accepted. */
static bool endianness_valid(struct htd_scan *c, const struct htd_event *e)
{
	const struct htd_stream *s = c->s;
	uint64_t order = htd_event_integer(e, 0), next = e->at + e->bytes.len;
	const char *alone = "is a byte order event without a class description after it";
	struct pm_bytes name;
	if (e->header.timestamp || e->header.id || order > 1)
		return unreadable(c, "is a byte order event with other values than 0 and 1");
	if (e->at == 0 || htd_dialect_klass_info(s->bytes, next, &s->dialect, order == 1))
		return true;
	bool ends = !pm_bytes_cstr(s->bytes, next + HTD_HEADER_SIZE + 4, &name);
	return ends ? cut_off(c, alone) : unreadable(c, alone);
}

bool htd_scan_read(struct htd_scan *c, uint64_t at, struct htd_event *ret)
{
	struct htd_stream *s = c->s;
	ret->at = at;
	ret->big = c->big;
	if (!htd_header_read(s->bytes, at, s->dialect.timestamp_first, c->big, &ret->header))
		return cut_off(c, "ends in its header");
	c->why_klass = ret->header.klass_id;
	struct htd_slot *slot = htd_table_slot(&s->table, ret->header.klass_id);
	if (!slot)
		return unreadable(c, "is of a class that is not described");
	ret->plan = htd_slot_plan(&s->table, slot);
	if (!ret->plan) {
		c->no_memory = true;
		return unreadable(c, "does not fit into memory");
	}
	if (ret->plan->broken)
		return unreadable(c, ret->plan->broken);
	int r = htd_event_extent(s->bytes, at, ret->plan, &c->no_nul, &ret->bytes);
	if (r == -ENODATA)
		return cut_off(c, "is cut off, or a string in it does not end");
	if (r < 0)
		return unreadable(c, "has a string that does not end");
	return ret->plan->role != HTD_ROLE_ENDIANNESS || endianness_valid(c, ret);
}
