/* Shared by the scan and its resynchronisation only. */
#ifndef PROFMOUNT_HTDUMP_SCAN_H
#define PROFMOUNT_HTDUMP_SCAN_H

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
	uint64_t used;           /* so far, for the stream's watch */
	uint64_t until;          /* events that begin here or later are ignored */
	size_t threads_most;     /* stop when there are more */
	const char *why;         /* why the current event cannot be read */
	uint32_t why_klass;      /* its class */
	bool why_end; /* because the data end within it, which is no sign of damage before it */
	bool no_memory;
};

/* scan_read.c: reads the event at `at`; false with `why` set if there is none. */
bool htd_scan_read(struct htd_scan *c, uint64_t at, struct htd_event *ret);

/*
 * resync.c: the first position from `from` on where plausible events continue; the end if there is
 * none.
 */
uint64_t htd_resync(struct htd_scan *c, uint64_t from);

/*
 * A call is written when it ends. Next to damage, a call with an end time far from that of other
 * events has a broken duration. True for events that are not calls.
 */
bool htd_ends_near(const struct htd_scan *c, const struct htd_event *e);

#endif
