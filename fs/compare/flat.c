/* Joins the flat tables of runs by the names of functions, modules, files, categories. */
#include "fs/compare/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/rollups.h"

/* A row in a run: spellings; those of callers are two, of which the first may be PM_NONE. */
struct row_key {
	uint32_t first, second;
	enum pmfs_side side;
};

struct joining {
	struct pm_arena *a, *scratch; /* of `joined`; while it is built */
	struct pmfs_compare *compare;
	const struct pmfs_costs *costs;
	enum pmfs_compare_part which;
	struct pmfs_joined *joined;
	const struct pmfs_joined *functions; /* `joined`, or already matched */
	struct pmfs_keyed keyed;             /* by struct row_key */
};

/* The place of its text among name, module, file. */
static unsigned text_place(enum pmfs_compare_part which)
{
	return which == PMFS_COMPARE_MODULES ? 1 : which == PMFS_COMPARE_FILES ? 2 : 0;
}

/* ---- rows whose keys are names: those of which the match makes one row become one ---- */

/* `cells` are the values of the run's columns. */
static void joining_add(
	struct joining *j, uint32_t run, uint32_t first, uint32_t second, const pm_number *cells)
{
	struct row_key key = {first, second, j->costs->runs[run].side};
	uint32_t known = (first + 1) << 1 | key.side; /* PM_NONE is 0 */
	pmfs_keyed_add(&j->keyed, run, known | (uint64_t)second << 32, &key, cells);
}

/* The row of the match for one of a key's spellings. */
static uint32_t group_of(const struct joining *j, const struct row_key *key, uint32_t spelling)
{
	if (spelling == PM_NONE)
		return PM_NONE;
	if (j->which == PMFS_COMPARE_CALLERS)
		return pmfs_match_named(&j->functions->match, spelling, key->side);
	return j->functions->match.spellings[spelling].group[key->side];
}

/* The texts in the order of the table's columns. */
static void show_row(
	const struct joining *j, uint32_t first, uint32_t second, struct pmfs_joined_row *row)
{
	const struct pmfs_match *m = &j->functions->match;
	struct pm_bytes names[2] = {pm_bytes_of(""), pm_bytes_of("")};
	for (unsigned i = 0; i < 2; i++) {
		uint32_t group = i == 0 ? first : second;
		if (group == PM_NONE)
			continue;
		names[i] = m->groups[group].name;
		if (m->groups[group].matched > row->matched)
			row->matched = m->groups[group].matched;
	}
	const struct pmfs_spelling *s =
		first == PM_NONE ? NULL : &m->spellings[m->groups[first].shown];
	if (j->which == PMFS_COMPARE_CALLERS) {
		row->text[0] = names[0];
		row->text[1] = names[1];
	} else if (j->which == PMFS_COMPARE_FUNCTIONS) {
		row->text[0] = pmfs_match_text(m, s->module);
		row->text[1] = pmfs_match_text(m, s->file);
		row->text[2] = names[0];
	} else if (j->which == PMFS_COMPARE_GPU) { /* the operation stands in place of a file */
		row->text[0] = pmfs_match_text(m, s->file);
		row->text[1] = pmfs_match_text(m, s->module);
		row->text[2] = names[0];
	} else {
		unsigned place = text_place(j->which);
		row->text[0] = place == 0 ? names[0]
					  : pmfs_match_text(m, place == 1 ? s->module : s->file);
	}
}

/* Keys with the same rows of the match become one row. */
static void make_rows(struct joining *j, uint32_t *of_key)
{
	struct pm_map rows = {.arena = j->scratch};
	struct pmfs_joined *joined = j->joined;
	const struct row_key *keys = j->keyed.keys;
	joined->rows = pm_arena_array(j->a, j->keyed.n + 1, sizeof(*joined->rows));
	for (size_t i = 0; i < j->keyed.n; i++) {
		const struct row_key *key = &keys[i];
		uint32_t first = group_of(j, key, key->first);
		uint32_t second = group_of(j, key, key->second);
		bool fresh;
		of_key[i] = *pm_map_put(&rows, (uint64_t)first << 32 | second, joined->n, &fresh);
		if (fresh)
			show_row(j, first, second, &joined->rows[joined->n++]);
		joined->rows[of_key[i]].sides |= (uint8_t)(1u << key->side);
	}
	for (uint32_t i = 0; joined->row_of && i < joined->match.n_groups; i++) {
		const uint32_t *row = pm_map_find(&rows, (uint64_t)i << 32 | PM_NONE);
		joined->row_of[i] = row ? *row : PM_NONE;
	}
}

/* The rows of the table, once everything is matched. */
static void joining_join(struct joining *j)
{
	uint32_t *of_key = pm_arena_array(j->scratch, j->keyed.n + 1, sizeof(*of_key));
	if (j->which == PMFS_COMPARE_FUNCTIONS)
		j->joined->row_of = pm_arena_array(
			j->a, (size_t)j->joined->match.n_groups + 1, sizeof(*j->joined->row_of));
	make_rows(j, of_key);
	pmfs_joined_sum(j->a, j->joined, &j->keyed, of_key);
	pm_arena_done(j->scratch);
}

void pmfs_compare_changed(struct pm_arena *a, struct pm_error *err)
{
	pm_build_fail(a, pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "a run has changed"));
}

static struct joining *joining_new(struct pm_arena *a, struct pmfs_compare *c,
	enum pmfs_compare_part which, struct pmfs_joined *joined)
{
	struct joining *j = pm_arena_alloc(a, sizeof(*j));
	*j = (struct joining){.a = a,
		.scratch = pm_arena_scratch(a),
		.compare = c,
		.which = which,
		.joined = joined,
		.functions = joined};
	return j;
}

/* Reads all runs, whose columns are those of j->joined->costs. */
static void joining_read(struct joining *j, struct pmfs_reader reader, struct pm_error *err)
{
	j->costs = j->joined->costs;
	pmfs_keyed_init(&j->keyed, j->scratch, j->costs, sizeof(struct row_key));
	pmfs_compare_read(j->a, j->compare, j->costs, reader, j, err);
}

/* The run may have been closed, and have other columns since. */
static void joining_check(
	const struct joining *j, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	pm_build_check(j->a, pmfs_model_columns(m, &columns, err));
	if (columns->n != j->costs->runs[run].n_columns)
		pmfs_compare_changed(j->a, err);
}

/* ---- functions.csv: matched once, for all tables of a comparison ---- */

void pmfs_compare_evals(
	struct pmfs_match *m, struct pmfs_model *run, bool exact, struct pm_error *err)
{
	const struct pm_flat *flat;
	const struct pm_tree *tree;
	pm_build_check(m->arena, pmfs_model_flat(run, &flat, err));
	if (exact || !flat->evals)
		return;
	pm_build_check(m->arena, pmfs_model_tree(run, &tree, err));
	pmfs_match_evals(m, flat->evals, tree->texts);
}

static void add_functions(struct joining *j, uint32_t run, const struct pmfs_identity *id)
{
	struct pmfs_match *m = &j->joined->match;
	enum pmfs_side side = j->costs->runs[run].side;
	uint32_t *of = pm_arena_array(j->a, (size_t)id->n + 1, sizeof(*of));
	j->joined->of[run] = of;
	j->joined->n_of[run] = id->n;
	for (uint32_t i = 0; i < id->n; i++) {
		const struct pmfs_function *f = &id->functions[i];
		if (i < id->tree->n_functions && id->same[i] != i) {
			of[i] = of[id->same[i]];
			continue;
		}
		const struct pm_bytes text[3] = {
			f->name, id->tree->texts[f->module], id->tree->texts[f->file]};
		pm_build_proceed(j->a);
		of[i] = pmfs_match_add(m, side, run, text);
		pmfs_match_line(m, of[i], side, f->line);
	}
}

static void read_functions(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct joining *j = self;
	const struct pmfs_functions *f;
	joining_check(j, run, m, err);
	pm_build_check(j->a, pmfs_functions(m, &f, err));
	pmfs_compare_evals(&j->joined->match, m, j->joined->match.exact, err);
	add_functions(j, run, f->identity);
	for (uint32_t i = 0; i < f->n; i++)
		joining_add(j, run, j->joined->of[run][f->function[i]], PM_NONE,
			f->cells + (size_t)i * f->columns->n);
	pmfs_match_run_ends(&j->joined->match);
}

static int prepare_functions(void *self, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_functions *functions;
	(void)self;
	return pmfs_functions(m, &functions, err);
}

/* ---- what functions call, for those that nothing else tells apart ---- */

/* The edges of a run whose functions have been matched. */
static const struct pmfs_calls *joining_calls(
	const struct joining *j, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_calls *calls;
	pm_build_check(j->a, pmfs_calls(m, &calls, err));
	if (calls->identity->n != j->functions->n_of[run])
		pmfs_compare_changed(j->a, err);
	return calls;
}

static int prepare_calls(void *self, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_calls *calls;
	(void)self;
	return pmfs_calls(m, &calls, err);
}

static void read_calls(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct joining *j = self;
	const uint32_t *of = j->joined->of[run];
	const struct pmfs_calls *c = joining_calls(j, run, m, err);
	for (uint32_t i = 0; i < c->n; i++)
		if (c->calls[i].caller != PM_NONE)
			pmfs_match_call(&j->joined->match, j->costs->runs[run].side,
				of[c->calls[i].caller], of[c->calls[i].callee]);
}

/* The cost that tables of the ensemble show for each run, or PM_NONE. */
static uint32_t kept_cost(const struct pmfs_compare *c, const struct pmfs_costs *k)
{
	for (uint32_t i = 0; c->of.of_runs && i < k->n; i++)
		if (strcmp(k->costs[i].stem, c->of.of_runs) == 0 &&
			k->costs[i].role != PM_ROLE_INCLUSIVE)
			return i;
	return PM_NONE;
}

static void *functions_build(struct pm_arena *a, struct pmfs_compare *c,
	enum pmfs_compare_part which, struct pm_error *err)
{
	struct pmfs_joined *joined = pm_arena_alloc(a, sizeof(*joined));
	struct joining *j = joining_new(a, c, which, joined);
	pm_build_check(a, pmfs_compare_costs(c, &joined->costs, err));
	size_t n = (size_t)joined->costs->n_runs + 1;
	pmfs_match_init(&joined->match, a, c->of.exact, false);
	joined->kept = kept_cost(c, joined->costs);
	joined->of = pm_arena_array(a, n, sizeof(*joined->of));
	joined->n_of = pm_arena_array(a, n, sizeof(*joined->n_of));
	joined->own_of = pm_arena_array(a, n, sizeof(*joined->own_of));
	joining_read(j, (struct pmfs_reader){prepare_functions, read_functions}, err);
	pmfs_match_families(&joined->match);
	if (joined->match.needs_calls)
		pmfs_compare_read(
			a, c, j->costs, (struct pmfs_reader){prepare_calls, read_calls}, j, err);
	pmfs_match_finish(&joined->match);
	joining_join(j);
	return joined;
}

int pmfs_functions_get(struct pmfs_compare *c, const struct pmfs_joined **ret, struct pm_error *err)
{
	return pmfs_compare_get(c, PMFS_COMPARE_FUNCTIONS, functions_build, ret, err);
}

/* ---- callers, modules, files, categories, GPUs ---- */

static void read_callers(
	struct joining *j, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	const uint32_t *of = j->functions->of[run];
	const struct pmfs_calls *c = joining_calls(j, run, m, err);
	uint32_t n = c->columns->n;
	pm_number *cells = pm_arena_array(j->scratch, (size_t)n + 1, sizeof(*cells));
	for (uint32_t i = 0; i < c->n; i++) {
		const struct pmfs_call_edge *call = &c->calls[c->order[i]];
		uint32_t caller = call->caller == PM_NONE ? PM_NONE : of[call->caller];
		memcpy(cells, c->cells + (size_t)c->order[i] * n, n * sizeof(*cells));
		if (c->columns->calls < n) /* callers.csv has those of the edge */
			cells[c->columns->calls] =
				call->calls == PMFS_UNCOUNTED ? NAN : (double)call->calls;
		joining_add(j, run, caller, of[call->callee], cells);
	}
}

/* ---- modules, files, categories: rows with a name ---- */

/* The numbers are by column of the run's model. */
static void add_named(
	struct joining *j, uint32_t run, struct pm_bytes name, const pm_number *numbers)
{
	const struct pm_bytes none = pm_bytes_of("");
	struct pm_bytes text[3] = {none, none, none};
	text[text_place(j->which)] = name;
	uint32_t spelling = pmfs_match_add(&j->joined->match, j->costs->runs[run].side, run, text);
	joining_add(j, run, spelling, PM_NONE, numbers);
}

static void read_categories(
	struct joining *j, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_category_sums *s = NULL;
	pm_build_check(j->a, pmfs_category_sums(m, &s, err));
	for (uint32_t i = 0; s && i < s->n; i++)
		add_named(j, run, pmfs_category_name((enum pmfs_category)s->order[i]),
			s->cells + (size_t)s->order[i] * s->columns->n);
}

static void read_rollup(struct joining *j, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_rollup *u;
	pm_build_check(j->a,
		j->which == PMFS_COMPARE_FILES ? pmfs_files(m, &u, err) : pmfs_modules(m, &u, err));
	for (uint32_t i = 0; i < u->sums.n; i++)
		add_named(j, run, u->names.items[u->order[i]],
			u->sums.cells + (size_t)u->order[i] * u->sums.columns->n);
}

/* ---- GPUs: from a table whose last column is the name ---- */

uint32_t pmfs_table_column(const struct pm_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->n_columns; i++)
		if (strcmp(pm_table_column(table, i), name) == 0)
			return i;
	return PM_NONE;
}

static void add_table_row(struct joining *j, uint32_t run, const struct pm_cell *cells,
	uint32_t n_cells, const uint32_t *places, const uint32_t key[3], pm_number *numbers)
{
	const struct pmfs_compared_run *of = &j->costs->runs[run];
	const struct pm_bytes none = pm_bytes_of("");
	const struct pm_cell *name = &cells[n_cells - 1];
	struct pm_bytes text[3] = {none, none, none};
	if (name->kind == PM_CELL_TEXT)
		text[0] = name->text;
	for (unsigned i = 1; i < 3; i++)
		if (key[i] != PM_NONE && cells[key[i]].kind == PM_CELL_TEXT)
			text[i] = cells[key[i]].text;
	for (uint32_t i = 0; i < of->n_columns; i++)
		numbers[i] = places[i] == PM_NONE ? NAN : pmfs_cell_number(&cells[places[i]]);
	uint32_t spelling = pmfs_match_add(&j->joined->match, of->side, run, text);
	joining_add(j, run, spelling, PM_NONE, numbers);
}

static void read_table(struct joining *j, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct pm_arena *a = pm_arena_scratch(j->scratch);
	struct pm_table table;
	pm_build_check(a, pmfs_compare_gpu_table(m, &table, err));
	uint32_t n = j->costs->runs[run].n_columns;
	const uint32_t key[3] = {PM_NONE, pmfs_table_column(&table, "module"),
		pmfs_table_column(&table, "operation")};
	uint32_t *places = pm_arena_array(a, (size_t)n + 1, sizeof(*places));
	pm_number *numbers = pm_arena_array(a, (size_t)n + 1, sizeof(*numbers));
	struct pm_table_reader *reading = pm_table_read(a, &table, 0, err);
	for (uint32_t i = 0; i < n; i++)
		places[i] = pmfs_table_column(
			&table, j->costs->costs[j->costs->runs[run].cost[i]].name);
	while (pm_table_next(a, reading, err))
		add_table_row(j, run, reading->cells, table.n_columns, places, key, numbers);
	pm_arena_done(a);
}

static void read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct joining *j = self;
	if (j->which != PMFS_COMPARE_GPU)
		joining_check(j, run, m, err);
	if (j->which == PMFS_COMPARE_CALLERS) {
		read_callers(j, run, m, err);
		return;
	}
	pmfs_compare_evals(&j->joined->match, m, j->compare->of.exact, err);
	if (j->which == PMFS_COMPARE_GPU)
		read_table(j, run, m, err);
	else if (j->which == PMFS_COMPARE_CATEGORIES)
		read_categories(j, run, m, err);
	else
		read_rollup(j, run, m, err);
	pmfs_match_run_ends(&j->joined->match);
}

/* What takes time: the first row of a table needs what all rows need. */
static int prepare(void *self, struct pmfs_model *m, struct pm_error *err)
{
	const struct joining *j = self;
	const struct pmfs_calls *calls;
	const struct pmfs_category_sums *sums;
	const struct pmfs_rollup *rollup;
	struct pm_rows rows = {.table = NULL};
	struct pm_table table;
	if (j->which == PMFS_COMPARE_CALLERS)
		return pmfs_calls(m, &calls, err);
	if (j->which == PMFS_COMPARE_CATEGORIES)
		return pmfs_category_sums(m, &sums, err);
	if (j->which != PMFS_COMPARE_GPU)
		return j->which == PMFS_COMPARE_FILES ? pmfs_files(m, &rollup, err)
						      : pmfs_modules(m, &rollup, err);
	int r = pmfs_compare_gpu_table(m, &table, err);
	struct pm_cell *cells = r < 0 ? NULL : malloc((table.n_columns + 1) * sizeof(*cells));
	if (cells && (r = pm_rows_start(&rows, &table, 0, err)) == 0)
		r = pm_rows_next(&rows, cells, err);
	pm_rows_done(&rows);
	free(cells);
	return r;
}

void pmfs_flat_join(struct pm_arena *a, struct pmfs_compare *c, enum pmfs_compare_part which,
	struct pmfs_joined *joined, struct pm_error *err)
{
	struct joining *j = joining_new(a, c, which, joined);
	if (which == PMFS_COMPARE_CALLERS)
		pm_build_check(a, pmfs_functions_get(c, &j->functions, err));
	joining_read(j, (struct pmfs_reader){prepare, read_run}, err);
	if (which != PMFS_COMPARE_CALLERS)
		pmfs_match_finish(&joined->match);
	joining_join(j);
}
