#include "fs/mount_progress.h"

#include <float.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "formats/common/row.h"
#include "fs/memory.h"
#include "fs/mount_follow.h"
#include "fs/mount_jobs.h"
#include "fs/mount_unlisted.h"
#include "fs/mount_warm.h"

#define STATUS ".status"

enum {
	MOST_LINES = 64,
	MOST_SNAPSHOTS = 1000,
	FRESH_MS = 100, /* for this time, another lookup of the name returns the same snapshot */
};

/* s: how long the kernel may use the entry without asking. */
static const double entry_timeout = 0.1;

struct snapshot {
	fuse_ino_t ino;
	bool is_status;
	uint64_t lookups; /* that the kernel has not forgotten */
	struct timespec made;
	struct pm_text text;
	struct snapshot *older;
};

struct pmfs_progress {
	pthread_mutex_t lock; /* guards everything below */
	struct snapshot *newest;
	unsigned n;
	uint32_t last; /* number given */
	struct timespec began;
};

/* ---- what a snapshot says ---- */

struct lines {
	struct pm_text *text;
	unsigned n;
};

static void add_line(
	struct lines *l, uint64_t done, uint64_t total, uint64_t ms, struct pm_bytes what)
{
	const struct pm_cell cells[] = {
		total ? pm_cell_u64(done) : pm_cell_empty(),
		total ? pm_cell_u64(total) : pm_cell_empty(),
		pm_cell_f64((double)(ms / 100) / 10),
		pm_cell_text(what),
	};
	if (l->n++ < MOST_LINES)
		pm_row_render(l->text, PM_CSV, cells, sizeof(cells) / sizeof(*cells));
}

static void add_job(void *lines, const struct pmfs_running *r)
{
	struct lines *l = lines;
	struct pm_text what = {.p = NULL};
	pmfs_call_name(r->ino, r->name, &what);
	if (!what.failed)
		add_line(l, r->done, r->total, r->ms, pm_text_view(&what));
	pm_text_done(&what);
}

/* A number of /proc/self/status; memory is in kB there. */
static uint64_t own_number(const char *name)
{
	char line[256];
	size_t len = strlen(name);
	uint64_t ret = 0;
	FILE *f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, len) == 0 && line[len] == ':') {
			ret = strtoull(line + len + 1, NULL, 10);
			break;
		}
	if (f)
		fclose(f);
	return ret;
}

/* What an operator asks of a server; `m` is the session. */
static void render_status(struct pmfs_mount *m, struct pm_text *out)
{
	struct timespec now;
	struct pmfs_load load;
	struct pmfs_mount *shown = pmfs_mount_pin(m, PMFS_NODE_ROOT);
	clock_gettime(CLOCK_MONOTONIC, &now);
	pmfs_jobs_load(m->jobs, &load);
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {{"age_s", (uint64_t)(now.tv_sec - m->progress->began.tv_sec)},
		{"idle_s", load.idle_ms / 1000},
		{"memory_private_bytes", own_number("RssAnon") << 10},
		{"memory_of_files_bytes", own_number("RssFile") << 10},
		{"memory_counted_bytes", own_number("VmData") << 10},
		{"memory_limit_bytes", pmfs_memory_limited()},
		{"cache_bytes", pm_cache_bytes(shown->in->cache)},
		{"cache_limit_bytes", pm_cache_limit(shown->in->cache)}, {"jobs", load.jobs},
		{"jobs_running", load.running}, {"readers_waiting", load.readers},
		{"threads", own_number("Threads")}, {"threads_building", load.threads},
		{"unlisted_names", pmfs_unlisted_names_n(m)}};
	pmfs_mount_unpin(shown);
	pm_text_str(out, "key,value\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		pm_text_printf(out, "%s,%llu\n", rows[i].key, (unsigned long long)rows[i].value);
}

static void render(struct pmfs_mount *m, struct pm_text *out)
{
	struct lines lines = {.text = out};
	uint64_t done, total, ms;
	pm_text_str(out, "done,total,seconds,what\n");
	if (pmfs_warm_runs(m->warm, &done, &total, &ms))
		add_line(&lines, done, total, ms, pm_bytes_of("(source)"));
	pmfs_jobs_each(m->jobs, add_job, &lines);
}

/* ---- snapshots; the lock is held ---- */

static uint64_t age_ms(const struct snapshot *s)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	int64_t ms = (int64_t)(now.tv_sec - s->made.tv_sec) * 1000 +
		(now.tv_nsec - s->made.tv_nsec) / 1000000;
	return ms < 0 ? UINT64_MAX : (uint64_t)ms; /* the clock was set back */
}

static struct snapshot *find(const struct pmfs_progress *p, fuse_ino_t ino)
{
	struct snapshot *s = p->newest;
	while (s && s->ino != ino)
		s = s->older;
	return s;
}

static void snapshot_free(struct snapshot *s)
{
	pm_text_done(&s->text);
	free(s);
}

/* The newest of that kind. */
static struct snapshot *newest(const struct pmfs_progress *p, bool is_status)
{
	struct snapshot *s = p->newest;
	while (s && s->is_status != is_status)
		s = s->older;
	return s;
}

/* NULL if out of memory, or with too many. */
static struct snapshot *make(struct pmfs_mount *m, bool is_status)
{
	struct pmfs_progress *p = m->progress;
	struct snapshot *s = p->n < MOST_SNAPSHOTS ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &s->made);
	s->is_status = is_status;
	(is_status ? render_status : render)(m, &s->text);
	if (s->text.failed) {
		snapshot_free(s);
		return NULL;
	}
	s->ino = pmfs_node(PMFS_PROGRESS, p->last++, 0);
	s->older = p->newest;
	p->newest = s;
	p->n++;
	return s;
}

static void attributes(const struct pmfs_mount *m, const struct snapshot *s, struct stat *ret)
{
	*ret = (struct stat){.st_ino = s->ino,
		.st_mode = S_IFREG | 0444,
		.st_nlink = 1,
		.st_uid = m->uid,
		.st_gid = m->gid,
		.st_size = (off_t)s->text.len,
		.st_blksize = 4096,
		.st_blocks = (blkcnt_t)((s->text.len + 511) / 512),
		.st_mtim = s->made,
		.st_atim = s->made,
		.st_ctim = s->made};
}

/* ---- requests ---- */

void pmfs_progress_lookup(struct pmfs_mount *m, fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct pmfs_progress *p = m->progress;
	struct fuse_entry_param e = {.attr_timeout = DBL_MAX, .entry_timeout = entry_timeout};
	bool by_number = pmfs_progress_is(ino); /* `.`, of an NFS client */
	pthread_mutex_lock(&p->lock);
	bool is_status = strcmp(name, STATUS) == 0;
	struct snapshot *s = by_number ? find(p, ino) : newest(p, is_status);
	if (!by_number && (!s || age_ms(s) >= FRESH_MS))
		s = make(m, is_status);
	if (s) {
		s->lookups++;
		e.ino = s->ino;
		attributes(m, s, &e.attr);
	}
	pthread_mutex_unlock(&p->lock);
	if (!s)
		fuse_reply_err(req, by_number ? ESTALE : ENOMEM);
	else if (fuse_reply_entry(req, &e) != 0)
		pmfs_progress_forget(m, e.ino, 1);
}

void pmfs_progress_getattr(struct pmfs_mount *m, fuse_req_t req, fuse_ino_t ino)
{
	struct stat st;
	pthread_mutex_lock(&m->progress->lock);
	const struct snapshot *s = find(m->progress, ino);
	if (s)
		attributes(m, s, &st);
	pthread_mutex_unlock(&m->progress->lock);
	if (s)
		fuse_reply_attr(req, &st, DBL_MAX);
	else
		fuse_reply_err(req, ESTALE);
}

void pmfs_progress_read(
	struct pmfs_mount *m, fuse_req_t req, fuse_ino_t ino, size_t size, off_t off)
{
	pthread_mutex_lock(&m->progress->lock);
	const struct snapshot *s = find(m->progress, ino);
	if (!s) {
		fuse_reply_err(req, ESTALE);
	} else {
		size_t from = (uint64_t)off < s->text.len ? (size_t)off : s->text.len;
		size_t left = s->text.len - from;
		fuse_reply_buf(req, s->text.p + from, size < left ? size : left);
	}
	pthread_mutex_unlock(&m->progress->lock);
}

void pmfs_progress_forget(struct pmfs_mount *m, fuse_ino_t ino, uint64_t n)
{
	struct pmfs_progress *p = m->progress;
	pthread_mutex_lock(&p->lock);
	struct snapshot **place = &p->newest;
	while (*place && (*place)->ino != ino)
		place = &(*place)->older;
	struct snapshot *s = *place;
	bool dead = s && s->lookups <= n;
	if (dead) {
		*place = s->older;
		p->n--;
		snapshot_free(s);
	} else if (s) {
		s->lookups -= n;
	}
	pthread_mutex_unlock(&p->lock);
}

bool pmfs_progress_is(fuse_ino_t ino)
{
	return pmfs_node_kind_of(ino) == PMFS_PROGRESS;
}

bool pmfs_progress_is_named(fuse_ino_t parent, const char *name)
{
	return parent == PMFS_NODE_ROOT &&
		(strcmp(name, ".progress") == 0 || strcmp(name, STATUS) == 0);
}

/* ---- life ---- */

struct pmfs_progress *pmfs_progress_new(void)
{
	struct pmfs_progress *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	clock_gettime(CLOCK_MONOTONIC, &p->began);
	return p;
}

void pmfs_progress_free(struct pmfs_progress *p)
{
	if (!p)
		return;
	for (struct snapshot *s = p->newest, *older; s; s = older) {
		older = s->older;
		snapshot_free(s);
	}
	pthread_mutex_destroy(&p->lock);
	free(p);
}
