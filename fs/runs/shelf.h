/*
 * The runs of an ensemble, opened when they are needed. Runs in use stay open, and so do the most
 * recently used ones within the cache's limit.
 */
#ifndef PROFMOUNT_FS_RUNS_SHELF_H
#define PROFMOUNT_FS_RUNS_SHELF_H

#include "fs/compare/lender.h"
#include "fs/filters/filter.h"
#include "fs/runs/words.h"
#include "profmount/format.h"

struct pmfs_shelf;

struct pmfs_shelf_options {
	struct pm_open_options open; /* `cache` is not used: each run has its own */
	const char *format;          /* name of the format, or NULL: the most likely one */
	const char *metric;          /* the primary quantity of runs that have it, or NULL */
	const struct pmfs_definitions *derived; /* or NULL */
	const struct pmfs_filter_what *filters; /* of each run, n_filters of them */
	unsigned n_filters;
	uint64_t cache_bytes; /* limit for runs that are not in use */
};

/* The runs, and what the options point to, must outlive it. NULL if out of memory. */
struct pmfs_shelf *pmfs_shelf_new(
	const struct pmfs_runs *runs, const struct pmfs_shelf_options *options);

/* No run may be in use. Accepts NULL. */
void pmfs_shelf_free(struct pmfs_shelf *s);

/*
 * An open run, in use until it is released: see struct pmfs_lender. Opening is not retried after a
 * failure: `err` is the same each time.
 */
int pmfs_shelf_acquire(
	struct pmfs_shelf *s, uint32_t run, struct pmfs_model **ret, struct pm_error *err);
void pmfs_shelf_release(struct pmfs_shelf *s, uint32_t run);

/* No run that was opened has the quantity of options.metric. */
bool pmfs_shelf_lacks_metric(const struct pmfs_shelf *s);

/* No run that was opened has a column of that definition of options.derived. */
bool pmfs_shelf_lacks_derived(const struct pmfs_shelf *s, uint32_t definition);

/* Why the run could not be opened; NULL if it can be opened, or if that has not been tried. */
const struct pm_error *pmfs_shelf_error(struct pmfs_shelf *s, uint32_t run);

/* Is that a failure of the run, rather than lack of memory or cancellation? */
static inline bool pmfs_is_lasting(int code)
{
	return code < 0 && code != -ENOMEM;
}

/* The bytes for which an open run counts in the cache. */
uint64_t pmfs_shelf_bytes(const struct pmfs_shelf *s, const struct pm_profile *p);

/* What all runs count that are open, or kept. */
uint64_t pmfs_shelf_memory(struct pmfs_shelf *s);

/* The same as a lender; lives as long as the shelf. */
struct pmfs_lender pmfs_shelf_lender(struct pmfs_shelf *s);

#endif
