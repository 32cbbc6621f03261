/*
 * The keeper is forked before the server is confined. It executes the messages from its socket,
 * in the only valid order, and never reads the profile. If the server dies without a message, a
 * dead mount remains, which the next mount there diagnoses; with `-o auto_unmount` it is
 * unmounted. (libfuse's own auto_unmount cannot access the mounts of users other than root, and
 * leaves them.)
 *
 * If the keeper were killed, nobody could unmount. So after mounting it has a spare, a process
 * that only waits for the keeper's death and then takes its place.
 */
#include "fs/mount_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "formats/common/utf8.h"
#include "fs/mount_ops.h"
#include "fs/mountpoint.h"

/*
 * ---- the background ----
 *
 * libfuse's fuse_daemonize forks after the mount, i.e. after everything has been read. Here the
 * fork comes first, because a process that reads is confined and cannot fork.
 */

/* The other process's message that it is ready, or else its exit status. */
static int wait_for(pid_t pid, int line)
{
	char ready;
	int status;
	ssize_t n;
	do
		n = read(line, &ready, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1;
}

int pmfs_background_start(struct pmfs_background *b, int *ret_status)
{
	int ends[2];
	if (!b->wanted)
		return 0;
	b->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	pid_t waiting = getpid(), pid = fork();
	if (pid < 0)
		return -errno;
	b->line = ends[1];
	if (pid == 0) {
		close(ends[0]);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != waiting)
			_exit(1); /* it was interrupted before */
		return 0;
	}
	close(ends[1]);
	*ret_status = wait_for(pid, ends[0]);
	return 1;
}

/* Detaches from the terminal and leaves the working directory. */
static void background_leave(const struct pmfs_background *b)
{
	if (!b->wanted)
		return;
	setsid();
	for (int fd = 0; b->null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(b->null, fd);
	if (chdir("/") != 0)
		return; /* the root always exists */
}

bool pmfs_background_ready(struct pmfs_background *b)
{
	if (!b->wanted)
		return true;
	background_leave(b);
	prctl(PR_SET_PDEATHSIG, 0);
	bool is_awaited = write(b->line, "", 1) == 1;
	close(b->line);
	return is_awaited;
}

/* ---- the keeper ---- */

enum { MESSAGE = 1100 };

/*
 * Changes the name shown by ps, because people and scripts find the server by its command line. The
 * kernel reads it from the memory of argv, which begins with the program's name.
 */
static void rename_process(const char *name)
{
	char line[4096];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line));
	if (fd >= 0)
		close(fd);
	prctl(PR_SET_NAME, name);
	if (n < (ssize_t)strlen(name) + 1)
		return;
	memset(program_invocation_name, 0, (size_t)n);
	memcpy(program_invocation_name, name, strlen(name));
}

/* Room for one descriptor in a message. */
union control {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr head;
};

/* Sends one byte and with it a descriptor, if there is one. */
static void send_device(int line, int device)
{
	char answer = device >= 0;
	union control control = {.room = {0}};
	struct iovec part = {.iov_base = &answer, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (device >= 0) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof(control.room);
		struct cmsghdr *c = CMSG_FIRSTHDR(&message);
		*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(c), &device, sizeof(device));
	}
	sendmsg(line, &message, MSG_NOSIGNAL);
}

/*
 * The spare process, which waits for the keeper's death. It then returns as the new keeper, with a
 * spare of its own.
 */
static pid_t start_spare(void)
{
	char byte;
	int alive[2];
	if (pipe2(alive, O_CLOEXEC) != 0)
		return -1;
	pid_t pid = fork();
	if (pid != 0) { /* the keeper holds the other end until it ends */
		close(alive[0]);
		return pid;
	}
	close(alive[1]);
	rename_process("profmount-spare");
	while (read(alive[0], &byte, 1) < 0 && errno == EINTR)
		continue;
	close(alive[0]);
	rename_process("profmount-keeper");
	return start_spare();
}

/* libfuse mounts by itself for root, and else runs fusermount3 alone. */
static bool needs_old_program(void)
{
	return geteuid() != 0 && pmfs_fusermount_is_old();
}

static void mount_once(const struct pmfs_keeping *k, int line)
{
	struct fuse_session *se = k->session;
	const char *where = k->mountpoint;
	char given[32];
	if (fuse_session_fd(se) >= 0)
		return;
	if (needs_old_program()) {
		int device = pmfs_fusermount_mount(k->options, where);
		snprintf(given, sizeof(given), "/dev/fd/%d", device);
		where = device < 0 ? NULL : given;
	}
	/* If it fails, libfuse has reported the reason. */
	bool mounted = where && fuse_session_mount(se, where) == 0;
	send_device(line, mounted ? fuse_session_fd(se) : -1);
}

static void unmount(const struct pmfs_keeping *k)
{
	struct pollfd device = {.fd = fuse_session_fd(k->session)};
	if (!needs_old_program())
		fuse_session_unmount(k->session);
	/* Else another mount may be there by now. */
	else if (device.fd >= 0 && (poll(&device, 1, 0) <= 0 || !(device.revents & POLLERR)))
		pmfs_unmount(k->mountpoint, true, true);
}

/* The sender may have been hijacked. */
static void log_line(const char *line)
{
	char shown[MESSAGE];
	pm_shown_copy(shown, sizeof(shown), line);
	syslog(LOG_WARNING, "%s", shown);
}

/* Tells the server explicitly, so that it does not depend on when the kernel closes the socket. */
static _Noreturn void end(pid_t spare, int line)
{
	if (spare > 0 && kill(spare, SIGKILL) == 0)
		waitpid(spare, NULL, 0);
	send(line, "", 1, MSG_NOSIGNAL);
	_exit(0);
}

static _Noreturn void keep(const struct pmfs_keeping *k, int line)
{
	char message[MESSAGE];
	pid_t spare = -1;
	ssize_t n;
	for (;;) {
		/*
		 * The last message stays in the queue, for the spare if this process is killed now.
		 */
		n = recv(line, message, sizeof(message) - 1, MSG_PEEK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || message[0] == PMFS_KEEPER_UNMOUNT)
			break;
		recv(line, message, sizeof(message) - 1, 0);
		message[n] = 0;
		if (message[0] == PMFS_KEEPER_MOUNT)
			mount_once(k, line);
		if (message[0] == PMFS_KEEPER_READY && spare < 0) {
			pmfs_mountpoint_raise_readahead(k->mountpoint);
			background_leave(k->background);
			spare = start_spare();
		}
		if (message[0] == PMFS_KEEPER_LEAVE)
			pmfs_unmount(k->mountpoint, false, true);
		if (message[0] == PMFS_KEEPER_LOG)
			log_line(message + 1);
	}
	if (n > 0 || k->always)
		unmount(k);
	end(spare, line);
}

int pmfs_keeper_start(const struct pmfs_keeping *keeping)
{
	/*
	 * Signals to the process group, or to all processes with this name, are meant for the
	 * server.
	 */
	static const int deaf_to[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	pid_t pid = fork();
	int code = errno;
	if (pid == 0) {
		close(ends[0]);
		for (size_t i = 0; i < sizeof(deaf_to) / sizeof(deaf_to[0]); i++)
			signal(deaf_to[i], SIG_IGN);
		rename_process("profmount-keeper");
		openlog("profmount", LOG_PID, LOG_DAEMON);
		keep(keeping, ends[1]);
	}
	close(ends[1]);
	if (pid > 0)
		return ends[0];
	close(ends[0]);
	return -code;
}

static bool tell(int line, char message)
{
	return write(line, &message, 1) == 1;
}

int pmfs_keeper_mount(int line)
{
	char answer = 0;
	union control control;
	struct iovec part = {.iov_base = &answer, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room)};
	int device = -1;
	ssize_t n;
	if (!tell(line, PMFS_KEEPER_MOUNT))
		return -1;
	do
		n = recvmsg(line, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	const struct cmsghdr *c = n == 1 && answer ? CMSG_FIRSTHDR(&message) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&device, CMSG_DATA(c), sizeof(device));
	return device;
}

void pmfs_keeper_ready(int line)
{
	tell(line, PMFS_KEEPER_READY);
}

void pmfs_keeper_leave(int line)
{
	tell(line, PMFS_KEEPER_LEAVE);
}

void pmfs_keeper_unmount(int line)
{
	char byte;
	tell(line, PMFS_KEEPER_UNMOUNT);
	/* Waits for its last byte, or for the end of file if it died. */
	while (read(line, &byte, 1) < 0 && errno == EINTR)
		continue;
	close(line);
	while (wait(NULL) < 0 && errno == EINTR)
		continue;
}
