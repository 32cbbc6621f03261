/* The files of a database: their names and magics, and opening them. */
#include "formats/hpctoolkit/folder.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/affix.h"
#include "formats/hpctoolkit/records.h"

const char *hpctk_file_name(enum hpctk_file file)
{
	static const char *const names[HPCTK_N_FILES] = {
		[HPCTK_META] = "meta.db",
		[HPCTK_PROFILE] = "profile.db",
		[HPCTK_CCT] = "cct.db",
		[HPCTK_TRACE] = "trace.db",
	};
	return names[file];
}

static const char magics[HPCTK_N_FILES][4] = {
	[HPCTK_META] = {'m', 'e', 't', 'a'},
	[HPCTK_PROFILE] = {'p', 'r', 'o', 'f'},
	[HPCTK_CCT] = {'c', 't', 'x', 't'},
	[HPCTK_TRACE] = {'t', 'r', 'c', 'e'},
};

static int magic_check(struct pm_bytes bytes, enum hpctk_file file, struct pm_error *err)
{
	const char *name = hpctk_file_name(file);
	if (pm_begins_with(bytes, "HPCPROF-"))
		return pm_error_set(err, -ENOTSUP, name, 0,
			"belongs to a database older than version 4 (HPCPROF-), which is not supported");
	if (bytes.len < HPCTK_FILE_HEADER + HPCTK_SECTION)
		return pm_error_set(err, -EINVAL, name, 0,
			"has %zu bytes, which is too short for its header", bytes.len);
	if (!pm_begins_with(bytes, "HPCTOOLKIT") || memcmp(bytes.p + 10, magics[file], 4) != 0)
		return pm_error_set(
			err, -EINVAL, name, 0, "does not begin with HPCTOOLKIT%.4s", magics[file]);
	if (bytes.p[0x0e] != 4)
		return pm_error_set(err, -ENOTSUP, name, 0x0e,
			"is version %u.%u, only 4 is supported", bytes.p[0x0e], bytes.p[0x0f]);
	return 0;
}

/* Opens a file and checks its magic. A damaged optional file is reported as damage. */
static int file_open(struct hpctk_folder *f, enum hpctk_file file, struct pm_damage_list *damage,
	struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	bool optional = file > HPCTK_PROFILE;
	int r = pm_input_open(&f->files[file], f->fd, hpctk_file_name(file), &why);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = magic_check(f->files[file].bytes, file, &why);
	f->present[file] = r == 0;
	if (optional && (r == -EINVAL || r == -EIO)) {
		pm_damage_add(damage, hpctk_file_name(file), 0, PM_NO_OFFSET, "%s", why.text);
		return 0;
	}
	if (r < 0 && err && !err->code)
		*err = why;
	return r;
}

int hpctk_folder_open(
	struct hpctk_folder *f, int folder, struct pm_damage_list *damage, struct pm_error *err)
{
	*f = (struct hpctk_folder){.fd = fcntl(folder, F_DUPFD_CLOEXEC, 0)};
	if (f->fd < 0)
		return pm_error_set(
			err, -EIO, NULL, PM_NO_OFFSET, "the directory cannot be kept open");
	for (enum hpctk_file i = 0; i < HPCTK_N_FILES; i++) {
		int r = file_open(f, i, damage, err);
		if (r < 0)
			return r;
	}
	for (enum hpctk_file i = HPCTK_META; i <= HPCTK_PROFILE; i++)
		if (!f->present[i])
			return pm_error_set(err, -EINVAL, hpctk_file_name(i), PM_NO_OFFSET,
				"is missing; a database cannot be read without it");
	return 0;
}

void hpctk_folder_close(struct hpctk_folder *f)
{
	for (unsigned i = 0; i < HPCTK_N_FILES; i++)
		pm_input_close(&f->files[i]);
	if (f->fd >= 0)
		close(f->fd);
}
