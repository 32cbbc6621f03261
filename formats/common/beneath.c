#include "formats/common/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int pm_open_beneath(int folder, const char *path)
{
	/* O_NONBLOCK: a pipe must be refused by whoever looks at it, not waited for. */
	struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	long fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));
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
