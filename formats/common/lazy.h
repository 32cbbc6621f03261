/* Something that is built once, on first need, by the first thread that needs it. */
#ifndef PROFMOUNT_LAZY_H
#define PROFMOUNT_LAZY_H

#include "formats/common/work.h"
#include "profmount/error.h"

struct pm_lazy {
	struct pm_turn turn;
	int state; /* 0 not yet, 1 built, negative: the errno of a lasting failure */
	struct pm_error error;
};

#define PM_LAZY_INIT                                                                               \
	{                                                                                          \
		.state = 0                                                                         \
	}

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

#endif
