#include "fs/fusermount.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/log.h"

extern char **environ;

/* In $PATH, or where distributions install it: cron and services have a short $PATH. */
static bool is_installed(const char *program)
{
	static const char usual[] = "/usr/bin:/bin:/usr/local/bin";
	const char *lists[] = {getenv("PATH"), usual};
	char path[4096];
	for (size_t i = 0; i < 2; i++)
		for (const char *at = lists[i]; at && *at;) {
			size_t len = strcspn(at, ":");
			snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, program);
			if (len > 0 && access(path, X_OK) == 0)
				return true;
			at += len + (at[len] == ':');
		}
	return false;
}

bool pmfs_fusermount_is_old(void)
{
	return !is_installed("fusermount3") && is_installed("fusermount");
}

/* Its exit status, or a negative errno. */
static int run(char *const *words, bool quiet)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status, code = posix_spawn_file_actions_init(&actions);
	if (code != 0)
		return -code;
	if (quiet)
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	code = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (code != 0)
		return -code;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

/* The descriptor that the program sends. */
static int take_device(int line)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} control;
	char byte;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room)};
	int device = -1;
	ssize_t n = recvmsg(line, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&device, CMSG_DATA(c), sizeof(device));
	return device;
}

int pmfs_fusermount_mount(const char *options, const char *mountpoint)
{
	char number[16], program[] = "fusermount", o[] = "-o", end[] = "--";
	char *all = strdup(options), *point = strdup(mountpoint);
	char *words[] = {program, o, all, end, point, NULL};
	int ends[2], device = -1;
	if (all && point && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
		fcntl(ends[0], F_SETFD, FD_CLOEXEC);
		snprintf(number, sizeof(number), "%d", ends[1]);
		setenv("_FUSE_COMMFD", number, 1);
		int r = run(words, false);
		if (r < 0)
			pmfs_log("fusermount: cannot be run: %s", strerror(-r));
		else if (r == 0)
			device = take_device(ends[0]);
		unsetenv("_FUSE_COMMFD");
		close(ends[0]);
		close(ends[1]);
	}
	free(all);
	free(point);
	return device;
}

int pmfs_unmount(const char *mountpoint, bool lazily, bool quiet)
{
	char new[] = "fusermount3", old[] = "fusermount", u[] = "-u", z[] = "-uz", end[] = "--";
	bool is_old = pmfs_fusermount_is_old();
	if (umount2(mountpoint, lazily ? MNT_DETACH : 0) == 0)
		return 0;
	if (errno != EPERM)
		return -errno;
	char *point = strdup(mountpoint);
	char *words[] = {is_old ? old : new, lazily ? z : u, end, point, NULL};
	int r = point ? run(words, quiet) : -ENOMEM;
	free(point);
	return r > 0 ? -EPERM : r;
}
