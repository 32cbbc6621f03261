/*
 * The runs of an ensemble, opened when they are needed. Those in use stay open, of the others those
 * used last, as far as the cache's limit goes.
 */
#ifndef PROFMOUNT_FS_RUNS_SHELF_H
#define PROFMOUNT_FS_RUNS_SHELF_H

#include "fs/compare/lender.h"
#include "fs/runs/words.h"
#include "profmount/format.h"

struct pmfs_shelf;

struct pmfs_shelf_options {
	struct pm_open_options open; /* without a cache: each run has its own */
	const char *format;          /* the format's name, or NULL: the surest */
	const char *metric;          /* the primary quantity of runs that have it, or NULL */
	uint64_t cache_bytes;        /* what runs that are not in use may take */
};

/* Runs and what options point to outlive it. NULL without memory. */
struct pmfs_shelf *pmfs_shelf_new(
	const struct pmfs_runs *runs, const struct pmfs_shelf_options *options);

/* Nothing may be in use. Accepts NULL. */
void pmfs_shelf_free(struct pmfs_shelf *s);

/*
 * An open run, in use until it is released: see struct pmfs_lender. One that could not be opened
 * is not tried again: `err` says the same each time.
 */
int pmfs_shelf_acquire(
	struct pmfs_shelf *s, uint32_t run, struct pmfs_model **ret, struct pm_error *err);
void pmfs_shelf_release(struct pmfs_shelf *s, uint32_t run);

/*
 * Why the run could not be opened; NULL: it can, or could when it was last tried. Says nothing
 * before somebody has tried.
 */
const struct pm_error *pmfs_shelf_error(struct pmfs_shelf *s, uint32_t run);

/* The run can be opened, but what everybody needs of it cannot be read: from now on it is broken.
 */
void pmfs_shelf_spoil(struct pmfs_shelf *s, uint32_t run, const struct pm_error *why);

/* Has that failure to do with the run, and not with memory or with who asked? */
static inline bool pmfs_is_lasting(int code)
{
	return code < 0 && code != -ENOMEM && code != -EINTR;
}

/* Bytes that an open run counts for. */
uint64_t pmfs_shelf_bytes(const struct pmfs_shelf *s, const struct pm_profile *p);

/* The same as a lender; lives as long as the shelf. */
struct pmfs_lender pmfs_shelf_lender(struct pmfs_shelf *s);

#endif
