/*
 * Whether a file still holds what it held when the source was opened.
 *
 * A program that is being measured goes on writing: a file that has only grown since is served as
 * it was, the bytes that it had then. One that was rewritten is not. No attribute tells the two
 * apart, so blocks that are used get a checksum, and once the file has grown, what answers are made
 * of is held against it before they leave (docs/decisions/0100-growing-sources.md).
 */
#ifndef PROFMOUNT_FORMATS_COMMON_WATCH_H
#define PROFMOUNT_FORMATS_COMMON_WATCH_H

#include <pthread.h>

#include "profmount/bytes.h"

struct stat;

/* What the system says of a file. */
struct pm_stamp {
	uint64_t device, inode, links, size, mtime_ns, ctime_ns;
};

enum pm_change {
	PM_UNCHANGED,
	PM_GROWN,   /* longer; what it was before may be as it was */
	PM_CHANGED, /* another file, shorter, or written to */
};

struct pm_stamp pm_stamp_of(const struct stat *st);

/* A file that was removed or replaced, and so has one name less, is unchanged. */
enum pm_change pm_stamp_compare(const struct pm_stamp *was, const struct pm_stamp *is);

struct pm_block; /* private */

struct pm_watch {
	struct pm_stamp was; /* when the source was opened: this size is presented */
	pthread_mutex_t lock;
	struct pm_stamp seen;    /* guarded: the file's newest state that was found good */
	uint32_t generation;     /* atomic: grows when the file was seen to have grown */
	struct pm_block *blocks; /* NULL: growth is taken for nothing but growth */
	size_t n;
	bool changed; /* atomic, lasting */
};

/*
 * Begins with the file as `was` says. With `sums`, 24 bytes are kept for each 64 KiB: -ENOMEM. End
 * with pm_watch_done, which accepts a zeroed one.
 */
int pm_watch_init(struct pm_watch *w, const struct pm_stamp *was, bool sums);
void pm_watch_done(struct pm_watch *w);

/*
 * Bytes [off, off + len) of the file, which is mapped at `bytes`, are about to be used. False where
 * they are not what they were; the watch then says so for ever. Free where the blocks were used
 * since the file grew last; else 64 KiB are summed up. From any thread.
 */
bool pm_watch_use(struct pm_watch *w, struct pm_bytes bytes, uint64_t off, uint64_t len);

/* What is summed up at once. */
#define PM_WATCH_BLOCK ((uint64_t)64 << 10)

/* The same where the byte at `off` was just asked for: free unless it goes into another block. */
static inline bool pm_watch_use_on(
	struct pm_watch *w, struct pm_bytes bytes, uint64_t off, uint64_t len)
{
	return len == 0 || off / PM_WATCH_BLOCK == (off + len - 1) / PM_WATCH_BLOCK ||
		pm_watch_use(w, bytes, off, len);
}

/*
 * Asked before an answer leaves: is all that was used what it was? `fd` is of the file. Costs one
 * fstat, and where the file has grown since the last question the sums of what was used since.
 */
bool pm_watch_good(struct pm_watch *w, struct pm_bytes bytes, int fd);

/* True once the file was seen to be longer than it was. */
bool pm_watch_grown(struct pm_watch *w);

/* It is not what it was. */
void pm_watch_spoil(struct pm_watch *w);
bool pm_watch_spoilt(struct pm_watch *w);

#endif
