/*
 * For each quantile of a label, narrows down the range of durations that contains it. A pass over
 * all calls counts those in each part of the range, which gives the part for the next pass. When a
 * range contains few calls, they are collected and sorted. Labels are processed in batches that fit
 * into BATCH_BYTES.
 */
#include "formats/htdump/quantiles.h"

#include <errno.h>
#include <stdlib.h>

#define BATCH_BYTES ((size_t)64 << 20)

enum { PARTS = 4096 };

static const unsigned percents[HTD_N_QUANTILES] = {
	[HTD_P50] = 50, [HTD_P90] = 90, [HTD_P95] = 95, [HTD_P99] = 99};

/* Durations from `low` to `high`, and the ranks within it that are wanted. */
struct span {
	uint64_t low, high, count;
	uint64_t rank[HTD_N_QUANTILES];
	uint32_t which[HTD_N_QUANTILES]; /* the quantile of each rank */
	uint32_t n_ranks;
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
	struct label_spans *labels; /* of the batch */
	uint32_t n_labels;
	uint32_t *of_frame; /* frame of the tree → its index in labels, or HTD_NONE */
	struct htd_segment *segment;
};

static bool is_kept(const struct span *s)
{
	return s->count <= PARTS;
}

static uint64_t part_width(const struct span *s)
{
	return (s->high - s->low) / PARTS + 1;
}

/* ---- a pass ---- */

static void take(struct label_spans *l, uint64_t ns)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct span *s = &l->spans[i];
		if (ns < s->low || ns > s->high)
			continue;
		if (!is_kept(s))
			s->room[(ns - s->low) / part_width(s)]++;
		else if (s->n < s->count)
			s->room[s->n++] = ns;
	}
}

static int read_lane(struct finding *f, uint32_t lane, struct pm_error *err)
{
	const struct pm_tree *tree = f->c->tree;
	uint64_t n = f->c->s->threads[lane].calls.n_events;
	struct htd_segment *seg = f->segment;
	seg->lane = lane;
	for (seg->mark = 0; seg->mark * HTD_MARK < n; seg->mark++) {
		int r = htd_segment_read(f->c, seg, err);
		if (r < 0)
			return r;
		for (uint32_t i = 0; i < seg->n; i++) {
			const struct pm_sample *call = &seg->samples[i];
			uint32_t context = pm_tree_find(tree, call->context);
			uint32_t at =
				context == PM_NONE ? HTD_NONE : f->of_frame[tree->frame[context]];
			if (at != HTD_NONE)
				take(&f->labels[at], call->duration_ns);
		}
	}
	return 0;
}

static int make_rooms(struct finding *f)
{
	for (uint32_t i = 0; i < f->n_labels; i++)
		for (uint32_t k = 0; k < f->labels[i].n; k++) {
			struct span *s = &f->labels[i].spans[k];
			s->n = 0;
			s->room = calloc(is_kept(s) ? s->count + 1 : PARTS, sizeof(*s->room));
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

/* ---- what a pass tells ---- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void settle(struct finding *f, const struct label_spans *l, const struct span *s)
{
	qsort(s->room, s->n, sizeof(*s->room), by_value);
	for (uint32_t i = 0; i < s->n_ranks && s->rank[i] < s->n; i++)
		f->q->values[l->label][s->which[i]] = s->room[s->rank[i]];
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

static void narrow(struct finding *f, struct label_spans *next, const struct span *s)
{
	uint64_t before = 0, width = part_width(s);
	uint32_t part = 0;
	for (uint32_t i = 0; i < s->n_ranks; i++) { /* ranks are ascending */
		while (part + 1 < PARTS && before + s->room[part] <= s->rank[i])
			before += s->room[part++];
		struct span inner = {.low = s->low + part * width, .count = s->room[part]};
		inner.high = s->high - inner.low < width ? s->high : inner.low + width - 1;
		go_on(f, next, &inner, s->rank[i] - before, s->which[i]);
	}
}

static bool resolve(struct finding *f)
{
	bool open = false;
	for (uint32_t i = 0; i < f->n_labels; i++) {
		struct label_spans *l = &f->labels[i], next = {.label = l->label};
		for (uint32_t k = 0; k < l->n; k++) {
			if (is_kept(&l->spans[k]))
				settle(f, l, &l->spans[k]);
			else
				narrow(f, &next, &l->spans[k]);
			free(l->spans[k].room);
		}
		*l = next;
		open |= next.n > 0;
	}
	return open;
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
	f->of_frame[cost->frame] = f->n_labels++;
}

static int find_batch(struct finding *f, struct pm_error *err)
{
	bool open = false;
	int r = 0;
	for (uint32_t i = 0; i < f->n_labels; i++)
		open |= f->labels[i].n > 0;
	while (open && r == 0) {
		r = make_rooms(f) < 0 ? pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory")
				      : 0;
		for (uint32_t i = 0; i < f->c->s->n_threads && r == 0; i++)
			r = read_lane(f, i, err);
		if (r == 0)
			open = resolve(f);
	}
	free_rooms(f);
	for (uint32_t i = 0; i < f->n_labels; i++)
		f->of_frame[f->c->by_label[f->labels[i].label].frame] = HTD_NONE;
	f->n_labels = 0;
	return r;
}

static int find_all(struct finding *f, struct pm_error *err)
{
	size_t bytes = 0;
	int r = 0;
	for (size_t i = 0; i < f->c->n_ranked && r == 0; i++) {
		uint32_t label = f->c->ranked[i];
		uint64_t calls = f->c->by_label[label].calls;
		if (bytes > BATCH_BYTES) {
			r = find_batch(f, err);
			bytes = 0;
		}
		bytes += (calls < PARTS ? calls : HTD_N_QUANTILES * PARTS) * sizeof(uint64_t);
		bytes += sizeof(struct label_spans);
		add_label(f, label);
	}
	return r < 0 ? r : find_batch(f, err);
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

int htd_quantiles_build(struct htd_quantiles *q, const struct htd_calls *c, struct pm_error *err)
{
	struct finding f = {.c = c, .q = q};
	size_t n_frames = c->tree->n_frames;
	q->values = calloc(c->n_labels + 1, sizeof(*q->values));
	q->times = calloc((size_t)c->tree->n_functions + 1, sizeof(*q->times));
	f.labels = calloc(c->n_ranked + 1, sizeof(*f.labels));
	f.of_frame = malloc((n_frames + 1) * sizeof(*f.of_frame));
	f.segment = malloc(sizeof(*f.segment));
	int r = q->values && q->times && f.labels && f.of_frame && f.segment
		? 0
		: pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
	for (size_t i = 0; r == 0 && i < n_frames; i++)
		f.of_frame[i] = HTD_NONE;
	if (r == 0)
		r = find_all(&f, err);
	if (r == 0)
		list_times(q, c);
	free(f.labels);
	free(f.of_frame);
	free(f.segment);
	if (r < 0)
		htd_quantiles_done(q);
	return r;
}

void htd_quantiles_done(struct htd_quantiles *q)
{
	free(q->values);
	free(q->times);
	*q = (struct htd_quantiles){.values = NULL};
}
