/*
 * Listing directories. readdirplus returns attributes only if they are free: for directories, and
 * for documents whose size is known or can be computed without rendering. A plain `ls` computes no
 * sizes.
 */
#include "fs/mount_call.h"
#include "fs/mount_unlisted.h"

#include <stdlib.h>
#include <string.h>

struct listing {
	struct pmfs_mount *m;
	fuse_req_t req;
	char *buf;
	size_t used, size;
	bool plus;
	bool uncounted; /* numbers of its entries are counted when they are looked up */
};

/* Adds an entry; false if it does not fit any more. `next` is the cookie after it. */
static bool listing_add(
	struct listing *l, const char *name, const struct fuse_entry_param *e, off_t next)
{
	char *at = l->buf + l->used;
	size_t left = l->size - l->used;
	size_t n = l->plus ? fuse_add_direntry_plus(l->req, at, left, name, e, next)
			   : fuse_add_direntry(l->req, at, left, name, &e->attr, next);
	if (n > left)
		return false;
	l->used += n;
	return true;
}

static bool listing_add_entry(struct listing *l, const struct pmfs_entry *entry, off_t next)
{
	struct pmfs_mount *m = l->m;
	char name[PMFS_NAME_SIZE];
	struct fuse_entry_param e;
	uint64_t size = 0;
	bool known = !l->plus || pmfs_mount_known_size(m, entry, &size) == PMFS_SIZE_KNOWN;
	memcpy(name, entry->name, entry->len);
	name[entry->len] = 0;
	pmfs_mount_entry(m, entry, size, &e);
	if (!known || l->uncounted)
		e.ino = 0; /* named and typed, but without attributes: stat will ask for them */
	return listing_add(l, name, &e, next);
}

/* `.` and `..` are at offsets 0 and 1; the tree's cookie c is at c + 2. */
static int listing_fill(struct listing *l, pm_node dir, uint64_t at, struct pm_error *err)
{
	struct pmfs_mount *m = l->m;
	for (; at < 2; at++) {
		struct fuse_entry_param e = {.ino = 0};
		pm_node node = dir;
		int r = at == 1 ? pmfs_tree_parent(m->in->tree, dir, &node, err) : 0;
		if (r < 0)
			return r;
		pmfs_mount_stat(m, node, PMFS_DIRECTORY, 0, &e.attr);
		if (!listing_add(l, at == 0 ? "." : "..", &e, (off_t)at + 1))
			return 0;
	}
	for (uint64_t cookie = at - 2;;) {
		struct pmfs_entry entry;
		int r = pmfs_tree_next(m->in->tree, dir, &cookie, &entry, err);
		/* Return what has been listed so far; the error is returned by the next request. */
		if (r <= 0 || !listing_add_entry(l, &entry, (off_t)(cookie + 2)))
			return l->used > 0 || r >= 0 ? 0 : r;
	}
}

static void list(struct pmfs_call *c, bool plus)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct listing l = {.m = c->m,
		.req = c->req,
		.buf = malloc(c->size),
		.size = c->size,
		.plus = plus,
		.uncounted = plus && pmfs_unlisted_names_have(c->m, c->ino)};
	enum pmfs_type type;
	int r = l.buf ? pmfs_tree_type(c->m->in->tree, c->ino, &type, &err) : -ENOMEM;
	if (r == 0 && type != PMFS_DIRECTORY)
		r = -ENOTDIR;
	if (r == 0)
		r = listing_fill(&l, c->ino, (uint64_t)c->off, &err);
	if (r < 0)
		pmfs_call_fail(c, r, &err);
	else if (pmfs_call_take(c))
		fuse_reply_buf(c->req, l.buf, l.used);
	free(l.buf);
}

void pmfs_answer_readdir(struct pmfs_call *c)
{
	list(c, false);
}

void pmfs_answer_readdirplus(struct pmfs_call *c)
{
	list(c, true);
}
