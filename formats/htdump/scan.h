/* The scan (scan.c), and its fast path for runs of plain calls (scan_run.c). */
#ifndef PROFMOUNT_HTDUMP_SCAN_H
#define PROFMOUNT_HTDUMP_SCAN_H

#include "formats/common/fetcher.h"
#include "formats/htdump/stream.h"

/* Headers of the last events that were read, which a plausible one must be close to. */
enum { HTD_TRUSTED = 4 };

struct htd_scan {
	struct htd_stream *s;
	struct pm_damage_list *damage;
	const char *file;
	bool big;
	struct htd_no_nul no_nul;
	struct htd_header trusted[HTD_TRUSTED];
	unsigned n_trusted;      /* grows on; the newest is at (n_trusted - 1) % HTD_TRUSTED */
	struct pm_map thread_of; /* thread_id → index */
	uint32_t last_thread;    /* index */
	struct pm_map mapped;    /* number → its newest mapping */
	struct pm_fetcher fetcher;
	uint64_t used;       /* so far, for the stream's watch */
	uint64_t until;      /* events that begin here or later are ignored */
	size_t threads_most; /* stop when there are more */
	const char *why;     /* why the current event cannot be read */
	uint32_t why_klass;  /* its class */
	bool why_end; /* because the data end within it, which is no sign of damage before it */
};

/* Notes an event that is taken. */
static inline void htd_scan_trust(struct htd_scan *c, const struct htd_header *h)
{
	if (h->timestamp || h->id)
		c->trusted[c->n_trusted++ % HTD_TRUSTED] = *h;
}

/* Notes the time of an event of the program, which ends at `end`. */
static inline void htd_scan_date(struct htd_scan *c, const struct htd_header *h, uint64_t end)
{
	struct htd_stream *s = c->s;
	s->origin = h->timestamp < s->origin ? h->timestamp : s->origin;
	s->last = end > s->last ? end : s->last;
}

/*
 * scan_run.c: takes `waiting` and those after it as long as they are plain calls, of which the last
 * one becomes `waiting`, with `*at` behind it.
 */
void htd_scan_run(struct htd_scan *c, struct htd_event *waiting, uint64_t *at);

#endif
