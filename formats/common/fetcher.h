/*
 * A helper of a pass over a watched file: on another processor, it maps the pages that the pass
 * comes to and computes their checksums. That is half of the time of a simple pass. The results do
 * not depend on it: the pass still calls pm_watch_use, which is free for what was fetched.
 */
#ifndef PROFMOUNT_FETCHER_H
#define PROFMOUNT_FETCHER_H

#include "formats/common/crew.h"
#include "formats/common/watch.h"

/* Zeroed: none was started. */
struct pm_fetcher {
	struct pm_watch *watch;
	struct pm_bytes bytes;
	struct pm_crew crew;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t passed; /* guarded: by the pass */
	bool ends;       /* guarded */
};

/*
 * Starts a helper, if there is another processor and the file is not small. It must not move until
 * pm_fetcher_end.
 */
void pm_fetcher_start(struct pm_fetcher *f, struct pm_watch *watch, struct pm_bytes bytes);

/* The pass has come to `upto`. The helper stays close ahead of it. */
void pm_fetcher_pass(struct pm_fetcher *f, uint64_t upto);

void pm_fetcher_end(struct pm_fetcher *f);

#endif
