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
#include <unistd.h>

#include "formats/common/list.h"
#include "formats/common/text.h"
#include "fs/bar.h"
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
	uint64_t most, written; /* bytes, in whole blocks as on a disk */
	bool parquet;           /* -o parquet */
	bool full;              /* the limit was reached: nothing more is written */
};

static void say(struct pm_bytes path, const char *what)
{
	struct pm_text line = {.p = NULL};
	pm_text_shown(&line, path);
	pm_text_printf(&line, ": %s\n", what);
	pmfs_bar_hide();
	fwrite(line.p, 1, line.failed ? 0 : line.len, stderr);
	pmfs_bar_go_on();
	pm_text_done(&line);
}

static void failed(struct walk *w, int code, const struct pm_error *err)
{
	char line[900];
	w->failed++;
	say(pm_text_view(&w->path),
		err->code ? pm_error_line(err, line, sizeof(line)) : strerror(-code));
}

/* True if n more bytes may be written, which are then counted; otherwise extraction stops. */
static bool pay(struct walk *w, uint64_t n, struct pm_error *err)
{
	enum { BLOCK = 4096 };
	uint64_t blocks = n / BLOCK + 1;
	if (!w->full && blocks <= (w->most - w->written) / BLOCK) {
		w->written += blocks * BLOCK;
		return true;
	}
	w->full = true;
	pm_error_set(err, -ENOSPC, NULL, PM_NO_OFFSET,
		"left out, with all that follows it: more than %llu bytes would be written "
		"(-o max=SIZE)",
		(unsigned long long)w->most);
	return false;
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

static int write_file(struct walk *w, pm_node node, const struct pm_doc *doc, const char *name,
	struct pm_error *err)
{
	uint64_t size;
	/* A document that cannot be produced leaves no file behind. */
	int r = pmfs_engine_size(w->in->engine, node, doc, &size, err);
	if (r < 0)
		return r;
	if (!pay(w, size, err))
		return -ENOSPC;
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
	if (r == 0) {
		r = entry->type == PMFS_LINK ? write_link(w, entry->node, &doc, name, &err)
					     : write_file(w, entry->node, &doc, name, &err);
		pmfs_tree_release(w->in->tree, entry->node);
	}
	if (r < 0)
		failed(w, r, &err);
	pmfs_bar_count(++w->files);
}

/* Creates the directory (or uses an existing one) and enters it. */
static int enter(struct walk *w, const char *name, struct pm_error *err)
{
	if (!pay(w, 0, err))
		return -ENOSPC;
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

/* False for a file of the program that was measured: source/ lists what it has. */
static bool is_parquet(struct walk *w, pm_node node)
{
	struct pm_doc doc;
	if (pmfs_tree_document(w->in->tree, node, &doc, NULL) < 0)
		return true; /* writing it gives the reason */
	pmfs_tree_release(w->in->tree, node);
	return doc.kind == PM_DOC_PARQUET;
}

/* Writes a table as Parquet that the innermost directory does not list, if there is one. */
static int write_unlisted(struct walk *w, struct pm_bytes stem)
{
	char name[PMFS_NAME_SIZE];
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	size_t path_len = w->levels[w->n - 1].path_len;
	int n = snprintf(name, sizeof(name), "%.*s.parquet", (int)stem.len, (const char *)stem.p);
	if (n < 0 || (size_t)n >= sizeof(name) || w->full)
		return 0;
	w->path.len = path_len;
	if (path_len)
		pm_text_char(&w->path, '/');
	pm_text_str(&w->path, name);
	int r = pmfs_tree_lookup(
		w->in->tree, w->levels[w->n - 1].node, pm_bytes_of(name), &entry, &err);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		failed(w, r, &err);
	else if (entry.type == PMFS_FILE && is_parquet(w, entry.node))
		write_document(w, &entry, name);
	return w->path.failed ? -ENOMEM : 0;
}

/* The Parquet file beside a table. Tables of all threads are beside the list of threads. */
static int write_parquet(struct walk *w, const struct pmfs_entry *entry)
{
	static const char csv[] = ".csv";
	struct pm_bytes name = {(const uint8_t *)entry->name, entry->len};
	if (name.len <= strlen(csv) ||
		memcmp(name.p + name.len - strlen(csv), csv, strlen(csv)) != 0)
		return 0;
	name.len -= strlen(csv);
	int r = write_unlisted(w, name);
	if (r == 0 && pm_bytes_equal(name, pm_bytes_of("threads")))
		r = write_unlisted(w, pm_bytes_of("profiles"));
	if (r == 0 && pm_bytes_equal(name, pm_bytes_of("threads")))
		r = write_unlisted(w, pm_bytes_of("timeline"));
	return r;
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
		return w->parquet ? write_parquet(w, entry) : 0;
	}
	int r = enter(w, name, &err);
	if (r < 0) {
		failed(w, r, &err);
		return 0;
	}
	return push(w, entry->node);
}

/* The entries of the root after the one in which extraction stopped. */
static void name_rest(struct walk *w)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	while (pmfs_tree_next(w->in->tree, PMFS_NODE_ROOT, &w->levels[0].cookie, &entry, &err) > 0)
		say((struct pm_bytes){(const uint8_t *)entry.name, entry.len}, "left out");
}

/* Everything below the directory `node`, which is open as w->folder; leaves it open. */
static int write_tree(struct walk *w, pm_node node)
{
	int r = push(w, node);
	while (r == 0 && w->n > 0 && !w->full) {
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
	if (w->full && node == PMFS_NODE_ROOT)
		name_rest(w);
	return r;
}

/* The Parquet files beside a document of which the path was given: its name begins at `name_at`. */
static int write_beside(
	struct walk *w, const char *path, size_t name_at, const struct pmfs_entry *entry)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry folder;
	char *copy = strndup(path, name_at);
	int r = copy ? pmfs_tree_walk(w->in->tree, copy, &folder, &err) : -ENOMEM;
	free(copy);
	w->path.len = name_at;
	while (w->path.len > 0 && path[w->path.len - 1] == '/')
		w->path.len--;
	if (r == 0 && (r = push(w, folder.node)) == 0) {
		r = write_parquet(w, entry);
		w->n--;
	}
	return r;
}

/* The parent folders of a path, then the entry itself. */
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
		if (!next && entry.type != PMFS_DIRECTORY) {
			write_document(w, &entry, name);
			r = w->parquet ? write_beside(w, path, (size_t)(name - copy), &entry) : 0;
		} else if ((r = enter(w, name, &err)) == 0)
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

/* Default limit, far beyond the size of normal profiles: see docs/decisions/0092. */
static uint64_t most_for(uint64_t input_bytes)
{
	enum { TIMES = 64 };
	const uint64_t least = (uint64_t)1 << 30;
	return input_bytes > least / TIMES ? input_bytes * TIMES : least;
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

int pmfs_command_extract(struct pmfs_instance *in, const struct pmfs_options *o, int target)
{
	struct walk w = {.in = in,
		.folder = target,
		.parquet = o->parquet,
		.most = o->max_bytes ? o->max_bytes : most_for(in->profile->input_bytes)};
	int r = o->n_paths == 1 ? write_tree(&w, PMFS_NODE_ROOT) : 0;
	for (int i = 1; r == 0 && i < o->n_paths; i++) {
		if (w.full)
			say(pm_bytes_of(o->paths[i]), "left out");
		else
			r = write_path(&w, o->paths[i]);
	}
	if (r < 0)
		pmfs_log("%s: %s", o->paths[0], strerror(-r));
	pmfs_bar_end();
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "%llu files\n", (unsigned long long)w.files);
	close(w.folder);
	free(w.levels);
	pm_text_done(&w.path);
	return r < 0 || w.failed > 0;
}
