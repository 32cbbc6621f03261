/*
 * Detects whether a file still has the contents that it had when the source was opened.
 *
 * A measured program keeps writing: a file that has only grown since then is served as it was, with
 * the bytes it had then. A file that was rewritten is not. No attribute distinguishes the two, so
 * blocks that are used get a checksum, and once the file has grown, the blocks used for a reply are
 * verified before it is sent (docs/decisions/0100-growing-sources.md).
 */
#ifndef PROFMOUNT_FORMATS_COMMON_WATCH_H
#define PROFMOUNT_FORMATS_COMMON_WATCH_H

#include <pthread.h>

#include "profmount/bytes.h"

struct stat;

/* Attributes of a file. */
struct pm_stamp {
	uint64_t device, inode, links, size, mtime_ns, ctime_ns;
};

enum pm_change {
	PM_UNCHANGED,
	PM_GROWN,   /* longer; its previous contents may be unchanged */
	PM_CHANGED, /* another file, shorter, or written to */
};

struct pm_stamp pm_stamp_of(const struct stat *st);

/* A file that was removed or replaced, and therefore has fewer links, is unchanged. */
enum pm_change pm_stamp_compare(const struct pm_stamp *was, const struct pm_stamp *is);

struct pm_block; /* private */

struct pm_watch {
	struct pm_stamp was; /* when the source was opened; this size is presented */
	pthread_mutex_t lock;
	struct pm_stamp seen;    /* guarded: the latest state of the file that was verified */
	uint32_t generation;     /* atomic: incremented when growth of the file was detected */
	struct pm_block *blocks; /* NULL: growth is assumed to be appending only */
	size_t n;
	uint64_t ends; /* checksum; see pm_watch_ends; 0: not remembered */
	bool changed;  /* atomic, permanent */
};

/*
 * Starts watching a file in the state `was`. With `sums`, 24 bytes are kept for each 64 KiB, and it
 * can fail with -ENOMEM. End with pm_watch_done, which accepts a zeroed one.
 */
int pm_watch_init(struct pm_watch *w, const struct pm_stamp *was, bool sums);

/*
 * Remembers the first and the last bytes of the file, in which a file that was rewritten usually
 * differs, so that this is noticed even if nothing else had been used. Reads up to 32 KiB.
 */
void pm_watch_ends(struct pm_watch *w, struct pm_bytes bytes);

void pm_watch_done(struct pm_watch *w);

/*
 * Call this before using bytes [off, off + len) of the file, which is mapped at `bytes`. False if
 * they have changed; the file then counts as changed permanently. Free if the blocks have been used
 * since the file last grew; otherwise checksums of 64 KiB blocks are computed. Thread-safe.
 */
bool pm_watch_use(struct pm_watch *w, struct pm_bytes bytes, uint64_t off, uint64_t len);

/* Size of a block with a checksum. */
#define PM_WATCH_BLOCK ((uint64_t)64 << 10)

/*
 * The same if the byte at `off` has just been checked: free unless it extends into another block.
 */
static inline bool pm_watch_use_on(
	struct pm_watch *w, struct pm_bytes bytes, uint64_t off, uint64_t len)
{
	return len == 0 || off / PM_WATCH_BLOCK == (off + len - 1) / PM_WATCH_BLOCK ||
		pm_watch_use(w, bytes, off, len);
}

/*
 * As long as this number is the same, pm_watch_use need not be called again for the bytes up to
 * pm_watch_block_end.
 */
static inline uint32_t pm_watch_generation(const struct pm_watch *w)
{
	return __atomic_load_n(&w->generation, __ATOMIC_ACQUIRE);
}

/* The end of the block with the byte at `off`. */
static inline uint64_t pm_watch_block_end(uint64_t off)
{
	return (off / PM_WATCH_BLOCK + 1) * PM_WATCH_BLOCK;
}

/*
 * Call this before sending a reply: whether all used bytes are unchanged. `fd` is the file. Costs
 * one fstat and, if the file has grown since the last call, checksums of what was used since then.
 */
bool pm_watch_good(struct pm_watch *w, struct pm_bytes bytes, int fd);

/* Marks the file as changed. */
void pm_watch_spoil(struct pm_watch *w);
bool pm_watch_spoilt(struct pm_watch *w);

#endif
