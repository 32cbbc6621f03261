/*
 * The law of the tree and of documents, for any source of any format:
 *
 *     conformance [values=FIELD[,FIELD]] SOURCE…
 *
 * Names are legal and unique; lookup finds what listing shows; every cookie restarts its listing;
 * `..` leads back; sizes are the bytes delivered; random windows are slices of the whole; text ends
 * with a line feed; ids that mean nothing do no harm; a second opening gives the same again; what
 * leads comes first and orders (lead.h); what is derived adds up (laws.h); each table is there as
 * Parquet, too, and its columns are what they are said to be (types.h).
 * Exit 0 when all holds; else a line says what does not.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calllaws.h"
#include "filterlaws.h"
#include "formats/common/list.h"
#include "formats/common/utf8.h"
#include "fs/instance.h"
#include "laws.h"
#include "lead.h"
#include "self.h"
#include "threadlaws.h"
#include "types.h"
#include "windowlaws.h"

enum {
	MOST_DIRS = 3000,    /* directories looked at; more are sampled by their order */
	MOST_DOCS = 3000,    /* documents read */
	MOST_RESTARTS = 200, /* cookies tried in a directory */
	WINDOWS = 12,        /* random windows of a document */
	HOSTILE = 20000,     /* random ids */
	LARGE = 8 << 20,     /* documents beyond this are read in windows only */
};

struct walk {
	struct pmfs_instance in, again;
	const char *source;
	uint64_t random;
	unsigned n_dirs, n_docs, n_failed;
};

struct listed {
	struct pmfs_entry *entries;
	uint64_t *cookies; /* behind each entry */
	size_t n, room, cookie_room;
};

static uint64_t next_random(struct walk *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

static bool check(struct walk *w, bool good, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool check(struct walk *w, bool good, const char *format, ...)
{
	va_list args;
	if (good)
		return true;
	w->n_failed++;
	fprintf(stderr, "%s: ", w->source);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

/* ---- listings ---- */

static void listed_done(struct listed *l)
{
	free(l->entries);
	free(l->cookies);
}

static int list(struct pmfs_instance *in, pm_node dir, struct listed *l, struct pm_error *err)
{
	uint64_t cookie = 0;
	for (;;) {
		if (pm_list_room(&l->entries, l->n, &l->room, sizeof(*l->entries)) < 0 ||
			pm_list_room(&l->cookies, l->n, &l->cookie_room, sizeof(*l->cookies)) < 0)
			return -ENOMEM;
		int r = pmfs_tree_next(in->tree, dir, &cookie, &l->entries[l->n], err);
		if (r <= 0)
			return r;
		l->cookies[l->n++] = cookie;
	}
}

static bool same_entry(const struct pmfs_entry *a, const struct pmfs_entry *b)
{
	return a->node == b->node && a->type == b->type && a->len == b->len &&
		memcmp(a->name, b->name, a->len) == 0;
}

static bool is_legal(const struct pmfs_entry *e)
{
	struct pm_bytes name = {(const uint8_t *)e->name, e->len};
	if (e->len == 0 || e->len >= PMFS_NAME_SIZE || !pm_utf8_valid(name))
		return false;
	for (size_t i = 0; i < e->len; i++)
		if (name.p[i] < 0x20 || name.p[i] == 0x7f || name.p[i] == '/')
			return false;
	return e->name[0] != '.' && e->name[0] != '-';
}

static int by_name(const void *a, const void *b)
{
	const struct pmfs_entry *x = *(struct pmfs_entry *const *)a;
	const struct pmfs_entry *y = *(struct pmfs_entry *const *)b;
	return pm_bytes_compare((struct pm_bytes){(const uint8_t *)x->name, x->len},
		(struct pm_bytes){(const uint8_t *)y->name, y->len});
}

static void check_unique(struct walk *w, const struct listed *l)
{
	struct pmfs_entry **sorted = malloc((l->n + 1) * sizeof(*sorted));
	for (size_t i = 0; i < l->n; i++)
		sorted[i] = &l->entries[i];
	qsort(sorted, l->n, sizeof(*sorted), by_name);
	for (size_t i = 1; i < l->n; i++)
		check(w, by_name(&sorted[i - 1], &sorted[i]) != 0, "%.*s: listed twice",
			(int)sorted[i]->len, sorted[i]->name);
	free(sorted);
}

static void check_lookup(struct walk *w, pm_node dir, const struct pmfs_entry *e)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry found;
	enum pmfs_type type = PMFS_LINK;
	pm_node parent = 0;
	struct pm_bytes name = {(const uint8_t *)e->name, e->len};
	check(w, is_legal(e), "%.*s: not a legal name", (int)e->len, e->name);
	int r = pmfs_tree_lookup(w->in.tree, dir, name, &found, &err);
	check(w, r == 0 && same_entry(&found, e), "%.*s: lookup differs from the listing (%d %s)",
		(int)e->len, e->name, r, err.text);
	r = pmfs_tree_type(w->in.tree, e->node, &type, &err);
	check(w, r == 0 && type == e->type, "%.*s: type differs (%d)", (int)e->len, e->name, r);
	if (e->type != PMFS_DIRECTORY)
		return;
	r = pmfs_tree_parent(w->in.tree, e->node, &parent, &err);
	check(w, r == 0 && parent == dir, "%.*s: `..` leads elsewhere (%d)", (int)e->len, e->name,
		r);
}

/* From the cookie behind entry i the listing goes on with entry i + 1. */
static void check_restart(struct walk *w, pm_node dir, const struct listed *l, size_t i)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry e;
	uint64_t cookie = l->cookies[i];
	int r = pmfs_tree_next(w->in.tree, dir, &cookie, &e, &err);
	bool last = i + 1 == l->n;
	check(w, last ? r == 0 : r == 1 && same_entry(&e, &l->entries[i + 1]),
		"%.*s: the listing does not go on behind it (%d)", (int)l->entries[i].len,
		l->entries[i].name, r);
}

static void check_again(struct walk *w, pm_node dir, const struct listed *l)
{
	struct listed other = {.n = 0};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	int r = list(&w->again, dir, &other, &err);
	check(w, r == 0 && other.n == l->n, "a second opening lists %zu entries, not %zu", other.n,
		l->n);
	for (size_t i = 0; i < l->n && i < other.n; i++)
		check(w, same_entry(&l->entries[i], &other.entries[i]),
			"%.*s: differs in a second opening", (int)l->entries[i].len,
			l->entries[i].name);
	listed_done(&other);
}

/* ---- documents ---- */

static int read_window(struct pmfs_instance *in, const struct pmfs_entry *e, uint64_t off,
	size_t len, char *out, size_t *ret_n)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece;
	struct pm_doc doc;
	int r = pmfs_tree_document(in->tree, e->node, &doc, &err);
	if (r == 0) {
		r = pmfs_engine_read(in->engine, e->node, &doc, off, len, &piece, &err);
		pmfs_tree_release(in->tree, e->node);
	}
	if (r < 0)
		return r;
	*ret_n = piece.len;
	if (piece.len)
		memcpy(out, piece.p, piece.len);
	pmfs_engine_release(in->engine, &piece);
	return 0;
}

static void check_windows(
	struct walk *w, const struct pmfs_entry *e, const char *whole, size_t size)
{
	char *window = malloc(size + 1);
	for (unsigned i = 0; i < WINDOWS; i++) {
		uint64_t off = next_random(w) % (size + 2);
		size_t len = next_random(w) % (i % 3 ? size + 1 : 64), n = 0;
		size_t left = off < size ? size - (size_t)off : 0;
		size_t want = len < left ? len : left;
		int r = read_window(&w->again, e, off, len, window, &n);
		if (!check(w,
			    r == 0 && n == want && (n == 0 || memcmp(window, whole + off, n) == 0),
			    "%.*s: window at %llu, %zu bytes, differs (%d, %zu bytes)", (int)e->len,
			    e->name, (unsigned long long)off, len, r, n))
			break;
	}
	free(window);
}

static bool ends_with(const struct pmfs_entry *e, const char *end)
{
	size_t n = strlen(end);
	return e->len >= n && memcmp(e->name + e->len - n, end, n) == 0;
}

static void check_document(struct walk *w, const struct pmfs_entry *e)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_doc doc;
	uint64_t size = 0;
	size_t n = 0;
	int r = pmfs_tree_document(w->in.tree, e->node, &doc, &err);
	if (!check(w, r == 0, "%.*s: no document (%d)", (int)e->len, e->name, r))
		return;
	r = pmfs_engine_size(w->in.engine, e->node, &doc, &size, &err);
	pmfs_tree_release(w->in.tree, e->node);
	if (r == -EIO || r == -EINVAL || r == -ENOMEM || size > LARGE)
		return; /* a broken part says so; the rest of the source is of interest */
	if (!check(w, r == 0, "%.*s: no size (%d %s)", (int)e->len, e->name, r, err.text))
		return;
	char *whole = malloc((size_t)size + 4096);
	r = read_window(&w->in, e, 0, (size_t)size + 4095, whole, &n);
	if (check(w, r == 0 && n == size, "%.*s: size %llu, but %zu bytes are delivered (%d)",
		    (int)e->len, e->name, (unsigned long long)size, n, r))
		check_windows(w, e, whole, n);
	if (ends_with(e, ".csv") || ends_with(e, ".tsv"))
		check(w, n > 0 && whole[n - 1] == '\n', "%.*s: does not end with a line feed",
			(int)e->len, e->name);
	free(whole);
}

/* The same table under the names that no listing has; as TSV only where people grep it. */
static void check_twin(struct walk *w, pm_node dir, const struct pmfs_entry *e)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry twin;
	struct pm_doc doc;
	char name[PMFS_NAME_SIZE + 16];
	if (pmfs_tree_document(w->in.tree, e->node, &doc, &err) < 0)
		return;
	pmfs_tree_release(w->in.tree, e->node);
	if (doc.kind != PM_DOC_CSV || e->len < 4)
		return;
	static const char *const endings[] = {"parquet", "tsv"};
	for (unsigned i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%.*s.%s", (int)e->len - 4, e->name, endings[i]);
		int r = pmfs_tree_lookup(w->in.tree, dir, pm_bytes_of(name), &twin, &err);
		if (i == 1 && r == -ENOENT)
			continue;
		if (check(w, r >= 0, "%s: not found (%d)", name, r))
			check_document(w, &twin);
	}
	const char *breach = types_breach(&w->in, e->node);
	check(w, !breach, "%.*s: %s", (int)e->len, e->name, breach);
}

/* ---- the walk ---- */

static void check_entries(struct walk *w, pm_node dir, const struct listed *l)
{
	size_t step = l->n / MOST_RESTARTS + 1;
	check_again(w, dir, l); /* first: it enters profiles in the same order */
	for (size_t i = 0; i < l->n; i++) {
		check_lookup(w, dir, &l->entries[i]);
		if (i % step == 0 || i + 1 == l->n)
			check_restart(w, dir, l, i);
		if (l->entries[i].type == PMFS_FILE && w->n_docs++ < MOST_DOCS)
			check_document(w, &l->entries[i]);
		if (l->entries[i].type == PMFS_FILE && w->n_docs < MOST_DOCS &&
			ends_with(&l->entries[i], ".csv"))
			check_twin(w, dir, &l->entries[i]);
	}
	check_unique(w, l);
}

/* What a directory may have without listing it. */
static void check_unlisted(struct walk *w, pm_node dir)
{
	static const char *const names[] = {"report.js", "report.html"};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry e;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (pmfs_tree_lookup(w->in.tree, dir, pm_bytes_of(names[i]), &e, &err) > 0 &&
			w->n_docs++ < MOST_DOCS)
			check_document(w, &e);
}

static void check_tree(struct walk *w)
{
	pm_node *queue = malloc(MOST_DIRS * sizeof(*queue));
	unsigned n = 1;
	queue[0] = PMFS_NODE_ROOT;
	for (; w->n_dirs < n; w->n_dirs++) {
		struct pm_error err = {.offset = PM_NO_OFFSET};
		struct listed l = {.n = 0};
		int r = list(&w->in, queue[w->n_dirs], &l, &err);
		check(w, r == 0, "a directory cannot be listed (%d %s)", r, err.text);
		check_entries(w, queue[w->n_dirs], &l);
		check_unlisted(w, queue[w->n_dirs]);
		for (size_t i = 0; i < l.n && n < MOST_DIRS; i++)
			if (l.entries[i].type == PMFS_DIRECTORY)
				queue[n++] = l.entries[i].node;
		listed_done(&l);
	}
	free(queue);
}

static void check_report_document(struct walk *w, const char *name)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry e, dir;
	int r = pmfs_tree_walk(w->in.tree, "report", &dir, &err);
	if (r == 0)
		r = pmfs_tree_lookup(w->in.tree, dir.node, pm_bytes_of(name), &e, &err);
	if (check(w, r >= 0, "report/%s: not found (%d)", name, r))
		check_document(w, &e);
}

/* The data of report.html, which no listing has: all of a kind, up to the first that is beyond the
 * source. */
static void check_report(struct walk *w)
{
	/* What stands before and behind a number. */
	static const char *const kinds[][2] = {{"functions-", "-0.js"}, {"functions-0-", ".js"},
		{"function-", ".js"}, {"up-", "-0.js"}, {"up-1-", ".js"}, {"hot-", ".js"},
		{"path-", ".js"}, {"stack-1-", ".js"}, {"functioncosts-", "-0.js"},
		{"children-", "-0.js"}, {"flame-", "-0.js"}, {"flame-", "-1.js"},
		{"sandwich-", "-0.js"}, {"threadflame-", "-0.js"}, {"threadfunctions-", "-0.js"},
		{"threads-", ".js"}, {"costs-", "-0.js"}, {"time-", "-0-63.js"},
		{"time-", "-0-2.js"}, {"source-", ".js"}, {"sites-", ".js"}, {"table-", "-0.js"},
		{"table-6", "-0.js"}, {"table-", "-1.js"}, {"plot-", ".js"}, {"plot-40", ".js"}};
	check_report_document(w, "start.js");
	check_report_document(w, "categories.js");
	check_report_document(w, "sources.js");
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (unsigned i = 0; i < 24; i++) {
			char name[64];
			snprintf(name, sizeof(name), "%s%u%s", kinds[k][0], i, kinds[k][1]);
			check_report_document(w, name);
		}
}

/* Random ids, most of them near real ones. */
static void check_hostile(struct walk *w)
{
	for (unsigned i = 0; i < HOSTILE; i++) {
		struct pm_error err = {.offset = PM_NO_OFFSET};
		struct pmfs_entry e;
		struct pm_doc doc;
		enum pmfs_type type;
		pm_node parent, node = next_random(w);
		uint64_t size, cookie = next_random(w) >> (next_random(w) % 64);
		if (i % 4)
			node = pmfs_node((enum pmfs_node_kind)(node % (PMFS_N_KINDS + 1)),
				(uint32_t)(node >> 32) >> (i % 32), (uint32_t)node >> (8 + i % 24));
		pmfs_tree_type(w->in.tree, node, &type, &err);
		pmfs_tree_parent(w->in.tree, node, &parent, &err);
		pmfs_tree_lookup(w->in.tree, node, pm_bytes_of("metrics.csv"), &e, &err);
		pmfs_tree_next(w->in.tree, node, &cookie, &e, &err);
		if (pmfs_tree_document(w->in.tree, node, &doc, &err) < 0)
			continue;
		if (i % 16 == 0)
			pmfs_engine_size(w->in.engine, node, &doc, &size, &err);
		pmfs_tree_release(w->in.tree, node);
	}
}

static bool conforms(const char *source, const struct pm_open_options *options)
{
	struct walk w = {.source = source, .random = 88172645463325252u};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	char *path = realpath(source, NULL), line[900];
	if (!path || pmfs_instance_open(&w.in, path, NULL, PMFS_CACHE_DEFAULT, options, &err) < 0 ||
		pmfs_instance_open(&w.again, path, NULL, 1 << 16, options, &err) < 0) {
		fprintf(stderr, "%s: %s\n", source, pm_error_line(&err, line, sizeof(line)));
		pmfs_instance_close(&w.in);
		free(path);
		return false;
	}
	check_tree(&w);
	check_report(&w);
	check_hostile(&w);
	const char *breach = lead_breach(&w.in);
	check(&w, !breach, "%s", breach);
	breach = self_breach(&w.in);
	check(&w, !breach, "%s", breach);
	w.n_failed += check_laws(&w.in, source);
	w.n_failed += check_call_laws(&w.in, source);
	w.n_failed += check_thread_laws(&w.in, source);
	w.n_failed += check_window_laws(&w.in, source);
	w.n_failed += check_filter_laws(&w.in, source);
	pmfs_instance_close(&w.again);
	pmfs_instance_close(&w.in);
	free(path);
	printf("%s: %u directories, %u documents, %u failed\n", source, w.n_dirs, w.n_docs,
		w.n_failed);
	return w.n_failed == 0;
}

int main(int argc, char **argv)
{
	const char fields[] = "values=";
	struct pm_open_options options = {.values = NULL};
	bool good = argc > 1;
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], fields, sizeof(fields) - 1) == 0)
			options.values = argv[i] + sizeof(fields) - 1;
		else
			good = conforms(argv[i], &options) && good;
	return good ? 0 : 1;
}
