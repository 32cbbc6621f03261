/*
 * What a confined process can still do, and what it cannot. Each attempt is made by a child of its
 * own, since there is no way back.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fs/confine.h"

/* Runs `attempt` in a confined child; what it returned. */
static bool confined(bool (*attempt)(void))
{
	int status;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pmfs_confine();
		_exit(attempt() ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 0;
}

/* A file that anybody may write, made before the confinement. */
static char path[] = "/tmp/profmount-confine-XXXXXX";

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 ? -1 : fchmod(fd, 0666) | close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static bool closes(int fd)
{
	return fd >= 0 && close(fd) == 0;
}

static void *nothing(void *arg)
{
	return arg;
}

static void *wait_for_ever(void *arg)
{
	poll(NULL, 0, -1);
	return arg;
}

/* ---- what serving takes ---- */

static bool opens_for_reading(void)
{
	return closes(open(path, O_RDONLY | O_CLOEXEC));
}

static bool opens_the_device(void)
{
	/* As libfuse does for each thread; EACCES here would be the confinement's. */
	return closes(open("/dev/fuse", O_RDWR | O_CLOEXEC)) || errno == ENOENT || getuid() != 0;
}

static bool starts_threads(void)
{
	pthread_t thread;
	return pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

static bool stops_threads(void)
{
	pthread_t thread;
	void *end;
	return pthread_create(&thread, NULL, wait_for_ever, NULL) == 0 &&
		pthread_cancel(thread) == 0 && pthread_join(thread, &end) == 0 &&
		end == PTHREAD_CANCELED;
}

static bool maps_memory(void)
{
	void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p != MAP_FAILED && munmap(p, 1 << 20) == 0;
}

static bool reaches_the_log(void)
{
	return closes(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

static void test_serving_goes_on(void **state)
{
	(void)state;
	assert_true(confined(opens_for_reading));
	assert_true(confined(opens_the_device));
	assert_true(confined(starts_threads));
	assert_true(confined(stops_threads));
	assert_true(confined(maps_memory));
	assert_true(confined(reaches_the_log));
}

/* ---- what it does not take ---- */

static bool gains_privileges(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
}

static bool dumps_core(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur > 0;
}

static void test_nothing_is_gained_or_dumped(void **state)
{
	(void)state;
	assert_false(confined(gains_privileges));
	assert_false(confined(dumps_core));
}

static bool writes(void)
{
	return closes(open(path, O_WRONLY | O_CLOEXEC));
}

static bool updates(void)
{
	return closes(open(path, O_RDWR | O_CLOEXEC));
}

static bool creates(void)
{
	return closes(open("/tmp/profmount-confine-new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static bool makes_directories(void)
{
	return mkdir("/tmp/profmount-confine-new", 0700) == 0;
}

static bool renames(void)
{
	return rename(path, "/tmp/profmount-confine-new") == 0;
}

static bool removes(void)
{
	return unlink(path) == 0;
}

static bool runs_programs(void)
{
	execl("/bin/true", "true", (char *)NULL);
	return false; /* and if it ran, the exit status is 0 */
}

static void test_files_and_programs_are_out_of_reach(void **state)
{
	(void)state;
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1)
		skip();
	assert_false(confined(writes));
	assert_false(confined(updates));
	assert_false(confined(creates));
	assert_false(confined(makes_directories));
	assert_false(confined(renames));
	assert_false(confined(removes));
	assert_false(confined(runs_programs));
}

#ifdef PMFS_SECCOMP

static bool truncates(void)
{
	return truncate(path, 0) == 0;
}

static bool changes_modes(void)
{
	return chmod(path, 0600) == 0;
}

static bool forks(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static bool reaches_the_network(void)
{
	return closes(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static bool signals_others(void)
{
	return kill(getppid(), 0) == 0;
}

static void test_other_calls_are_out_of_reach(void **state)
{
	(void)state;
	assert_false(confined(truncates));
	assert_false(confined(changes_modes));
	assert_false(confined(forks));
	assert_false(confined(reaches_the_network));
	assert_false(confined(signals_others));
}

#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_serving_goes_on),
		cmocka_unit_test(test_nothing_is_gained_or_dumped),
		cmocka_unit_test(test_files_and_programs_are_out_of_reach),
#ifdef PMFS_SECCOMP
		cmocka_unit_test(test_other_calls_are_out_of_reach),
#endif
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
