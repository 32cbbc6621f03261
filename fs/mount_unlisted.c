#include "fs/mount_unlisted.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/map.h"
#include "formats/common/thread.h"
#include "fs/mount_follow.h"

enum {
	N_BUCKETS = 1 << 12,
	MOST_KNOWN = 1 << 10, /* names that the kernel keeps without being told to forget some */
};

/* A directory or link that is not listed, and all nodes in it. */
struct known {
	pm_node owner, outer;
	uint64_t lookups; /* that the kernel has not forgotten, and the known ones that lie in it */
	fuse_ino_t parent;
	char *name;                  /* owned; NULL: not known, or it was told to forget it */
	struct known *next;          /* in the bucket */
	struct known *newer, *older; /* of those with a name */
};

struct pmfs_unlisted_names {
	struct fuse_session *se;
	pthread_mutex_t lock; /* guards everything below */
	struct known *buckets[N_BUCKETS];
	struct known *newest, *oldest;
	uint64_t n, n_named; /* n: atomic for readers */
	pthread_cond_t moved;
	pthread_t thread;
	bool runs, stop, tells; /* tells: it may wait for the kernel */
};

/* ---- the list of names; the lock is held ---- */

static struct known **place_of(struct pmfs_unlisted_names *u, pm_node owner)
{
	struct known **place = &u->buckets[pm_hash_u64(owner) % N_BUCKETS];
	while (*place && (*place)->owner != owner)
		place = &(*place)->next;
	return place;
}

/* The caller's from now on. NULL if it has none. */
static char *take_name(struct pmfs_unlisted_names *u, struct known *k)
{
	char *name = k->name;
	if (!name)
		return NULL;
	*(k->newer ? &k->newer->older : &u->newest) = k->older;
	*(k->older ? &k->older->newer : &u->oldest) = k->newer;
	k->newer = k->older = NULL;
	k->name = NULL;
	u->n_named--;
	return name;
}

/* Without memory it has no name, and stays known until the kernel forgets it by itself. */
static void give_name(
	struct pmfs_unlisted_names *u, struct known *k, fuse_ino_t parent, const char *name)
{
	free(take_name(u, k));
	k->name = strdup(name);
	if (!k->name)
		return;
	k->parent = parent;
	k->older = u->newest;
	*(u->newest ? &u->newest->newer : &u->oldest) = k;
	u->newest = k;
	u->n_named++;
}

/* ---- telling the kernel to forget ---- */

/* Waits for lookups in the directory, which must not wait for this thread. */
static void *tell(void *self)
{
	struct pmfs_unlisted_names *u = self;
	pthread_mutex_lock(&u->lock);
	while (!u->stop) {
		struct known *k = u->n_named > MOST_KNOWN ? u->oldest : NULL;
		if (!k) {
			pthread_cond_wait(&u->moved, &u->lock);
			continue;
		}
		fuse_ino_t parent = k->parent;
		char *name = take_name(u, k);
		u->tells = true;
		pthread_mutex_unlock(&u->lock);
		fuse_lowlevel_notify_inval_entry(u->se, parent, name, strlen(name));
		free(name);
		pthread_mutex_lock(&u->lock);
		u->tells = false;
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

struct pmfs_unlisted_names *pmfs_unlisted_names_new(struct fuse_session *se)
{
	struct pmfs_unlisted_names *u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->se = se;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->moved, NULL);
	return u;
}

void pmfs_unlisted_names_free(struct pmfs_unlisted_names *u)
{
	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	u->stop = true;
	bool tells = u->tells;
	pthread_cond_signal(&u->moved);
	pthread_mutex_unlock(&u->lock);
	if (tells) { /* for a lookup that nobody answers any more: until the unmount */
		pthread_detach(u->thread);
		return;
	}
	if (u->runs)
		pthread_join(u->thread, NULL);
	for (size_t i = 0; i < N_BUCKETS; i++)
		for (struct known *k = u->buckets[i], *next; k; k = next) {
			next = k->next;
			free(k->name);
			free(k);
		}
	pthread_cond_destroy(&u->moved);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

/* ---- counting; the lock is held ---- */

/* One more or less that lies in `owner`. Nothing is left that the kernel does not know. */
static void add(struct pmfs_mount *m, pm_node owner, int64_t n)
{
	struct pmfs_unlisted_names *u = m->unlisted;
	while (owner && n) {
		struct known **place = place_of(u, owner), *k = *place;
		if (!k)
			return;
		uint64_t taken = n < 0 && (uint64_t)-n > k->lookups ? k->lookups : (uint64_t)-n;
		k->lookups = n > 0 ? k->lookups + (uint64_t)n : k->lookups - taken;
		if (k->lookups)
			return;
		owner = k->outer;
		n = -1;
		pmfs_tree_let_go(m->in->tree, k->owner);
		free(take_name(u, k));
		*place = k->next;
		free(k);
		__atomic_sub_fetch(&u->n, 1, __ATOMIC_RELAXED);
	}
}

/* 0, -ESTALE or -ENOMEM. */
static int know(struct pmfs_mount *m, pm_node owner, pm_node outer, uint32_t generation)
{
	struct pmfs_unlisted_names *u = m->unlisted;
	struct known *k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	if (!pmfs_tree_hold(m->in->tree, owner, generation)) {
		free(k);
		return -ESTALE;
	}
	*k = (struct known){.owner = owner, .outer = outer};
	*place_of(u, owner) = k;
	__atomic_add_fetch(&u->n, 1, __ATOMIC_RELAXED);
	add(m, outer, 1);
	return 0;
}

static int count(struct pmfs_mount *m, const struct pmfs_entry *entry, pm_node owner, pm_node outer,
	uint32_t *generation)
{
	pm_node further;
	/* What a number lies in is known before, except to an NFS client. */
	if (outer && !*place_of(m->unlisted, outer)) {
		pm_node of;
		pmfs_tree_owner(m->in->tree, outer, &of, &further);
		int r = know(m, outer, further, pmfs_tree_generation(m->in->tree, outer));
		if (r < 0)
			return r;
	}
	uint32_t now = pmfs_tree_generation(m->in->tree, owner);
	*generation = entry->is_unlisted ? entry->generation : now;
	return *place_of(m->unlisted, owner) ? (*generation == now ? 0 : -ESTALE)
					     : know(m, owner, outer, *generation);
}

int pmfs_unlisted_names_count(struct pmfs_mount *m, const struct pmfs_entry *entry,
	fuse_ino_t parent, const char *name, uint64_t *ret_generation)
{
	struct pmfs_unlisted_names *u = m->unlisted;
	pm_node owner, outer;
	uint32_t generation;
	*ret_generation = 0;
	if (!pmfs_tree_owner(m->in->tree, entry->node, &owner, &outer))
		return 0;
	if (!u) /* used as long as the snapshot */
		return !entry->is_unlisted || pmfs_tree_hold(m->in->tree, owner, entry->generation)
			? 0
			: -ESTALE;
	pthread_mutex_lock(&u->lock);
	int r = count(m, entry, owner, outer, &generation);
	if (r == 0) {
		struct known *k = *place_of(u, owner);
		k->lookups++;
		*ret_generation = generation;
		if (entry->is_unlisted)
			give_name(u, k, parent, name);
		if (u->n_named > MOST_KNOWN && !u->runs)
			u->runs = pm_thread_start(&u->thread, tell, u);
		if (u->n_named > MOST_KNOWN)
			pthread_cond_signal(&u->moved);
	}
	pthread_mutex_unlock(&u->lock);
	return r;
}

void pmfs_unlisted_names_forget(struct pmfs_mount *m, fuse_ino_t ino, uint64_t n)
{
	struct pmfs_unlisted_names *u = m->unlisted;
	pm_node owner, outer;
	if (!u || pmfs_unlisted_names_n(m) == 0 ||
		!pmfs_tree_owner(m->in->tree, pmfs_mount_node(ino), &owner, &outer))
		return;
	pthread_mutex_lock(&u->lock);
	add(m, owner, -(int64_t)n);
	pthread_mutex_unlock(&u->lock);
}

bool pmfs_unlisted_names_have(struct pmfs_mount *m, pm_node node)
{
	pm_node owner, outer;
	return m->unlisted && pmfs_tree_owner(m->in->tree, node, &owner, &outer);
}

uint64_t pmfs_unlisted_names_n(struct pmfs_mount *m)
{
	return m->unlisted ? __atomic_load_n(&m->unlisted->n, __ATOMIC_RELAXED) : 0;
}
