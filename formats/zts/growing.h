/*
 * Call trees as they are read, event by event. Inline, because an event takes less time than a
 * function call.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_GROWING_H
#define PROFMOUNT_FORMATS_ZTS_GROWING_H

#include <errno.h>

#include "formats/common/list.h"
#include "formats/zts/calls.h"
#include "formats/zts/records.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

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

#endif
