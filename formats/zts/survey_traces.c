/*
 * Makes traces of the records of the index: checks each against the scan, and joins the parts of a
 * trace by its ids.
 */
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "formats/zts/records.h"
#include "formats/zts/survey_private.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

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

uint64_t zts_survey_duration(const struct zts_found *f)
{
	uint32_t both = ZTS_HAS_TSTART | ZTS_HAS_TSTOP;
	if ((f->has & both) != both || f->tstop < f->tstart)
		return PM_NO_TIME;
	return (f->tstop - f->tstart) * ZTS_TICK_NS;
}

/* ---- traces of the index ---- */

static int by_trace(const void *a, const void *b)
{
	const struct zts_span *x = *(const struct zts_span *const *)a;
	const struct zts_span *y = *(const struct zts_span *const *)b;
	return zts_order(x->trace_id[0], y->trace_id[0])
		?: zts_order(x->trace_id[1], y->trace_id[1])
		?: zts_order(x->span_id, y->span_id)
		?: zts_order(x->store, y->store)
		?: zts_order(x->data_offset, y->data_offset)
		?: zts_order(x->start_offset, y->start_offset)
		?: zts_order(x->timestamp_ns, y->timestamp_ns);
}

/* The records, with the parts of a trace adjacent; NULL if out of memory. */
static const struct zts_span **sort_index(const struct zts_spans *spans)
{
	const struct zts_span **sorted = malloc(spans->n * sizeof(struct zts_span *) + 1);
	for (size_t i = 0; sorted && i < spans->n; i++)
		sorted[i] = &spans->items[i];
	if (!sorted || pm_sort(sorted, spans->n, sizeof(struct zts_span *), by_trace) == 0)
		return sorted;
	free(sorted);
	return NULL;
}

/* True if `next` continues the trace of the records before it, of which `last` is the latest. */
static bool goes_on(const struct zts_span *last, const struct zts_span *next)
{
	if (last->trace_id[0] != next->trace_id[0] || last->trace_id[1] != next->trace_id[1] ||
		last->span_id != next->span_id)
		return false;
	return !(last->flags & ZTS_FLAG_LAST) || !(next->flags & ZTS_FLAG_FIRST);
}

static bool is_sound(const struct zts_survey *v, const struct zts_part *p)
{
	return p->chunk != PM_NONE && v->scans[p->store].status[p->chunk] == ZTS_OK;
}

/* The scan's record at the beginning of a trace, if the index is correct. */
static struct zts_found *find_claimed(
	struct zts_survey *v, const struct zts_span *span, const struct zts_part *part)
{
	struct zts_found *f = part->chunk == PM_NONE
		? NULL
		: zts_scan_find(&v->scans[part->store], part->chunk, part->start_offset);
	if (!f)
		return NULL;
	uint64_t stamp = f->timestamp_ms * ZTS_MS_NS;
	bool fits = span->old ||
		(span->timestamp_ns >= stamp && span->timestamp_ns - stamp < ZTS_MS_NS);
	return fits ? f : NULL;
}

/* Payload bytes needed to read the parts; false if too much has been read for this already. */
static bool can_afford(struct zts_surveyor *s, const struct zts_trace *t)
{
	uint64_t cost = 0;
	for (uint32_t i = 0; i < t->n_parts; i++) {
		const struct zts_part *p = &s->v->parts[t->part + i];
		cost += s->stores->items[p->store].chunks.chunks[p->chunk].bytes;
	}
	if (cost > s->effort)
		return false;
	s->effort -= cost;
	return true;
}

/* Attributes of a trace's own call, which may be in any of its parts. */
static int keep_attrs(struct zts_surveyor *s, struct zts_trace *t, const struct zts_tree *tree)
{
	struct zts_survey *v = s->v;
	struct zts_scan *scan = &v->scans[t->store];
	const struct zts_call *root = &tree->calls[0];
	if (scan->n_attrs >= PM_LIMIT_ITEMS - ZTS_KEPT_MOST)
		return 0;
	t->attr = (uint32_t)scan->n_attrs;
	t->n_attrs = 0;
	for (uint32_t i = 0; i < root->n_attrs && i < ZTS_KEPT_MOST; i++) {
		const struct zts_attr *attr = &tree->attrs[root->attr + i];
		struct zts_kept key, value;
		if (!zts_kept_of_text(attr->key, &v->attr_names.arena, &key) ||
			!zts_kept_of_text(attr->value, &v->attr_names.arena, &value) ||
			zts_attr_number(&v->attr_names, &key, NULL, &value.name) < 0 ||
			pm_list_room(&scan->attrs, scan->n_attrs, &scan->attr_room,
				sizeof(*scan->attrs)) < 0)
			return -ENOMEM;
		scan->attrs[scan->n_attrs++] = value;
		t->n_attrs++;
	}
	return 0;
}

int zts_survey_assemble(struct zts_surveyor *s, struct zts_trace *t, bool old, struct pm_error *err)
{
	struct zts_survey *v = s->v;
	const struct zts_parts parts = {.items = v->parts + t->part, .n = t->n_parts};
	struct zts_tree tree = {.n = 0};
	if (!can_afford(s, t)) {
		t->lost = true;
		return 0;
	}
	int r = zts_tree_read(s->stores, &parts, &tree, NULL);
	if (r == -ENOMEM)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for a trace");
	t->lost = r < 0;
	if (r < 0)
		return 0;
	int64_t duration_ns;
	bool ended = zts_call_duration(&tree.calls[0], &duration_ns);
	if (old)
		t->duration_ns = ended && duration_ns >= 0 ? (uint64_t)duration_ns : PM_NO_TIME;
	for (uint32_t i = 0; i < tree.n; i++) {
		const struct zts_call *c = &tree.calls[i];
		t->has_exception |= (c->has & ZTS_HAS_EXCEPTION) != 0;
		struct zts_found *f = i > 0 && (c->has & ZTS_HAS_TIMESTAMP)
			? zts_scan_find(&v->scans[c->store], c->chunk, c->start_offset)
			: NULL;
		if (f)
			f->inner = true;
	}
	r = keep_attrs(s, t, &tree);
	zts_tree_done(&tree);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for a trace") : 0;
}

/* The latest time in a trace, its beginning if there is no other. */
static uint64_t latest_time(const struct zts_trace *t, const struct zts_tree *tree)
{
	const struct zts_call *root = &tree->calls[0];
	uint64_t ticks = 0, end;
	for (uint32_t i = 0; (root->has & ZTS_HAS_TSTART) && i < tree->n; i++) {
		const struct zts_call *c = &tree->calls[i];
		uint64_t last = c->tstop > c->tstart ? c->tstop : c->tstart;
		if (last > root->tstart && last - root->tstart > ticks)
			ticks = last - root->tstart;
	}
	if (__builtin_mul_overflow(ticks, ZTS_TICK_NS, &end) ||
		__builtin_add_overflow(t->timestamp_ns, end, &end))
		return t->timestamp_ns;
	return end;
}

/* From the latest trace on, which the run mostly ends with: there may be too many to read all. */
int zts_survey_find_end(struct zts_surveyor *s, struct pm_error *err)
{
	struct zts_survey *v = s->v;
	struct zts_tree tree = {.n = 0};
	for (uint32_t i = v->n; i-- > 0;) {
		const struct zts_trace *t = &v->traces[i];
		const struct zts_parts parts = {.items = v->parts + t->part, .n = t->n_parts};
		if (t->duration_ns != PM_NO_TIME || t->lost || !can_afford(s, t))
			continue;
		int r = pm_work_cancelled() ? -ENOMEM
					    : zts_tree_read(s->stores, &parts, &tree, NULL);
		if (r == -ENOMEM) {
			zts_tree_done(&tree);
			return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for a trace");
		}
		uint64_t end = r < 0 ? 0 : latest_time(t, &tree);
		v->end_ns = end > v->end_ns ? end : v->end_ns;
	}
	zts_tree_done(&tree);
	return 0;
}

void zts_survey_take_payload(struct zts_trace *t, const struct zts_found *f)
{
	if (f->method)
		t->method = f->method;
	t->attr = f->attr;
	t->n_attrs = t->lost ? 0 : f->n_attrs;
	t->has_exception = (f->has & ZTS_HAS_EXCEPTION) != 0;
}

/* Remembers a trace without a payload at its place, which is the next one of the survey. */
static int miss(struct zts_surveyor *s, const struct zts_span *span, uint32_t n_parts)
{
	uint64_t tstop = n_parts == 1 ? span->tstop : PM_NO_TIME;
	if (span->tstart == PM_NO_TIME || (n_parts == 1 && tstop == PM_NO_TIME))
		return 0; /* too little to be recognised by */
	if (pm_list_room(&s->missing, s->n_missing, &s->missing_room, sizeof(*s->missing)) < 0)
		return -ENOMEM;
	s->missing[s->n_missing++] = (struct zts_missing){span, tstop, s->v->n};
	return 0;
}

/* Completes a trace of the index with information from its payload. */
static int look_up(struct zts_surveyor *s, struct zts_trace *t, const struct zts_span *first,
	struct pm_error *err)
{
	struct zts_survey *v = s->v;
	const struct zts_part *parts = &v->parts[t->part];
	struct zts_found *f = find_claimed(v, first, &parts[0]);
	for (uint32_t i = 0; i < t->n_parts; i++)
		t->lost |= !is_sound(v, &parts[i]);
	t->lost |= !f || f->records > PM_LIMIT_TRACE_CALLS;
	if (!f)
		return first->old ? 0 : miss(s, first, t->n_parts);
	f->claimed = true;
	if (first->old) {
		t->timestamp_ns = f->timestamp_ms * ZTS_MS_NS;
		t->duration_ns = zts_survey_duration(f);
	}
	zts_survey_take_payload(t, f);
	t->ticket = t->n_parts == 1 && !t->lost ? f->ticket : PM_NONE;
	int r = t->n_parts > 1 && !t->lost ? zts_survey_assemble(s, t, first->old, err) : 0;
	f->shown = !t->lost;
	return r;
}

/*
 * The duration of a trace, or PM_NO_TIME: a record that was written before the trace ended has 0,
 * and no end.
 */
static uint64_t recorded_duration(const struct zts_span *last)
{
	return last->tstop != PM_NO_TIME && last->tstop < last->tstart ? PM_NO_TIME
								       : last->duration_ns;
}

/* The trace whose records are index[0 … n). */
static int take_trace(
	struct zts_surveyor *s, const struct zts_span **index, size_t n, struct pm_error *err)
{
	struct zts_survey *v = s->v;
	const struct zts_span *first = index[0], *last = index[n - 1];
	struct zts_trace t = {.part = v->n_parts,
		.ticket = PM_NONE,
		.store = first->store,
		.trace_id = {first->trace_id[0], first->trace_id[1]},
		.span_id = first->span_id,
		.parent_id = first->parent_id,
		.timestamp_ns = first->timestamp_ns,
		.duration_ns = recorded_duration(last),
		.calls = last->calls,
		.records = last->records,
		.errors = last->errors,
		.method = first->method,
		.has_origin = first->old,
		.has_trace_id = true};
	memcpy(t.origin, first->origin, sizeof(t.origin));
	int r = 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct zts_span *span = index[i];
		bool again = i > 0 && span->store == index[i - 1]->store &&
			span->data_offset == index[i - 1]->data_offset;
		t.error |= (span->flags & ZTS_FLAG_ERROR) != 0;
		if (!again)
			r = zts_survey_add_part(s, span);
	}
	t.n_parts = (uint32_t)(v->n_parts - t.part);
	if (r == 0)
		r = look_up(s, &t, first, err);
	return r < 0 ? r : zts_survey_add_trace(v, &t);
}

int zts_survey_sort_index(struct zts_surveyor *s)
{
	if (zts_spans_unite(&s->v->spans) < 0)
		return -ENOMEM;
	s->index = sort_index(&s->v->spans);
	return s->index ? 0 : -ENOMEM;
}

/* The end of the records of the trace whose first record is index[from]. */
static size_t trace_end(const struct zts_surveyor *s, size_t from)
{
	size_t to = from + 1;
	while (to < s->v->spans.n && goes_on(s->index[to - 1], s->index[to]))
		to++;
	return to;
}

int zts_survey_expect(struct zts_surveyor *s)
{
	const struct zts_spans *spans = &s->v->spans;
	const struct zts_span **singles = malloc(spans->n * sizeof(*singles) + 1);
	uint8_t *is_single = calloc(spans->n + 1, 1);
	size_t n = 0;
	for (size_t from = 0, to; singles && is_single && from < spans->n; from = to) {
		to = trace_end(s, from);
		is_single[s->index[from] - spans->items] = to - from == 1 && !s->index[from]->old;
	}
	for (size_t i = 0; singles && is_single && i < spans->n; i++)
		if (is_single[i])
			singles[n++] = &spans->items[i];
	if (singles && is_single)
		s->early = zts_early_new(s->stores, singles, n);
	free(singles);
	free(is_single);
	return s->early ? 0 : -ENOMEM;
}

int zts_survey_take_index(struct zts_surveyor *s, struct pm_error *err)
{
	int r = 0;
	for (size_t from = 0, to; from < s->v->spans.n && r == 0; from = to) {
		to = trace_end(s, from);
		r = take_trace(s, s->index + from, to - from, err);
	}
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for traces") : 0;
}
