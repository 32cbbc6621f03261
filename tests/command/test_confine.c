/*
 * What a confined process can still do; what it cannot is tried by test_hijacked.py. Each attempt
 * is made by a child of its own, since there is no way back.
 */
#include "tests/unittest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/confine.h"

/* Runs `attempt` in a confined child, which ends with 0 if it is true; how the child ended. */
static int confined_status(bool (*attempt)(void))
{
	int status;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pmfs_confine(PMFS_DUTY_SERVE, -1);
		_exit(attempt() ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* What `attempt` returned in a confined child. */
static bool confined(bool (*attempt)(void))
{
	int status = confined_status(attempt);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 0;
}

/* A file that anybody may write, made before the confinement. */
static char path[] = "/tmp/profmount-confine-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);
	return fd < 0 ? -1 : fchmod(fd, 0666) | close(fd);
}

static int remove_file(void **state)
{
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

static bool sets_flags(void)
{
	int ends[2];
	return pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 &&
		closes(fcntl(ends[0], F_DUPFD_CLOEXEC, 0));
}

static bool waits_for_events(void)
{
	struct pollfd event = {.fd = eventfd(1, EFD_CLOEXEC), .events = POLLIN};
	return poll(&event, 1, 0) == 1;
}

/* As isatty does, of whatever C library: a file is no terminal, which is not what a filter says. */
static bool asks_for_terminals(void)
{
	static const unsigned long asks[] = {TCGETS, _IOC(_IOC_READ, 'T', 0x2a, 44), TIOCGWINSZ};
	char answer[100];
	int fd = open(path, O_RDONLY | O_CLOEXEC), n = 0;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		n += ioctl(fd, asks[i], answer) == -1 && errno == ENOTTY;
	return closes(fd) && n == 3;
}

static void test_serving_goes_on(void **state)
{
	assert_true(confined(asks_for_terminals));
	assert_true(confined(opens_for_reading));
	assert_true(confined(starts_threads));
	assert_true(confined(stops_threads));
	assert_true(confined(maps_memory));
	assert_true(confined(sets_flags));
	assert_true(confined(waits_for_events));
}

/* ---- what it does not take ---- */

static bool gains_privileges(void)
{
	char line[256];
	bool none = false;
	FILE *f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f))
		none = none || strcmp(line, "NoNewPrivs:\t1\n") == 0;
	return !none;
}

static bool dumps_core(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur > 0;
}

static void test_nothing_is_gained_or_dumped(void **state)
{
	assert_false(confined(gains_privileges));
	assert_false(confined(dumps_core));
}

/* ---- other ABIs of the same kernel ---- */

#if defined(__x86_64__) && defined(PMFS_SECCOMP)

enum { X32 = 0x40000000, OPEN_OF_I386 = 5 };

static bool calls_as_x32(void)
{
	return syscall(X32 | SYS_openat, AT_FDCWD, path, O_WRONLY) >= 0;
}

/* The call fails in any case, because the path is beyond 32 bits: what matters is how. */
static bool calls_as_i386(void)
{
	long r;
	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(OPEN_OF_I386), "b"(0), "c"(O_WRONLY), "d"(0)
			 : "memory", "r8", "r9", "r10", "r11");
	return r == -EFAULT;
}

/* The filter ends the process, or the kernel does not know the ABI. */
static void expect_refused(bool (*attempt)(void))
{
	int status = confined_status(attempt);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 1);
}

static void test_other_abis_are_no_way_out(void **state)
{
	expect_refused(calls_as_x32);
	expect_refused(calls_as_i386);
}

#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_serving_goes_on),
		cmocka_unit_test(test_nothing_is_gained_or_dumped),
#if defined(__x86_64__) && defined(PMFS_SECCOMP)
		cmocka_unit_test(test_other_abis_are_no_way_out),
#endif
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
