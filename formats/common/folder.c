#include "formats/common/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

DIR *pm_folder_list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

const char *pm_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

int pm_folder_around(const char *path)
{
	size_t n = (size_t)(pm_path_name(path) - path);
	if (n == 0)
		return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *folder = strndup(path, n);
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int code = errno;
	free(folder);
	errno = code;
	return fd;
}
