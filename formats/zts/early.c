/*
 * A trace that the index expects is read into a tree beside the scan, and added up when it ends at
 * the expected time. Everything that is not as usual is left to the pass over the remaining traces.
 */
#include "formats/zts/early.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/zts/chunks.h"

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* As the survey sorts traces. */
static int by_time(const void *a, const void *b, void *context)
{
	const struct zts_expected *items = context;
	const struct zts_expected *x = &items[*(const uint32_t *)a];
	const struct zts_expected *y = &items[*(const uint32_t *)b];
	return order(x->timestamp_ns, y->timestamp_ns)
		?: order(x->store, y->store)
		?: order(x->chunk, y->chunk)
		?: order(x->start_offset, y->start_offset)
		?: order(x->trace_id[0], y->trace_id[0])
		?: order(x->trace_id[1], y->trace_id[1])
		?: order(x->span_id, y->span_id);
}

/* Numbers the items in both orders; `sorted` and `next_of` are room for that. */
static int number(struct zts_early *early, uint32_t *sorted, uint32_t *next_of)
{
	for (uint32_t i = 0; i < early->n; i++)
		sorted[i] = i;
	if (pm_sort_with(sorted, early->n, sizeof(*sorted), by_time, early->items) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < early->n; i++)
		next_of[early->items[i].store + 1]++;
	for (uint32_t i = 0; i < early->stores->n; i++)
		next_of[i + 1] += next_of[i];
	for (uint32_t i = 0; i < early->n; i++) {
		struct zts_expected *item = &early->items[sorted[i]];
		item->time_rank = i;
		item->ticket = next_of[item->store]++;
		early->time_rank_of[item->ticket] = i;
	}
	return 0;
}

static void expect(struct zts_early *early, const struct zts_span *span)
{
	const struct zts_chunks *chunks = &early->stores->items[span->store].chunks;
	uint32_t chunk = zts_chunk_find(chunks, span->data_offset);
	bool error = span->flags & ZTS_FLAG_ERROR;
	struct zts_expected *last = early->n ? &early->items[early->n - 1] : NULL;
	if (chunk == PM_NONE)
		return;
	if (last && last->store == span->store && last->chunk == chunk &&
		last->start_offset == span->start_offset) {
		last->error |= error;
		return;
	}
	early->items[early->n++] = (struct zts_expected){.store = span->store,
		.chunk = chunk,
		.start_offset = span->start_offset,
		.timestamp_ns = span->timestamp_ns,
		.trace_id = {span->trace_id[0], span->trace_id[1]},
		.span_id = span->span_id,
		.error = error};
}

static int make_summings(struct zts_early *early)
{
	early->n_summings = pm_crew_width();
	early->summings = calloc(early->n_summings, sizeof(*early->summings));
	early->free = calloc(early->n_summings, sizeof(struct zts_summing *));
	int r = early->summings && early->free ? 0 : -ENOMEM;
	for (unsigned i = 0; i < early->n_summings && r == 0; i++) {
		struct zts_summing *s = &early->summings[i];
		zts_growing_init(&s->growing, &s->tree);
		zts_records_init(&s->values);
		s->ticket = PM_NONE;
		early->free[early->n_free++] = s;
		r = zts_partial_init(&s->partial);
	}
	return r;
}

struct zts_early *zts_early_new(
	struct zts_stores *stores, const struct zts_span *const *singles, size_t n)
{
	struct zts_early *early = malloc(sizeof(*early));
	if (!early)
		return NULL;
	*early = (struct zts_early){.stores = stores, .lock = PTHREAD_MUTEX_INITIALIZER};
	uint32_t *sorted = malloc(n * sizeof(*sorted) + 1);
	uint32_t *next_of = calloc((size_t)stores->n + 1, sizeof(*next_of));
	early->items = malloc(n * sizeof(*early->items) + 1);
	early->time_rank_of = malloc(n * sizeof(*early->time_rank_of) + 1);
	early->calls_of = calloc(n + 1, sizeof(*early->calls_of));
	early->rank_of = calloc(n + 1, sizeof(*early->rank_of));
	early->trace_of = calloc(n + 1, sizeof(*early->trace_of));
	bool made = sorted && next_of && early->items && early->time_rank_of && early->calls_of &&
		early->rank_of && early->trace_of && make_summings(early) == 0;
	for (size_t i = 0; i < n && made; i++)
		expect(early, singles[i]);
	made = made && number(early, sorted, next_of) == 0;
	free(sorted);
	free(next_of);
	if (!made) {
		zts_early_free(early);
		return NULL;
	}
	return early;
}

void zts_early_free(struct zts_early *early)
{
	if (!early)
		return;
	for (unsigned i = 0; early->summings && i < early->n_summings; i++) {
		struct zts_summing *s = &early->summings[i];
		zts_partial_done(&s->partial);
		zts_growing_done(&s->growing);
		zts_tree_done(&s->tree);
		zts_records_done(&s->values);
	}
	free(early->summings);
	free(early->free);
	free(early->items);
	free(early->time_rank_of);
	free(early->calls_of);
	free(early->rank_of);
	free(early->trace_of);
	pthread_mutex_destroy(&early->lock);
	free(early);
}

struct zts_summing *zts_early_lend(struct zts_early *early)
{
	pthread_mutex_lock(&early->lock);
	struct zts_summing *s = early->free[--early->n_free];
	pthread_mutex_unlock(&early->lock);
	return s;
}

void zts_early_give_back(struct zts_early *early, struct zts_summing *s)
{
	pthread_mutex_lock(&early->lock);
	early->free[early->n_free++] = s;
	pthread_mutex_unlock(&early->lock);
}

uint32_t zts_early_added(const struct zts_early *early)
{
	uint32_t n = 0;
	for (unsigned i = 0; i < early->n_summings; i++)
		n += early->summings[i].added;
	return n;
}

/* ---- a chunk ---- */

static bool is_before(const struct zts_expected *item, uint32_t store, uint32_t chunk)
{
	return item->store < store || (item->store == store && item->chunk < chunk);
}

void zts_summing_chunk(
	struct zts_summing *s, const struct zts_early *early, uint32_t store, uint32_t chunk)
{
	uint32_t first = PM_LOWER_BOUND(i, 0, early->n, is_before(&early->items[i], store, chunk));
	s->next = &early->items[first];
	s->end = &early->items[early->n];
	s->open = NULL;
	s->ticket = PM_NONE;
	s->part = (struct zts_part){.store = store,
		.chunk = chunk,
		.data_offset = early->stores->items[store].chunks.chunks[chunk].offset};
}

int zts_summing_begin(struct zts_summing *s, const struct zts_early *early, uint64_t at)
{
	const struct zts_expected *item = s->next;
	s->open = NULL;
	while (item < s->end && item->store == s->part.store && item->chunk == s->part.chunk &&
		item->start_offset < at)
		item++;
	s->next = item;
	if (item == s->end || item->store != s->part.store || item->chunk != s->part.chunk ||
		item->start_offset != at)
		return 0;
	zts_growing_restart(&s->growing);
	s->growing.part = &s->part;
	s->open = item;
	return zts_store_texts(&early->stores->items[s->part.store], &s->growing.texts, NULL) ==
			-ENOMEM
		? -ENOMEM
		: 0;
}

void zts_summing_values(struct zts_summing *s, const struct zts_records *reader)
{
	const struct pm_cur *in = &reader->cbor.in;
	struct pm_bytes rest;
	pm_bytes_sub(in->b, in->at, in->b.len - in->at, &rest);
	zts_records_feed(&s->values, rest);
}

void zts_summing_drop(struct zts_summing *s)
{
	s->open = NULL;
	zts_records_done(&s->values);
	zts_records_init(&s->values);
}

int zts_summing_end(struct zts_summing *s, const struct zts_early *early)
{
	const struct zts_expected *item = s->open;
	const struct zts_call *root = &s->tree.calls[0];
	uint64_t stamp_ns = root->timestamp_ms * ZTS_MS_NS;
	s->open = NULL;
	if (!(root->has & ZTS_HAS_TIMESTAMP) || item->timestamp_ns < stamp_ns ||
		item->timestamp_ns - stamp_ns >= ZTS_MS_NS)
		return 0;
	const struct zts_moment moment = {
		item->time_rank, item->ticket, item->timestamp_ns, item->error};
	if (zts_growing_end(&s->growing) < 0)
		return -ENOMEM;
	s->ticket = item->ticket;
	s->added++;
	early->calls_of[item->ticket] = s->tree.n;
	return zts_partial_add(&s->partial, early->stores, &s->tree, &moment);
}
