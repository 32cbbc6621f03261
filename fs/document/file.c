#include "fs/document/file.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/beneath.h"

static bool is_after(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

int pmfs_file_open(int folder, const char *path, const struct timespec *since, int *ret_fd,
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
	/* Every change and every other file put in its place is newer by ctime. */
	if (is_after(&st.st_ctim, since)) {
		close(fd);
		return pm_error_set(
			err, -EIO, path, PM_NO_OFFSET, "has changed since the source was opened");
	}
	*ret_fd = fd;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}
