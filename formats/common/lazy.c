/* What is built once, on first need, by the first thread that needs it. */
#include "formats/common/lazy.h"

#include <assert.h>
#include <string.h>

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
		r = PM_CANCELLED;
	if (r < 0)
		pm_error_plain(&error, r);
	pm_work_progress(0, 0);
	pm_turn_lock();
	if (pm_is_lasting(r))
		lazy->error = error;
	if (!pm_is_passing(r))
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
			return pm_error_plain(err, PM_CANCELLED);
	if (lazy->state == 0)
		return pm_work_cancelled() ? pm_error_plain(err, PM_CANCELLED)
					   : build_now(lazy, build, context, err);
	if (lazy->state < 0 && err && !err->code)
		*err = lazy->error;
	return lazy->state < 0 ? lazy->state : 0;
}

int pm_lazy_wait(struct pm_lazy *lazy, int (*build)(void *context, struct pm_error *err),
	void *context, struct pm_error *err)
{
	if (__atomic_load_n(&lazy->state, __ATOMIC_ACQUIRE) == 0 && !pm_work_may_build())
		return pm_error_plain(err, PM_WOULD_BUILD);
	pm_turn_lock();
	int r = get(lazy, build, context, err);
	pm_turn_unlock();
	return r;
}

/* ==== parts ==== */

struct building {
	struct pm_part *part;
	const struct pm_part_type *type;
	void *owner;
	struct pm_error *err;
};

static void build_in_arena(void *context)
{
	const struct building *b = context;
	struct pm_arena *a = &b->part->arena;
	void *thing = pm_arena_alloc(a, b->type->size);
	b->type->build(a, b->owner, thing, b->err);
	b->part->built = thing;
}

static int build(void *context, struct pm_error *err)
{
	struct building *b = context;
	b->err = err;
	int r = pm_build(&b->part->arena, build_in_arena, b);
	if (r == 0)
		return 0;
	pm_arena_done(&b->part->arena);
	return pm_error_set(err, r, b->type->file, PM_NO_OFFSET, "no memory for %s", b->type->what);
}

int pm_part_build(
	struct pm_part *part, const struct pm_part_type *type, void *owner, struct pm_error *err)
{
	struct building b = {part, type, owner, NULL};
	return pm_lazy_get(&part->lazy, build, &b, err);
}

int pm_part_get_sized(struct pm_part *part, const struct pm_part_type *type, void *owner, void *ret,
	size_t size, struct pm_error *err)
{
	assert(size > 1 && size <= type->size); /* 1: a pointer to void */
	(void)size;
	int r = pm_part_build(part, type, owner, err);
	void *thing = r < 0 ? NULL : part->built;
	memcpy(ret, &thing, sizeof(thing)); /* avoids aliasing */
	return r;
}

void pm_part_done(struct pm_part *part)
{
	pm_arena_done(&part->arena);
	part->built = NULL;
}
