/*
 * --extract: walks the tree and writes it below a folder. The walk keeps one open directory and
 * goes up by `..`, so that neither the depth of a tree nor the length of its paths limits it.
 */
#include "fs/commands.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/common/list.h"
#include "formats/common/text.h"
#include "fs/log.h"

struct level {
	pm_node node;
	uint64_t cookie;
	size_t path_len; /* of the path down to this directory */
};

struct walk {
	struct pmfs_instance *in;
	struct level *levels;
	size_t n, room;
	int folder;          /* open directory of the innermost level */
	struct pm_text path; /* of what is being written, NUL-terminated when shown */
	uint64_t files, failed;
	bool terminal;
	time_t shown;
};

static void show_progress(struct walk *w)
{
	time_t now = time(NULL);
	if (!w->terminal || now == w->shown)
		return;
	w->shown = now;
	fprintf(stderr, "\r%llu files", (unsigned long long)w->files);
	fflush(stderr);
}

static void failed(struct walk *w, int code, const struct pm_error *err)
{
	char line[900];
	struct pm_text all = {.p = NULL};
	w->failed++;
	if (w->terminal)
		fputs("\r\033[K", stderr);
	pm_text_shown(&all, pm_text_view(&w->path));
	pm_text_str(&all, ": ");
	pm_text_str(&all, err->code ? pm_error_line(err, line, sizeof(line)) : strerror(-code));
	pm_text_char(&all, '\n');
	fwrite(all.p, 1, all.failed ? 0 : all.len, stderr);
	pm_text_done(&all);
}

/* Removes what an earlier extraction left; what is of another type stays, and is not waited for. */
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

static int write_file(struct walk *w, pm_node node, const struct pm_doc *doc, const char *name,
	struct pm_error *err)
{
	uint64_t size;
	/* What cannot be produced leaves no file behind. */
	int r = pmfs_engine_size(w->in->engine, node, doc, &size, err);
	if (r < 0)
		return r;
	int fd = create_file(w->folder, name);
	if (fd < 0)
		return pm_error_set(
			err, -EIO, NULL, PM_NO_OFFSET, "cannot be created: %s", strerror(errno));
	r = pmfs_document_write(w->in, node, doc, fd, err);
	if (close(fd) != 0 && r == 0)
		r = pm_error_set(
			err, -EIO, NULL, PM_NO_OFFSET, "cannot be written: %s", strerror(errno));
	if (r < 0)
		unlinkat(w->folder, name, 0);
	return r;
}

static int write_link(struct walk *w, pm_node node, const struct pm_doc *doc, const char *name,
	struct pm_error *err)
{
	char target[4096];
	struct pmfs_piece piece;
	int r = pmfs_engine_read(w->in->engine, node, doc, 0, sizeof(target) - 1, &piece, err);
	if (r < 0)
		return r;
	memcpy(target, piece.p, piece.len);
	target[piece.len] = 0;
	pmfs_engine_release(w->in->engine, &piece);
	if (symlinkat(target, w->folder, name) == 0 ||
		(make_room(w->folder, name, S_IFLNK) && symlinkat(target, w->folder, name) == 0))
		return 0;
	return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "cannot be linked: %s", strerror(errno));
}

static void write_document(struct walk *w, const struct pmfs_entry *entry, const char *name)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_doc doc;
	int r = pmfs_tree_document(w->in->tree, entry->node, &doc, &err);
	if (r == 0)
		r = entry->type == PMFS_LINK ? write_link(w, entry->node, &doc, name, &err)
					     : write_file(w, entry->node, &doc, name, &err);
	if (r < 0)
		failed(w, r, &err);
	w->files++;
	show_progress(w);
}

/* Makes the directory (or takes it as it is) and goes into it. */
static int enter(struct walk *w, const char *name, struct pm_error *err)
{
	if (mkdirat(w->folder, name, 0777) != 0 && errno != EEXIST)
		return pm_error_set(
			err, -EIO, NULL, PM_NO_OFFSET, "cannot be created: %s", strerror(errno));
	int fd = openat(w->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return pm_error_set(
			err, -EIO, NULL, PM_NO_OFFSET, "cannot be opened: %s", strerror(errno));
	close(w->folder);
	w->folder = fd;
	return 0;
}

static int leave(struct walk *w)
{
	int fd = openat(w->folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -EIO;
	close(w->folder);
	w->folder = fd;
	return 0;
}

static int push(struct walk *w, pm_node node)
{
	if (pm_list_room(&w->levels, w->n, &w->room, sizeof(*w->levels)) < 0)
		return -ENOMEM;
	w->levels[w->n++] = (struct level){.node = node, .path_len = w->path.len};
	return 0;
}

/* One entry of the innermost directory: a document is written, a directory becomes innermost. */
static int write_entry(struct walk *w, const struct pmfs_entry *entry)
{
	char name[PMFS_NAME_SIZE];
	struct pm_error err = {.offset = PM_NO_OFFSET};
	memcpy(name, entry->name, entry->len);
	name[entry->len] = 0;
	if (w->path.len)
		pm_text_char(&w->path, '/');
	pm_text_str(&w->path, name);
	if (w->path.failed)
		return -ENOMEM;
	if (entry->type != PMFS_DIRECTORY) {
		write_document(w, entry, name);
		return 0;
	}
	int r = enter(w, name, &err);
	if (r < 0) {
		failed(w, r, &err);
		return 0;
	}
	return push(w, entry->node);
}

/* Everything below the directory `node`, which is open as w->folder; leaves it open. */
static int write_tree(struct walk *w, pm_node node)
{
	int r = push(w, node);
	while (r == 0 && w->n > 0) {
		struct level *level = &w->levels[w->n - 1];
		struct pm_error err = {.offset = PM_NO_OFFSET};
		struct pmfs_entry entry;
		w->path.len = level->path_len;
		r = pmfs_tree_next(w->in->tree, level->node, &level->cookie, &entry, &err);
		if (r > 0) {
			r = write_entry(w, &entry);
			continue;
		}
		if (r < 0)
			failed(w, r, &err);
		r = --w->n > 0 ? leave(w) : 0;
	}
	return r;
}

/* The folders above a path, then what stands there. */
static int write_path(struct walk *w, const char *path)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	pm_text_clear(&w->path);
	pm_text_str(&w->path, path);
	int r = pmfs_tree_walk(w->in->tree, path, &entry, &err);
	if (r < 0 || entry.node == PMFS_NODE_ROOT) {
		if (r < 0)
			failed(w, r, &err);
		return r < 0 ? 0 : write_tree(w, entry.node);
	}
	int depth = 0;
	char *copy = strdup(path), *rest = copy, *name, *next = NULL;
	if (!copy)
		return -ENOMEM;
	for (name = strsep(&rest, "/"); name && r == 0; name = next) {
		next = strsep(&rest, "/");
		while (next && !*next)
			next = strsep(&rest, "/");
		if (!*name || strcmp(name, ".") == 0)
			continue;
		if (!next && entry.type != PMFS_DIRECTORY)
			write_document(w, &entry, name);
		else if ((r = enter(w, name, &err)) == 0)
			depth++;
	}
	free(copy);
	if (r < 0) {
		failed(w, r, &err);
		r = 0;
	} else if (entry.type == PMFS_DIRECTORY) {
		r = write_tree(w, entry.node);
	}
	while (r == 0 && depth-- > 0)
		r = leave(w);
	return r;
}

int pmfs_extract_target(const char *folder)
{
	int fd = -1;
	if (mkdir(folder, 0777) == 0 || errno == EEXIST)
		fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		pmfs_log("%s: cannot be used: %s", folder, strerror(errno));
	return fd;
}

int pmfs_command_extract(
	struct pmfs_instance *in, const char *folder, int target, const char *const *paths, int n)
{
	struct walk w = {.in = in, .terminal = isatty(STDERR_FILENO), .folder = target};
	int r = n == 0 ? write_tree(&w, PMFS_NODE_ROOT) : 0;
	for (int i = 0; r == 0 && i < n; i++)
		r = write_path(&w, paths[i]);
	if (r < 0)
		pmfs_log("%s: %s", folder, strerror(-r));
	if (w.terminal)
		fprintf(stderr, "\r\033[K%llu files\n", (unsigned long long)w.files);
	close(w.folder);
	free(w.levels);
	pm_text_done(&w.path);
	return r < 0 || w.failed > 0;
}
