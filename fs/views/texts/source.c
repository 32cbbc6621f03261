/*
 * Source text with the cost of each line, followed by the functions it calls:
 * source/X.annotated.txt, and for one function functions/F/source.txt. Sources, lines and calls
 * are matched by file name.
 */
#include "fs/views/texts/source.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "formats/common/beneath.h"
#include "formats/common/input.h"
#include "formats/common/map.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"
#include "fs/views/model/views.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/lines.h"

/* ---- which file is which source ---- */

/* The profile's sources, and the texts of the tree that are their file names. */
struct sources {
	const struct pm_source *sources;
	uint32_t n;
	uint32_t *file;        /* source → text of the tree, or PM_NONE */
	struct pm_map of_file; /* text → source */
};

/* If several sources have the same name (evals of one place), costs are shown in each of them. */
static void match_files(struct pm_arena *scratch, struct sources *part, const struct pm_tree *tree)
{
	struct pm_strtab names = pm_strtab_in(scratch);
	bool fresh;
	uint32_t *name_of = pm_arena_array(scratch, part->n, sizeof(*name_of));
	uint32_t *first = pm_arena_array(scratch, part->n, sizeof(*first)); /* source of a name */
	for (uint32_t i = 0; i < part->n; i++) {
		uint32_t before = names.n;
		name_of[i] = pm_strtab_add(&names, part->sources[i].file);
		part->file[i] = PM_NONE;
		if (name_of[i] == before)
			first[before] = i;
	}
	for (uint32_t i = 1; i < tree->n_texts; i++) {
		uint32_t name = pm_strtab_find(&names, tree->texts[i]);
		if (name == PM_NONE)
			continue;
		part->file[first[name]] = i;
		pm_map_put(&part->of_file, i, first[name], &fresh);
	}
	for (uint32_t i = 0; i < part->n; i++)
		part->file[i] = part->file[first[name_of[i]]];
}

static void sources_build(struct pm_arena *a, void *owner, void *p, struct pm_error *err)
{
	struct sources *part = p;
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct pm_tree *tree;
	size_t n = 0;
	pm_build_check(a, pmfs_model_tree(owner, &tree, err));
	pm_build_check(a, pm_profile_sources(pmfs_model_profile(owner), &part->sources, &n, err));
	part->n = n < PM_NONE ? (uint32_t)n : PM_NONE - 1;
	part->file = pm_arena_array(a, part->n, sizeof(*part->file));
	part->of_file.arena = a;
	match_files(scratch, part, tree);
	pm_arena_done(scratch);
}

static int get_sources(struct pmfs_model *m, const struct sources **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct sources), .what = "the sources", .build = sources_build};
	return pmfs_model_part(m, PMFS_PART_SOURCES, &type, ret, err);
}

/* ---- the text of a source ---- */

static void end_input(void *input)
{
	pm_input_close(input);
}

/* Opens the text of one of the sources, which the arena then has. */
static struct pm_bytes open_text(struct pm_arena *a, struct pmfs_model *m,
	const struct pm_source *source, struct pm_error *err)
{
	const struct pm_doc *doc = &source->doc;
	struct pm_text *text = pmfs_text_apart(a);                  /* if the format composes it */
	struct pm_input *input = pm_arena_alloc(a, sizeof(*input)); /* if it is a file */
	uint64_t size;
	int fd;
	switch (doc->kind) {
	case PM_DOC_BYTES: return doc->bytes;
	case PM_DOC_TEXT:
		pm_build_check(a, doc->text.render(doc, text, err));
		pm_build_check(a, pm_text_status(text));
		return pm_text_view(text);
	case PM_DOC_FILE:
		pm_arena_owns(a, end_input, input);
		pm_build_check(a,
			pm_open_unchanged(doc->file.folder, doc->file.path,
				pmfs_model_profile(m)->opened_ns, &fd, &size, err));
		pm_build_check(a, pm_input_take(input, fd, source->path, err));
		return input->bytes;
	case PM_DOC_CSV:
	case PM_DOC_TSV:
	case PM_DOC_PARQUET:
	case PM_DOC_LINK: break;
	}
	pm_build_fail(a, pm_error_set(err, -EIO, source->path, PM_NO_OFFSET, "is no source text"));
}

struct pm_bytes pmfs_source_line(struct pm_bytes *text)
{
	const uint8_t *lf = memchr(text->p, '\n', text->len);
	struct pm_bytes line = {text->p, lf ? (size_t)(lf - text->p) : text->len};
	size_t used = line.len + (lf != NULL);
	*text = (struct pm_bytes){text->p + used, text->len - used};
	if (line.len > 0 && line.p[line.len - 1] == '\r')
		line.len--;
	return line;
}

int pmfs_source_is_there(struct pmfs_model *m, uint32_t file, struct pm_error *err)
{
	const struct sources *part;
	int r = get_sources(m, &part, err);
	return r < 0 ? r : pm_map_find(&part->of_file, file) != NULL;
}

bool pmfs_source_open(struct pm_arena *a, struct pmfs_model *m, uint32_t file, struct pm_bytes *ret,
	struct pm_error *err)
{
	const struct sources *part;
	pm_build_check(a, get_sources(m, &part, err));
	const uint32_t *source = pm_map_find(&part->of_file, file);
	if (source)
		*ret = open_text(a, m, &part->sources[*source], err);
	return source != NULL;
}

/* ---- what the lines of a file call and evaluate ---- */

enum { MOST_CALLEES = 8, MOST_EVALS = 8, MOST_SUBS = 4 };

static const struct pmfs_call_edge *site(const struct pmfs_sites *s, uint32_t i)
{
	return &s->calls->calls[s->rows[i]];
}

static double cost(const struct pmfs_sites *s, uint32_t i)
{
	const struct pmfs_columns *c = s->calls->columns;
	if (c->first_incl == PM_NONE)
		return NAN;
	return s->calls->cells[(size_t)s->rows[i] * c->n + c->first_incl];
}

struct keyed {
	uint32_t line, order, row;
};

static int by_line(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool is_wanted(const struct pmfs_call_edge *call, const struct pmfs_lines_of *of)
{
	return call->file == of->file && call->line >= of->first && call->line <= of->last &&
		call->line > 0;
}

static void fill(struct pm_arena *a, struct pmfs_sites *s, const struct pmfs_lines_of *of)
{
	const struct pmfs_calls *calls = s->calls;
	struct pm_arena *scratch = pm_arena_scratch(a);
	uint32_t n = 0;
	for (uint32_t i = 0; i < calls->n; i++)
		n += is_wanted(&calls->calls[i], of);
	struct keyed *keys = pm_arena_array(scratch, n, sizeof(*keys));
	s->rows = pm_arena_array(a, n, sizeof(*s->rows));
	for (uint32_t i = 0; i < calls->n; i++) {
		const struct pmfs_call_edge *call = &calls->calls[calls->order[i]];
		if (is_wanted(call, of))
			keys[s->n++] = (struct keyed){call->line, i, calls->order[i]};
	}
	pm_build_check(a, pm_sort(keys, s->n, sizeof(*keys), by_line));
	for (uint32_t i = 0; i < s->n; i++)
		s->rows[i] = keys[i].row;
	pm_arena_done(scratch);
}

/* ---- evals ---- */

static int by_cost(const void *a, const void *b)
{
	const struct pmfs_site_eval *x = a, *y = b;
	double i = isnan(x->ns) ? 0 : x->ns, k = isnan(y->ns) ? 0 : y->ns;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (i < k) - (i > k);
}

/* Functions that were called, of each text in their order. */
static void fill_subs(struct pm_arena *a, struct pmfs_sites *s)
{
	const struct pmfs_functions *f = s->functions;
	struct pm_map of_text = {.arena = a};
	bool fresh;
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n_evals; i++)
		pm_map_put(&of_text, s->evals[i].text, i, &fresh);
	s->subs = pm_arena_array(a, f->n, sizeof(*s->subs));
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t row = 0; row < f->n; row++) {
			const uint32_t *i = pm_map_find(&of_text, pmfs_function_at(f, row)->file);
			struct pmfs_site_eval *e = i ? &s->evals[*i] : NULL;
			if (!e || !(pmfs_function_cell(f, row, f->columns->calls) > 0))
				continue;
			if (pass == 1)
				s->subs[e->first + e->n_subs] = row;
			e->n_subs++;
		}
		for (uint32_t i = 0; pass == 0 && i < s->n_evals; i++) {
			s->evals[i].first = n;
			n += s->evals[i].n_subs;
			s->evals[i].n_subs = 0;
		}
	}
}

static void fill_evals(struct pm_arena *a, struct pmfs_sites *s, const struct pm_evals *all,
	const struct pmfs_lines_of *of)
{
	uint64_t first = PM_LOWER_BOUND(i, 0, all->n,
		all->evals[i].file < of->file ||
			(all->evals[i].file == of->file && all->evals[i].line < of->first));
	uint64_t end = first;
	while (end < all->n && all->evals[end].file == of->file && all->evals[end].line <= of->last)
		end++;
	s->evals = pm_arena_array(a, end - first, sizeof(*s->evals));
	for (; first < end && s->n_evals < PM_NONE; first++)
		s->evals[s->n_evals++] = (struct pmfs_site_eval){.line = all->evals[first].line,
			.text = all->evals[first].text,
			.texts = all->evals[first].texts,
			.n = all->evals[first].n,
			.ns = pmfs_lines_statements(s->lines, all->evals[first].text)};
	pm_build_check(a, pm_sort(s->evals, s->n_evals, sizeof(*s->evals), by_cost));
}

/* ---- both ---- */

struct pmfs_sites *pmfs_sites_of(struct pm_arena *a, struct pmfs_model *m,
	const struct pmfs_lines_of *of, struct pm_error *err)
{
	struct pmfs_sites *s = pm_arena_alloc(a, sizeof(*s));
	const struct pm_flat *flat;
	if (of->file == PM_NONE)
		return s;
	pm_build_check(a, pmfs_calls(m, &s->calls, err));
	pm_build_check(a, pmfs_model_flat(m, &flat, err));
	if (flat->evals)
		pm_build_check(a, pmfs_lines(m, &s->lines, err));
	if (flat->evals && s->lines->statements != PM_NONE)
		fill_evals(a, s, flat->evals, of);
	if (s->n_evals > 0)
		pm_build_check(a, pmfs_functions(m, &s->functions, err));
	if (s->n_evals > 0 && s->functions->columns->calls != PM_NONE)
		fill_subs(a, s);
	fill(a, s, of);
	return s;
}

/*
 * Moves to a later line; returns the cost of its calls in the primary quantity, or NaN. A sum of
 * what is listed below the line: a call within another one of the same line (a block of sort, a sub
 * on one line) counts in both, since call edges do not say which of them lie within each other.
 */
static double sites_cost(struct pmfs_sites *s, uint32_t line)
{
	pm_number sum = NAN;
	while (s->at < s->n && site(s, s->at)->line < line)
		s->at++;
	for (uint32_t i = s->at; i < s->n && site(s, i)->line == line; i++)
		pmfs_add(&sum, cost(s, i));
	return sum;
}

static void add_callee(const struct pmfs_sites *s, uint32_t i, unsigned indent, struct pm_text *out)
{
	const struct pmfs_call_edge *call = site(s, i);
	const struct pm_tree *tree = s->calls->tree;
	const struct pmfs_columns *c = s->calls->columns;
	/* Own cost, but none of outermost calls. */
	bool inner = cost(s, i) == 0 && c->first_excl != PM_NONE &&
		s->calls->cells[(size_t)s->rows[i] * c->n + c->first_excl] > 0;
	pm_text_printf(out, "%*s# ", (int)indent, "");
	if (!isnan(cost(s, i)) && !inner) {
		pmfs_add_amount(out, &c->columns[c->first_incl], cost(s, i));
		pm_text_str(out, " in ");
	}
	if (call->calls == PMFS_UNCOUNTED)
		pm_text_str(out, "calls");
	else
		pm_text_printf(out, "%llu call%s", (unsigned long long)call->calls,
			call->calls == 1 ? "" : "s");
	pm_text_str(out, " of ");
	pm_text_line(out, tree->texts[tree->functions[call->callee].name]);
	pm_text_str(out, inner ? ", all within another call of it\n" : "\n");
}

/* `4.956 ms in 3 evals`, as far as known. */
static void add_evals(
	const struct pmfs_sites *s, double ns, uint64_t n, unsigned indent, struct pm_text *out)
{
	pm_text_printf(out, "%*s# ", (int)indent, "");
	if (!isnan(ns)) {
		pmfs_add_amount(out, &s->lines->columns->columns[s->lines->statements], ns);
		pm_text_str(out, " in ");
	}
	if (n == 0)
		pm_text_str(out, "evals of a parent process");
	else
		pm_text_printf(out, "%llu eval%s", (unsigned long long)n, n == 1 ? "" : "s");
}

static void add_eval(const struct pmfs_sites *s, const struct pmfs_site_eval *e, unsigned indent,
	struct pm_text *out)
{
	const struct pmfs_functions *f = s->functions;
	add_evals(s, e->ns, e->n, indent, out);
	if (e->texts > 1)
		pm_text_printf(out, " of %u texts that are not told apart", e->texts);
	pm_text_str(out, ": ");
	pm_text_line(out, f->tree->texts[e->text]);
	pm_text_char(out, '\n');
	for (uint32_t i = 0; i < e->n_subs && i < MOST_SUBS; i++) {
		uint32_t row = s->subs[e->first + i], column = f->columns->first_incl;
		double calls = pmfs_function_cell(f, row, f->columns->calls);
		pm_text_printf(out, "%*s#   ", (int)indent, "");
		if (column != PM_NONE && !isnan(pmfs_function_cell(f, row, column))) {
			pmfs_add_amount(out, &f->columns->columns[column],
				pmfs_function_cell(f, row, column));
			pm_text_str(out, " in ");
		}
		pm_text_printf(out, "%.0f call%s of ", calls, calls == 1 ? "" : "s");
		pm_text_line(out, pmfs_function_name(f, row));
		pm_text_char(out, '\n');
	}
	if (e->n_subs > MOST_SUBS)
		pm_text_printf(out, "%*s#   … and of %u more: see functions.csv\n", (int)indent, "",
			e->n_subs - MOST_SUBS);
}

static void add_line_evals(
	struct pmfs_sites *s, uint32_t line, unsigned indent, struct pm_text *out)
{
	pm_number sum = NAN;
	uint64_t n = 0;
	while (s->at_eval < s->n_evals && s->evals[s->at_eval].line < line)
		s->at_eval++;
	uint32_t first = s->at_eval, end = first;
	for (; end < s->n_evals && s->evals[end].line == line; end++) {
		pmfs_add(&sum, s->evals[end].ns);
		n += s->evals[end].n;
	}
	if (end - first > 1) {
		add_evals(s, sum, n, indent, out);
		pm_text_printf(out, " of %u texts\n", end - first);
	}
	for (uint32_t i = first; i < end && i < first + MOST_EVALS; i++)
		add_eval(s, &s->evals[i], indent, out);
	if (end - first > MOST_EVALS)
		pm_text_printf(out, "%*s# … and %u more texts: see files.csv\n", (int)indent, "",
			end - first - MOST_EVALS);
}

/*
 * Appends a line for each callee of the line, then for each text that it evaluated with the subs
 * defined there, most expensive first, indented by `indent` columns.
 */
static void sites_add(struct pmfs_sites *s, uint32_t line, unsigned indent, struct pm_text *out)
{
	uint32_t n = 0, i = s->at;
	for (; i < s->n && site(s, i)->line == line; i++)
		if (site(s, i)->callee != PM_NONE && n++ < MOST_CALLEES)
			add_callee(s, i, indent, out);
	if (n > MOST_CALLEES)
		pm_text_printf(out, "%*s# … and of %u more: see callers.csv\n", (int)indent, "",
			n - MOST_CALLEES);
	add_line_evals(s, line, indent, out);
}

/* ---- annotated source ---- */

/* Lines first … last of a source, with the columns that have a number there. */
struct annotated {
	const struct pmfs_lines *lines;
	uint32_t file; /* text of the tree, or PM_NONE: no line has a cost */
	uint32_t first, last;
	uint32_t at; /* in lines->by_place */
	bool *shown; /* by column */
	struct pmfs_sites *sites;
	bool calls; /* lines of the file call something: there is a column for its cost */
};

enum { NUMBER_WIDTH = 15, LINE_WIDTH = 7 };

/* The next entry of by_place, if it belongs to this file and is at most `last`. */
static const struct pm_line *peek(const struct annotated *a, const pm_number **ret_cells)
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
	const pm_number *cells;
	uint32_t begin = a->file == PM_NONE ? 0 : pmfs_lines_find(a->lines, a->file, a->first);
	for (a->at = begin; (line = peek(a, &cells)) != NULL; a->at++)
		for (uint32_t i = 0; i < a->lines->columns->n_shown; i++)
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
	for (uint32_t i = 0; i < a->lines->columns->n_shown; i++)
		if (a->shown[i])
			pm_text_printf(
				out, "%*s ", NUMBER_WIDTH, a->lines->columns->columns[i].name);
	if (a->calls)
		pm_text_printf(out, "%*s ", NUMBER_WIDTH, "callees_incl");
	pm_text_printf(out, "%*s  source\n", LINE_WIDTH, "line");
}

/* Where the text begins. */
static unsigned indent_of(const struct annotated *a)
{
	unsigned n = LINE_WIDTH + 2 + (NUMBER_WIDTH + 1) * a->calls;
	for (uint32_t i = 0; i < a->lines->columns->n_shown; i++)
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
	const pm_number *cells = NULL;
	const struct pm_line *line = peek(a, &cells);
	bool known = line && line->line == number;
	for (uint32_t i = 0; i < a->lines->columns->n_shown; i++)
		if (a->shown[i])
			add_number(out, known ? cells[i] : NAN);
	a->at += known;
	if (a->calls)
		add_number(out, sites_cost(a->sites, number));
	pm_text_printf(out, "%*u  ", LINE_WIDTH, number);
	add_code(text, out);
	pm_text_char(out, '\n');
	if (a->calls || a->sites->n_evals > 0)
		sites_add(a->sites, number, indent_of(a), out);
}

/* Costs of lines that are not in the text (which is a different version) are shown at the end. */
static void add_text(struct annotated *a, struct pm_bytes text, struct pm_text *out)
{
	const struct pm_line *line;
	const pm_number *cells;
	add_header(a, out);
	for (uint32_t number = 1; text.len > 0 && number <= a->last; number++) {
		struct pm_bytes next = pmfs_source_line(&text);
		if (number >= a->first)
			add_line(a, number, next, out);
	}
	while ((line = peek(a, &cells)) != NULL)
		add_line(a, line->line, (struct pm_bytes){NULL, 0}, out);
}

static void write_lines(
	const struct pmfs_writing *w, uint32_t source, uint32_t first, uint32_t last)
{
	struct annotated a = {.first = first, .last = last};
	const struct sources *part;
	pm_build_check(w->a, get_sources(w->model, &part, w->err));
	pm_build_check(w->a, pmfs_lines(w->model, &a.lines, w->err));
	a.file = part->file[source];
	a.shown = pm_arena_array(w->a, a.lines->columns->n, sizeof(*a.shown));
	const struct pmfs_lines_of range = {a.file, first, last};
	a.sites = pmfs_sites_of(w->a, w->model, &range, w->err);
	a.calls = a.sites->n > 0;
	struct pm_bytes text = open_text(w->a, w->model, &part->sources[source], w->err);
	choose_columns(&a);
	add_text(&a, text, w->out);
}

static void write_source(const struct pmfs_writing *w)
{
	const struct sources *part;
	const struct pm_source *source = (const struct pm_source *)(uintptr_t)w->doc->text.a;
	pm_build_check(w->a, get_sources(w->model, &part, w->err));
	write_lines(w, (uint32_t)(source - part->sources), 1, UINT32_MAX);
}

static int render_source(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_source, out, err);
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
	const struct sources *part;
	int r = pmfs_functions(m, &f, err);
	if (r < 0 || (r = get_sources(m, &part, err)) < 0)
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

static void write_function(const struct pmfs_writing *w)
{
	const struct pmfs_function *function;
	const struct pm_tree *tree;
	uint32_t source;
	pm_build_check(w->a, pmfs_model_tree(w->model, &tree, w->err));
	pm_build_check(w->a,
		source_of_function(w->model, (uint32_t)w->doc->text.a, &source, &function, w->err));
	if (source == PM_NONE)
		pm_build_fail(
			w->a, pm_error_set(w->err, -ENODATA, NULL, PM_NO_OFFSET, "no source text"));
	write_lines(w, source, function->line, last_line(tree, function));
}

int pmfs_function_source_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_function, out, err);
}

int pmfs_has_source(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pmfs_function *function;
	uint32_t source;
	if (!pm_profile_has(p, sources) || !p->has_lines)
		return 0;
	int r = source_of_function(m, item, &source, &function, NULL);
	return pm_is_passing(r) ? pmfs_no_memory(err) : r == 0 && source != PM_NONE;
}
