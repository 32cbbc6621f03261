/* Requests for contents: of files, and targets of links. */
#include <string.h>

#include "fs/mount_call.h"
#include "fs/mount_ops.h"

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
