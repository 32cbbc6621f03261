/* Events: the bytes at one place of a stream, and their fields (docs/formats/htdump.md §events). */
#ifndef PROFMOUNT_HTDUMP_RECORDS_H
#define PROFMOUNT_HTDUMP_RECORDS_H

#include <errno.h>

#include "formats/common/cursor.h"
#include "formats/common/text.h"
#include "formats/htdump/dialect.h"
#include "formats/htdump/plan.h"
#include "profmount/table.h"

enum { HTD_HEADER_SIZE = 0x14 };

struct htd_header {
	uint32_t klass_id;
	uint64_t timestamp, id;
};

struct htd_event {
	struct htd_header header;
	bool big;
	uint64_t at; /* in the stream */
	struct pm_bytes bytes;
	const struct htd_plan *plan;
};

/* A range known to contain no NUL, so that many overlapping searches take the time of one. */
struct htd_no_nul {
	uint64_t from, to;
};

/* The header at `event`, of HTD_HEADER_SIZE bytes. */
static inline void htd_header_load(
	const uint8_t *event, bool timestamp_first, bool big, struct htd_header *ret)
{
	const uint8_t *klass = event + (timestamp_first ? 0x10 : 0x00);
	const uint8_t *timestamp = event + (timestamp_first ? 0x00 : 0x04);
	const uint8_t *id = event + (timestamp_first ? 0x08 : 0x0c);
	*ret = (struct htd_header){
		.klass_id = big ? pm_be32(klass) : pm_le32(klass),
		.timestamp = big ? pm_be64(timestamp) : pm_le64(timestamp),
		.id = big ? pm_be64(id) : pm_le64(id),
	};
}

/* The header at `at`; false if it does not fit. */
static inline bool htd_header_read(
	struct pm_bytes stream, uint64_t at, bool timestamp_first, bool big, struct htd_header *ret)
{
	struct pm_bytes b;
	if (!pm_bytes_sub(stream, at, HTD_HEADER_SIZE, &b))
		return false;
	htd_header_load(b.p, timestamp_first, big, ret);
	return true;
}

/* htd_event_extent of a plan with strings. */
int htd_event_extent_texts(struct pm_bytes stream, uint64_t at, const struct htd_plan *plan,
	struct htd_no_nul *seen, struct pm_bytes *ret);

/*
 * The bytes of an event at `at` with this plan. -ENODATA if the stream ends within it, -E2BIG if a
 * string in it is longer than PM_LIMIT_STRING. `seen` may be NULL.
 */
static inline int htd_event_extent(struct pm_bytes stream, uint64_t at, const struct htd_plan *plan,
	struct htd_no_nul *seen, struct pm_bytes *ret)
{
	if (plan->n_texts)
		return htd_event_extent_texts(stream, at, plan, seen, ret);
	return pm_bytes_sub(stream, at, plan->head, ret) ? 0 : -ENODATA;
}

/* Field i as an integer, sign extended where it has one. 0 unless htd_is_integer. */
uint64_t htd_event_integer(const struct htd_event *e, uint32_t i);

/* Field i as a text. Empty unless it is HTD_KIND_TEXT. */
struct pm_bytes htd_event_text(const struct htd_event *e, uint32_t i);

/* Walks the fields in order, which is cheaper than getting each one. */
struct htd_fields {
	const struct htd_event *e;
	uint32_t i, strings;
	uint64_t base; /* end of the last string */
};

/* The next field's bytes, without a string's NUL; false after the last. */
bool htd_fields_next(struct htd_fields *w, const struct htd_flat **ret, struct pm_bytes *ret_bytes);

/* A scalar field as a cell, EMPTY for text and arrays. */
struct pm_cell htd_value_cell(const struct htd_flat *f, struct pm_bytes bytes, bool big);

/* Any field as text is appended: numbers, [1,2], 0x…; NaN and infinities as words. */
void htd_value_text(struct pm_text *out, const struct htd_flat *f, struct pm_bytes bytes, bool big);

/* The same of field i. */
void htd_event_show(struct pm_text *out, const struct htd_event *e, uint32_t i);
struct pm_cell htd_event_cell(const struct htd_event *e, uint32_t i);

/* As htd_event_call, of any plan. */
bool htd_event_call_any(const struct htd_event *e, uint64_t *ret_duration, uint64_t *ret_thread);

/* The data of a call with a quick plan, of which at least the head is at `event`. */
static inline void htd_call_load(const uint8_t *event, const struct htd_plan *p, bool big,
	uint64_t *ret_duration, uint64_t *ret_thread)
{
	const uint8_t *duration = event + p->duration_at, *thread = event + p->thread_at;
	*ret_duration = big ? pm_be64(duration) : pm_le64(duration);
	if (p->thread_size == 8)
		*ret_thread = big ? pm_be64(thread) : pm_le64(thread);
	else
		*ret_thread = big ? pm_be32(thread) : pm_le32(thread);
}

/* The data of a call; false if the event is not a call, or has a negative duration or thread. */
static inline bool htd_event_call(
	const struct htd_event *e, uint64_t *ret_duration, uint64_t *ret_thread)
{
	const struct htd_plan *p = e->plan;
	if (!p->quick || e->bytes.len < p->head)
		return htd_event_call_any(e, ret_duration, ret_thread);
	htd_call_load(e->bytes.p, p, e->big, ret_duration, ret_thread);
	return true;
}

/* The end of a call; UINT64_MAX if it is beyond 64 bits. */
static inline uint64_t htd_call_end(uint64_t start, uint64_t duration)
{
	uint64_t end;
	return __builtin_add_overflow(start, duration, &end) ? UINT64_MAX : end;
}

/* The label of a call, if it is an unsigned number of 4 or 8 bytes before all strings. */
static inline bool htd_event_label(const struct htd_event *e, uint64_t *ret)
{
	const struct htd_plan *p = e->plan;
	if (!p->label_size || e->bytes.len < p->head)
		return false;
	const uint8_t *label = e->bytes.p + p->label_at;
	if (p->label_size == 8)
		*ret = e->big ? pm_be64(label) : pm_le64(label);
	else
		*ret = e->big ? pm_be32(label) : pm_le32(label);
	return true;
}

#endif
