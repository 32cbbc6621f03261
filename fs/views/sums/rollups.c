/* Costs by load module, source file and category, and of what has no names. */
#include "fs/views/sums/rollups.h"

#include <math.h>

#include "formats/common/affix.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/lines.h"
#include "fs/views/sums/totals.h"

/* ---- by load module or source file ---- */

enum { BETWEEN_QUESTIONS = 1024 /* lines */ };

/* While lines are added. */
struct rolling {
	const struct pmfs_lines *lines; /* or NULL */
	uint32_t *row_of_line;
};

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

/* ---- statements ---- */

/* The lines of a format that measures statements, else NULL. */
static const struct pmfs_lines *find_lines(
	struct pm_arena *a, struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_flat *flat;
	const struct pmfs_lines *lines = NULL;
	pm_build_check(a, pmfs_model_flat(m, &flat, err));
	if (flat->statements)
		pm_build_check(a, pmfs_lines(m, &lines, err));
	return lines;
}

/*
 * Adds what contexts lack and lines have, statements: of each line to the row of `cells` that it
 * belongs to. Does nothing for most formats.
 */
static void add_statements(struct pm_arena *a, struct pmfs_model *m,
	uint32_t (*row_of)(const void *self, const struct pm_line *line), const void *self,
	pm_number *cells, struct pm_error *err)
{
	const struct pmfs_totals *totals;
	const struct pmfs_lines *l = find_lines(a, m, err);
	if (!l)
		return;
	pm_build_check(a, pmfs_totals(m, &totals, err));
	uint32_t n = l->columns->n;
	for (uint32_t i = 0; i < l->n; i++) {
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(a);
		uint32_t row = row_of(self, &l->lines[i]);
		for (uint32_t k = 0; k < n; k++)
			if (!totals->in_contexts[k] && l->columns->columns[k].role == PM_ROLE_COUNT)
				pmfs_add(&cells[(size_t)row * n + k], l->cells[(size_t)i * n + k]);
	}
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

static void place(void *self, uint32_t context, struct pmfs_share *share)
{
	const struct pmfs_rollup *u = self;
	const struct pmfs_functions *f = u->functions;
	uint32_t function = f->row[pmfs_function_of(f->identity, context)];
	share->counts = pmfs_is_call(f->identity, context);
	share->row = function == PM_NONE ? PM_NONE : u->row_of_function[function];
}

/* Rows in the order of functions.csv, one for each name; then those of other lines. */
static void make_rows(struct pmfs_rollup *u, const struct pm_profile *p, struct rolling *rolling)
{
	const struct pmfs_functions *f = u->functions;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct pmfs_function *function = pmfs_function_at(f, i);
		uint32_t row = pm_strtab_add_lasting(&u->names,
			u->of_files ? f->tree->texts[function->file]
				    : module_of(p, f->tree, function));
		u->row_of_function[i] = row;
		if (row == u->sums.n)
			pmfs_sums_row(&u->sums);
		u->n_functions[row]++;
		u->file[row] = function->file;
	}
	const struct pmfs_lines *l = rolling->lines;
	for (uint32_t i = 0; l && i < l->n; i++) {
		uint32_t row = pm_strtab_add_lasting(&u->names, name_of_line(u, &l->lines[i]));
		if (row == u->sums.n)
			pmfs_sums_row(&u->sums);
		u->file[row] = l->lines[i].file;
		rolling->row_of_line[i] = row;
	}
}

static void build_modules(struct pm_arena *a, void *m, void *part, struct pm_error *err)
{
	struct pmfs_rollup *u = part;
	struct rolling rolling;
	pm_build_check(a, pmfs_functions(m, &u->functions, err));
	const struct pmfs_functions *f = u->functions;
	rolling.lines = find_lines(a, m, err);
	size_t n_lines = rolling.lines ? rolling.lines->n : 0;
	rolling.row_of_line = pm_arena_realloc(a, NULL, (n_lines + 1) * sizeof(uint32_t));
	struct pmfs_grouping g = {
		.model = m, .tree = f->tree, .end = f->tree->n_contexts, .place = place, .self = u};
	u->sums = (struct pmfs_sums){.arena = a, .columns = f->columns};
	u->names.home = u->names.lasting.arena = a;
	u->row_of_function = pm_arena_array(a, (size_t)f->n + 1, sizeof(*u->row_of_function));
	u->n_functions = pm_arena_array(a, (size_t)f->n + n_lines + 1, sizeof(*u->n_functions));
	u->file = pm_arena_array(a, (size_t)f->n + n_lines + 1, sizeof(*u->file));
	make_rows(u, pmfs_model_profile(m), &rolling);
	pmfs_group(&g, &u->sums, err);
	add_statements(a, m, row_of_line, &rolling, u->sums.cells, err);
	pm_arena_free(a, rolling.row_of_line);
	u->order = pmfs_order(
		a, u->sums.cells, u->sums.n, f->columns->n, pmfs_order_column(f->columns));
}

static void build_files(struct pm_arena *a, void *m, void *part, struct pm_error *err)
{
	((struct pmfs_rollup *)part)->of_files = true;
	build_modules(a, m, part, err);
}

int pmfs_modules(struct pmfs_model *m, const struct pmfs_rollup **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_rollup), .what = "the modules", .build = build_modules};
	return pmfs_model_part(m, PMFS_PART_MODULES, &type, ret, err);
}

int pmfs_files(struct pmfs_model *m, const struct pmfs_rollup **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_rollup), .what = "the files", .build = build_files};
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

static void place_category(void *self, uint32_t context, struct pmfs_share *share)
{
	const struct grouping *g = self;
	share->row = g->of[context];
	share->counts = true;
	g->contexts[share->row]++;
}

/* ---- the whole ---- */

static double inclusive_at_top(struct pm_arena *a, struct pmfs_model *m, const struct pm_tree *tree,
	const struct pmfs_columns *c, pm_number *cells, struct pm_error *err)
{
	double whole = 0;
	for (uint32_t i = 0; c->first_incl != PM_NONE && i < tree->n_contexts; i = tree->end[i]) {
		pm_build_check(a, pmfs_run_cells(m, i, true, cells, err));
		if (!isnan(cells[c->first_incl]))
			whole += cells[c->first_incl];
	}
	return whole;
}

static void find_whole(struct pm_arena *a, struct pmfs_model *m, const struct pm_tree *tree,
	struct pmfs_category_sums *s, struct pm_error *err)
{
	uint32_t own = s->columns->first_excl;
	const struct pmfs_totals *totals;
	pm_number *cells = pmfs_cells_new(a, s->columns->n);
	for (uint32_t i = 0; own != PM_NONE && i < PMFS_N_CATEGORIES; i++)
		if (!isnan(s->cells[i * s->columns->n + own]))
			s->whole += s->cells[i * s->columns->n + own];
	if (!(s->whole != 0))
		s->whole = inclusive_at_top(a, m, tree, s->columns, cells, err);
	pm_build_check(a, pmfs_totals(m, &totals, err));
	if (totals->of_amounts)
		s->whole = totals->busy;
	s->idle = own == PM_NONE ? 0 : totals->idle[own];
	s->busy = s->whole - s->idle;
}

double pmfs_category_share(enum pmfs_category category, double cost, double idle, double busy)
{
	if (category == PMFS_IDLE && idle > 0)
		cost = cost > idle ? cost - idle : NAN;
	else if (isnan(cost))
		cost = 0;
	return busy != 0 ? cost / busy : NAN;
}

/* ---- adding up ---- */

static void order_rows(struct pm_arena *a, struct pmfs_category_sums *s)
{
	uint32_t *order = pmfs_order(
		a, s->cells, PMFS_N_CATEGORIES, s->columns->n, pmfs_order_column(s->columns));
	for (uint32_t i = 0; i < PMFS_N_CATEGORIES; i++) {
		bool costs = false;
		for (uint32_t k = 0; k < s->columns->n; k++)
			costs |= !isnan(s->cells[(size_t)order[i] * s->columns->n + k]);
		if (s->contexts[order[i]] > 0 || costs)
			s->order[s->n++] = order[i];
	}
}

/* Contexts have no statements: they are in the category of the function around them, if any. */
static uint32_t category_of_line(const void *self, const struct pm_line *line)
{
	const struct pmfs_functions *f = self;
	return line->function == PM_NONE ? PMFS_PROGRAM : f->category[line->function];
}

static void build_sums(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct pmfs_category_sums *s = p;
	struct grouping by = {.contexts = s->contexts};
	const struct pmfs_functions *f;
	struct pmfs_sums sums = {.arena = a};
	struct pmfs_grouping g = {.model = m, .place = place_category, .self = &by};
	pm_build_check(a, pmfs_model_columns(m, &s->columns, err));
	pm_build_check(a, pmfs_model_tree(m, &g.tree, err));
	pm_build_check(a, pmfs_categories(m, &by.of, err));
	g.end = g.tree->n_contexts;
	sums.columns = s->columns;
	for (uint32_t i = 0; i < PMFS_N_CATEGORIES; i++)
		pmfs_sums_row(&sums);
	pmfs_group(&g, &sums, err);
	pm_build_check(a, pmfs_functions(m, &f, err));
	add_statements(a, m, category_of_line, f, sums.cells, err);
	s->cells = sums.cells;
	find_whole(a, m, g.tree, s, err);
	order_rows(a, s);
}

int pmfs_category_sums(
	struct pmfs_model *m, const struct pmfs_category_sums **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_category_sums),
		.what = "the sums of categories", .build = build_sums};
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

static void add_missing(struct pmfs_missings *all, struct pm_strtab *modules,
	const struct pm_profile *profile, const struct pmfs_functions *f)
{
	uint32_t own = f->columns->first_excl;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct pmfs_function *function = pmfs_function_at(f, i);
		if (!function->is_address && !is_address(f, i))
			continue;
		uint32_t row = pm_strtab_add(modules, f->tree->texts[function->module]);
		struct pmfs_missing *of = &all->rows[row];
		if (row == all->n) {
			all->n++;
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
}

static void build_missings(struct pm_arena *a, void *owner, void *p, struct pm_error *err)
{
	static const struct pm_missings unknown = {.why = "not known"};
	struct pmfs_missings *all = p;
	struct pm_strtab modules = {.home = a}; /* of the rows, before they are sorted */
	const struct pm_profile *profile = pmfs_model_profile(owner);
	const struct pm_missings *known = &unknown;
	const struct pmfs_functions *f;
	const struct pmfs_totals *totals;
	pm_build_check(a, pmfs_functions(owner, &f, err));
	pm_build_check(a, pmfs_totals(owner, &totals, err));
	pm_build_check(a, pm_profile_missing(profile, &known, err));
	if (!known)
		known = &unknown;
	all->rows = pm_arena_array(a, (size_t)f->n + 1, sizeof(*all->rows));
	add_missing(all, &modules, profile, f);
	for (uint32_t i = 0; i < all->n; i++) {
		all->rows[i].why = known->why;
		all->cost += isnan(all->rows[i].cost) ? 0 : all->rows[i].cost;
	}
	for (size_t i = 0; i < known->n; i++) {
		uint32_t row = pm_strtab_find(&modules, known->rows[i].module);
		if (row == UINT32_MAX)
			continue;
		all->rows[row].build_id = known->rows[i].build_id;
		all->rows[row].why = known->rows[i].why;
		all->rows[row].tried = known->rows[i].tried;
	}
	pm_build_check(a, pm_sort(all->rows, all->n, sizeof(*all->rows), by_cost));
	uint32_t own = f->columns->first_excl;
	const char *const columns[] = {"samples",
		own == PM_NONE ? "cost" : f->columns->columns[own].name, "module", "build_id",
		"why", "tried"};
	memcpy(all->columns, columns, sizeof(columns));
	all->whole = f->columns->n > 0 ? totals->of[0] : 0;
	all->advice = known->advice;
}

int pmfs_missings(struct pmfs_model *m, const struct pmfs_missings **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_missings), .what = "what has no names", .build = build_missings};
	return pmfs_model_part(m, PMFS_PART_MISSING, &type, ret, err);
}

/* ---- by category, of single threads ---- */

void pmfs_thread_categories_start(struct pm_arena *a, struct pmfs_thread_categories *t,
	struct pmfs_model *m, struct pm_error *err)
{
	uint32_t until[PMFS_N_CATEGORIES] = {0};
	t->arena = a;
	t->model = m;
	pm_build_check(a, pmfs_model_columns(m, &t->columns, err));
	pm_build_check(a, pmfs_model_tree(m, &t->tree, err));
	pm_build_check(a, pmfs_identity(m, &t->identity, err));
	pm_build_check(a, pmfs_categories(m, &t->of, err));
	t->outer = pm_arena_array(a, (size_t)t->tree->n_contexts + 1, sizeof(*t->outer));
	t->cells = pmfs_cells_new(a, PMFS_N_CATEGORIES * (size_t)t->columns->n);
	for (uint32_t i = 0; i < t->tree->n_contexts; i++) {
		t->outer[i] = i >= until[t->of[i]];
		if (t->outer[i])
			until[t->of[i]] = t->tree->end[i];
	}
}

static void add_context(void *self, uint32_t context, const pm_number *cells)
{
	struct pmfs_thread_categories *t = self;
	uint32_t own = t->columns->first_excl, parent = t->tree->parent[context];
	struct pmfs_share share = {.row = t->of[context],
		.above = parent == PM_NONE ? PM_NONE : t->of[parent],
		.nested = pmfs_is_nested(t->identity, context),
		.counts = true,
		.outer = t->outer[context]};
	if (pm_tree_number(t->tree, context) == 0 && own != PM_NONE && !isnan(cells[own]))
		t->nothing = cells[own];
	pmfs_share_costs(t->columns, t->cells, NULL, &share, cells);
}

static void read_contexts(void *context)
{
	struct pmfs_thread_categories *t = context;
	pmfs_values_by_context(t->arena, t->model, t->thread, add_context, t, t->err);
}

int pmfs_thread_categories_read(
	struct pmfs_thread_categories *t, uint32_t thread, struct pm_error *err)
{
	for (uint32_t i = 0; i < PMFS_N_CATEGORIES * t->columns->n; i++)
		t->cells[i] = NAN;
	t->nothing = 0;
	t->thread = thread;
	t->err = err;
	return pm_error_plain(err, pm_build(t->arena, read_contexts, t));
}
