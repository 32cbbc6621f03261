/*
 * Joins the two sources of information on traces. A record of the index is only used if the payload
 * it refers to has its time stamp, because indexes outlive the bytes that they describe. The parts
 * of a trace are joined by its ids; a record found by the scan alone is a trace without an id.
 */
#include "formats/zts/survey.h"

#include <time.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/zts/records.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

/* A trace without a payload at its place. */
struct missing {
	const struct zts_span *span; /* of its first part */
	uint64_t tstop;              /* of its call in that part; PM_NO_TIME: it ends in another */
	uint32_t trace;              /* index in zts_survey.traces */
};

struct surveyor {
	struct zts_survey *v;
	struct zts_stores *stores;
	struct zts_adders *sums;       /* NULL: nothing is added up */
	const struct zts_span **index; /* records of the indexes, parts of a trace together */
	struct missing *missing;       /* to be found elsewhere */
	size_t n_missing, missing_room;
	struct pm_arena *scratch;
	struct zts_tree tree; /* of the trace at hand */
	struct pm_error *err;
	uint64_t effort; /* bytes of payload that chunked traces may still take to assemble */
};

/*
 * ==== traces of the index ====
 * Makes traces of the records of the index: checks each against the scan, and joins the parts of a
 * trace by its ids.
 */

/* ---- what both kinds of traces need ---- */

static void add_part(const struct surveyor *s, const struct zts_span *span)
{
	struct zts_survey *v = s->v;
	pm_list_grow(&v->arena, &v->parts, v->n_parts, &v->part_room, sizeof(*v->parts));
	v->parts[v->n_parts++] = (struct zts_part){.store = span->store,
		.chunk = zts_chunk_find(&s->stores->items[span->store].chunks, span->data_offset),
		.data_offset = span->data_offset,
		.start_offset = span->start_offset};
}

static void add_trace(struct zts_survey *v, const struct zts_trace *t)
{
	pm_build_check(&v->arena, v->n >= PM_LIMIT_ITEMS ? -ENOMEM : 0);
	pm_list_grow(&v->arena, &v->traces, v->n, &v->room, sizeof(*v->traces));
	v->traces[v->n++] = *t;
}

/* In ns; PM_NO_TIME: not known. */
static uint64_t duration_of(const struct zts_found *f)
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

/* True if `next` continues the trace of the records before it, of which `last` is the latest. */
static bool goes_on(const struct zts_span *last, const struct zts_span *next)
{
	if (last->trace_id[0] != next->trace_id[0] || last->trace_id[1] != next->trace_id[1] ||
		last->span_id != next->span_id)
		return false;
	return !(last->flags & ZTS_FLAG_LAST) || !(next->flags & ZTS_FLAG_FIRST);
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
static bool can_afford(struct surveyor *s, const struct zts_trace *t)
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

/* Reads a trace into s->tree. False if that fails. */
static bool read_trace(struct surveyor *s, const struct zts_trace *t)
{
	const struct zts_parts parts = {.items = s->v->parts + t->part, .n = t->n_parts};
	int r = zts_tree_read(s->stores, &parts, &s->tree, NULL);
	pm_build_check(s->scratch, pm_is_passing(r) ? r : 0);
	return r == 0;
}

/* Attributes of a trace's own call, which may be in any of its parts. */
static void keep_attrs(const struct surveyor *s, struct zts_trace *t)
{
	struct zts_survey *v = s->v;
	struct zts_scan *scan = &v->scans[t->store];
	const struct zts_call *root = &s->tree.calls[0];
	if (scan->n_attrs >= PM_LIMIT_ITEMS - ZTS_KEPT_MOST)
		return;
	t->attr = (uint32_t)scan->n_attrs;
	t->n_attrs = 0;
	for (uint32_t i = 0; i < root->n_attrs && i < ZTS_KEPT_MOST; i++) {
		const struct zts_attr *attr = &s->tree.attrs[root->attr + i];
		struct zts_kept key, value;
		zts_kept_of_text(attr->key, &v->arena, &key);
		zts_kept_of_text(attr->value, &v->arena, &value);
		value.name = zts_attr_number(&v->attr_names, &key, NULL);
		pm_list_grow(&v->arena, &scan->attrs, scan->n_attrs, &scan->attr_room,
			sizeof(*scan->attrs));
		scan->attrs[scan->n_attrs++] = value;
		t->n_attrs++;
	}
}

/* Reads a trace in several parts, whose payloads are there; it is lost if that fails. */
static void assemble(struct surveyor *s, struct zts_trace *t, bool old)
{
	struct zts_survey *v = s->v;
	const struct zts_tree *tree = &s->tree;
	int64_t duration_ns;
	t->lost = !can_afford(s, t) || !read_trace(s, t);
	if (t->lost)
		return;
	bool ended = zts_call_duration(&tree->calls[0], &duration_ns);
	if (old)
		t->duration_ns = ended && duration_ns >= 0 ? (uint64_t)duration_ns : PM_NO_TIME;
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *c = &tree->calls[i];
		t->has_exception |= (c->has & ZTS_HAS_EXCEPTION) != 0;
		struct zts_found *f = i > 0 && (c->has & ZTS_HAS_TIMESTAMP)
			? zts_scan_find(&v->scans[c->store], c->chunk, c->start_offset)
			: NULL;
		if (f)
			f->inner = true;
	}
	keep_attrs(s, t);
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
static void find_end(struct surveyor *s)
{
	struct zts_survey *v = s->v;
	for (uint32_t i = v->n; i-- > 0;) {
		const struct zts_trace *t = &v->traces[i];
		if (t->duration_ns != PM_NO_TIME || t->lost || !can_afford(s, t))
			continue;
		pm_build_proceed(&v->arena);
		uint64_t end = read_trace(s, t) ? latest_time(t, &s->tree) : 0;
		v->end_ns = end > v->end_ns ? end : v->end_ns;
	}
}

/* What the payload of a trace tells besides the index. */
static void take_payload(struct zts_trace *t, const struct zts_found *f)
{
	if (f->method)
		t->method = f->method;
	t->attr = f->attr;
	t->n_attrs = t->lost ? 0 : f->n_attrs;
	t->has_exception = (f->has & ZTS_HAS_EXCEPTION) != 0;
}

/* Remembers a trace without a payload at its place, which is the next one of the survey. */
static void miss(struct surveyor *s, const struct zts_span *span, uint32_t n_parts)
{
	uint64_t tstop = n_parts == 1 ? span->tstop : PM_NO_TIME;
	if (span->tstart == PM_NO_TIME || (n_parts == 1 && tstop == PM_NO_TIME))
		return; /* too little to be recognised by */
	pm_list_grow(s->scratch, &s->missing, s->n_missing, &s->missing_room, sizeof(*s->missing));
	s->missing[s->n_missing++] = (struct missing){span, tstop, s->v->n};
}

/* Completes a trace of the index with information from its payload. */
static void look_up(struct surveyor *s, struct zts_trace *t, const struct zts_span *first)
{
	struct zts_survey *v = s->v;
	const struct zts_part *parts = &v->parts[t->part];
	struct zts_found *f = find_claimed(v, first, &parts[0]);
	for (uint32_t i = 0; i < t->n_parts; i++)
		t->lost |= parts[i].chunk == PM_NONE ||
			v->scans[parts[i].store].status[parts[i].chunk] != ZTS_OK;
	t->lost |= !f || f->records > PM_LIMIT_TRACE_CALLS;
	if (!f && !first->old)
		miss(s, first, t->n_parts);
	if (!f)
		return;
	f->claimed = true;
	if (first->old) {
		t->timestamp_ns = f->timestamp_ms * ZTS_MS_NS;
		t->duration_ns = duration_of(f);
	}
	take_payload(t, f);
	if (t->n_parts == 1 && !t->lost) {
		t->added = f->added;
		t->adder = f->adder;
	} else if (!t->lost) {
		assemble(s, t, first->old);
	}
	f->shown = !t->lost;
}

/* The trace whose records are index[0 … n). */
static void take_trace(struct surveyor *s, const struct zts_span **index, size_t n)
{
	struct zts_survey *v = s->v;
	const struct zts_span *first = index[0], *last = index[n - 1];
	/* A record that was written before the trace ended has no end, and the duration 0. */
	bool ended = last->tstop == PM_NO_TIME || last->tstop >= last->tstart;
	struct zts_trace t = {.part = v->n_parts,
		.added = PM_NONE,
		.store = first->store,
		.trace_id = {first->trace_id[0], first->trace_id[1]},
		.span_id = first->span_id,
		.parent_id = first->parent_id,
		.timestamp_ns = first->timestamp_ns,
		.duration_ns = ended ? last->duration_ns : PM_NO_TIME,
		.calls = last->calls,
		.records = last->records,
		.errors = last->errors,
		.method = first->method,
		.has_origin = first->old,
		.has_trace_id = true};
	memcpy(t.origin, first->origin, sizeof(t.origin));
	for (size_t i = 0; i < n; i++) {
		const struct zts_span *span = index[i];
		bool again = i > 0 && span->store == index[i - 1]->store &&
			span->data_offset == index[i - 1]->data_offset;
		t.error |= (span->flags & ZTS_FLAG_ERROR) != 0;
		if (!again)
			add_part(s, span);
	}
	t.n_parts = (uint32_t)(v->n_parts - t.part);
	look_up(s, &t, first);
	add_trace(v, &t);
}

/* The end of the records of the trace whose first record is index[from]. */
static size_t trace_end(const struct surveyor *s, size_t from)
{
	size_t to = from + 1;
	while (to < s->v->spans.n && goes_on(s->index[to - 1], s->index[to]))
		to++;
	return to;
}

/* Sorts the records of the indexes, parts of a trace together. */
static void sort_index(struct surveyor *s)
{
	struct zts_spans *spans = &s->v->spans;
	pm_build_check(s->scratch, zts_spans_unite(spans));
	s->index = pm_arena_array(s->scratch, spans->n + 1, sizeof(*s->index));
	for (size_t i = 0; i < spans->n; i++)
		s->index[i] = &spans->items[i];
	pm_build_check(s->scratch, pm_sort(s->index, spans->n, sizeof(*s->index), by_trace));
	for (size_t from = 0, to; from < spans->n; from = to) {
		to = trace_end(s, from);
		spans->items[s->index[from] - spans->items].alone = to - from == 1;
	}
}

/*
 * ==== what only the scan has found ====
 * Makes traces of what only the scan has found: the payloads of traces that are not where the index
 * says, such as behind a gap in traces.dat, and traces that no index names.
 */

/* ---- payloads that have moved ---- */

enum { BETWEEN_QUESTIONS = 1 << 12 /* records */ };

/* By what a payload tells, too. */
static int by_payload(const void *a, const void *b)
{
	const struct missing *x = a, *y = b;
	return zts_order(x->span->store, y->span->store)
		?: zts_order(
			   x->span->timestamp_ns / ZTS_MS_NS, y->span->timestamp_ns / ZTS_MS_NS)
		?: zts_order(x->span->span_id, y->span->span_id)
		?: zts_order(x->span->tstart, y->span->tstart)
		?: zts_order(x->tstop, y->tstop);
}

/* The one missing trace that has this payload, or NULL. */
static struct missing *find(const struct surveyor *s, uint32_t store, const struct zts_found *f)
{
	const struct zts_span span = {.store = store,
		.timestamp_ns = f->timestamp_ms * ZTS_MS_NS,
		.span_id = f->span_id,
		.tstart = f->tstart};
	const struct missing wanted = {
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
	const struct surveyor *s, const struct zts_trace *t, const struct zts_found *f)
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

static void join(struct surveyor *s, const struct missing *missing, struct zts_found *f)
{
	struct zts_trace *t = &s->v->traces[missing->trace];
	struct zts_part *part = &s->v->parts[t->part];
	if (t->n_parts > 1 && !move_parts(s, t, f))
		return;
	part->chunk = f->chunk;
	part->data_offset = s->stores->items[t->store].chunks.chunks[f->chunk].offset;
	part->start_offset = f->start_offset;
	t->moved = f->claimed = true;
	t->lost = f->records > PM_LIMIT_TRACE_CALLS;
	take_payload(t, f);
	if (t->n_parts > 1 && !t->lost)
		assemble(s, t, false);
	f->shown = !t->lost;
}

static void find_moved(struct surveyor *s)
{
	if (s->n_missing == 0)
		return;
	pm_build_check(
		s->scratch, pm_sort(s->missing, s->n_missing, sizeof(*s->missing), by_payload));
	for (uint32_t store = 0; store < s->v->n_stores; store++) {
		struct zts_scan *scan = &s->v->scans[store];
		for (size_t i = 0; i < scan->n; i++) {
			struct zts_found *f = &scan->found[i];
			if (i % BETWEEN_QUESTIONS == 0)
				pm_build_proceed(s->scratch);
			const struct missing *missing =
				f->claimed || !(f->has & ZTS_HAS_TSTART) ? NULL : find(s, store, f);
			if (missing && !s->v->traces[missing->trace].moved)
				join(s, missing, f);
		}
	}
}

/* ---- traces that no index names ---- */

static void take_found(struct surveyor *s, uint32_t store, struct zts_found *f)
{
	struct zts_survey *v = s->v;
	const struct zts_chunk *chunk = &s->stores->items[store].chunks.chunks[f->chunk];
	struct zts_span span = {.span_id = f->span_id,
		.parent_id = f->parent_id,
		.timestamp_ns = f->timestamp_ms * ZTS_MS_NS,
		.duration_ns = duration_of(f),
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
		.added = f->added,
		.adder = f->adder,
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
	pm_list_grow(&v->arena, &v->spans.items, v->spans.n, &v->spans.room, sizeof(span));
	v->spans.items[v->spans.n++] = span;
	add_part(s, &span);
	add_trace(v, &t);
}

static void take_unclaimed(struct surveyor *s)
{
	for (uint32_t store = 0; store < s->v->n_stores; store++) {
		struct zts_scan *scan = &s->v->scans[store];
		for (size_t i = 0; i < scan->n; i++) {
			struct zts_found *f = &scan->found[i];
			/* First-generation stores have no nested traces: such records are calls. */
			bool is_call = !f->begins_trace && (f->has & ZTS_HAS_TYPE) &&
				!(f->has & ZTS_HAS_SPAN);
			if (!f->claimed && !is_call)
				take_found(s, store, f);
		}
	}
	pm_build_check(s->scratch, zts_spans_unite(&s->v->spans));
}

/*
 * ==== the metadata index of a store ====
 * Finds the files of a store that contain the records of its index, and the valid records.
 */

/* The id of the text `call.method`, under which the index stores a trace's method; 0: none. */
static uint64_t find_method_key(const struct zts_texts *texts)
{
	static const struct pm_bytes key = PM_BYTES("call.method");
	static const struct pm_bytes marked = PM_BYTES("\4call.method\4");
	for (size_t i = 0; i < texts->n; i++)
		if (pm_bytes_equal(texts->items[i].raw, key) ||
			pm_bytes_equal(texts->items[i].raw, marked))
			return texts->items[i].id;
	return 0;
}

static void read_file(
	struct surveyor *s, uint32_t store, const struct zts_file *file, uint64_t method_key)
{
	struct zts_survey *v = s->v;
	bool whole = true, is_old = file->kind == ZTS_FILE_META_OLD;
	pm_build_check(s->scratch, pm_bytes_fetch(file->data) ? 0 : -ENOMEM);
	pm_build_check(s->scratch,
		is_old ? zts_meta_read_old(&v->spans, file->data, store, &whole)
		       : zts_meta_carve(&v->spans, file->data, store, method_key, &whole));
	if (!whole)
		pm_damage_add(&v->damage,
			zts_store_path(&s->stores->items[store], s->scratch, file->name), 0,
			PM_NO_OFFSET,
			is_old ? "is no qmeta.idx, or shorter than it says"
			       : "records share their bytes: not all of them are read");
	pm_build_check(s->scratch, v->damage.no_memory ? -ENOMEM : 0);
}

/*
 * ==== orders ====
 * The orders in which traces are listed (by time, by store, by duration), and their names.
 */

static int by_time(const void *a, const void *b, void *context)
{
	const struct zts_trace *x = a, *y = b;
	const struct zts_survey *v = context;
	const struct zts_part *p = &v->parts[x->part], *q = &v->parts[y->part];
	return zts_order(x->timestamp_ns, y->timestamp_ns)
		?: zts_order(p->store, q->store)
		?: zts_order(p->data_offset, q->data_offset)
		?: zts_order(p->start_offset, q->start_offset)
		?: zts_order(x->trace_id[0], y->trace_id[0])
		?: zts_order(x->trace_id[1], y->trace_id[1])
		?: zts_order(x->span_id, y->span_id);
}

static uint64_t length_of(const struct zts_trace *t)
{
	return t->duration_ns == PM_NO_TIME ? 0 : t->duration_ns;
}

/* Equal for traces of one store that have the same name. */
static int compare_names(const struct zts_trace *x, const struct zts_trace *y)
{
	return zts_order(x->store, y->store)
		?: zts_order(x->timestamp_ns / ZTS_MS_NS, y->timestamp_ns / ZTS_MS_NS)
		?: zts_order(x->has_trace_id, y->has_trace_id)
		?: zts_order(x->trace_id[0], y->trace_id[0])
		?: zts_order(x->trace_id[1], y->trace_id[1])
		?: zts_order(x->span_id, y->span_id);
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct zts_survey *v = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	return compare_names(&v->traces[i], &v->traces[k]) ?: zts_order(i, k);
}

static int by_store(const void *a, const void *b, void *context)
{
	const struct zts_survey *v = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	return zts_order(v->traces[i].store, v->traces[k].store) ?: zts_order(i, k);
}

int zts_survey_list_slow(const struct zts_survey *v, uint32_t first, uint32_t end,
	uint32_t ret[static ZTS_SLOWEST], uint32_t *ret_n)
{
	uint32_t n = 0;
	for (uint32_t i = first; i < end; i++) {
		uint64_t length = length_of(&v->traces[i]);
		uint32_t at = n;
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		while (at > 0 && length > length_of(&v->traces[ret[at - 1]]))
			at--;
		if (at == ZTS_SLOWEST)
			continue;
		n += n < ZTS_SLOWEST;
		memmove(&ret[at + 1], &ret[at], (n - at - 1) * sizeof(*ret));
		ret[at] = i;
	}
	*ret_n = n;
	return 0;
}

/* Sorts the traces by time, and lists them in the other orders. */
static void list_traces(struct zts_survey *v)
{
	struct pm_arena *a = &v->arena;
	size_t n = (size_t)v->n + 1;
	v->by_store = pm_arena_array(a, n, sizeof(*v->by_store));
	v->failed = pm_arena_array(a, n, sizeof(*v->failed));
	v->first_of = pm_arena_array(a, (size_t)v->n_stores + 1, sizeof(*v->first_of));
	pm_build_check(a, pm_sort_with(v->traces, v->n, sizeof(*v->traces), by_time, v));
	v->origin_ns = v->end_ns = v->n ? v->traces[0].timestamp_ns : PM_NO_TIME;
	for (uint32_t i = 0; i < v->n; i++) {
		uint64_t end = v->traces[i].timestamp_ns + length_of(&v->traces[i]);
		v->end_ns = end > v->end_ns ? end : v->end_ns;
		v->by_store[i] = i;
		if (v->traces[i].error)
			v->failed[v->n_failed++] = i;
	}
	pm_build_check(a, pm_sort_with(v->by_store, v->n, sizeof(*v->by_store), by_name, v));
	for (uint32_t i = 1; i < v->n; i++) {
		struct zts_trace *t = &v->traces[v->by_store[i]];
		const struct zts_trace *before = &v->traces[v->by_store[i - 1]];
		t->twin = compare_names(before, t) == 0 ? before->twin + 1 : 0;
	}
	pm_build_check(a, pm_sort_with(v->by_store, v->n, sizeof(*v->by_store), by_store, v));
	for (uint32_t i = 0; i < v->n; i++) {
		v->traces[v->by_store[i]].place = i;
		v->first_of[v->traces[i].store + 1]++;
	}
	for (uint32_t s = 0; s < v->n_stores; s++)
		v->first_of[s + 1] += v->first_of[s];
	pm_build_check(a, zts_survey_list_slow(v, 0, v->n, v->slow, &v->n_slow));
}

void zts_trace_name(const struct zts_trace *t, struct pm_text *out)
{
	char stamp[sizeof("YYYYMMDDTHHMMSS")];
	struct tm tm;
	uint64_t ms = t->timestamp_ns / ZTS_MS_NS;
	time_t seconds = (time_t)(ms / 1000);
	gmtime_r(&seconds, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
	pm_text_printf(out, "%s.%03u", stamp, (unsigned)(ms % 1000));
	if (t->has_trace_id) {
		pm_text_char(out, '-');
		pm_text_hex(out, t->trace_id[0], 16);
		pm_text_hex(out, t->trace_id[1], 16);
	}
	if (t->span_id) {
		pm_text_char(out, '-');
		pm_text_hex(out, t->span_id, 16);
	}
	if (t->twin)
		pm_text_printf(out, "~%u", t->twin + 1);
}

/* ==== the survey ==== */

/* Appends the index records of a store as stored, neither sorted nor merged. */
static void read_index(struct surveyor *s, uint32_t store)
{
	struct zts_store *st = &s->stores->items[store];
	const struct zts_chunks *chunks;
	const struct zts_texts *texts;
	pm_build_check(s->scratch, zts_store_chunks(st, &chunks, s->err));
	pm_build_check(s->scratch, zts_store_texts(st, &texts, s->err));
	uint64_t method_key = find_method_key(texts);
	for (size_t i = 0; i < st->n_files; i++) {
		const struct zts_file *file = &st->files[i];
		if (file->kind != ZTS_FILE_META && file->kind != ZTS_FILE_META_OLD)
			continue;
		read_file(s, store, file, method_key);
		if (!zts_file_same(st, file))
			pm_build_fail(s->scratch,
				pm_error_set(s->err, -EIO, st->place, PM_NO_OFFSET,
					"the metadata index has changed since it was mounted"));
	}
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

static void count_parts(struct zts_survey *v)
{
	for (uint32_t i = 0; i < v->n; i++) {
		const struct zts_trace *t = &v->traces[i];
		for (uint32_t k = 0; k < t->n_parts && !t->lost && !t->inner; k++) {
			const struct zts_part *p = &v->parts[t->part + k];
			uint8_t *n = &v->scans[p->store].parts[p->chunk];
			*n += *n <= 1;
		}
	}
}

static void free_tree(void *tree)
{
	zts_tree_done(tree);
}

/* The indexes first: they say which traces the scans of the chunks should expect. */
static void survey(void *surveyor)
{
	struct surveyor *s = surveyor;
	struct zts_survey *v = s->v;
	struct pm_arena *a = &v->arena;
	s->scratch = pm_arena_scratch(a);
	pm_arena_owns(s->scratch, free_tree, &s->tree);
	v->scans = pm_arena_array(a, (size_t)v->n_stores + 1, sizeof(*v->scans));
	v->spans.arena = a;
	v->attr_names = (struct zts_attr_names){pm_strtab_in(a), {.arena = a}};
	for (uint32_t i = 0; i < v->n_stores; i++)
		read_index(s, i);
	sort_index(s);
	if (s->sums)
		s->sums->index = &v->spans;
	for (uint32_t i = 0; i < v->n_stores; i++) {
		zts_scan_store(a, &s->stores->items[i], &v->attr_names, s->sums, &v->scans[i]);
		s->effort += v->scans[i].payload_bytes * 16;
	}
	for (size_t from = 0, to; from < v->spans.n; from = to) {
		to = trace_end(s, from);
		take_trace(s, s->index + from, to - from);
	}
	find_moved(s);
	take_unclaimed(s);
	mark_inner(v);
	count_parts(v);
	for (uint32_t i = 0; i < v->n_stores; i++) { /* only needed until here, and many */
		pm_arena_free(a, v->scans[i].found);
		v->scans[i].found = NULL;
		v->scans[i].n = 0;
	}
	list_traces(v);
	find_end(s);
	zts_columns_choose(v);
	pm_arena_done(s->scratch);
}

int zts_survey_build(struct zts_survey *v, struct zts_stores *stores, struct zts_adders *sums,
	struct pm_error *err)
{
	struct surveyor s = {
		.v = v, .stores = stores, .sums = sums, .err = err, .effort = PM_LIMIT_PAYLOAD};
	*v = (struct zts_survey){.n_stores = stores->n, .damage = PM_DAMAGE_LIST_INIT};
	int r = pm_build(&v->arena, survey, &s);
	if (r < 0)
		zts_survey_done(v);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for traces") : 0;
}

void zts_survey_done(struct zts_survey *v)
{
	pm_arena_done(&v->arena);
	pm_damage_done(&v->damage);
	*v = (struct zts_survey){.n = 0};
}
