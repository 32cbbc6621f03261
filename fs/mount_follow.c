/* -o follow: noticing that a source has changed, and serving it from a new snapshot. */
#include "fs/mount_follow.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/common/folder.h"
#include "formats/common/map.h"
#include "formats/common/thread.h"
#include "formats/common/watch.h"
#include "formats/common/work.h"
#include "fs/log.h"
#include "fs/opening.h"
#include "fs/views/model/views.h"

/* ---- changes of a source ---- */

enum {
	DEPTH = 2, /* of folders: those of a store below its base */
	FILES_MOST = 1 << 16,
};

static uint64_t mark_of(const struct stat *st)
{
	struct pm_stamp s = pm_stamp_of(st);
	return pm_hash_u64(s.inode ^ pm_hash_u64(s.size ^ pm_hash_u64(s.mtime_ns)));
}

/* A sum over all files below, so that their order does not matter. */
static uint64_t mark_folder(int folder, unsigned depth, unsigned *left)
{
	uint64_t mark = 0;
	DIR *dir = folder < 0 ? NULL : fdopendir(folder);
	if (!dir && folder >= 0)
		close(folder);
	for (struct dirent *e; dir && *left > 0 && (e = readdir(dir));) {
		struct stat st;
		if (e->d_name[0] == '.' || fstatat(dirfd(dir), e->d_name, &st, 0) != 0)
			continue;
		--*left;
		if (S_ISREG(st.st_mode))
			mark += mark_of(&st);
		else if (S_ISDIR(st.st_mode) && depth > 1)
			mark += mark_folder(
				openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				depth - 1, left);
	}
	if (dir)
		closedir(dir);
	return mark;
}

uint64_t pmfs_source_mark(const char *path)
{
	struct stat st;
	unsigned left = FILES_MOST;
	if (stat(path, &st) != 0)
		return 0;
	if (!S_ISDIR(st.st_mode))
		return mark_of(&st);
	return mark_folder(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), DEPTH, &left);
}

/* ---- snapshots ---- */

enum {
	PERIOD_MS = 1000,
	STUCK_MS = 1000,
	NUMBERS = 4, /* snapshots that inode numbers tell apart: two bits above the kind */
	NUMBER_SHIFT = 61,
	FIXED_PATHS = 8, /* nodes of the first documents, which every format has */
};

struct snapshot {
	struct pmfs_mount mount; /* first */
	struct pmfs_instance in;
	unsigned pins;
	unsigned number;
	struct snapshot *older;
};

struct pmfs_follow {
	const struct pmfs_options *options;
	const char *source;
	struct pmfs_mount *session;
	struct pm_work work;
	uint64_t mark; /* of the latest state that was shown, or could not be opened */
	pthread_t thread;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t moved;
	bool stop, ended;
	struct snapshot *newest; /* followed by older ones that are in use */
};

struct handle {
	struct pmfs_mount *m; /* pinned */
	uint64_t last;        /* offset of the last read */
};

static struct timespec after_ms(int ms)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms % 1000 * 1000000L;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* ---- snapshots; the lock is held ---- */

static struct snapshot *snapshot_of(struct pmfs_mount *m)
{
	return (struct snapshot *)m;
}

/* Removes unused snapshots, except the newest two. */
static struct snapshot *sweep(struct pmfs_follow *f)
{
	struct snapshot *dead = NULL;
	struct snapshot **place = f->newest->older ? &f->newest->older->older : &f->newest->older;
	while (*place) {
		struct snapshot *s = *place;
		if (s->pins > 0) {
			place = &s->older;
			continue;
		}
		*place = s->older;
		s->older = dead;
		dead = s;
	}
	return dead;
}

static void free_all(struct snapshot *s)
{
	while (s) {
		struct snapshot *next = s->older;
		pmfs_instance_close(&s->in);
		free(s);
		s = next;
	}
}

static struct snapshot *snapshot_new(
	struct pmfs_follow *f, const struct pmfs_instance *in, const struct pmfs_mount *like)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct timespec now;
	if (!s)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &now);
	s->in = *in;
	s->mount = *like;
	s->mount.in = &s->in;
	s->mount.follow = f;
	s->mount.mtime_ns = pm_time_ns(now);
	return s;
}

static void publish(struct pmfs_follow *f, struct snapshot *s)
{
	pthread_mutex_lock(&f->lock);
	s->number = f->newest ? (f->newest->number + 1) % NUMBERS : 0;
	s->older = f->newest;
	f->newest = s;
	struct snapshot *dead = sweep(f);
	pthread_mutex_unlock(&f->lock);
	free_all(dead);
}

/* ---- switching ---- */

/* Read it before showing it, so that readers do not wait. */
static void move_on(struct pmfs_follow *f)
{
	struct pmfs_instance in;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (pmfs_open_source(f->options, f->source, &in, &err) < 0) {
		if (!pm_work_cancelled())
			pmfs_log_error("the last snapshot stays", &err);
		return;
	}
	if (in.profile->ops->warm)
		in.profile->ops->warm(in.profile);
	struct snapshot *s = pm_work_cancelled() ? NULL : snapshot_new(f, &in, f->session);
	if (s)
		publish(f, s);
	else
		pmfs_instance_close(&in);
}

static bool pause_for_a_period(struct pmfs_follow *f)
{
	struct timespec until = after_ms(PERIOD_MS);
	pthread_mutex_lock(&f->lock);
	while (!f->stop && pthread_cond_timedwait(&f->moved, &f->lock, &until) == 0)
		;
	bool go_on = !f->stop;
	pthread_mutex_unlock(&f->lock);
	return go_on;
}

static void *run(void *context)
{
	struct pmfs_follow *f = context;
	pm_work_enter(&f->work);
	while (pause_for_a_period(f)) {
		uint64_t now = pmfs_source_mark(f->source);
		if (now != f->mark)
			move_on(f);
		f->mark = now;
	}
	pm_work_enter(NULL);
	pthread_mutex_lock(&f->lock);
	f->ended = true;
	pthread_cond_broadcast(&f->moved);
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

struct pmfs_follow *pmfs_follow_start(
	struct pmfs_mount *m, const struct pmfs_options *options, const char *source, uint64_t mark)
{
	struct pmfs_follow *f = calloc(1, sizeof(*f));
	struct snapshot *first = f ? snapshot_new(f, m->in, m) : NULL;
	if (!first) {
		free(f);
		return NULL;
	}
	f->options = options;
	f->source = source;
	f->mark = mark;
	f->session = m;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->moved, NULL);
	publish(f, first);
	if (!pm_thread_start(&f->thread, run, f)) {
		free(first);
		free(f);
		return NULL;
	}
	*m->in = (struct pmfs_instance){.profile = NULL};
	m->follow = f;
	return f;
}

bool pmfs_follow_stop(struct pmfs_follow *f)
{
	struct timespec until = after_ms(STUCK_MS);
	pm_work_cancel(&f->work);
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_broadcast(&f->moved);
	while (!f->ended && pthread_cond_timedwait(&f->moved, &f->lock, &until) == 0)
		;
	bool ended = f->ended;
	pthread_mutex_unlock(&f->lock);
	if (!ended)
		return false;
	pthread_join(f->thread, NULL);
	free_all(f->newest);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->moved);
	free(f);
	return true;
}

/* ---- requests ---- */

static bool is_numbered(pm_node node)
{
	uint32_t place = pmfs_node_b(node) >> 20;
	switch (pmfs_node_kind_of(node)) {
	case PMFS_ROOT:
	case PMFS_EXPORT:
	case PMFS_CONTEXTS:
	case PMFS_BY_ID:
	case PMFS_PROGRESS:
	case PMFS_FUNCTIONS: return false;
	case PMFS_PATH:
	case PMFS_PATH_DOC: return pmfs_node_a(node) >= FIXED_PATHS;
	case PMFS_THREADS: return pmfs_node_a(node) != 0;
	case PMFS_VIEW: return place != PMFS_PLACE_ROOT && place != PMFS_PLACE_EXPORT;
	default: return true;
	}
}

fuse_ino_t pmfs_mount_ino(const struct pmfs_mount *m, pm_node node)
{
	const struct snapshot *s = (const struct snapshot *)m;
	return m->follow && is_numbered(node) ? node | (uint64_t)s->number << NUMBER_SHIFT : node;
}

pm_node pmfs_mount_node(fuse_ino_t ino)
{
	return ino & ~((uint64_t)(NUMBERS - 1) << NUMBER_SHIFT);
}

struct pmfs_mount *pmfs_mount_pin(struct pmfs_mount *session, fuse_ino_t ino)
{
	struct pmfs_follow *f = session->follow;
	if (!f)
		return session;
	bool numbered = is_numbered(pmfs_mount_node(ino));
	pthread_mutex_lock(&f->lock);
	struct snapshot *s = f->newest;
	while (s && numbered && s->number != (ino >> NUMBER_SHIFT & (NUMBERS - 1)))
		s = s->older;
	if (s)
		s->pins++;
	pthread_mutex_unlock(&f->lock);
	return s ? &s->mount : NULL;
}

void pmfs_mount_unpin(struct pmfs_mount *m)
{
	struct pmfs_follow *f = m->follow;
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	snapshot_of(m)->pins--;
	struct snapshot *dead = sweep(f);
	pthread_mutex_unlock(&f->lock);
	free_all(dead);
}

/* ---- open files ---- */

uint64_t pmfs_handle_open(struct pmfs_mount *session, fuse_ino_t ino)
{
	struct handle *h = calloc(1, sizeof(*h));
	if (h && !(h->m = pmfs_mount_pin(session, ino))) {
		free(h);
		h = NULL;
	}
	return (uint64_t)(uintptr_t)h;
}

void pmfs_handle_close(uint64_t handle)
{
	struct handle *h = (struct handle *)(uintptr_t)handle;
	if (!h)
		return;
	pmfs_mount_unpin(h->m);
	free(h);
}

/* Whether its last read was at the end and returned nothing. The lock is held. */
static bool is_at_end(const struct handle *h, pm_node node, uint64_t off)
{
	uint64_t size;
	return off > 0 && off == h->last &&
		pmfs_engine_recall(h->m->in->engine, node, &size) == PMFS_SIZE_KNOWN && off >= size;
}

struct pmfs_mount *pmfs_handle_pin(
	struct pmfs_mount *session, uint64_t handle, pm_node node, uint64_t off)
{
	struct handle *h = (struct handle *)(uintptr_t)handle;
	struct pmfs_follow *f = session->follow;
	pthread_mutex_lock(&f->lock);
	if (!is_numbered(node) && is_at_end(h, node, off)) {
		snapshot_of(h->m)->pins--;
		h->m = &f->newest->mount;
		f->newest->pins++;
	}
	h->last = off;
	struct pmfs_mount *m = h->m;
	snapshot_of(m)->pins++;
	struct snapshot *dead = sweep(f);
	pthread_mutex_unlock(&f->lock);
	free_all(dead);
	return m;
}
