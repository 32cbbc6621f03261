#include "fs/sourcemark.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/map.h"
#include "formats/common/watch.h"

enum {
	DEPTH = 2, /* of folders: those of a store below its base */
	FILES_MOST = 1 << 16,
};

static uint64_t mark_of(const struct stat *st)
{
	struct pm_stamp s = pm_stamp_of(st);
	return pm_hash_u64(s.inode ^ pm_hash_u64(s.size ^ pm_hash_u64(s.mtime_ns)));
}

/* A sum over all files below, so that their order does not matter. */
static uint64_t mark_folder(int folder, unsigned depth, unsigned *left)
{
	uint64_t mark = 0;
	DIR *dir = folder < 0 ? NULL : fdopendir(folder);
	if (!dir && folder >= 0)
		close(folder);
	for (struct dirent *e; dir && *left > 0 && (e = readdir(dir));) {
		struct stat st;
		if (e->d_name[0] == '.' || fstatat(dirfd(dir), e->d_name, &st, 0) != 0)
			continue;
		--*left;
		if (S_ISREG(st.st_mode))
			mark += mark_of(&st);
		else if (S_ISDIR(st.st_mode) && depth > 1)
			mark += mark_folder(
				openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				depth - 1, left);
	}
	if (dir)
		closedir(dir);
	return mark;
}

uint64_t pmfs_source_mark(const char *path)
{
	struct stat st;
	unsigned left = FILES_MOST;
	if (stat(path, &st) != 0)
		return 0;
	if (!S_ISDIR(st.st_mode))
		return mark_of(&st);
	return mark_folder(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), DEPTH, &left);
}
