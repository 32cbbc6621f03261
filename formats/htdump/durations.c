/*
 * The index of the stream divides it into pieces, which are read in parallel. A reader reads one
 * piece at a time, and keeps what it has learnt about labels for the next one.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/htdump/durations.h"

/* Size of a piece, in units of the index. */
enum { PIECE = 4, PIECE_EVENTS = PIECE * HTD_CHUNK };

/* Bytes that are prefetched ahead of a reader. */
enum { AHEAD = 2048 };

struct htd_durations_reader {
	struct htd_durations_reader *next; /* idle */
	struct pm_text scratch;
	uint32_t n;
	struct htd_duration calls[PIECE_EVENTS];
	struct htd_lasting lasting[HTD_N_LASTING];
};

static bool is_wanted(const struct htd_wanted *wanted, uint64_t ns)
{
	bool is = false;
	for (size_t i = 0; i < HTD_WANTED; i++)
		is |= ns - wanted->low[i] <= wanted->width[i];
	return is;
}

static int read_call(
	const struct htd_durations *d, struct htd_durations_reader *r, const struct htd_event *e)
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
	uint32_t what = d->what[label];
	if (what != HTD_NONE && is_wanted(&d->wanted[what], duration))
		r->calls[r->n++] = (struct htd_duration){duration, what};
	return 0;
}

static int read_events(const struct htd_durations *d, struct htd_durations_reader *r,
	struct htd_walk *walk, uint64_t until)
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
static int read_checked(const struct htd_durations *d, struct htd_durations_reader *r, size_t chunk)
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

static struct htd_durations_reader *reader_get(struct htd_durations *d)
{
	pthread_mutex_lock(&d->lock);
	struct htd_durations_reader *r = d->idle;
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
	struct htd_durations *d = context;
	struct htd_durations_reader *r = reader_get(d);
	if (!r)
		return -ENOMEM;
	r->n = 0;
	int code = read_checked(d, r, i * PIECE);
	pthread_mutex_lock(&d->lock);
	if (code == 0)
		d->take(d->context, r->calls, r->n);
	r->next = d->idle;
	d->idle = r;
	pthread_mutex_unlock(&d->lock);
	return code;
}

int htd_durations_read(struct htd_durations *d)
{
	return pm_crew_each((d->c->s->n_index + PIECE - 1) / PIECE, read_piece, d);
}

/* Calls of threads beyond HTD_LIMIT_THREADS are in the stream, but not counted. */
static int list_threads(struct htd_durations *d)
{
	const struct htd_stream *s = d->c->s;
	bool fresh;
	for (size_t i = 0; i < s->n_threads && s->n_threads >= HTD_LIMIT_THREADS; i++)
		if (!pm_map_put(&d->threads, s->threads[i].number, (uint32_t)i, &fresh))
			return -ENOMEM;
	return 0;
}

int htd_durations_init(struct htd_durations *d, const struct htd_calls *c,
	void (*take)(void *context, const struct htd_duration *calls, uint32_t n), void *context)
{
	*d = (struct htd_durations){
		.c = c, .take = take, .context = context, .lock = PTHREAD_MUTEX_INITIALIZER};
	d->what = malloc((c->n_labels + 1) * sizeof(*d->what));
	for (size_t i = 0; d->what && i < c->n_labels; i++)
		d->what[i] = HTD_NONE;
	return d->what ? list_threads(d) : -ENOMEM;
}

void htd_durations_done(struct htd_durations *d)
{
	for (struct htd_durations_reader *r = d->idle, *next; r; r = next) {
		next = r->next;
		pm_text_done(&r->scratch);
		free(r);
	}
	free(d->what);
	pm_map_done(&d->threads);
	pthread_mutex_destroy(&d->lock);
}
