/* A request of the kernel on its way to an answer, which may be tried more than once. */
#ifndef PROFMOUNT_FS_MOUNT_CALL_H
#define PROFMOUNT_FS_MOUNT_CALL_H

#include "fs/mount_ops.h"

/* A request of the kernel. */
struct pmfs_call {
	struct pmfs_mount *m; /* pinned: given back with the call */
	fuse_req_t req;       /* to be touched by who took the call alone */
	/*
	 * Finds the answer, and replies if pmfs_call_take allows it. Called until somebody took
	 * the call; never by two at once.
	 */
	void (*answer)(struct pmfs_call *c);
	/* Optional, set by answer: replies with what is known already, so that nobody waits. */
	void (*answer_early)(struct pmfs_call *c);
	fuse_ino_t ino; /* the node */
	const char *name;
	size_t size;
	off_t off;
	struct pmfs_entry entry; /* of lookup, once it is found */
	uint64_t key;            /* calls of one key wait for one job */

	/* Of mount_jobs.c and mount_watch.c: */
	struct pmfs_call *next;
	bool parked;       /* it has left the thread that it came in with */
	bool taken;        /* atomic */
	bool interrupted;  /* atomic */
	pid_t tid;         /* who waits; 0: unknown */
	uint64_t asked_ms; /* when he was last asked whether he wants to wait any longer */
};

/* True for the one who replies; false where the answer is not wanted, or worth nothing. */
bool pmfs_call_take(struct pmfs_call *c);

/* The right to reply: whoever has it may use the request, and nobody is told of it any more. */
bool pmfs_call_claim(struct pmfs_call *c);

/* Replies that it failed with `code`; what a client cannot know is logged. */
void pmfs_call_fail(struct pmfs_call *c, int code, const struct pm_error *err);

/* Has somebody got it? */
bool pmfs_call_is_taken(const struct pmfs_call *c);

/* Answers with what is there: false where something would have to be built first. */
bool pmfs_call_try_at_once(struct pmfs_call *c);

/* A copy on the heap, told of interrupts, that has left its thread. NULL without memory. */
struct pmfs_call *pmfs_call_park(const struct pmfs_call *c);
void pmfs_call_free(struct pmfs_call *c);

#endif
