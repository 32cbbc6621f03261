/*
 * The kernel's first request (INIT), and our reply.
 *
 * libfuse before 3.17 accepts FUSE_CAP_PARALLEL_DIROPS but never sets it in the reply: the kernel
 * then looks up one name of a directory at a time, and all other lookups wait for it, unkillably.
 * So we modify the reply before it is written to the device (docs/decisions/0006-…).
 */
#include "fs/mount_ops.h"

#include <stdlib.h>
#include <unistd.h>

#if FUSE_VERSION < FUSE_MAKE_VERSION(3, 17)

#include <linux/fuse.h>
#include <stddef.h>
#include <sys/uio.h>

static ssize_t read_request(int fd, void *buf, size_t len, void *userdata)
{
	(void)userdata;
	return read(fd, buf, len);
}

/* The first reply of the session is that to INIT; there is only one thread until then. */
static ssize_t write_answer(int fd, struct iovec *iov, int count, void *userdata)
{
	struct pmfs_mount *m = userdata;
	if (m->greeted)
		return writev(fd, iov, count);
	if (m->parallel && count == 2 &&
		iov[1].iov_len >= offsetof(struct fuse_init_out, max_background)) {
		struct fuse_init_out *init = iov[1].iov_base;
		init->flags |= FUSE_PARALLEL_DIROPS;
	}
	m->greeted = true;
	return writev(fd, iov, count);
}

static int put_between(struct fuse_session *se)
{
	static const struct fuse_custom_io io = {.read = read_request, .writev = write_answer};
	return fuse_session_custom_io(se, &io, fuse_session_fd(se));
}

#else

static int put_between(struct fuse_session *se)
{
	(void)se;
	return 0;
}

#endif

int pmfs_mount_greet(struct fuse_session *se)
{
	struct fuse_buf request = {.mem = NULL};
	int n = put_between(se);
	if (n < 0)
		return n;
	do
		n = fuse_session_receive_buf(se, &request);
	while (n == -EINTR && !fuse_session_exited(se));
	if (n > 0)
		fuse_session_process_buf(se, &request);
	free(request.mem);
	return 0;
}
