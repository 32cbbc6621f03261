/*
 * Joins the two sources of information on traces. A record of the index is only used if the payload
 * it refers to has its time stamp, because indexes outlive the bytes that they describe. The parts
 * of a trace are joined by its ids; a record found by the scan alone is a trace without an id.
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
	const struct zts_chunks *chunks;
	const struct zts_texts *texts;
	int r = zts_store_chunks(st, &chunks, err);
	if (r == 0)
		r = zts_store_texts(st, &texts, err);
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

/* Marks what is contained in a trace that is shown. Outer records come before inner ones. */
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
		r = zts_survey_take_unclaimed(&s, err);
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
