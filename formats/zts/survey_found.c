/*
 * Makes traces of what only the scan has found: the payloads of traces that are not where the index
 * says, such as behind a gap in traces.dat, and traces that no index names.
 */
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "formats/zts/records.h"
#include "formats/zts/survey_private.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

/* ---- payloads that have moved ---- */

enum { BETWEEN_QUESTIONS = 1 << 12 /* records */ };

/* By what a payload tells, too. */
static int by_payload(const void *a, const void *b)
{
	const struct zts_missing *x = a, *y = b;
	return zts_order(x->span->store, y->span->store)
		?: zts_order(
			   x->span->timestamp_ns / ZTS_MS_NS, y->span->timestamp_ns / ZTS_MS_NS)
		?: zts_order(x->span->span_id, y->span->span_id)
		?: zts_order(x->span->tstart, y->span->tstart)
		?: zts_order(x->tstop, y->tstop);
}

/* The one missing trace that has this payload, or NULL. */
static struct zts_missing *find(
	const struct zts_surveyor *s, uint32_t store, const struct zts_found *f)
{
	const struct zts_span span = {.store = store,
		.timestamp_ns = f->timestamp_ms * ZTS_MS_NS,
		.span_id = f->span_id,
		.tstart = f->tstart};
	const struct zts_missing wanted = {
		.span = &span, .tstop = f->has & ZTS_HAS_TSTOP ? f->tstop : PM_NO_TIME};
	size_t n = s->n_missing;
	size_t at = PM_LOWER_BOUND(i, 0, n, by_payload(&s->missing[i], &wanted) < 0);
	if (at == n || by_payload(&s->missing[at], &wanted) != 0 ||
		(at + 1 < n && by_payload(&s->missing[at + 1], &wanted) == 0))
		return NULL;
	return &s->missing[at];
}

/*
 * Moves the parts of a trace by as much as the first one has been found away from its place. False
 * if there is no sound chunk for each: then they are not behind the same gap.
 */
static bool move_parts(
	const struct zts_surveyor *s, const struct zts_trace *t, const struct zts_found *f)
{
	const struct zts_chunks *chunks = &s->stores->items[t->store].chunks;
	struct zts_part *parts = &s->v->parts[t->part];
	uint64_t by = chunks->chunks[f->chunk].offset - parts[0].data_offset;
	bool all = parts[0].start_offset == f->start_offset;
	for (uint32_t i = 0; all && i < t->n_parts; i++) {
		uint32_t chunk = parts[i].store == t->store
			? zts_chunk_find(chunks, parts[i].data_offset + by)
			: PM_NONE;
		all = chunk != PM_NONE && s->v->scans[t->store].status[chunk] == ZTS_OK;
	}
	for (uint32_t i = 0; all && i < t->n_parts; i++) {
		parts[i].data_offset += by;
		parts[i].chunk = zts_chunk_find(chunks, parts[i].data_offset);
	}
	return all;
}

static int join(struct zts_surveyor *s, struct zts_missing *missing, struct zts_found *f,
	struct pm_error *err)
{
	struct zts_trace *t = &s->v->traces[missing->trace];
	struct zts_part *part = &s->v->parts[t->part];
	if (t->n_parts > 1 && !move_parts(s, t, f))
		return 0;
	part->chunk = f->chunk;
	part->data_offset = s->stores->items[t->store].chunks.chunks[f->chunk].offset;
	part->start_offset = f->start_offset;
	t->moved = f->claimed = true;
	t->lost = f->records > PM_LIMIT_TRACE_CALLS;
	zts_survey_take_payload(t, f);
	int r = t->n_parts > 1 && !t->lost ? zts_survey_assemble(s, t, false, err) : 0;
	f->shown = !t->lost;
	return r;
}

int zts_survey_find_moved(struct zts_surveyor *s, struct pm_error *err)
{
	int r = 0;
	if (s->n_missing == 0)
		return 0;
	if (pm_sort(s->missing, s->n_missing, sizeof(*s->missing), by_payload) < 0)
		return pm_error_plain(err, -ENOMEM);
	for (uint32_t store = 0; store < s->v->n_stores; store++) {
		struct zts_scan *scan = &s->v->scans[store];
		for (size_t i = 0; i < scan->n && r == 0; i++) {
			struct zts_found *f = &scan->found[i];
			if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
				return pm_error_plain(err, -ENOMEM);
			struct zts_missing *missing =
				f->claimed || !(f->has & ZTS_HAS_TSTART) ? NULL : find(s, store, f);
			if (missing && !s->v->traces[missing->trace].moved)
				r = join(s, missing, f, err);
		}
	}
	return r;
}

/* ---- traces that no index names ---- */

static int take_found(struct zts_surveyor *s, uint32_t store, struct zts_found *f)
{
	struct zts_survey *v = s->v;
	const struct zts_chunk *chunk = &s->stores->items[store].chunks.chunks[f->chunk];
	struct zts_span span = {.span_id = f->span_id,
		.parent_id = f->parent_id,
		.timestamp_ns = f->timestamp_ms * ZTS_MS_NS,
		.duration_ns = zts_survey_duration(f),
		.data_offset = chunk->offset,
		.start_offset = f->start_offset,
		.calls = f->calls,
		.errors = f->errors,
		.records = f->records,
		.tstart = f->has & ZTS_HAS_TSTART ? f->tstart : PM_NO_TIME,
		.tstop = f->has & ZTS_HAS_TSTOP ? f->tstop : PM_NO_TIME,
		.method = f->method,
		.store = store,
		.by_scan = true};
	struct zts_trace t = {.part = v->n_parts,
		.ticket = PM_NONE,
		.n_parts = 1,
		.store = store,
		.span_id = f->span_id,
		.parent_id = f->parent_id,
		.timestamp_ns = span.timestamp_ns,
		.duration_ns = span.duration_ns,
		.calls = f->calls,
		.records = f->records,
		.errors = f->errors,
		.method = f->method,
		.error = f->errors > 0,
		.attr = f->attr,
		.n_attrs = f->n_attrs,
		.lost = f->records > PM_LIMIT_TRACE_CALLS,
		.has_exception = (f->has & ZTS_HAS_EXCEPTION) != 0};
	t.n_attrs = t.lost ? 0 : t.n_attrs;
	f->shown = !t.lost;
	if (pm_list_room(&v->spans.items, v->spans.n, &v->spans.room, sizeof(span)) < 0)
		return -ENOMEM;
	v->spans.items[v->spans.n++] = span;
	int r = zts_survey_add_part(s, &span);
	return r < 0 ? r : zts_survey_add_trace(v, &t);
}

/* First-generation stores have no nested traces: such records are plain calls. */
static bool is_trace(const struct zts_found *f)
{
	return f->begins_trace || !(f->has & ZTS_HAS_TYPE) || (f->has & ZTS_HAS_SPAN);
}

int zts_survey_take_unclaimed(struct zts_surveyor *s, struct pm_error *err)
{
	for (uint32_t store = 0; store < s->v->n_stores; store++) {
		struct zts_scan *scan = &s->v->scans[store];
		for (size_t i = 0; i < scan->n; i++)
			if (!scan->found[i].claimed && is_trace(&scan->found[i]) &&
				take_found(s, store, &scan->found[i]) < 0)
				return pm_error_set(
					err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for traces");
	}
	if (zts_spans_unite(&s->v->spans) < 0)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for traces");
	return 0;
}
