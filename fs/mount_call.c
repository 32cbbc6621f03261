#include "fs/mount_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/work.h"
#include "fs/log.h"
#include "fs/memory.h"
#include "fs/mount_follow.h"

enum { MOST_MESSAGES = 1000 }; /* a grep over a broken source must not fill the log */

static void note_interrupt(fuse_req_t req, void *data)
{
	struct pmfs_call *c = data;
	(void)req;
	__atomic_store_n(&c->interrupted, true, __ATOMIC_RELAXED);
}

bool pmfs_call_claim(struct pmfs_call *c)
{
	if (__atomic_exchange_n(&c->taken, true, __ATOMIC_ACQ_REL))
		return false;
	if (c->parked)
		fuse_req_interrupt_func(c->req, NULL, NULL);
	return true;
}

bool pmfs_call_take(struct pmfs_call *c)
{
	const struct pm_work *w = pm_work_current();
	if (w && (w->refused || __atomic_load_n(&w->gave_up, __ATOMIC_RELAXED)))
		return false;
	return pmfs_call_claim(c);
}

bool pmfs_call_is_taken(const struct pmfs_call *c)
{
	return __atomic_load_n(&c->taken, __ATOMIC_ACQUIRE);
}

bool pmfs_call_try_at_once(struct pmfs_call *c)
{
	struct pm_work work = {.at_once = true};
	pm_work_enter(&work);
	c->answer(c);
	pm_work_enter(NULL);
	return pmfs_call_is_taken(c);
}

void pmfs_call_free(struct pmfs_call *c)
{
	pmfs_mount_unpin(c->m);
	free((char *)(uintptr_t)c->name);
	free(c);
}

struct pmfs_call *pmfs_call_park(const struct pmfs_call *c)
{
	struct pmfs_call *own = malloc(sizeof(*own));
	char *name = own && c->name ? strdup(c->name) : NULL;
	if (!own || (c->name && !name)) {
		free(own);
		return NULL;
	}
	*own = *c;
	own->name = name;
	own->parked = true;
	own->tid = fuse_req_ctx(own->req)->pid;
	fuse_req_interrupt_func(own->req, note_interrupt, own);
	return own;
}

static void log_failure(struct pmfs_call *c, const struct pm_error *err)
{
	unsigned n = __atomic_fetch_add(&c->m->messages, 1, __ATOMIC_RELAXED);
	if (n < MOST_MESSAGES && err->code) {
		char node[32];
		snprintf(node, sizeof(node), "inode %llu", (unsigned long long)c->ino);
		pmfs_log_error(node, err);
	}
	if (n == MOST_MESSAGES)
		pmfs_log("further errors are not logged");
}

void pmfs_call_fail(struct pmfs_call *c, int code, const struct pm_error *err)
{
	static const int plain[] = {-ENOENT, -ENOTDIR, -EISDIR, -ENOMEM, -ESTALE};
	if (!pmfs_call_take(c))
		return;
	if (code == -ENOMEM && pmfs_memory_limited())
		log_failure(c, err);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (code == plain[i] && !(code == -ENOENT && err->code)) {
			fuse_reply_err(c->req, -code);
			return;
		}
	log_failure(c, err);
	fuse_reply_err(c->req, EIO);
}
