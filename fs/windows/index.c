/*
 * Builds the index: a chunk is read from its first record to its last. Long traces are indexed
 * by all processors together, short ones in parallel.
 */
#include "fs/windows/internal.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"

static size_t chunks_of(const struct pmfs_trace_index *t)
{
	return (size_t)((t->n + PMFS_CHUNK_RECORDS - 1) / PMFS_CHUNK_RECORDS);
}

struct making {
	struct pm_arena arena; /* of what follows; what is kept is copied */
	struct pmfs_trace_chunk chunk;
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
static void keep(struct pm_arena *a, struct pmfs_block_sums *sums,
	const struct pmfs_reading *reading, uint64_t records, struct pmfs_block *ret)
{
	const struct pmfs_tally *t = &reading->tally;
	*ret = (struct pmfs_block){
		.cover = reading->cover, .sum = (uint32_t)sums->n, .n_sums = PM_NONE};
	bool fits = !reading->many && t->n <= records / PMFS_A_SUM;
	for (size_t i = 0; fits && i < t->n; i++)
		fits = t->items[i].ns <= UINT64_MAX && t->items[i].calls <= UINT32_MAX;
	if (!fits)
		return;
	for (size_t i = 0; i < t->n; i++) {
		pm_list_grow(a, &sums->items, sums->n, &sums->room, sizeof(*sums->items));
		sums->items[sums->n++] = (struct pmfs_sum){.ns = (uint64_t)t->items[i].ns,
			.context = t->items[i].context,
			.calls = (uint32_t)t->items[i].calls};
	}
	ret->n_sums = (uint32_t)t->n;
}

/* The maximum number of sums of any node of the trace. */
static uint64_t most_sums(const struct pmfs_trace_index *t)
{
	return (t->n > PMFS_CHUNK_RECORDS ? t->n : PMFS_CHUNK_RECORDS) / PMFS_A_SUM;
}

/* Adds the sums to the enclosing level; with too many contexts, only the range of times. */
static void join(struct pmfs_reading *to, const struct pmfs_reading *from, uint64_t most)
{
	cover_add(&to->cover, &from->cover);
	if (!to->many && !from->many)
		pmfs_tally_join(&to->tally, &from->tally);
	to->many = to->many || from->many || to->tally.n > most;
	if (to->many)
		pmfs_tally_done(&to->tally);
}

/* ---- a chunk ---- */

static void block_read(struct making *m, uint32_t i)
{
	struct pmfs_trace_chunk *c = &m->chunk;
	join(&m->all, &m->block, m->most);
	m->block.many |= m->spilled;
	keep(&m->arena, &c->sums, &m->block, PMFS_BLOCK, &c->blocks[i]);
	m->block.many = m->spilled = false;
	m->block.cover = nothing;
	pmfs_tally_clear(&m->block.tally);
	if (m->seen == m->n)
		keep(&m->arena, &c->sums, &m->all, PMFS_CHUNK_RECORDS, &c->all);
}

/*
 * Begins a chunk of `n` records, 0 < n <= PMFS_CHUNK_RECORDS, of that trace, which are added in
 * builds of its arena.
 */
static void making_begin(struct making *m, const struct pmfs_trace_index *t, uint64_t n)
{
	*m = (struct making){.n = n,
		.most = most_sums(t),
		.block = {.cover = nothing, .tally.arena = &m->arena},
		.all = {.cover = nothing, .tally.arena = &m->arena}};
}

static void take_some(struct making *m, const struct pm_sample *samples, size_t n)
{
	struct pmfs_tally *tally = m->spilled ? &m->all.tally : &m->block.tally;
	struct pmfs_cover cover = m->block.cover;
	bool adds = !m->spilled || !m->all.many, lent = false;
	for (size_t i = 0; i < n; i++) {
		const struct pm_sample *s = &samples[i];
		const struct pmfs_cover one = {s->time_ns, s->time_ns, pmfs_sample_end(s)};
		cover_add(&cover, &one);
		lent |= s->within != 0;
		if (adds)
			pmfs_tally_add(tally, s->context, one.end - one.first, 1);
	}
	m->block.cover = cover;
	m->block.many |= lent;
}

/* Records of many contexts are added up only once, without sums of their block. */
static void take_of_block(struct making *m, const struct pm_sample *samples, size_t n)
{
	enum { SOME = 128 };
	while (n > 0) {
		size_t some = n < SOME ? n : SOME;
		take_some(m, samples, some);
		samples += some;
		n -= some;
		if (m->spilled || m->block.tally.n <= PMFS_BLOCK / PMFS_A_SUM)
			continue;
		if (!m->all.many)
			pmfs_tally_join(&m->all.tally, &m->block.tally);
		pmfs_tally_clear(&m->block.tally);
		m->spilled = true;
	}
}

/* Adds the next records, at most as many as are missing. */
static bool making_take(void *context, const struct pm_sample *samples, size_t n)
{
	struct making *m = context;
	while (n > 0) {
		size_t room = PMFS_BLOCK - m->seen % PMFS_BLOCK;
		size_t some = n < room ? n : room;
		take_of_block(m, samples, some);
		samples += some;
		n -= some;
		m->seen += some;
		if (some == room || m->seen == m->n)
			block_read(m, (uint32_t)((m->seen - 1) / PMFS_BLOCK));
	}
	return false;
}

/* ---- levels ---- */

static void levels_make(struct pmfs_index *x, struct pmfs_trace_index *t)
{
	size_t below = chunks_of(t);
	for (t->n_levels = 0; below > 1 && t->n_levels < PMFS_LEVELS; t->n_levels++) {
		struct pmfs_level *level = &t->levels[t->n_levels];
		level->n = (below + PMFS_FANOUT - 1) / PMFS_FANOUT;
		level->nodes = pm_arena_array(&x->arena, level->n, sizeof(*level->nodes));
		for (size_t i = 0; i < level->n; i++) {
			size_t rest = below - i * PMFS_FANOUT;
			level->nodes[i].missing = rest < PMFS_FANOUT ? (uint32_t)rest : PMFS_FANOUT;
			level->nodes[i].reading =
				(struct pmfs_reading){.cover = nothing, .tally.arena = &x->arena};
		}
		below = level->n;
	}
}

/* A chunk that is complete, on its way into the index. */
struct putting {
	struct pmfs_index *x;
	struct pmfs_trace_index *trace;
	size_t i;
	const struct making *making;
};

/* Adds what is in a chunk; a node that has become complete is added to the one above it. */
static void levels_add(void *context)
{
	const struct putting *of = context;
	struct pmfs_trace_index *t = of->trace;
	uint64_t records = PMFS_CHUNK_RECORDS;
	size_t at = of->i;
	struct pmfs_node *below = NULL;
	for (unsigned k = 0; k < t->n_levels; k++) {
		struct pmfs_node *node = &t->levels[k].nodes[at /= PMFS_FANOUT];
		records *= PMFS_FANOUT;
		join(&node->reading, below ? &below->reading : &of->making->all, most_sums(t));
		if (below)
			pmfs_tally_done(&below->reading.tally);
		uint64_t there = t->n - at * records < records ? t->n - at * records : records;
		if (node->missing == 1)
			keep(&of->x->arena, &node->sums, &node->reading, there, &node->all);
		if (--node->missing > 0)
			return;
		if (node->sums.n)
			node->sums.items = pm_arena_realloc(&of->x->arena, node->sums.items,
				node->sums.n * sizeof(*node->sums.items));
		below = node;
	}
	if (below)
		pmfs_tally_done(&below->reading.tally);
}

/* Without memory, nothing is there; or, if only the levels fail, nodes above it remain unknown. */
static void put_it(void *context)
{
	struct putting *of = context;
	struct pm_arena *a = &of->x->arena;
	struct pmfs_trace_index *t = of->trace;
	if (!t->chunks) {
		struct pmfs_trace_chunk **chunks =
			pm_arena_array(a, chunks_of(t) + 1, sizeof(struct pmfs_trace_chunk *));
		levels_make(of->x, t);
		t->chunks = chunks;
	}
	if (t->chunks[of->i])
		return;
	struct pmfs_trace_chunk *c = pm_arena_alloc(a, sizeof(*c));
	*c = of->making->chunk;
	size_t bytes = c->sums.n * sizeof(*c->sums.items);
	c->sums.items = pm_arena_realloc(a, NULL, bytes + 1);
	if (bytes)
		memcpy(c->sums.items, of->making->chunk.sums.items, bytes);
	t->chunks[of->i] = c;
	pm_build(a, levels_add, of);
}

/* ---- the index ---- */

/* ---- reading records ---- */

enum { BATCH = PMFS_BLOCK };

void pmfs_records_read(struct pm_arena *a, const struct pm_profile *p, uint32_t thread,
	uint64_t first, uint64_t end,
	bool (*take)(void *context, const struct pm_sample *samples, size_t n), void *context,
	struct pm_error *err)
{
	/* Pictures look single records up. */
	size_t room = end <= first ? 1 : end - first < BATCH ? (size_t)(end - first) : BATCH;
	struct pm_sample *batch = pm_arena_realloc(a, NULL, room * sizeof(*batch));
	bool full = false;
	while (!full && first < end) {
		size_t left = end - first < room ? (size_t)(end - first) : room;
		int64_t n = p->ops->samples(p, thread, first, batch, left, err);
		pm_build_check(a, (int)n);
		pm_build_proceed(a);
		if (n == 0)
			break;
		full = take(context, batch, (size_t)n);
		first += (uint64_t)n;
	}
	pm_arena_free(a, batch);
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
	struct putting of = {x, t, i, making};
	int r = 0;
	if (making->seen == making->n) {
		pthread_mutex_lock(&x->lock);
		r = pm_build(&x->arena, put_it, &of);
		pthread_mutex_unlock(&x->lock);
		r = r < 0 ? r : 1;
	}
	pm_arena_done(&making->arena);
	return r;
}

/* ---- a trace ---- */

struct building {
	struct pmfs_index *x;
	uint32_t thread;
	struct pmfs_trace_index *trace;
	struct pm_error *err; /* NULL while several threads work */
};

struct chunk {
	struct building *of;
	uint64_t first;
	struct making making;
};

static void read_chunk(void *context)
{
	struct chunk *c = context;
	const struct building *b = c->of;
	pmfs_records_read(&c->making.arena, b->x->profile, b->thread, c->first,
		c->first + c->making.n, making_take, &c->making, b->err);
}

static int build_chunk(void *context, size_t i)
{
	struct building *b = context;
	struct chunk c = {.of = b, .first = (uint64_t)i * PMFS_CHUNK_RECORDS};
	if (has_chunk(b->x, b->trace, i))
		return 0;
	making_begin(&c.making, b->trace, records_of(b->trace, c.first));
	int r = pm_build(&c.making.arena, read_chunk, &c);
	if (r < 0) {
		pm_arena_done(&c.making.arena);
		return pm_error_plain(b->err, r);
	}
	r = put_chunk(b->x, b->trace, i, &c.making);
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

void pmfs_index_done(struct pmfs_index *x)
{
	pm_arena_done(&x->arena);
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
	const struct pm_sample *samples; /* that are taken */
	size_t n;
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
		pm_arena_done(&p->making.arena);
	else if (p->is_making)
		put_chunk(p->x, p->trace, (size_t)((p->at - 1) / PMFS_CHUNK_RECORDS), &p->making);
	p->is_making = false;
}

static void take_samples(void *piece)
{
	struct piece *p = piece;
	making_take(&p->making, p->samples, p->n);
}

/* If this fails, the chunk is made when it is needed. */
static void piece_take(void *piece, const struct pm_sample *samples, size_t n)
{
	struct piece *p = piece;
	while (n > 0 && p->at < p->trace->n) {
		uint64_t left = PMFS_CHUNK_RECORDS - p->at % PMFS_CHUNK_RECORDS;
		if (left == PMFS_CHUNK_RECORDS &&
			!has_chunk(p->x, p->trace, (size_t)(p->at / PMFS_CHUNK_RECORDS))) {
			making_begin(&p->making, p->trace, records_of(p->trace, p->at));
			p->is_making = true;
		}
		if (left > p->trace->n - p->at)
			left = p->trace->n - p->at;
		p->samples = samples;
		p->n = n < left ? n : (size_t)left;
		bool failed = p->is_making && pm_build(&p->making.arena, take_samples, p) < 0;
		p->at += p->n;
		samples += p->n;
		n -= p->n;
		if (failed || p->n == left)
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
