/*
 * FUSE requests → tree and engine. Stateless: an inode number is a node id, forget is nothing, and
 * the kernel may cache everything for ever, since a mount never changes. open and opendir are
 * answered with ENOSYS, after which the kernel does them by itself.
 */
#include "fs/mount_ops.h"

#include <float.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "fs/log.h"
#include "fs/xattr.h"

enum {
	BLOCK = 128 << 10,    /* st_blksize: what glibc and Python read at a time */
	MOST_MESSAGES = 1000, /* a grep over a broken source must not fill the log */
};

static struct pmfs_mount *mount_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static bool is_interrupted(void *context)
{
	return fuse_req_interrupted(context);
}

static struct pmfs_request request_of(fuse_req_t req)
{
	return (struct pmfs_request){.cancelled = is_interrupted, .context = req};
}

/* What a client gets for an error: details are in the log. */
void pmfs_mount_failure(fuse_req_t req, fuse_ino_t ino, int code, const struct pm_error *err)
{
	static const int plain[] = {-ENOENT, -ENOTDIR, -EISDIR, -EINTR, -ENOMEM, -ESTALE};
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (code == plain[i] && !(code == -ENOENT && err->code)) {
			fuse_reply_err(req, -code);
			return;
		}
	unsigned n = __atomic_fetch_add(&mount_of(req)->messages, 1, __ATOMIC_RELAXED);
	if (n < MOST_MESSAGES && err->code) {
		char node[32];
		snprintf(node, sizeof(node), "inode %llu", (unsigned long long)ino);
		pmfs_log_error(node, err);
	}
	if (n == MOST_MESSAGES)
		pmfs_log("further errors are not logged");
	fuse_reply_err(req, EIO);
}

/* ---- attributes ---- */

void pmfs_mount_stat(const struct pmfs_mount *m, pm_node node, enum pmfs_type type, uint64_t size,
	struct stat *ret)
{
	static const mode_t modes[] = {[PMFS_DIRECTORY] = S_IFDIR | 0555,
		[PMFS_FILE] = S_IFREG | 0444,
		[PMFS_LINK] = S_IFLNK | 0777};
	uint64_t mtime = m->in->profile->mtime_ns;
	memset(ret, 0, sizeof(*ret));
	ret->st_ino = node;
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

int pmfs_mount_size(struct pmfs_mount *m, pm_node node, enum pmfs_type type,
	const struct pmfs_request *request, uint64_t *ret, struct pm_error *err)
{
	struct pm_doc doc;
	*ret = 0;
	if (type == PMFS_DIRECTORY)
		return 0;
	int r = pmfs_tree_document(m->in->tree, node, &doc, err);
	return r < 0 ? r : pmfs_engine_size(m->in->engine, node, &doc, request, ret, err);
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
		pmfs_mount_size(m, entry->node, entry->type, NULL, ret, NULL) == 0)
		return PMFS_SIZE_KNOWN;
	if (!pmfs_tree_is_of_format(entry->node))
		return known;
	if (pmfs_tree_document(m->in->tree, entry->node, &doc, NULL) < 0 || doc.kind == PM_DOC_FILE)
		return PMFS_SIZE_FORGOTTEN;
	if (doc.kind != PM_DOC_BYTES)
		return known;
	*ret = doc.bytes.len;
	return PMFS_SIZE_KNOWN;
}

void pmfs_mount_entry(const struct pmfs_mount *m, const struct pmfs_entry *entry, uint64_t size,
	struct fuse_entry_param *ret)
{
	*ret = (struct fuse_entry_param){
		.ino = entry->node, .attr_timeout = DBL_MAX, .entry_timeout = DBL_MAX};
	pmfs_mount_stat(m, entry->node, entry->type, size, &ret->attr);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct pmfs_mount *m = mount_of(req);
	struct pmfs_request request = request_of(req);
	struct pm_error err = {.offset = PM_NO_OFFSET};
	enum pmfs_type type;
	uint64_t size;
	struct stat st;
	(void)fi;
	int r = pmfs_tree_type(m->in->tree, ino, &type, &err);
	if (r == 0)
		r = pmfs_mount_size(m, ino, type, &request, &size, &err);
	if (r < 0) {
		pmfs_mount_failure(req, ino, r, &err);
		return;
	}
	pmfs_mount_stat(m, ino, type, size, &st);
	fuse_reply_attr(req, &st, DBL_MAX);
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

/*
 * The size that goes with a name: 1, or 0 where it is left to getattr, because the kernel lets
 * nobody who looks up a name that is being looked up go before it is answered. It asks getattr
 * before it opens the file, as it checks permissions. But a size that may have been told before
 * must come again: the kernel would cut the file under its readers.
 */
static int size_for_lookup(struct pmfs_mount *m, const struct pmfs_entry *entry,
	const struct pmfs_request *request, uint64_t *ret, struct pm_error *err)
{
	enum pmfs_size known = pmfs_mount_known_size(m, entry, ret);
	if (known == PMFS_SIZE_KNOWN)
		return 1;
	if (known == PMFS_SIZE_NEVER_TOLD && entry->type == PMFS_FILE)
		return 0;
	int r = pmfs_mount_size(m, entry->node, entry->type, request, ret, err);
	return r < 0 ? r : 1;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct pmfs_mount *m = mount_of(req);
	struct pmfs_request request = request_of(req);
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	struct fuse_entry_param e = {.entry_timeout = DBL_MAX};
	uint64_t size;
	bool special = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
	int r = special ? lookup_special(m, parent, name, &entry, &err)
			: pmfs_tree_lookup(m->in->tree, parent, pm_bytes_of(name), &entry, &err);
	if (r == -ENOENT && !err.code) {
		fuse_reply_entry(req, &e); /* remembered: it will never be there */
		return;
	}
	if (r == 0)
		r = size_for_lookup(m, &entry, &request, &size, &err);
	if (r < 0) {
		pmfs_mount_failure(req, parent, r, &err);
		return;
	}
	pmfs_mount_entry(m, &entry, size, &e);
	if (r == 0)
		e.attr_timeout = 0;
	fuse_reply_entry(req, &e);
}

/* ---- contents ---- */

static void op_read(
	fuse_req_t req, fuse_ino_t ino, size_t len, off_t off, struct fuse_file_info *fi)
{
	struct pmfs_mount *m = mount_of(req);
	struct pmfs_request request = request_of(req);
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece;
	struct pm_doc doc;
	(void)fi;
	int r = pmfs_tree_document(m->in->tree, ino, &doc, &err);
	if (r == 0)
		r = pmfs_engine_read(
			m->in->engine, ino, &doc, (uint64_t)off, len, &request, &piece, &err);
	if (r < 0) {
		pmfs_mount_failure(req, ino, r, &err);
		return;
	}
	/* Pages of the input that were lost meanwhile: the kernel answers the client with EIO. */
	fuse_reply_buf(req, piece.p, piece.len);
	pmfs_engine_release(m->in->engine, &piece);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char target[4096];
	struct pmfs_mount *m = mount_of(req);
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece;
	struct pm_doc doc;
	int r = pmfs_tree_document(m->in->tree, ino, &doc, &err);
	if (r == 0)
		r = doc.kind == PM_DOC_LINK ? pmfs_engine_read(m->in->engine, ino, &doc, 0,
						      sizeof(target) - 1, NULL, &piece, &err)
					    : -EINVAL;
	if (r < 0) {
		pmfs_mount_failure(req, ino, r, &err);
		return;
	}
	memcpy(target, piece.p, piece.len);
	target[piece.len] = 0;
	pmfs_engine_release(m->in->engine, &piece);
	fuse_reply_readlink(req, target);
}

/* ---- the file system ---- */

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	if (mount_of(req)->kernel_opens) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	fi->keep_cache = 1;
	fi->cache_readdir = 1;
	fuse_reply_open(req, fi);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st = {.f_bsize = BLOCK, .f_frsize = 4096, .f_namemax = 255};
	(void)ino;
	st.f_blocks = (mount_of(req)->in->profile->input_bytes + 4095) / 4096;
	fuse_reply_statfs(req, &st);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	(void)ino;
	(void)n;
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t n, struct fuse_forget_data *forgets)
{
	(void)n;
	(void)forgets;
	fuse_reply_none(req);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct pm_text value = {.p = NULL};
	int r = pmfs_xattr_get(mount_of(req)->in, ino, name, &value);
	if (r < 0)
		fuse_reply_err(req, -r);
	else if (size == 0)
		fuse_reply_xattr(req, value.len);
	else if (value.len > size)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, value.p, value.len);
	pm_text_done(&value);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct pm_text names = {.p = NULL};
	pmfs_xattr_list(mount_of(req)->in, ino, &names);
	if (size == 0)
		fuse_reply_xattr(req, names.len);
	else if (names.len > size)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, names.p, names.len);
	pm_text_done(&names);
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	static const unsigned wanted = FUSE_CAP_READDIRPLUS | FUSE_CAP_EXPORT_SUPPORT |
		FUSE_CAP_CACHE_SYMLINKS | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_EXPLICIT_INVAL_DATA;
	static const unsigned unwanted = FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA |
		FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE;
	static const unsigned opens = FUSE_CAP_NO_OPEN_SUPPORT | FUSE_CAP_NO_OPENDIR_SUPPORT;
	struct pmfs_mount *m = userdata;
	m->kernel_opens = (conn->capable & opens) == opens;
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
		.read = op_read,
		.readdir = pmfs_mount_readdir,
		.readdirplus = pmfs_mount_readdirplus,
		.statfs = op_statfs,
	};
	/* With handlers for them every `ls -l` would ask twice for each file. */
	if (xattr) {
		ret->getxattr = op_getxattr;
		ret->listxattr = op_listxattr;
	}
}
