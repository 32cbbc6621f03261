/*
 * Windows: parts of a run, or of one of its threads, as profiles. They are found by name and not
 * listed; a window that was looked up has a number as long as it is in use.
 *
 * A window is a profile made from the parts of traces that lie inside, so that every view serves it
 * (docs/decisions/0007-profiles-in-profiles.md). Its costs are times.
 */
#ifndef PROFMOUNT_FS_WINDOWS_WINDOWS_H
#define PROFMOUNT_FS_WINDOWS_WINDOWS_H

#include "formats/common/tap.h"
#include "formats/common/unlisted.h"
#include "profmount/profile.h"

struct pmfs_windows;

/*
 * The profile outlives it. Reads nothing. NULL if out of memory. Windows of a filter are filters of
 * the windows of what it is a filter of.
 */
struct pmfs_windows *pmfs_windows_new(const struct pm_profile *p);

/* Accepts NULL. */
void pmfs_windows_free(struct pmfs_windows *w);

/*
 * Has numbers from a list, which outlives the profile that windows are of, and which other names
 * may have numbers from, too; holds a reference to it. Once, before anything is found.
 */
void pmfs_windows_number_from(struct pmfs_windows *w, struct pm_unlisted *names);

/* Receives traces that are read for another reason, so that windows need not read them again. */
struct pm_tap pmfs_windows_tap(struct pmfs_windows *w);

/*
 * Sets the listed windows of the run: spans(context) returns them, relative to the run's beginning,
 * when they are needed; the caller of spans frees `*ret`. Must be called before anything else.
 */
struct pmfs_listed {
	uint64_t start, end;
};

void pmfs_windows_list(struct pmfs_windows *w,
	int (*spans)(
		void *context, struct pmfs_listed **ret, uint32_t *ret_n, struct pm_error *err),
	void *context);

/* Whether any thread has a trace and the run's length is known. 1, 0 or a negative errno. */
int pmfs_windows_are_there(struct pmfs_windows *w, struct pm_error *err);

/* The collection windows/, and windows/README.txt. Both live as long as `w`. */
const struct pm_collection *pmfs_windows_collection(struct pmfs_windows *w);
const struct pm_named_doc *pmfs_windows_readme(struct pmfs_windows *w);

/*
 * The item of the collection with this name among the windows of a thread, or of the run (PM_NONE):
 * 1, 0 or a negative errno.
 */
struct pmfs_window_number {
	uint32_t item, generation; /* generation: of an item that is not listed */
	bool is_link;
};
int pmfs_windows_find(struct pmfs_windows *w, uint32_t thread, struct pm_bytes name,
	struct pmfs_window_number *ret, struct pm_error *err);

/* The thread of an item; PM_NONE if it is of the run. */
uint32_t pmfs_windows_thread(struct pmfs_windows *w, uint32_t item);

#endif
