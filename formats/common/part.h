/* Parts of an opened source: each is built when it is first needed, and freed with the source. */
#ifndef PROFMOUNT_PART_H
#define PROFMOUNT_PART_H

#include <stddef.h>

#include "formats/common/lazy.h"

/* A kind of part. Const data. */
struct pm_part_type {
	size_t size;
	/* Fills it in; it is zeroed before. `done` follows a failure. */
	int (*fill)(void *owner, void *part, struct pm_error *err);
	/* Frees what it holds, also half filled. */
	void (*done)(void *part);
	const char *file; /* for errors, or NULL */
	const char *what; /* there was no memory for: the context tree */
};

/* Zeroed it is ready for use. */
struct pm_part {
	struct pm_lazy lazy;
	const struct pm_part_type *type; /* NULL: not built */
	void *built;
};

/*
 * The part, built by the first caller. `ret` is where the pointer to it goes, of whatever type;
 * NULL after a failure. As for pm_lazy_get, all callers get the same result.
 */
int pm_part_get(struct pm_part *part, const struct pm_part_type *type, void *owner, void *ret,
	struct pm_error *err);

/* Frees it if it was built. */
void pm_part_done(struct pm_part *part);

#endif
