/*
 * --extract: walks the tree and writes it below a folder. Neither the depth of a tree nor the
 * length of its paths limits the walk. The files of a directory come before its directories,
 * and contexts/ and by-id/, the largest ones, last: so what is left out at the limit is what
 * there is most of.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/affix.h"
#include "formats/common/list.h"
#include "formats/common/text.h"
#include "fs/bar.h"
#include "fs/commands.h"
#include "fs/instance.h"
#include "fs/log.h"
#include "fs/resolve.h"

struct extraction {
	struct pmfs_instance *in;
	int folder;          /* open directory that entries are written to */
	struct pm_text path; /* of what is being written, as messages show it */
	uint64_t files, failed;
	uint64_t most, written; /* bytes, in whole blocks as on a disk */
	bool full;              /* the limit was reached: nothing more is written */
};

/*
 * ---- one file, link or directory on disk ----
 *
 * Keeps one open directory and goes up by `..`: paths may be longer than the system's limit.
 */

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

/* Reports something about a path on standard error; the middle of a long path is left out. */
static void extract_say(struct pm_bytes path, const char *what)
{
	struct pm_text line = {.p = NULL};
	show_path(&line, path);
	pm_text_printf(&line, ": %s\n", what);
	pmfs_bar_hide();
	fwrite(line.p, 1, line.failed ? 0 : line.len, stderr);
	pmfs_bar_go_on();
	pm_text_done(&line);
}

/* Reports and counts an error about the current path. */
static void extract_failed(struct extraction *x, int code, const struct pm_error *err)
{
	char line[900];
	x->failed++;
	extract_say(pm_text_view(&x->path),
		err->code ? pm_error_line(err, line, sizeof(line)) : strerror(-code));
}

enum { BLOCK = 4096 };

/* True if that many more blocks may be written, which are then counted; otherwise extraction stops.
 */
static bool pay_blocks(struct extraction *x, uint64_t blocks, struct pm_error *err)
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
static bool pay(struct extraction *x, uint64_t n, struct pm_error *err)
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
	struct extraction *x;
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

static int write_bytes(
	struct extraction *x, pm_node node, const struct pm_doc *doc, int fd, struct pm_error *err)
{
	struct flowing f = {.x = x, .fd = fd};
	return pmfs_engine_flows(doc) ? pmfs_engine_flow(x->in->engine, doc, write_piece, &f, err)
				      : pmfs_document_write(x->in, node, doc, fd, err);
}

static int write_contents(struct extraction *x, pm_node node, const struct pm_doc *doc,
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

static int write_link(struct extraction *x, pm_node node, const char *name, struct pm_error *err)
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

static int write_document(struct extraction *x, const struct pmfs_entry *entry, const char *name,
	struct pm_error *err)
{
	struct pm_doc doc;
	int r = pmfs_tree_document(x->in->tree, entry->node, &doc, err);
	if (r == 0) {
		r = write_contents(x, entry->node, &doc, name, err);
		pmfs_tree_release(x->in->tree, entry->node);
	}
	return r;
}

/* Writes a file or link into the open directory; reports errors, and leaves no part of a file. */
static void extract_entry(struct extraction *x, const struct pmfs_entry *entry, const char *name)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	int r = entry->type == PMFS_LINK ? write_link(x, entry->node, name, &err)
					 : write_document(x, entry, name, &err);
	if (r < 0)
		extract_failed(x, r, &err);
	pmfs_bar_count(++x->files);
}

/*
 * Creates a directory in the open one (or uses one that exists), which is open then. On failure the
 * open directory stays. 0 or a negative errno; -ENOSPC at the limit.
 */
static int extract_enter(struct extraction *x, const char *name, struct pm_error *err)
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

/*
 * Opens the parent of the open directory. -EIO if that cannot be done: nothing more can be written
 * at its place then.
 */
static int extract_leave(struct extraction *x)
{
	int fd = openat(x->folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -EIO;
	close(x->folder);
	x->folder = fd;
	return 0;
}

/* ---- the walk ---- */

/* The entries of a directory, in the order in which they are written. */
enum pass { FILES, DIRECTORIES, CONTEXTS, N_PASSES };

struct level {
	pm_node node;
	enum pass pass;
	uint64_t cookie;
	bool has[N_PASSES]; /* as far as FILES has come: it has entries of that pass */
	size_t path_len;    /* of the path down to this directory */
};

struct walk {
	struct extraction x;
	struct level *levels;
	size_t n, room;
	bool parquet; /* -o parquet */
};

static int push(struct walk *w, pm_node node)
{
	if (pm_list_room(&w->levels, w->n, &w->room, sizeof(*w->levels)) < 0)
		return -ENOMEM;
	w->levels[w->n++] = (struct level){.node = node, .path_len = w->x.path.len};
	return 0;
}

/* Appends a name to the path down to the innermost directory. */
static int set_path(struct walk *w, const char *name)
{
	struct pm_text *path = &w->x.path;
	path->len = w->levels[w->n - 1].path_len;
	if (path->len)
		pm_text_char(path, '/');
	pm_text_str(path, name);
	return pm_text_status(path);
}

/* False for a file of the program that was measured: source/ lists what it has. */
static bool is_parquet(struct pmfs_tree *tree, pm_node node)
{
	struct pm_doc doc;
	if (pmfs_tree_document(tree, node, &doc, NULL) < 0)
		return true; /* writing it gives the reason */
	pmfs_tree_release(tree, node);
	return doc.kind == PM_DOC_PARQUET;
}

/* Writes a table as Parquet that the innermost directory does not list, if there is one. */
static int write_unlisted(struct walk *w, struct pm_bytes stem)
{
	char name[PMFS_NAME_SIZE];
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	struct pmfs_tree *tree = w->x.in->tree;
	int n = snprintf(name, sizeof(name), "%.*s.parquet", (int)stem.len, (const char *)stem.p);
	if (n < 0 || (size_t)n >= sizeof(name) || w->x.full)
		return 0;
	if (set_path(w, name) < 0)
		return -ENOMEM;
	int r = pmfs_tree_lookup(tree, w->levels[w->n - 1].node, pm_bytes_of(name), &entry, &err);
	if (r < 0 && r != -ENOENT)
		extract_failed(&w->x, r, &err);
	if (r >= 0 && entry.type == PMFS_FILE && is_parquet(tree, entry.node))
		extract_entry(&w->x, &entry, name);
	return 0;
}

/* The Parquet file beside a table. Tables of all threads are beside the list of threads. */
static int write_parquet(struct walk *w, const struct pmfs_entry *entry)
{
	static const char csv[] = ".csv";
	struct pm_bytes name = {(const uint8_t *)entry->name, entry->len};
	if (!pm_has_ending(name, csv))
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
	snprintf(name, sizeof(name), "%.*s", (int)entry->len, entry->name);
	if (set_path(w, name) < 0)
		return -ENOMEM;
	if (entry->type != PMFS_DIRECTORY) {
		extract_entry(&w->x, entry, name);
		return w->parquet ? write_parquet(w, entry) : 0;
	}
	int r = extract_enter(&w->x, name, &err);
	if (r < 0) {
		extract_failed(&w->x, r, &err);
		return 0;
	}
	return push(w, entry->node);
}

static enum pass pass_of(const struct pmfs_entry *entry)
{
	if (entry->type != PMFS_DIRECTORY)
		return FILES;
	return pmfs_tree_is_of_contexts(entry->node) ? CONTEXTS : DIRECTORIES;
}

/* The next entry of a directory in the order of writing. As pmfs_tree_next. */
static int next_entry(
	struct pmfs_tree *tree, struct level *level, struct pmfs_entry *ret, struct pm_error *err)
{
	for (; level->pass < N_PASSES; level->pass++, level->cookie = 0) {
		int r = level->pass == FILES || level->has[level->pass];
		while (r > 0 &&
			(r = pmfs_tree_next(tree, level->node, &level->cookie, ret, err)) > 0) {
			enum pass pass = pass_of(ret);
			level->has[pass] = true;
			if (pass == level->pass)
				return 1;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* The entries of the root after the one in which extraction stopped. */
static void name_rest(struct walk *w)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	while (next_entry(w->x.in->tree, &w->levels[0], &entry, &err) > 0)
		extract_say((struct pm_bytes){(const uint8_t *)entry.name, entry.len}, "left out");
}

/* Everything below the directory `node`, which is open, and is again afterwards. */
static int write_tree(struct walk *w, pm_node node)
{
	int r = push(w, node);
	while (r == 0 && w->n > 0 && !w->x.full) {
		struct level *level = &w->levels[w->n - 1];
		struct pm_error err = {.offset = PM_NO_OFFSET};
		struct pmfs_entry entry;
		r = next_entry(w->x.in->tree, level, &entry, &err);
		if (r > 0) {
			r = write_entry(w, &entry);
			continue;
		}
		if (r < 0) {
			w->x.path.len = level->path_len;
			extract_failed(&w->x, r, &err);
		}
		r = --w->n > 0 ? extract_leave(&w->x) : 0;
	}
	if (w->x.full && node == PMFS_NODE_ROOT)
		name_rest(w);
	return r;
}

/* A file or link of the directory `dir`, which is open, and the Parquet files beside it. */
static int write_file(struct walk *w, pm_node dir, const struct pmfs_entry *entry, const char *name)
{
	extract_entry(&w->x, entry, name);
	if (!w->parquet)
		return 0;
	w->x.path.len -= strlen(name);
	if (w->x.path.len)
		w->x.path.len--;
	int r = push(w, dir);
	if (r == 0) {
		r = write_parquet(w, entry);
		w->n--;
	}
	return r;
}

/* The directories of a path as pmfs_resolved has it, then what is at its end. */
static int write_at(struct walk *w, const char *path)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry = {.node = PMFS_NODE_ROOT, .type = PMFS_DIRECTORY};
	char name[PMFS_NAME_SIZE];
	pm_node dir;
	int r = 0, depth = 0;
	pm_text_clear(&w->x.path);
	pm_text_str(&w->x.path, path);
	while (r == 0 && *path && entry.type == PMFS_DIRECTORY) {
		size_t len = strcspn(path, "/");
		dir = entry.node;
		snprintf(name, sizeof(name), "%.*s", (int)len, path);
		r = pmfs_tree_lookup(w->x.in->tree, dir, pm_bytes_of(name), &entry, &err);
		if (r >= 0 && entry.type != PMFS_DIRECTORY)
			r = write_file(w, dir, &entry, name);
		else if (r >= 0 && (r = extract_enter(&w->x, name, &err)) == 0)
			depth++;
		path += len + (path[len] == '/');
	}
	if (r < 0) {
		extract_failed(&w->x, r, &err);
		r = 0;
	} else if (entry.type == PMFS_DIRECTORY) {
		r = write_tree(w, entry.node);
	}
	for (; r == 0 && depth > 0; depth--)
		r = extract_leave(&w->x);
	return r;
}

/*
 * A path that was given, with the links on it. Nothing is done if it is a directory and `files`.
 * *ret_done: whether something was done, which may be to report an error.
 */
static int write_path(struct walk *w, const char *path, bool files, bool *ret_done)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_resolved at;
	int r = pmfs_resolve(w->x.in, path, &at, &err);
	*ret_done = r < 0 || at.entry.type != PMFS_DIRECTORY || !files;
	if (r < 0) {
		pm_text_clear(&w->x.path);
		pm_text_str(&w->x.path, path);
		extract_failed(&w->x, r, &err);
		r = 0;
	} else if (w->x.full && *ret_done) {
		extract_say(pm_bytes_of(path), "left out");
	} else if (*ret_done) {
		const char *link = at.links.p, *end = link + at.links.len;
		for (; r == 0 && link < end; link += strlen(link) + 1)
			r = write_at(w, link);
		if (r == 0)
			r = write_at(w, at.path.p);
	}
	pmfs_resolved_done(&at);
	return r;
}

/* Files first, as in a directory. */
static int write_paths(struct walk *w, const char *const *paths, int n)
{
	bool *done = calloc((size_t)n, sizeof(*done));
	int r = done ? 0 : -ENOMEM;
	for (int i = 0; r == 0 && i < 2 * n; i++)
		if (!done[i % n])
			r = write_path(w, paths[i % n], i < n, &done[i % n]);
	free(done);
	return r;
}

/* Default limit, far beyond the size of normal profiles: see docs/decisions/0092. */
static uint64_t most_for(uint64_t input_bytes)
{
	enum { TIMES = 64 };
	const uint64_t least = (uint64_t)1 << 30;
	return input_bytes > least / TIMES ? input_bytes * TIMES : least;
}

static bool is_a_source(int fd, const struct pmfs_source_paths *sources)
{
	struct stat target, st;
	for (int i = 0; fstat(fd, &target) == 0 && i < sources->n; i++)
		if (stat(sources->paths[i], &st) == 0 && st.st_dev == target.st_dev &&
			st.st_ino == target.st_ino)
			return true;
	return false;
}

int pmfs_extract_target(const char *folder, const struct pmfs_source_paths *sources)
{
	int fd = -1;
	if (mkdir(folder, 0777) == 0 || errno == EEXIST)
		fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		pmfs_log("%s: cannot be used: %s", folder, strerror(errno));
	if (fd >= 0 && is_a_source(fd, sources)) {
		pmfs_log("%s: is the source: what is extracted would be among its files", folder);
		close(fd);
		return -1;
	}
	return fd;
}

int pmfs_command_extract(struct pmfs_instance *in, const struct pmfs_options *o, int target)
{
	struct walk w = {
		.x = {.in = in,
			.folder = target,
			.most = o->max_bytes ? o->max_bytes : most_for(in->profile->input_bytes)},
		.parquet = o->parquet};
	int r = o->n_paths == 1 ? write_tree(&w, PMFS_NODE_ROOT)
				: write_paths(&w, o->paths + 1, o->n_paths - 1);
	if (r < 0)
		pmfs_log("%s: %s", o->paths[0], strerror(-r));
	pmfs_bar_end();
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "%llu files\n", (unsigned long long)w.x.files);
	close(w.x.folder);
	free(w.levels);
	pm_text_done(&w.x.path);
	return r < 0 || w.x.failed > 0;
}
