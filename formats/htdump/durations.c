/*
 * The index of the stream divides it into pieces, which are read in parallel. A reader reads one
 * piece at a time, and keeps what it has learnt about labels for the next one.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "formats/common/crew.h"

/* Size of a piece, in units of the index. */
enum { PIECE = 4, PIECE_EVENTS = PIECE * HTD_CHUNK };

/* Bytes that are prefetched ahead of a reader. */
enum { AHEAD = 2048 };

struct reader {
	struct reader *next; /* idle */
	struct pm_text scratch;
	uint32_t n;
	struct pm_duration calls[PIECE_EVENTS];
	struct htd_lasting lasting[HTD_N_LASTING];
};

/* A pass over the stream. */
struct reading {
	const struct htd_calls *c;
	struct pm_map threads; /* with calls; empty if all threads of the stream are shown */
	pthread_mutex_t lock;  /* guards: */
	struct pm_durations *found;
	struct reader *idle;
};

static int read_call(const struct reading *d, struct reader *r, const struct htd_event *e)
{
	uint64_t duration, thread;
	if (!htd_event_call(e, &duration, &thread) ||
		(d->threads.n && !pm_map_find(&d->threads, thread)))
		return 0;
	uint32_t label = htd_labels_find_often(&d->c->labels, r->lasting, e, &r->scratch);
	if (r->scratch.failed)
		return -ENOMEM;
	if (label >= d->c->n_labels)
		return -EIO;
	if (pm_durations_want(d->found, label, duration))
		r->calls[r->n++] = (struct pm_duration){duration, label};
	return 0;
}

static int read_events(
	const struct reading *d, struct reader *r, struct htd_walk *walk, uint64_t until)
{
	struct htd_event e;
	int code = 0;
	while (walk->seq < until && code == 0) {
		pm_bytes_prefetch(walk->s->bytes, walk->at + AHEAD, 1);
		code = htd_walk_next(walk, &e) ? read_call(d, r, &e) : -EIO;
	}
	return code;
}

/*
 * The bytes are checked for all events at once, before and after they are used: the file may grow
 * meanwhile.
 */
static int read_checked(const struct reading *d, struct reader *r, size_t chunk)
{
	const struct htd_stream *s = d->c->s;
	struct htd_stream checked = *s;
	size_t end = s->n_index - chunk < PIECE ? s->n_index : chunk + PIECE;
	uint64_t from = s->index[chunk], to = end < s->n_index ? s->index[end] : s->bytes.len;
	struct htd_walk walk;
	if (s->watch && !pm_watch_use(s->watch, s->bytes, from, to - from))
		return -EIO;
	checked.watch = NULL;
	htd_walk_start(&walk, &checked, (uint64_t)chunk * HTD_CHUNK);
	int code = read_events(d, r, &walk, end < s->n_index ? end * HTD_CHUNK : s->n_events);
	if (s->watch && !pm_watch_use(s->watch, s->bytes, from, to - from))
		return -EIO;
	return code;
}

static struct reader *reader_get(struct reading *d)
{
	pthread_mutex_lock(&d->lock);
	struct reader *r = d->idle;
	if (r)
		d->idle = r->next;
	pthread_mutex_unlock(&d->lock);
	if (r || !(r = malloc(sizeof(*r))))
		return r;
	r->scratch = (struct pm_text){.failed = false};
	htd_lasting_init(r->lasting);
	return r;
}

static int read_piece(void *context, size_t i)
{
	struct reading *d = context;
	struct reader *r = reader_get(d);
	if (!r)
		return -ENOMEM;
	r->n = 0;
	int code = read_checked(d, r, i * PIECE);
	pthread_mutex_lock(&d->lock);
	if (code == 0)
		code = pm_durations_add_all(d->found, r->calls, r->n);
	r->next = d->idle;
	d->idle = r;
	pthread_mutex_unlock(&d->lock);
	return code;
}

/* Adds the durations of all calls by label: a pm_pass. -EIO if the file has changed. */
static int read_all(void *context, struct pm_durations *ret)
{
	const struct htd_percentiles *percentiles = context;
	const struct htd_stream *s = percentiles->calls->s;
	struct reading d = {
		.c = percentiles->calls, .lock = PTHREAD_MUTEX_INITIALIZER, .found = ret};
	bool fresh;
	int r = 0;
	/* Calls of threads beyond HTD_LIMIT_THREADS are in the stream, but not counted. */
	for (size_t i = 0; r == 0 && i < s->n_threads && s->n_threads >= HTD_LIMIT_THREADS; i++)
		if (!pm_map_put(&d.threads, s->threads[i].number, (uint32_t)i, &fresh))
			r = -ENOMEM;
	if (r == 0)
		r = pm_crew_each((s->n_index + PIECE - 1) / PIECE, read_piece, &d);
	for (struct reader *one = d.idle, *next; one; one = next) {
		next = one->next;
		pm_text_done(&one->scratch);
		free(one);
	}
	pm_map_done(&d.threads);
	pthread_mutex_destroy(&d.lock);
	return r;
}

/* Those of labels that calls have, by function as well. */
void htd_percentiles_find(struct pm_arena *a, struct htd_percentiles *ret,
	const struct htd_calls *c, struct pm_error *err)
{
	ret->calls = c;
	ret->of_label = pm_arena_array(a, c->n_labels, sizeof(*ret->of_label));
	ret->of_function = pm_arena_array(a, c->tree->n_functions, sizeof(*ret->of_function));
	/* They were counted with the calls, but are used up if this was cancelled before. */
	int r = c->durations->n ? 0 : read_all(ret, c->durations);
	if (r == 0)
		r = pm_percentiles(
			c->durations, ret->of_label, (uint32_t)c->n_labels, read_all, ret);
	if (r == -EIO)
		pm_error_set(err, r, NULL, PM_NO_OFFSET, "the source has changed");
	pm_build_check(a, r);
	for (size_t i = 0; i < c->n_ranked; i++) {
		struct pm_call_times *found = &ret->of_label[c->ranked[i]];
		uint32_t frame = c->by_label[c->ranked[i]].frame;
		found->known = true; /* this format knows the durations of all calls */
		ret->of_function[c->tree->frames[frame].function] = *found;
	}
}
