/*
 * The directories focus/, ignore/, hide/ and from/ of a profile: their items are found by name and
 * not listed, as windows are.
 */
#ifndef PROFMOUNT_FS_FILTERS_FILTERS_H
#define PROFMOUNT_FS_FILTERS_FILTERS_H

#include "formats/common/unlisted.h"
#include "fs/filters/filter.h"

struct pmfs_filters;

/*
 * The profile and its model outlive it; `names` has their numbers. `entry_name`: see struct
 * pmfs_filter_what. NULL if out of memory. Reads nothing.
 */
struct pmfs_filters *pmfs_filters_new(const struct pm_profile *p, struct pmfs_model *m,
	struct pm_unlisted *names, size_t (*entry_name)(struct pm_bytes raw, char *ret));

/* Accepts NULL. */
void pmfs_filters_free(struct pmfs_filters *f);

/* The collection of a kind, and its README.txt. Both live as long as `f`. */
const struct pm_collection *pmfs_filters_collection(
	struct pmfs_filters *f, enum pmfs_filter_kind kind);
const struct pm_named_doc *pmfs_filters_readme(struct pmfs_filters *f, enum pmfs_filter_kind kind);

/*
 * The item of the collection with this name, of a thread or of the run (PM_NONE): 1, 0, or -ENOMEM
 * and what reading the source ends with.
 */
int pmfs_filters_find(struct pmfs_filters *f, enum pmfs_filter_kind kind, uint32_t thread,
	struct pm_bytes name, uint32_t *ret_item, uint32_t *ret_generation);

/* The thread of an item; PM_NONE if it is of the run. */
uint32_t pmfs_filters_thread(struct pmfs_filters *f, uint32_t item);

#endif
