#include "formats/hpcrun/symbols/elsewhere.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/beneath.h"
#include "formats/common/list.h"
#include "formats/hpcrun/symbols/elf.h"

/*
 * A line of mountinfo begins with the id; the type follows " - ". Other mounts of ours may be
 * waiting for this one.
 */
static int list_mounts(struct hpcrun_elsewhere *e)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0, line_room = 0;
	if (!f)
		return errno == ENOMEM ? -ENOMEM : 0;
	int r = 0;
	errno = 0; /* getline returns -1 as well if memory ran out */
	while (r == 0 && getline(&line, &line_room, f) > 0) {
		if (strstr(line, " - fuse.profmount "))
			continue;
		r = pm_list_room(&e->mounts, e->n_mounts, &room, sizeof(*e->mounts));
		if (r == 0)
			e->mounts[e->n_mounts++] = strtoull(line, NULL, 10);
	}
	if (r == 0 && errno == ENOMEM)
		r = -ENOMEM;
	free(line);
	fclose(f);
	return r;
}

int hpcrun_elsewhere_open(struct hpcrun_elsewhere *e, const char *root, struct pm_error *err)
{
	*e = (struct hpcrun_elsewhere){.is_given = root != NULL};
	e->root = open(root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	e->is_open = e->root >= 0;
	if (!e->is_open && root)
		return pm_error_set(
			err, -EINVAL, root, PM_NO_OFFSET, "-o sysroot: %s", strerror(errno));
	int r = e->is_open ? list_mounts(e) : 0;
	if (r == 0)
		return 0;
	hpcrun_elsewhere_done(e);
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the list of mounts");
}

/* A regular ELF file below the root, mapped; 0 for anything else. */
static int open_elf(const struct hpcrun_elsewhere *e, const char *path, struct stat *ret_st,
	struct pm_input *ret)
{
	int fd = pm_open_among(e->root, path, e->mounts, e->n_mounts);
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	if (fstat(fd, ret_st) != 0 || !S_ISREG(ret_st->st_mode)) {
		close(fd);
		return 0;
	}
	int r = pm_input_take(ret, fd, path, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (hpcrun_elf_is(ret->bytes))
		return 1;
	pm_input_close(ret);
	return 0;
}

static uint64_t changed_ns(const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec;
}

int hpcrun_elsewhere_find(const struct hpcrun_elsewhere *e, struct pm_bytes path,
	uint64_t written_ns, struct pm_input *ret)
{
	char name[PATH_MAX];
	struct stat st;
	if (!e->is_open || path.len < 2 || path.p[0] != '/' || path.len >= sizeof(name) ||
		memchr(path.p, 0, path.len))
		return 0;
	memcpy(name, path.p + 1, path.len - 1);
	name[path.len - 1] = '\0';
	int r = open_elf(e, name, &st, ret);
	/* A file that was installed or modified after the run is a different one. */
	if (r > 0 && !e->is_given && changed_ns(&st) > written_ns) {
		pm_input_close(ret);
		return 0;
	}
	return r;
}

/* The ELF file at a path, if it has that build id. */
static int open_built(const struct hpcrun_elsewhere *e, const char *path, const uint8_t *build_id,
	size_t n, struct pm_input *ret)
{
	uint8_t found[HPCRUN_BUILD_ID_MAX];
	struct stat st;
	int r = open_elf(e, path, &st, ret);
	if (r > 0 &&
		(hpcrun_elf_build_id(ret->bytes, found) != n || memcmp(found, build_id, n) != 0)) {
		pm_input_close(ret);
		return 0;
	}
	return r;
}

int hpcrun_elsewhere_find_debug(
	const struct hpcrun_elsewhere *e, const uint8_t *build_id, size_t n, struct pm_input *ret)
{
	char path[64 + 2 * HPCRUN_BUILD_ID_MAX];
	if (!e->is_open || n < 2 || n > HPCRUN_BUILD_ID_MAX)
		return 0;
	int at = snprintf(path, sizeof(path), "usr/lib/debug/.build-id/%02x/", build_id[0]);
	for (size_t i = 1; i < n; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", build_id[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	return open_built(e, path, build_id, n, ret);
}

int hpcrun_elsewhere_find_alternate(const struct hpcrun_elsewhere *e, struct pm_bytes path,
	const uint8_t *build_id, size_t n, struct pm_input *ret)
{
	char name[PATH_MAX];
	bool absolute = path.len && path.p[0] == '/';
	const uint8_t *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;
	struct pm_bytes last = path;
	int r = hpcrun_elsewhere_find_debug(e, build_id, n, ret);
	if (r != 0 || !e->is_open)
		return r;
	if (slash)
		last = (struct pm_bytes){slash + 1, path.len - 1 - (size_t)(slash - path.p)};
	int len = absolute
		? snprintf(name, sizeof(name), "%.*s", (int)path.len - 1, path.p + 1)
		: snprintf(name, sizeof(name), "usr/lib/debug/.dwz/%.*s", (int)last.len, last.p);
	if (len < 0 || (size_t)len >= sizeof(name))
		return 0;
	return open_built(e, name, build_id, n, ret);
}

void hpcrun_elsewhere_done(struct hpcrun_elsewhere *e)
{
	if (e->is_open)
		close(e->root);
	free(e->mounts);
	*e = (struct hpcrun_elsewhere){.is_open = false};
}
