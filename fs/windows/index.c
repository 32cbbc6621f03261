/*
 * Builds the index: a chunk is read from its first record to its last. Long traces are indexed
 * by all processors together, short ones in parallel.
 */
#include "fs/windows/internal.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "formats/common/work.h"

static size_t chunks_of(const struct pmfs_trace_index *t)
{
	return (size_t)((t->n + PMFS_CHUNK_RECORDS - 1) / PMFS_CHUNK_RECORDS);
}

struct making {
	struct pmfs_trace_chunk *chunk;
	uint64_t n, seen; /* records */
	uint64_t most;    /* sums that any node of the trace can have */
	struct pmfs_reading block, all;
	bool spilled; /* the block has too many contexts for sums: they are added to `all` alone */
};

/* ---- chunks, whose records are read in their order ---- */

static const struct pmfs_cover nothing = {.first = UINT64_MAX};

static void cover_add(struct pmfs_cover *c, const struct pmfs_cover *more)
{
	c->first = more->first < c->first ? more->first : c->first;
	c->last = more->last > c->last ? more->last : c->last;
	c->end = more->end > c->end ? more->end : c->end;
}

/* Appends the sums to a list if there are few enough of them for the number of records. */
static int keep(struct pmfs_block_sums *sums, const struct pmfs_reading *reading, uint64_t records,
	struct pmfs_block *ret)
{
	const struct pmfs_tally *t = &reading->tally;
	*ret = (struct pmfs_block){
		.cover = reading->cover, .sum = (uint32_t)sums->n, .n_sums = PM_NONE};
	bool fits = !reading->many && t->n <= records / PMFS_A_SUM;
	for (size_t i = 0; fits && i < t->n; i++)
		fits = t->items[i].ns <= UINT64_MAX && t->items[i].calls <= UINT32_MAX;
	if (!fits)
		return 0;
	for (size_t i = 0; i < t->n; i++) {
		if (pm_list_room(&sums->items, sums->n, &sums->room, sizeof(*sums->items)) < 0)
			return -ENOMEM;
		sums->items[sums->n++] = (struct pmfs_sum){.ns = (uint64_t)t->items[i].ns,
			.context = t->items[i].context,
			.calls = (uint32_t)t->items[i].calls};
	}
	ret->n_sums = (uint32_t)t->n;
	return 0;
}

static void shrink(struct pmfs_block_sums *sums)
{
	struct pmfs_sum *fit = sums->n ? realloc(sums->items, sums->n * sizeof(*fit)) : NULL;
	if (fit)
		sums->items = fit;
}

/* The maximum number of sums of any node of the trace. */
static uint64_t most_sums(const struct pmfs_trace_index *t)
{
	return (t->n > PMFS_CHUNK_RECORDS ? t->n : PMFS_CHUNK_RECORDS) / PMFS_A_SUM;
}

/* Adds the sums to the enclosing level; with too many contexts, only the range of times. */
static int join(struct pmfs_reading *to, const struct pmfs_reading *from, uint64_t most)
{
	cover_add(&to->cover, &from->cover);
	if (!to->many && !from->many && pmfs_tally_join(&to->tally, &from->tally) < 0)
		return -ENOMEM;
	to->many = to->many || from->many || to->tally.n > most;
	if (to->many)
		pmfs_tally_done(&to->tally);
	return 0;
}

/* ---- a chunk ---- */

static int block_read(struct making *m, uint32_t i)
{
	struct pmfs_trace_chunk *c = m->chunk;
	int r = join(&m->all, &m->block, m->most);
	m->block.many |= m->spilled;
	if (r == 0)
		r = keep(&c->sums, &m->block, PMFS_BLOCK, &c->blocks[i]);
	m->block.many = m->spilled = false;
	m->block.cover = nothing;
	pmfs_tally_clear(&m->block.tally);
	return r == 0 && m->seen == m->n ? keep(&c->sums, &m->all, PMFS_CHUNK_RECORDS, &c->all) : r;
}

/* Begins a chunk of `n` records, 0 < n <= PMFS_CHUNK_RECORDS, of that trace. 0 or -ENOMEM. */
static int making_begin(struct making *m, const struct pmfs_trace_index *t, uint64_t n)
{
	*m = (struct making){.chunk = calloc(1, sizeof(*m->chunk)),
		.n = n,
		.most = most_sums(t),
		.block.cover = nothing,
		.all.cover = nothing};
	return m->chunk ? 0 : -ENOMEM;
}

static int take_some(struct making *m, const struct pm_sample *samples, size_t n)
{
	struct pmfs_tally *tally = m->spilled ? &m->all.tally : &m->block.tally;
	struct pmfs_cover cover = m->block.cover;
	bool adds = !m->spilled || !m->all.many, lent = false;
	for (size_t i = 0; i < n; i++) {
		const struct pm_sample *s = &samples[i];
		const struct pmfs_cover one = {s->time_ns, s->time_ns, pmfs_sample_end(s)};
		cover_add(&cover, &one);
		lent |= s->within != 0;
		if (adds && pmfs_tally_add(tally, s->context, one.end - one.first, 1) < 0)
			return -ENOMEM;
	}
	m->block.cover = cover;
	m->block.many |= lent;
	return 0;
}

/* Records of many contexts are added up only once, without sums of their block. */
static int take_of_block(struct making *m, const struct pm_sample *samples, size_t n)
{
	enum { SOME = 128 };
	int r = 0;
	while (n > 0 && r == 0) {
		size_t some = n < SOME ? n : SOME;
		r = take_some(m, samples, some);
		samples += some;
		n -= some;
		if (r < 0 || m->spilled || m->block.tally.n <= PMFS_BLOCK / PMFS_A_SUM)
			continue;
		if (!m->all.many)
			r = pmfs_tally_join(&m->all.tally, &m->block.tally);
		pmfs_tally_clear(&m->block.tally);
		m->spilled = true;
	}
	return r;
}

/* Adds the next records, at most as many as are missing. 0 or -ENOMEM. */
static int making_take(struct making *m, const struct pm_sample *samples, size_t n)
{
	int r = 0;
	while (r == 0 && n > 0) {
		size_t room = PMFS_BLOCK - m->seen % PMFS_BLOCK;
		size_t some = n < room ? n : room;
		r = take_of_block(m, samples, some);
		samples += some;
		n -= some;
		m->seen += some;
		if (r == 0 && (some == room || m->seen == m->n))
			r = block_read(m, (uint32_t)((m->seen - 1) / PMFS_BLOCK));
	}
	return r;
}

/* Accepts NULL. */
static void trace_chunk_free(struct pmfs_trace_chunk *c)
{
	if (c)
		free(c->sums.items);
	free(c);
}

/*
 * Returns the chunk, to be freed by trace_chunk_free, if all of its records were taken,
 * otherwise NULL. `all` has its sums until making_done, which is called in any case.
 */
static struct pmfs_trace_chunk *making_end(struct making *m)
{
	struct pmfs_trace_chunk *c = m->seen == m->n ? m->chunk : NULL;
	if (!c)
		return NULL;
	m->chunk = NULL;
	shrink(&c->sums);
	return c;
}

static void making_done(struct making *m)
{
	trace_chunk_free(m->chunk);
	pmfs_tally_done(&m->block.tally);
	pmfs_tally_done(&m->all.tally);
	m->chunk = NULL;
}

/* ---- levels ---- */

static void levels_done(struct pmfs_trace_index *t)
{
	for (unsigned k = 0; k < PMFS_LEVELS; k++) {
		struct pmfs_level *level = &t->levels[k];
		for (size_t i = 0; level->nodes && i < level->n; i++) {
			pmfs_tally_done(&level->nodes[i].reading.tally);
			free(level->nodes[i].sums.items);
		}
		free(level->nodes);
		level->nodes = NULL;
	}
	t->n_levels = 0;
}

/* Makes the levels above a trace's chunks. 0 or -ENOMEM: then there are none. */
static int levels_make(struct pmfs_trace_index *t)
{
	size_t below = chunks_of(t);
	for (t->n_levels = 0; below > 1 && t->n_levels < PMFS_LEVELS; t->n_levels++) {
		struct pmfs_level *level = &t->levels[t->n_levels];
		level->n = (below + PMFS_FANOUT - 1) / PMFS_FANOUT;
		level->nodes = calloc(level->n, sizeof(*level->nodes));
		if (!level->nodes) {
			levels_done(t);
			return -ENOMEM;
		}
		for (size_t i = 0; i < level->n; i++) {
			size_t rest = below - i * PMFS_FANOUT;
			level->nodes[i].missing = rest < PMFS_FANOUT ? (uint32_t)rest : PMFS_FANOUT;
			level->nodes[i].reading.cover = nothing;
		}
		below = level->n;
	}
	return 0;
}

/*
 * Adds what is in a chunk; a node that has become complete is added to the one above it. Without
 * memory, nodes above it remain unknown.
 */
static void levels_add(struct pmfs_trace_index *t, size_t chunk, const struct pmfs_reading *all)
{
	uint64_t records = PMFS_CHUNK_RECORDS;
	struct pmfs_node *below = NULL;
	for (unsigned k = 0; k < t->n_levels; k++) {
		struct pmfs_node *node = &t->levels[k].nodes[chunk /= PMFS_FANOUT];
		records *= PMFS_FANOUT;
		int r = join(&node->reading, below ? &below->reading : all, most_sums(t));
		if (below)
			pmfs_tally_done(&below->reading.tally);
		uint64_t there =
			t->n - chunk * records < records ? t->n - chunk * records : records;
		if (r == 0 && node->missing == 1)
			r = keep(&node->sums, &node->reading, there, &node->all);
		if (r < 0 || --node->missing > 0)
			return;
		shrink(&node->sums);
		below = node;
	}
	if (below)
		pmfs_tally_done(&below->reading.tally);
}

/* ---- the index ---- */

/* ---- reading records ---- */

enum { BATCH = PMFS_BLOCK };

int pmfs_records_read(const struct pm_profile *p, uint32_t thread, uint64_t first, uint64_t end,
	int (*take)(void *context, const struct pm_sample *samples, size_t n), void *context,
	struct pm_error *err)
{
	/* Pictures look single records up. */
	size_t room = end <= first ? 1 : end - first < BATCH ? (size_t)(end - first) : BATCH;
	struct pm_sample *batch = malloc(room * sizeof(*batch));
	int r = batch ? 0 : pm_error_plain(err, -ENOMEM);
	while (r == 0 && first < end) {
		size_t left = end - first < room ? (size_t)(end - first) : room;
		int64_t n = p->ops->samples(p, thread, first, batch, left, err);
		if (n <= 0) {
			r = (int)n;
			break;
		}
		r = pm_work_cancelled() ? PM_CANCELLED : take(context, batch, (size_t)n);
		if (r < 0)
			pm_error_plain(err, r);
		first += (uint64_t)n;
	}
	free(batch);
	return r < 0 ? r : 0;
}

/* ---- chunks of a trace ---- */

static uint64_t records_of(const struct pmfs_trace_index *t, uint64_t first)
{
	return t->n - first < PMFS_CHUNK_RECORDS ? t->n - first : PMFS_CHUNK_RECORDS;
}

static bool has_chunk(struct pmfs_index *x, const struct pmfs_trace_index *t, size_t i)
{
	pthread_mutex_lock(&x->lock);
	bool there = t->chunks && t->chunks[i];
	pthread_mutex_unlock(&x->lock);
	return there;
}

/* Keeps the chunk if it is complete: 1, 0 if it is not, -ENOMEM. Ends making in any case. */
static int put_chunk(
	struct pmfs_index *x, struct pmfs_trace_index *t, size_t i, struct making *making)
{
	struct pmfs_trace_chunk *c = making_end(making);
	int r = c != NULL;
	pthread_mutex_lock(&x->lock);
	if (c && !t->chunks) {
		t->chunks = calloc(chunks_of(t) + 1, sizeof(struct pmfs_trace_chunk *));
		if (t->chunks && levels_make(t) < 0) {
			free(t->chunks);
			t->chunks = NULL;
		}
	}
	if (c && !t->chunks)
		r = -ENOMEM;
	if (r > 0 && !t->chunks[i]) {
		t->chunks[i] = c;
		c = NULL;
		levels_add(t, i, &making->all);
	}
	pthread_mutex_unlock(&x->lock);
	trace_chunk_free(c);
	making_done(making);
	return r;
}

/* ---- a trace ---- */

struct building {
	struct pmfs_index *x;
	uint32_t thread;
	struct pmfs_trace_index *trace;
	struct pm_error *err; /* NULL while several threads work */
};

static int take(void *context, const struct pm_sample *samples, size_t n)
{
	return making_take(context, samples, n);
}

static int build_chunk(void *context, size_t i)
{
	struct building *b = context;
	uint64_t first = (uint64_t)i * PMFS_CHUNK_RECORDS, n = records_of(b->trace, first);
	struct making making;
	if (has_chunk(b->x, b->trace, i))
		return 0;
	int r = making_begin(&making, b->trace, n);
	if (r == 0)
		r = pmfs_records_read(
			b->x->profile, b->thread, first, first + n, take, &making, b->err);
	if (r < 0) {
		making_done(&making);
		return r;
	}
	r = put_chunk(b->x, b->trace, i, &making);
	return r > 0 ? 0 : r < 0 ? r : -EIO; /* the trace is shorter than it was */
}

/* A trace without samples may be one that cannot be read. */
static int try_empty(const struct building *b, struct pm_error *err)
{
	struct pm_sample sample;
	const struct pm_profile *p = b->x->profile;
	if (b->trace->n > 0 || !b->x->threads->threads[b->thread].has_trace)
		return 0;
	int64_t r = p->ops->samples(p, b->thread, 0, &sample, 1, err);
	return r < 0 ? (int)r : 0;
}

/* Chunks that are made before it fails are kept. */
static int build_trace(void *context, struct pm_error *err)
{
	struct building *b = context;
	size_t n = chunks_of(b->trace);
	int r = n > 1 ? pm_crew_each(n, build_chunk, b) : try_empty(b, err);
	b->err = err;
	if (n == 1 || pm_is_lasting(r)) /* again, to get the reason */
		for (size_t i = 0; i < n && (i == 0 || r == 0); i++)
			r = build_chunk(b, i);
	return r < 0 ? pm_error_plain(err, r) : 0;
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
	if (!x->traces)
		return pm_error_plain(err, -ENOMEM);
	bool has[PM_N_TIMES] = {false};
	for (uint32_t i = 0; i < x->threads->n; i++) {
		const struct pm_thread *t = &x->threads->threads[i];
		x->traces[i].n = t->has_trace ? t->n_samples : 0;
		has[pm_time_of(x->threads, i)] |= x->traces[i].n > 0;
	}
	x->gpus_apart = has[PM_TIME_PROCESSORS] && has[PM_TIME_GPUS];
	return 0;
}

enum pm_time pmfs_index_time(
	const struct pmfs_index *x, uint32_t thread, const struct pm_frame *frame)
{
	enum pm_time time = pm_time_of(x->threads, thread);
	if (time == PM_TIME_ASYNC || time == PM_TIME_SAMPLED)
		return time;
	if (x->profile->gpu_frames)
		return frame->on_gpu ? PM_TIME_GPUS : PM_TIME_PROCESSORS;
	return x->gpus_apart ? time : PM_TIME_PROCESSORS;
}

unsigned pmfs_index_times(
	const struct pmfs_index *x, uint32_t first, uint32_t n, enum pm_time *ret_leads)
{
	static const struct pm_frame of_processors, of_gpus = {.on_gpu = true};
	unsigned times = 0;
	enum pm_time leads = PM_N_TIMES;
	for (uint32_t i = first; i < first + n; i++) {
		if (x->traces[i].n == 0)
			continue;
		enum pm_time by_thread = pm_time_of(x->threads, i);
		enum pm_time by_frame = pmfs_index_time(x, i, &of_gpus);
		times |= 1u << pmfs_index_time(x, i, &of_processors) | 1u << by_frame;
		by_thread = by_frame == PM_TIME_PROCESSORS ? by_frame : by_thread;
		leads = by_thread < leads ? by_thread : leads;
	}
	*ret_leads = times ? leads : PM_TIME_PROCESSORS;
	return times ? times : 1u << PM_TIME_PROCESSORS;
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
	return t->has_trace && t->n_samples > PMFS_CHUNK_RECORDS;
}

static int unless_broken(int r)
{
	return pm_is_passing(r) ? r : 0;
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

void pmfs_index_init(struct pmfs_index *x, const struct pm_profile *p)
{
	*x = (struct pmfs_index){.profile = p, .lock = PTHREAD_MUTEX_INITIALIZER};
}

static void drop(struct pmfs_trace_index *t)
{
	for (size_t i = 0; t->chunks && i < chunks_of(t); i++)
		trace_chunk_free(t->chunks[i]);
	free(t->chunks);
	levels_done(t);
}

void pmfs_index_done(struct pmfs_index *x)
{
	for (uint32_t i = 0; x->traces && i < x->threads->n; i++)
		drop(&x->traces[i]);
	free(x->traces);
	pthread_mutex_destroy(&x->lock);
}

/* ---- traces read for other reasons ---- */

struct piece {
	struct pmfs_index *x;
	struct pmfs_trace_index *trace;
	uint64_t at; /* the record that comes next */
	struct making making;
	bool is_making;
};

static void *piece_begin(void *self, uint32_t thread, uint64_t first)
{
	struct pmfs_index *x = self;
	if (!x->profile->traces_are_calls || first % PMFS_CHUNK_RECORDS != 0 ||
		pmfs_index_open(x, NULL) < 0 || thread >= x->threads->n)
		return NULL;
	struct pmfs_trace_index *t = &x->traces[thread];
	struct piece *p = calloc(1, sizeof(*p));
	if (p)
		*p = (struct piece){.x = x, .trace = t, .at = first};
	return p;
}

static void chunk_end(struct piece *p, bool failed)
{
	if (failed)
		making_done(&p->making);
	else if (p->is_making)
		put_chunk(p->x, p->trace, (size_t)((p->at - 1) / PMFS_CHUNK_RECORDS), &p->making);
	p->is_making = false;
}

/* If this fails, the chunk is made when it is needed. */
static void piece_take(void *piece, const struct pm_sample *samples, size_t n)
{
	struct piece *p = piece;
	while (n > 0 && p->at < p->trace->n) {
		uint64_t left = PMFS_CHUNK_RECORDS - p->at % PMFS_CHUNK_RECORDS;
		if (left == PMFS_CHUNK_RECORDS &&
			!has_chunk(p->x, p->trace, (size_t)(p->at / PMFS_CHUNK_RECORDS)))
			p->is_making = making_begin(&p->making, p->trace,
					       records_of(p->trace, p->at)) == 0;
		if (left > p->trace->n - p->at)
			left = p->trace->n - p->at;
		size_t some = n < left ? n : (size_t)left;
		bool failed = p->is_making && making_take(&p->making, samples, some) < 0;
		p->at += some;
		samples += some;
		n -= some;
		if (failed || some == left)
			chunk_end(p, failed);
	}
}

static void piece_end(void *piece)
{
	chunk_end(piece, false);
	free(piece);
}

struct pm_tap pmfs_index_tap(struct pmfs_index *x)
{
	return (struct pm_tap){
		.self = x, .begin = piece_begin, .take = piece_take, .end = piece_end};
}
