/* Parts of an opened source, built on first need and freed with the source. */
#ifndef PROFMOUNT_PART_H
#define PROFMOUNT_PART_H

#include <stddef.h>

#include "formats/common/lazy.h"

/* A kind of part. Const data. */
struct pm_part_type {
	size_t size;
	/* Fills it in; it is zeroed before. After a failure, `done` is called. */
	int (*fill)(void *owner, void *part, struct pm_error *err);
	/* Frees its contents, even if it is only partly filled. */
	void (*done)(void *part);
	const char *file; /* for errors, or NULL */
	const char *what; /* there was no memory for: the context tree */
};

/* Zeroed = ready for use. */
struct pm_part {
	struct pm_lazy lazy;
	const struct pm_part_type *type; /* NULL: not built */
	void *built;
};

/*
 * Gets the part, which is built by the first caller. `ret` points to a pointer to the part, or to
 * its first member if only that is public; it is set to NULL after a failure. As with pm_lazy_get,
 * all callers get the same result.
 */
#define pm_part_get(part, type, owner, ret, err)                                                   \
	pm_part_get_sized(part, type, owner, ret, sizeof(**(ret)), err)

/* The same; `size` is that of what `*ret` points to, which must not exceed the part. */
int pm_part_get_sized(struct pm_part *part, const struct pm_part_type *type, void *owner, void *ret,
	size_t size, struct pm_error *err);

/* Frees the part if it has been built. */
void pm_part_done(struct pm_part *part);

#endif
