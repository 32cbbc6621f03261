#include "formats/symbols/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/beneath.h"
#include "formats/common/input.h"

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
	if (fd < 0 && fd != -ENOENT && fd != -ENOMEM)
		pm_damage_add(damage, name, PM_NO_OFFSET, PM_NO_OFFSET,
			"cannot be opened: %s: names are missing", strerror(-fd));
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	int r = pm_input_take(&in, fd, name, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (strncmp(name, KERNEL, strlen(KERNEL)) == 0)
		r = sym_kernel_read(
			in.bytes, " [vmlinux]", (struct pm_bytes){NULL, 0}, 0, ret, &delta);
	else
		r = sym_elf_read(in.bytes, false, ret);
	pm_input_close(&in);
	return r < 0 ? r : ret->n_ranges > 0;
}
