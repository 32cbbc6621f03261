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
	size_t n_pieces;
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

static void free_pieces(void *scan_job)
{
	const struct scan_job *job = scan_job;
	for (size_t i = 0; i < job->n_pieces; i++) {
		pm_arena_done(&job->pieces[i].arena);
		pm_arena_done(&job->pieces[i].texts);
	}
}

/* Takes over the attributes of a piece; `numbers` maps ids in the index to the numbers of names. */
static void join_attrs(const struct scan_job *job, struct zts_scan_piece *p, struct pm_map *numbers)
{
	struct zts_scan *scan = job->scan;
	for (size_t i = 0; i < p->n_attrs; i++) {
		const struct zts_met *met = &p->attrs[i];
		bool fresh = true;
		uint32_t other, *number = &other;
		if (met->key.len == ZTS_KEPT_REF)
			number = pm_map_put(numbers, met->key.u, PM_NONE, &fresh);
		if (fresh)
			*number = zts_attr_number(job->names, &met->key, &job->store->texts);
		scan->attrs[scan->n_attrs] = met->value;
		scan->attrs[scan->n_attrs++].name = *number;
	}
}

/* Concatenates the results of the pieces, and frees them, but for texts. */
static void join_pieces(struct pm_arena *a, const struct scan_job *job)
{
	struct zts_scan *scan = job->scan;
	struct pm_map numbers = {.arena = a};
	size_t n = 0, n_formless = 0, n_attrs = 0;
	for (size_t i = 0; i < job->n_pieces; i++) {
		struct zts_scan_piece *p = &job->pieces[i];
		for (size_t k = 0; k < p->n; k++)
			p->found[k].attr += (uint32_t)n_attrs;
		n += p->n;
		n_formless += p->n_formless;
		n_attrs += p->n_attrs;
	}
	scan->attr_room = n_attrs + 1;
	scan->found = pm_arena_realloc(a, NULL, n * sizeof(*scan->found) + 1);
	scan->formless = pm_arena_array(a, n_formless + 1, sizeof(*scan->formless));
	scan->attrs = pm_arena_realloc(a, NULL, scan->attr_room * sizeof(*scan->attrs));
	pm_build_check(a, n_attrs >= PM_LIMIT_ITEMS ? -ENOMEM : 0);
	for (size_t i = 0; i < job->n_pieces; i++) {
		struct zts_scan_piece *p = &job->pieces[i];
		for (size_t k = 0; k < p->n; k++)
			scan->found[scan->n++] = p->found[k];
		for (size_t k = 0; k < p->n_formless; k++)
			scan->formless[scan->n_formless++] = p->formless[k];
		join_attrs(job, p, &numbers);
		pm_arena_done(&p->arena);
	}
	pm_map_done(&numbers);
}

void zts_scan_store(struct pm_arena *a, const struct zts_store *store, struct zts_attr_names *names,
	struct zts_adders *sums, struct zts_scan *ret)
{
	uint32_t n = store->chunks.n;
	struct scan_job *job = pm_arena_alloc(a, sizeof(*job));
	*ret = (struct zts_scan){.status = pm_arena_alloc(a, (size_t)n + 1),
		.parts = pm_arena_alloc(a, (size_t)n + 1)};
	*job = (struct scan_job){store, names, sums, ret, NULL, ((size_t)n + PIECE - 1) / PIECE};
	job->pieces = pm_arena_array(a, job->n_pieces + 1, sizeof(*job->pieces));
	pm_arena_owns(a, free_pieces, job);
	pm_build_check(a, pm_crew_each(job->n_pieces, scan_piece, job));
	join_pieces(a, job);
	for (uint32_t i = 0; i < n; i++)
		if (ret->status[i] == ZTS_OK)
			ret->payload_bytes += store->chunks.chunks[i].bytes;
}

struct zts_found *zts_scan_find(const struct zts_scan *scan, uint32_t chunk, uint64_t start_offset)
{
	struct zts_found key = {.chunk = chunk, .start_offset = (uint32_t)start_offset};
	if (start_offset > UINT32_MAX || scan->n == 0)
		return NULL;
	return bsearch(&key, scan->found, scan->n, sizeof(*scan->found), by_place);
}
