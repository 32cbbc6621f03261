/*
 * The files that names come from: load modules outside the measurement and their debug files, of
 * which decision 33 says which are opened, and when they are trusted; and those of the measurement
 * itself.
 */
#include "formats/symbols/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/beneath.h"
#include "formats/common/folder.h"
#include "formats/common/input.h"
#include "formats/common/list.h"

/*
 * A line of mountinfo begins with the id; the type follows " - ". Other mounts of ours may be
 * waiting for this one.
 */
static int list_mounts(struct sym_root *root)
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
		r = pm_list_room(&root->mounts, root->n_mounts, &room, sizeof(*root->mounts));
		if (r == 0)
			root->mounts[root->n_mounts++] = strtoull(line, NULL, 10);
	}
	if (r == 0 && errno == ENOMEM)
		r = -ENOMEM;
	free(line);
	fclose(f);
	return r;
}

/* Where perf keeps copies of what it measured: ~/.debug. */
static int open_copies(struct sym_root *root)
{
	const char *home = getenv("HOME");
	if (!home || home[0] != '/')
		return 0;
	if (asprintf(&root->copies_at, "%s/.debug", home) < 0) {
		root->copies_at = NULL;
		return -ENOMEM;
	}
	root->copies = open(root->copies_at, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

int sym_root_open(struct sym_root *root, const char *dir, struct pm_error *err)
{
	*root = (struct sym_root){.is_given = dir != NULL, .copies = -1};
	root->fd = open(dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	root->is_open = root->fd >= 0;
	if (!root->is_open && dir)
		return pm_error_set(
			err, -EINVAL, dir, PM_NO_OFFSET, "-o sysroot: %s", strerror(errno));
	int r = root->is_open ? list_mounts(root) : 0;
	if (r == 0 && root->is_open && !dir)
		r = open_copies(root);
	if (r == 0)
		return 0;
	sym_root_done(root);
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory to look for files of names");
}

/* ---- files ---- */

static void note_tried(const struct sym_root *root, struct sym_search *search, const char *path)
{
	if (!search || search->n_tried == SYM_TRIED_MAX)
		return;
	pm_text_str(&search->tried, search->n_tried++ ? "; " : "");
	if (root->copies_at && root->fd == root->copies)
		pm_text_str(&search->tried, root->copies_at);
	pm_text_str(&search->tried, "/");
	pm_text_str(&search->tried, path);
}

/* 0, with the reason why a file is not used, or -ENOMEM. */
static int refuse(struct sym_search *search, int error, const char *why)
{
	if (pm_is_passing(error) || (search && search->tried.failed))
		return -ENOMEM;
	if (search)
		search->why = why                               ? why
			: error == -ENOENT || error == -ENOTDIR ? "its file is not there"
			: error == -EACCES || error == -EPERM   ? "its file must not be read"
			: error == -EMFILE || error == -ENFILE
			? "its file could not be opened: too many open files"
			: "its file cannot be opened";
	return 0;
}

/* When a file was made; 0 where that is not known: file systems, kernels, filters, musl. */
static uint64_t born_ns(int fd)
{
#ifdef STATX_BTIME
	struct statx st;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) == 0 && st.stx_mask & STATX_BTIME)
		return (uint64_t)st.stx_btime.tv_sec * 1000000000u + st.stx_btime.tv_nsec;
#else
	(void)fd;
#endif
	return 0;
}

/* A regular file below the root, mapped; 0 for anything else. */
static int open_file(const struct sym_root *root, const char *path, struct stat *ret_st,
	struct pm_input *ret, struct sym_search *search)
{
	note_tried(root, search, path);
	int fd = pm_open_among(root->fd, path, root->mounts, root->n_mounts);
	if (fd < 0)
		return refuse(search, fd, NULL);
	if (fstat(fd, ret_st) != 0 || !S_ISREG(ret_st->st_mode)) {
		close(fd);
		return refuse(search, 0, "its file is not a regular one");
	}
	int r = pm_input_take(ret, fd, path, NULL);
	return r < 0 ? refuse(search, r, NULL) : 1;
}

/* The same for an ELF file. Kernel modules may be compressed. */
static int open_elf(const struct sym_root *root, const char *path, struct stat *ret_st,
	struct pm_input *ret, struct sym_search *search)
{
	int r = open_file(root, path, ret_st, ret, search);
	if (r > 0 && sym_is_packed(ret->bytes) && strstr(path, ".ko.")) {
		uint8_t *p;
		size_t n;
		int e = sym_unpack(ret->bytes, &p, &n);
		if (e == 0) {
			pm_input_replace(ret, p, n);
		} else {
			free(p);
			if (pm_is_passing(e)) {
				pm_input_close(ret);
				return e;
			}
		}
	}
	if (r <= 0 || sym_elf_is(ret->bytes))
		return r;
	pm_input_close(ret);
	return refuse(search, 0, "its file is not an ELF file");
}

static bool is_built(const struct pm_input *file, struct pm_bytes build_id)
{
	uint8_t found[SYM_BUILD_ID_MAX];
	struct pm_bytes id = {found, sym_elf_build_id(file->bytes, found)};
	return pm_bytes_equal(id, build_id);
}

static uint64_t changed_ns(const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec;
}

int sym_root_find(const struct sym_root *root, const struct sym_module *module, uint64_t written_ns,
	struct pm_input *ret, struct sym_search *search)
{
	struct pm_bytes path = module->path;
	char name[PATH_MAX];
	struct stat st;
	/* perf calls memory without a file `//anon`. */
	if (!root->is_open || path.len < 2 || path.p[0] != '/' || path.p[1] == '/' ||
		path.len >= sizeof(name) || memchr(path.p, 0, path.len))
		return refuse(search, 0, "it is not a file with an absolute path");
	memcpy(name, path.p + 1, path.len - 1);
	name[path.len - 1] = '\0';
	int r = open_elf(root, name, &st, ret, search);
	const char *why = NULL;
	if (r > 0 && module->build_id.len && !is_built(ret, module->build_id))
		why = "its file has another build id than the measured one";
	/* A file that was installed or modified after the run is a different one. */
	else if (r > 0 && !module->build_id.len && !root->is_given && changed_ns(&st) > written_ns)
		why = "its file has changed since the measurement";
	if (!why)
		return r;
	pm_input_close(ret);
	return refuse(search, 0, why);
}

/* The ELF file at a path, if it has that build id. */
static int open_built(const struct sym_root *root, const char *path, struct pm_bytes build_id,
	struct pm_input *ret, struct sym_search *search)
{
	struct stat st;
	int r = open_elf(root, path, &st, ret, search);
	if (r > 0 && !is_built(ret, build_id)) {
		pm_input_close(ret);
		return 0;
	}
	return r;
}

/* PREFIX/XX/REST, by the digits of a build id; false if it has no right length. */
static bool build_path(char *ret, size_t room, const char *prefix, struct pm_bytes build_id)
{
	if (build_id.len < 2 || build_id.len > SYM_BUILD_ID_MAX)
		return false;
	int at = snprintf(ret, room, "%s/%02x/", prefix, build_id.p[0]);
	for (size_t i = 1; i < build_id.len; i++)
		at += snprintf(ret + at, room - (size_t)at, "%02x", build_id.p[i]);
	return true;
}

int sym_root_find_debug(const struct sym_root *root, struct pm_bytes build_id, struct pm_input *ret,
	struct sym_search *search)
{
	char path[64 + 2 * SYM_BUILD_ID_MAX];
	if (!root->is_open || !build_path(path, sizeof(path), "usr/lib/debug/.build-id", build_id))
		return 0;
	strcat(path, ".debug");
	return open_built(root, path, build_id, ret, search);
}

int sym_root_find_copy(const struct sym_root *root, struct pm_bytes build_id, const char *name,
	struct pm_input *ret, struct sym_search *search)
{
	char path[64 + 2 * SYM_BUILD_ID_MAX];
	struct sym_root copies = *root;
	struct stat st;
	copies.fd = root->is_given ? root->fd : root->copies;
	if (!root->is_open || copies.fd < 0 ||
		!build_path(path, sizeof(path), ".build-id", build_id))
		return 0;
	strcat(path, "/");
	strcat(path, name);
	if (strcmp(name, "kallsyms") != 0)
		return open_built(&copies, path, build_id, ret, search);
	return open_file(&copies, path, &st, ret, search);
}

int sym_root_read(const struct sym_root *root, const char *path, size_t most, struct pm_text *ret,
	struct sym_times *ret_times, struct sym_search *search)
{
	enum { STEP = 1 << 16 }; /* bytes for which there must be room, to see the end, too */
	struct stat st;
	ssize_t n = 0;
	*ret = (struct pm_text){.limit = most + STEP};
	if (!root->is_open)
		return 0;
	note_tried(root, search, path);
	int fd = pm_open_among(root->fd, path, root->mounts, root->n_mounts);
	if (fd < 0)
		return refuse(search, fd, NULL);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return refuse(search, 0, "its file is not a regular one");
	}
	*ret_times =
		(struct sym_times){.changed_ns = pm_time_ns(st.st_ctim), .born_ns = born_ns(fd)};
	do {
		char *p = pm_text_reserve(ret, STEP);
		n = p ? read(fd, p, STEP) : 0;
		ret->len += n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	int error = errno;
	close(fd);
	if (n == 0 && !ret->failed && ret->len <= most)
		return 1;
	bool full = ret->full || ret->len > most, failed = ret->failed;
	pm_text_done(ret);
	if (full)
		return refuse(search, 0, "its file is larger than is read");
	return failed ? -ENOMEM : refuse(search, -error, NULL);
}

int sym_root_find_alternate(const struct sym_root *root, struct pm_bytes path,
	struct pm_bytes build_id, struct pm_input *ret)
{
	char name[PATH_MAX];
	bool absolute = path.len && path.p[0] == '/';
	const uint8_t *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;
	struct pm_bytes last = path;
	int r = sym_root_find_debug(root, build_id, ret, NULL);
	if (r != 0 || !root->is_open)
		return r;
	if (slash)
		last = (struct pm_bytes){slash + 1, path.len - 1 - (size_t)(slash - path.p)};
	int len = absolute
		? snprintf(name, sizeof(name), "%.*s", (int)path.len - 1, path.p + 1)
		: snprintf(name, sizeof(name), "usr/lib/debug/.dwz/%.*s", (int)last.len, last.p);
	if (len < 0 || (size_t)len >= sizeof(name))
		return 0;
	return open_built(root, name, build_id, ret, NULL);
}

void sym_root_done(struct sym_root *root)
{
	if (root->is_open)
		close(root->fd);
	if (root->is_open && root->copies >= 0)
		close(root->copies);
	free(root->copies_at);
	free(root->mounts);
	*root = (struct sym_root){.is_open = false};
}

/* ==== files of the measurement itself ==== */

#define KERNEL "kernel_symbols/"

static const char *const own_folders[] = {"vdso", "gpubins", "kernel_symbols", "logical"};

static size_t name_start(struct pm_bytes path, size_t end)
{
	while (end > 0 && path.p[end - 1] != '/')
		end--;
	return end;
}

/* path[last] is the beginning of its last name. */
static bool is_in_own_folder(struct pm_bytes path, size_t last, size_t *ret)
{
	if (last == 0)
		return false;
	*ret = name_start(path, last - 1);
	struct pm_bytes folder = {path.p + *ret, last - 1 - *ret};
	for (size_t i = 0; i < sizeof(own_folders) / sizeof(*own_folders); i++)
		if (pm_bytes_equal(folder, pm_bytes_of(own_folders[i])))
			return true;
	return false;
}

struct pm_bytes sym_module_key(struct pm_bytes path)
{
	size_t first;
	if (!is_in_own_folder(path, name_start(path, path.len), &first))
		return path;
	return (struct pm_bytes){path.p + first, path.len - first};
}

/* The path below the measurement directory, NUL-terminated; false for other modules. */
static bool own_path(struct pm_bytes path, char *ret, size_t room)
{
	static const char kernel[] = "<vmlinux.", vdso[] = "[vdso]";
	size_t first, last = name_start(path, path.len);
	struct pm_bytes name = {path.p + last, path.len - last};
	const char *before = "";
	if (path.len > sizeof(kernel) && memcmp(path.p, kernel, sizeof(kernel) - 1) == 0) {
		before = KERNEL; /* without < and > */
		name = (struct pm_bytes){path.p + 1, path.len - 2};
	} else if (is_in_own_folder(path, last, &first)) {
		name = (struct pm_bytes){path.p + first, path.len - first};
	} else if (!pm_bytes_equal(name, pm_bytes_of(vdso))) {
		return false;
	}
	size_t n = strlen(before);
	if (name.len == 0 || n + name.len >= room || memchr(name.p, 0, name.len))
		return false;
	memcpy(ret, before, n);
	memcpy(ret + n, name.p, name.len);
	ret[n + name.len] = '\0';
	return true;
}

int sym_own_read(
	int folder, struct pm_bytes path, struct sym_scopes *ret, struct pm_damage_list *damage)
{
	char name[512];
	uint64_t delta;
	struct stat st;
	struct pm_input in = {.fd = -1, .slot = -1};
	bool own = folder >= 0 && own_path(path, name, sizeof(name));
	int fd = own ? pm_open_beneath(folder, name) : -ENOENT;
	if (fd < 0 && fd != -ENOENT && !pm_is_passing(fd))
		pm_damage_add(damage, name, PM_NO_OFFSET, PM_NO_OFFSET,
			"cannot be opened: %s: names are missing", strerror(-fd));
	if (fd < 0)
		return pm_is_passing(fd) ? fd : 0;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	int r = pm_input_take(&in, fd, name, NULL);
	if (r < 0)
		return pm_is_passing(r) ? r : 0;
	if (strncmp(name, KERNEL, strlen(KERNEL)) == 0)
		r = sym_kernel_read(
			in.bytes, " [vmlinux]", (struct pm_bytes){NULL, 0}, 0, ret, &delta);
	else
		r = sym_elf_read(in.bytes, false, (struct pm_bytes){NULL, 0}, ret);
	pm_input_close(&in);
	return r < 0 ? r : ret->n_ranges > 0;
}
