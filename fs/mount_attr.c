/* Requests about nodes: attributes, lookups of names, extended attributes. */
#include <float.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/common/work.h"
#include "fs/mount_call.h"
#include "fs/mount_follow.h"
#include "fs/mount_ops.h"
#include "fs/mount_unlisted.h"
#include "fs/xattr.h"

enum { FOLLOW_TIMEOUT = 1 }; /* s: how long a name may outlive its snapshot */

/* ---- attributes ---- */

void pmfs_mount_stat(const struct pmfs_mount *m, pm_node node, enum pmfs_type type, uint64_t size,
	struct stat *ret)
{
	static const mode_t modes[] = {[PMFS_DIRECTORY] = S_IFDIR | 0555,
		[PMFS_FILE] = S_IFREG | 0444,
		[PMFS_LINK] = S_IFLNK | 0777};
	uint64_t mtime = m->mtime_ns ? m->mtime_ns : m->in->profile->mtime_ns;
	memset(ret, 0, sizeof(*ret));
	ret->st_ino = pmfs_mount_ino(m, node);
	ret->st_mode = modes[type];
	ret->st_nlink = 1;
	ret->st_uid = m->uid;
	ret->st_gid = m->gid;
	ret->st_size = (off_t)size;
	ret->st_blksize = PMFS_BLOCK;
	ret->st_blocks = (blkcnt_t)((size + 511) / 512);
	ret->st_mtim.tv_sec = (time_t)(mtime / 1000000000u);
	ret->st_mtim.tv_nsec = (long)(mtime % 1000000000u);
	ret->st_atim = ret->st_ctim = ret->st_mtim;
}

/* A document's size, or 0 for a directory. */
static int mount_size(struct pmfs_mount *m, pm_node node, enum pmfs_type type, uint64_t *ret,
	struct pm_error *err)
{
	struct pm_doc doc;
	*ret = 0;
	if (type == PMFS_DIRECTORY)
		return 0;
	int r = pmfs_tree_document(m->in->tree, node, &doc, err);
	if (r < 0)
		return r;
	r = pmfs_engine_size(m->in->engine, node, &doc, ret, err);
	pmfs_tree_release(m->in->tree, node);
	return r;
}

/* The kind of document, if nothing has to be built to determine it. */
static int document_at_once(struct pmfs_mount *m, pm_node node, struct pm_doc *ret)
{
	struct pm_work at_once = {.at_once = true}, *before = pm_work_enter(&at_once);
	int r = pmfs_tree_document(m->in->tree, node, ret, NULL);
	if (r == 0)
		pmfs_tree_release(m->in->tree, node);
	pm_work_enter(before);
	return at_once.refused ? -EAGAIN : r;
}

enum pmfs_size pmfs_mount_known_size(
	struct pmfs_mount *m, const struct pmfs_entry *entry, uint64_t *ret)
{
	struct pm_doc doc;
	*ret = 0;
	if (entry->type == PMFS_DIRECTORY)
		return PMFS_SIZE_KNOWN;
	enum pmfs_size known = pmfs_engine_recall(m->in->engine, entry->node, ret);
	if (known == PMFS_SIZE_KNOWN)
		return known;
	if (pmfs_tree_is_cheap(entry->node) &&
		mount_size(m, entry->node, entry->type, ret, NULL) == 0)
		return PMFS_SIZE_KNOWN;
	if (!pmfs_tree_is_of_format(entry->node))
		return known;
	int r = document_at_once(m, entry->node, &doc);
	if (r == -EAGAIN || (r == 0 && doc.kind != PM_DOC_FILE && doc.kind != PM_DOC_BYTES))
		return known;
	if (r < 0 || doc.kind == PM_DOC_FILE)
		return PMFS_SIZE_FORGOTTEN;
	*ret = doc.bytes.len;
	return PMFS_SIZE_KNOWN;
}

void pmfs_mount_entry(const struct pmfs_mount *m, const struct pmfs_entry *entry, uint64_t size,
	struct fuse_entry_param *ret)
{
	*ret = (struct fuse_entry_param){.ino = pmfs_mount_ino(m, entry->node),
		.attr_timeout = m->follow ? 0 : DBL_MAX,
		.entry_timeout = m->follow ? FOLLOW_TIMEOUT : DBL_MAX};
	pmfs_mount_stat(m, entry->node, entry->type, size, &ret->attr);
}

void pmfs_answer_getattr(struct pmfs_call *c)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	enum pmfs_type type;
	uint64_t size;
	struct stat st;
	int r = pmfs_tree_type(c->m->in->tree, c->ino, &type, &err);
	if (r == 0)
		r = mount_size(c->m, c->ino, type, &size, &err);
	if (r < 0) {
		pmfs_call_fail(c, r, &err);
		return;
	}
	pmfs_mount_stat(c->m, c->ino, type, size, &st);
	if (pmfs_call_take(c))
		fuse_reply_attr(c->req, &st, c->m->follow ? 0 : DBL_MAX);
}

/* ---- names ---- */

/* `.` and `..` come from NFS clients that hold nothing but a node id. */
static int lookup_special(struct pmfs_mount *m, pm_node node, const char *name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	ret->node = node;
	if (strcmp(name, "..") == 0) {
		int r = pmfs_tree_parent(m->in->tree, node, &ret->node, err);
		if (r < 0)
			return r;
	}
	int r = pmfs_tree_type(m->in->tree, ret->node, &ret->type, err);
	return r == -ENOENT ? -ESTALE : r;
}

/* The entry of a call's name. */
static int find(struct pmfs_call *c, struct pmfs_entry *ret, struct pm_error *err)
{
	if (strcmp(c->name, ".") == 0 || strcmp(c->name, "..") == 0)
		return lookup_special(c->m, c->ino, c->name, ret, err);
	return pmfs_tree_lookup(c->m->in->tree, c->ino, pm_bytes_of(c->name), ret, err);
}

/*
 * A number that is not listed may have been given to another name since this one was found: then it
 * is found again.
 */
static void reply_entry(struct pmfs_call *c, uint64_t size, bool is_size_known)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct fuse_entry_param e;
	uint64_t generation;
	int r;
	while ((r = pmfs_unlisted_names_count(c->m, &c->entry, c->ino, c->name, &generation)) ==
		-ESTALE) {
		is_size_known = false;
		if ((r = find(c, &c->entry, &err)) < 0)
			break;
	}
	if (r < 0) {
		fuse_reply_err(c->req, -r);
		return;
	}
	pmfs_mount_entry(c->m, &c->entry, is_size_known ? size : 0, &e);
	e.generation = generation;
	if (!is_size_known)
		e.attr_timeout = 0;
	if (fuse_reply_entry(c->req, &e) != 0)
		pmfs_unlisted_names_forget(c->m, e.ino, 1);
}

/* With attributes that have expired: the kernel calls getattr before it uses the size. */
static void answer_lookup_early(struct pmfs_call *c)
{
	reply_entry(c, 0, false);
}

/*
 * The size returned with a lookup: 1, or 0 if it is left to getattr.
 *
 * A second lookup of the same name cannot be interrupted until the first one is answered. So a size
 * that takes long is left to getattr, which the kernel calls before opening the file to check
 * permissions. But a size that may have been reported before must be reported again, or the kernel
 * would truncate the file under its readers.
 */
static int size_for_lookup(struct pmfs_call *c, uint64_t *ret, struct pm_error *err)
{
	enum pmfs_size known = pmfs_mount_known_size(c->m, &c->entry, ret);
	if (known == PMFS_SIZE_KNOWN)
		return 1;
	if (known == PMFS_SIZE_NEVER_TOLD && c->entry.type == PMFS_FILE && !c->answer_early) {
		if (c->parked)
			return 0; /* finding the name has already used up the time */
		c->answer_early = answer_lookup_early;
		c->key = c->entry.node;
	}
	int r = mount_size(c->m, c->entry.node, c->entry.type, ret, err);
	return r < 0 ? r : 1;
}

void pmfs_answer_lookup(struct pmfs_call *c)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct fuse_entry_param e = {.entry_timeout = c->m->follow ? FOLLOW_TIMEOUT : DBL_MAX};
	uint64_t size = 0;
	int r = c->answer_early ? 0 : find(c, &c->entry, &err);
	if (r == 0)
		r = size_for_lookup(c, &size, &err);
	if (r < 0 && (r != -ENOENT || err.code)) {
		pmfs_call_fail(c, r, &err);
		return;
	}
	if (!pmfs_call_take(c))
		return;
	/* Missing names are cached, too: they will never exist. */
	if (r < 0)
		fuse_reply_entry(c->req, &e);
	else
		reply_entry(c, size, r > 0);
}

/* ---- extended attributes ---- */

static void reply_attribute(struct pmfs_call *c, const struct pm_text *value)
{
	if (!pmfs_call_take(c))
		return;
	if (c->size == 0)
		fuse_reply_xattr(c->req, value->len);
	else if (value->len > c->size)
		fuse_reply_err(c->req, ERANGE);
	else
		fuse_reply_buf(c->req, value->p, value->len);
}

void pmfs_answer_getxattr(struct pmfs_call *c)
{
	struct pm_text value = {.p = NULL};
	int r = pmfs_xattr_get(c->m->in, c->ino, c->name, &value);
	if (r == 0)
		reply_attribute(c, &value);
	else if (pmfs_call_take(c))
		fuse_reply_err(c->req, -r);
	pm_text_done(&value);
}

void pmfs_answer_listxattr(struct pmfs_call *c)
{
	struct pm_text names = {.p = NULL};
	pmfs_xattr_list(c->m->in, c->ino, &names);
	reply_attribute(c, &names);
	pm_text_done(&names);
}
