/*
 * Reads every payload once. A damaged payload is read up to the damage, and records that ended
 * before it are used. Independent of the index; only uses the names of attributes.
 */
#include "formats/zts/scan.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "formats/zts/calls.h"
#include "formats/zts/meta.h"
#include "formats/zts/payload.h"
#include "formats/zts/records_next.h"
#include "profmount/limits.h"

/* Chunks that a thread takes at a time. */
enum { PIECE = 16 };

/* A record that has not ended. */
struct open_record {
	struct zts_found found;
	uint32_t records, errors;
	size_t attrs; /* start of its attributes in scanner.attrs */
};

/* The results of one piece of chunks. */
struct piece {
	struct zts_found *found;
	size_t n, room;
	struct zts_formless *formless;
	size_t n_formless, formless_room;
	struct zts_met *attrs; /* of `found`, each one's attributes adjacent */
	size_t n_attrs, attr_room;
	struct pm_arena texts;
};

struct scan_job {
	const struct zts_store *store;
	struct zts_attr_names *names;
	struct zts_early *early;
	struct zts_scan *scan;
	struct piece *pieces;
};

struct scanner {
	const struct zts_store *store;
	struct piece *piece;
	const struct zts_early *early;
	struct zts_summing *summing; /* NULL: nothing is added up */
	struct zts_records reader;
	struct open_record *open;
	size_t room;
	uint32_t chunk;
	uint32_t records, errors; /* seen so far */
	struct zts_met *attrs;    /* of records that have not ended, inner ones after outer ones */
	size_t n_attrs, attr_room;
};

/* Field by field: compilers fill a literal of this size with a slower instruction. */
static inline void begin_found(
	struct zts_found *f, uint32_t chunk, uint32_t start_offset, uint32_t outer)
{
	f->chunk = chunk;
	f->start_offset = start_offset;
	f->outer = outer;
	f->has = 0;
	f->timestamp_ms = f->span_id = f->parent_id = 0;
	f->tstart = f->tstop = 0;
	f->calls = f->method = 0;
	f->claimed = f->shown = f->inner = f->counted = false;
}

static int begin_record(struct scanner *s, const struct zts_record_event *e)
{
	size_t n = s->reader.n - 1; /* records around it */
	if (pm_list_room(&s->open, n, &s->room, sizeof(*s->open)) < 0)
		return -ENOMEM;
	uint32_t at = (uint32_t)e->at, outer = at;
	if (n > 0) {
		const struct zts_found *around = &s->open[n - 1].found;
		bool dated = around->has & ZTS_HAS_TIMESTAMP;
		if (dated || around->outer != around->start_offset)
			outer = dated ? around->start_offset : around->outer;
	}
	struct open_record *r = &s->open[n];
	r->records = s->records++;
	r->errors = s->errors;
	r->attrs = s->n_attrs;
	begin_found(&r->found, s->chunk, at, outer);
	r->found.begins_trace = n == 0;
	r->found.ticket = PM_NONE;
	return 0;
}

static void take_info(struct scanner *s, const struct zts_record_event *e)
{
	if (s->reader.n == 0)
		return;
	struct zts_found *f = &s->open[s->reader.n - 1].found;
	switch (e->key) {
	case ZTS_TIMESTAMP:
		f->timestamp_ms = e->value;
		f->has |= ZTS_HAS_TIMESTAMP;
		break;
	case ZTS_TSTART:
		f->tstart = e->value;
		f->has |= ZTS_HAS_TSTART;
		break;
	case ZTS_TSTOP:
		f->tstop = e->value;
		f->has |= ZTS_HAS_TSTOP;
		break;
	case ZTS_SPAN:
		f->span_id = e->value;
		f->has |= ZTS_HAS_SPAN;
		break;
	case ZTS_PARENT: f->parent_id = e->value; break;
	case ZTS_TYPE: f->has |= ZTS_HAS_TYPE; break;
	case ZTS_CALLS: f->calls = e->value; break;
	case ZTS_METHOD: f->method = e->value; break;
	case ZTS_FLAGS:
		if ((e->value & ZTS_FLAG_ERROR) && !(f->has & ZTS_HAS_FLAGS))
			s->errors++;
		f->has |= e->value & ZTS_FLAG_ERROR ? ZTS_HAS_FLAGS : 0;
		break;
	default: break;
	}
}

/*
 * Attributes of the innermost record, if it is one with a time stamp, which precedes them. The
 * reader decodes them again, and reports what is malformed.
 */
static int take_attrs(struct scanner *s, uint64_t n)
{
	struct pm_cur in = s->reader.cbor.in;
	const struct open_record *r = s->reader.n ? &s->open[s->reader.n - 1] : NULL;
	int code = 0;
	if (!r || !(r->found.has & ZTS_HAS_TIMESTAMP))
		return 0;
	for (uint64_t i = 0; i < n && s->n_attrs - r->attrs < ZTS_KEPT_MOST; i++) {
		if (pm_list_room(&s->attrs, s->n_attrs, &s->attr_room, sizeof(*s->attrs)) < 0)
			return -ENOMEM;
		code = zts_attr_meet(
			&in, &s->store->texts, &s->piece->texts, &s->attrs[s->n_attrs]);
		if (code < 0)
			break;
		s->n_attrs++;
	}
	return code == -ENOMEM ? code : 0;
}

/* The record's own attributes, which are the last ones at this point. */
static int keep_attrs(struct scanner *s, const struct open_record *r, struct zts_found *found)
{
	struct piece *p = s->piece;
	found->attr = (uint32_t)p->n_attrs;
	found->n_attrs = (uint8_t)(s->n_attrs - r->attrs);
	for (size_t i = r->attrs; i < s->n_attrs; i++) {
		if (pm_list_room(&p->attrs, p->n_attrs, &p->attr_room, sizeof(*p->attrs)) < 0)
			return -ENOMEM;
		p->attrs[p->n_attrs++] = s->attrs[i];
	}
	s->n_attrs = r->attrs;
	return 0;
}

static int end_record(struct scanner *s, const struct zts_record_event *e)
{
	struct open_record *r = &s->open[s->reader.n];
	struct piece *p = s->piece;
	if (!(r->found.has & ZTS_HAS_TIMESTAMP))
		return 0;
	if (pm_list_room(&p->found, p->n, &p->room, sizeof(*p->found)) < 0)
		return -ENOMEM;
	if (s->reader.n == 0 && s->summing) {
		r->found.ticket = s->summing->ticket;
		s->summing->ticket = PM_NONE;
	}
	r->found.has |= e->open ? ZTS_IS_OPEN : 0;
	r->found.records = s->records - r->records;
	r->found.errors = s->errors - r->errors;
	if (keep_attrs(s, r, &r->found) < 0)
		return -ENOMEM;
	p->found[p->n++] = r->found;
	return 0;
}

static inline int sum_event(struct scanner *s, const struct zts_record_event *e)
{
	if (e->kind == ZTS_RECORD_BEGIN && s->reader.n == 1 &&
		zts_summing_begin(s->summing, s->early, e->at) < 0)
		return -ENOMEM;
	return s->summing->open ? zts_summing_take(s->summing, s->early, e, &s->reader) : 0;
}

static int take_event(struct scanner *s, const struct zts_record_event *e)
{
	if (s->summing && sum_event(s, e) < 0)
		return -ENOMEM;
	switch (e->kind) {
	case ZTS_RECORD_BEGIN: return begin_record(s, e);
	case ZTS_RECORD_INFO: take_info(s, e); return 0;
	case ZTS_RECORD_END: return end_record(s, e);
	case ZTS_RECORD_EXCEPTION:
		for (size_t i = 0; i < s->reader.n; i++)
			s->open[i].found.has |= ZTS_HAS_EXCEPTION;
		return 0;
	case ZTS_RECORD_ATTRS: return take_attrs(s, e->value);
	}
	return 0;
}

/* -EINVAL if the payload is damaged, or cannot be represented in JSON. */
static int find_records(struct scanner *s, struct pm_bytes payload)
{
	struct zts_record_event e;
	int n, r = 0;
	zts_records_feed(&s->reader, payload);
	do { /* the only place that takes events, so it is inlined here */
		n = zts_records_next_inline(&s->reader, &e, NULL);
		if (n == 0)
			n = zts_records_finish(&s->reader, &e, NULL);
		r = n > 0 ? take_event(s, &e) : n;
	} while (n > 0 && r == 0);
	const struct pm_cbor *c = &s->reader.cbor;
	return r == 0 && (c->not_finite || c->deepest > PM_LIMIT_JSON_DEPTH) ? -EINVAL : r;
}

static int scan_payload(struct scan_job *job, struct piece *piece, struct zts_summing *summing,
	uint32_t chunk, struct pm_bytes payload)
{
	struct scanner s = {.store = job->store,
		.piece = piece,
		.early = job->early,
		.summing = summing,
		.chunk = chunk};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	zts_records_init(&s.reader);
	int r = find_records(&s, payload);
	zts_records_done(&s.reader);
	free(s.open);
	free(s.attrs);
	if (r == -EINVAL)
		r = zts_payload_check(payload, &err);
	if (r == -ENOMEM || r == 0)
		return r;
	if (pm_list_room(&piece->formless, piece->n_formless, &piece->formless_room,
		    sizeof(*piece->formless)) < 0)
		return -ENOMEM;
	char *why = strdup(err.text);
	if (!why)
		return -ENOMEM;
	piece->formless[piece->n_formless++] = (struct zts_formless){chunk, why};
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct zts_found *x = a, *y = b;
	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return (x->start_offset > y->start_offset) - (x->start_offset < y->start_offset);
}

static int scan_chunk(
	struct scan_job *job, struct piece *piece, struct zts_summing *summing, uint32_t chunk)
{
	const struct zts_chunks *chunks = &job->store->chunks;
	uint8_t *payload;
	enum zts_status status;
	int r = zts_chunk_read(chunks, chunk, &payload, &status);
	job->scan->status[chunk] = (uint8_t)status;
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	bool sound = summing && status == ZTS_OK;
	if (sound)
		zts_summing_chunk(summing, job->early,
			(uint32_t)(job->store - job->early->stores->items), chunk);
	r = scan_payload(job, piece, sound ? summing : NULL, chunk,
		(struct pm_bytes){payload, chunks->chunks[chunk].bytes});
	free(payload);
	return r;
}

static int scan_piece(void *context, size_t i)
{
	struct scan_job *job = context;
	const struct zts_chunks *chunks = &job->store->chunks;
	struct piece *piece = &job->pieces[i];
	struct zts_summing *summing = job->early ? zts_early_lend(job->early) : NULL;
	uint32_t end =
		(uint32_t)(i + 1) * PIECE < chunks->n ? (uint32_t)(i + 1) * PIECE : chunks->n;
	int r = 0;
	for (uint32_t chunk = (uint32_t)i * PIECE; chunk < end && r == 0; chunk++)
		r = scan_chunk(job, piece, summing, chunk);
	if (summing)
		zts_early_give_back(job->early, summing);
	if (piece->n)
		qsort(piece->found, piece->n, sizeof(*piece->found), by_place);
	return r;
}

/* Takes over the attributes of a piece; `numbers` maps ids in the index to the numbers of names. */
static int join_attrs(struct scan_job *job, struct piece *p, struct pm_map *numbers)
{
	struct zts_scan *scan = job->scan;
	for (size_t i = 0; i < p->n_attrs; i++) {
		const struct zts_met *met = &p->attrs[i];
		bool fresh = true;
		uint32_t other, *number = &other;
		if (met->key.len == ZTS_KEPT_REF)
			number = pm_map_put(numbers, met->key.u, PM_NONE, &fresh);
		if (!number ||
			(fresh &&
				zts_attr_number(job->names, &met->key, &job->store->texts, number) <
					0))
			return -ENOMEM;
		scan->attrs[scan->n_attrs] = met->value;
		scan->attrs[scan->n_attrs++].name = *number;
	}
	scan->texts[scan->n_texts++] = p->texts;
	p->texts = (struct pm_arena){.block = NULL};
	free(p->attrs);
	p->attrs = NULL;
	return 0;
}

static int join_all_attrs(struct scan_job *job, size_t n_pieces)
{
	struct zts_scan *scan = job->scan;
	struct pm_map numbers = {.n = 0};
	size_t n = 0;
	int r = 0;
	for (size_t i = 0; i < n_pieces; i++)
		n += job->pieces[i].n_attrs;
	scan->attr_room = n + 1;
	scan->attrs = malloc(scan->attr_room * sizeof(*scan->attrs));
	scan->texts = calloc(n_pieces + 1, sizeof(*scan->texts));
	if (!scan->attrs || !scan->texts || n >= PM_LIMIT_ITEMS)
		return -ENOMEM;
	for (size_t i = 0; i < n_pieces && r == 0; i++)
		r = join_attrs(job, &job->pieces[i], &numbers);
	pm_map_done(&numbers);
	return r;
}

/* Concatenates the results of the pieces. */
static int join_pieces(struct scan_job *job, size_t n_pieces)
{
	struct zts_scan *scan = job->scan;
	size_t n = 0, n_formless = 0;
	uint32_t n_attrs = 0;
	for (size_t i = 0; i < n_pieces; i++) {
		struct piece *p = &job->pieces[i];
		for (size_t k = 0; k < p->n; k++)
			p->found[k].attr += n_attrs;
		n_attrs += (uint32_t)p->n_attrs;
		n += p->n;
		n_formless += p->n_formless;
	}
	scan->found = malloc(n * sizeof(*scan->found) + 1);
	scan->formless = malloc(n_formless * sizeof(*scan->formless) + 1);
	if (!scan->found || !scan->formless)
		return -ENOMEM;
	for (size_t i = 0; i < n_pieces; i++) {
		struct piece *p = &job->pieces[i];
		if (p->n)
			memcpy(scan->found + scan->n, p->found, p->n * sizeof(*p->found));
		if (p->n_formless)
			memcpy(scan->formless + scan->n_formless, p->formless,
				p->n_formless * sizeof(*p->formless));
		scan->n += p->n;
		scan->n_formless += p->n_formless;
		p->n_formless = 0;
	}
	return join_all_attrs(job, n_pieces);
}

static void free_pieces(struct piece *pieces, size_t n)
{
	for (size_t i = 0; pieces && i < n; i++) {
		for (size_t k = 0; k < pieces[i].n_formless; k++)
			free(pieces[i].formless[k].why);
		free(pieces[i].found);
		free(pieces[i].formless);
		free(pieces[i].attrs);
		pm_arena_done(&pieces[i].texts);
	}
	free(pieces);
}

int zts_scan_store(const struct zts_store *store, struct zts_attr_names *names,
	struct zts_early *early, struct zts_scan *ret, struct pm_error *err)
{
	uint32_t n = store->chunks.n;
	size_t n_pieces = ((size_t)n + PIECE - 1) / PIECE;
	*ret = (struct zts_scan){.status = calloc((size_t)n + 1, 1)};
	struct scan_job job = {
		store, names, early, ret, calloc(n_pieces + 1, sizeof(struct piece))};
	int r = ret->status && job.pieces ? pm_crew_each(n_pieces, scan_piece, &job) : -ENOMEM;
	if (r == 0)
		r = join_pieces(&job, n_pieces);
	free_pieces(job.pieces, n_pieces);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		if (ret->status[i] == ZTS_OK)
			ret->payload_bytes += store->chunks.chunks[i].bytes;
	if (r < 0) {
		zts_scan_done(ret);
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory to read chunks");
	}
	return 0;
}

void zts_scan_forget_found(struct zts_scan *scan)
{
	free(scan->found);
	scan->found = NULL;
	scan->n = 0;
}

void zts_scan_done(struct zts_scan *scan)
{
	for (size_t i = 0; i < scan->n_formless; i++)
		free(scan->formless[i].why);
	for (size_t i = 0; i < scan->n_texts; i++)
		pm_arena_done(&scan->texts[i]);
	zts_scan_forget_found(scan);
	free(scan->attrs);
	free(scan->texts);
	free(scan->formless);
	free(scan->status);
	*scan = (struct zts_scan){.n = 0};
}

struct zts_found *zts_scan_find(const struct zts_scan *scan, uint32_t chunk, uint64_t start_offset)
{
	struct zts_found key = {.chunk = chunk, .start_offset = (uint32_t)start_offset};
	if (start_offset > UINT32_MAX || scan->n == 0)
		return NULL;
	return bsearch(&key, scan->found, scan->n, sizeof(*scan->found), by_place);
}
