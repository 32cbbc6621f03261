/*
 * Two readers of metadata records. The second generation stores them in a MapDB store, as CBOR
 * after a tag that nothing else there begins with, so they are found by that tag and accepted if
 * all their fields are present and plausible. The first generation has a table of fixed records.
 * Whether a record matches the chunks is checked elsewhere.
 */
#include "formats/zts/meta.h"

#include "formats/common/cbor.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "profmount/profile.h"

static int add_span(struct zts_spans *spans, const struct zts_span *span)
{
	if (pm_list_room_in(spans->arena, &spans->items, spans->n, &spans->room, sizeof(*span)) < 0)
		return -ENOMEM;
	spans->items[spans->n++] = *span;
	return 0;
}

/* ---- second generation: carving ---- */

/* The integers after the tag, in stored order. */
enum field {
	FIELD_TRACE_ID_1,
	FIELD_TRACE_ID_2,
	FIELD_PARENT_ID,
	FIELD_SPAN_ID,
	FIELD_CHUNK,
	FIELD_FLAGS,
	FIELD_TIMESTAMP,
	FIELD_DURATION,
	FIELD_DATA_OFFSET,
	FIELD_START_OFFSET,
	FIELD_ZERO_LEVEL,
	FIELD_STACK_DEPTH,
	FIELD_CALLS,
	FIELD_ERRORS,
	FIELD_RECORDS,
	FIELD_TSTART,
	FIELD_TSTOP,
	N_FIELDS,
};

static const uint8_t record_tag[] = {0xd8, 0x41};

static bool read_int(struct pm_cur *in, int64_t *ret)
{
	struct pm_cbor_head head;
	if (!pm_cbor_read_head(in, &head) || head.major > 1 || head.low == 31 ||
		head.value > INT64_MAX)
		return false;
	*ret = head.major ? -1 - (int64_t)head.value : (int64_t)head.value;
	return true;
}

/*
 * A map of integers to integers; *ret_value is the value of `key`, if there is one. Its pairs are
 * subtracted from `budget`.
 */
static bool read_map(struct pm_cur *in, uint64_t key, uint64_t *ret_value, uint64_t *budget)
{
	struct pm_cbor_head head;
	int64_t k, v;
	if (!pm_cbor_read_head(in, &head) || head.major != 5 || head.low == 31 ||
		head.value > pm_cur_left(in) / 2)
		return false;
	for (uint64_t i = 0; i < head.value; i++) {
		if (*budget == 0)
			return false;
		--*budget;
		if (!read_int(in, &k) || !read_int(in, &v))
			return false;
		if (key != 0 && k >= 0 && (uint64_t)k == key && v > 0)
			*ret_value = (uint64_t)v;
	}
	return true;
}

/* Offsets, times and counts are never negative; otherwise it is not a record. */
static bool makes_sense(const int64_t f[N_FIELDS])
{
	for (int i = FIELD_CHUNK; i < N_FIELDS; i++)
		if (f[i] < 0)
			return false;
	return f[FIELD_TIMESTAMP] > 0 && f[FIELD_FLAGS] <= UINT32_MAX &&
		f[FIELD_START_OFFSET] <= UINT32_MAX;
}

static bool read_record(
	struct pm_cur in, uint64_t method_key, uint64_t *budget, struct zts_span *ret)
{
	int64_t f[N_FIELDS];
	uint64_t unused = 0, method = 0;
	for (int i = 0; i < N_FIELDS; i++)
		if (!read_int(&in, &f[i]))
			return false;
	if (!makes_sense(f) || !read_map(&in, method_key, &method, budget) ||
		!read_map(&in, 0, &unused, budget))
		return false;
	*ret = (struct zts_span){
		.trace_id = {(uint64_t)f[FIELD_TRACE_ID_1], (uint64_t)f[FIELD_TRACE_ID_2]},
		.span_id = (uint64_t)f[FIELD_SPAN_ID],
		.parent_id = (uint64_t)f[FIELD_PARENT_ID],
		.timestamp_ns = (uint64_t)f[FIELD_TIMESTAMP],
		.duration_ns = (uint64_t)f[FIELD_DURATION],
		.data_offset = (uint64_t)f[FIELD_DATA_OFFSET],
		.start_offset = (uint64_t)f[FIELD_START_OFFSET],
		.calls = (uint64_t)f[FIELD_CALLS],
		.errors = (uint64_t)f[FIELD_ERRORS],
		.records = (uint64_t)f[FIELD_RECORDS],
		.tstart = (uint64_t)f[FIELD_TSTART],
		.tstop = (uint64_t)f[FIELD_TSTOP],
		.method = method,
		.flags = (uint32_t)f[FIELD_FLAGS],
	};
	return true;
}

int zts_meta_carve(struct zts_spans *spans, struct pm_bytes file, uint32_t store,
	uint64_t method_key, bool *ret_whole)
{
	struct zts_span span;
	struct pm_bytes rest = file;
	/* A pair takes two bytes, so records that do not overlap need at most half. */
	uint64_t budget = file.len;
	int r = 0;
	while (r == 0 && rest.len > 0) {
		const uint8_t *found = memmem(rest.p, rest.len, record_tag, sizeof(record_tag));
		if (!found)
			break;
		size_t behind = (size_t)(found - rest.p) + sizeof(record_tag);
		pm_bytes_sub(rest, behind, rest.len - behind, &rest);
		if (!read_record(pm_cur_of(rest, true), method_key, &budget, &span))
			continue;
		span.store = store;
		r = add_span(spans, &span);
	}
	*ret_whole = budget > 0 || file.len == 0;
	return r;
}

/* ---- first generation: qmeta.idx ---- */

enum { OLD_HEADER_SIZE = 0x40, OLD_RECORD_SIZE = 0x60 };

#define SECOND_NS   1000000000ull
#define DESCRIPTION 0x80000000u /* the next word is a text, not a method */

/*
 * 0x00 start offset, seconds · 0x08 app, environment, type, errors low, flags · 0x10 chunk number,
 * data offset (48 bits) · 0x18 host, duration s, method · 0x20 two text ids · 0x28 records (24
 * bits), errors high, calls · 0x30 trace id (128 bits); big-endian
 */
static void old_record_decode(const uint8_t *d, struct zts_span *ret)
{
	uint64_t w1 = pm_be64(d), w2 = pm_be64(d + 0x08), w3 = pm_be64(d + 0x10);
	uint64_t w4 = pm_be64(d + 0x18), w6 = pm_be64(d + 0x28);
	uint32_t method = (uint32_t)w4;
	*ret = (struct zts_span){
		.trace_id = {pm_be64(d + 0x30), pm_be64(d + 0x38)},
		.timestamp_ns = (w1 & UINT32_MAX) * SECOND_NS,
		.duration_ns = (w4 >> 32 & 0xffff) * SECOND_NS,
		.data_offset = w3 & 0xffffffffffff,
		.start_offset = w1 >> 32,
		.calls = w6 & UINT32_MAX,
		.errors = (w2 >> 8 & 0xff) | (w6 >> 32 & 0xff) << 8,
		.records = w6 >> 40,
		.tstart = PM_NO_TIME,
		.tstop = PM_NO_TIME,
		.method = method & DESCRIPTION ? 0 : method,
		.origin = {[ZTS_APPLICATION] = (uint16_t)(w2 >> 48),
			[ZTS_ENVIRONMENT] = (uint16_t)(w2 >> 32),
			[ZTS_TRACE_TYPE] = (uint16_t)(w2 >> 16),
			[ZTS_HOST] = (uint16_t)(w4 >> 48)},
		.flags = (uint32_t)(w2 & 0xff),
		.old = true,
	};
}

int zts_meta_read_old(
	struct zts_spans *spans, struct pm_bytes file, uint32_t store, bool *ret_whole)
{
	struct pm_bytes header, table;
	struct zts_span span;
	int r = 0;
	*ret_whole =
		pm_bytes_sub(file, 0, OLD_HEADER_SIZE, &header) && memcmp(header.p, "MQI0", 4) == 0;
	if (!*ret_whole)
		return 0;
	uint64_t end = pm_be32(header.p + 4);
	if (end > file.len || end < OLD_HEADER_SIZE) {
		*ret_whole = false;
		end = file.len;
	}
	uint64_t n = (end - OLD_HEADER_SIZE) / OLD_RECORD_SIZE;
	pm_bytes_table(file, OLD_HEADER_SIZE, n, OLD_RECORD_SIZE, OLD_RECORD_SIZE, &table);
	for (uint64_t i = 0; i < n && r == 0; i++) {
		old_record_decode(pm_bytes_row(table, i, OLD_RECORD_SIZE), &span);
		span.store = store;
		if (span.data_offset != 0) /* 0: a record that was never filled */
			r = add_span(spans, &span);
	}
	return r;
}

/* ---- both ---- */

/* 0: states of one record. */
static int compare_records(const struct zts_span *x, const struct zts_span *y)
{
	return zts_order(x->store, y->store)
		?: zts_order(x->data_offset, y->data_offset)
		?: zts_order(x->start_offset, y->start_offset)
		?: zts_order(x->trace_id[0], y->trace_id[0])
		?: zts_order(x->trace_id[1], y->trace_id[1])
		?: zts_order(x->span_id, y->span_id)
		?: zts_order(x->timestamp_ns, y->timestamp_ns);
}

/* Of two states of a record, the later one comes first. */
static int by_place(const void *a, const void *b)
{
	const struct zts_span *x = a, *y = b;
	return compare_records(x, y)
		?: zts_order(y->records, x->records)
		?: zts_order(y->tstop, x->tstop);
}

int zts_spans_unite(struct zts_spans *spans)
{
	size_t kept = 0;
	if (pm_sort(spans->items, spans->n, sizeof(*spans->items), by_place) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < spans->n; i++)
		if (kept == 0 || compare_records(&spans->items[kept - 1], &spans->items[i]) != 0)
			spans->items[kept++] = spans->items[i];
	spans->n = kept;
	return 0;
}
