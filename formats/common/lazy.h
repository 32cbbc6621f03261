/* What is built once, on first need, by the first thread that needs it. */
#ifndef PROFMOUNT_LAZY_H
#define PROFMOUNT_LAZY_H

#include <stddef.h>

#include "formats/common/arena.h"
#include "formats/common/work.h"
#include "profmount/error.h"

/* Zeroed = ready for use. */
struct pm_lazy {
	struct pm_turn turn;
	int state; /* 0 not yet, 1 built, negative: the errno of a lasting failure */
	struct pm_error error;
};

/* Slow path of pm_lazy_get. */
int pm_lazy_wait(struct pm_lazy *lazy, int (*build)(void *context, struct pm_error *err),
	void *context, struct pm_error *err);

/*
 * Runs build(context) unless it has run before; all callers wait for it and get its result and
 * error. A failure is permanent, except -ENOMEM, after which the next call tries again; -ENOMEM is
 * also the result if the work was cancelled or must not build (formats/common/work.h). After
 * success: one atomic load.
 */
static inline int pm_lazy_get(struct pm_lazy *lazy,
	int (*build)(void *context, struct pm_error *err), void *context, struct pm_error *err)
{
	bool built = __atomic_load_n(&lazy->state, __ATOMIC_ACQUIRE) == 1;
	return built ? 0 : pm_lazy_wait(lazy, build, context, err);
}

/* ---- parts of an opened source, freed with it ---- */

/* A kind of part. Const data. */
struct pm_part_type {
	size_t size;
	/* Fills it in, zeroed before, in its arena, as a build of that (arena.h). */
	void (*build)(struct pm_arena *a, void *owner, void *part, struct pm_error *err);
	const char *file; /* for errors, or NULL */
	const char *what; /* there was no memory for: the context tree */
};

struct pm_part {
	struct pm_lazy lazy;
	void *built; /* NULL: not yet */
	struct pm_arena arena;
};

/*
 * Gets the part, which is built by the first caller. `ret` points to a pointer to the part, or to
 * its first member if only that is public; it is set to NULL after a failure. As with pm_lazy_get,
 * all callers get the same result.
 */
#define pm_part_get(part, type, owner, ret, err)                                                   \
	pm_part_get_sized(part, type, owner, ret, sizeof(**(ret)), err)

/* The same without getting it. */
int pm_part_build(
	struct pm_part *part, const struct pm_part_type *type, void *owner, struct pm_error *err);

/* The same; `size` is that of what `*ret` points to, which must not exceed the part. */
int pm_part_get_sized(struct pm_part *part, const struct pm_part_type *type, void *owner, void *ret,
	size_t size, struct pm_error *err);

/* Frees the part if it has been built. */
void pm_part_done(struct pm_part *part);

#endif
