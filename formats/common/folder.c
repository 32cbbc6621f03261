#include "formats/common/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/list.h"
#include "formats/common/reason.h"
#include "formats/common/sort.h"
#include "profmount/error.h"

DIR *pm_folder_list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int code = errno;
	if (fd >= 0 && !dir)
		close(fd);
	if (fd < 0 && (code == EMFILE || code == ENFILE)) {
		pm_reason_files();
		code = ENOMEM;
	}
	errno = code;
	return dir;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

int pm_folder_names(int folder, int (*is_one)(void *context, int folder, const char *name),
	void *context, size_t most, struct pm_names *ret)
{
	DIR *dir = pm_folder_list(folder);
	int r = dir ? 0 : -errno;
	for (struct dirent *entry; r == 0 && ret->n < most && (entry = readdir(dir));) {
		int is = entry->d_name[0] == '.' ? 0 : is_one(context, folder, entry->d_name);
		if (is < 0) {
			ret->others = !pm_is_passing(is);
			r = pm_is_passing(is) ? is : 0;
			break;
		}
		if (is == 0)
			continue;
		if (pm_list_room(&ret->items, ret->n, &ret->room, sizeof(*ret->items)) < 0 ||
			!(ret->items[ret->n] = strdup(entry->d_name)))
			r = -ENOMEM;
		else
			ret->n++;
	}
	ret->others |= ret->n == most;
	if (dir)
		closedir(dir);
	return r == 0 && ret->n ? pm_sort(ret->items, ret->n, sizeof(*ret->items), by_name) : r;
}

void pm_names_done(struct pm_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct pm_names){.n = 0};
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
