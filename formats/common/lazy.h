/* Something that is built on first need, once, by whichever thread comes first. */
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

/*
 * Runs build(context) unless it ran before; all callers wait for it and get its result and error.
 * A failure lasts, except -ENOMEM, which is tried again; that is also the result where work was
 * cancelled or may not build (formats/common/work.h). After success: one atomic load.
 */
int pm_lazy_get(struct pm_lazy *lazy, int (*build)(void *context, struct pm_error *err),
	void *context, struct pm_error *err);

#endif
