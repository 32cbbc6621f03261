/*
 * The windows that were found by name, with their numbers in nodes. They outlive the profile that
 * contains them, which may be closed and opened again.
 */
#ifndef PROFMOUNT_FS_WINDOWS_FOUND_H
#define PROFMOUNT_FS_WINDOWS_FOUND_H

#include "profmount/bytes.h"

struct pmfs_found;

struct pmfs_found_window {
	uint32_t thread;        /* PM_NONE: of the run */
	uint64_t start, end;    /* since the run began */
	struct pm_bytes target; /* for a link; otherwise empty */
};

/* A new list with one reference. NULL if out of memory. */
struct pmfs_found *pmfs_found_new(void);

/* Takes a reference; returns the list. */
struct pmfs_found *pmfs_found_use(struct pmfs_found *f);

/* Drops a reference; the last one frees the list. Accepts NULL. */
void pmfs_found_drop(struct pmfs_found *f);

/*
 * The number of the window with this name, which is assigned on the first call; copies its target.
 * 1, or -ENOMEM, also beyond PM_LIMIT_WINDOWS. Thread-safe, as is the next one.
 */
int pmfs_found_number(struct pmfs_found *f, const struct pmfs_found_window *window,
	struct pm_bytes name, uint32_t *ret);

/* The window with this number: 1, or 0 if there is none. */
int pmfs_found_get(struct pmfs_found *f, uint32_t number, struct pmfs_found_window *ret);

#endif
