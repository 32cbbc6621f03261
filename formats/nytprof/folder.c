/*
 * Which files of a directory belong together: a process that forks leaves X for itself and X.PID
 * for each child; with addpid=1 all are X.PID; with addtimestamp=1 there is also a time. So files
 * belong to one run if their names are equal except for numbers at the end.
 */
#include "formats/nytprof/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/folder.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/nytprof/limits.h"
#include "formats/nytprof/read.h"

enum { HEAD_BYTES = 8, PROBED_FILES = 512 };

/* Whether this is a regular file that begins like a profile. */
static bool is_profile(int folder, const char *name, uint64_t *ret_size)
{
	uint8_t head[HEAD_BYTES];
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool found = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		read(fd, head, sizeof(head)) == HEAD_BYTES &&
		nytp_head_matches((struct pm_bytes){head, sizeof(head)});
	*ret_size = found ? (uint64_t)st.st_size : 0;
	close(fd);
	return found;
}

int nytp_folder_matches(int fd)
{
	const struct dirent *entry;
	uint64_t size;
	bool found = false;
	DIR *dir = pm_folder_list(fd);
	if (!dir)
		return -EIO;
	for (int n = 0; !found && n < PROBED_FILES && (entry = readdir(dir));) {
		if (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN &&
			entry->d_type != DT_LNK)
			continue;
		found = is_profile(fd, entry->d_name, &size);
		n++;
	}
	closedir(dir);
	return found;
}

/* The length of a name without the numbers at its end: nytprof.out of nytprof.out.123.456. */
static size_t stem_length(const char *name)
{
	size_t len = strlen(name);
	for (;;) {
		size_t digits = 0;
		while (digits < len && name[len - 1 - digits] >= '0' &&
			name[len - 1 - digits] <= '9')
			digits++;
		if (digits == 0 || len < digits + 2 || name[len - 1 - digits] != '.')
			return len;
		len -= digits + 1;
	}
}

static bool same_run(const char *a, const char *b)
{
	size_t n = stem_length(a);
	return n == stem_length(b) && memcmp(a, b, n) == 0;
}

static int by_number(const void *a, const void *b)
{
	char *const *x = a, *const *y = b;
	return strverscmp(*x, *y);
}

static int list(struct nytp_folder *f, int fd, DIR *dir)
{
	const struct dirent *entry;
	uint64_t size;
	while ((entry = readdir(dir))) {
		if (!is_profile(fd, entry->d_name, &size))
			continue;
		if (f->n >= NYTP_LIMIT_PROCESSES ||
			pm_list_room(&f->names, f->n, &f->room, sizeof(*f->names)) < 0 ||
			!(f->names[f->n] = strdup(entry->d_name)))
			return -ENOMEM;
		f->bytes += size;
		f->n++;
	}
	return pm_sort(f->names, f->n, sizeof(*f->names), by_number);
}

int nytp_folder_list(struct nytp_folder *f, int fd, const char *path, struct pm_error *err)
{
	DIR *dir = pm_folder_list(fd);
	if (!dir)
		return pm_error_set(err, errno == ENOMEM ? -ENOMEM : -EIO, path, PM_NO_OFFSET,
			"cannot be listed: %s", strerror(errno));
	int r = list(f, fd, dir);
	closedir(dir);
	if (r < 0)
		return pm_error_set(err, r, path, PM_NO_OFFSET, "no memory for its list of files");
	if (f->n == 0)
		return pm_error_set(
			err, -EINVAL, path, PM_NO_OFFSET, "contains no NYTProf profile");
	for (size_t i = 1; i < f->n; i++)
		if (!same_run(f->names[0], f->names[i]))
			return pm_error_set(err, -EINVAL, path, PM_NO_OFFSET,
				"contains profiles of several runs, %s and %s: give one of them, "
				"or several to compare them",
				f->names[0], f->names[i]);
	return 0;
}

void nytp_folder_done(struct nytp_folder *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->names[i]);
	free(f->names);
	*f = (struct nytp_folder){.names = NULL};
}
