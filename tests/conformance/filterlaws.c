/*
 * What the tables of filters say, compared with those of the whole: focus and ignore add up to it,
 * hide leaves it as it is, from has what focus has, and a filter that changes nothing changes
 * nothing.
 */
#include "filterlaws.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sheet.h"

enum { MOST_ROWS = 4000, KINDS = 4 };

struct checking {
	struct pmfs_instance *in;
	const char *source, *pattern;
	const char *where; /* the directory that the filters are in, with `/`; "" of the run */
	bool adds_up;      /* own costs are the inclusive costs at the top */
	unsigned n_failed;
};

static void fail(struct checking *c, const char *what, const char *column)
{
	if (c->n_failed++ < 20)
		fprintf(stderr, "%s: %sfilters by %s: %s: %s\n", c->source, c->where, c->pattern,
			what, column);
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);
	return n >= m && strcmp(name + n - m, end) == 0;
}

static bool near(double a, double b, double of)
{
	return a == b || fabs(a - b) <= 1e-9 * (fabs(of) + fabs(a) + fabs(b)) || isnan(a) ||
		isinf(a);
}

static bool read_in(struct checking *c, const char *kind, const char *file, struct sheet *ret)
{
	char path[1000];
	snprintf(path, sizeof(path), "%s%s/%s/%s", c->where, kind, c->pattern, file);
	return sheet_read(c->in, path, ret);
}

/* The column of the same name, or SHEET_NONE: a filter lacks what its contexts do not have. */
static double sum_of(const struct sheet *s, const char *column)
{
	int at = sheet_column(s, column);
	return at == SHEET_NONE ? 0 : sheet_sum(s, at);
}

static double sum_of_size(const struct sheet *s, int column)
{
	double sum = 0;
	for (size_t i = 0; i < s->n; i++)
		if (isfinite(sheet_at(s, i, column)->number))
			sum += fabs(sheet_at(s, i, column)->number);
	return sum;
}

static bool is_own(const struct sheet *s, int i)
{
	return ends_with(s->columns[i], "_excl") || strcmp(s->columns[i], "calls") == 0 ||
		strcmp(s->columns[i], "errors") == 0;
}

/* ---- functions ---- */

static bool same_text(const struct sheet *a, size_t i, const struct sheet *b, size_t k)
{
	static const char *const keys[] = {"name", "file", "module", "line"};
	for (size_t n = 0; n < sizeof(keys) / sizeof(*keys); n++) {
		const struct sheet_cell *x = sheet_at(a, i, sheet_column(a, keys[n]));
		const struct sheet_cell *y = sheet_at(b, k, sheet_column(b, keys[n]));
		if (x->is_empty != y->is_empty || x->number != y->number ||
			!pm_bytes_equal(x->text, y->text))
			return false;
	}
	return true;
}

static double number_in(
	const struct sheet *s, const struct sheet *whole, size_t row, const char *column)
{
	int at = sheet_column(s, column);
	double sum = 0;
	for (size_t i = 0; i < s->n && at != SHEET_NONE; i++)
		if (same_text(s, i, whole, row))
			sum += sheet_at(s, i, at)->number;
	return sum;
}

/* Of functions that are twice in the whole, the rows are added up. */
static void check_rows(struct checking *c, const struct sheet *whole, const struct sheet *focus,
	const struct sheet *ignore)
{
	for (size_t i = 0; i < whole->n && i < 60; i++)
		for (int k = 0; k < whole->n_columns; k++) {
			const char *column = whole->columns[k];
			if (!is_own(whole, k))
				continue;
			double all = number_in(whole, whole, i, column);
			double parts = number_in(focus, whole, i, column) +
				number_in(ignore, whole, i, column);
			if (!near(parts, all, sum_of_size(whole, k)))
				fail(c, "a function in focus and ignore is not that of the whole",
					column);
		}
}

static void check_functions(struct checking *c, const struct sheet *whole)
{
	static const char *const kinds[KINDS] = {"focus", "ignore", "hide", "from"};
	struct sheet of[KINDS];
	for (int i = 0; i < KINDS; i++)
		if (!read_in(c, kinds[i], "functions.csv", &of[i])) {
			fail(c, "there is no functions.csv", kinds[i]);
			while (i-- > 0)
				sheet_done(&of[i]);
			return;
		}
	for (int k = 0; k < whole->n_columns; k++) {
		const char *column = whole->columns[k];
		if (!is_own(whole, k) || strncmp(column, "statements", 10) == 0)
			continue;
		double all = sheet_sum(whole, k), size = sum_of_size(whole, k);
		if (!near(sum_of(&of[0], column) + sum_of(&of[1], column), all, size))
			fail(c, "focus and ignore are not the whole", column);
		if (ends_with(column, "_excl") && !near(sum_of(&of[2], column), all, size))
			fail(c, "hide changes the whole", column);
		if (!near(sum_of(&of[3], column), sum_of(&of[0], column), size))
			fail(c, "from is not focus", column);
	}
	check_rows(c, whole, &of[0], &of[1]);
	for (int i = 0; i < KINDS; i++)
		sheet_done(&of[i]);
}

/* ---- contexts ---- */

/*
 * hpcprof's scope lex_aware lacks values in databases of several threads
 * (docs/formats/hpctoolkit.md): those of a filter are computed.
 */
static bool is_apart(const struct sheet *s, int column)
{
	bool has_self = false;
	for (int i = 0; i < s->n_columns; i++)
		has_self |= ends_with(s->columns[i], "_self");
	return has_self && ends_with(s->columns[column], "_excl");
}

static void check_same(
	struct checking *c, const struct sheet *a, const struct sheet *b, const char *what)
{
	if (a->n != b->n || a->n_columns != b->n_columns) {
		fail(c, what, "rows or columns");
		return;
	}
	for (int k = 0; k < a->n_columns; k++) {
		double size = sum_of_size(a, k);
		for (size_t i = 0; i < a->n; i++) {
			const struct sheet_cell *x = sheet_at(a, i, k), *y = sheet_at(b, i, k);
			bool same = pm_bytes_equal(x->text, y->text) &&
				near(x->number, y->number, size / 1000);
			/* Rounding errors are left out, where they were costs. */
			same = same &&
				(x->is_empty == y->is_empty || near(x->number, y->number, size));
			if (!same && !is_apart(a, k)) {
				fail(c, what, a->columns[k]);
				break;
			}
		}
	}
}

/* The inclusive cost at the top that differs from the sum of own costs, or NULL. */
static const char *breach_at_top(const struct sheet *contexts, const struct sheet *functions)
{
	int depth = sheet_column(contexts, "depth");
	for (int k = 0; k < contexts->n_columns; k++) {
		const char *name = contexts->columns[k];
		char own[200];
		double top = 0;
		if (!ends_with(name, "_incl"))
			continue;
		snprintf(own, sizeof(own), "%.*s_excl", (int)strlen(name) - 5, name);
		for (size_t i = 0; i < contexts->n; i++)
			if (sheet_at(contexts, i, depth)->number == 0)
				top += sheet_at(contexts, i, k)->number;
		int at = sheet_column(functions, own);
		if (at != SHEET_NONE &&
			!near(top, sheet_sum(functions, at), sum_of_size(functions, at)))
			return name;
	}
	return NULL;
}

/* The inclusive costs at the top of from are the costs of focus. */
static void check_top(struct checking *c)
{
	struct sheet focus, from;
	if (!read_in(c, "focus", "functions.csv", &focus))
		return;
	if (read_in(c, "from", "contexts.csv", &from)) {
		const char *breach = breach_at_top(&from, &focus);
		if (breach)
			fail(c, "the top of from is not the cost of focus", breach);
		sheet_done(&from);
	}
	sheet_done(&focus);
}

static bool is_negative(const struct sheet *s, int column)
{
	double size = column == SHEET_NONE ? 0 : sum_of_size(s, column);
	for (size_t i = 0; column != SHEET_NONE && i < s->n; i++)
		if (sheet_at(s, i, column)->number < -1e-9 * size)
			return true;
	return false;
}

/* Costs that are moved are moved whole: nothing is taken where it is not. */
static void check_signs(struct checking *c)
{
	struct sheet whole, hidden;
	if (!sheet_read(c->in, "contexts.csv", &whole))
		return;
	if (read_in(c, "hide", "contexts.csv", &hidden)) {
		for (int k = 0; k < whole.n_columns; k++) {
			const char *column = whole.columns[k];
			bool own = ends_with(column, "_self") || ends_with(column, "_excl");
			if (own && !is_negative(&whole, k) &&
				is_negative(&hidden, sheet_column(&hidden, column)))
				fail(c, "hide has a negative cost", column);
		}
		sheet_done(&hidden);
	}
	sheet_done(&whole);
}

/* ---- threads ---- */

static void check_threads(struct checking *c)
{
	struct sheet whole, focus, ignore;
	if (!sheet_read(c->in, "threads.csv", &whole))
		return;
	bool has_focus = read_in(c, "focus", "threads.csv", &focus);
	bool has_ignore = read_in(c, "ignore", "threads.csv", &ignore);
	if (!has_focus || !has_ignore || focus.n != whole.n || ignore.n != whole.n)
		fail(c, "not as many threads", "threads.csv");
	else
		for (int k = 0; k < whole.n_columns; k++) {
			const char *name = whole.columns[k];
			int f = sheet_column(&focus, name), g = sheet_column(&ignore, name);
			bool adds = ends_with(name, "_incl") || strcmp(name, "calls") == 0 ||
				strcmp(name, "samples") == 0;
			for (size_t i = 0; adds && i < whole.n; i++) {
				double all = sheet_at(&whole, i, k)->number;
				double parts = f == SHEET_NONE ? 0 : sheet_at(&focus, i, f)->number;
				parts += g == SHEET_NONE ? 0 : sheet_at(&ignore, i, g)->number;
				if (!near(parts, all, sum_of_size(&whole, k)))
					fail(c, "a thread in focus and ignore is not that of the whole",
						name);
			}
		}
	if (has_focus)
		sheet_done(&focus);
	if (has_ignore)
		sheet_done(&ignore);
	sheet_done(&whole);
}

/* ---- windows ---- */

static void check_window_sums(struct checking *c)
{
	struct sheet window;
	if (!sheet_read(c->in, "windows/0-/functions.csv", &window))
		return;
	c->where = "windows/0-/";
	check_functions(c, &window);
	c->where = "";
	sheet_done(&window);
}

static void check_window(struct checking *c, const char *kind)
{
	char path[1000];
	struct sheet inside, outside;
	snprintf(path, sizeof(path), "windows/0-/%s/%s/functions.csv", kind, c->pattern);
	if (!sheet_read(c->in, path, &inside))
		return;
	if (read_in(c, kind, "windows/0-/functions.csv", &outside)) {
		check_same(
			c, &inside, &outside, "a window of a filter is not a filter of the window");
		sheet_done(&outside);
	} else {
		fail(c, "a filter has no windows", kind);
	}
	sheet_done(&inside);
}

/* ---- patterns ---- */

/* The name as a pattern that matches it alone; false if it is too long for one. */
static bool quote(struct pm_bytes name, char *ret, size_t room)
{
	size_t n = 0;
	for (size_t i = 0; i < name.len; i++) {
		char ch = (char)name.p[i];
		if (n + 5 > room || (unsigned char)ch < 0x20)
			return false;
		if (ch == '/') {
			memcpy(ret + n, "\xe2\x88\x95", 3);
			n += 3;
			continue;
		}
		if (strchr("\\*?[", ch))
			ret[n++] = '\\';
		ret[n++] = ch;
	}
	ret[n] = '\0';
	return n > 0;
}

static void check_pattern(struct checking *c, const struct sheet *functions, const char *pattern)
{
	c->pattern = pattern;
	check_functions(c, functions);
	check_top(c);
	check_signs(c);
	if (c->adds_up)
		check_threads(c);
	check_window_sums(c);
	check_window(c, "hide");
	check_window(c, "focus");
}

static void check_nothing(struct checking *c)
{
	static const char *const tables[] = {
		"contexts.csv", "functions.csv", "lines.csv", "callers.csv", "categories.csv"};
	bool statements = false;
	c->pattern = "no such function";
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct sheet whole, same;
		if (!sheet_read(c->in, tables[i], &whole))
			continue;
		for (int k = 0; k < whole.n_columns; k++)
			statements |= strcmp(whole.columns[k], "statements_ns") == 0;
		/* Of a statement profiler, lines and call edges are stored and not derived. */
		if (!statements && c->adds_up && read_in(c, "ignore", tables[i], &same)) {
			check_same(c, &whole, &same, tables[i]);
			sheet_done(&same);
		}
		sheet_done(&whole);
	}
}

unsigned check_filter_laws(struct pmfs_instance *in, const char *source)
{
	static const char *const patterns[] = {"*", "category:mpi", "kind:line", "module:lib*"};
	struct checking c = {.in = in, .source = source, .pattern = "*", .where = ""};
	struct sheet functions, contexts, probe;
	char pattern[200];
	if (!read_in(&c, "hide", "functions.csv", &probe))
		return 0; /* costs of call edges */
	sheet_done(&probe);
	if (!sheet_read(in, "functions.csv", &functions))
		return 0;
	if (sheet_read(in, "contexts.csv", &contexts)) {
		c.adds_up = !breach_at_top(&contexts, &functions);
		sheet_done(&contexts);
	}
	int name = sheet_column(&functions, "name");
	if (functions.n > 0 && functions.n <= MOST_ROWS && name != SHEET_NONE) {
		size_t rows[3] = {0, functions.n / 2, functions.n - 1};
		for (size_t i = 0; i < 3; i++)
			if ((i == 0 || rows[i] != rows[i - 1]) &&
				quote(sheet_at(&functions, rows[i], name)->text, pattern,
					sizeof(pattern)))
				check_pattern(&c, &functions, pattern);
		for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
			check_pattern(&c, &functions, patterns[i]);
		check_nothing(&c);
	}
	sheet_done(&functions);
	return c.n_failed;
}
