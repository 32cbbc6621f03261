/* Tests formats/common/beneath.c, as it is and on a system that lacks openat2(2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/common/beneath.h"

static char outer_name[] = "/tmp/profmount-test-beneath-XXXXXX";
static int outer, folder;

static int write_file(int at, const char *name)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	bool good = fd >= 0 && write(fd, name, 1) == 1;
	close(fd);
	return good ? 0 : -1;
}

static int set_up(void **state)
{
	(void)state;
	outer = mkdtemp(outer_name) ? open(outer_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (outer < 0 || write_file(outer, "secret") < 0 || mkdirat(outer, "folder", 0700) < 0)
		return -1;
	folder = openat(outer, "folder", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return mkdirat(folder, "sub", 0700) < 0 || write_file(folder, "sub/file") < 0 ||
			write_file(folder, "top") < 0 || symlinkat("/", folder, "root") < 0 ||
			symlinkat("../secret", folder, "out") < 0 ||
			symlinkat("..", folder, "sub/up") < 0
		? -1
		: 0;
}

static int tear_down(void **state)
{
	(void)state;
	char command[sizeof(outer_name) + sizeof("rm -r ")];
	snprintf(command, sizeof(command), "rm -r %s", outer_name);
	close(folder);
	close(outer);
	return system(command);
}

static void test_files_of_the_folder_are_opened(void **state)
{
	(void)state;
	static const char *const paths[] = {
		"top", "./top", "sub/file", "sub//file", "sub/./file", "sub", "."};
	for (unsigned i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		int fd = pm_open_beneath(folder, paths[i]);
		if (fd < 0)
			fail_msg("%s: %s", paths[i], strerror(-fd));
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		close(fd);
	}
	char byte;
	int fd = pm_open_beneath(folder, "sub/file");
	assert_int_equal(read(fd, &byte, 1), 1);
	close(fd);
}

static void test_nothing_outside_is_opened(void **state)
{
	(void)state;
	char absolute[sizeof(outer_name) + sizeof("/secret")];
	snprintf(absolute, sizeof(absolute), "%s/secret", outer_name);
	const char *const paths[] = {absolute, "/", "..", "../secret", "out", "root", "root/tmp",
		"sub/../../secret", "sub/up/../secret", "sub/..//../secret"};
	for (unsigned i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		int fd = pm_open_beneath(folder, paths[i]);
		if (fd >= 0)
			fail_msg("%s was opened", paths[i]);
	}
}

static void test_what_is_not_there_says_so(void **state)
{
	(void)state;
	char name[NAME_MAX + 2];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(pm_open_beneath(folder, "nothing"), -ENOENT);
	assert_int_equal(pm_open_beneath(folder, ""), -ENOENT);
	assert_int_equal(pm_open_beneath(folder, "nothing/file"), -ENOENT);
	assert_int_equal(pm_open_beneath(folder, "top/file"), -ENOTDIR);
	assert_int_equal(pm_open_beneath(folder, name), -ENAMETOOLONG);
}

static void test_the_rest_holds_without_openat2(void **state)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	assert_int_equal(syscall(SYS_openat2, folder, "top", NULL, 0), -1);
	assert_int_equal(errno, ENOSYS);
	test_files_of_the_folder_are_opened(state);
	test_nothing_outside_is_opened(state);
	test_what_is_not_there_says_so(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_of_the_folder_are_opened),
		cmocka_unit_test(test_nothing_outside_is_opened),
		cmocka_unit_test(test_what_is_not_there_says_so),
		cmocka_unit_test(test_the_rest_holds_without_openat2),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
