#include "fs/windows/found.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "profmount/limits.h"
#include "profmount/tree.h"

struct pmfs_found {
	unsigned users;       /* atomic */
	pthread_mutex_t lock; /* guards the following */
	struct pm_arena arena;
	struct pm_strtab names; /* `thread/name` → place in windows */
	struct pmfs_found_window *windows;
	size_t room;
};

struct pmfs_found *pmfs_found_new(void)
{
	struct pmfs_found *f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->users = 1;
	f->names.arena = &f->arena;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

struct pmfs_found *pmfs_found_use(struct pmfs_found *f)
{
	__atomic_add_fetch(&f->users, 1, __ATOMIC_RELAXED);
	return f;
}

void pmfs_found_drop(struct pmfs_found *f)
{
	if (!f || __atomic_sub_fetch(&f->users, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	pthread_mutex_destroy(&f->lock);
	pm_strtab_done(&f->names);
	pm_arena_done(&f->arena);
	free(f->windows);
	free(f);
}

static int add(struct pmfs_found *f, const struct pmfs_found_window *window, struct pm_bytes key,
	uint32_t *ret)
{
	*ret = pm_strtab_find(&f->names, key);
	if (*ret != PM_NONE)
		return 1;
	if (f->names.n >= PM_LIMIT_WINDOWS ||
		pm_list_room(&f->windows, f->names.n, &f->room, sizeof(*f->windows)) < 0)
		return -ENOMEM;
	struct pmfs_found_window kept = *window;
	if (window->target.len)
		kept.target = pm_arena_copy(&f->arena, window->target);
	if (window->target.len && !kept.target.p)
		return -ENOMEM;
	*ret = pm_strtab_add(&f->names, key);
	if (*ret == PM_NONE)
		return -ENOMEM;
	f->windows[*ret] = kept;
	return 1;
}

int pmfs_found_number(struct pmfs_found *f, const struct pmfs_found_window *window,
	struct pm_bytes name, uint32_t *ret)
{
	struct pm_text key = {.p = NULL};
	pm_text_u64(&key, window->thread);
	pm_text_char(&key, '/');
	pm_text_bytes(&key, name);
	int r = key.failed ? -ENOMEM : 0;
	if (r == 0) {
		pthread_mutex_lock(&f->lock);
		r = add(f, window, pm_text_view(&key), ret);
		pthread_mutex_unlock(&f->lock);
	}
	pm_text_done(&key);
	return r;
}

int pmfs_found_get(struct pmfs_found *f, uint32_t number, struct pmfs_found_window *ret)
{
	pthread_mutex_lock(&f->lock);
	bool there = number < f->names.n;
	if (there)
		*ret = f->windows[number];
	pthread_mutex_unlock(&f->lock);
	return there;
}
