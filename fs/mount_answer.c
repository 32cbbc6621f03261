/* Answers to requests: about nodes, of directories, of documents. */
#include "fs/mount_ops.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/common/work.h"
#include "fs/instance.h"
#include "fs/mount_follow.h"
#include "fs/mount_jobs.h"
#include "fs/mount_unlisted.h"

/*
 * ---- extended attributes user.profmount.* (-o xattr) ----
 *
 * Properties of the root, of contexts, and of a context's values as attributes, for scripts
 * that walk the tree and need to identify a directory without opening files in it.
 */

#define PREFIX "user.profmount."

enum scope { OF_ROOT, OF_CONTEXT, OF_VALUE };

struct subject {
	struct pmfs_instance *in;
	const struct pm_tree *tree;
	uint32_t context;
	const struct pmfs_column *column;
};

static void add_source(const struct subject *s, struct pm_text *out)
{
	pm_text_str(out, s->in->profile->source);
}

static void add_format(const struct subject *s, struct pm_text *out)
{
	pm_text_str(out, s->in->profile->format);
}

static void add_context_id(const struct subject *s, struct pm_text *out)
{
	pm_text_u64(out, pm_tree_number(s->tree, s->context));
}

static void add_kind(const struct subject *s, struct pm_text *out)
{
	struct pm_text scratch = {.p = NULL};
	pm_text_bytes(out, pmfs_frame_kind(pm_tree_frame(s->tree, s->context), &scratch));
	pm_text_done(&scratch);
}

static void add_name(const struct subject *s, struct pm_text *out)
{
	struct pm_text scratch = {.p = NULL};
	pm_text_utf8(out, pmfs_frame_name(s->tree, pm_tree_frame(s->tree, s->context), &scratch));
	pm_text_done(&scratch);
}

static void add_unit(const struct subject *s, struct pm_text *out)
{
	pm_text_bytes(out, s->column->tree->unit);
}

static const struct attribute {
	const char *name;
	enum scope scope;
	void (*add)(const struct subject *s, struct pm_text *out);
} attributes[] = {
	{PREFIX "source", OF_ROOT, add_source},
	{PREFIX "format", OF_ROOT, add_format},
	{PREFIX "context_id", OF_CONTEXT, add_context_id},
	{PREFIX "kind", OF_CONTEXT, add_kind},
	{PREFIX "name", OF_CONTEXT, add_name},
	{PREFIX "unit", OF_VALUE, add_unit},
};

enum { N_ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

/* The kind of a node for attributes; false for nodes without any. */
static bool subject_of(struct pmfs_instance *in, pm_node node, struct subject *ret)
{
	uint32_t column;
	const struct pmfs_columns *columns;
	*ret = (struct subject){.in = in, .context = PM_NONE};
	if (node == PMFS_NODE_ROOT)
		return true;
	ret->context = pmfs_tree_context_of(node, &column);
	if (ret->context == PM_NONE || pmfs_model_tree(in->model, &ret->tree, NULL) < 0 ||
		ret->context >= ret->tree->n_contexts)
		return false;
	if (column != PM_NONE && pmfs_model_columns(in->model, &columns, NULL) == 0 &&
		column < columns->n_shown)
		ret->column = &columns->columns[column];
	return true;
}

static bool applies(const struct subject *s, const struct attribute *a)
{
	switch (a->scope) {
	case OF_ROOT: return s->context == PM_NONE;
	case OF_CONTEXT: return s->context != PM_NONE;
	case OF_VALUE: return s->column && s->column->tree;
	}
	return false;
}

/* Appends the attribute's value; -ENODATA if the node does not have the attribute. */
static int xattr_get(struct pmfs_instance *in, pm_node node, const char *name, struct pm_text *out)
{
	struct subject s;
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || !subject_of(in, node, &s))
		return -ENODATA;
	for (unsigned i = 0; i < N_ATTRIBUTES; i++)
		if (strcmp(attributes[i].name, name) == 0 && applies(&s, &attributes[i])) {
			attributes[i].add(&s, out);
			return 0;
		}
	return -ENODATA;
}

/* Appends the names of the node's attributes, each with a NUL. */
static void xattr_list(struct pmfs_instance *in, pm_node node, struct pm_text *out)
{
	struct subject s;
	if (!subject_of(in, node, &s))
		return;
	for (unsigned i = 0; i < N_ATTRIBUTES; i++)
		if (applies(&s, &attributes[i]))
			pm_text_add(out, attributes[i].name, strlen(attributes[i].name) + 1);
}

/* ---- attributes, lookups of names, extended attributes ---- */

enum { FOLLOW_TIMEOUT = 1 }; /* s: how long a name may outlive its snapshot */

/* ---- attributes ---- */

/* Attributes of a node with this type and size. */
static void mount_stat(const struct pmfs_mount *m, pm_node node, enum pmfs_type type, uint64_t size,
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

/* The size of a document if it is known without work. */
static enum pmfs_size known_size(
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

/* An entry for lookup and readdirplus; valid forever. */
static void mount_entry(const struct pmfs_mount *m, const struct pmfs_entry *entry, uint64_t size,
	struct fuse_entry_param *ret)
{
	*ret = (struct fuse_entry_param){.ino = pmfs_mount_ino(m, entry->node),
		.attr_timeout = m->follow ? 0 : DBL_MAX,
		.entry_timeout = m->follow ? FOLLOW_TIMEOUT : DBL_MAX};
	mount_stat(m, entry->node, entry->type, size, &ret->attr);
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
	mount_stat(c->m, c->ino, type, size, &st);
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
	mount_entry(c->m, &c->entry, is_size_known ? size : 0, &e);
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
	enum pmfs_size known = known_size(c->m, &c->entry, ret);
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
	int r = xattr_get(c->m->in, c->ino, c->name, &value);
	if (r == 0)
		reply_attribute(c, &value);
	else if (pmfs_call_take(c))
		fuse_reply_err(c->req, -r);
	pm_text_done(&value);
}

void pmfs_answer_listxattr(struct pmfs_call *c)
{
	struct pm_text names = {.p = NULL};
	xattr_list(c->m->in, c->ino, &names);
	reply_attribute(c, &names);
	pm_text_done(&names);
}

/*
 * ---- directories ----
 *
 * Listing directories. readdirplus returns attributes only if they are free: for directories,
 * and for documents whose size is known or can be computed without rendering. A plain `ls`
 * computes no sizes.
 */

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
	bool known = !l->plus || known_size(m, entry, &size) == PMFS_SIZE_KNOWN;
	memcpy(name, entry->name, entry->len);
	name[entry->len] = 0;
	mount_entry(m, entry, size, &e);
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
		mount_stat(m, node, PMFS_DIRECTORY, 0, &e.attr);
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

/* ---- contents of files, and targets of links ---- */

/*
 * A window of the call's document, to be released. With `link`, -EINVAL unless it is one. False if
 * the call has failed, and has been answered.
 */
static bool read_window(
	struct pmfs_call *c, bool link, uint64_t off, size_t len, struct pmfs_piece *ret)
{
	struct pmfs_instance *in = c->m->in;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_doc doc;
	int r = pmfs_tree_document(in->tree, c->ino, &doc, &err);
	if (r == 0) {
		r = link && doc.kind != PM_DOC_LINK
			? -EINVAL
			: pmfs_engine_read(in->engine, c->ino, &doc, off, len, ret, &err);
		pmfs_tree_release(in->tree, c->ino);
	}
	if (r < 0)
		pmfs_call_fail(c, r, &err);
	return r >= 0;
}

void pmfs_answer_read(struct pmfs_call *c)
{
	struct pmfs_piece piece;
	if (!read_window(c, false, (uint64_t)c->off, c->size, &piece))
		return;
	/* If pages of the input have been lost meanwhile, the kernel returns EIO to the client. */
	if (pmfs_call_take(c))
		fuse_reply_buf(c->req, piece.p, piece.len);
	pmfs_engine_release(c->m->in->engine, &piece);
}

void pmfs_answer_readlink(struct pmfs_call *c)
{
	char target[4096];
	struct pmfs_piece piece;
	if (!read_window(c, true, 0, sizeof(target) - 1, &piece))
		return;
	memcpy(target, piece.p, piece.len);
	target[piece.len] = 0;
	pmfs_engine_release(c->m->in->engine, &piece);
	if (pmfs_call_take(c))
		fuse_reply_readlink(c->req, target);
}
