/*
 * A filter: a profile made of another one, with the paths, or without the frames, that match a
 * pattern. Costs on contexts themselves are moved, all others follow from them; what samples and
 * calls have is taken from the traces of the other profile. See docs/namespace.md, filters.
 */
#ifndef PROFMOUNT_FS_FILTERS_FILTER_H
#define PROFMOUNT_FS_FILTERS_FILTER_H

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

/* Whether a profile is a filter, and how many are in one another. */
bool pmfs_is_filter(const struct pm_profile *p);
unsigned pmfs_filter_depth(const struct pm_profile *p);

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

#endif
