/*
 * Reads traces at evenly spaced points in time. A cell has the context that ran in the middle
 * between two points. In a trace of samples that is the last sample before it, found by stepping
 * or, across many samples, by binary search. Samples that are too short for that are shown in cells
 * that are otherwise empty. Independent of functions.
 */
#include "fs/views/pictures/timeline.h"

#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/views/model/parts.h"

enum { N = PMFS_TIMELINE_POINTS, BATCH = 128 };

/* A window on the samples of one thread. */
struct reader {
	struct pm_arena *a;
	struct pm_error *err;
	const struct pm_profile *profile;
	uint32_t thread;
	uint64_t n; /* samples in all */
	uint64_t first;
	uint32_t n_batch;
	struct pm_sample batch[BATCH];
};

static uint64_t time_between(const struct pmfs_timeline *t, uint64_t part, uint64_t of)
{
	return t->begin + (uint64_t)((unsigned __int128)(t->end - t->begin) * part / of);
}

uint64_t pmfs_timeline_time(const struct pmfs_timeline *t, uint32_t point)
{
	return time_between(t, point, N);
}

/* When a sample is known to be over, or PM_NO_TIME. */
static uint64_t end_of(const struct pm_sample *s)
{
	uint64_t end;
	if (s->duration_ns == PM_NO_TIME ||
		__builtin_add_overflow(s->time_ns, s->duration_ns, &end))
		return PM_NO_TIME;
	return end;
}

/* ---- samples ---- */

/* The batch that begins at sample `first`; a trace that ends early has fewer samples. */
static void load(struct reader *r, uint64_t first, uint32_t room)
{
	pm_build_proceed(r->a);
	int64_t n = r->profile->ops->samples(r->profile, r->thread, first, r->batch, room, r->err);
	pm_build_check(r->a, n < 0 ? (int)n : 0);
	r->first = first;
	r->n_batch = (uint32_t)n;
	for (uint32_t i = 0; i < r->n_batch && r->profile->samples_are_weighed; i++)
		r->batch[i].duration_ns = r->batch[i].drawn_ns;
}

/*
 * Leaves the batch that holds the last sample not after `time`, which is known to be at or beyond
 * the batch's first, and some samples on either side of it.
 */
static void seek(struct reader *r, uint64_t time)
{
	uint64_t low = r->first, high = r->n; /* of low it is known that it is not after `time` */
	if (r->n_batch == 0 || r->batch[r->n_batch - 1].time_ns > time)
		return;
	low += r->n_batch - 1;
	for (uint64_t step = 1; high - low > 1; step *= 2) {
		uint64_t middle = step < (high - low) / 2 ? low + step : low + (high - low) / 2;
		load(r, middle, 1);
		if (r->n_batch && r->batch[0].time_ns <= time)
			low = middle;
		else
			high = middle;
	}
	load(r, low < BATCH / 2 ? 0 : low - BATCH / 2, BATCH);
}

/* The last sample of the batch that is not after `time`, or NULL. */
static const struct pm_sample *last_before(const struct reader *r, uint64_t time)
{
	uint32_t next = PM_LOWER_BOUND(i, 0, r->n_batch, r->batch[i].time_ns <= time);
	return next ? &r->batch[next - 1] : NULL;
}

/* What ran within a cell, if nothing ran in its middle; PM_NONE: nothing. */
static uint32_t brief_context(const struct reader *r, const struct pmfs_timeline *t, uint32_t cell)
{
	uint64_t begin = pmfs_timeline_time(t, cell), end = pmfs_timeline_time(t, cell + 1);
	uint32_t found = PM_NONE;
	for (uint32_t i = 0; i < r->n_batch && found == PM_NONE; i++) {
		const struct pm_sample *s = &r->batch[i];
		if (s->time_ns >= begin && s->time_ns < end && s->duration_ns != PM_NO_TIME)
			found = pm_tree_find_sample(t->tree, s->context);
	}
	return found;
}

static void read_samples(struct reader *r, const struct pmfs_timeline *t, uint32_t row)
{
	uint32_t *cells = t->context + (size_t)row * N;
	load(r, 0, BATCH);
	for (uint32_t i = 0; i < N; i++) {
		uint64_t time = t->middle[i];
		seek(r, time);
		const struct pm_sample *s = last_before(r, time);
		if (s && s->duration_ns != PM_NO_TIME && end_of(s) > time)
			cells[i] = pm_tree_find_sample(t->tree, s->context);
		if (cells[i] != PM_NONE)
			continue;
		cells[i] = brief_context(r, t, i);
		t->brief[(size_t)row * N + i] = true;
	}
}

/* ---- calls ---- */

/* The first cell whose middle is not before `time`. */
static uint32_t first_cell(const struct pmfs_timeline *t, uint64_t time)
{
	return PM_LOWER_BOUND(i, 0, (uint32_t)N, t->middle[i] < time);
}

/* The cell that contains a time. */
static uint32_t cell_of(const struct pmfs_timeline *t, uint64_t time)
{
	uint32_t next = first_cell(t, time); /* time is in its first half, or before it */
	return next == N || (next > 0 && time < pmfs_timeline_time(t, next)) ? next - 1 : next;
}

/* A slice within another one comes after it, and is painted over it. */
static void paint_call(const struct pmfs_timeline *t, uint32_t row, const struct pm_sample *call)
{
	uint32_t *cells = t->context + (size_t)row * N,
		 context = pm_tree_find_sample(t->tree, call->context);
	bool *brief = t->brief + (size_t)row * N;
	uint64_t end = end_of(call);
	uint32_t i = first_cell(t, call->time_ns);
	if ((call->time_ns < t->begin && end <= t->begin) || call->time_ns > t->end ||
		(call->time_ns == t->end && !t->is_last))
		return; /* in another part of the run */
	if (i == N || t->middle[i] >= end) {
		i = cell_of(t, call->time_ns);
		brief[i] |= cells[i] == PM_NONE;
		if (cells[i] == PM_NONE && t->seq)
			t->seq[i] = call->seq;
		if (cells[i] == PM_NONE)
			cells[i] = context;
		return;
	}
	for (; i < N && t->middle[i] < end; i++) {
		cells[i] = context;
		brief[i] = false;
		if (t->seq)
			t->seq[i] = call->seq;
	}
}

static void read_calls(struct reader *r, const struct pmfs_timeline *t, uint32_t row)
{
	r->n_batch = 1;
	for (uint64_t at = 0; at < r->n && r->n_batch > 0; at += r->n_batch) {
		load(r, at, BATCH);
		for (uint32_t k = 0; k < r->n_batch; k++)
			paint_call(t, row, &r->batch[k]);
	}
}

/* ---- rows ---- */

static int compare_threads(const void *a, const void *b, void *threads)
{
	const struct pm_thread *all = threads;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	for (uint32_t i = 0; i < all[x].n_identity && i < all[y].n_identity; i++) {
		const struct pm_identity *p = &all[x].identity[i], *q = &all[y].identity[i];
		if (p->key != q->key)
			return p->key < q->key ? -1 : 1;
		if (p->value != q->value)
			return p->value < q->value ? -1 : 1;
	}
	if (all[x].n_identity != all[y].n_identity)
		return all[x].n_identity < all[y].n_identity ? -1 : 1;
	return (x > y) - (x < y);
}

/* All threads with samples, or of them one (PM_NONE: all), in the order of their identities. */
struct whole {
	uint32_t *thread, n;
	uint64_t begin, end; /* what they cover */
};

static void list_threads(
	struct pm_arena *a, const struct pm_threads *threads, uint32_t only, struct whole *ret)
{
	ret->thread = pm_arena_array(a, threads->n, sizeof(*ret->thread));
	for (uint32_t i = 0; i < threads->n; i++)
		if ((only == PM_NONE || only == i) && threads->threads[i].n_samples > 0)
			ret->thread[ret->n++] = i;
	pm_build_check(a,
		pm_sort_with(ret->thread, ret->n, sizeof(*ret->thread), compare_threads,
			(void *)(uintptr_t)threads->threads));
}

static struct reader reader_of(struct pm_arena *a, const struct pm_profile *profile,
	const struct pm_threads *threads, uint32_t thread, struct pm_error *err)
{
	struct reader r;
	r.a = a;
	r.err = err;
	r.profile = profile;
	r.thread = thread;
	r.n = threads->threads[thread].n_samples;
	r.first = r.n_batch = 0;
	return r;
}

/* Widens begin … end to what the first and the last sample of a thread cover. */
static void include(struct whole *w, struct reader *r)
{
	load(r, 0, 1);
	if (r->n_batch == 0)
		return;
	if (r->batch[0].time_ns < w->begin)
		w->begin = r->batch[0].time_ns;
	load(r, r->n - 1, 1);
	if (r->n_batch == 0)
		return;
	uint64_t last = end_of(&r->batch[0]);
	if (last == PM_NO_TIME)
		last = r->batch[0].time_ns;
	if (last > w->end)
		w->end = last;
}

/*
 * What the threads cover: from the first to the last sample, or to the end of the last call where
 * the format knows it.
 */
static void find_span(struct pm_arena *a, const struct pm_profile *p,
	const struct pm_threads *threads, struct whole *w, struct pm_error *err)
{
	if (p->window) { /* all of it, whatever was traced when */
		w->begin = p->window->start_ns;
		w->end = p->window->end_ns;
		return;
	}
	w->begin = UINT64_MAX;
	w->end = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		struct reader r = reader_of(a, p, threads, w->thread[i], err);
		struct pm_thread_counts counts = {.last_ns = 0};
		include(w, &r);
		if (p->ops->thread_counts)
			pm_build_check(a, p->ops->thread_counts(p, w->thread[i], &counts, err));
		if (counts.last_ns > w->end)
			w->end = counts.last_ns;
	}
	if (w->begin > w->end)
		w->begin = w->end;
}

/* Parts of the timeline are asked for one by one, some threads each, and begin with all of this. */
static void whole_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	const struct pm_threads *threads;
	pm_build_check(a, pmfs_model_threads(owner, &threads, err));
	list_threads(a, threads, PM_NONE, part);
	find_span(a, pmfs_model_profile(owner), threads, part, err);
}

/* The rows and times of a part of the whole. Times are those of all threads, whichever are shown.
 */
static void lay_out_part(struct pm_arena *a, struct pmfs_timeline *t, struct pmfs_model *m,
	const struct pmfs_timeline_part *part, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct whole), .what = "the times of traces", .build = whole_build};
	const struct whole *w;
	pm_build_check(a, pmfs_model_part(m, PMFS_PART_TIMELINE, &type, &w, err));
	uint32_t first = part->first_row < w->n ? part->first_row : w->n, most = part->n_rows;
	if (part->one) {
		for (first = 0; first < w->n && w->thread[first] != part->only;)
			first++;
		most = 1;
	}
	t->n_threads = w->n;
	t->n_rows = w->n - first < most ? w->n - first : most;
	t->thread = w->thread + first;
	struct pmfs_timeline all = {.begin = w->begin, .end = w->end};
	uint64_t parts = UINT64_C(1) << part->level, next = part->part + UINT64_C(1);
	t->is_last = next == parts;
	t->begin = time_between(&all, part->part, parts);
	t->end = time_between(&all, next, parts);
}

/*
 * The same for the whole, or for one thread of it: the times are those of the rows, every n-th
 * thread if there are too many. A thread's trace without samples may be one that cannot be read.
 */
static void lay_out_rows(struct pm_arena *a, struct pmfs_timeline *t, const struct pm_profile *p,
	const struct pm_threads *threads, uint32_t thread, struct pm_error *err)
{
	struct whole w = {.n = 0};
	t->is_last = true;
	list_threads(a, threads, thread, &w);
	if (thread != PM_NONE && w.n == 0 && threads->threads[thread].has_trace) {
		struct reader r = reader_of(a, p, threads, thread, err);
		load(&r, 0, 1);
	}
	t->n_threads = w.n;
	uint32_t step = (w.n + PMFS_TIMELINE_ROWS - 1) / PMFS_TIMELINE_ROWS;
	for (uint32_t i = 0; i < w.n; i += step)
		w.thread[t->n_rows++] = w.thread[i];
	w.n = t->n_rows;
	find_span(a, p, threads, &w, err);
	t->thread = w.thread;
	t->begin = w.begin;
	t->end = w.end;
}

static struct pmfs_timeline *read_timeline(struct pm_arena *a, struct pmfs_model *m,
	uint32_t thread, const struct pmfs_timeline_part *part, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pmfs_timeline *t = pm_arena_alloc(a, sizeof(*t));
	const struct pm_threads *threads;
	pm_build_check(a, pmfs_model_threads(m, &threads, err));
	pm_build_check(a, pmfs_model_tree(m, &t->tree, err));
	if (part)
		lay_out_part(a, t, m, part, err);
	else
		lay_out_rows(a, t, p, threads, thread, err);
	for (uint32_t i = 0; i < N; i++)
		t->middle[i] = time_between(t, 2 * i + 1, 2 * N);
	size_t n_cells = (size_t)t->n_rows * N;
	t->context = pm_arena_array(a, n_cells, sizeof(*t->context));
	t->brief = pm_arena_array(a, n_cells, sizeof(*t->brief));
	if (part && part->one && p->traces_are_calls)
		t->seq = pm_arena_array(a, N, sizeof(*t->seq)); /* there is one row at most */
	for (size_t i = 0; i < n_cells; i++)
		t->context[i] = PM_NONE;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		struct reader r = reader_of(a, p, threads, t->thread[i], err);
		(p->traces_are_calls ? read_calls : read_samples)(&r, t, i);
	}
	return t;
}

struct pmfs_timeline *pmfs_timeline_read(
	struct pm_arena *a, struct pmfs_model *m, uint32_t thread, struct pm_error *err)
{
	return read_timeline(a, m, thread, NULL, err);
}

struct pmfs_timeline *pmfs_timeline_read_part(struct pm_arena *a, struct pmfs_model *m,
	const struct pmfs_timeline_part *part, struct pm_error *err)
{
	return read_timeline(a, m, PM_NONE, part, err);
}
