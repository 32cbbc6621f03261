/*
 * For each quantile of a label, narrows down the range of durations that contains it. A pass over
 * all calls, in the order of the stream, counts those in each part of the range, which gives the
 * range of the next pass. When the calls that are left fit into memory, their durations are
 * collected; those of a small stream are in the first pass. Labels are processed in batches that
 * fit into memory.
 */
#include "formats/htdump/quantiles.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/htdump/select.h"

/* Size of the pieces that are read in parallel, in units of the stream's index. */
enum { PIECE = 4, PIECE_EVENTS = PIECE * HTD_CHUNK };

static const unsigned percents[HTD_N_QUANTILES] = {
	[HTD_P50] = 50, [HTD_P90] = 90, [HTD_P95] = 95, [HTD_P99] = 99};

/* Durations from `low` to `high`, and the ranks within it that are wanted. */
struct span {
	uint64_t low, high, count;
	uint64_t rank[HTD_N_QUANTILES];  /* ascending */
	uint32_t which[HTD_N_QUANTILES]; /* the quantile of each rank */
	uint32_t n_ranks;
	bool collects;  /* durations, in this pass; else they are counted by part */
	uint64_t *room; /* during a pass: the durations, or their number in each part */
	uint64_t n;
};

struct label_spans {
	uint32_t label, n;
	struct span spans[HTD_N_QUANTILES];
};

struct finding {
	const struct htd_calls *c;
	struct htd_quantiles *q;
	size_t bytes;         /* for the durations and parts of a batch */
	uint32_t n_labels;    /* of the batch */
	pthread_mutex_t lock; /* during a pass, guards: */
	struct label_spans *labels;
	uint32_t *of_label;    /* label → its index in labels, or HTD_NONE */
	struct pm_map threads; /* with calls; empty if all threads of the stream are shown */
};

/* ---- a pass, on all processors ---- */

/* A call of a label of the batch. */
struct call {
	uint64_t ns;
	uint32_t label; /* its index there */
};

struct reader {
	struct finding *f;
	struct pm_text scratch;
	uint32_t n;
	struct call calls[PIECE_EVENTS];
	struct htd_lasting lasting[HTD_N_LASTING];
};

static int read_call(struct reader *r, const struct htd_event *e)
{
	const struct finding *f = r->f;
	uint64_t duration, thread;
	if (!htd_event_call(e, &duration, &thread) ||
		(f->threads.n && !pm_map_find(&f->threads, thread)))
		return 0;
	uint32_t label = htd_labels_find_often(&f->c->labels, r->lasting, e, &r->scratch);
	if (r->scratch.failed)
		return -ENOMEM;
	if (label >= f->c->n_labels)
		return -EIO;
	if (f->of_label[label] != HTD_NONE)
		r->calls[r->n++] = (struct call){duration, f->of_label[label]};
	return 0;
}

static int read_events(struct reader *r, struct htd_walk *walk, uint64_t until)
{
	struct htd_event e;
	int code = 0;
	while (walk->seq < until && code == 0)
		code = htd_walk_next(walk, &e) ? read_call(r, &e) : -EIO;
	return code;
}

/*
 * The bytes are checked for all events at once, before and after they are used: the file may grow
 * meanwhile.
 */
static int read_checked(struct reader *r, size_t chunk)
{
	const struct htd_stream *s = r->f->c->s;
	struct htd_stream checked = *s;
	size_t end = s->n_index - chunk < PIECE ? s->n_index : chunk + PIECE;
	uint64_t from = s->index[chunk], to = end < s->n_index ? s->index[end] : s->bytes.len;
	struct htd_walk walk;
	if (s->watch && !pm_watch_use(s->watch, s->bytes, from, to - from))
		return -EIO;
	checked.watch = NULL;
	htd_walk_start(&walk, &checked, (uint64_t)chunk * HTD_CHUNK);
	int code = read_events(r, &walk, end < s->n_index ? end * HTD_CHUNK : s->n_events);
	if (s->watch && !pm_watch_use(s->watch, s->bytes, from, to - from))
		return -EIO;
	return code;
}

static void take(struct label_spans *l, uint64_t ns)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct span *s = &l->spans[i];
		if (ns < s->low || ns > s->high)
			continue;
		if (!s->collects)
			s->room[htd_part_of(ns - s->low)]++;
		else if (s->n < s->count)
			s->room[s->n++] = ns;
	}
}

static int read_piece(void *context, size_t i)
{
	struct reader r;
	r.f = context;
	r.scratch = (struct pm_text){.failed = false};
	r.n = 0;
	htd_lasting_init(r.lasting);
	int code = read_checked(&r, i * PIECE);
	pm_text_done(&r.scratch);
	pthread_mutex_lock(&r.f->lock);
	for (uint32_t k = 0; k < r.n && code == 0; k++)
		take(&r.f->labels[r.calls[k].label], r.calls[k].ns);
	pthread_mutex_unlock(&r.f->lock);
	return code;
}

static bool all_fit(const struct finding *f)
{
	uint64_t most = f->bytes / sizeof(uint64_t);
	for (uint32_t i = 0; i < f->n_labels; i++)
		for (uint32_t k = 0; k < f->labels[i].n; k++) {
			if (f->labels[i].spans[k].count > most)
				return false;
			most -= f->labels[i].spans[k].count;
		}
	return true;
}

static int make_rooms(struct finding *f)
{
	bool all = all_fit(f);
	for (uint32_t i = 0; i < f->n_labels; i++)
		for (uint32_t k = 0; k < f->labels[i].n; k++) {
			struct span *s = &f->labels[i].spans[k];
			s->n = 0;
			s->collects = all || s->count <= HTD_PARTS;
			s->room = s->collects ? malloc((s->count + 1) * sizeof(*s->room))
					      : calloc(HTD_PARTS, sizeof(*s->room));
			if (!s->room)
				return -ENOMEM;
		}
	return 0;
}

static void free_rooms(struct finding *f)
{
	for (uint32_t i = 0; i < f->n_labels; i++)
		for (uint32_t k = 0; k < f->labels[i].n; k++) {
			free(f->labels[i].spans[k].room);
			f->labels[i].spans[k].room = NULL;
		}
}

/* ---- evaluating a pass ---- */

static int settle(struct finding *f, const struct label_spans *l, const struct span *s)
{
	uint64_t found[HTD_N_QUANTILES] = {0};
	if (s->n < s->count)
		return -EIO;
	int r = htd_select(s->room, s->n, s->rank, s->n_ranks, found);
	for (uint32_t i = 0; i < s->n_ranks && r == 0; i++)
		f->q->values[l->label][s->which[i]] = found[i];
	return r;
}

/* Adds a rank to the ranges of the next pass; if the range is a single duration, it is found. */
static void go_on(struct finding *f, struct label_spans *next, const struct span *narrow,
	uint64_t rank, uint32_t which)
{
	if (narrow->low == narrow->high) {
		f->q->values[next->label][which] = narrow->low;
		return;
	}
	struct span *last = next->n ? &next->spans[next->n - 1] : NULL;
	if (!last || last->low != narrow->low) {
		last = &next->spans[next->n++];
		*last = *narrow;
	}
	last->rank[last->n_ranks] = rank;
	last->which[last->n_ranks++] = which;
}

static int narrow(struct finding *f, struct label_spans *next, const struct span *s)
{
	uint64_t before = 0;
	uint32_t part = 0;
	for (uint32_t i = 0; i < s->n_ranks; i++) {
		while (part < HTD_PARTS && before + s->room[part] <= s->rank[i])
			before += s->room[part++];
		if (part == HTD_PARTS)
			return -EIO;
		struct span inner = {.low = s->low + htd_part_first(part), .count = s->room[part]};
		uint64_t last = htd_part_last(part);
		inner.high = s->high - s->low < last ? s->high : s->low + last;
		go_on(f, next, &inner, s->rank[i] - before, s->which[i]);
	}
	return 0;
}

/* Evaluates a pass for a label: what is known now, and the ranges for the next pass. */
static int resolve(void *context, size_t i)
{
	struct finding *f = context;
	struct label_spans *l = &f->labels[i], next = {.label = l->label};
	int r = 0;
	for (uint32_t k = 0; k < l->n && r == 0; k++)
		r = l->spans[k].collects ? settle(f, l, &l->spans[k])
					 : narrow(f, &next, &l->spans[k]);
	for (uint32_t k = 0; k < l->n; k++)
		free(l->spans[k].room);
	*l = next;
	return r;
}

/* ---- a batch ---- */

static void add_label(struct finding *f, uint32_t label)
{
	const struct htd_label_cost *cost = &f->c->by_label[label];
	struct label_spans *l = &f->labels[f->n_labels];
	struct span all = {.low = cost->min, .high = cost->max, .count = cost->calls};
	*l = (struct label_spans){.label = label};
	for (uint32_t i = 0; i < HTD_N_QUANTILES; i++) {
		unsigned __int128 share = (unsigned __int128)cost->calls * percents[i];
		uint64_t rank = (uint64_t)((share + 99) / 100);
		go_on(f, l, &all, rank ? rank - 1 : 0, i);
	}
	f->of_label[label] = f->n_labels++;
}

static bool is_open(const struct finding *f)
{
	for (uint32_t i = 0; i < f->n_labels; i++)
		if (f->labels[i].n)
			return true;
	return false;
}

static int find_batch(struct finding *f)
{
	int r = 0;
	while (r == 0 && is_open(f)) {
		r = make_rooms(f);
		if (r == 0)
			r = pm_crew_each((f->c->s->n_index + PIECE - 1) / PIECE, read_piece, f);
		if (r == 0)
			r = pm_crew_each(f->n_labels, resolve, f);
	}
	free_rooms(f);
	for (uint32_t i = 0; i < f->n_labels; i++)
		f->of_label[f->labels[i].label] = HTD_NONE;
	f->n_labels = 0;
	return r;
}

static int find_all(struct finding *f)
{
	size_t bytes = 0;
	int r = 0;
	for (size_t i = 0; i < f->c->n_ranked && r == 0; i++) {
		uint32_t label = f->c->ranked[i];
		uint64_t calls = f->c->by_label[label].calls, most = HTD_N_QUANTILES * HTD_PARTS;
		if (bytes > f->bytes) {
			r = find_batch(f);
			bytes = 0;
		}
		/* A range takes one number for each call or each part: see make_rooms. */
		bytes += (calls < most ? calls : most) * sizeof(uint64_t);
		bytes += sizeof(struct label_spans);
		add_label(f, label);
	}
	return r < 0 ? r : find_batch(f);
}

static int failed(int r, struct pm_error *err)
{
	return pm_error_set(err, r, NULL, PM_NO_OFFSET,
		r == -EIO ? "the source has changed" : "no memory for percentiles");
}

/* A label is a function. */
static void list_times(struct htd_quantiles *q, const struct htd_calls *c)
{
	for (size_t i = 0; i < c->n_ranked; i++) {
		const struct htd_label_cost *label = &c->by_label[c->ranked[i]];
		const uint64_t *values = q->values[c->ranked[i]];
		q->times[c->tree->frames[label->frame].function] =
			(struct pm_call_times){.known = true,
				.p50_ns = values[HTD_P50],
				.p90_ns = values[HTD_P90],
				.p99_ns = values[HTD_P99],
				.max_ns = label->max};
	}
}

/* Calls of threads beyond HTD_LIMIT_THREADS are in the stream, but not counted. */
static int list_threads(struct finding *f)
{
	const struct htd_stream *s = f->c->s;
	bool fresh;
	for (size_t i = 0; i < s->n_threads && s->n_threads >= HTD_LIMIT_THREADS; i++)
		if (!pm_map_put(&f->threads, s->threads[i].number, (uint32_t)i, &fresh))
			return -ENOMEM;
	return 0;
}

int htd_quantiles_build(
	struct htd_quantiles *q, const struct htd_calls *c, size_t bytes, struct pm_error *err)
{
	struct finding f = {.c = c, .q = q, .bytes = bytes, .lock = PTHREAD_MUTEX_INITIALIZER};
	q->values = calloc(c->n_labels + 1, sizeof(*q->values));
	q->times = calloc((size_t)c->tree->n_functions + 1, sizeof(*q->times));
	f.labels = calloc(c->n_ranked + 1, sizeof(*f.labels));
	f.of_label = malloc((c->n_labels + 1) * sizeof(*f.of_label));
	int r = q->values && q->times && f.labels && f.of_label ? list_threads(&f) : -ENOMEM;
	for (size_t i = 0; r == 0 && i < c->n_labels; i++)
		f.of_label[i] = HTD_NONE;
	if (r == 0)
		r = find_all(&f);
	if (r == 0)
		list_times(q, c);
	free(f.labels);
	free(f.of_label);
	pm_map_done(&f.threads);
	pthread_mutex_destroy(&f.lock);
	if (r < 0)
		htd_quantiles_done(q);
	return r < 0 ? failed(r, err) : 0;
}

void htd_quantiles_done(struct htd_quantiles *q)
{
	free(q->values);
	free(q->times);
	*q = (struct htd_quantiles){.values = NULL};
}
