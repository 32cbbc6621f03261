/* The call tree of one trace or span, read from its payloads. */
#ifndef PROFMOUNT_FORMATS_ZTS_CALLS_H
#define PROFMOUNT_FORMATS_ZTS_CALLS_H

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

/*
 * ---- growing ----
 * Call trees as they are read, event by event. Inline, because an event takes less time than a
 * function call.
 */

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

/* Reads n attributes of the innermost call from `records`. 1, or an error. */
int zts_growing_attrs(
	struct zts_growing *g, struct zts_records *records, uint64_t n, struct pm_error *err);

/* Call when the trace's own record has ended: sorts its attributes. 0 or -ENOMEM. */
int zts_growing_end(struct zts_growing *g);

/* Field by field: compilers fill a literal of this size with a slower instruction. */
static inline void zts_growing_init_call(
	struct zts_call *c, const struct zts_growing *g, const struct zts_record_event *e)
{
	c->parent = g->open;
	c->depth = g->open == PM_NONE ? 0 : g->tree->calls[g->open].depth + 1;
	c->store = g->part->store;
	c->chunk = g->part->chunk;
	c->start_offset = g->part->start_offset + e->at;
	c->end = c->has = 0;
	c->tstart = c->tstop = 0;
	c->method = c->calls = 0;
	c->exception = c->flags = 0;
	c->timestamp_ms = c->span_id = 0;
	c->parent_id = c->type = 0;
	c->attr = c->n_attrs = 0;
}

static inline int zts_growing_begin(
	struct zts_growing *g, const struct zts_record_event *e, struct pm_error *err)
{
	struct zts_tree *t = g->tree;
	if (t->n >= PM_LIMIT_TRACE_CALLS)
		return pm_error_set(err, -EINVAL, "traces.dat", g->part->data_offset,
			"the trace has more than %u calls", PM_LIMIT_TRACE_CALLS);
	if (pm_list_room(&t->calls, t->n, &t->room, sizeof(*t->calls)) < 0)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a trace");
	zts_growing_init_call(&t->calls[t->n], g, e);
	g->open = t->n++;
	return 1;
}

static inline void zts_growing_info(struct zts_call *c, const struct zts_record_event *e)
{
	switch (e->key) {
	case ZTS_TIMESTAMP:
		c->timestamp_ms = e->value;
		c->has |= ZTS_HAS_TIMESTAMP;
		break;
	case ZTS_TYPE:
		c->type = e->value;
		c->has |= ZTS_HAS_TYPE;
		break;
	case ZTS_FLAGS:
		c->flags = e->value;
		c->has |= ZTS_HAS_FLAGS;
		break;
	case ZTS_TSTART:
		c->tstart = e->value;
		c->has |= ZTS_HAS_TSTART;
		break;
	case ZTS_TSTOP:
		c->tstop = e->value;
		c->has |= ZTS_HAS_TSTOP;
		break;
	case ZTS_SPAN:
		c->span_id = e->value;
		c->has |= ZTS_HAS_SPAN;
		break;
	case ZTS_PARENT:
		c->parent_id = e->value;
		c->has |= ZTS_HAS_PARENT;
		break;
	case ZTS_CALLS: c->calls = e->value; break;
	case ZTS_METHOD: c->method = e->value; break;
	default: break; /* numbers without a meaning for the call */
	}
}

/*
 * Takes an event; `records` is where attributes can be read. Returns 1 to continue, 0 when the
 * trace's own record has ended.
 */
static inline int zts_growing_take(struct zts_growing *g, const struct zts_record_event *e,
	struct zts_records *records, struct pm_error *err)
{
	struct zts_tree *t = g->tree;
	if (e->kind == ZTS_RECORD_BEGIN)
		return zts_growing_begin(g, e, err);
	if (g->open == PM_NONE)
		return pm_error_set(err, -EINVAL, "traces.dat", g->part->data_offset,
			"no call record begins at byte %llu of the payload",
			(unsigned long long)g->part->start_offset);
	struct zts_call *call = &t->calls[g->open];
	switch (e->kind) {
	case ZTS_RECORD_INFO: zts_growing_info(call, e); break;
	case ZTS_RECORD_ATTRS: return zts_growing_attrs(g, records, e->value, err);
	case ZTS_RECORD_EXCEPTION:
		call->exception = e->value;
		call->has |= ZTS_HAS_EXCEPTION;
		break;
	case ZTS_RECORD_END:
		call->has |= e->open ? ZTS_IS_OPEN : 0;
		call->end = t->n;
		g->open = call->parent;
		break;
	case ZTS_RECORD_BEGIN: break;
	}
	return g->open != PM_NONE;
}

/* ---- the numbers of a call that has not ended, by key: each is stored in the same way ---- */

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

/* To the call, whose numbers are those of the same record, or 0. */
static inline void zts_numbers_to_call(const struct zts_numbers *n, struct zts_call *call)
{
	enum {
		RARE = ZTS_HAS_TIMESTAMP | ZTS_HAS_TYPE | ZTS_HAS_FLAGS | ZTS_HAS_PARENT |
			ZTS_HAS_SPAN,
	};
	call->has |= n->given & (RARE | ZTS_HAS_TSTART | ZTS_HAS_TSTOP);
	call->tstart = zts_number(n, ZTS_TSTART);
	call->tstop = zts_number(n, ZTS_TSTOP);
	call->method = zts_number(n, ZTS_METHOD);
	call->calls = zts_number(n, ZTS_CALLS);
	if (!(n->given & RARE))
		return;
	call->flags = zts_number(n, ZTS_FLAGS);
	call->timestamp_ms = zts_number(n, ZTS_TIMESTAMP);
	call->span_id = zts_number(n, ZTS_SPAN);
	call->parent_id = zts_number(n, ZTS_PARENT);
	call->type = zts_number(n, ZTS_TYPE);
}

#endif
