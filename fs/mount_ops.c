/*
 * FUSE requests → tree and engine. Stateless: an inode number is a node id, forget is nothing, and
 * the kernel may cache everything for ever, since a mount never changes, but for .progress. open
 * and opendir are answered with ENOSYS, after which the kernel does them by itself.
 */
#include "fs/mount_ops.h"

#include <float.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "formats/common/map.h"
#include "formats/common/work.h"
#include "fs/log.h"
#include "fs/mount_follow.h"
#include "fs/mount_jobs.h"
#include "fs/mount_progress.h"
#include "fs/xattr.h"

enum {
	BLOCK = 128 << 10,    /* st_blksize: what glibc and Python read at a time */
	FOLLOW_TIMEOUT = 1,   /* s: how long a name may outlive its snapshot */
	MOST_MESSAGES = 1000, /* a grep over a broken source must not fill the log */
};

/* What calls ask of a node. */
enum { CALL_LIST = 1, CALL_XATTR, CALL_READ };

static struct pmfs_mount *mount_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* A call as it comes in. Those of one `what` and node, which fit one answer, share a job. */
static struct pmfs_call call_of(
	fuse_req_t req, void (*answer)(struct pmfs_call *c), fuse_ino_t ino, uint64_t what)
{
	return (struct pmfs_call){
		.m = pmfs_mount_pin(mount_of(req), ino),
		.req = req,
		.answer = answer,
		.ino = pmfs_mount_node(ino),
		.key = what ? pm_hash_u64(ino ^ pm_hash_u64(what)) : ino,
	};
}

static void serve(struct pmfs_call *c)
{
	if (c->m)
		pmfs_jobs_serve(c->m->jobs, c);
	else
		fuse_reply_err(c->req, ESTALE);
}

/* For a call of an open file: out of the snapshot that it was opened in. */
static void serve_open(struct pmfs_call *c, struct pmfs_mount *m)
{
	if (c->m)
		pmfs_mount_unpin(c->m);
	c->m = m;
	serve(c);
}

/* What a client gets for an error: details are in the log. */
void pmfs_mount_failure(struct pmfs_call *c, int code, const struct pm_error *err)
{
	static const int plain[] = {-ENOENT, -ENOTDIR, -EISDIR, -EINTR, -ENOMEM, -ESTALE};
	if (!pmfs_call_take(c))
		return;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (code == plain[i] && !(code == -ENOENT && err->code)) {
			fuse_reply_err(c->req, -code);
			return;
		}
	unsigned n = __atomic_fetch_add(&c->m->messages, 1, __ATOMIC_RELAXED);
	if (n < MOST_MESSAGES && err->code) {
		char node[32];
		snprintf(node, sizeof(node), "inode %llu", (unsigned long long)c->ino);
		pmfs_log_error(node, err);
	}
	if (n == MOST_MESSAGES)
		pmfs_log("further errors are not logged");
	fuse_reply_err(c->req, EIO);
}

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
	ret->st_blksize = BLOCK;
	ret->st_blocks = (blkcnt_t)((size + 511) / 512);
	ret->st_mtim.tv_sec = (time_t)(mtime / 1000000000u);
	ret->st_mtim.tv_nsec = (long)(mtime % 1000000000u);
	ret->st_atim = ret->st_ctim = ret->st_mtim;
}

int pmfs_mount_size(struct pmfs_mount *m, pm_node node, enum pmfs_type type, uint64_t *ret,
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

/* What kind of document it is, as far as nothing has to be built to tell it. */
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
		pmfs_mount_size(m, entry->node, entry->type, ret, NULL) == 0)
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

static void answer_getattr(struct pmfs_call *c)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	enum pmfs_type type;
	uint64_t size;
	struct stat st;
	int r = pmfs_tree_type(c->m->in->tree, c->ino, &type, &err);
	if (r == 0)
		r = pmfs_mount_size(c->m, c->ino, type, &size, &err);
	if (r < 0) {
		pmfs_mount_failure(c, r, &err);
		return;
	}
	pmfs_mount_stat(c->m, c->ino, type, size, &st);
	if (pmfs_call_take(c))
		fuse_reply_attr(c->req, &st, c->m->follow ? 0 : DBL_MAX);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)fi;
	if (pmfs_progress_is(ino)) {
		pmfs_progress_getattr(mount_of(req), req, ino);
		return;
	}
	struct pmfs_call c = call_of(req, answer_getattr, ino, 0);
	serve(&c);
}

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

/* With attributes that are void: the kernel asks getattr for the size before it uses them. */
static void answer_lookup_early(struct pmfs_call *c)
{
	struct fuse_entry_param e;
	pmfs_mount_entry(c->m, &c->entry, 0, &e);
	e.attr_timeout = 0;
	fuse_reply_entry(c->req, &e);
}

/*
 * The size that goes with a name: 1, or 0 where it is left to getattr.
 *
 * The kernel lets nobody who looks up a name that is being looked up go before it is answered. So a
 * size that takes long is left to getattr, which the kernel asks before it opens the file, as it
 * checks permissions. But a size that may have been told before must come again: the kernel would
 * cut the file under its readers.
 */
static int size_for_lookup(struct pmfs_call *c, uint64_t *ret, struct pm_error *err)
{
	enum pmfs_size known = pmfs_mount_known_size(c->m, &c->entry, ret);
	if (known == PMFS_SIZE_KNOWN)
		return 1;
	if (known == PMFS_SIZE_NEVER_TOLD && c->entry.type == PMFS_FILE && !c->answer_early) {
		if (c->parked)
			return 0; /* the name has taken its time */
		c->answer_early = answer_lookup_early;
		c->key = c->entry.node;
	}
	int r = pmfs_mount_size(c->m, c->entry.node, c->entry.type, ret, err);
	return r < 0 ? r : 1;
}

static void answer_lookup(struct pmfs_call *c)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct fuse_entry_param e = {.entry_timeout = c->m->follow ? FOLLOW_TIMEOUT : DBL_MAX};
	uint64_t size = 0;
	int r = c->answer_early ? 0 : find(c, &c->entry, &err);
	if (r == 0)
		r = size_for_lookup(c, &size, &err);
	if (r < 0 && (r != -ENOENT || err.code)) {
		pmfs_mount_failure(c, r, &err);
		return;
	}
	if (r >= 0)
		pmfs_mount_entry(c->m, &c->entry, size, &e);
	if (r == 0)
		e.attr_timeout = 0;
	/* A name that is not there is remembered: it will never be. */
	if (pmfs_call_take(c))
		fuse_reply_entry(c->req, &e);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	if (pmfs_progress_is(parent) || pmfs_progress_is_named(parent, name)) {
		pmfs_progress_lookup(mount_of(req), req, parent);
		return;
	}
	struct pmfs_call c = call_of(
		req, answer_lookup, parent, pm_hash_bytes(pm_bytes_of(name)) | (uint64_t)1 << 63);
	c.name = name;
	serve(&c);
}

/* ---- contents ---- */

static void answer_read(struct pmfs_call *c)
{
	struct pmfs_instance *in = c->m->in;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece;
	struct pm_doc doc;
	int r = pmfs_tree_document(in->tree, c->ino, &doc, &err);
	if (r == 0) {
		r = pmfs_engine_read(
			in->engine, c->ino, &doc, (uint64_t)c->off, c->size, &piece, &err);
		pmfs_tree_release(in->tree, c->ino);
	}
	if (r < 0) {
		pmfs_mount_failure(c, r, &err);
		return;
	}
	/* Pages of the input that were lost meanwhile: the kernel answers the client with EIO. */
	if (pmfs_call_take(c))
		fuse_reply_buf(c->req, piece.p, piece.len);
	pmfs_engine_release(in->engine, &piece);
}

static void op_read(
	fuse_req_t req, fuse_ino_t ino, size_t len, off_t off, struct fuse_file_info *fi)
{
	struct pmfs_mount *session = mount_of(req);
	if (pmfs_progress_is(ino)) {
		pmfs_progress_read(session, req, ino, len, off);
		return;
	}
	struct pmfs_call c = call_of(req, answer_read, ino, CALL_READ + ((uint64_t)off << 8));
	c.size = len;
	c.off = off;
	if (session->follow && fi && fi->fh)
		serve_open(&c, pmfs_handle_pin(session, fi->fh, c.ino, (uint64_t)off));
	else
		serve(&c);
}

static void answer_readlink(struct pmfs_call *c)
{
	char target[4096];
	struct pmfs_instance *in = c->m->in;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece;
	struct pm_doc doc;
	int r = pmfs_tree_document(in->tree, c->ino, &doc, &err);
	if (r == 0) {
		r = doc.kind == PM_DOC_LINK ? pmfs_engine_read(in->engine, c->ino, &doc, 0,
						      sizeof(target) - 1, &piece, &err)
					    : -EINVAL;
		pmfs_tree_release(in->tree, c->ino);
	}
	if (r < 0) {
		pmfs_mount_failure(c, r, &err);
		return;
	}
	memcpy(target, piece.p, piece.len);
	target[piece.len] = 0;
	pmfs_engine_release(in->engine, &piece);
	if (pmfs_call_take(c))
		fuse_reply_readlink(c->req, target);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct pmfs_call c = call_of(req, answer_readlink, ino, 0);
	serve(&c);
}

static void serve_listing(struct pmfs_call *c, const struct fuse_file_info *fi)
{
	struct pmfs_mount *session = mount_of(c->req);
	if (session->follow && fi && fi->fh)
		serve_open(c, pmfs_handle_pin(session, fi->fh, c->ino, 0));
	else
		serve(c);
}

static void op_readdir(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct pmfs_call c = call_of(req, pmfs_answer_readdir, ino, CALL_LIST);
	c.size = size;
	c.off = off;
	serve_listing(&c, fi);
}

static void op_readdirplus(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct pmfs_call c = call_of(req, pmfs_answer_readdirplus, ino, CALL_LIST);
	c.size = size;
	c.off = off;
	serve_listing(&c, fi);
}

/* ---- the file system ---- */

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct pmfs_mount *session = mount_of(req);
	if (session->kernel_opens) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	if (pmfs_progress_is(ino)) {
		fi->keep_cache = true;
		fuse_reply_open(req, fi);
		return;
	}
	fi->keep_cache = fi->cache_readdir = !session->follow;
	fi->direct_io = session->follow != NULL;
	fi->fh = session->follow ? pmfs_handle_open(session, ino) : 0;
	if (session->follow && !fi->fh)
		fuse_reply_err(req, ESTALE);
	else if (fuse_reply_open(req, fi) != 0 && session->follow)
		pmfs_handle_close(fi->fh);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	if (mount_of(req)->follow && !pmfs_progress_is(ino))
		pmfs_handle_close(fi->fh);
	fuse_reply_err(req, 0);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st = {.f_bsize = BLOCK, .f_frsize = 4096, .f_namemax = 255};
	struct pmfs_mount *m = pmfs_mount_pin(mount_of(req), PMFS_NODE_ROOT);
	(void)ino;
	st.f_blocks = (m->in->profile->input_bytes + 4095) / 4096;
	pmfs_mount_unpin(m);
	fuse_reply_statfs(req, &st);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	if (pmfs_progress_is(ino))
		pmfs_progress_forget(mount_of(req), ino, n);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t n, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < n; i++)
		if (pmfs_progress_is(forgets[i].ino))
			pmfs_progress_forget(mount_of(req), forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

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

static void answer_getxattr(struct pmfs_call *c)
{
	struct pm_text value = {.p = NULL};
	int r = pmfs_xattr_get(c->m->in, c->ino, c->name, &value);
	if (r == 0)
		reply_attribute(c, &value);
	else if (pmfs_call_take(c))
		fuse_reply_err(c->req, -r);
	pm_text_done(&value);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct pmfs_call c = call_of(req, answer_getxattr, ino, CALL_XATTR);
	c.name = name;
	c.size = size;
	serve(&c);
}

static void answer_listxattr(struct pmfs_call *c)
{
	struct pm_text names = {.p = NULL};
	pmfs_xattr_list(c->m->in, c->ino, &names);
	reply_attribute(c, &names);
	pm_text_done(&names);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct pmfs_call c = call_of(req, answer_listxattr, ino, CALL_XATTR);
	c.size = size;
	serve(&c);
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	static const unsigned wanted = FUSE_CAP_READDIRPLUS | FUSE_CAP_EXPORT_SUPPORT |
		FUSE_CAP_CACHE_SYMLINKS | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_EXPLICIT_INVAL_DATA;
	static const unsigned unwanted = FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA |
		FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE;
	static const unsigned opens = FUSE_CAP_NO_OPEN_SUPPORT | FUSE_CAP_NO_OPENDIR_SUPPORT;
	struct pmfs_mount *m = userdata;
	m->kernel_opens = (conn->capable & opens) == opens && !m->follows;
	m->parallel = conn->capable & FUSE_CAP_PARALLEL_DIROPS;
	conn->want |= conn->capable & wanted;
	conn->want &= ~unwanted;
	conn->time_gran = 1;
}

void pmfs_mount_operations(struct fuse_lowlevel_ops *ret, bool xattr)
{
	*ret = (struct fuse_lowlevel_ops){
		.init = op_init,
		.lookup = op_lookup,
		.forget = op_forget,
		.forget_multi = op_forget_multi,
		.getattr = op_getattr,
		.readlink = op_readlink,
		.open = op_open,
		.opendir = op_open,
		.release = op_release,
		.releasedir = op_release,
		.read = op_read,
		.readdir = op_readdir,
		.readdirplus = op_readdirplus,
		.statfs = op_statfs,
	};
	/* With handlers for them every `ls -l` would ask twice for each file. */
	if (xattr) {
		ret->getxattr = op_getxattr;
		ret->listxattr = op_listxattr;
	}
}
