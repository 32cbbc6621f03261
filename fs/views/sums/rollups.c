/* Costs by load module, source file and category, and of what has no names. */
#include "fs/views/sums/rollups.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/affix.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/groups.h"
#include "fs/views/sums/lines.h"
#include "fs/views/sums/totals.h"

/* ---- by load module or source file ---- */

enum { BETWEEN_QUESTIONS = 1024 /* lines */ };

/* While lines are added. */
struct rolling {
	const struct pmfs_lines *lines; /* or NULL */
	uint32_t *row_of_line;
};

static void rollup_done(void *p)
{
	struct pmfs_rollup *u = p;
	pmfs_sums_done(&u->sums);
	pm_strtab_done(&u->names);
	free(u->row_of_function);
	free(u->n_functions);
	free(u->file);
	free(u->order);
}

/* ---- the module and file of a function ---- */

/* The end of a name without its parameters or a location in brackets; `[]` is part of a type. */
static size_t bare_length(struct pm_bytes name)
{
	size_t n = 0;
	for (; n < name.len && name.p[n] != '('; n++)
		if (name.p[n] == '[' && n + 1 < name.len && name.p[n + 1] != ']')
			break;
	return n;
}

/* `TYPE MODULE end NAME(…)`: the module; empty for other names. */
static struct pm_bytes module_in_name(struct pm_bytes name, struct pm_bytes end)
{
	struct pm_bytes bare = {name.p, bare_length(name)};
	const uint8_t *space = bare.len ? memrchr(bare.p, ' ', bare.len) : NULL;
	if (space)
		bare = (struct pm_bytes){space + 1, bare.len - (size_t)(space + 1 - bare.p)};
	for (size_t i = bare.len; i-- > 0;)
		if (bare.len - i >= end.len && memcmp(bare.p + i, end.p, end.len) == 0)
			return (struct pm_bytes){bare.p, i};
	return (struct pm_bytes){NULL, 0};
}

static struct pm_bytes module_of(const struct pm_profile *p, const struct pm_tree *tree,
	const struct pmfs_function *function)
{
	if (p->module_end)
		return module_in_name(function->name, pm_bytes_of(p->module_end));
	return tree->texts[function->module];
}

static struct pm_bytes file_of(const struct pm_profile *p, const struct pm_tree *tree,
	const struct pmfs_function *function)
{
	(void)p;
	return tree->texts[function->file];
}

/* ---- statements ---- */

/* The lines of a format that measures statements, else NULL. */
static int find_lines(struct pmfs_model *m, const struct pmfs_lines **ret, struct pm_error *err)
{
	const struct pm_flat *flat;
	int r = pmfs_model_flat(m, &flat, err);
	*ret = NULL;
	return r < 0 || !flat->statements ? r : pmfs_lines(m, ret, err);
}

/*
 * Adds what contexts lack and lines have, statements: of each line to the row of `cells` that it
 * belongs to. Does nothing for most formats. 0 or a negative errno.
 */
static int add_statements(struct pmfs_model *m,
	uint32_t (*row_of)(const void *self, const struct pm_line *line), const void *self,
	pm_number *cells, struct pm_error *err)
{
	const struct pmfs_totals *totals;
	const struct pmfs_lines *l;
	int r = find_lines(m, &l, err);
	if (r < 0 || !l || (r = pmfs_totals(m, &totals, err)) < 0)
		return r;
	uint32_t n = l->columns->n;
	for (uint32_t i = 0; i < l->n; i++) {
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return pmfs_no_memory(err);
		uint32_t row = row_of(self, &l->lines[i]);
		for (uint32_t k = 0; k < n; k++)
			if (!totals->in_contexts[k] && l->columns->columns[k].role == PM_ROLE_COUNT)
				pmfs_add(&cells[(size_t)row * n + k], l->cells[(size_t)i * n + k]);
	}
	return 0;
}

/* The name of the row that a line belongs to. */
static struct pm_bytes name_of_line(const struct pmfs_rollup *u, const struct pm_line *line)
{
	const struct pmfs_functions *f = u->functions;
	uint32_t row = line->function == PM_NONE ? PM_NONE : f->row[line->function];
	if (u->of_files)
		return f->tree->texts[line->file];
	return row == PM_NONE ? pm_bytes_of("") : u->names.items[u->row_of_function[row]];
}

static uint32_t row_of_line(const void *self, const struct pm_line *line)
{
	const struct rolling *rolling = self;
	return rolling->row_of_line[line - rolling->lines->lines];
}

/* ---- summing ---- */

static int place(void *self, uint32_t context, struct pmfs_share *share)
{
	const struct pmfs_rollup *u = self;
	const struct pmfs_functions *f = u->functions;
	uint32_t function = f->row[pmfs_function_of(f->identity, context)];
	share->counts = pmfs_is_call(f->identity, context);
	share->row = function == PM_NONE ? PM_NONE : u->row_of_function[function];
	return 0;
}

/* Rows in the order of functions.csv, one for each name; then those of other lines. */
static int make_rows(struct pmfs_rollup *u, const struct pm_profile *p, struct rolling *rolling,
	struct pm_bytes (*name_of)(const struct pm_profile *p, const struct pm_tree *tree,
		const struct pmfs_function *function))
{
	const struct pmfs_functions *f = u->functions;
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t row = pm_strtab_add_lasting(
			&u->names, name_of(p, f->tree, pmfs_function_at(f, i)));
		if (row == PM_NONE)
			return -ENOMEM;
		u->row_of_function[i] = row;
		if (row == u->sums.n && pmfs_sums_row(&u->sums, &row) < 0)
			return -ENOMEM;
		u->n_functions[row]++;
		u->file[row] = pmfs_function_at(f, i)->file;
	}
	const struct pmfs_lines *l = rolling->lines;
	for (uint32_t i = 0; l && i < l->n; i++) {
		uint32_t row = pm_strtab_add_lasting(&u->names, name_of_line(u, &l->lines[i]));
		if (row == PM_NONE || (row == u->sums.n && pmfs_sums_row(&u->sums, &row) < 0))
			return -ENOMEM;
		u->file[row] = l->lines[i].file;
		rolling->row_of_line[i] = row;
	}
	return 0;
}

static int fill(struct pmfs_model *m, struct pmfs_rollup *u,
	struct pm_bytes (*name_of)(const struct pm_profile *p, const struct pm_tree *tree,
		const struct pmfs_function *function),
	struct pm_error *err)
{
	int r = pmfs_functions(m, &u->functions, err);
	if (r < 0)
		return r;
	struct rolling rolling;
	if ((r = find_lines(m, &rolling.lines, err)) < 0)
		return r;
	size_t n_lines = rolling.lines ? rolling.lines->n : 0;
	rolling.row_of_line = malloc((n_lines + 1) * sizeof(*rolling.row_of_line));
	const struct pmfs_functions *f = u->functions;
	struct pmfs_grouping g = {
		.model = m, .tree = f->tree, .end = f->tree->n_contexts, .place = place, .self = u};
	u->sums.columns = f->columns;
	u->row_of_function = calloc((size_t)f->n + 1, sizeof(*u->row_of_function));
	u->n_functions = calloc((size_t)f->n + n_lines + 1, sizeof(*u->n_functions));
	u->file = calloc((size_t)f->n + n_lines + 1, sizeof(*u->file));
	if (!u->row_of_function || !u->n_functions || !u->file || !rolling.row_of_line ||
		make_rows(u, pmfs_model_profile(m), &rolling, name_of) < 0)
		r = pmfs_no_memory(err);
	if (r == 0)
		r = pmfs_group(&g, &u->sums, err);
	if (r == 0)
		r = add_statements(m, row_of_line, &rolling, u->sums.cells, err);
	free(rolling.row_of_line);
	if (r == 0) {
		u->order = pmfs_order(NULL, 
			u->sums.cells, u->sums.n, f->columns->n, pmfs_order_column(f->columns));
		r = u->order ? 0 : pmfs_no_memory(err);
	}
	return r;
}

static int fill_modules(void *owner, void *part, struct pm_error *err)
{
	return fill(owner, part, module_of, err);
}

static int fill_files(void *owner, void *part, struct pm_error *err)
{
	((struct pmfs_rollup *)part)->of_files = true;
	return fill(owner, part, file_of, err);
}

int pmfs_modules(struct pmfs_model *m, const struct pmfs_rollup **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_rollup), fill_modules, rollup_done, .what = "the modules"};
	return pmfs_model_part(m, PMFS_PART_MODULES, &type, ret, err);
}

int pmfs_files(struct pmfs_model *m, const struct pmfs_rollup **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_rollup), fill_files, rollup_done, .what = "the files"};
	return pmfs_model_part(m, PMFS_PART_FILES, &type, ret, err);
}

/*
 * ---- by category ----
 *
 * Exclusive and inclusive costs by category. An inclusive cost counts once, at the outermost
 * context of a category on each path.
 */

struct grouping {
	const uint8_t *of;
	uint64_t *contexts;
};

static void sums_done(void *p)
{
	struct pmfs_category_sums *s = p;
	free(s->cells);
}

static int place_category(void *self, uint32_t context, struct pmfs_share *share)
{
	const struct grouping *g = self;
	share->row = g->of[context];
	share->counts = true;
	g->contexts[share->row]++;
	return 0;
}

/* ---- the whole ---- */

static int inclusive_at_top(
	struct pmfs_model *m, const struct pm_tree *tree, double *ret, struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	*ret = 0;
	if (r < 0 || c->first_incl == PM_NONE)
		return r;
	pm_number *cells = pmfs_cells_new(NULL, c->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < tree->n_contexts; i = tree->end[i]) {
		r = pmfs_run_cells(m, i, true, cells, err);
		if (r == 0 && !isnan(cells[c->first_incl]))
			*ret += cells[c->first_incl];
	}
	free(cells);
	return r;
}

static int find_whole(struct pmfs_model *m, const struct pm_tree *tree,
	struct pmfs_category_sums *s, struct pm_error *err)
{
	uint32_t own = s->columns->first_excl;
	for (uint32_t i = 0; own != PM_NONE && i < PMFS_N_CATEGORIES; i++)
		if (!isnan(s->cells[i * s->columns->n + own]))
			s->whole += s->cells[i * s->columns->n + own];
	int r = s->whole != 0 ? 0 : inclusive_at_top(m, tree, &s->whole, err);
	if (r == 0 && s->columns->n > 0 && s->columns->columns[0].decreases) {
		const struct pmfs_totals *totals;
		r = pmfs_totals(m, &totals, err);
		s->whole = r < 0 ? 0 : totals->busy;
	}
	s->busy = s->whole;
	uint32_t nothing = pm_tree_find(tree, 0);
	if (r < 0 || nothing == PM_NONE || own == PM_NONE)
		return r;
	pm_number *cells = pmfs_cells_new(NULL, s->columns->n);
	r = cells ? pmfs_run_cells(m, nothing, true, cells, err) : pmfs_no_memory(err);
	if (r == 0 && !isnan(cells[own]))
		s->busy -= cells[own];
	free(cells);
	return r;
}

/* ---- adding up ---- */

static int order_rows(struct pmfs_category_sums *s)
{
	uint32_t *order = pmfs_order(NULL, 
		s->cells, PMFS_N_CATEGORIES, s->columns->n, pmfs_order_column(s->columns));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < PMFS_N_CATEGORIES; i++) {
		bool costs = false;
		for (uint32_t k = 0; k < s->columns->n; k++)
			costs |= !isnan(s->cells[(size_t)order[i] * s->columns->n + k]);
		if (s->contexts[order[i]] > 0 || costs)
			s->order[s->n++] = order[i];
	}
	free(order);
	return 0;
}

/* Contexts have no statements: they are in the category of the function around them, if any. */
static uint32_t category_of_line(const void *self, const struct pm_line *line)
{
	const struct pmfs_functions *f = self;
	return line->function == PM_NONE ? PMFS_PROGRAM : f->category[line->function];
}

static int add_categories(struct pmfs_model *m, struct pmfs_category_sums *s, struct pm_error *err)
{
	struct grouping by = {.contexts = s->contexts};
	const struct pmfs_functions *f;
	struct pmfs_sums sums = {.columns = s->columns};
	struct pmfs_grouping g = {.model = m, .place = place_category, .self = &by};
	uint32_t row;
	int r = pmfs_model_tree(m, &g.tree, err);
	if (r < 0 || (r = pmfs_categories(m, &by.of, err)) < 0)
		return r;
	g.end = g.tree->n_contexts;
	for (uint32_t i = 0; r == 0 && i < PMFS_N_CATEGORIES; i++)
		r = pmfs_sums_row(&sums, &row) < 0 ? pmfs_no_memory(err) : 0;
	if (r == 0)
		r = pmfs_group(&g, &sums, err);
	if (r == 0)
		r = pmfs_functions(m, &f, err);
	if (r == 0)
		r = add_statements(m, category_of_line, f, sums.cells, err);
	s->cells = sums.cells;
	sums.cells = NULL;
	pmfs_sums_done(&sums);
	return r < 0 ? r : find_whole(m, g.tree, s, err);
}

static int sums_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct pmfs_category_sums *s = p;
	int r = pmfs_model_columns(m, &s->columns, err);
	if (r == 0)
		r = add_categories(m, s, err);
	if (r == 0 && order_rows(s) < 0)
		r = pmfs_no_memory(err);
	return r;
}

int pmfs_category_sums(
	struct pmfs_model *m, const struct pmfs_category_sums **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_category_sums), sums_fill,
		sums_done, .what = "the sums of categories"};
	return pmfs_model_part(m, PMFS_PART_CATEGORY_SUMS, &type, ret, err);
}

int pmfs_whole(struct pmfs_model *m, double *ret, struct pm_error *err)
{
	const struct pmfs_category_sums *s;
	int r = pmfs_category_sums(m, &s, err);
	if (r == 0)
		*ret = s->whole;
	return r;
}

/* ---- code without names, by load module ---- */

struct missings_part {
	struct pmfs_missings all;
	struct pm_strtab modules; /* of the rows, before they are sorted */
};

static void missings_done(void *p)
{
	struct missings_part *part = p;
	free(part->all.rows);
	pm_strtab_done(&part->modules);
}

static int by_cost(const void *a, const void *b)
{
	const struct pmfs_missing *x = a, *y = b;
	double cost = isnan(x->cost) ? -1 : x->cost, other = isnan(y->cost) ? -1 : y->cost;
	if (cost != other)
		return cost > other ? -1 : 1;
	size_t len = x->module.len < y->module.len ? x->module.len : y->module.len;
	int order = len ? memcmp(x->module.p, y->module.p, len) : 0;
	return order ? order : (x->module.len > y->module.len) - (x->module.len < y->module.len);
}

/* Whether a column counts samples: all, or those of an event. */
static bool counts_samples(const struct pm_profile *profile, const struct pmfs_column *c)
{
	bool is = strcmp(c->base, "samples") == 0;
	for (uint32_t i = 0; i < profile->n_events; i++)
		is |= profile->events[i].samples == c->group;
	return is && c->role != PM_ROLE_INCLUSIVE;
}

/* Formats that know of nothing but addresses have functions for them. */
static bool is_address(const struct pmfs_functions *f, uint32_t row)
{
	return f->first[row] < f->first[row + 1] &&
		pm_tree_frame(f->tree, f->contexts[f->first[row]])->kind == PM_KIND_INSTRUCTION;
}

static int add_missing(struct missings_part *part, const struct pm_profile *profile,
	const struct pmfs_functions *f)
{
	uint32_t own = f->columns->first_excl;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct pmfs_function *function = pmfs_function_at(f, i);
		if (!function->is_address && !is_address(f, i))
			continue;
		uint32_t row = pm_strtab_add(&part->modules, f->tree->texts[function->module]);
		if (row == PM_NONE)
			return -ENOMEM;
		struct pmfs_missing *of = &part->all.rows[row];
		if (row == part->all.n) {
			part->all.n++;
			*of = (struct pmfs_missing){.module = f->tree->texts[function->module],
				.cost = NAN,
				.samples = NAN};
		}
		if (own != PM_NONE)
			pmfs_add(&of->cost, pmfs_function_cell(f, i, own));
		for (uint32_t k = 0; k < f->columns->n; k++)
			if (counts_samples(profile, &f->columns->columns[k]))
				pmfs_add(&of->samples, pmfs_function_cell(f, i, k));
	}
	return 0;
}

static int missings_fill(void *owner, void *p, struct pm_error *err)
{
	static const struct pm_missings unknown = {.why = "not known"};
	struct missings_part *part = p;
	struct pmfs_missings *all = &part->all;
	const struct pm_profile *profile = pmfs_model_profile(owner);
	const struct pm_missings *known = &unknown;
	const struct pmfs_functions *f;
	const struct pmfs_totals *totals;
	int r = pmfs_functions(owner, &f, err);
	if (r < 0 || (r = pmfs_totals(owner, &totals, err)) < 0)
		return r;
	if ((r = pm_profile_missing(profile, &known, err)) < 0)
		return r;
	if (!known)
		known = &unknown;
	all->rows = malloc(((size_t)f->n + 1) * sizeof(*all->rows));
	if (!all->rows || add_missing(part, profile, f) < 0)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < all->n; i++) {
		all->rows[i].why = known->why;
		all->cost += isnan(all->rows[i].cost) ? 0 : all->rows[i].cost;
	}
	for (size_t i = 0; i < known->n; i++) {
		uint32_t row = pm_strtab_find(&part->modules, known->rows[i].module);
		if (row == UINT32_MAX)
			continue;
		all->rows[row].build_id = known->rows[i].build_id;
		all->rows[row].why = known->rows[i].why;
		all->rows[row].tried = known->rows[i].tried;
	}
	if (pm_sort(all->rows, all->n, sizeof(*all->rows), by_cost) < 0)
		return pmfs_no_memory(err);
	uint32_t own = f->columns->first_excl;
	const char *const columns[] = {"samples",
		own == PM_NONE ? "cost" : f->columns->columns[own].name, "module", "build_id",
		"why", "tried"};
	memcpy(all->columns, columns, sizeof(columns));
	all->whole = f->columns->n > 0 ? totals->of[0] : 0;
	all->advice = known->advice;
	return 0;
}

int pmfs_missings(struct pmfs_model *m, const struct pmfs_missings **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct missings_part), missings_fill,
		missings_done, .what = "what has no names"};
	return pmfs_model_part(m, PMFS_PART_MISSING, &type, ret, err);
}
