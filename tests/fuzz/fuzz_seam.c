/*
 * Any bytes through the whole program but for FUSE: open, walk the tree breadth-first, read
 * documents in windows, also those that are found by name alone: the data of report.html, Parquet,
 * windows of time. Then the same of the source compared with itself. A small part of the law of
 * tests/conformance must hold: what is listed is found, sizes are the bytes delivered, windows are
 * slices of the whole.
 *
 * An input is a source file, or a folder of them: FOLDER_MAGIC, then for each file its number in
 * folder_names, its length (32 bits, little-endian) and its bytes.
 * seeds.py makes inputs of both kinds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/common/cursor.h"
#include "fs/instance.h"
#include "fs/runs/ensemble.h"

#define FOLDER_MAGIC "profmount folder\n"

enum {
	MOST_DIRS = 200,
	MOST_DOCS = 300,
	MOST_ENTRIES = 500, /* of a directory */
	WINDOWS = 4,
	LARGE = 1 << 20,   /* documents beyond this are read in windows only */
	CACHE = 256 << 10, /* so small that things are dropped and built again */
};

static const char *const folder_names[] = {
	"meta.db",
	"profile.db",
	"cct.db",
	"trace.db",
	"traces.dat",
	"meta.db.p",
	"meta.db.t",
	"qmeta.idx",
	"text-00000001.wal",
	"text-00000001-00000100.fmi",
	"a-000000-000-01-1-0.hpcrun",
	"a-000000-000-01-1-0.hpctrace",
	"a-000000-001-01-1-0.hpcrun",
	"a-000000-001-01-1-0.hpctrace",
	"nytprof.out.1",
	"nytprof.out.2",
};
enum { N_NAMES = sizeof(folder_names) / sizeof(*folder_names) };

struct walk {
	struct pmfs_instance in;
	pm_node queue[MOST_DIRS];
	unsigned n_dirs, n_docs, n_filters;
	uint64_t random;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/profmount-fuzz-XXXXXX";
static int folder_fd = -1;

static void must(bool good, const char *what, const struct pmfs_entry *e)
{
	if (good)
		return;
	fprintf(stderr, "%.*s: %s\n", e ? (int)e->len : 0, e ? e->name : "", what);
	abort();
}

static uint64_t next_random(struct walk *w)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return w->random >> 33;
}

/* ---- the source on disk ---- */

static void folder_clear(void)
{
	for (unsigned i = 0; i < N_NAMES; i++)
		unlinkat(folder_fd, folder_names[i], 0);
}

static void folder_remove(void)
{
	folder_clear();
	rmdir(folder);
}

static void folder_make(void)
{
	if (!mkdtemp(folder) || (folder_fd = open(folder, O_RDONLY | O_DIRECTORY)) < 0) {
		perror(folder);
		exit(1);
	}
	atexit(folder_remove);
}

static void file_write(const char *name, struct pm_bytes data)
{
	int fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(fd >= 0 && write(fd, data.p, data.len) == (ssize_t)data.len, name, NULL);
	close(fd);
}

/* Returns the path to open. */
static const char *source_write(struct pm_bytes data)
{
	static char path[sizeof(folder) + sizeof("/traces.dat")];
	struct pm_bytes magic = pm_bytes_of(FOLDER_MAGIC);
	folder_clear();
	if (data.len < magic.len || memcmp(data.p, magic.p, magic.len) != 0) {
		/* Trace stores are known by this name, the others by what they hold. */
		file_write("traces.dat", data);
		snprintf(path, sizeof(path), "%s/traces.dat", folder);
		return path;
	}
	struct pm_cur c = pm_cur_of(data, false);
	pm_cur_bytes(&c, magic.len);
	while (pm_cur_left(&c) >= 5) {
		unsigned name = pm_cur_u8(&c) % N_NAMES;
		size_t len = pm_cur_u32(&c), left = pm_cur_left(&c);
		file_write(folder_names[name], pm_cur_bytes(&c, len < left ? len : left));
	}
	return folder;
}

/* ---- documents ---- */

static void check_window(struct walk *w, const struct pmfs_entry *e, const struct pm_doc *doc,
	const char *whole, uint64_t size)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece;
	uint64_t off = next_random(w) % (size + 2);
	size_t len = next_random(w) % 8192;
	uint64_t left = off < size ? size - off : 0;
	int r = pmfs_engine_read(w->in.engine, e->node, doc, off, len, &piece, &err);
	must(r == 0, "a window cannot be read", e);
	must(piece.len == (len < left ? len : left), "a window has the wrong length", e);
	must(!whole || piece.len == 0 || memcmp(piece.p, whole + off, piece.len) == 0,
		"a window is not a slice", e);
	pmfs_engine_release(w->in.engine, &piece);
}

static void check_document(struct walk *w, const struct pmfs_entry *e)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece = {.len = 0};
	struct pm_doc doc;
	uint64_t size = 0;
	if (pmfs_tree_document(w->in.tree, e->node, &doc, &err) != 0 ||
		pmfs_engine_size(w->in.engine, e->node, &doc, &size, &err) < 0) {
		must(err.code < 0 && err.text[0], "an error without a reason", e);
		return;
	}
	char *whole = NULL;
	if (size <= LARGE) {
		int r = pmfs_engine_read(
			w->in.engine, e->node, &doc, 0, (size_t)size + 1, &piece, &err);
		must(r == 0 && piece.len == size, "the size is not the bytes delivered", e);
		whole = malloc(piece.len + 1);
		memcpy(whole, piece.p, piece.len);
		pmfs_engine_release(w->in.engine, &piece);
	}
	for (unsigned i = 0; i < WINDOWS; i++)
		check_window(w, e, &doc, whole, size);
	free(whole);
}

/* ---- what is found by name alone ---- */

static void visit(struct walk *w, pm_node dir, const char *name)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry e;
	if (pmfs_tree_lookup(w->in.tree, dir, pm_bytes_of(name), &e, &err) != 0)
		return;
	if (e.type == PMFS_DIRECTORY && w->n_dirs < MOST_DIRS)
		w->queue[w->n_dirs++] = e.node;
	if (e.type == PMFS_FILE)
		check_document(w, &e);
}

static void visit_report(struct walk *w, pm_node dir)
{
	static const struct {
		const char *kind;
		unsigned numbers;
	} kinds[] = {{"functions", 2}, {"function", 1}, {"children", 2}, {"flame", 2},
		{"sandwich", 2}, {"threadflame", 2}, {"threadfunctions", 2}, {"threads", 1},
		{"costs", 2}, {"time", 3}, {"sources", 0}, {"source", 1}, {"up", 2}, {"table", 2},
		{"plot", 1}, {"hot", 1}, {"path", 1}, {"stack", 2}, {"functioncosts", 2}};
	char name[64];
	visit(w, dir, "start.js");
	for (unsigned i = 0; i < 3 * sizeof(kinds) / sizeof(*kinds); i++) {
		unsigned k = i % (sizeof(kinds) / sizeof(*kinds));
		int at = snprintf(name, sizeof(name), "%s", kinds[k].kind);
		for (unsigned n = 0; n < kinds[k].numbers; n++)
			at += snprintf(name + at, sizeof(name) - (size_t)at, "-%u",
				(unsigned)(i < sizeof(kinds) / sizeof(*kinds)
						? 0
						: next_random(w) % (k == 9 ? 3 : 9)));
		snprintf(name + at, sizeof(name) - (size_t)at, ".js");
		visit(w, dir, name);
	}
}

static void visit_unlisted(struct walk *w, pm_node dir)
{
	static const char *const windows[] = {"-", "0-", "0-1ms", "1us-2us", "1s-"};
	static const char *const filters[] = {"*", "m*", "category:mpi", "kind:line", "[a-"};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry e;
	/* Any name is a filter, in which there are the same again: a few are enough. */
	if (pmfs_tree_lookup(w->in.tree, dir, pm_bytes_of("no such filter"), &e, &err) == 0) {
		if (w->n_filters < sizeof(filters) / sizeof(*filters))
			visit(w, dir, filters[w->n_filters++]);
		return;
	}
	for (unsigned i = 0; i < sizeof(windows) / sizeof(*windows); i++)
		visit(w, dir, windows[i]);
	if (pmfs_tree_lookup(w->in.tree, dir, pm_bytes_of("report"), &e, &err) == 0)
		visit_report(w, e.node);
}

/* ---- the walk ---- */

static void check_entry(struct walk *w, pm_node dir, const struct pmfs_entry *e)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry found;
	struct pm_bytes name = {(const uint8_t *)e->name, e->len};
	must(pmfs_tree_lookup(w->in.tree, dir, name, &found, &err) == 0 && found.node == e->node,
		"listed but not found", e);
	if (e->type == PMFS_DIRECTORY && w->n_dirs < MOST_DIRS)
		w->queue[w->n_dirs++] = e->node;
	if (e->type != PMFS_DIRECTORY && w->n_docs < MOST_DOCS) {
		w->n_docs++;
		check_document(w, e);
		if (e->len > 4 && memcmp(e->name + e->len - 4, ".csv", 4) == 0) {
			char twin[PMFS_NAME_SIZE + 8];
			snprintf(twin, sizeof(twin), "%.*s.parquet", (int)e->len - 4, e->name);
			visit(w, dir, twin);
		}
	}
}

static void check_tree(struct walk *w)
{
	w->queue[w->n_dirs++] = PMFS_NODE_ROOT;
	for (unsigned i = 0; i < w->n_dirs; i++) {
		struct pm_error err = {.offset = PM_NO_OFFSET};
		struct pmfs_entry e;
		uint64_t cookie = 0;
		int r = 1;
		for (unsigned k = 0; k < MOST_ENTRIES && r > 0; k++) {
			r = pmfs_tree_next(w->in.tree, w->queue[i], &cookie, &e, &err);
			if (r > 0)
				check_entry(w, w->queue[i], &e);
		}
		must(r >= 0 || err.text[0], "a directory fails without a reason", NULL);
		visit_unlisted(w, w->queue[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk w = {.random = size};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (folder_fd < 0)
		folder_make();
	const char *path = source_write((struct pm_bytes){data, size});
	if (pmfs_instance_open(&w.in, path, NULL, CACHE, NULL, &err) < 0) {
		must(err.code < 0 && err.text[0], "refused without a reason", NULL);
		return 0;
	}
	check_tree(&w);
	pmfs_instance_close(&w.in);
	const char *const paths[] = {path, path}, *const words[] = {"a=x", "b=x"};
	const struct pmfs_ensemble_options options = {.shelf = {.cache_bytes = CACHE}};
	struct pm_profile *p;
	if (pmfs_ensemble_open(words, paths, 2, &options, &p, &err) < 0)
		return 0;
	w = (struct walk){.random = size};
	must(pmfs_instance_of(&w.in, p, pm_cache_new(CACHE), PM_SHAPE_ENSEMBLE, NULL, &err) == 0,
		"a comparison cannot be opened", NULL);
	check_tree(&w);
	pmfs_instance_close(&w.in);
	return 0;
}
