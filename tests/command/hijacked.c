/*
 * profmount with a reader that was taken over: its only format tries, as soon as it may look at the
 * source, whatever must not work, and says on standard error what did and what did not:
 *
 *     NAME done          NAME failed: REASON          … end
 *
 * HIJACKED_FOLDER is a folder with `file`, which anybody may write, `empty/`, and `socket`, which
 * somebody listens to. HIJACKED_PID is a process of the same user, HIJACKED_FD a descriptor that
 * was open when the program was started.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "profmount/format.h"

/* Calls that headers of older systems do not know; the numbers are those of every machine. */
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

static char file[256], fresh[256], empty[256], unix_socket[256];
static pid_t other;
static int inherited;

static int open2(unsigned long long flags)
{
	struct {
		uint64_t flags, mode, resolve;
	} how = {.flags = flags};
	return (int)syscall(SYS_openat2, AT_FDCWD, file, &how, sizeof(how));
}

static int use_socket(int family, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || !path)
		return fd;
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	return connect(fd, (struct sockaddr *)&address, sizeof(address));
}

static int pair(void)
{
	int ends[2];
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static int start_process(unsigned long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(0);
	return (int)pid;
}

static int start_by_clone3(void)
{
	struct {
		unsigned long long flags, pidfd, child_tid, parent_tid, exit_signal, more[6];
	} how = {.exit_signal = SIGCHLD};
	long pid = syscall(SYS_clone3, &how, sizeof(how));
	if (pid == 0)
		_exit(0);
	return (int)pid;
}

/* In a process of its own where there can be one: a namespace's privileges would stay for the next
 * run's attempts. */
static int enter_namespace(void)
{
	int status = -1;
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) != 0);
	if (pid < 0)
		return unshare(CLONE_NEWUSER);
	return waitpid((pid_t)pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

static int map(int protection, int flags, int fd)
{
	return mmap(NULL, 4096, protection, flags, fd, 0) == MAP_FAILED ? -1 : 0;
}

static int protect(int protection)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? -1 : mprotect(p, 4096, protection);
}

static int write_other(void)
{
	char byte = 0;
	struct iovec here = {&byte, 1}, there = {(void *)(size_t)4096, 1};
	ssize_t n = process_vm_writev(other, &here, 1, &there, 1, 0);
	return n >= 0 || errno == EFAULT ? 0 : -1; /* EFAULT: had there been memory */
}

static int limit(pid_t pid, int resource)
{
	struct rlimit now, was;
	getrlimit((__rlimit_resource_t)resource, &now);
	return prlimit(pid, (enum __rlimit_resource)resource, &now, &was);
}

static int control(int command, long argument)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	return fcntl(fd, command, argument);
}

/* Given back at once: an attempt of the next run would break it, and end the process by SIGIO. */
static int lease(void)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), r = fcntl(fd, F_SETLEASE, F_RDLCK);
	close(fd);
	return r;
}

static int lock_file(void)
{
	return flock(open(file, O_RDONLY | O_CLOEXEC), LOCK_EX | LOCK_NB);
}

static int touch(void)
{
	return utimensat(AT_FDCWD, file, NULL, 0);
}

/* A file by its handle, past the names of its folders. */
static int open_by_handle(int flags)
{
	union {
		struct file_handle head;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} handle = {.head.handle_bytes = MAX_HANDLE_SZ};
	int mount, at = open(empty, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (name_to_handle_at(AT_FDCWD, file, &handle.head, &mount, 0) != 0)
		return -1;
	return open_by_handle_at(at, &handle.head, flags);
}

static int by_descriptor(int (*change)(int))
{
	return change(open(file, O_RDONLY | O_CLOEXEC));
}

static int change_mode(int fd)
{
	return fchmod(fd, 0666);
}

/* On every descriptor that may be a socket, such as the one to the keeper. */
static int send_byte(void)
{
	int sent = -1;
	for (int fd = 3; fd < 32; fd++)
		if (send(fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
			sent = 0;
	return sent;
}

static int map_with_key(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return (int)syscall(SYS_pkey_mprotect, p, 4096, PROT_READ | PROT_EXEC, -1);
}

static int read_of_other(const char *what)
{
	char name[64], byte;
	snprintf(name, sizeof(name), "/proc/%d/%s", (int)other, what);
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	/* No memory is at 0: one that is refused later would give EIO here, too. */
	return fd < 0 ? -1 : read(fd, &byte, 1) >= 0 || errno == EIO ? 0 : -1;
}

static int run_program(void)
{
	char *const arguments[] = {(char[]){"true"}, NULL};
	return execve("/bin/true", arguments, NULL);
}

/* A program that runs ends all this: it comes last, and `end` is then missing. */
#define ATTEMPTS(TRY)                                                                              \
	TRY(open_write, open(file, O_WRONLY))                                                      \
	TRY(open_update, open(file, O_RDWR | O_CLOEXEC))                                           \
	TRY(open_append, open(file, O_WRONLY | O_APPEND))                                          \
	TRY(open_truncate, open(file, O_RDONLY | O_TRUNC))                                         \
	TRY(open_create, open(fresh, O_WRONLY | O_CREAT, 0600))                                    \
	TRY(open_create_new,                                                                       \
		openat(AT_FDCWD, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,      \
			0600))                                                                     \
	TRY(open_temporary, open(empty, O_RDWR | O_TMPFILE, 0600))                                 \
	TRY(openat2_write, open2(O_WRONLY))                                                        \
	TRY(openat2_truncate, open2(O_RDONLY | O_TRUNC))                                           \
	TRY(open_memory, open("/proc/self/mem", O_RDWR))                                           \
	TRY(open_handle_write, open_by_handle(O_WRONLY))                                           \
	TRY(open_handle_read, open_by_handle(O_RDONLY))                                            \
	TRY(truncate, truncate(file, 0))                                                           \
	TRY(mkdir, mkdir(fresh, 0700))                                                             \
	TRY(mkdirat, mkdirat(AT_FDCWD, fresh, 0700))                                               \
	TRY(mkfifo, mkfifo(fresh, 0600))                                                           \
	TRY(symlink, symlink("/", fresh))                                                          \
	TRY(symlinkat, symlinkat("/", AT_FDCWD, fresh))                                            \
	TRY(link, link(file, fresh))                                                               \
	TRY(rename, rename(file, fresh))                                                           \
	TRY(unlink, unlink(file))                                                                  \
	TRY(unlinkat, unlinkat(AT_FDCWD, file, 0))                                                 \
	TRY(rmdir, rmdir(empty))                                                                   \
	TRY(chmod, chmod(file, 0666))                                                              \
	TRY(fchmod, by_descriptor(change_mode))                                                    \
	TRY(chown, chown(file, getuid(), getgid()))                                                \
	TRY(utimes, touch())                                                                       \
	TRY(setxattr, setxattr(file, "user.hijacked", "", 0, 0))                                   \
	TRY(flock, lock_file())                                                                    \
	TRY(mount, mount("none", empty, "tmpfs", 0, NULL))                                         \
	TRY(umount, umount2("/proc", MNT_EXPIRE))                                                  \
	TRY(chroot, chroot(empty))                                                                 \
	TRY(inherited_descriptor, (int)write(inherited, "x", 1))                                   \
	TRY(socket_unix, use_socket(AF_UNIX, NULL))                                                \
	TRY(connect_unix, use_socket(AF_UNIX, unix_socket))                                        \
	TRY(socket_inet, use_socket(AF_INET, NULL))                                                \
	TRY(socket_netlink, use_socket(AF_NETLINK, NULL))                                          \
	TRY(socketpair, pair())                                                                    \
	TRY(send, send_byte())                                                                     \
	TRY(fork, start_process(0))                                                                \
	TRY(fork_into_namespace, start_process(CLONE_NEWUSER))                                     \
	TRY(clone3, start_by_clone3())                                                             \
	TRY(unshare, enter_namespace())                                                            \
	TRY(kill, kill(other, 0))                                                                  \
	TRY(tgkill, (int)syscall(SYS_tgkill, other, other, 0))                                     \
	TRY(tkill, (int)syscall(SYS_tkill, other, 0))                                              \
	TRY(pidfd_open, (int)syscall(SYS_pidfd_open, other, 0))                                    \
	TRY(pidfd_getfd, (int)syscall(SYS_pidfd_getfd, inherited, 0, 0))                           \
	TRY(queue_signal, (int)syscall(SYS_rt_sigqueueinfo, other, 0, NULL))                       \
	TRY(ptrace, (int)ptrace(PTRACE_SEIZE, other, 0, 0))                                        \
	TRY(write_memory, write_other())                                                           \
	TRY(read_memory, read_of_other("mem"))                                                     \
	TRY(read_environment, read_of_other("environ"))                                            \
	TRY(limit_other, limit(other, RLIMIT_NOFILE))                                              \
	TRY(limit_own, limit(0, RLIMIT_NOFILE))                                                    \
	TRY(priority_other, setpriority(PRIO_PROCESS, (id_t)other, 19))                            \
	TRY(set_owner, control(F_SETOWN, other))                                                   \
	TRY(set_signal, control(F_SETSIG, SIGTERM))                                                \
	TRY(set_async, control(F_SETFL, O_ASYNC))                                                  \
	TRY(lease, lease())                                                                        \
	TRY(terminal_input, ioctl(STDERR_FILENO, TIOCSTI, "x"))                                    \
	TRY(dumpable, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))                                          \
	TRY(map_code, map(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1))                 \
	TRY(map_writable_code,                                                                     \
		map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1))          \
	TRY(map_library, map(PROT_READ | PROT_EXEC, MAP_PRIVATE, open(file, O_RDONLY)))            \
	TRY(protect_code, protect(PROT_READ | PROT_EXEC))                                          \
	TRY(protect_code_with_key, map_with_key())                                                 \
	TRY(personality, (int)syscall(SYS_personality, 0x0400000))                                 \
	TRY(open_tree, (int)syscall(SYS_open_tree, AT_FDCWD, empty, 1))                            \
	TRY(fsopen, (int)syscall(SYS_fsopen, "tmpfs", 0))                                          \
	TRY(join_namespace, (int)syscall(SYS_setns, inherited, 0))                                 \
	TRY(userfaultfd, (int)syscall(SYS_userfaultfd, 1))                                         \
	TRY(perf_event, (int)syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0))                     \
	TRY(shared_memory, (int)syscall(SYS_shmget, 0, 4096, 01600))                               \
	TRY(message_queue, (int)syscall(SYS_mq_open, "hijacked", O_RDWR | O_CREAT, 0600, NULL))    \
	TRY(affinity_other, (int)syscall(SYS_sched_setaffinity, other, 0, NULL))                   \
	TRY(memfd, (int)syscall(SYS_memfd_create, "x", 0))                                         \
	TRY(bpf, (int)syscall(SYS_bpf, 0, NULL, 0))                                                \
	TRY(io_uring, (int)syscall(SYS_io_uring_setup, 0, NULL))                                   \
	TRY(keys, (int)syscall(SYS_add_key, "user", "x", "x", 1, -2))                              \
	TRY(execve, run_program())

#define DEFINE(name, call)                                                                         \
	static int try_##name(void)                                                                \
	{                                                                                          \
		return call;                                                                       \
	}
ATTEMPTS(DEFINE)

static const struct {
	const char *name;
	int (*attempt)(void);
} attempts[] = {
#define LIST(name, call) {#name, try_##name},
	ATTEMPTS(LIST)};

static int number_of(const char *variable)
{
	const char *value = getenv(variable);
	return value ? atoi(value) : -1;
}

static void try_all(void)
{
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		errno = 0;
		int r = attempts[i].attempt();
		dprintf(STDERR_FILENO, "%s %s%s\n", attempts[i].name, r < 0 ? "failed: " : "done",
			r < 0 ? strerror(errno) : "");
		/* What was made, or taken away, is there for the next attempt. */
	}
	dprintf(STDERR_FILENO, "end\n");
}

static int open_source(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	/* Several runs are opened on several threads, and their attempts share names and files. */
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	const char *folder = getenv("HIJACKED_FOLDER");
	(void)options;
	(void)ret;
	if (!folder)
		return pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET, "no HIJACKED_FOLDER");
	pthread_mutex_lock(&one_at_a_time);
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(fresh, sizeof(fresh), "%s/fresh", folder);
	snprintf(empty, sizeof(empty), "%s/empty", folder);
	snprintf(unix_socket, sizeof(unix_socket), "%s/socket", folder);
	other = number_of("HIJACKED_PID");
	inherited = number_of("HIJACKED_FD");
	try_all();
	pthread_mutex_unlock(&one_at_a_time);
	return pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET, "hijacked");
}

static int probe(const struct pm_candidate *c)
{
	(void)c;
	return 100;
}

static int probe_none(const struct pm_candidate *c)
{
	(void)c;
	return 0;
}

/* In the places of the real ones, which formats/registry.c lists. */
extern const struct pm_format hpctk_format, hpcrun_format, nytp_format, zts_format, htd_format;
const struct pm_format hpctk_format = {.name = "hijacked", .probe = probe, .open = open_source};
const struct pm_format hpcrun_format = {.name = "2", .probe = probe_none};
const struct pm_format nytp_format = {.name = "3", .probe = probe_none};
const struct pm_format zts_format = {.name = "4", .probe = probe_none};
const struct pm_format htd_format = {.name = "5", .probe = probe_none};
