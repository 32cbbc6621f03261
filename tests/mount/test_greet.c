/*
 * What the reply to the kernel's first request says about lookups in parallel. The kernel tells
 * nobody what was negotiated, so the test is the kernel, at the other end of a pair of sockets.
 */
#include "tests/unittest.h"

#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fs/mount_ops.h"

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct pmfs_mount *m = userdata;
	m->parallel = conn->capable & FUSE_CAP_PARALLEL_DIROPS;
	conn->want |= conn->capable & FUSE_CAP_PARALLEL_DIROPS;
}

/* The flags of the reply to a kernel that offers these. */
static uint32_t negotiate(uint32_t offered)
{
	static const struct fuse_lowlevel_ops operations = {.init = op_init};
	char name[] = "test", option[] = "-oro", path[32];
	char *argv[] = {name, option, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(2, argv);
	struct pmfs_mount m = {.parallel = false};
	struct {
		struct fuse_in_header header;
		struct fuse_init_in init;
	} request = {{.len = sizeof(request), .opcode = FUSE_INIT, .unique = 1},
		{.major = FUSE_KERNEL_VERSION, .minor = 31, .flags = offered}};
	struct {
		struct fuse_out_header header;
		struct fuse_init_out init;
	} reply = {.header = {.len = 0}};
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	struct fuse_session *session = fuse_session_new(&args, &operations, sizeof(operations), &m);
	assert_non_null(session);
	assert_int_equal(fuse_session_mount(session, path), 0);
	size_t sent = sizeof(request.header) + offsetof(struct fuse_init_in, flags) +
		sizeof(request.init.flags);
	request.header.len = (uint32_t)sent;
	assert_int_equal(write(ends[0], &request, sent), sent);
	assert_int_equal(pmfs_mount_greet(session, &m), 0);
	assert_true(read(ends[0], &reply, sizeof(reply)) > (ssize_t)sizeof(reply.header));
	assert_int_equal(reply.header.error, 0);
	assert_int_equal(reply.header.unique, 1);
	fuse_session_destroy(session);
	fuse_opt_free_args(&args);
	close(ends[0]);
	return reply.init.flags;
}

static void test_lookups_in_parallel_are_negotiated(void **state)
{
	assert_true(negotiate(FUSE_PARALLEL_DIROPS | FUSE_ASYNC_READ) & FUSE_PARALLEL_DIROPS);
}

static void test_nothing_is_claimed_that_the_kernel_lacks(void **state)
{
	assert_false(negotiate(FUSE_ASYNC_READ) & FUSE_PARALLEL_DIROPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookups_in_parallel_are_negotiated),
		cmocka_unit_test(test_nothing_is_claimed_that_the_kernel_lacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
