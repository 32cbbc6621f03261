/*
 * Iterates over a scanned stream: from any event on, across damage and changes of byte order.
 * Const, for any number of readers. What the scan has checked is checked again at each step,
 * because the mapped file may change.
 */
#include "formats/htdump/stream.h"

#include "formats/common/search.h"

/* The number of turns at or before `at`; the first one always is. */
static size_t turns_until(const struct htd_stream *s, uint64_t at)
{
	return PM_LOWER_BOUND(i, 1, s->n_turns, s->turns[i].from <= at);
}

static void walk_from(struct htd_walk *w, const struct htd_stream *s, uint64_t at, uint64_t seq)
{
	*w = (struct htd_walk){.s = s, .at = at, .seq = seq};
	w->gap = PM_LOWER_BOUND(i, 0, s->n_gaps, s->gaps[i].from < at);
	w->turn = turns_until(s, at);
	w->big = s->turns[w->turn - 1].big;
}

void htd_walk_start(struct htd_walk *w, const struct htd_stream *s, uint64_t seq)
{
	struct htd_event skipped;
	uint64_t chunk = seq / HTD_CHUNK;
	if (seq >= s->n_events) {
		walk_from(w, s, s->bytes.len, s->n_events);
		return;
	}
	walk_from(w, s, s->index[chunk], chunk * HTD_CHUNK);
	while (w->seq < seq && htd_walk_next(w, &skipped))
		;
}

uint64_t htd_stream_seq(const struct htd_stream *s, htd_place place)
{
	uint64_t at = htd_place_offset(place);
	size_t next = PM_LOWER_BOUND(i, 0, s->n_index, s->index[i] <= at);
	return (next ? next - 1 : 0) * (uint64_t)HTD_CHUNK + htd_place_ordinal(place);
}

void htd_walk_place(struct htd_walk *w, const struct htd_stream *s, htd_place place)
{
	if (w->s != s || w->at != htd_place_offset(place))
		walk_from(w, s, htd_place_offset(place), htd_stream_seq(s, place));
}

static bool event_read(const struct htd_stream *s, uint64_t at, bool big, struct htd_event *ret)
{
	ret->at = at;
	ret->big = big;
	if (s->watch && !pm_watch_use(s->watch, s->bytes, at, 1))
		return false;
	if (!htd_header_read(s->bytes, at, s->dialect.timestamp_first, big, &ret->header))
		return false;
	const struct htd_slot *slot = htd_table_slot(&s->table, ret->header.klass_id);
	ret->plan = slot ? htd_slot_plan_at(slot, at) : NULL;
	if (!ret->plan || ret->plan->broken ||
		htd_event_extent(s->bytes, at, ret->plan, NULL, &ret->bytes) < 0)
		return false;
	return !s->watch || pm_watch_use_on(s->watch, s->bytes, at, ret->bytes.len);
}

/* The next events are probably of the same class. */
static void walk_expect(struct htd_walk *w, const struct htd_event *e, uint32_t generation)
{
	const struct htd_stream *s = w->s;
	const struct htd_slot *slot = htd_table_slot(&s->table, e->header.klass_id);
	w->until = 0;
	if (e->plan->n_texts || slot->n > 1)
		return;
	w->until = s->bytes.len;
	if (w->gap < s->n_gaps && s->gaps[w->gap].from < w->until)
		w->until = s->gaps[w->gap].from;
	if (w->turn < s->n_turns && s->turns[w->turn].from < w->until)
		w->until = s->turns[w->turn].from;
	uint64_t checked = pm_watch_block_end(e->at);
	w->until = checked < w->until && s->watch ? checked : w->until;
	w->klass_id = e->header.klass_id;
	w->generation = generation;
	w->plan = e->plan;
}

bool htd_walk_next_any(struct htd_walk *w, struct htd_event *ret)
{
	const struct htd_stream *s = w->s;
	while (w->gap < s->n_gaps && s->gaps[w->gap].from == w->at)
		w->at = s->gaps[w->gap++].to;
	if (w->seq >= s->n_events)
		return false;
	while (w->turn < s->n_turns && s->turns[w->turn].from <= w->at)
		w->big = s->turns[w->turn++].big;
	uint32_t generation = s->watch ? pm_watch_generation(s->watch) : 0;
	if (!event_read(s, w->at, w->big, ret))
		return false;
	walk_expect(w, ret, generation);
	w->at += ret->bytes.len;
	w->seq++;
	return true;
}

bool htd_stream_event(const struct htd_stream *s, htd_place place, struct htd_event *ret)
{
	uint64_t at = htd_place_offset(place);
	return event_read(s, at, s->turns[turns_until(s, at) - 1].big, ret);
}

void htd_picker_start(struct htd_picker *p, const struct htd_stream *s,
	const struct htd_filter *filter, uint64_t seq)
{
	size_t run = PM_LOWER_BOUND(i, 0, filter->runs->n,
		htd_stream_seq(s, filter->runs->items[i]) / HTD_RUN < seq / HTD_RUN);
	*p = (struct htd_picker){.filter = *filter, .run = run, .from = seq, .walk = {.s = s}};
}

bool htd_picker_next(struct htd_picker *p, struct htd_event *ret, uint64_t *ret_seq)
{
	for (;;) {
		if (!p->left) {
			if (p->run == p->filter.runs->n)
				return false;
			htd_place run = p->filter.runs->items[p->run++];
			htd_walk_place(&p->walk, p->walk.s, run);
			p->left = htd_place_count(run);
		}
		if (!htd_walk_next(&p->walk, ret))
			return false;
		if (!htd_filter_match(&p->filter, ret))
			continue;
		p->left--;
		*ret_seq = p->walk.seq - 1;
		if (*ret_seq >= p->from)
			return true;
	}
}
