/*
 * No memory at the n-th allocation, for n = 1, 2, 3 …, once and from there on:
 *
 *     test_memory SOURCE [N]          all n until the source is open, then some; or this one
 *     test_memory --runs A B [N]      the same of two sources in one mount
 *     test_memory --derive SOURCE …   the same of SOURCE with -o derive=each=time_ns/calls
 *     test_memory --metric M SOURCE … the same of SOURCE with -o metric=M
 *     test_memory --cancelled …       work is cancelled at the n-th question whether it is wanted
 *
 * Each time the source is opened, its tree walked and all documents read, also tables as Parquet
 * and windows, which are found by name. What is delivered is what is delivered with memory, or
 * -ENOMEM with a reason; when there is memory again everything is right; and nothing is left
 * allocated. Exit 0 when all that holds.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/work.h"
#include "fs/instance.h"
#include "fs/runs/ensemble.h"
#include "tests/faults/failing.h"

enum {
	THINNED = 30,           /* of the allocations after opening, one in n / THINNED is tried */
	THINNED_QUESTIONS = 80, /* the same: what is cancelled takes no time */
	MOST_DIRS = 400,        /* directories looked at */
	MOST_OF_TWO = 40,  /* the same of several runs, each of which is opened over and over */
	MOST_FAILURES = 20 /* reported */
};

struct document {
	int result; /* of reading it with memory: damaged parts say so then, too */
	uint64_t size;
	char *bytes;
};

/* What nested profiles are numbered by is the order in which they are found: nodes are found anew.
 */
struct directory {
	pm_node node; /* in the trial at hand; 0: not found */
	struct pmfs_entry *entries;
	size_t *child; /* of each entry: its place in dirs or docs; NO_CHILD: not looked at */
	size_t n_listed, n, room, room_child;
	bool is_filter; /* in which there is all of it once more: a few documents are enough */
};

#define NO_CHILD SIZE_MAX

/* What a source is, when there is memory. */
struct source {
	const char *paths[2];
	uint32_t n_paths;
	struct pmfs_definitions derived;
	bool derives;
	const char *metric; /* that leads, or NULL */
	bool cancelled;     /* work is, instead of memory that runs out */
	size_t n_opening;   /* allocations until it is open */
	struct directory dirs[MOST_DIRS];
	size_t n_dirs, most_dirs;
	struct document *docs;
	size_t n_docs, room;
};

struct trial {
	struct source *source;
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

static size_t document_learn(struct source *s, struct pmfs_instance *in, pm_node node)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece;
	must(pm_list_room(&s->docs, s->n_docs, &s->room, sizeof(*s->docs)) == 0, "no memory");
	struct document *d = &s->docs[s->n_docs++];
	d->result = read_whole(in, node, &d->size, &piece, &err);
	d->bytes = malloc(piece.len + 1);
	must(d->bytes && (d->result < 0 || piece.len == d->size), "a document has another size");
	if (piece.len)
		memcpy(d->bytes, piece.p, piece.len);
	pmfs_engine_release(in->engine, &piece);
	return s->n_docs - 1;
}

static void entry_learn(
	struct source *s, struct pmfs_instance *in, struct directory *d, const struct pmfs_entry *e)
{
	must(pm_list_room(&d->entries, d->n, &d->room, sizeof(*d->entries)) == 0 &&
			pm_list_room(&d->child, d->n, &d->room_child, sizeof(*d->child)) == 0,
		"no memory");
	size_t child = NO_CHILD;
	if (e->type != PMFS_DIRECTORY)
		child = document_learn(s, in, e->node);
	else if (s->n_dirs < s->most_dirs)
		s->dirs[child = s->n_dirs++] = (struct directory){.node = e->node};
	d->entries[d->n] = *e;
	d->child[d->n++] = child;
}

/* What is not listed: a name in a directory, if there is such. */
static bool name_learn(struct source *s, struct pmfs_instance *in, struct directory *d,
	struct pm_bytes name, struct pmfs_entry *ret)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (pmfs_tree_lookup(in->tree, d->node, name, ret, &err) < 0)
		return false;
	entry_learn(s, in, d, ret);
	return true;
}

static void filter_learn(struct source *s, struct pmfs_instance *in, struct directory *d)
{
	struct pmfs_entry e;
	if (name_learn(s, in, d, pm_bytes_of("*e*"), &e) && d->child[d->n - 1] != NO_CHILD)
		s->dirs[d->child[d->n - 1]].is_filter = true;
}

/*
 * Tables as Parquet, the run without its first nanosecond: a link, and where it leads to; and a
 * filter.
 */
static void names_learn(struct source *s, struct pmfs_instance *in, struct directory *d)
{
	static const char csv[] = ".csv", window[] = "1ns-";
	struct pmfs_entry e;
	for (size_t i = 0; i < d->n_listed; i++) {
		char name[PMFS_NAME_SIZE + sizeof(".parquet")];
		size_t stem = d->entries[i].len - (sizeof(csv) - 1);
		if (d->entries[i].len < sizeof(csv) ||
			memcmp(d->entries[i].name + stem, csv, sizeof(csv) - 1) != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s.parquet", (int)stem, d->entries[i].name);
		name_learn(s, in, d, pm_bytes_of(name), &e);
		if (strcmp(name, "exceptions.parquet") == 0)
			name_learn(s, in, d, pm_bytes_of("spans.csv"), &e);
	}
	/* Any name is a filter: one is enough. */
	if (pmfs_tree_lookup(in->tree, d->node, pm_bytes_of(window), &e, NULL) >= 0 &&
		e.type == PMFS_DIRECTORY) {
		if (pmfs_tree_walk(in->tree, "hide", &e, NULL) >= 0 && e.node == d->node)
			filter_learn(s, in, d);
		return;
	}
	if (name_learn(s, in, d, pm_bytes_of(window), &e) && e.type == PMFS_LINK) {
		const struct document *link = &s->docs[d->child[d->n - 1]];
		struct pm_bytes target = {(const uint8_t *)link->bytes, (size_t)link->size};
		must(name_learn(s, in, d, target, &e), "a link leads nowhere");
	}
}

static void directory_learn(struct source *s, struct pmfs_instance *in, struct directory *d)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry e;
	uint64_t cookie = 0;
	static const char *const of_filter[] = {
		"summary.txt", "functions.csv", "contexts.csv", "threads.csv"};
	int r;
	for (size_t i = 0; d->is_filter && i < sizeof(of_filter) / sizeof(*of_filter); i++)
		name_learn(s, in, d, pm_bytes_of(of_filter[i]), &e);
	if (d->is_filter)
		return;
	while ((r = pmfs_tree_next(in->tree, d->node, &cookie, &e, &err)) > 0)
		entry_learn(s, in, d, &e);
	must(r == 0, "a directory cannot be listed");
	d->n_listed = d->n;
	names_learn(s, in, d);
}

static void source_close(struct source *s, struct pmfs_instance *in)
{
	pmfs_instance_close(in);
	pm_formula_done(&s->derived.items[0].formula);
}

static int source_derive(struct source *s, struct pmfs_instance *in, struct pm_error *err)
{
	struct pmfs_definition *d = &s->derived.items[0];
	struct pm_formula_fault fault;
	d->name = pm_bytes_of("each");
	d->text = pm_bytes_of("time_ns/calls");
	int r = pm_formula_read(d->text, &d->formula, &fault);
	s->derived.n = 1;
	pmfs_model_set_definitions(in->model, &s->derived);
	if (r < 0)
		pmfs_instance_close(in);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static int source_open(struct source *s, struct pmfs_instance *ret, struct pm_error *err)
{
	const struct pmfs_ensemble_options options = {.shelf.cache_bytes = PMFS_CACHE_DEFAULT};
	struct pm_profile *p;
	int r = 0;
	if (s->n_paths == 1)
		r = pmfs_instance_open(ret, s->paths[0], NULL, PMFS_CACHE_DEFAULT, NULL, err);
	if (r == 0 && s->metric && (r = pmfs_model_lead_with(ret->model, s->metric, err)) < 0)
		pmfs_instance_close(ret);
	if (s->n_paths == 1)
		return r == 0 && s->derives ? source_derive(s, ret, err) : r;
	r = pmfs_ensemble_open(s->paths, s->paths, s->n_paths, &options, &p, err);
	return r < 0 ? r
		     : pmfs_instance_of(ret, p, pm_cache_new(PMFS_CACHE_DEFAULT), PM_SHAPE_ENSEMBLE,
			       NULL, err);
}

static void source_learn(struct source *s)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_instance in;
	char line[900];
	failing_start(0, false);
	int r = source_open(s, &in, &err);
	must(r == 0, pm_error_line(&err, line, sizeof(line)));
	s->n_opening = failing_count();
	s->dirs[s->n_dirs++] = (struct directory){.node = PMFS_NODE_ROOT};
	for (size_t i = 0; i < s->n_dirs; i++)
		directory_learn(s, &in, &s->dirs[i]);
	source_close(s, &in);
}

static void source_done(struct source *s)
{
	for (size_t i = 0; i < s->n_dirs; i++)
		free(s->dirs[i].entries);
	for (size_t i = 0; i < s->n_dirs; i++)
		free(s->dirs[i].child);
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
	fprintf(stderr, "%s, %s %zu: ", t->source->paths[0],
		t->source->cancelled ? "cancelled from question"
			: t->lasting ? "no memory from"
				     : "no memory at allocation",
		t->n);
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
	/* Nobody reads why work was cancelled. */
	bool has_reason = err->text[0] || t->source->cancelled;
	check(t, failing && r == -ENOMEM && has_reason, "%.*s: %d, %s", e ? (int)e->len : 1,
		e ? e->name : "/", r, err->text);
	return false;
}

static bool same_entry(const struct pmfs_entry *a, const struct pmfs_entry *b)
{
	return a->type == b->type && a->len == b->len && memcmp(a->name, b->name, a->len) == 0;
}

static void document_check(struct trial *t, pm_node node, const struct document *d, bool failing,
	const struct pmfs_entry *e)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_piece piece;
	uint64_t size;
	int r = read_whole(&t->in, node, &size, &piece, &err);
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

/* Finds entry i by its name, and reads it or leaves it to be listed. */
static void entry_check(struct trial *t, const struct directory *d, size_t i, bool failing)
{
	struct source *s = t->source;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	const struct pmfs_entry *want = &d->entries[i];
	struct pm_bytes name = {(const uint8_t *)want->name, want->len};
	struct pmfs_entry e;
	bool is_directory = want->type == PMFS_DIRECTORY;
	if (is_directory && d->child[i] != NO_CHILD)
		s->dirs[d->child[i]].node = 0;
	int r = pmfs_tree_lookup(t->in.tree, d->node, name, &e, &err);
	if (!succeeded(t, r, &err, failing, want))
		return;
	check(t, same_entry(&e, want), "%.*s: found as %.*s", (int)want->len, want->name,
		(int)e.len, e.name);
	if (!is_directory)
		document_check(t, e.node, &s->docs[d->child[i]], failing, want);
	else if (d->child[i] != NO_CHILD)
		s->dirs[d->child[i]].node = e.node;
}

static void listing_check(struct trial *t, const struct directory *d, bool failing)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry e;
	uint64_t cookie = 0;
	for (size_t i = 0; i < d->n_listed; i++) {
		const struct pmfs_entry *want = &d->entries[i];
		int r = pmfs_tree_next(t->in.tree, d->node, &cookie, &e, &err);
		if (!succeeded(t, r, &err, failing, want))
			return;
		check(t, r > 0 && same_entry(&e, want), "%.*s: listed as %.*s", (int)want->len,
			want->name, (int)e.len, e.name);
	}
	int r = pmfs_tree_next(t->in.tree, d->node, &cookie, &e, &err);
	if (succeeded(t, r, &err, failing, NULL))
		check(t, r == 0, "a directory goes on with %.*s", (int)e.len, e.name);
}

static void source_check(struct trial *t, bool failing)
{
	struct source *s = t->source;
	for (size_t i = 0; i < s->n_dirs; i++)
		s->dirs[i].node = i == 0 ? PMFS_NODE_ROOT : 0;
	for (size_t i = 0; i < s->n_dirs; i++) {
		const struct directory *d = &s->dirs[i];
		check(t, failing || d->node, "a directory is not found");
		if (d->node && !d->is_filter)
			listing_check(t, d, failing);
		for (size_t k = 0; d->node && k < d->n; k++)
			entry_check(t, d, k, failing);
	}
}

/* True while there are as many as n allocations. */
static bool try_without(struct trial *t)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	long before = failing_held();
	failing_start(t->n, t->lasting);
	int r = source_open(t->source, &t->in, &err);
	bool opened = succeeded(t, r, &err, true, NULL);
	if (opened)
		source_check(t, true);
	bool reached = failing_count() >= t->n;
	failing_start(0, false);
	if (opened) {
		source_check(t, false);
		source_close(t->source, &t->in);
	}
	check(t, failing_held() == before, "%ld blocks are left", failing_held() - before);
	return reached;
}

/* One n after the other, once and from there on; cancelled work stays so. */
static unsigned try_all(struct source *s, size_t only)
{
	size_t thinned = s->cancelled ? THINNED_QUESTIONS : THINNED;
	unsigned failures = 0;
	for (int lasting = s->cancelled; lasting < 2; lasting++) {
		struct trial t = {.source = s,
			.n = only ? only : 1,
			.lasting = lasting,
			.failures = &failures};
		while (try_without(&t) && !only)
			t.n += t.n <= s->n_opening ? 1 : 1 + t.n / thinned;
		printf("%s: %zu %s, %u failures\n", s->paths[0], t.n,
			s->cancelled ? "questions" : "allocations", failures);
	}
	return failures;
}

int main(int argc, char **argv)
{
	static struct source source;
	int first = 1;
	source.cancelled = argc > first && strcmp(argv[first], "--cancelled") == 0;
	first += source.cancelled;
	source.derives = argc > first && strcmp(argv[first], "--derive") == 0;
	first += source.derives;
	if (argc > first + 1 && strcmp(argv[first], "--metric") == 0) {
		source.metric = argv[first + 1];
		first += 2;
	}
	source.n_paths = argc > first && strcmp(argv[first], "--runs") == 0 ? 2 : 1;
	first += source.n_paths == 2;
	int rest = first + (int)source.n_paths;
	must(argc >= rest,
		"usage: test_memory [--cancelled] [--derive] [--metric M] SOURCE [N]\n"
		"       test_memory [--cancelled] --runs A B [N]");
	memcpy(source.paths, argv + first, source.n_paths * sizeof(*source.paths));
	source.most_dirs = source.n_paths == 2 ? MOST_OF_TWO : MOST_DIRS;
	static struct pm_work work;
	pm_work_enter(&work);
	failing_choose(source.cancelled);
	source_learn(&source);
	unsigned failures = try_all(&source, argc > rest ? strtoul(argv[rest], NULL, 10) : 0);
	source_done(&source);
	return failures > 0;
}
