/* Keeps one open directory and goes up by `..`: paths may be longer than the system's limit. */
#include "fs/extract_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/bar.h"
#include "fs/commands.h"
#include "fs/resolve.h"

/* A path as messages show it: a long one without the names in its middle. */
static void show_path(struct pm_text *line, struct pm_bytes path)
{
	enum { MOST = 400, FIRST = 100, LAST = 200 };
	size_t head = FIRST, tail = path.len - LAST;
	if (path.len <= MOST) {
		pm_text_shown(line, path);
		return;
	}
	while (head > 0 && path.p[head - 1] != '/')
		head--;
	while (tail < path.len && path.p[tail] != '/')
		tail++;
	if (head == 0)
		head = FIRST;
	if (tail == path.len)
		tail = path.len - LAST;
	pm_text_shown(line, (struct pm_bytes){path.p, head});
	pm_text_str(line, "...");
	pm_text_shown(line, (struct pm_bytes){path.p + tail, path.len - tail});
}

void pmfs_extract_say(struct pm_bytes path, const char *what)
{
	struct pm_text line = {.p = NULL};
	show_path(&line, path);
	pm_text_printf(&line, ": %s\n", what);
	pmfs_bar_hide();
	fwrite(line.p, 1, line.failed ? 0 : line.len, stderr);
	pmfs_bar_go_on();
	pm_text_done(&line);
}

void pmfs_extract_failed(struct pmfs_extraction *x, int code, const struct pm_error *err)
{
	char line[900];
	x->failed++;
	pmfs_extract_say(pm_text_view(&x->path),
		err->code ? pm_error_line(err, line, sizeof(line)) : strerror(-code));
}

enum { BLOCK = 4096 };

/* True if that many more blocks may be written, which are then counted; otherwise extraction stops.
 */
static bool pay_blocks(struct pmfs_extraction *x, uint64_t blocks, struct pm_error *err)
{
	if (!x->full && blocks <= (x->most - x->written) / BLOCK) {
		x->written += blocks * BLOCK;
		return true;
	}
	x->full = true;
	pm_error_set(err, -ENOSPC, NULL, PM_NO_OFFSET,
		"left out, with all that follows it: more than %llu bytes would be written "
		"(-o max=SIZE)",
		(unsigned long long)x->most);
	return false;
}

/* The same for a file of n bytes, or with n = 0 for anything else. */
static bool pay(struct pmfs_extraction *x, uint64_t n, struct pm_error *err)
{
	return pay_blocks(x, n / BLOCK + 1, err);
}

/* Removes what an earlier extraction left; files of another type are kept, and never blocked on. */
static bool make_room(int folder, const char *name, mode_t type)
{
	struct stat st;
	if (errno != EEXIST || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	if ((st.st_mode & S_IFMT) == type)
		return unlinkat(folder, name, 0) == 0;
	errno = EEXIST;
	return false;
}

static int create_file(int folder, const char *name)
{
	static const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(folder, name, flags, 0666);
	if (fd < 0 && make_room(folder, name, S_IFREG))
		fd = openat(folder, name, flags, 0666);
	return fd;
}

struct flowing {
	struct pmfs_extraction *x;
	int fd;
	uint64_t size;
};

/* A piece of a document whose size is not known before. */
static bool write_piece(void *context, struct pm_bytes piece, struct pm_error *err)
{
	struct flowing *f = context;
	uint64_t had = f->size / BLOCK;
	f->size += piece.len;
	return pay_blocks(f->x, f->size / BLOCK - had, err) &&
		pmfs_write_all(f->fd, piece.p, piece.len, err) == 0;
}

static int write_bytes(struct pmfs_extraction *x, pm_node node, const struct pm_doc *doc, int fd,
	struct pm_error *err)
{
	struct flowing f = {.x = x, .fd = fd};
	return pmfs_engine_flows(doc) ? pmfs_engine_flow(x->in->engine, doc, write_piece, &f, err)
				      : pmfs_document_write(x->in, node, doc, fd, err);
}

static int write_file(struct pmfs_extraction *x, pm_node node, const struct pm_doc *doc,
	const char *name, struct pm_error *err)
{
	uint64_t size = 0;
	/* A document that cannot be produced leaves no file behind. */
	int r = pmfs_engine_flows(doc) ? 0 : pmfs_engine_size(x->in->engine, node, doc, &size, err);
	if (r < 0)
		return r;
	if (!pay(x, size, err))
		return -ENOSPC;
	int fd = create_file(x->folder, name);
	if (fd < 0)
		return pm_error_set(
			err, -EIO, NULL, PM_NO_OFFSET, "cannot be created: %s", strerror(errno));
	r = write_bytes(x, node, doc, fd, err);
	if (close(fd) != 0 && r == 0)
		r = pm_error_set(
			err, -EIO, NULL, PM_NO_OFFSET, "cannot be written: %s", strerror(errno));
	if (r < 0)
		unlinkat(x->folder, name, 0);
	return r;
}

static int write_link(
	struct pmfs_extraction *x, pm_node node, const char *name, struct pm_error *err)
{
	char target[PMFS_TARGET_SIZE];
	int r = pmfs_link_target(x->in, node, target, err);
	if (r < 0)
		return r;
	if (!pay(x, 0, err))
		return -ENOSPC;
	if (symlinkat(target, x->folder, name) == 0 ||
		(make_room(x->folder, name, S_IFLNK) && symlinkat(target, x->folder, name) == 0))
		return 0;
	return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "cannot be linked: %s", strerror(errno));
}

static int write_document(struct pmfs_extraction *x, const struct pmfs_entry *entry,
	const char *name, struct pm_error *err)
{
	struct pm_doc doc;
	int r = pmfs_tree_document(x->in->tree, entry->node, &doc, err);
	if (r == 0) {
		r = write_file(x, entry->node, &doc, name, err);
		pmfs_tree_release(x->in->tree, entry->node);
	}
	return r;
}

void pmfs_extract_entry(struct pmfs_extraction *x, const struct pmfs_entry *entry, const char *name)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	int r = entry->type == PMFS_LINK ? write_link(x, entry->node, name, &err)
					 : write_document(x, entry, name, &err);
	if (r < 0)
		pmfs_extract_failed(x, r, &err);
	pmfs_bar_count(++x->files);
}

int pmfs_extract_enter(struct pmfs_extraction *x, const char *name, struct pm_error *err)
{
	if (!pay(x, 0, err))
		return -ENOSPC;
	if (mkdirat(x->folder, name, 0777) != 0 && errno != EEXIST)
		return pm_error_set(
			err, -EIO, NULL, PM_NO_OFFSET, "cannot be created: %s", strerror(errno));
	int fd = openat(x->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return pm_error_set(
			err, -EIO, NULL, PM_NO_OFFSET, "cannot be opened: %s", strerror(errno));
	close(x->folder);
	x->folder = fd;
	return 0;
}

int pmfs_extract_leave(struct pmfs_extraction *x)
{
	int fd = openat(x->folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -EIO;
	close(x->folder);
	x->folder = fd;
	return 0;
}
