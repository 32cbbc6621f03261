/*
 * For each quantile of a label, narrows down the range of durations that contains it. The first
 * range comes from the spreads that were counted while the tree was built, and is often a single
 * duration. A pass over all calls, in the order of the stream, collects the durations in ranges
 * with few calls; where there are too many, it counts them by part of the range, which gives the
 * range of the next pass. Labels are processed in batches, and a pass takes as many labels of the
 * batch as fit into memory.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/htdump/durations.h"
#include "formats/htdump/select.h"

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
	bool chosen; /* for the current pass */
	struct span spans[HTD_N_QUANTILES];
};

struct finding {
	const struct htd_calls *c;
	struct htd_quantiles *q;
	size_t bytes;      /* for the durations and parts of a pass */
	uint32_t n_labels; /* of the batch */
	struct label_spans *labels;
	struct htd_wanted *wanted;  /* the ranges of each label, in this pass */
	struct htd_durations calls; /* of a label: its index in labels */
};

/* ---- a pass ---- */

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

static void take_all(void *context, const struct htd_duration *calls, uint32_t n)
{
	struct finding *f = context;
	for (uint32_t i = 0; i < n; i++)
		take(&f->labels[calls[i].what], calls[i].ns);
}

/* ---- memory of a pass ---- */

/* Of a label, if durations are collected in ranges of up to `most` calls; at least HTD_PARTS. */
static uint64_t label_needs(const struct label_spans *l, uint64_t most)
{
	uint64_t numbers = 0;
	for (uint32_t k = 0; k < l->n; k++)
		numbers += l->spans[k].count <= most ? l->spans[k].count : HTD_PARTS;
	return numbers * sizeof(uint64_t);
}

static uint64_t pass_needs(const struct finding *f, uint64_t most)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < f->n_labels; i++)
		bytes += f->labels[i].chosen ? label_needs(&f->labels[i], most) : 0;
	return bytes;
}

_Static_assert((int)HTD_WANTED >= (int)HTD_N_QUANTILES, "a range for each quantile");

static void want(struct htd_wanted *ret, const struct label_spans *l)
{
	for (uint32_t i = 0; i < HTD_WANTED; i++) {
		const struct span *s = &l->spans[i < l->n ? i : 0];
		ret->low[i] = s->low;
		ret->width[i] = s->high - s->low;
	}
}

/* The labels of the next pass: one, and as many as fit. */
static void choose(struct finding *f)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < f->n_labels; i++) {
		struct label_spans *l = &f->labels[i];
		uint64_t more = label_needs(l, HTD_PARTS);
		l->chosen = l->n && (bytes == 0 || bytes + more <= f->bytes);
		bytes += l->chosen ? more : 0;
		if (l->chosen)
			want(&f->wanted[i], l);
		f->calls.what[l->label] = l->chosen ? i : HTD_NONE;
	}
}

/* Ranges of up to so many calls are collected: as many as fit, in powers of two. */
static uint64_t most_collected(const struct finding *f)
{
	uint64_t most = HTD_PARTS;
	if (pass_needs(f, UINT64_MAX) <= f->bytes)
		return UINT64_MAX;
	while (pass_needs(f, 2 * most) <= f->bytes)
		most *= 2;
	return most;
}

static int make_rooms(struct finding *f)
{
	uint64_t most = most_collected(f);
	for (uint32_t i = 0; i < f->n_labels; i++)
		for (uint32_t k = 0; k < f->labels[i].n && f->labels[i].chosen; k++) {
			struct span *s = &f->labels[i].spans[k];
			s->n = 0;
			s->collects = s->count <= most;
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
	if (!l->chosen)
		return 0;
	for (uint32_t k = 0; k < l->n && r == 0; k++)
		r = l->spans[k].collects ? settle(f, l, &l->spans[k])
					 : narrow(f, &next, &l->spans[k]);
	for (uint32_t k = 0; k < l->n; k++)
		free(l->spans[k].room);
	*l = next;
	return r;
}

/* ---- a batch ---- */

/* The first range for a rank: what the spreads know, or else all calls of the label. */
static void begin(struct finding *f, struct label_spans *l, uint64_t rank, uint32_t which)
{
	const struct htd_label_cost *cost = &f->c->by_label[l->label];
	struct span first = {.low = cost->min, .high = cost->max, .count = cost->calls};
	struct htd_spread_range range;
	if (htd_spreads_find(&f->c->spreads, l->label, cost->calls, rank, &range)) {
		first.low = range.low > first.low ? range.low : first.low;
		first.high = range.high < first.high ? range.high : first.high;
		first.count = range.calls;
		rank -= range.before;
	}
	go_on(f, l, &first, rank, which);
}

static void add_label(struct finding *f, uint32_t label)
{
	struct label_spans *l = &f->labels[f->n_labels];
	*l = (struct label_spans){.label = label};
	for (uint32_t i = 0; i < HTD_N_QUANTILES; i++) {
		unsigned __int128 share =
			(unsigned __int128)f->c->by_label[label].calls * percents[i];
		uint64_t rank = (uint64_t)((share + 99) / 100);
		begin(f, l, rank ? rank - 1 : 0, i);
	}
	f->n_labels++;
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
		choose(f);
		r = make_rooms(f);
		if (r == 0)
			r = htd_durations_read(&f->calls);
		if (r == 0)
			r = pm_crew_each(f->n_labels, resolve, f);
	}
	free_rooms(f);
	for (uint32_t i = 0; i < f->n_labels; i++)
		f->calls.what[f->labels[i].label] = HTD_NONE;
	f->n_labels = 0;
	return r;
}

static int find_all(struct finding *f)
{
	size_t bytes = 0;
	int r = 0;
	for (size_t i = 0; i < f->c->n_ranked && r == 0; i++) {
		if (bytes > f->bytes) {
			r = find_batch(f);
			bytes = 0;
		}
		add_label(f, f->c->ranked[i]);
		bytes += label_needs(&f->labels[f->n_labels - 1], HTD_PARTS);
		bytes += sizeof(struct label_spans) + sizeof(struct htd_wanted);
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

int htd_quantiles_build(
	struct htd_quantiles *q, const struct htd_calls *c, size_t bytes, struct pm_error *err)
{
	struct finding f = {.c = c, .q = q, .bytes = bytes};
	q->values = calloc(c->n_labels + 1, sizeof(*q->values));
	q->times = calloc((size_t)c->tree->n_functions + 1, sizeof(*q->times));
	f.labels = calloc(c->n_ranked + 1, sizeof(*f.labels));
	f.wanted = calloc(c->n_ranked + 1, sizeof(*f.wanted));
	int r = htd_durations_init(&f.calls, c, take_all, &f);
	f.calls.wanted = f.wanted;
	if (!q->values || !q->times || !f.labels || !f.wanted)
		r = -ENOMEM;
	if (r == 0)
		r = find_all(&f);
	if (r == 0)
		list_times(q, c);
	free(f.labels);
	free(f.wanted);
	htd_durations_done(&f.calls);
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
