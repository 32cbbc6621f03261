/*
 * FUSE requests → tree and engine. Stateless: an inode number is a node id, forget does nothing
 * but for names that are not listed, and the kernel may cache everything forever, because a mount
 * never changes except for .progress.
 * open and opendir are answered with ENOSYS, after which the kernel handles them itself.
 */
#include "fs/mount_ops.h"

#include <sys/statvfs.h>

#include "formats/common/map.h"
#include "fs/mount_follow.h"
#include "fs/mount_jobs.h"
#include "fs/mount_progress.h"
#include "fs/mount_unlisted.h"

/* Kinds of calls. */
enum { CALL_LIST = 1, CALL_XATTR, CALL_READ };

static struct pmfs_mount *mount_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* An incoming call. Calls with the same `what` and node have the same answer, and share a job. */
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

/* For a call on an open file: uses the snapshot in which it was opened. */
static void serve_open(struct pmfs_call *c, struct pmfs_mount *m)
{
	if (c->m)
		pmfs_mount_unpin(c->m);
	c->m = m;
	serve(c);
}

/* ---- attributes and names ---- */

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)fi;
	if (pmfs_progress_is(ino)) {
		pmfs_progress_getattr(mount_of(req), req, ino);
		return;
	}
	struct pmfs_call c = call_of(req, pmfs_answer_getattr, ino, 0);
	serve(&c);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	if (pmfs_progress_is(parent) || pmfs_progress_is_named(parent, name)) {
		pmfs_progress_lookup(mount_of(req), req, parent, name);
		return;
	}
	struct pmfs_call c = call_of(req, pmfs_answer_lookup, parent,
		pm_hash_bytes(pm_bytes_of(name)) | (uint64_t)1 << 63);
	c.name = name;
	serve(&c);
}

/* ---- contents ---- */

/* With -o follow, from the snapshot of the open file. */
static void serve_from(struct pmfs_call *c, const struct fuse_file_info *fi, uint64_t off)
{
	struct pmfs_mount *session = mount_of(c->req);
	if (session->follow && fi && fi->fh)
		serve_open(c, pmfs_handle_pin(session, fi->fh, c->ino, off));
	else
		serve(c);
}

static void op_read(
	fuse_req_t req, fuse_ino_t ino, size_t len, off_t off, struct fuse_file_info *fi)
{
	if (pmfs_progress_is(ino)) {
		pmfs_progress_read(mount_of(req), req, ino, len, off);
		return;
	}
	struct pmfs_call c = call_of(req, pmfs_answer_read, ino, CALL_READ + ((uint64_t)off << 8));
	c.size = len;
	c.off = off;
	serve_from(&c, fi, (uint64_t)off);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct pmfs_call c = call_of(req, pmfs_answer_readlink, ino, 0);
	serve(&c);
}

static void op_readdir(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct pmfs_call c = call_of(req, pmfs_answer_readdir, ino, CALL_LIST);
	c.size = size;
	c.off = off;
	serve_from(&c, fi, 0);
}

static void op_readdirplus(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct pmfs_call c = call_of(req, pmfs_answer_readdirplus, ino, CALL_LIST);
	c.size = size;
	c.off = off;
	serve_from(&c, fi, 0);
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
	fi->keep_cache = !session->follow;
#ifndef PMFS_NO_CACHE_READDIR
	fi->cache_readdir = !session->follow;
#endif
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
	struct statvfs st = {.f_bsize = PMFS_BLOCK, .f_frsize = 4096, .f_namemax = 255};
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
	else
		pmfs_unlisted_names_forget(mount_of(req), ino, n);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t n, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < n; i++)
		if (pmfs_progress_is(forgets[i].ino))
			pmfs_progress_forget(mount_of(req), forgets[i].ino, forgets[i].nlookup);
		else
			pmfs_unlisted_names_forget(
				mount_of(req), forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct pmfs_call c = call_of(req, pmfs_answer_getxattr, ino, CALL_XATTR);
	c.name = name;
	c.size = size;
	serve(&c);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct pmfs_call c = call_of(req, pmfs_answer_listxattr, ino, CALL_XATTR);
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
	/* With handlers for them, every `ls -l` would send two requests per file. */
	if (xattr) {
		ret->getxattr = op_getxattr;
		ret->listxattr = op_listxattr;
	}
}
