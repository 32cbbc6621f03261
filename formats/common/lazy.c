#include "formats/common/lazy.h"

/* This thread builds it; the lock is held. */
static int build_now(struct pm_lazy *lazy, int (*build)(void *context, struct pm_error *err),
	void *context, struct pm_error *err)
{
	struct pm_error error = {.offset = PM_NO_OFFSET};
	pm_turn_begin(&lazy->turn);
	pm_turn_unlock();
	int r = build(context, &error);
	/* Whatever it returned was caused by the cancellation and is not kept. */
	if (r < 0 && pm_work_cancelled())
		r = -ENOMEM;
	if (r < 0)
		pm_error_plain(&error, r);
	pm_work_progress(0, 0);
	pm_turn_lock();
	if (r < 0 && r != -ENOMEM)
		lazy->error = error;
	if (r != -ENOMEM)
		__atomic_store_n(&lazy->state, r < 0 ? r : 1, __ATOMIC_RELEASE);
	pm_turn_end(&lazy->turn);
	if (r < 0 && err && !err->code)
		*err = error;
	return r < 0 ? r : 0;
}

/* The lock is held. */
static int get(struct pm_lazy *lazy, int (*build)(void *context, struct pm_error *err),
	void *context, struct pm_error *err)
{
	while (lazy->state == 0 && lazy->turn.building)
		if (!pm_turn_wait(&lazy->turn))
			return pm_error_plain(err, -ENOMEM);
	if (lazy->state == 0)
		return pm_work_cancelled() ? pm_error_plain(err, -ENOMEM)
					   : build_now(lazy, build, context, err);
	if (lazy->state < 0 && err && !err->code)
		*err = lazy->error;
	return lazy->state < 0 ? lazy->state : 0;
}

int pm_lazy_wait(struct pm_lazy *lazy, int (*build)(void *context, struct pm_error *err),
	void *context, struct pm_error *err)
{
	if (__atomic_load_n(&lazy->state, __ATOMIC_ACQUIRE) == 0 && !pm_work_may_build())
		return pm_error_plain(err, -ENOMEM);
	pm_turn_lock();
	int r = get(lazy, build, context, err);
	pm_turn_unlock();
	return r;
}
