/*
 * A file system over a folder on which reading fails where a test says so:
 *
 *     broken_fs FOLDER MOUNTPOINT CONTROL
 *
 * CONTROL is a file with lines `NAME FROM TO WHAT`: bytes of NAME that give EIO (WHAT: breaks), or
 * for which one waits as long as the line is there (waits), or a while (lags). A file can neither
 * be opened nor read if it is gone, as on a server that was restarted (stale). It is read anew at
 * each read of a page, which adds a byte to CONTROL.reads; pages that the kernel has are not asked
 * for again. Stays in the foreground.
 */
#define FUSE_USE_VERSION 34

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int folder, reads = -1;
static const char *control;

enum { PAGE = 4096, LAG_US = 20000 };

static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int or_errno(long result)
{
	return result < 0 ? -errno : (int)result;
}

static bool is_told(const char *path, off_t from, size_t len, const char *what)
{
	char name[256], told[16];
	unsigned long long start, end;
	bool found = false;
	FILE *f = fopen(control, "r");
	while (f && !found && fscanf(f, "%255s %llu %llu %15s", name, &start, &end, told) == 4)
		found = strcmp(name, below(path)) == 0 && strcmp(told, what) == 0 &&
			(unsigned long long)from < end && (unsigned long long)from + len > start;
	if (f)
		fclose(f);
	return found;
}

/* A disk that takes its time. Who was killed meanwhile does not wait for it. */
static void wait_for_gate(const char *path, off_t from, size_t len)
{
	while (!fuse_interrupted() && is_told(path, from, len, "waits"))
		usleep(10000);
	if (is_told(path, from, len, "lags"))
		usleep(LAG_US);
}

/* Page by page: one that is broken spoils no other. */
static void *op_init(struct fuse_conn_info *conn, struct fuse_config *config)
{
	conn->max_read = PAGE;
	conn->max_readahead = 0;
	config->intr = 1;
	return NULL;
}

static int op_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	return or_errno(fstatat(folder, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int op_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t off,
	struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	(void)off, (void)fi, (void)flags;
	int fd = openat(folder, below(path), O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return -errno;
	for (struct dirent *e; (e = readdir(dir));)
		fill(buffer, e->d_name, NULL, 0, 0);
	closedir(dir);
	return 0;
}

static int op_open(const char *path, struct fuse_file_info *fi)
{
	if (is_told(path, 0, 1, "stale"))
		return -ESTALE;
	int fd = openat(folder, below(path), O_RDONLY);
	if (fd < 0)
		return -errno;
	fi->fh = (unsigned)fd;
	return 0;
}

static int op_read(const char *path, char *buffer, size_t len, off_t off, struct fuse_file_info *fi)
{
	if (write(reads, ".", 1) != 1)
		return -EIO;
	wait_for_gate(path, off, len);
	if (is_told(path, off, len, "breaks"))
		return -EIO;
	if (is_told(path, 0, 1, "stale"))
		return -ESTALE;
	return or_errno(pread((int)fi->fh, buffer, len, off));
}

static int op_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	return or_errno(close((int)fi->fh));
}

int main(int argc, char **argv)
{
	static const struct fuse_operations operations = {
		.init = op_init,
		.getattr = op_getattr,
		.readdir = op_readdir,
		.open = op_open,
		.read = op_read,
		.release = op_release,
	};
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 12) /* others have no bound */
	char options[] = "-oro,max_read=4096,max_threads=64,fsname=broken";
#else
	char options[] = "-oro,max_read=4096,fsname=broken";
#endif
	char foreground[] = "-f";
	char *args[] = {argv[0], foreground, options, argv[2], NULL};
	folder = argc == 4 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	char counted[4096];
	if (argc == 4) {
		control = argv[3];
		snprintf(counted, sizeof(counted), "%s.reads", control);
		reads = open(counted, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	}
	if (folder < 0 || reads < 0) {
		fprintf(stderr, "usage: broken_fs FOLDER MOUNTPOINT CONTROL\n");
		return 2;
	}
	return fuse_main(4, args, &operations, NULL);
}
