/* Checks and settings of a mountpoint before and after mounting, without libfuse. */
#include "fs/mountpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { FUSE_MAGIC = 0x65735546, READAHEAD_KIB = 4096 };

int pmfs_mountpoint_check(const char *mountpoint, struct pm_error *err)
{
	struct stat st;
	struct statfs fs;
	/* While the last descriptor of a dead server is being closed, stat is still cached. */
	bool there = stat(mountpoint, &st) == 0 && statfs(mountpoint, &fs) == 0;
	if (!there && (errno == ENOTCONN || errno == ECONNABORTED))
		return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET,
			"%s: is the mount of a process that died; free it with: fusermount3 -u %s",
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

/* major:minor of the mount at this path, from the kernel's list of mounts. */
static bool device_of(const char *mountpoint, char *ret, size_t size)
{
	char line[8192], id[32], path[4096];
	bool found = false;
	FILE *f = fopen("/proc/self/mountinfo", "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %*s %31s %*s %4095s", id, path) != 2)
			continue;
		unescape(path);
		if (strcmp(path, mountpoint) == 0) {
			snprintf(ret, size, "%s", id);
			found = true;
		}
	}
	if (f)
		fclose(f);
	return found;
}

void pmfs_mountpoint_raise_readahead(const char *mountpoint)
{
	char device[32], path[96];
	if (!device_of(mountpoint, device, sizeof(device)))
		return;
	snprintf(path, sizeof(path), "/sys/class/bdi/%s/read_ahead_kb", device);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	dprintf(fd, "%d\n", READAHEAD_KIB);
	close(fd);
}
