/*
 * Most of a stream consists of calls of one class and one thread, one after another. A run of them
 * is taken in one loop, which has no other cases. Whatever differs or cannot be read ends the run:
 * only the pass (scan.c) decides on it.
 */
#include "formats/htdump/scan.h"

/* Prefetched ahead of the scan: the processor itself does not do this across pages. */
enum { AHEAD = 2048 };

/*
 * The bytes of `first` and of what may be events of the same size after it: the pass would read
 * them, and they do not begin another item of the runs.
 */
static struct pm_bytes run_bytes(const struct htd_scan *c, const struct htd_event *first)
{
	const struct htd_stream *s = c->s;
	uint64_t stop = c->used < c->until ? c->used : c->until, size = first->bytes.len;
	uint64_t most = HTD_RUN - s->n_events % HTD_RUN + 1,
		 left = (s->bytes.len - first->at) / size;
	uint64_t begin = stop > first->at ? (stop - first->at - 1) / size + 1 : 0;
	struct pm_bytes b;
	most = begin < most ? begin : most;
	pm_bytes_sub(s->bytes, first->at, (left < most ? left : most) * size, &b);
	return b;
}

void htd_scan_run(struct htd_scan *c, struct htd_event *waiting, uint64_t *at)
{
	struct htd_stream *s = c->s;
	const struct htd_plan *plan = waiting->plan;
	if (!plan->quick || plan->n_texts || c->last_thread >= s->n_threads)
		return;
	struct htd_runs *events = &s->table.klasses[plan->klass].events;
	struct htd_thread *thread = &s->threads[c->last_thread];
	if (!htd_runs_go_on(events, s->n_events) || !htd_runs_go_on(&thread->calls, s->n_events))
		return;
	const bool timestamp_first = s->dialect.timestamp_first, big = c->big;
	const uint64_t size = plan->head;
	const struct pm_bytes run = run_bytes(c, waiting);
	struct htd_header header = waiting->header, next;
	uint64_t duration, number, from = 0;
	uint32_t n = 0;
	for (; run.len - from > size; from += size, n++) {
		pm_bytes_prefetch(s->bytes, waiting->at + from + AHEAD, 1);
		htd_header_load(run.p + from + size, timestamp_first, big, &next);
		htd_call_load(run.p + from, plan, big, &duration, &number);
		if (next.klass_id != header.klass_id || number != thread->number)
			break;
		const struct htd_key key = {header.timestamp, header.id,
			htd_place_of(waiting->at + from, s->n_events + n)};
		htd_scan_trust(c, &header);
		htd_scan_date(c, &header, htd_call_end(key.timestamp, duration));
		htd_late_note(&s->arena, &thread->late, false, &key);
		header = next;
	}
	htd_runs_more(events, n);
	htd_runs_more(&thread->calls, n);
	s->n_events += n;
	waiting->header = header;
	waiting->at += from;
	waiting->bytes.p += from;
	*at = waiting->at + size;
}
