/*
 * Stamps and sums of files that may grow.
 *
 * Each used block has a checksum, and the generation in which it was used last. When the file has
 * grown, a new generation begins: every later use of a block verifies its checksum first, and
 * blocks that pending replies may have used, those of this generation and the one before, are
 * verified immediately. No pending reply contains data of older generations.
 */
#include "formats/common/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "formats/common/cursor.h"
#include "formats/common/folder.h"

enum { END = 16 << 10 }; /* bytes at each end that pm_watch_ends remembers */

/*
 * A write updates the timestamps before it extends the file; for this long, the file may look
 * rewritten.
 */
enum { WRITE_TRIES = 20, WRITE_PAUSE_NS = 1000000 };

struct pm_block {
	uint64_t sum;  /* atomic; 0: not used yet */
	uint32_t used; /* atomic; the generation of the last use; 0: none */
};

/* ---- stamps ---- */

struct pm_stamp pm_stamp_of(const struct stat *st)
{
	return (struct pm_stamp){.device = st->st_dev,
		.inode = st->st_ino,
		.links = st->st_nlink,
		.size = (uint64_t)st->st_size,
		.mtime_ns = pm_time_ns(st->st_mtim),
		.ctime_ns = pm_time_ns(st->st_ctim)};
}

enum pm_change pm_stamp_compare(const struct pm_stamp *was, const struct pm_stamp *is)
{
	if (is->device != was->device || is->inode != was->inode || is->size < was->size)
		return PM_CHANGED;
	if (is->size > was->size)
		return PM_GROWN;
	if (is->mtime_ns != was->mtime_ns)
		return PM_CHANGED;
	return is->ctime_ns == was->ctime_ns || is->links < was->links ? PM_UNCHANGED : PM_CHANGED;
}

/* ---- sums ---- */

static uint64_t word_at(const uint8_t *p)
{
	uint64_t w;
	memcpy(&w, p, sizeof(w));
	return w;
}

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h << 29 | h >> 35;
}

/* Four independent chains, which a processor computes in parallel. Never 0. */
static uint64_t sum_of(struct pm_bytes b)
{
	uint64_t h[4] = {1, 2, 3, b.len};
	uint8_t rest[32] = {0};
	size_t at = 0;
	for (; b.len - at >= sizeof(rest); at += sizeof(rest))
		for (unsigned k = 0; k < 4; k++)
			h[k] = mix(h[k], word_at(b.p + at + 8 * k));
	if (b.len > at)
		memcpy(rest, b.p + at, b.len - at);
	uint64_t sum = 0;
	for (unsigned k = 0; k < 4; k++)
		sum = mix(mix(sum, mix(h[k], word_at(rest + 8 * k))), k);
	return sum ? sum : 1;
}

void pm_watch_spoil(struct pm_watch *w)
{
	__atomic_store_n(&w->changed, true, __ATOMIC_RELEASE);
}

bool pm_watch_spoilt(struct pm_watch *w)
{
	return __atomic_load_n(&w->changed, __ATOMIC_ACQUIRE);
}

static bool block_at(
	const struct pm_watch *w, struct pm_bytes bytes, size_t i, struct pm_bytes *ret)
{
	uint64_t off = i * PM_WATCH_BLOCK, left = w->was.size - off;
	return pm_bytes_sub(bytes, off, left < PM_WATCH_BLOCK ? left : PM_WATCH_BLOCK, ret);
}

/* Whether the block is unchanged since its first use, which may be this one. */
static bool block_good(struct pm_watch *w, struct pm_bytes bytes, size_t i)
{
	struct pm_bytes block;
	uint64_t before = 0;
	if (!block_at(w, bytes, i, &block))
		return false;
	uint64_t sum = sum_of(block);
	return __atomic_compare_exchange_n(&w->blocks[i].sum, &before, sum, false, __ATOMIC_ACQ_REL,
		       __ATOMIC_ACQUIRE) ||
		before == sum;
}

/*
 * The use is recorded after the comparison, and the block is compared again if a generation has
 * begun meanwhile. So either the thread that begins the generation sees the use, or this one
 * compares the block again.
 */
static bool block_use(struct pm_watch *w, struct pm_bytes bytes, size_t i)
{
	uint32_t *used = &w->blocks[i].used;
	uint32_t now = __atomic_load_n(&w->generation, __ATOMIC_ACQUIRE), before;
	struct pm_bytes block;
	if (__atomic_load_n(used, __ATOMIC_ACQUIRE) != now && block_at(w, bytes, i, &block) &&
		!pm_bytes_fetch(block))
		return true; /* the work is cancelled, so the block is not used */
	while (__atomic_load_n(used, __ATOMIC_ACQUIRE) != now) {
		if (!block_good(w, bytes, i)) {
			pm_watch_spoil(w);
			return false;
		}
		__atomic_store_n(used, now, __ATOMIC_SEQ_CST);
		before = now;
		now = __atomic_load_n(&w->generation, __ATOMIC_SEQ_CST);
		if (now == before)
			break;
	}
	return true;
}

bool pm_watch_use(struct pm_watch *w, struct pm_bytes bytes, uint64_t off, uint64_t len)
{
	if (!w->blocks || len == 0)
		return true;
	if (off >= w->was.size || len > w->was.size - off)
		return false;
	for (size_t i = off / PM_WATCH_BLOCK; i <= (off + len - 1) / PM_WATCH_BLOCK; i++)
		if (!block_use(w, bytes, i))
			return false;
	return true;
}

/* What is not longer than both ends is summed up as a whole: mixed with itself, a sum is nothing.
 */
static uint64_t sum_of_ends(const struct pm_watch *w, struct pm_bytes bytes)
{
	struct pm_bytes head, tail;
	bool whole = w->was.size <= 2 * END;
	uint64_t len = whole ? w->was.size : END;
	if (!pm_bytes_sub(bytes, 0, len, &head) ||
		!pm_bytes_sub(bytes, w->was.size - len, len, &tail))
		return 0;
	if (whole)
		return sum_of(head);
	uint64_t sum = mix(sum_of(head), sum_of(tail));
	return sum ? sum : 1;
}

void pm_watch_ends(struct pm_watch *w, struct pm_bytes bytes)
{
	w->ends = sum_of_ends(w, bytes);
}

/* ---- the file as it is now ---- */

static enum pm_change look(const struct pm_watch *w, int fd, struct pm_stamp *ret)
{
	static const struct timespec pause = {.tv_nsec = WRITE_PAUSE_NS};
	enum pm_change change = PM_CHANGED;
	for (int i = 0; i < WRITE_TRIES; i++) {
		struct stat st;
		if (fstat(fd, &st) != 0)
			return PM_CHANGED;
		*ret = pm_stamp_of(&st);
		change = pm_stamp_compare(&w->seen, ret);
		if (change != PM_CHANGED || ret->size != w->seen.size)
			break;
		nanosleep(&pause, NULL);
	}
	return change;
}

/* Begins a generation; the caller holds the lock. */
static bool grow(struct pm_watch *w, struct pm_bytes bytes, const struct pm_stamp *is)
{
	uint32_t now = __atomic_add_fetch(&w->generation, 1, __ATOMIC_SEQ_CST);
	if (w->ends && sum_of_ends(w, bytes) != w->ends)
		return false;
	for (size_t i = 0; i < w->n && w->blocks; i++) {
		uint32_t used = __atomic_load_n(&w->blocks[i].used, __ATOMIC_SEQ_CST);
		if (used && used + 2 >= now && !block_good(w, bytes, i))
			return false;
	}
	w->seen = *is;
	return true;
}

bool pm_watch_good(struct pm_watch *w, struct pm_bytes bytes, int fd)
{
	struct pm_stamp is;
	if (pm_watch_spoilt(w))
		return false;
	pthread_mutex_lock(&w->lock);
	enum pm_change change = look(w, fd, &is);
	bool good = change == PM_UNCHANGED || (change == PM_GROWN && grow(w, bytes, &is));
	pthread_mutex_unlock(&w->lock);
	if (!good)
		pm_watch_spoil(w);
	return good && !pm_watch_spoilt(w);
}

int pm_watch_init(struct pm_watch *w, const struct pm_stamp *was, bool sums)
{
	*w = (struct pm_watch){.was = *was, .seen = *was, .generation = 1};
	pthread_mutex_init(&w->lock, NULL);
	w->n = was->size / PM_WATCH_BLOCK + (was->size % PM_WATCH_BLOCK != 0);
	if (!sums || w->n == 0)
		return 0;
	w->blocks = calloc(w->n, sizeof(*w->blocks));
	return w->blocks ? 0 : -ENOMEM;
}

void pm_watch_done(struct pm_watch *w)
{
	if (w->generation)
		pthread_mutex_destroy(&w->lock);
	free(w->blocks);
	*w = (struct pm_watch){.blocks = NULL};
}
