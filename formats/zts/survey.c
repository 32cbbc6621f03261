/*
 * Joins the two sources of information on traces. A record of the index is only used if the payload
 * it refers to has its time stamp, because indexes outlive the bytes that they describe. The parts
 * of a trace are joined by its ids; a record found by the scan alone is a trace without an id.
 */
#include "formats/zts/survey_private.h"

#include <stdlib.h>

#include "formats/zts/index.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

static int read_index(struct zts_surveyor *s, uint32_t store, struct pm_error *err)
{
	struct zts_store *st = &s->stores->items[store];
	const struct zts_chunks *chunks;
	const struct zts_texts *texts;
	int r = zts_store_chunks(st, &chunks, err);
	if (r == 0)
		r = zts_store_texts(st, &texts, err);
	if (r < 0)
		return r;
	r = zts_index_read(&s->v->spans, s->stores, store, texts);
	if (r == -EIO)
		return pm_error_set(err, r, st->place, PM_NO_OFFSET,
			"the metadata index has changed since it was mounted");
	if (r < 0)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the index");
	return 0;
}

/* The indexes first: they say which traces the scans of the chunks should expect. */
static int read_stores(struct zts_surveyor *s, bool add_up, struct pm_error *err)
{
	struct zts_survey *v = s->v;
	int r = 0;
	for (uint32_t i = 0; i < s->stores->n && r == 0; i++)
		r = read_index(s, i, err);
	if (r == 0 && (zts_survey_sort_index(s) < 0 || (add_up && zts_survey_expect(s) < 0)))
		r = pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the index");
	for (uint32_t i = 0; i < s->stores->n && r == 0; i++) {
		r = zts_scan_store(
			&s->stores->items[i], &v->attr_names, s->early, &v->scans[i], err);
		s->effort += v->scans[i].payload_bytes * 16;
	}
	return r;
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

/*
 * Traces that were added up must be those that count, in the expected orders: contexts are numbered
 * in order of the traces that have them.
 */
static bool is_as_expected(const struct zts_survey *v, struct zts_early *early)
{
	uint32_t n = 0, after_store = 0, after_time = 0;
	for (uint32_t i = 0; i < v->n; i++) {
		uint32_t ticket = v->traces[i].ticket;
		if (ticket == PM_NONE)
			continue;
		uint32_t time_rank = early->time_rank_of[ticket];
		if (v->traces[i].inner || time_rank < after_time)
			return false;
		early->trace_of[time_rank] = i;
		after_time = time_rank + 1;
		n++;
	}
	for (uint32_t i = 0; i < v->n; i++) {
		uint32_t ticket = v->traces[v->by_store[i]].ticket;
		if (ticket == PM_NONE)
			continue;
		if (ticket < after_store)
			return false;
		early->rank_of[ticket] = i;
		after_store = ticket + 1;
	}
	return n == zts_early_added(early);
}

static int survey(struct zts_surveyor *s, bool add_up, struct pm_error *err)
{
	struct zts_survey *v = s->v;
	int r = read_stores(s, add_up, err);
	if (r == 0)
		r = zts_survey_take_index(s, err);
	if (r == 0)
		r = zts_survey_find_moved(s, err);
	if (r == 0)
		r = zts_survey_take_unclaimed(s, err);
	if (r < 0)
		return r;
	mark_inner(v);
	for (uint32_t i = 0; i < v->n_stores; i++)
		zts_scan_forget_found(&v->scans[i]);
	r = zts_survey_order(v, err);
	if (r == 0)
		r = zts_survey_find_end(s, err);
	if (r == 0 && zts_columns_choose(v) < 0)
		r = pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for attributes");
	return r;
}

int zts_survey_build(struct zts_survey *v, struct zts_stores *stores, struct zts_early **ret_early,
	struct pm_error *err)
{
	struct zts_surveyor s = {.v = v, .stores = stores, .effort = PM_LIMIT_PAYLOAD};
	*v = (struct zts_survey){.n_stores = stores->n};
	v->scans = calloc(stores->n + 1, sizeof(*v->scans));
	int r = v->scans ? survey(&s, ret_early != NULL, err) : pm_error_plain(err, -ENOMEM);
	free(s.index);
	free(s.missing);
	if (s.early && (r < 0 || !is_as_expected(v, s.early))) {
		zts_early_free(s.early);
		s.early = NULL;
	}
	if (ret_early)
		*ret_early = s.early;
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
