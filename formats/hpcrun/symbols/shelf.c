/*
 * A structure file contains the name of its load module; its own file name does not count. If there
 * are two for one module, the first by name is used: hpcstruct leaves two for a GPU binary that was
 * analysed with and without control flow, and both have all names.
 */
#include "formats/hpcrun/symbols/shelf.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/beneath.h"
#include "formats/common/input.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "formats/hpcrun/symbols/limits.h"
#include "formats/hpcrun/symbols/own.h"
#include "formats/hpcrun/symbols/structs.h"

/* ---- the folder ---- */

static int by_name(const void *a, const void *b)
{
	char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

static bool is_struct(const char *name)
{
	static const char ending[] = ".hpcstruct";
	size_t n = strlen(name);
	return n > sizeof(ending) - 1 && strcmp(name + n - (sizeof(ending) - 1), ending) == 0;
}

static int list_names(struct hpcrun_shelf *s, DIR *dir, struct pm_damage_list *damage)
{
	struct dirent *entry;
	while ((entry = readdir(dir))) {
		if (!is_struct(entry->d_name))
			continue;
		if (s->n == HPCRUN_STRUCTS_MAX) {
			pm_damage_add(damage, "structs", PM_NO_OFFSET, PM_NO_OFFSET,
				"more structure files than are read");
			break;
		}
		if (pm_list_room(&s->names, s->n, &s->room, sizeof(*s->names)) < 0)
			return -ENOMEM;
		s->names[s->n] = strdup(entry->d_name);
		if (!s->names[s->n])
			return -ENOMEM;
		s->n++;
	}
	return pm_sort(s->names, s->n, sizeof(*s->names), by_name);
}

/* ---- files ---- */

static void report(struct pm_damage_list *damage, const char *name, uint64_t offset, uint64_t bytes,
	const char *what)
{
	char file[320];
	snprintf(file, sizeof(file), "structs/%s", name);
	pm_damage_add(damage, file, offset, bytes, "%s: some names are missing", what);
}

/* Opens structure file i: 1, 0 if it cannot be read, which is reported, or -ENOMEM. */
static int open_file(
	const struct hpcrun_shelf *s, size_t i, struct pm_input *ret, struct pm_damage_list *damage)
{
	struct stat st;
	int fd = pm_open_beneath(s->folder, s->names[i]);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -EINVAL;
	}
	int r = fd < 0 ? fd : pm_input_take(ret, fd, s->names[i], NULL);
	if (r < 0 && r != -ENOMEM)
		report(damage, s->names[i], PM_NO_OFFSET, PM_NO_OFFSET, strerror(-r));
	return r == -ENOMEM ? r : r == 0;
}

static int note_module(struct hpcrun_shelf *s, size_t i, struct pm_bytes path)
{
	uint32_t known = s->modules.n;
	s->modules.arena = &s->arena;
	uint32_t module = pm_strtab_add(&s->modules, hpcrun_module_key(path));
	if (module == UINT32_MAX)
		return -ENOMEM;
	if (module < known)
		return 0;
	if (pm_list_room(&s->files, module, &s->files_room, sizeof(*s->files)) < 0)
		return -ENOMEM;
	s->files[module] = (uint32_t)i;
	return 0;
}

static int find_modules(struct hpcrun_shelf *s, struct pm_damage_list *damage)
{
	struct pm_text module = {.p = NULL};
	int r = 0;
	for (size_t i = 0; i < s->n && r >= 0; i++) {
		struct pm_input in = {.fd = -1, .slot = -1};
		r = pm_work_cancelled() ? -ENOMEM : open_file(s, i, &in, damage);
		if (r <= 0)
			continue;
		r = hpcrun_struct_module(in.bytes, &module);
		if (r == 0 && module.len == 0)
			report(damage, s->names[i], 0, in.bytes.len, "names no load module");
		else if (r == 0)
			r = note_module(s, i, pm_text_view(&module));
		pm_input_close(&in);
	}
	pm_text_done(&module);
	return r < 0 ? r : 0;
}

int hpcrun_shelf_open(struct hpcrun_shelf *s, int folder, struct pm_damage_list *damage)
{
	*s = (struct hpcrun_shelf){.folder = pm_open_beneath(folder, "structs")};
	s->is_open = s->folder >= 0;
	if (!s->is_open)
		return s->folder == -ENOMEM ? -ENOMEM : 0;
	int fd = dup(s->folder);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) { /* not a directory, or out of descriptors */
		int r = errno == ENOMEM ? -ENOMEM : 0;
		if (fd >= 0)
			close(fd);
		return r;
	}
	int r = list_names(s, dir, damage);
	closedir(dir);
	return r < 0 ? r : find_modules(s, damage);
}

int hpcrun_shelf_read(const struct hpcrun_shelf *s, struct pm_bytes path, struct hpcrun_scopes *ret,
	struct pm_damage_list *damage)
{
	struct hpcrun_struct_fault fault;
	struct pm_input in = {.fd = -1, .slot = -1};
	uint32_t module = pm_strtab_find(&s->modules, hpcrun_module_key(path));
	if (module == UINT32_MAX)
		return 0;
	size_t i = s->files[module];
	int r = open_file(s, i, &in, damage);
	if (r <= 0)
		return r;
	r = hpcrun_struct_read(in.bytes, ret, &fault);
	if (r == 0 && fault.what)
		report(damage, s->names[i], fault.offset,
			in.bytes.len - (fault.offset < in.bytes.len ? fault.offset : in.bytes.len),
			fault.what);
	pm_input_close(&in);
	if (r == 0)
		r = hpcrun_scopes_settle(ret);
	return r < 0 ? r : 1;
}

void hpcrun_shelf_done(struct hpcrun_shelf *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->names[i]);
	if (s->is_open)
		close(s->folder);
	free(s->names);
	free(s->files);
	pm_strtab_done(&s->modules);
	pm_arena_done(&s->arena);
	*s = (struct hpcrun_shelf){.n = 0};
}
