/* A request of the kernel that is being processed; processing can be tried more than once. */
#ifndef PROFMOUNT_FS_MOUNT_CALL_H
#define PROFMOUNT_FS_MOUNT_CALL_H

#include "fs/mount_ops.h"

/* A request of the kernel. */
struct pmfs_call {
	struct pmfs_mount *m; /* pinned; released with the call */
	fuse_req_t req;       /* only for the thread that has taken the call */
	/*
	 * Finds the answer, and replies if pmfs_call_take allows it. Called until a thread has
	 * taken the call; never by two threads at once.
	 */
	void (*answer)(struct pmfs_call *c);
	/*
	 * Optional, set by answer: replies with what is known so far, so that the client need not
	 * wait.
	 */
	void (*answer_early)(struct pmfs_call *c);
	fuse_ino_t ino; /* the node */
	const char *name;
	size_t size;
	off_t off;
	struct pmfs_entry entry; /* of a lookup, once found */
	uint64_t key;            /* calls with the same key wait for the same job */

	/* Used by mount_jobs.c and mount_watch.c: */
	struct pmfs_call *next;
	bool parked;       /* it has left the thread that it came in with */
	bool taken;        /* atomic */
	bool interrupted;  /* atomic */
	pid_t tid;         /* the waiting thread; 0: unknown */
	uint64_t asked_ms; /* when it was last checked whether it still waits */
};

/* True for the thread that has to reply; false if the answer is not needed any more, or invalid. */
bool pmfs_call_take(struct pmfs_call *c);

/*
 * Takes the right to reply: its owner may use the request, and interrupts are no longer delivered.
 */
bool pmfs_call_claim(struct pmfs_call *c);

/* Replies with the error `code`; logs errors whose cause the client cannot see. */
void pmfs_call_fail(struct pmfs_call *c, int code, const struct pm_error *err);

/* Whether it has been taken. */
bool pmfs_call_is_taken(const struct pmfs_call *c);

/* Answers from existing data; false if something would have to be built first. */
bool pmfs_call_try_at_once(struct pmfs_call *c);

/*
 * A copy on the heap that is independent of its thread and receives interrupts. NULL if out of
 * memory.
 */
struct pmfs_call *pmfs_call_park(const struct pmfs_call *c);
void pmfs_call_free(struct pmfs_call *c);

#endif
