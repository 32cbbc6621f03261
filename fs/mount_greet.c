/*
 * The kernel's first request (INIT), and our reply.
 *
 * libfuse before 3.17 accepts FUSE_CAP_PARALLEL_DIROPS but never sets it in the reply: the kernel
 * then looks up one name of a directory at a time, and all other lookups wait for it, unkillably.
 * So we modify the reply before it is written to the device (docs/decisions/0006-…).
 */
#include "fs/mount_ops.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#if FUSE_VERSION < FUSE_MAKE_VERSION(3, 17)

#include <linux/fuse.h>
#include <stddef.h>

struct reply {
	struct fuse_out_header header;
	struct fuse_init_out init;
	char more[256]; /* later versions of the protocol */
};

static int pass_on(int from, int device, bool parallel)
{
	struct reply reply;
	ssize_t n = read(from, &reply, sizeof(reply));
	if (n < (ssize_t)sizeof(reply.header))
		return -EIO;
	if (parallel && n >= (ssize_t)offsetof(struct reply, init.max_background))
		reply.init.flags |= FUSE_PARALLEL_DIROPS;
	return write(device, &reply, (size_t)n) == n ? 0 : -errno;
}

/*
 * Every version of libfuse writes replies to the session's descriptor, so during the first reply
 * that is a pipe. (fuse_session_custom_io does not exist before 3.13.) The reply is much smaller
 * than the pipe's buffer: nothing here blocks.
 */
static int process(
	struct fuse_session *se, const struct pmfs_mount *m, const struct fuse_buf *request)
{
	int fd = fuse_session_fd(se), ends[2] = {-1, -1};
	int device = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int r = device < 0 || pipe2(ends, O_CLOEXEC) != 0 || dup3(ends[1], fd, O_CLOEXEC) < 0
		? -errno
		: 0;
	fuse_session_process_buf(se, request);
	if (r == 0) {
		dup3(device, fd, O_CLOEXEC);
		close(ends[1]);
		ends[1] = -1;
		r = pass_on(ends[0], device, m->parallel);
	}
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	if (device >= 0)
		close(device);
	return r;
}

#else

static int process(
	struct fuse_session *se, const struct pmfs_mount *m, const struct fuse_buf *request)
{
	(void)m;
	fuse_session_process_buf(se, request);
	return 0;
}

#endif

int pmfs_mount_greet(struct fuse_session *se, const struct pmfs_mount *m)
{
	struct fuse_buf request = {.mem = NULL};
	int n, r = 0;
	do
		n = fuse_session_receive_buf(se, &request);
	while (n == -EINTR && !fuse_session_exited(se));
	if (n > 0)
		r = process(se, m, &request);
	free(request.mem);
	return r;
}
