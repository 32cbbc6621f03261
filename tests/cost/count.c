/*
 * What a source costs:
 *
 *     count SOURCE [PATH…]
 *
 * A folder that is no source itself is one of runs, whose comparisons are counted, too. It
 * prints lines `WORK OWN PEAK UNASKED WHAT`: of opening, of --check, and of each document and
 * directory that is asked for, the root's and those of its folders where none is. OWN are the bytes
 * of the document itself or of the names listed; a negative one is an error's number. UNASKED is
 * the most work in which nobody asked whether it is still wanted, and `@` where that was (an
 * address for addr2line; 0: it was little).
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fs/instance.h"
#include "fs/runs/ensemble.h"
#include "profmount/format.h"
#include "tests/cost/counted.h"

static uint64_t before;

/* ld --wrap */
bool __real_pm_work_cancelled(void);
bool __wrap_pm_work_cancelled(void);

bool __wrap_pm_work_cancelled(void)
{
	counted_asked();
	return __real_pm_work_cancelled();
}

static void print(long long own, const char *what)
{
	uint64_t now = counted_work(), where, unasked = counted_unasked(&where);
	printf("%llu %lld %llu %llu@%llx %s\n", (unsigned long long)(now - before), own,
		(unsigned long long)counted_peak_bytes(), (unsigned long long)unasked,
		(unsigned long long)where, what);
	fflush(stdout);
	before = counted_work();
}

static long long read_whole(struct pmfs_instance *in, pm_node node)
{
	enum { WINDOW = 128 << 10 };
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_doc doc;
	uint64_t size, at = 0;
	int r = pmfs_tree_document(in->tree, node, &doc, &err);
	if (r == 0)
		r = pmfs_engine_size(in->engine, node, &doc, &size, &err);
	while (r == 0 && at < size) {
		struct pmfs_piece piece;
		r = pmfs_engine_read(in->engine, node, &doc, at, WINDOW, &piece, &err);
		if (r < 0 || piece.len == 0)
			break;
		at += piece.len;
		pmfs_engine_release(in->engine, &piece);
	}
	return r < 0 ? r : (long long)at;
}

static long long list(struct pmfs_instance *in, pm_node dir)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	uint64_t cookie = 0;
	long long own = 0;
	int r;
	while ((r = pmfs_tree_next(in->tree, dir, &cookie, &entry, &err)) > 0) {
		own += entry.len;
		counted_asked(); /* a mount asks for a page of them at a time */
	}
	return r < 0 ? r : own;
}

static void count(struct pmfs_instance *in, const char *path)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	int r = pmfs_tree_walk(in->tree, path, &entry, &err);
	if (r < 0)
		print(r, path);
	else
		print(entry.type == PMFS_DIRECTORY ? list(in, entry.node)
						   : read_whole(in, entry.node),
			path);
}

/* The Parquet file of a table, which is found by name alone. */
static void count_parquet(struct pmfs_instance *in, const char *table)
{
	char path[4096];
	size_t stem = strlen(table) - strlen(".csv");
	snprintf(path, sizeof(path), "%.*s.parquet", (int)stem, table);
	count(in, path);
}

static bool is_table(const char *path)
{
	size_t len = strlen(path);
	return len > strlen(".csv") && strcmp(path + len - strlen(".csv"), ".csv") == 0;
}

/* What stands in a folder; folders in it, to a depth. */
static void count_below(struct pmfs_instance *in, const char *folder, unsigned depth)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry, dir;
	uint64_t cookie = 0;
	enum { FEW = 40 };
	unsigned n = 0;
	if (pmfs_tree_walk(in->tree, folder, &dir, &err) < 0)
		return;
	while (n++ < FEW && pmfs_tree_next(in->tree, dir.node, &cookie, &entry, &err) > 0) {
		char path[4096];
		int len = snprintf(path, sizeof(path), "%s%s%.*s", folder, *folder ? "/" : "",
			(int)entry.len, entry.name);
		if (len < 0 || (size_t)len >= sizeof(path))
			continue;
		count(in, path);
		if (entry.type == PMFS_FILE && is_table(path))
			count_parquet(in, path);
		if (entry.len == strlen("exceptions.csv") &&
			memcmp(entry.name, "exceptions.csv", entry.len) == 0) { /* not listed */
			snprintf(path + len - entry.len, sizeof("spans.csv"), "spans.csv");
			count(in, path);
			count_parquet(in, path);
		}
		if (entry.type == PMFS_DIRECTORY && depth > 0)
			count_below(in, path, depth - 1);
	}
}

/* The window of the whole run, to whose name `-` is a link. */
static void count_whole_window(struct pmfs_instance *in)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry link;
	struct pmfs_piece piece;
	struct pm_doc doc;
	char path[256];
	if (pmfs_tree_walk(in->tree, "windows/-", &link, &err) < 0 ||
		pmfs_tree_document(in->tree, link.node, &doc, &err) < 0 ||
		pmfs_engine_read(in->engine, link.node, &doc, 0, sizeof(path), &piece, &err) < 0)
		return;
	snprintf(path, sizeof(path), "windows/%.*s", (int)piece.len, (const char *)piece.p);
	pmfs_engine_release(in->engine, &piece);
	count_below(in, path, 0);
}

/*
 * The documents of the first function, with the lengths of its calls, and those of -o iterations
 * with its name, where its directory has the same.
 */
static void count_function(struct pmfs_instance *in)
{
	static char name[PMFS_NAME_SIZE];
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry dir, entry;
	uint64_t cookie = 0;
	char path[512];
	if (pmfs_tree_walk(in->tree, "functions", &dir, &err) < 0 ||
		pmfs_tree_next(in->tree, dir.node, &cookie, &entry, &err) <= 0)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)entry.len, entry.name);
	snprintf(path, sizeof(path), "functions/%s", name);
	count_below(in, path, 0);
	pmfs_model_set_iterations(in->model, name);
	count(in, "iterations.csv");
	count(in, "iterations.svg");
}

/* The data of report.html, which is found by name alone. */
static void count_report(struct pmfs_instance *in)
{
	static const char *const names[] = {"start", "functions-0-0", "functions-0-1", "function-0",
		"function-1", "up-0-0", "up-1-1", "categories", "hot-0", "path-1",
		"functioncosts-0-0", "stack-1-0", "sandwich-0-0", "sandwich-1-0", "children-0-0",
		"children-1-0", "flame-0-0", "flame-1-1", "flame-900-0", "threadflame-0-0",
		"threadfunctions-0-0", "threads-0", "costs-0-0", "costs-1-0", "time-1-0-63",
		"time-1-0-3", "time-5-0-40", "sources", "source-1", "table-5-0", "table-6-0",
		"table-64-0", "plot-0"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[64];
		snprintf(path, sizeof(path), "report/%s.js", names[i]);
		count(in, path);
	}
}

static int open_source(struct pmfs_instance *in, const char *path, struct pm_error *err)
{
	struct pmfs_ensemble_options options = {.shelf.cache_bytes = PMFS_CACHE_DEFAULT};
	struct pm_profile *p;
	if (pm_profile_probe(path, NULL) > 0)
		return pmfs_instance_open(in, path, NULL, PMFS_CACHE_DEFAULT, NULL, err);
	int r = pmfs_ensemble_open(&path, &path, 1, &options, &p, err);
	return r < 0 ? r
		     : pmfs_instance_of(in, p, pm_cache_new(PMFS_CACHE_DEFAULT), PM_SHAPE_ENSEMBLE,
			       NULL, err);
}

int main(int argc, char **argv)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	const struct pm_damages *damages;
	struct pmfs_instance in;
	char line[900];
	if (argc < 2) {
		fprintf(stderr, "usage: count SOURCE [PATH…]\n");
		return 2;
	}
	before = counted_work();
	int r = open_source(&in, argv[1], &err);
	print(r, "(open)");
	if (r < 0) {
		fprintf(stderr, "%s\n", pm_error_line(&err, line, sizeof(line)));
		return 0;
	}
	r = pm_profile_damage(in.profile, &damages, &err);
	print(r, "(check)");
	for (int i = 2; i < argc; i++)
		count(&in, argv[i]);
	if (argc == 2) {
		count_below(&in, "", 1);
		count_below(&in, "compare", 1);
		count_function(&in);
		count_whole_window(&in);
		count_report(&in);
	}
	pmfs_instance_close(&in);
	return 0;
}
