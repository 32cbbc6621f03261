/* Leaves it to the kernel to stay within a folder, and does without it where it must. */
#include "formats/common/beneath.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* O_NONBLOCK: a pipe must be refused by whoever looks at it, not waited for. */
enum { FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

static int open_step(int folder, const char *name, size_t len, int flags)
{
	char part[NAME_MAX + 1];
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(part, name, len);
	part[len] = '\0';
	if (strcmp(part, "..") == 0)
		return -EXDEV;
	int fd = openat(folder, part, flags | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/*
 * For kernels before 5.6 and containers that forbid openat2(2): one name at a time. Stricter than
 * that call, as any symbolic link and any `..` is refused, but for mounts, which it crosses.
 */
static int open_by_steps(int folder, const char *path)
{
	int at = folder;
	if (*path == '/')
		return -EXDEV;
	do {
		size_t len = strcspn(path, "/");
		const char *next = path + len + strspn(path + len, "/");
		int fd = open_step(at, path, len, *next ? O_PATH | O_CLOEXEC : FLAGS);
		if (at != folder)
			close(at);
		at = fd;
		path = next;
	} while (at >= 0 && *path);
	return at;
}

int pm_open_beneath(int folder, const char *path)
{
	struct open_how how = {.flags = FLAGS,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
	long fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_by_steps(folder, path);
	return fd < 0 ? -errno : (int)fd;
}

int pm_open_unchanged(int folder, const char *path, uint64_t since_ns, int *ret_fd,
	uint64_t *ret_size, struct pm_error *err)
{
	struct stat st;
	int fd = pm_open_beneath(folder, path);
	if (fd < 0)
		return pm_error_set(
			err, -EIO, path, PM_NO_OFFSET, "cannot be opened: %s", strerror(-fd));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return pm_error_set(err, -EIO, path, PM_NO_OFFSET, "is not a regular file");
	}
	/* Every change, and every other file put in its place, is newer by ctime. */
	uint64_t changed_ns =
		(uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
	if (since_ns && changed_ns > since_ns) {
		close(fd);
		return pm_error_set(
			err, -EIO, path, PM_NO_OFFSET, "has changed since the source was opened");
	}
	*ret_fd = fd;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}
