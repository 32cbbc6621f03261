/* A mountpoint before, while and after it is mounted, without libfuse. */
#include "fs/mountpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/log.h"

/* ---- the set-user-id program that mounts for users ---- */

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

/* ---- checks and settings ---- */

enum { FUSE_MAGIC = 0x65735546, READAHEAD_KIB = 4096 };

int pmfs_mountpoint_check(const char *mountpoint, struct pm_error *err)
{
	struct stat st;
	struct statfs fs;
	/* While the last descriptor of a dead server is being closed, stat is still cached. */
	bool there = stat(mountpoint, &st) == 0 && statfs(mountpoint, &fs) == 0;
	if (!there && (errno == ENOTCONN || errno == ECONNABORTED))
		return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET,
			"%s: is the mount of a process that died; free it with: profmount -u %s",
			mountpoint, mountpoint);
	if (!there)
		return pm_error_set(err, -ENOENT, NULL, PM_NO_OFFSET,
			"%s: cannot be used as mountpoint: %s", mountpoint, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET,
			"%s: cannot be used as mountpoint: it is not a directory", mountpoint);
	if (fs.f_type == FUSE_MAGIC && st.st_ino == 1)
		return pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET,
			"%s: is in use: something is mounted there already", mountpoint);
	return 0;
}

/* In the list of mounts, blanks and a few other characters are in octal. */
static void unescape(char *path)
{
	char *to = path;
	unsigned code;
	for (; *path; path++) {
		if (*path == '\\' && sscanf(path + 1, "%3o", &code) == 1) {
			*to++ = (char)code;
			path += 3;
		} else {
			*to++ = *path;
		}
	}
	*to = '\0';
}

/* What the kernel's list of mounts says of one. */
struct entry {
	char device[32]; /* major:minor */
	char type[64];
};

/* The topmost mount at this path: 1, 0 if nothing is mounted there, -1 without a list. */
static int find_mount(const char *mountpoint, struct entry *ret)
{
	char line[8192], path[4096];
	struct entry entry;
	int found = 0;
	FILE *f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		const char *rest = strstr(line, " - ");
		if (!rest || sscanf(rest, " - %63s", entry.type) != 1 ||
			sscanf(line, "%*s %*s %31s %*s %4095s", entry.device, path) != 2)
			continue;
		unescape(path);
		if (strcmp(path, mountpoint) == 0) {
			*ret = entry;
			found = 1;
		}
	}
	fclose(f);
	return found;
}

void pmfs_mountpoint_raise_readahead(const char *mountpoint)
{
	char path[96];
	struct entry entry;
	if (find_mount(mountpoint, &entry) != 1)
		return;
	snprintf(path, sizeof(path), "/sys/class/bdi/%s/read_ahead_kb", entry.device);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	dprintf(fd, "%d\n", READAHEAD_KIB);
	close(fd);
}

/* As realpath(), but of a mount that does not answer, only what is above it. */
static bool resolve(const char *path, char ret[PATH_MAX])
{
	char above[PATH_MAX], folder[PATH_MAX];
	size_t len = strlen(path);
	if (realpath(path, ret))
		return true;
	if (errno != ENOTCONN && errno != ECONNABORTED)
		return false;
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len >= sizeof(above))
		return false;
	memcpy(above, path, len);
	above[len] = '\0';
	char *slash = strrchr(above, '/');
	const char *name = slash ? slash + 1 : above;
	if (slash)
		*slash = '\0';
	const char *from = !slash ? "." : above[0] ? above : "/";
	return realpath(from, folder) &&
		snprintf(ret, PATH_MAX, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name) <
		PATH_MAX;
}

int pmfs_mountpoint_unmount(const char *mountpoint, struct pm_error *err)
{
	char path[PATH_MAX];
	struct entry entry;
	if (!resolve(mountpoint, path))
		return pm_error_set(err, -errno, NULL, PM_NO_OFFSET, "%s: cannot be unmounted: %s",
			mountpoint, strerror(errno));
	int found = find_mount(path, &entry);
	if (found == 0 || (found > 0 && strcmp(entry.type, "fuse.profmount") != 0))
		return pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET,
			"%s: is not a mount of profmount", mountpoint);
	int r = pmfs_unmount(path, false, false);
	if (r < 0 && r != -EPERM)
		pm_error_set(err, r, NULL, PM_NO_OFFSET, "%s: cannot be unmounted: %s", mountpoint,
			r == -EBUSY ? "it is in use; leave it with cd, and close its files"
				: r == -ENOENT ? "fusermount3 is not installed"
					       : strerror(-r));
	return r;
}
