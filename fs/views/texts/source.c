/*
 * Source text with the cost of each line, followed by the functions it calls:
 * source/X.annotated.txt, and for one function functions/F/source.txt. Sources, lines and calls are
 * matched by file name.
 */
#include "fs/views/texts/source.h"

#include <math.h>
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/lines.h"
#include "fs/views/texts/sites.h"
#include "fs/views/texts/sources.h"

/* ---- rendering ---- */

/* Lines first … last of a source, with the columns that have a number there. */
struct annotated {
	const struct pmfs_lines *lines;
	uint32_t file; /* text of the tree, or PM_NONE: no line has a cost */
	uint32_t first, last;
	uint32_t at; /* in lines->by_place */
	bool *shown; /* by column */
	struct pmfs_sites sites;
	bool calls; /* lines of the file call something: there is a column for its cost */
};

enum { NUMBER_WIDTH = 15, LINE_WIDTH = 7 };

/* The next entry of by_place, if it belongs to this file and is at most `last`. */
static const struct pm_line *peek(const struct annotated *a, const double **ret_cells)
{
	const struct pmfs_lines *l = a->lines;
	if (a->file == PM_NONE || a->at >= l->n)
		return NULL;
	uint32_t row = l->by_place[a->at];
	*ret_cells = l->cells + (size_t)row * l->columns->n;
	const struct pm_line *line = &l->lines[row];
	return line->file == a->file && line->line <= a->last ? line : NULL;
}

static void choose_columns(struct annotated *a)
{
	const struct pm_line *line;
	const double *cells;
	uint32_t begin = a->file == PM_NONE ? 0 : pmfs_lines_find(a->lines, a->file, a->first);
	for (a->at = begin; (line = peek(a, &cells)) != NULL; a->at++)
		for (uint32_t i = 0; i < a->lines->columns->n; i++)
			a->shown[i] = a->shown[i] || cells[i] == cells[i];
	a->at = begin;
}

static void add_number(struct pm_text *out, double value)
{
	if (value != value)
		pm_text_printf(out, "%*s ", NUMBER_WIDTH, "");
	else if (value == floor(value) && fabs(value) < 1e15)
		pm_text_printf(out, "%*.0f ", NUMBER_WIDTH, value);
	else
		pm_text_printf(out, "%*.6g ", NUMBER_WIDTH, value);
}

static void add_header(const struct annotated *a, struct pm_text *out)
{
	for (uint32_t i = 0; i < a->lines->columns->n; i++)
		if (a->shown[i])
			pm_text_printf(
				out, "%*s ", NUMBER_WIDTH, a->lines->columns->columns[i].name);
	if (a->calls)
		pm_text_printf(out, "%*s ", NUMBER_WIDTH, "in_calls");
	pm_text_printf(out, "%*s  source\n", LINE_WIDTH, "line");
}

/* Where the text begins. */
static unsigned indent_of(const struct annotated *a)
{
	unsigned n = LINE_WIDTH + 2 + (NUMBER_WIDTH + 1) * a->calls;
	for (uint32_t i = 0; i < a->lines->columns->n; i++)
		n += (NUMBER_WIDTH + 1) * a->shown[i];
	return n;
}

/* Without control characters, except tabs. */
static void add_code(struct pm_bytes line, struct pm_text *out)
{
	for (size_t at = 0; at < line.len;) {
		const uint8_t *tab = memchr(line.p + at, '\t', line.len - at);
		size_t end = tab ? (size_t)(tab - line.p) : line.len;
		pm_text_shown(out, (struct pm_bytes){line.p + at, end - at});
		if (tab)
			pm_text_char(out, '\t');
		at = end + (tab != NULL);
	}
}

/* One line: its costs if it has any, its number, its text. */
static void add_line(
	struct annotated *a, uint32_t number, struct pm_bytes text, struct pm_text *out)
{
	const double *cells = NULL;
	const struct pm_line *line = peek(a, &cells);
	bool known = line && line->line == number;
	for (uint32_t i = 0; i < a->lines->columns->n; i++)
		if (a->shown[i])
			add_number(out, known ? cells[i] : NAN);
	a->at += known;
	if (a->calls)
		add_number(out, pmfs_sites_cost(&a->sites, number));
	pm_text_printf(out, "%*u  ", LINE_WIDTH, number);
	add_code(text, out);
	pm_text_char(out, '\n');
	if (a->calls || a->sites.n_evals > 0)
		pmfs_sites_add(&a->sites, number, indent_of(a), out);
}

/* Costs of lines that are not in the text (which is a different version) are shown at the end. */
static void add_text(struct annotated *a, struct pm_bytes text, struct pm_text *out)
{
	const struct pm_line *line;
	const double *cells;
	add_header(a, out);
	for (uint32_t number = 1; text.len > 0 && number <= a->last; number++) {
		struct pm_bytes next = pmfs_source_line(&text);
		if (number >= a->first)
			add_line(a, number, next, out);
	}
	while ((line = peek(a, &cells)) != NULL)
		add_line(a, line->line, (struct pm_bytes){NULL, 0}, out);
}

static int render_lines(struct pmfs_model *m, uint32_t source, uint32_t first, uint32_t last,
	struct pm_text *out, struct pm_error *err)
{
	struct annotated a = {.first = first, .last = last};
	const struct pmfs_sources *part;
	struct pmfs_source_text text;
	int r = pmfs_sources(m, &part, err);
	if (r < 0 || (r = pmfs_lines(m, &a.lines, err)) < 0)
		return r;
	a.file = part->file[source];
	a.shown = calloc((size_t)a.lines->columns->n + 1, sizeof(*a.shown));
	if (!a.shown)
		return pmfs_no_memory(err);
	const struct pmfs_lines_of range = {a.file, first, last};
	r = pmfs_sites_of(m, &range, &a.sites, err);
	a.calls = a.sites.n > 0;
	if (r >= 0)
		r = pmfs_source_text_open(m, &part->sources[source], &text, err);
	if (r >= 0) {
		choose_columns(&a);
		add_text(&a, text.bytes, out);
		r = pm_text_status(out);
		pmfs_source_text_done(&text);
	}
	pmfs_sites_done(&a.sites);
	free(a.shown);
	return r;
}

static int render_source(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	const struct pmfs_sources *part;
	int r = pmfs_sources(m, &part, err);
	if (r < 0)
		return r;
	const struct pm_source *source = (const struct pm_source *)(uintptr_t)doc->text.a;
	return render_lines(m, (uint32_t)(source - part->sources), 1, UINT32_MAX, out, err);
}

int pmfs_source_annotated(struct pmfs_model *m, const struct pm_source *source, struct pm_doc *ret,
	struct pm_error *err)
{
	(void)err;
	*ret = pmfs_doc_of_text(m, (uintptr_t)source, render_source);
	return 0;
}

/* ---- source.txt of a function ---- */

/* The source that a function is in, or PM_NONE. */
static int source_of_function(struct pmfs_model *m, uint32_t row, uint32_t *ret,
	const struct pmfs_function **ret_function, struct pm_error *err)
{
	const struct pmfs_functions *f;
	const struct pmfs_sources *part;
	int r = pmfs_functions(m, &f, err);
	if (r < 0 || (r = pmfs_sources(m, &part, err)) < 0)
		return r;
	const struct pmfs_function *function = pmfs_function_at(f, row);
	const uint32_t *source = pm_map_find(&part->of_file, function->file);
	*ret = source && function->line > 0 ? *source : PM_NONE;
	*ret_function = function;
	return 0;
}

/* A function ends before the next one of its file begins. */
static uint32_t last_line(const struct pm_tree *tree, const struct pmfs_function *function)
{
	uint32_t next = UINT32_MAX;
	for (uint32_t i = 0; i < tree->n_functions; i++) {
		const struct pm_function *other = &tree->functions[i];
		if (other->file == function->file && other->line > function->line &&
			other->line < next)
			next = other->line;
	}
	return next == UINT32_MAX ? next : next - 1;
}

int pmfs_function_source_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	const struct pmfs_function *function;
	const struct pm_tree *tree;
	uint32_t source;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0 ||
		(r = source_of_function(m, (uint32_t)doc->text.a, &source, &function, err)) < 0)
		return r;
	if (source == PM_NONE)
		return pm_error_set(err, -ENODATA, NULL, PM_NO_OFFSET, "no source text");
	return render_lines(m, source, function->line, last_line(tree, function), out, err);
}

int pmfs_has_source(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pmfs_function *function;
	uint32_t source;
	if (!p->ops->sources || !p->has_lines)
		return 0;
	int r = source_of_function(m, item, &source, &function, NULL);
	return r == -ENOMEM ? pmfs_no_memory(err) : r == 0 && source != PM_NONE;
}
