/*
 * No memory at the n-th allocation, for n = 1, 2, 3 …, once and from there on:
 *
 *     test_memory SOURCE [N]      all n, thinned out where there are many; or this one
 *
 * Each time the source is opened, its tree walked and all documents read. What is delivered is what
 * is delivered with memory, or -ENOMEM with a reason; when there is memory again everything is
 * right; and nothing is left allocated. Exit 0 when all that holds.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "fs/instance.h"
#include "tests/faults/failing.h"

enum {
	EACH = 800,        /* allocations tried one by one; of further ones, one in … */
	THINNED = 30,      /* … n / THINNED */
	MOST_DIRS = 400,   /* directories looked at */
	MOST_FAILURES = 20 /* reported */
};

struct document {
	pm_node node;
	int result; /* of reading it with memory: damaged parts say so then, too */
	uint64_t size;
	char *bytes;
};

struct directory {
	pm_node node;
	struct pmfs_entry *entries;
	size_t n, room;
};

/* What a source is, when there is memory. */
struct source {
	const char *path;
	struct directory dirs[MOST_DIRS];
	size_t n_dirs;
	struct document *docs;
	size_t n_docs, room;
};

struct trial {
	const struct source *source;
	struct pmfs_instance in;
	size_t n;
	bool lasting;
	unsigned *failures;
};

/* ---- with memory ---- */

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static int read_whole(struct pmfs_instance *in, pm_node node, uint64_t *ret_size,
	struct pmfs_piece *ret, struct pm_error *err)
{
	struct pm_doc doc;
	*ret_size = 0;
	*ret = (struct pmfs_piece){.len = 0};
	int r = pmfs_tree_document(in->tree, node, &doc, err);
	if (r < 0)
		return r;
	r = pmfs_engine_size(in->engine, node, &doc, ret_size, err);
	if (r == 0)
		r = pmfs_engine_read(in->engine, node, &doc, 0, (size_t)*ret_size + 1, ret, err);
	pmfs_tree_release(in->tree, node);
	return r;
}

static void document_learn(struct source *s, struct pmfs_instance *in, pm_node node)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece;
	must(pm_list_room(&s->docs, s->n_docs, &s->room, sizeof(*s->docs)) == 0, "no memory");
	struct document *d = &s->docs[s->n_docs++];
	*d = (struct document){.node = node};
	d->result = read_whole(in, node, &d->size, &piece, &err);
	d->bytes = malloc(piece.len + 1);
	must(d->bytes && (d->result < 0 || piece.len == d->size), "a document has another size");
	if (piece.len)
		memcpy(d->bytes, piece.p, piece.len);
	pmfs_engine_release(in->engine, &piece);
}

static void directory_learn(struct source *s, struct pmfs_instance *in, struct directory *d)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	uint64_t cookie = 0;
	int r;
	do {
		must(pm_list_room(&d->entries, d->n, &d->room, sizeof(*d->entries)) == 0,
			"no memory");
		struct pmfs_entry *e = &d->entries[d->n];
		r = pmfs_tree_next(in->tree, d->node, &cookie, e, &err);
		if (r > 0 && e->type != PMFS_DIRECTORY)
			document_learn(s, in, e->node);
		else if (r > 0 && s->n_dirs < MOST_DIRS)
			s->dirs[s->n_dirs++] = (struct directory){.node = e->node};
		d->n += r > 0;
	} while (r > 0);
	must(r == 0, "a directory cannot be listed");
}

static void source_learn(struct source *s, const char *path)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_instance in;
	char line[900];
	s->path = path;
	int r = pmfs_instance_open(&in, path, NULL, PMFS_CACHE_DEFAULT, NULL, &err);
	must(r == 0, pm_error_line(&err, line, sizeof(line)));
	s->dirs[s->n_dirs++] = (struct directory){.node = PMFS_NODE_ROOT};
	for (size_t i = 0; i < s->n_dirs; i++)
		directory_learn(s, &in, &s->dirs[i]);
	pmfs_instance_close(&in);
}

static void source_done(struct source *s)
{
	for (size_t i = 0; i < s->n_dirs; i++)
		free(s->dirs[i].entries);
	for (size_t i = 0; i < s->n_docs; i++)
		free(s->docs[i].bytes);
	free(s->docs);
}

/* ---- without; nothing here allocates by itself ---- */

static void check(struct trial *t, bool good, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void check(struct trial *t, bool good, const char *format, ...)
{
	va_list args;
	if (good || (*t->failures)++ >= MOST_FAILURES)
		return;
	fprintf(stderr, "%s, no memory %s %zu: ", t->source->path,
		t->lasting ? "from" : "at allocation", t->n);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* True for an outcome to go on with; a failure has to be the one that was provoked. */
static bool succeeded(struct trial *t, int r, const struct pm_error *err, bool failing,
	const struct pmfs_entry *e)
{
	if (r >= 0)
		return true;
	check(t, failing && r == -ENOMEM && err->text[0], "%.*s: %d, %s", e ? (int)e->len : 1,
		e ? e->name : "/", r, err->text);
	return false;
}

static bool same_entry(const struct pmfs_entry *a, const struct pmfs_entry *b)
{
	return a->node == b->node && a->type == b->type && a->len == b->len &&
		memcmp(a->name, b->name, a->len) == 0;
}

static void document_check(
	struct trial *t, const struct document *d, bool failing, const struct pmfs_entry *e)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece;
	uint64_t size;
	int r = read_whole(&t->in, d->node, &size, &piece, &err);
	if (r < 0 && r == d->result)
		return;
	if (!succeeded(t, r, &err, failing, e))
		return;
	check(t,
		d->result == 0 && size == d->size && piece.len == size &&
			memcmp(piece.p, d->bytes, piece.len) == 0,
		"%.*s: other bytes (%zu instead of %llu)", (int)e->len, e->name, piece.len,
		(unsigned long long)d->size);
	pmfs_engine_release(t->in.engine, &piece);
}

static void directory_check(struct trial *t, const struct directory *d, bool failing)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry e;
	uint64_t cookie = 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct pmfs_entry *want = &d->entries[i];
		struct pm_bytes name = {(const uint8_t *)want->name, want->len};
		int r = pmfs_tree_next(t->in.tree, d->node, &cookie, &e, &err);
		if (!succeeded(t, r, &err, failing, want))
			return;
		check(t, r > 0 && same_entry(&e, want), "%.*s: listed as %.*s", (int)want->len,
			want->name, (int)e.len, e.name);
		r = pmfs_tree_lookup(t->in.tree, d->node, name, &e, &err);
		if (!succeeded(t, r, &err, failing, want))
			return;
		check(t, same_entry(&e, want), "%.*s: found as %.*s", (int)want->len, want->name,
			(int)e.len, e.name);
	}
	int r = pmfs_tree_next(t->in.tree, d->node, &cookie, &e, &err);
	if (succeeded(t, r, &err, failing, NULL))
		check(t, r == 0, "a directory goes on with %.*s", (int)e.len, e.name);
}

static void source_check(struct trial *t, bool failing)
{
	const struct source *s = t->source;
	size_t n = 0;
	for (size_t i = 0; i < s->n_dirs; i++) {
		directory_check(t, &s->dirs[i], failing);
		for (size_t k = 0; k < s->dirs[i].n; k++)
			if (s->dirs[i].entries[k].type != PMFS_DIRECTORY)
				document_check(t, &s->docs[n++], failing, &s->dirs[i].entries[k]);
	}
}

/* True while there are as many as n allocations. */
static bool try_without(struct trial *t)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	long before = failing_held();
	failing_start(t->n, t->lasting);
	int r = pmfs_instance_open(&t->in, t->source->path, NULL, PMFS_CACHE_DEFAULT, NULL, &err);
	bool opened = succeeded(t, r, &err, true, NULL);
	if (opened)
		source_check(t, true);
	bool reached = failing_count() >= t->n;
	failing_start(0, false);
	if (opened) {
		source_check(t, false);
		pmfs_instance_close(&t->in);
	}
	check(t, failing_held() == before, "%ld blocks are left", failing_held() - before);
	return reached;
}

int main(int argc, char **argv)
{
	static struct source source;
	unsigned failures = 0;
	size_t only = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	must(argc > 1, "usage: test_memory SOURCE [N]");
	source_learn(&source, argv[1]);
	for (int lasting = 0; lasting < 2; lasting++) {
		struct trial t = {.source = &source,
			.n = only ? only : 1,
			.lasting = lasting,
			.failures = &failures};
		while (try_without(&t) && !only)
			t.n += t.n < EACH ? 1 : t.n / THINNED;
		printf("%s: %zu allocations, %u failures\n", source.path, t.n, failures);
	}
	source_done(&source);
	return failures > 0;
}
