/*
 * Joins the two sources of knowledge about traces. A record of the index is believed only where the
 * payload that it names has its time stamp: indexes outlive the bytes that they speak of. Parts of
 * one trace are united by its ids; what a scan finds and no index names is a trace without an id.
 */
#include "formats/zts/survey_private.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/zts/index.h"
#include "formats/zts/records.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

static int read_store(struct zts_surveyor *s, uint32_t store, struct pm_error *err)
{
	struct zts_store *st = &s->stores->items[store];
	const struct zts_texts *texts;
	int r = zts_store_texts(st, &texts, err);
	if (r == 0)
		r = zts_scan_store(st, &s->v->attr_names, &s->v->scans[store], err);
	if (r < 0)
		return r;
	r = zts_index_read(&s->v->spans, s->stores, store, texts);
	if (r == -EIO)
		return pm_error_set(err, r, st->place, PM_NO_OFFSET,
			"the metadata index has changed since it was mounted");
	if (r < 0)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the index");
	s->effort += s->v->scans[store].payload_bytes * 16;
	return 0;
}

/* ---- what both kinds of traces need ---- */

int zts_survey_add_part(struct zts_surveyor *s, const struct zts_span *span)
{
	struct zts_survey *v = s->v;
	if (pm_list_room(&v->parts, v->n_parts, &v->part_room, sizeof(*v->parts)) < 0)
		return -ENOMEM;
	v->parts[v->n_parts++] = (struct zts_part){.store = span->store,
		.chunk = zts_chunk_find(&s->stores->items[span->store].chunks, span->data_offset),
		.data_offset = span->data_offset,
		.start_offset = span->start_offset};
	return 0;
}

int zts_survey_add_trace(struct zts_survey *v, const struct zts_trace *t)
{
	if (v->n >= PM_LIMIT_ITEMS ||
		pm_list_room(&v->traces, v->n, &v->room, sizeof(*v->traces)) < 0)
		return -ENOMEM;
	v->traces[v->n++] = *t;
	return 0;
}

uint64_t zts_found_duration(const struct zts_found *f)
{
	uint32_t both = ZTS_HAS_TSTART | ZTS_HAS_TSTOP;
	if ((f->has & both) != both || f->tstop < f->tstart)
		return PM_NO_TIME;
	return (f->tstop - f->tstart) * ZTS_TICK_NS;
}

/* ---- traces that only the scan knows ---- */

static int take_found(struct zts_surveyor *s, uint32_t store, struct zts_found *f)
{
	struct zts_survey *v = s->v;
	const struct zts_chunk *chunk = &s->stores->items[store].chunks.chunks[f->chunk];
	struct zts_span span = {.span_id = f->span_id,
		.parent_id = f->parent_id,
		.timestamp_ns = f->timestamp_ms * ZTS_MS_NS,
		.duration_ns = zts_found_duration(f),
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

/* First-generation stores have no traces inside of others: such records are plain calls. */
static bool is_trace(const struct zts_found *f)
{
	return f->begins_trace || !(f->has & ZTS_HAS_TYPE) || (f->has & ZTS_HAS_SPAN);
}

static int take_unclaimed(struct zts_surveyor *s, struct pm_error *err)
{
	for (uint32_t store = 0; store < s->v->n_stores; store++) {
		struct zts_scan *scan = &s->v->scans[store];
		for (size_t i = 0; i < scan->n; i++)
			if (!scan->found[i].claimed && is_trace(&scan->found[i]) &&
				take_found(s, store, &scan->found[i]) < 0)
				return pm_error_set(
					err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for traces");
	}
	zts_spans_unite(&s->v->spans);
	return 0;
}

/* Marks what stands in a trace that is shown. Outer records come before inner ones. */
static void mark_inner(struct zts_survey *v)
{
	for (uint32_t store = 0; store < v->n_stores; store++) {
		struct zts_scan *scan = &v->scans[store];
		for (size_t i = 0; i < scan->n; i++) {
			struct zts_found *f = &scan->found[i];
			const struct zts_found *outer = f->outer == f->start_offset
				? NULL
				: zts_scan_find(scan, f->chunk, f->outer);
			f->inner |= outer && (outer->shown || outer->inner);
		}
	}
	for (uint32_t i = 0; i < v->n; i++) {
		const struct zts_part *p = &v->parts[v->traces[i].part];
		struct zts_found *f = v->traces[i].lost
			? NULL
			: zts_scan_find(&v->scans[p->store], p->chunk, p->start_offset);
		v->traces[i].inner = f && (f->inner || f->counted);
		if (f)
			f->counted = true;
	}
}

const struct zts_kept *zts_trace_attr(
	const struct zts_survey *v, const struct zts_trace *t, uint32_t name)
{
	const struct zts_kept *attrs = v->scans[t->store].attrs;
	for (uint32_t i = t->n_attrs; i-- > 0;)
		if (attrs[t->attr + i].name == name)
			return &attrs[t->attr + i];
	return NULL;
}

int zts_survey_build(struct zts_survey *v, struct zts_stores *stores, struct pm_error *err)
{
	struct zts_surveyor s = {v, stores, PM_LIMIT_PAYLOAD};
	*v = (struct zts_survey){.n_stores = stores->n};
	v->scans = calloc(stores->n + 1, sizeof(*v->scans));
	int r = v->scans ? 0 : pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
	for (uint32_t i = 0; i < stores->n && r == 0; i++)
		r = read_store(&s, i, err);
	if (r == 0)
		r = zts_survey_take_index(&s, err);
	if (r == 0)
		r = take_unclaimed(&s, err);
	if (r == 0) {
		mark_inner(v);
		for (uint32_t i = 0; i < stores->n; i++)
			zts_scan_forget_found(&v->scans[i]);
		r = zts_survey_order(v, err);
	}
	if (r == 0 && zts_columns_choose(v) < 0)
		r = pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for attributes");
	if (r < 0)
		zts_survey_done(v);
	return r;
}

void zts_survey_done(struct zts_survey *v)
{
	for (uint32_t i = 0; v->scans && i < v->n_stores; i++)
		zts_scan_done(&v->scans[i]);
	free(v->scans);
	free(v->spans.items);
	free(v->traces);
	free(v->parts);
	free(v->by_store);
	free(v->first_of);
	free(v->slow);
	free(v->failed);
	zts_attr_names_done(&v->attr_names);
	*v = (struct zts_survey){.n = 0};
}
