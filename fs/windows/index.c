/*
 * Builds the index: a chunk is read from its first record to its last. Long traces are indexed by
 * all processors together, short ones in parallel.
 */
#include "fs/windows/index.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"

enum { CHUNK_RECORDS = PMFS_BLOCK * PMFS_CHUNK };

/* ---- reading records ---- */

enum { BATCH = 1024 };

int pmfs_records_read(const struct pm_profile *p, uint32_t thread, uint64_t first, uint64_t end,
	int (*take)(void *context, const struct pm_sample *samples, size_t n), void *context,
	struct pm_error *err)
{
	struct pm_sample *batch = malloc(BATCH * sizeof(*batch));
	int r = batch ? 0 : pm_error_plain(err, -ENOMEM);
	while (r == 0 && first < end) {
		size_t room = end - first < BATCH ? (size_t)(end - first) : BATCH;
		int64_t n = p->ops->samples(p, thread, first, batch, room, err);
		if (n <= 0) {
			r = (int)n;
			break;
		}
		r = pm_work_cancelled() ? -ENOMEM : take(context, batch, (size_t)n);
		if (r < 0)
			pm_error_plain(err, r);
		first += (uint64_t)n;
	}
	free(batch);
	return r < 0 ? r : 0;
}

/* ---- a chunk ---- */

struct reading {
	struct pmfs_cover cover;
	struct pmfs_tally tally;
};

static const struct pmfs_cover nothing = {.first = UINT64_MAX};

static void cover_add(struct pmfs_cover *c, const struct pmfs_cover *more)
{
	c->first = more->first < c->first ? more->first : c->first;
	c->last = more->last > c->last ? more->last : c->last;
	c->end = more->end > c->end ? more->end : c->end;
}

static int take(void *context, const struct pm_sample *samples, size_t n)
{
	struct reading *r = context;
	for (size_t i = 0; i < n; i++) {
		const struct pm_sample *s = &samples[i];
		struct pmfs_cover one = {s->time_ns, s->time_ns, pmfs_sample_end(s)};
		cover_add(&r->cover, &one);
		if (pmfs_tally_add(&r->tally, s->context, one.end - one.first, 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Appends the sums to those of the chunk if there are few enough. */
static int keep_sums(
	struct pmfs_chunk *c, const struct pmfs_tally *t, size_t most, struct pmfs_sums *ret)
{
	*ret = (struct pmfs_sums){.first = (uint32_t)c->n_sums, .n = PM_NONE};
	bool fits = t->n <= most;
	for (size_t i = 0; fits && i < t->n; i++)
		fits = t->items[i].ns <= UINT64_MAX;
	if (!fits)
		return 0;
	for (size_t i = 0; i < t->n; i++) {
		if (pm_list_room(&c->sums, c->n_sums, &c->room, sizeof(*c->sums)) < 0)
			return -ENOMEM;
		c->sums[c->n_sums++] = (struct pmfs_sum){.ns = (uint64_t)t->items[i].ns,
			.context = t->items[i].context,
			.calls = (uint32_t)t->items[i].calls};
	}
	ret->n = (uint32_t)t->n;
	return 0;
}

/* Adds what was read to the enclosing level. */
static int join(struct reading *to, const struct reading *from)
{
	cover_add(&to->cover, &from->cover);
	for (size_t i = 0; i < from->tally.n; i++) {
		const struct pmfs_tallied *t = &from->tally.items[i];
		if (pmfs_tally_add(&to->tally, t->context, 0, t->calls) < 0)
			return -ENOMEM;
		to->tally.items[to->tally.last].ns += t->ns;
	}
	return 0;
}

/* Stores what was read, at most that many records, and starts over. */
static int keep(struct pmfs_chunk *c, struct pmfs_block *b, struct reading *reading, size_t records)
{
	b->cover = reading->cover;
	int r = keep_sums(c, &reading->tally, records / PMFS_A_SUM, &b->sums);
	reading->cover = nothing;
	pmfs_tally_clear(&reading->tally);
	return r;
}

struct chunk_reading {
	struct pmfs_chunk *c;
	struct reading block, group, all;
};

/* A block is complete; with the last block of a group, the group is, too. */
static int block_read(struct chunk_reading *cr, uint32_t i, bool last)
{
	struct pmfs_chunk *c = cr->c;
	int r = join(&cr->group, &cr->block);
	if (r == 0)
		r = keep(c, &c->blocks[i], &cr->block, PMFS_BLOCK);
	if (r < 0 || ((i + 1) % PMFS_GROUP != 0 && !last))
		return r;
	r = join(&cr->all, &cr->group);
	if (r == 0)
		r = keep(c, &c->groups[i / PMFS_GROUP], &cr->group, PMFS_BLOCK * PMFS_GROUP);
	return r == 0 && last ? keep(c, &c->all, &cr->all, CHUNK_RECORDS) : r;
}

static int read_chunk(const struct pm_profile *p, uint32_t thread, uint64_t first, uint64_t n,
	struct pmfs_chunk *c, struct pm_error *err)
{
	struct chunk_reading cr = {c, {.cover = nothing}, {.cover = nothing}, {.cover = nothing}};
	int r = 0;
	for (uint32_t i = 0; r == 0 && (uint64_t)i * PMFS_BLOCK < n; i++) {
		uint64_t from = (uint64_t)i * PMFS_BLOCK;
		uint64_t to = n - from < PMFS_BLOCK ? n : from + PMFS_BLOCK;
		r = pmfs_records_read(p, thread, first + from, first + to, take, &cr.block, err);
		if (r == 0)
			r = block_read(&cr, i, to == n);
	}
	pmfs_tally_done(&cr.block.tally);
	pmfs_tally_done(&cr.group.tally);
	pmfs_tally_done(&cr.all.tally);
	struct pmfs_sum *fit = c->n_sums ? realloc(c->sums, c->n_sums * sizeof(*fit)) : NULL;
	if (fit)
		c->sums = fit;
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* ---- a trace ---- */

struct building {
	struct pmfs_index *x;
	uint32_t thread;
	struct pmfs_trace_index *trace;
	struct pm_error *err; /* NULL while several threads work */
};

static void chunk_free(struct pmfs_chunk *c)
{
	if (c)
		free(c->sums);
	free(c);
}

static int build_chunk(void *context, size_t i)
{
	struct building *b = context;
	struct pmfs_trace_index *t = b->trace;
	uint64_t first = (uint64_t)i * CHUNK_RECORDS;
	uint64_t n = t->n - first < CHUNK_RECORDS ? t->n - first : CHUNK_RECORDS;
	struct pmfs_chunk *c = calloc(1, sizeof(*c));
	int r = c ? read_chunk(b->x->profile, b->thread, first, n, c, b->err) : -ENOMEM;
	if (r < 0)
		chunk_free(c);
	else
		t->chunks[i] = c;
	return r;
}

static size_t chunks_of(const struct pmfs_trace_index *t)
{
	return (size_t)((t->n + CHUNK_RECORDS - 1) / CHUNK_RECORDS);
}

static void drop(struct pmfs_trace_index *t)
{
	for (size_t i = 0; t->chunks && i < chunks_of(t); i++)
		chunk_free(t->chunks[i]);
	free(t->chunks);
	t->chunks = NULL;
}

static int build_trace(void *context, struct pm_error *err)
{
	struct building *b = context;
	struct pmfs_trace_index *t = b->trace;
	const struct pm_thread *thread = &b->x->threads->threads[b->thread];
	t->n = thread->has_trace ? thread->n_samples : 0;
	size_t n = chunks_of(t);
	t->chunks = calloc(n + 1, sizeof(struct pmfs_chunk *));
	int r = t->chunks ? 0 : pm_error_plain(err, -ENOMEM);
	if (r == 0 && n > 1)
		r = pm_crew_each(n, build_chunk, b);
	b->err = err;
	if (r < 0 && r != -ENOMEM) /* once more, for the reason */
		for (size_t i = 0; i < n && !t->chunks[i]; i++)
			build_chunk(b, i);
	else if (r == 0 && n == 1)
		r = build_chunk(b, 0);
	if (r < 0) {
		drop(t);
		return pm_error_plain(err, r);
	}
	return 0;
}

int pmfs_index_of(struct pmfs_index *x, uint32_t thread, const struct pmfs_trace_index **ret,
	struct pm_error *err)
{
	struct building b = {.x = x, .thread = thread, .trace = &x->traces[thread]};
	*ret = b.trace;
	return pm_lazy_get(&b.trace->lazy, build_trace, &b, err);
}

/* ---- all traces ---- */

static int index_open(void *context, struct pm_error *err)
{
	struct pmfs_index *x = context;
	int r = pm_profile_traces(x->profile, &x->threads, err);
	if (r < 0)
		return r;
	x->traces = calloc((size_t)x->threads->n + 1, sizeof(*x->traces));
	return x->traces ? 0 : pm_error_plain(err, -ENOMEM);
}

int pmfs_index_open(struct pmfs_index *x, struct pm_error *err)
{
	return pm_lazy_get(&x->lazy, index_open, x, err);
}

struct several {
	struct pmfs_index *x;
	uint32_t first;
};

static bool is_long(const struct pmfs_index *x, uint32_t thread)
{
	const struct pm_thread *t = &x->threads->threads[thread];
	return t->has_trace && t->n_samples > CHUNK_RECORDS;
}

static int unless_broken(int r)
{
	return r == -ENOMEM || r == -EINTR ? r : 0;
}

static int index_short(void *context, size_t i)
{
	const struct several *s = context;
	const struct pmfs_trace_index *t;
	uint32_t thread = s->first + (uint32_t)i;
	if (is_long(s->x, thread))
		return 0;
	return unless_broken(pmfs_index_of(s->x, thread, &t, NULL));
}

int pmfs_index_threads(struct pmfs_index *x, uint32_t first, uint32_t n, struct pm_error *err)
{
	struct several s = {x, first};
	const struct pmfs_trace_index *t;
	int r = 0;
	for (uint32_t i = 0; i < n && r == 0; i++)
		if (is_long(x, first + i))
			r = unless_broken(pmfs_index_of(x, first + i, &t, NULL));
	if (r == 0)
		r = n == 1 ? index_short(&s, 0) : pm_crew_each(n, index_short, &s);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

void pmfs_index_done(struct pmfs_index *x)
{
	for (uint32_t i = 0; x->traces && i < x->threads->n; i++)
		drop(&x->traces[i]);
	free(x->traces);
}
