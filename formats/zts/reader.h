/*
 * The one reader of calls in payloads: it knows the records that have not ended, with their
 * numbers, and keeps calls as a tree where that is wanted. The scan of the chunks (scan_payload.c)
 * reads all records of a payload with it, and zts_tree_read those of one trace.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_READER_H
#define PROFMOUNT_FORMATS_ZTS_READER_H

#include <errno.h>

#include "formats/common/arena.h"
#include "formats/common/list.h"
#include "formats/zts/records.h"
#include "formats/zts/store.h"
#include "profmount/document.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

/* Position of a part of a trace. */
struct zts_part {
	uint32_t store;
	uint32_t chunk; /* PM_NONE: there is no such chunk */
	uint64_t data_offset, start_offset;
};

struct zts_attr {
	uint32_t call;
	uint32_t order; /* of appearance: later ones replace earlier ones */
	bool is_text;   /* else `value` is JSON */
	struct pm_bytes key, value;
};

/* Bits of numbers are those of their keys, so that one mask takes them over. */
enum zts_has {
	ZTS_HAS_TIMESTAMP = 1 << ZTS_TIMESTAMP,
	ZTS_HAS_TYPE = 1 << ZTS_TYPE,
	ZTS_HAS_FLAGS = 1 << ZTS_FLAGS,
	ZTS_HAS_TSTART = 1 << ZTS_TSTART,
	ZTS_HAS_TSTOP = 1 << ZTS_TSTOP,
	ZTS_HAS_PARENT = 1 << ZTS_PARENT,
	ZTS_HAS_SPAN = 1 << ZTS_SPAN,
	ZTS_HAS_EXCEPTION = 1 << 24, /* beyond all keys */
	ZTS_IS_OPEN = 1 << 25,       /* the data ended before the record */
};

struct zts_call {
	uint32_t parent; /* PM_NONE: the trace's own */
	uint32_t depth;
	uint32_t store, chunk; /* start of its record; ids are valid in that store */
	uint64_t start_offset;
	uint32_t end; /* end of the calls below it */
	uint32_t has;
	uint64_t tstart, tstop; /* ticks */
	uint64_t method, calls;
	uint64_t exception, flags, timestamp_ms, span_id, parent_id, type;
	uint32_t attr, n_attrs; /* in zts_tree.attrs */
};

/* Calls in pre-order, attributes by call and key. */
struct zts_tree {
	struct zts_call *calls;
	uint32_t n;
	size_t room;
	struct zts_attr *attrs;
	size_t n_attrs, attr_room;
	size_t attr_bytes;
	struct pm_arena texts;
	size_t bytes; /* memory that it takes, about */
};

/* Parts of a trace, in order. */
struct zts_parts {
	const struct zts_part *items;
	uint32_t n;
	const struct zts_payload *first; /* of the first part; NULL: it is taken out of the cache */
};

/*
 * -EINVAL or -EIO with the reason if a part cannot be read; then nothing is left allocated. `ret`
 * is zeroed or of another trace: its memory is used again.
 */
int zts_tree_read(struct zts_stores *s, const struct zts_parts *parts, struct zts_tree *ret,
	struct pm_error *err);
void zts_tree_done(struct zts_tree *tree);

/* The payload that is used for reading traces one after another. Zeroed: none. */
struct zts_held {
	const struct zts_payload *payload; /* NULL: none, or it cannot be read */
	uint32_t store, chunk;
};

/*
 * Moves on to the payload of the part, which may be the current one; NULL: to none. `shared`:
 * others need it, too, see zts_payload_get.
 */
void zts_hold(
	struct zts_stores *s, const struct zts_part *part, bool shared, struct zts_held *held);

/* The duration of a call, negative if the clock was set back; false, and 0, if it has not ended. */
static inline bool zts_call_duration(const struct zts_call *call, int64_t *ret_ns)
{
	uint32_t both = ZTS_HAS_TSTART | ZTS_HAS_TSTOP;
	*ret_ns = 0;
	if ((call->has & both) != both)
		return false;
	*ret_ns = ((int64_t)call->tstop - (int64_t)call->tstart) * (int64_t)ZTS_TICK_NS;
	return true;
}

/*
 * How long after its trace a call began, in ns, negative if the clock was set back; false, and 0,
 * if either does not say when it began.
 */
static inline bool zts_call_delay(
	const struct zts_call *root, const struct zts_call *call, int64_t *ret_ns)
{
	*ret_ns = 0;
	if (!(call->has & root->has & ZTS_HAS_TSTART))
		return false;
	*ret_ns = ((int64_t)call->tstart - (int64_t)root->tstart) * (int64_t)ZTS_TICK_NS;
	return true;
}

/*
 * The time of a call, in ns since 1970, in a trace that began at `trace_ns`: that if it is not
 * known; at least 0 and at most UINT64_MAX.
 */
uint64_t zts_call_time(uint64_t trace_ns, const struct zts_call *root, const struct zts_call *call);

/* Sums of times that cannot overflow; as a cell, a double if it does not fit into 64 bits. */
typedef __int128 zts_sum;
struct pm_cell zts_sum_cell(zts_sum sum);

/*
 * To be called for the last call first, with `ns` of all of them zeroed before. A call that has not
 * ended took as long as the calls directly below it: ns[i] becomes that and the result is false.
 * Otherwise ns[i] becomes its exclusive time.
 */
static inline bool zts_call_settle(const struct zts_tree *tree, uint32_t i, zts_sum *ns)
{
	const struct zts_call *call = &tree->calls[i];
	int64_t duration_ns;
	bool ended = zts_call_duration(call, &duration_ns);
	zts_sum inclusive_ns = ended ? duration_ns : -ns[i];
	ns[i] = ended ? ns[i] + duration_ns : inclusive_ns;
	if (call->parent != PM_NONE)
		ns[call->parent] -= inclusive_ns;
	return ended;
}

/* Exclusive times of the calls, 0 of those that have not ended; to be freed by the caller. */
zts_sum *zts_tree_self(const struct zts_tree *tree);

/* The numbers of a call that has not ended, by key: each is stored in the same way. */
enum { ZTS_KEYS = 24 }; /* greater ones have no meaning */
_Static_assert(ZTS_HAS_EXCEPTION >= 1 << ZTS_KEYS, "bits of keys are bits of numbers only");

struct zts_numbers {
	uint32_t given; /* bit k: key k was there */
	uint64_t of[ZTS_KEYS];
};

static inline bool zts_is_given(const struct zts_numbers *n, enum zts_info key)
{
	return n->given >> key & 1;
}

/* 0 if it was not there. */
static inline uint64_t zts_number(const struct zts_numbers *n, enum zts_info key)
{
	return zts_is_given(n, key) ? n->of[key] : 0;
}

/* A record that has not ended. */
struct zts_open_record {
	struct zts_numbers numbers;
	uint32_t start;  /* in the payload */
	uint32_t within; /* start of the innermost record with a time stamp around it; or PM_NONE */
	uint32_t has;    /* ZTS_HAS_FLAGS if it failed, and ZTS_HAS_EXCEPTION */
	uint32_t records, errors; /* before it in the payload */
	size_t attrs;             /* before those of the record */
};

/* A tree that calls are added to as they are read. */
struct zts_growing {
	struct zts_tree *tree;
	const struct zts_part *part; /* the part being read */
	const struct zts_texts *texts;
	uint32_t open; /* the innermost call that has not ended, or PM_NONE */
	struct pm_text scratch;
};

/* Begins a tree in `ret`, which is zeroed or of another trace. Free with zts_growing_done. */
void zts_growing_init(struct zts_growing *g, struct zts_tree *ret);
void zts_growing_done(struct zts_growing *g);

/* Empties the tree; its memory is reused. */
void zts_growing_restart(struct zts_growing *g);

/* Call when the trace's own record has ended: sorts its attributes. 0 or -ENOMEM. */
int zts_growing_end(struct zts_growing *g);

struct zts_reader {
	struct zts_records records;
	struct zts_open_record *open; /* records.n of them, from the outermost inwards */
	size_t room;
	struct zts_growing *growing; /* NULL: calls are not kept */
	uint32_t n, errors;          /* records so far, and those that failed */
	size_t attrs;                /* of open records, counted by the caller */
};

void zts_reader_init(struct zts_reader *r);
void zts_reader_done(struct zts_reader *r);

/*
 * Takes plain records inside of an outermost one: their beginnings, numbers, and ends. Stops before
 * anything else, which may be at once, and there zts_records_next goes on. False if the work has
 * been cancelled.
 */
bool zts_reader_run(struct zts_reader *r);

/* What an event from zts_records_next says of records that have not ended. 0 or -ENOMEM. */
int zts_reader_take(struct zts_reader *r, const struct zts_record_event *e);

/*
 * What it says of the tree; after the former. `values` is where attributes can be read. Returns 1
 * to continue, 0 when the trace's own record has ended.
 */
int zts_reader_grow(struct zts_reader *r, const struct zts_record_event *e,
	struct zts_records *values, struct pm_error *err);

#endif
