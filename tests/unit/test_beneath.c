/* Tests formats/common/beneath.c. */
#include "tests/unittest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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
	outer = mkdtemp(outer_name) ? open(outer_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (outer < 0 || write_file(outer, "secret") < 0 || mkdirat(outer, "folder", 0700) < 0)
		return -1;
	folder = openat(outer, "folder", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return mkdirat(folder, "sub", 0700) < 0 || write_file(folder, "sub/file") < 0 ||
			write_file(folder, "top") < 0 || symlinkat("/", folder, "root") < 0 ||
			symlinkat("../secret", folder, "out") < 0 ||
			symlinkat("..", folder, "sub/up") < 0 ||
			symlinkat("top", folder, "to-top") < 0 ||
			symlinkat("./sub", folder, "to-sub") < 0 ||
			symlinkat("../to-top", folder, "sub/file-up") < 0 ||
			symlinkat("circle", folder, "circle") < 0 ||
			mkfifoat(folder, "pipe", 0600) < 0
		? -1
		: 0;
}

static int tear_down(void **state)
{
	char command[sizeof(outer_name) + sizeof("rm -r ")];
	snprintf(command, sizeof(command), "rm -r %s", outer_name);
	close(folder);
	close(outer);
	return system(command);
}

static void test_files_of_the_folder_are_opened(void **state)
{
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
	char name[NAME_MAX + 2];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(pm_open_beneath(folder, "nothing"), -ENOENT);
	assert_int_equal(pm_open_beneath(folder, ""), -ENOENT);
	assert_int_equal(pm_open_beneath(folder, "nothing/file"), -ENOENT);
	assert_int_equal(pm_open_beneath(folder, "top/file"), -ENOTDIR);
	assert_int_equal(pm_open_beneath(folder, name), -ENAMETOOLONG);
}

static void test_links_within_the_folder_are_followed(void **state)
{
	static const char *const paths[] = {"to-top", "sub/up/top", "sub/up/sub/file",
		"to-sub/file", "to-sub/../top", "sub/../top", "./sub/.././top", "sub/file-up",
		"sub/"};
	for (unsigned i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		int fd = pm_open_beneath(folder, paths[i]);
		if (fd < 0)
			fail_msg("%s: %s", paths[i], strerror(-fd));
		assert_int_equal(fcntl(fd, F_GETFL) & O_PATH, 0);
		close(fd);
	}
	assert_int_equal(pm_open_beneath(folder, "circle"), -ELOOP);
	assert_int_equal(pm_open_beneath(folder, "sub/../nothing"), -ENOENT);
}

static void test_a_pipe_is_not_waited_for(void **state)
{
	int fd = pm_open_beneath(folder, "pipe"), regular;
	uint64_t size;
	struct pm_error err = {0};
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(pm_open_unchanged(folder, "pipe", 0, &regular, &size, &err), -EIO);
}

/* They may be there the next time: what was to be opened is not known to be missing or damaged. */
static void test_no_descriptors_are_no_memory(void **state)
{
	struct rlimit limit, none;
	uint64_t size;
	int fd;
	struct pm_error err = {0};
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int top = pm_open_beneath(folder, "top");
	int unchanged = pm_open_unchanged(folder, "top", 0, &fd, &size, &err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(top, PM_NO_MEMORY);
	assert_int_equal(unchanged, PM_NO_MEMORY);
	assert_non_null(strstr(err.text, "too many open files"));
}

/* /proc is another mount wherever there is one. qemu-user (tests/machines) forgets mounts' ids. */
static void test_other_mounts_are_not_entered(void **state)
{
	if (getenv("EMULATOR"))
		skip();
	int root = open("/proc/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(pm_open_beneath(root, "proc/self/status"), -EXDEV);
	assert_int_equal(pm_open_beneath(root, "proc"), -EXDEV);
	close(root);
}

/* From now on, statx fails with this error. False where no filter can be set. */
static bool deny_statx(int code)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_statx, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Old container runtimes forbid it, and old kernels lack it. */
static void test_statx_is_not_needed(void **state)
{
	static const int codes[] = {ENOSYS, EPERM};
	if (getenv("EMULATOR"))
		skip();
	for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		int status;
		pid_t pid = fork();
		if (pid == 0) {
			if (!deny_statx(codes[i]))
				_exit(77);
			test_files_of_the_folder_are_opened(NULL);
			test_nothing_outside_is_opened(NULL);
			test_links_within_the_folder_are_followed(NULL);
			test_other_mounts_are_not_entered(NULL);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			skip();
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_of_the_folder_are_opened),
		cmocka_unit_test(test_nothing_outside_is_opened),
		cmocka_unit_test(test_what_is_not_there_says_so),
		cmocka_unit_test(test_links_within_the_folder_are_followed),
		cmocka_unit_test(test_a_pipe_is_not_waited_for),
		cmocka_unit_test(test_no_descriptors_are_no_memory),
		cmocka_unit_test(test_other_mounts_are_not_entered),
		cmocka_unit_test(test_statx_is_not_needed),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
