#include "fs/views/texts/sites.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/map.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"

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

static int fill(struct pmfs_sites *s, const struct pmfs_lines_of *of)
{
	const struct pmfs_calls *calls = s->calls;
	uint32_t n = 0;
	for (uint32_t i = 0; i < calls->n; i++)
		n += is_wanted(&calls->calls[i], of);
	struct keyed *keys = malloc(((size_t)n + 1) * sizeof(*keys));
	s->rows = malloc(((size_t)n + 1) * sizeof(*s->rows));
	int r = keys && s->rows ? 0 : -ENOMEM;
	if (r == 0) {
		for (uint32_t i = 0; i < calls->n; i++) {
			const struct pmfs_call_edge *call = &calls->calls[calls->order[i]];
			if (is_wanted(call, of))
				keys[s->n++] = (struct keyed){call->line, i, calls->order[i]};
		}
		r = pm_sort(keys, s->n, sizeof(*keys), by_line);
		for (uint32_t i = 0; i < s->n; i++)
			s->rows[i] = keys[i].row;
	}
	free(keys);
	return r;
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

/* The statements of a text: all lines of its file. */
static double text_cost(const struct pmfs_lines *l, uint32_t file)
{
	double sum = NAN;
	for (uint32_t i = pmfs_lines_find(l, file, 0); i < l->n; i++) {
		uint32_t row = l->by_place[i];
		if (l->lines[row].file != file)
			break;
		pmfs_add(&sum, l->cells[(size_t)row * l->columns->n + l->statements]);
	}
	return sum;
}

/* Functions that were called, of each text in their order. */
static int fill_subs(struct pmfs_sites *s)
{
	const struct pmfs_functions *f = s->functions;
	struct pm_map of_text = {.slots = NULL};
	bool fresh, good = true;
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n_evals && good; i++)
		good = pm_map_put(&of_text, s->evals[i].text, i, &fresh) != NULL;
	s->subs = malloc(((size_t)f->n + 1) * sizeof(*s->subs));
	for (unsigned pass = 0; good && s->subs && pass < 2; pass++) {
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
	pm_map_done(&of_text);
	return good && s->subs ? 0 : -ENOMEM;
}

static int fill_evals(
	struct pmfs_sites *s, const struct pm_evals *all, const struct pmfs_lines_of *of)
{
	uint64_t first = PM_LOWER_BOUND(i, 0, all->n,
		all->evals[i].file < of->file ||
			(all->evals[i].file == of->file && all->evals[i].line < of->first));
	uint64_t end = first;
	while (end < all->n && all->evals[end].file == of->file && all->evals[end].line <= of->last)
		end++;
	s->evals = malloc((end - first + 1) * sizeof(*s->evals));
	if (!s->evals)
		return -ENOMEM;
	for (; first < end && s->n_evals < PM_NONE; first++)
		s->evals[s->n_evals++] = (struct pmfs_site_eval){.line = all->evals[first].line,
			.text = all->evals[first].text,
			.texts = all->evals[first].texts,
			.n = all->evals[first].n,
			.ns = text_cost(s->lines, all->evals[first].text)};
	return pm_sort(s->evals, s->n_evals, sizeof(*s->evals), by_cost);
}

static int find_evals(struct pmfs_model *m, const struct pmfs_lines_of *of, struct pmfs_sites *s,
	struct pm_error *err)
{
	const struct pm_flat *flat;
	int r = pmfs_model_flat(m, &flat, err);
	if (r < 0 || !flat->evals || (r = pmfs_lines(m, &s->lines, err)) < 0 ||
		s->lines->statements == PM_NONE)
		return r;
	if (fill_evals(s, flat->evals, of) < 0)
		return pmfs_no_memory(err);
	if (s->n_evals == 0 || (r = pmfs_functions(m, &s->functions, err)) < 0 ||
		s->functions->columns->calls == PM_NONE)
		return r;
	return fill_subs(s) < 0 ? pmfs_no_memory(err) : 0;
}

/* ---- both ---- */

int pmfs_sites_of(struct pmfs_model *m, const struct pmfs_lines_of *of, struct pmfs_sites *ret,
	struct pm_error *err)
{
	*ret = (struct pmfs_sites){.calls = NULL};
	if (of->file == PM_NONE)
		return 0;
	int r = pmfs_calls(m, &ret->calls, err);
	if (r < 0 || (r = find_evals(m, of, ret, err)) < 0)
		return r;
	return fill(ret, of) < 0 ? pmfs_no_memory(err) : 0;
}

void pmfs_sites_done(struct pmfs_sites *s)
{
	free(s->rows);
	free(s->evals);
	free(s->subs);
	*s = (struct pmfs_sites){.calls = NULL};
}

double pmfs_sites_cost(struct pmfs_sites *s, uint32_t line)
{
	double sum = NAN;
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
	pm_text_printf(out, "%*s# ", (int)indent, "");
	if (!isnan(cost(s, i))) {
		const struct pmfs_columns *c = s->calls->columns;
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
	pm_text_char(out, '\n');
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
	double sum = NAN;
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

void pmfs_sites_add(struct pmfs_sites *s, uint32_t line, unsigned indent, struct pm_text *out)
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
