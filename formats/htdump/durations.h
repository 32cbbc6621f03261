/*
 * The durations of calls of some labels that are in certain ranges, in no order, read from the
 * stream by all processors.
 */
#ifndef PROFMOUNT_HTDUMP_DURATIONS_H
#define PROFMOUNT_HTDUMP_DURATIONS_H

#include <pthread.h>

#include "formats/htdump/htdump.h"

struct htd_duration {
	uint64_t ns;
	uint32_t what; /* that of the call's label */
};

/* The wanted durations of a label: each range is from low[i] to low[i] + width[i]. */
enum { HTD_WANTED = 4 };
struct htd_wanted {
	uint64_t low[HTD_WANTED], width[HTD_WANTED];
};

struct htd_durations_reader; /* private */

struct htd_durations {
	uint32_t *what; /* by label: the caller's number; HTD_NONE: its calls are skipped */
	const struct htd_wanted *wanted; /* by what: the other calls are skipped, too */
	/* Private: */
	const struct htd_calls *c;
	void (*take)(void *context, const struct htd_duration *calls, uint32_t n);
	void *context;
	struct pm_map threads; /* with calls; empty if all threads of the stream are shown */
	pthread_mutex_t lock;  /* while reading; guards `idle`, and calls of `take` */
	struct htd_durations_reader *idle;
};

/*
 * All labels are skipped at first. `take` is called by one thread at a time, with calls of several
 * labels. 0 or -ENOMEM; end with htd_durations_done in both cases.
 */
int htd_durations_init(struct htd_durations *d, const struct htd_calls *c,
	void (*take)(void *context, const struct htd_duration *calls, uint32_t n), void *context);

void htd_durations_done(struct htd_durations *d);

/* One pass over the stream. 0, -EIO if the file has changed, or -ENOMEM. */
int htd_durations_read(struct htd_durations *d);

#endif
