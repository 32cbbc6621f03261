/*
 * Stays within a folder by checking each component of the path. openat2(2) would do this in one
 * call, but a system call filter cannot see whether it writes, so a confined server may not use it
 * (fs/confine_calls.c).
 *
 * The components before the current one are known to be directories rather than links. A link, or
 * `..`, therefore only changes the text of the path, and the walk starts again.
 */
#include "formats/common/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "formats/common/folder.h"
#include "formats/common/reason.h"

/* O_NONBLOCK: opening a pipe must not block; it is rejected later. */
enum { FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, MOST_STARTS = 64 };

#ifdef STATX_MNT_ID
#define WANTS_MOUNT STATX_MNT_ID
#define MOUNT_OF(x) ((x).stx_mask & STATX_MNT_ID ? (x).stx_mnt_id : 0)
#else /* headers before Linux 5.8 */
#define WANTS_MOUNT 0
#define MOUNT_OF(x) 0
#endif

/* What a descriptor is, and where. */
struct place {
	uint64_t mount; /* its id; 0: unknown */
	uint32_t dev_major, dev_minor;
	mode_t mode;
};

struct walk {
	int folder;
	const uint64_t *mounts; /* directories of other users that may be entered */
	size_t n_mounts;
	struct place top;    /* the folder's */
	char path[PATH_MAX]; /* not absolute */
};

/* For kernels before 5.8, and where statx is missing or forbidden. */
static uint64_t mount_from_proc(int fd)
{
	static const char key[] = "\nmnt_id:";
	char path[64], text[256];
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	int info = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
	if (info >= 0)
		close(info);
	text[n < 0 ? 0 : n] = '\0';
	const char *line = strstr(text, key);
	return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

static bool may_enter(const struct walk *w, const struct place *found)
{
	if (found->mount == 0 || w->top.mount == 0)
		return found->dev_major == w->top.dev_major && found->dev_minor == w->top.dev_minor;
	bool ok = found->mount == w->top.mount;
	for (size_t i = 0; !ok && i < w->n_mounts; i++)
		ok = found->mount == w->mounts[i];
	return ok;
}

/*
 * Makes no request to the mount that the descriptor is in, since it may be ours, unless statx and
 * /proc are both missing.
 */
static int look(const struct walk *w, int fd, struct place *ret)
{
	*ret = (struct place){.mount = 0};
#ifdef STATX_TYPE
	struct statx x;
	int how = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	if (statx(fd, "", how, STATX_TYPE | WANTS_MOUNT, &x) == 0) {
		ret->mode = x.stx_mode;
		ret->dev_major = x.stx_dev_major;
		ret->dev_minor = x.stx_dev_minor;
		ret->mount = MOUNT_OF(x) ? MOUNT_OF(x) : mount_from_proc(fd);
		return 0;
	}
#endif
	/* ENOSYS, EPERM of a filter, or EINVAL of the C library's substitute: fstat knows. */
	struct stat st;
	ret->mount = mount_from_proc(fd);
	if (ret->mount && w->top.mount && !may_enter(w, ret))
		return 0;
	if (fstat(fd, &st) != 0)
		return -errno;
	ret->mode = st.st_mode;
	ret->dev_major = major(st.st_dev);
	ret->dev_minor = minor(st.st_dev);
	return 0;
}

/* Replaces path[from … to] by `with`. */
static int replace(struct walk *w, size_t from, size_t to, const char *with)
{
	char all[PATH_MAX];
	int n = snprintf(all, sizeof(all), "%.*s%s%s", (int)from, w->path, with, w->path + to);
	if (n < 0 || (size_t)n >= sizeof(all))
		return -ENAMETOOLONG;
	memcpy(w->path, all, (size_t)n + 1);
	return -EAGAIN;
}

/* Removes the `..` before path[next] together with the name before it. */
static int go_up(struct walk *w, size_t from, size_t next)
{
	if (from == 0)
		return -EXDEV;
	while (from > 0 && w->path[from - 1] == '/')
		from--;
	while (from > 0 && w->path[from - 1] != '/')
		from--;
	return replace(w, from, next, w->path[next] ? "" : ".");
}

static int follow(struct walk *w, int link, size_t from, size_t to)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	return target[0] == '/' ? -EXDEV : replace(w, from, to, target);
}

/* The name at path[from … to], below `at`: a descriptor, -EAGAIN to start again, or an error. */
static int step(struct walk *w, int at, size_t from, size_t to)
{
	char name[NAME_MAX + 1];
	struct place found;
	if (to - from > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, w->path + from, to - from);
	name[to - from] = '\0';
	size_t next = to + strspn(w->path + to, "/");
	if (strcmp(name, "..") == 0)
		return go_up(w, from, next);
	if (strcmp(name, ".") == 0 && w->path[next])
		return replace(w, from, next, "");
	int fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = look(w, fd, &found);
	if (r == 0 && !may_enter(w, &found))
		r = -EXDEV;
	if (r == 0 && S_ISLNK(found.mode))
		r = follow(w, fd, from, to);
	if (r == 0 && !w->path[next]) {
		r = openat(at, name, FLAGS | O_NOFOLLOW);
		r = r < 0 ? -errno : r;
	} else if (r == 0) {
		return fd;
	}
	close(fd);
	return r;
}

static int walk(struct walk *w)
{
	int at = w->folder;
	size_t from = 0;
	do {
		size_t to = from + strcspn(w->path + from, "/");
		int fd = step(w, at, from, to);
		if (at != w->folder)
			close(at);
		at = fd;
		from = to + strspn(w->path + to, "/");
	} while (at >= 0 && w->path[from]);
	return at;
}

int pm_open_beneath(int folder, const char *path)
{
	int fd = pm_open_among(folder, path, NULL, 0);
	if (fd != -EMFILE && fd != -ENFILE)
		return fd;
	pm_reason_files();
	return PM_NO_MEMORY;
}

int pm_open_among(int folder, const char *path, const uint64_t *mounts, size_t n_mounts)
{
	struct walk w = {.folder = folder, .mounts = mounts, .n_mounts = n_mounts};
	size_t len = strlen(path);
	if (len == 0)
		return -ENOENT;
	if (*path == '/')
		return -EXDEV;
	if (len >= sizeof(w.path))
		return -ENAMETOOLONG;
	memcpy(w.path, path, len + 1);
	int r = look(&w, folder, &w.top);
	for (int n = 0; r == 0 && n < MOST_STARTS; n++) {
		int fd = walk(&w);
		if (fd != -EAGAIN)
			return fd;
	}
	return r < 0 ? r : -ELOOP;
}

int pm_open_unchanged(int folder, const char *path, uint64_t since_ns, int *ret_fd,
	uint64_t *ret_size, struct pm_error *err)
{
	struct stat st;
	int fd = pm_open_beneath(folder, path);
	if (pm_is_passing(fd))
		return pm_error_set(err, fd, path, PM_NO_OFFSET, "no memory");
	if (fd < 0)
		return pm_error_set(
			err, -EIO, path, PM_NO_OFFSET, "cannot be opened: %s", strerror(-fd));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return pm_error_set(err, -EIO, path, PM_NO_OFFSET, "is not a regular file");
	}
	/* The ctime is later after every change, and for a file that replaces another one. */
	if (since_ns && pm_time_ns(st.st_ctim) > since_ns) {
		close(fd);
		return pm_error_set(
			err, -EIO, path, PM_NO_OFFSET, "has changed since the source was opened");
	}
	*ret_fd = fd;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}
