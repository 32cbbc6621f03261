/*
 * Reads every payload once, in pieces of adjacent chunks, and joins the results of the pieces in
 * order. Independent of the index; only uses the names of attributes.
 */
#include "formats/zts/scan.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

/* Chunks that a thread takes at a time. */
enum { PIECE = 16 };

struct scan_job {
	const struct zts_store *store;
	struct zts_attr_names *names;
	struct zts_adders *sums;
	struct zts_scan *scan;
	struct zts_scan_piece *pieces;
};

static int by_place(const void *a, const void *b)
{
	const struct zts_found *x = a, *y = b;
	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return (x->start_offset > y->start_offset) - (x->start_offset < y->start_offset);
}

static int scan_chunk(struct scan_job *job, struct zts_scan_piece *piece,
	const struct zts_scan_source *from, uint32_t chunk)
{
	const struct zts_chunks *chunks = &job->store->chunks;
	uint8_t *payload;
	enum zts_status status;
	int r = zts_chunk_read(chunks, chunk, &payload, &status);
	job->scan->status[chunk] = (uint8_t)status;
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	r = zts_scan_payload(
		piece, from, chunk, (struct pm_bytes){payload, chunks->chunks[chunk].bytes});
	free(payload);
	return r;
}

static int scan_piece(void *context, size_t i)
{
	struct scan_job *job = context;
	const struct zts_chunks *chunks = &job->store->chunks;
	struct zts_scan_piece *piece = &job->pieces[i];
	const struct zts_scan_source from = {
		job->store, job->sums, job->sums ? zts_adders_lend(job->sums) : 0};
	uint32_t end =
		(uint32_t)(i + 1) * PIECE < chunks->n ? (uint32_t)(i + 1) * PIECE : chunks->n;
	int r = 0;
	for (uint32_t chunk = (uint32_t)i * PIECE; chunk < end && r == 0; chunk++)
		r = scan_chunk(job, piece, &from, chunk);
	if (job->sums)
		zts_adders_give_back(job->sums, from.adder);
	return r < 0 ? r : pm_sort(piece->found, piece->n, sizeof(*piece->found), by_place);
}

/* Takes over the attributes of a piece; `numbers` maps ids in the index to the numbers of names. */
static int join_attrs(struct scan_job *job, struct zts_scan_piece *p, struct pm_map *numbers)
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
		struct zts_scan_piece *p = &job->pieces[i];
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
		struct zts_scan_piece *p = &job->pieces[i];
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

static void free_pieces(struct zts_scan_piece *pieces, size_t n)
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
	struct zts_adders *sums, struct zts_scan *ret, struct pm_error *err)
{
	uint32_t n = store->chunks.n;
	size_t n_pieces = ((size_t)n + PIECE - 1) / PIECE;
	*ret = (struct zts_scan){.status = calloc((size_t)n + 1, 1)};
	struct scan_job job = {
		store, names, sums, ret, calloc(n_pieces + 1, sizeof(struct zts_scan_piece))};
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
