/*
 * Everything adds up: own costs of each table to the whole, the edges to a function to its
 * inclusive cost, exports to the whole in their unit; and no two rows are the same thing. Where a
 * source contradicts itself, the summary has to say so.
 */
#include "laws.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/map.h"
#include "fs/views/model/model.h"
#include "sheet.h"

/* One metric with columns: what it costs as a whole, by contexts.csv. */
struct quantity {
	const char *own, *incl; /* columns, or NULL */
	double whole;
	double own_sum; /* of contexts.csv */
	bool apart;     /* measured by something else than contexts: statements */
	bool decreases; /* some own costs are negative: exports show the increases */
};

struct laws {
	struct pmfs_instance *in;
	const char *source;
	struct sheet contexts, functions;
	struct quantity *quantities;
	unsigned n_quantities, n_failed;
	bool nested;  /* exclusive costs of contexts hold those of lines below them */
	bool excused; /* the summary says that something is unaccounted for, or rows are damaged */
};

static void fail(struct laws *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fail(struct laws *w, const char *format, ...)
{
	va_list args;
	w->n_failed++;
	if (w->n_failed > 20)
		return;
	fprintf(stderr, "%s: ", w->source);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static bool is_near(double a, double b, double slack)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + slack;
}

/* Of `n` values added up: doubles in another order, or whole nanoseconds rounded one by one. */
static double slack_of(const char *column, double whole, size_t n)
{
	return 1e-12 * fabs(whole) + (strstr(column, "_ns_") ? (double)n : 0);
}

/* ---- the whole ---- */

static double sum_of_tops(const struct sheet *contexts, int column)
{
	int depth = sheet_column(contexts, "depth");
	double sum = 0;
	for (size_t i = 0; i < contexts->n; i++)
		if (sheet_at(contexts, i, depth)->number == 0)
			sum += sheet_at(contexts, i, column)->number;
	return sum;
}

static void measure(struct laws *w, const struct pmfs_columns *c)
{
	w->quantities = calloc((size_t)c->n + 1, sizeof(*w->quantities));
	for (uint32_t i = 0; w->quantities && i < c->n_shown; i++) {
		const struct pmfs_column *column = &c->columns[i];
		struct quantity q = {.own = column->name};
		if (column->role == PM_ROLE_INCLUSIVE && column->pair != PM_NONE)
			continue;
		if (column->pair != PM_NONE)
			q.incl = c->columns[column->pair].name;
		if (column->role == PM_ROLE_INCLUSIVE)
			q = (struct quantity){.incl = column->name};
		if (q.own)
			q.own_sum = sheet_sum(&w->contexts, sheet_column(&w->contexts, q.own));
		for (size_t k = 0; q.own && k < w->contexts.n; k++)
			q.decreases |= sheet_at(&w->contexts, k, sheet_column(&w->contexts, q.own))
					       ->number < 0;
		q.whole = q.own_sum;
		if (q.incl && !w->in->profile->inclusive_overlaps)
			q.whole = sum_of_tops(&w->contexts, sheet_column(&w->contexts, q.incl));
		q.apart = q.own && sheet_is_empty(&w->contexts, sheet_column(&w->contexts, q.own));
		w->quantities[w->n_quantities++] = q;
	}
}

/* ---- tables ---- */

static void check_sums(struct laws *w, const char *name)
{
	struct sheet s;
	if (!sheet_read(w->in, name, &s))
		return;
	for (unsigned i = 0; i < w->n_quantities; i++) {
		const struct quantity *q = &w->quantities[i];
		int column = q->own ? sheet_column(&s, q->own) : SHEET_NONE;
		if (column == SHEET_NONE || q->apart || (w->nested && !q->incl))
			continue;
		double sum = sheet_sum(&s, column);
		if (!is_near(sum, q->whole, slack_of(q->own, q->whole, s.n)) && !w->excused)
			fail(w, "%s: %s adds up to %.15g, the whole is %.15g", name, q->own, sum,
				q->whole);
	}
	sheet_done(&s);
}

/* Each cost of the run is on one thread, if the source knows of threads. */
static void check_threads(struct laws *w)
{
	struct sheet s;
	if (!sheet_read(w->in, "threads.csv", &s))
		return;
	for (unsigned i = 0; i < w->n_quantities; i++) {
		const struct quantity *q = &w->quantities[i];
		const char *const names[] = {q->own, q->incl};
		for (unsigned k = 0; k < 2; k++) {
			int column = names[k] ? sheet_column(&s, names[k]) : SHEET_NONE;
			double sum = column == SHEET_NONE ? q->whole : sheet_sum(&s, column);
			double slack = names[k] ? slack_of(names[k], q->whole, w->contexts.n) : 0;
			if (s.n > 0 && !q->apart && !is_near(sum, q->whole, slack) && !w->excused)
				fail(w, "threads.csv: %s adds up to %.15g, the whole is %.15g",
					names[k], sum, q->whole);
		}
	}
	sheet_done(&s);
}

/* Costs without all that is below a context are in no other context. */
static void check_self(struct laws *w)
{
	struct sheet functions;
	if (!sheet_read(w->in, "functions.csv", &functions))
		return;
	for (unsigned i = 0; i < w->n_quantities; i++) {
		const struct quantity *q = &w->quantities[i];
		char name[1024];
		size_t stem = q->own && strlen(q->own) > 5 ? strlen(q->own) - strlen("_excl") : 0;
		snprintf(name, sizeof(name), "%.*s_self", (int)stem, q->own ? q->own : "");
		int column = sheet_column(&w->contexts, name);
		if (column == SHEET_NONE || q->apart)
			continue;
		/* Where functions have less than the whole, so may contexts. */
		double slack = slack_of(name, q->whole, w->contexts.n);
		double flat = sheet_sum(&functions, sheet_column(&functions, q->own));
		if (w->excused && !is_near(flat, q->whole, slack))
			continue;
		double sum = sheet_sum(&w->contexts, column);
		if (!is_near(sum, q->whole, slack))
			fail(w, "contexts.csv: %s adds up to %.15g, the whole is %.15g", name, sum,
				q->whole);
	}
	sheet_done(&functions);
}

/* A rank in ranks.csv: the sums of its threads. */
static void check_rank(
	struct laws *w, const struct sheet *ranks, size_t row, const struct sheet *threads)
{
	int of = sheet_column(threads, "rank");
	double rank = sheet_at(ranks, row, 0)->number;
	for (int k = 1; k < ranks->n_columns && of != SHEET_NONE; k++) {
		int column = k == 1 ? of : sheet_column(threads, ranks->columns[k]);
		double sum = 0;
		for (size_t i = 0; column != SHEET_NONE && i < threads->n; i++)
			if (!sheet_at(threads, i, of)->is_empty &&
				sheet_at(threads, i, of)->number == rank)
				sum += k == 1 ? 1 : sheet_at(threads, i, column)->number;
		double is = sheet_at(ranks, row, k)->number;
		if (!is_near(is, sum, slack_of(ranks->columns[k], sum, threads->n)))
			fail(w, "ranks.csv: %s of rank %.0f is %.15g, that of its threads %.15g",
				ranks->columns[k], rank, is, sum);
	}
}

/* Rows of a thread in threads-by-category.csv, which come one after the other, have its own costs.
 */
static void check_thread_categories(
	struct laws *w, const struct sheet *parts, const struct sheet *threads, const char *name)
{
	int of = sheet_column(parts, name), whole = sheet_column(threads, name);
	for (size_t i = 0, k = 0; i < threads->n; i++) {
		double sum = 0, id = sheet_at(threads, i, 0)->number;
		size_t first = k;
		for (; k < parts->n && sheet_at(parts, k, 0)->number == id; k++)
			sum += sheet_at(parts, k, of)->number;
		double is = sheet_at(threads, i, whole)->number;
		if (!is_near(sum, is, slack_of(name, is, k - first + w->contexts.n)))
			fail(w, "threads-by-category.csv: %s of thread %.0f is %.15g, not %.15g",
				name, id, sum, is);
		if (i + 1 == threads->n && k < parts->n)
			fail(w, "threads-by-category.csv: %zu rows of no thread", parts->n - k);
	}
}

static void check_ranks(struct laws *w)
{
	struct sheet ranks, threads;
	if (!sheet_read(w->in, "ranks.csv", &ranks))
		return;
	if (sheet_read(w->in, "threads.csv", &threads)) {
		for (size_t i = 0; i < ranks.n; i++)
			check_rank(w, &ranks, i, &threads);
		sheet_done(&threads);
	}
	sheet_done(&ranks);
}

static void check_threads_by_category(struct laws *w)
{
	struct sheet parts, threads;
	if (!sheet_read(w->in, "threads-by-category.csv", &parts))
		return;
	if (sheet_read(w->in, "threads.csv", &threads)) {
		for (int k = 1; k < parts.n_columns; k++) {
			const char *name = parts.columns[k];
			size_t len = strlen(name);
			if (len > 5 && strcmp(name + len - 5, "_excl") == 0)
				check_thread_categories(w, &parts, &threads, name);
		}
		sheet_done(&threads);
	}
	sheet_done(&parts);
}

/* Rows that are alike in all of these columns. */
static void check_unique(struct laws *w, const char *name, const char *const *columns)
{
	struct sheet s;
	struct pm_arena arena = {.block = NULL};
	struct pm_strtab seen = {.arena = &arena};
	char key[8192];
	if (!sheet_read(w->in, name, &s))
		return;
	for (size_t i = 0; i < s.n; i++) {
		size_t len = 0;
		for (unsigned k = 0; columns[k]; k++) {
			int column = sheet_column(&s, columns[k]);
			if (column == SHEET_NONE)
				continue;
			const struct sheet_cell *cell = sheet_at(&s, i, column);
			struct pm_bytes t = cell->text;
			int n = snprintf(key + len, sizeof(key) - len, "%d%.17g|%zu|%.*s|",
				cell->is_empty, cell->number, t.len,
				(int)(t.len < 1500 ? t.len : 1500), t.len ? (const char *)t.p : "");
			len += n > 0 && (size_t)n < sizeof(key) - len ? (size_t)n : 0;
		}
		uint32_t before = seen.n;
		if (pm_strtab_add(&seen, (struct pm_bytes){(uint8_t *)key, len}) != before)
			fail(w, "%s: row %zu is as one before: %.*s", name, i + 1, (int)len, key);
	}
	pm_strtab_done(&seen);
	pm_arena_done(&arena);
	sheet_done(&s);
}

/* A function's inclusive cost is that of the edges to it. */
static void check_edges_of(struct laws *w, const struct sheet *callers, const struct pm_map *rows,
	const struct quantity *q)
{
	const char *column = q->incl;
	int of_function = sheet_column(&w->functions, column),
	    of_edge = sheet_column(callers, column);
	int callee = sheet_column(callers, "callee_id");
	double *sums = calloc(w->functions.n + 1, sizeof(*sums));
	for (size_t i = 0; sums && of_edge != SHEET_NONE && i < callers->n; i++) {
		const uint32_t *row =
			pm_map_find(rows, (uint64_t)sheet_at(callers, i, callee)->number);
		if (!row)
			fail(w, "callers.csv: row %zu: no such callee", i + 1);
		else
			sums[*row] += sheet_at(callers, i, of_edge)->number;
	}
	for (size_t i = 0; sums && of_edge != SHEET_NONE && i < w->functions.n; i++) {
		double want = sheet_at(&w->functions, i, of_function)->number;
		if (!is_near(sums[i], want, slack_of(column, q->whole, 1)) && !w->excused)
			fail(w, "callers.csv: %s to function row %zu: %.15g, functions.csv: %.15g",
				column, i + 1, sums[i], want);
	}
	free(sums);
}

static void check_callers(struct laws *w)
{
	struct sheet callers;
	struct pm_map rows = {.n = 0};
	bool fresh;
	int id = sheet_column(&w->functions, "function_id");
	if (pm_profile_has(w->in->profile, flat) || !sheet_read(w->in, "callers.csv", &callers))
		return;
	for (size_t i = 0; i < w->functions.n; i++) {
		uint64_t number = (uint64_t)sheet_at(&w->functions, i, id)->number;
		pm_map_put(&rows, number, (uint32_t)i, &fresh);
		if (!fresh)
			fail(w, "functions.csv: two functions have the number %llu",
				(unsigned long long)number);
	}
	for (unsigned i = 0; i < w->n_quantities; i++)
		if (w->quantities[i].incl)
			check_edges_of(w, &callers, &rows, &w->quantities[i]);
	pm_map_done(&rows);
	sheet_done(&callers);
}

/* ---- exports ---- */

static double sum_of_folded(const char *text)
{
	double sum = 0;
	for (const char *line = text; *line;) {
		const char *end = strchrnul(line, '\n'), *space = end;
		while (space > line && *space != ' ')
			space--;
		sum += strtod(space, NULL);
		line = *end ? end + 1 : end;
	}
	return sum;
}

/* The export of a quantity: there where it costs anything, and as much as that. */
static void check_folded(
	struct laws *w, pm_node dir, const struct pmfs_column *c, const struct quantity *q)
{
	double whole = q->whole;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	char name[512];
	size_t len;
	snprintf(name, sizeof(name), "%.400s.collapsedstack.txt", c->export);
	int r = pmfs_tree_lookup(w->in->tree, dir, pm_bytes_of(name), &entry, &err);
	if ((r == 0) != (whole != 0) && !q->decreases) {
		fail(w, "export/%s: %s, the whole is %.15g", name, r == 0 ? "there" : "absent",
			whole);
		return;
	}
	char *text = r == 0 ? sheet_text(w->in, entry.node, &len) : NULL;
	double units = whole * c->export_scale;
	if (text && q->decreases && sum_of_folded(text) < units)
		fail(w, "export/%s: %.15g, less than the whole %.15g", name, sum_of_folded(text),
			units);
	else if (text && !q->decreases && whole > 0 && units < 0x1p62 && !w->excused &&
		!is_near(sum_of_folded(text), units, (double)w->contexts.n + 1))
		fail(w, "export/%s: %.15g, the whole is %.15g", name, sum_of_folded(text), units);
	free(text);
}

static void check_exports(struct laws *w, const struct pmfs_columns *c)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry dir;
	if (pmfs_tree_lookup(w->in->tree, PMFS_NODE_ROOT, pm_bytes_of("export"), &dir, &err) < 0)
		return;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct pmfs_column *column = &c->columns[i];
		const char *own = column->pair != PM_NONE && column->role == PM_ROLE_INCLUSIVE
			? c->columns[column->pair].name
			: column->name;
		if (!pmfs_column_is_first(column))
			continue;
		for (unsigned k = 0; k < w->n_quantities; k++) {
			const struct quantity *q = &w->quantities[k];
			if (strcmp(q->own ? q->own : q->incl, own) == 0 && (!w->nested || q->incl))
				check_folded(w, dir.node, column, q);
		}
	}
}

/* ---- all of them ---- */

/* What the summary says, or damage, may be why sums are not the whole. */
static bool is_excused(struct laws *w)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	const struct pm_damages *damages;
	struct pmfs_entry entry;
	size_t len;
	if (pmfs_tree_lookup(
		    w->in->tree, PMFS_NODE_ROOT, pm_bytes_of("summary.txt"), &entry, &err) < 0)
		return true;
	char *text = sheet_text(w->in, entry.node, &len);
	const char *said = text ? strstr(text, "unaccounted") : NULL;
	bool tops = said && strstr(said, ": inclusive costs of top-level contexts");
	bool excused = !text || (said && !tops);
	free(text);
	const struct pm_profile *p = w->in->profile;
	return excused || pm_profile_damage(p, &damages, &err) < 0;
}

/* Texts for people fit into a terminal. A command is a line; the second one of README.txt is the
 * source's path. */
static void check_texts(struct laws *w)
{
	enum { MOST_COLUMNS = 100 };
	static const char *const names[] = {"README.txt", "recipes.txt", "windows/README.txt"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct pm_error err = {.offset = PM_NO_OFFSET};
		struct pmfs_entry entry;
		size_t len;
		int r = pmfs_tree_walk(w->in->tree, names[i], &entry, &err);
		if (r == -ENOENT && i == 2)
			continue; /* no traces */
		if (r < 0) {
			fail(w, "%s: %s", names[i], err.text);
			continue;
		}
		char *text = sheet_text(w->in, entry.node, &len);
		unsigned line = 1;
		for (char *at = text; at && *at; line++) {
			size_t bytes = strcspn(at, "\n"), columns = 0;
			for (size_t k = 0; k < bytes; k++)
				columns += (at[k] & 0xc0) != 0x80;
			if (columns > MOST_COLUMNS && *at != '$' && (i > 0 || line != 2))
				fail(w, "%s: line %u has %zu columns", names[i], line, columns);
			at += bytes + (at[bytes] == '\n');
		}
		free(text);
	}
}

static void check_all(struct laws *w, const struct pmfs_columns *c)
{
	static const char *const function[] = {"name", "file", "line", "module", NULL};
	static const char *const edge[] = {"caller_id", "callee_id", "file", "line", NULL};
	static const char *const own[] = {
		"functions.csv", "modules.csv", "files.csv", "categories.csv"};
	w->nested = strcmp(w->in->profile->format, "hpctoolkit") == 0;
	w->excused = is_excused(w);
	measure(w, c);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		check_sums(w, own[i]);
	if (!pm_profile_has(w->in->profile, flat))
		check_sums(w, "lines.csv");
	check_threads(w);
	check_self(w);
	check_ranks(w);
	check_threads_by_category(w);
	check_unique(w, "functions.csv", function);
	check_unique(w, "lines.csv", function);
	check_unique(w, "callers.csv", edge);
	check_callers(w);
	check_exports(w, c);
	check_texts(w);
	free(w->quantities);
}

unsigned check_laws(struct pmfs_instance *in, const char *source)
{
	struct laws w = {.in = in, .source = source};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	const struct pmfs_columns *c;
	if (pmfs_model_columns(in->model, &c, &err) < 0 ||
		!sheet_read(in, "contexts.csv", &w.contexts))
		return 0; /* a tree that cannot be read: its documents say why */
	if (sheet_read(in, "functions.csv", &w.functions)) {
		check_all(&w, c);
		sheet_done(&w.functions);
	} else {
		fail(&w, "functions.csv cannot be read, contexts.csv can");
	}
	sheet_done(&w.contexts);
	return w.n_failed;
}
