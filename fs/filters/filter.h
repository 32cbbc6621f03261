/*
 * A filter: a profile made of another one, with the paths, or without the frames, that match a
 * pattern. Costs on contexts themselves are moved, all others follow from them; what samples and
 * calls have is taken from the traces of the other profile. See docs/namespace.md, filters.
 */
#ifndef PROFMOUNT_FS_FILTERS_FILTER_H
#define PROFMOUNT_FS_FILTERS_FILTER_H

#include "formats/common/unlisted.h"
#include "fs/filters/pattern.h"
#include "fs/views/model/model.h"

enum pmfs_filter_kind {
	PMFS_FILTER_FOCUS,  /* paths on which a frame matches */
	PMFS_FILTER_IGNORE, /* the others */
	PMFS_FILTER_HIDE,   /* frames that match are left out, their costs stay */
	PMFS_FILTER_FROM,   /* paths begin at their outermost match */
	PMFS_N_FILTERS,
};

extern const char *const pmfs_filter_names[PMFS_N_FILTERS]; /* focus, ignore, hide, from */

enum { PMFS_MOST_FILTERS = 16 }; /* in one another */

struct pmfs_filter_what {
	enum pmfs_filter_kind kind;
	struct pm_bytes pattern;
	/* Of one thread alone; PM_NONE: all. */
	uint32_t thread;
	/*
	 * The name of a function's directory, without a number, so that a pattern may be one. See
	 * pmfs_name_legal.
	 */
	size_t (*entry_name)(struct pm_bytes raw, char *ret);
	/* How a profile is closed that is taken over; NULL: by its ops->close. */
	void (*close)(struct pm_profile *p);
};

/*
 * The profile so filtered; -ENOENT if the pattern cannot be one. Nothing is read until it is used.
 * `model` is that of the profile; both outlive it. Without one, it makes its own, and takes over
 * the profile, which is closed with it, and also on failure. The caller closes `*ret`.
 */
int pmfs_filter_open(const struct pm_profile *of, struct pmfs_model *model,
	const struct pmfs_filter_what *what, struct pm_profile **ret, struct pm_error *err);

/*
 * The profile with filters in one another, the first one innermost; owned as without a model.
 * `close` closes the profile (NULL: ops->close).
 */
int pmfs_filter_all(struct pm_profile *of, void (*close)(struct pm_profile *p),
	const struct pmfs_filter_what *whats, unsigned n, struct pm_profile **ret,
	struct pm_error *err);

/*
 * 1 if a profile has call paths, or is of several runs, 0 if not: costs of call edges cannot be
 * filtered. May read the source.
 */
int pmfs_can_be_filtered(const struct pm_profile *p, struct pm_error *err);

/* Appends `focus/PATTERN/hide/PATTERN`: filters in one another, the first one innermost. */
void pmfs_filter_print(const struct pmfs_filter_what *whats, unsigned n, struct pm_text *out);

/* How many filters are in one another: 0 for a profile that is none. */
unsigned pmfs_filter_depth(const struct pm_profile *p);

/* Whether the pattern of a filter matches anything: 1 or 0; 1 of other profiles. Reads the tree. */
int pmfs_filter_matches(const struct pm_profile *p, struct pm_error *err);

/*
 * What is at the bottom of filters, and its thread if one of them is of one thread, else PM_NONE.
 * Of other profiles: the profile.
 */
const struct pm_profile *pmfs_filter_bottom(const struct pm_profile *p, uint32_t *ret_thread);

/*
 * A part of the bottom with the same filters, in their order. Takes it over, as pmfs_filter_open
 * without a model.
 */
int pmfs_filter_again(const struct pm_profile *p, struct pm_profile *part, struct pm_profile **ret,
	struct pm_error *err);

/* The model of a profile; that of a filter has the categories of the unfiltered one. */
struct pmfs_model *pmfs_filter_model_new(const struct pm_profile *p);

/*
 * ---- filters.c ----
 *
 * The directories focus/, ignore/, hide/ and from/ of a profile: their items are found by name
 * and not listed, as windows are.
 */

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
