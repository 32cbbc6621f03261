/*
 * Builds the index: a chunk is read from its first record to its last. Long traces are indexed by
 * all processors together, short ones in parallel.
 */
#include "fs/windows/index.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "fs/windows/chunk.h"

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
		r = pm_work_cancelled() ? -ENOMEM : take(context, batch, (size_t)n);
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
	struct pmfs_index *x, struct pmfs_trace_index *t, size_t i, struct pmfs_making *making)
{
	struct pmfs_trace_chunk *c = pmfs_making_end(making);
	int r = c != NULL;
	pthread_mutex_lock(&x->lock);
	if (c && !t->chunks) {
		t->chunks = calloc(pmfs_chunks_of(t) + 1, sizeof(struct pmfs_trace_chunk *));
		if (t->chunks && pmfs_levels_make(t) < 0) {
			free(t->chunks);
			t->chunks = NULL;
		}
	}
	if (c && !t->chunks)
		r = -ENOMEM;
	if (r > 0 && !t->chunks[i]) {
		t->chunks[i] = c;
		c = NULL;
		pmfs_levels_add(t, i, &making->all);
	}
	pthread_mutex_unlock(&x->lock);
	pmfs_trace_chunk_free(c);
	pmfs_making_done(making);
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
	return pmfs_making_take(context, samples, n);
}

static int build_chunk(void *context, size_t i)
{
	struct building *b = context;
	uint64_t first = (uint64_t)i * PMFS_CHUNK_RECORDS, n = records_of(b->trace, first);
	struct pmfs_making making;
	if (has_chunk(b->x, b->trace, i))
		return 0;
	int r = pmfs_making_begin(&making, b->trace, n);
	if (r == 0)
		r = pmfs_records_read(
			b->x->profile, b->thread, first, first + n, take, &making, b->err);
	if (r < 0) {
		pmfs_making_done(&making);
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
	size_t n = pmfs_chunks_of(b->trace);
	int r = n > 1 ? pm_crew_each(n, build_chunk, b) : try_empty(b, err);
	b->err = err;
	if (n == 1 || (r < 0 && r != -ENOMEM)) /* again, to get the reason */
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
	return r == -ENOMEM ? r : 0;
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
	for (size_t i = 0; t->chunks && i < pmfs_chunks_of(t); i++)
		pmfs_trace_chunk_free(t->chunks[i]);
	free(t->chunks);
	pmfs_levels_done(t);
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
	struct pmfs_making making;
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
		pmfs_making_done(&p->making);
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
			p->is_making = pmfs_making_begin(&p->making, p->trace,
					       records_of(p->trace, p->at)) == 0;
		if (left > p->trace->n - p->at)
			left = p->trace->n - p->at;
		size_t some = n < left ? n : (size_t)left;
		bool failed = p->is_making && pmfs_making_take(&p->making, samples, some) < 0;
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
