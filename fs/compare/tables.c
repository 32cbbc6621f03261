/* The joined tables as documents: functions, lines, modules, files, categories, callers,
 * operations of GPUs. */
#include "fs/compare/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The joined tables as documents: functions, lines, modules, files, categories, callers. */

/* ---- the part ---- */

static void *joined_build(struct pm_arena *a, struct pmfs_compare *c, enum pmfs_compare_part which,
	struct pm_error *err)
{
	struct pmfs_joined *j = pm_arena_alloc(a, sizeof(*j));
	pm_build_check(a,
		which == PMFS_COMPARE_GPU ? pmfs_compare_gpu_costs(c, &j->costs, err)
					  : pmfs_compare_costs(c, &j->costs, err));
	pmfs_match_init(&j->match, a, c->of.exact || which == PMFS_COMPARE_CATEGORIES,
		which == PMFS_COMPARE_MODULES || which == PMFS_COMPARE_FILES);
	if (which == PMFS_COMPARE_LINES)
		pmfs_lines_join(a, c, j, err);
	else
		pmfs_flat_join(a, c, which, j, err);
	return j;
}

int pmfs_joined_get(struct pmfs_compare *c, enum pmfs_compare_part which,
	const struct pmfs_joined **ret, struct pm_error *err)
{
	if (which == PMFS_COMPARE_FUNCTIONS)
		return pmfs_functions_get(c, ret, err);
	return pmfs_compare_get(c, which, joined_build, ret, err);
}

/* ---- rows: table.a = the part; a row's position is its number ---- */

static int table_columns(struct pm_table *table, struct pm_error *err)
{
	const struct pmfs_costs *costs;
	struct pmfs_compare *c = pmfs_compare_of(table->self);
	int r = table->a == PMFS_COMPARE_GPU ? pmfs_compare_gpu_costs(c, &costs, err)
					     : pmfs_compare_costs(c, &costs, err);
	if (r < 0)
		return r;
	table->columns = costs->columns[table->a];
	table->n_columns = costs->n_columns[table->a];
	return 0;
}

static void set_line(struct pm_cell *cell, uint32_t line)
{
	if (line)
		pm_set_u64(cell, line);
	else
		pm_set_empty(cell);
}

/* A line that has another number is found by its place among the others. */
static struct pm_bytes matched_of(const struct pmfs_joined_row *row)
{
	bool moved = row->line[PMFS_BASE] != row->line[PMFS_OTHER];
	if (row->sides != PMFS_BOTH_SIDES)
		return pmfs_matched_text(PMFS_UNMATCHED);
	if (moved && row->matched < PMFS_ORDER)
		return pmfs_matched_text(PMFS_ORDER);
	/* Of names alone: those of functions that are not matched are equal. */
	if (row->matched == PMFS_UNMATCHED)
		return pmfs_matched_text(PMFS_EXACT);
	return pmfs_matched_text((enum pmfs_matched)row->matched);
}

static struct pm_cell *cost_cells(const struct pmfs_joined *j, uint32_t row, struct pm_cell *cells)
{
	for (uint32_t i = 0; i < j->costs->n_shown; i++) {
		struct pmfs_pair pair;
		for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
			struct pmfs_sample s = pmfs_joined_sample(j, row, i, side);
			pair.value[side] = j->mean[side][(size_t)row * j->costs->n + i];
			pair.stddev[side] = pmfs_sample_stddev(&s);
		}
		cells = pmfs_pair_cells(j->costs, i, &pair, cells);
	}
	const pm_number *const mean[PMFS_N_SIDES] = {j->mean[PMFS_BASE] + (size_t)row * j->costs->n,
		j->mean[PMFS_OTHER] + (size_t)row * j->costs->n};
	return pmfs_compared_derived_cells(j->costs, mean, cells);
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_compare *c = pmfs_compare_of(rows->table->self);
	enum pmfs_compare_part which = (enum pmfs_compare_part)rows->table->a;
	const struct pmfs_joined *j;
	int r = pmfs_joined_get(c, which, &j, err);
	if (r < 0 || rows->at >= j->n)
		return r;
	struct pm_cell *last = cells + rows->table->n_columns;
	uint32_t row = j->order[rows->at++];
	const struct pmfs_joined_row *of = &j->rows[row];
	if (which == PMFS_COMPARE_LINES) {
		uint32_t line = of->line[PMFS_OTHER] ? of->line[PMFS_OTHER] : of->line[PMFS_BASE];
		set_line(cells++, of->line[PMFS_BASE]);
		set_line(cells++, line);
	}
	cells = cost_cells(j, row, cells);
	*cells++ = pmfs_cell(j->p[row]);
	*cells++ = pmfs_cell(j->q[row]);
	pm_set_text(cells++, matched_of(of));
	pm_set_text(cells++, pmfs_compare_side(c, of->sides));
	for (unsigned i = 0; cells < last; i++)
		pm_set_text(cells++, of->text[i]);
	return 1;
}

struct pm_table pmfs_joined_table(struct pmfs_compare *c, enum pmfs_compare_part which)
{
	static const struct pm_table_type type = {
		.next = rows_next, .columns = table_columns, .dense = true};
	return (struct pm_table){.type = &type, .self = c, .a = which};
}

/*
 * ---- names.csv: spellings in rows with several names, in order of first sight. A position is
 * twice that of a spelling, and one more for the other side, where a number may mean another
 * function.
 */

static bool is_of_several(const struct pmfs_match *m, uint64_t at)
{
	const struct pmfs_spelling *s = &m->spellings[at / 2];
	uint32_t group = s->group[at % 2];
	if (group == PM_NONE || (at % 2 == PMFS_OTHER && group == s->group[PMFS_BASE]))
		return false;
	return m->groups[group].n_names > 1;
}

static int names_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_joined *j;
	int r = pmfs_joined_get(
		pmfs_compare_of(rows->table->self), PMFS_COMPARE_FUNCTIONS, &j, err);
	if (r < 0)
		return r;
	const struct pmfs_match *m = &j->match;
	while (rows->at < 2 * (uint64_t)m->n && !is_of_several(m, rows->at))
		rows->at++;
	if (rows->at >= 2 * (uint64_t)m->n)
		return 0;
	rows->row = rows->at;
	const struct pmfs_spelling *s = &m->spellings[rows->at / 2];
	const struct pmfs_match_group *g = &m->groups[s->group[rows->at % 2]];
	rows->at++;
	pm_set_u64(&cells[0], g->n_names);
	pm_set_text(&cells[1], g->name);
	pm_set_text(&cells[2], pmfs_match_text(m, s->name));
	return 1;
}

struct pm_table pmfs_joined_names_table(struct pmfs_compare *c)
{
	static const struct pm_table_type type = {.next = names_next, .dense = true};
	static const char *const columns[] = {"names", "name", "joined"};
	return (struct pm_table){.type = &type, .columns = columns, .n_columns = 3, .self = c};
}

/* ---- metrics.csv: one row per quantity ---- */

static int totals_columns(struct pm_table *table, struct pm_error *err)
{
	static const char *const plain[] = {"quantity", "base", "value", "diff", "ratio"};
	static const char *const repeated[] = {
		"quantity", "base", "base_stddev", "value", "value_stddev", "diff", "ratio", "p"};
	const struct pmfs_costs *costs;
	int r = pmfs_compare_costs(pmfs_compare_of(table->self), &costs, err);
	if (r < 0)
		return r;
	table->columns = pmfs_compare_repeated(costs) ? repeated : plain;
	table->n_columns = pmfs_compare_repeated(costs) ? 8 : 5;
	return 0;
}

/*
 * A derived metric, of the totals: those of own and of inclusive costs are the same, of which there
 * is one.
 */
static int derived_total(const struct pmfs_costs *k, struct pm_rows *rows, struct pm_cell *cells,
	struct pm_error *err)
{
	const pm_number *const totals[PMFS_N_SIDES] = {NULL};
	uint64_t i = rows->at - k->n_shown_quantities;
	while (i > 0 && i < k->n_derived && strcmp(k->derived[i - 1].base, k->derived[i].base) == 0)
		i++;
	if (i >= k->n_derived)
		return 0;
	struct pm_cell *all = calloc((size_t)k->n_derived * PMFS_DERIVED_CELLS, sizeof(*all));
	if (!all)
		return pm_error_plain(err, -ENOMEM);
	pmfs_compared_derived_cells(k, totals, all);
	const struct pm_cell *of = all + i * PMFS_DERIVED_CELLS;
	bool repeated = pmfs_compare_repeated(k);
	rows->row = k->n_shown_quantities + i;
	rows->at = rows->row + 1;
	for (uint32_t column = 0; column < rows->table->n_columns; column++)
		pm_set_empty(&cells[column]);
	pm_set_text(&cells[0], pm_bytes_of(k->derived[i].base));
	cells[1] = of[0];
	cells[repeated ? 3 : 2] = of[1];
	cells[repeated ? 5 : 3] = of[2];
	cells[repeated ? 6 : 4] = of[3];
	free(all);
	return 1;
}

static int totals_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_costs *k;
	int r = pmfs_compare_costs(pmfs_compare_of(rows->table->self), &k, err);
	if (r < 0 || rows->at >= k->n_shown_quantities)
		return r < 0 ? r : derived_total(k, rows, cells, err);
	uint32_t quantity = (uint32_t)rows->at;
	const struct pmfs_sample *base = &k->whole[PMFS_BASE][quantity];
	const struct pmfs_sample *other = &k->whole[PMFS_OTHER][quantity];
	bool has_base = pmfs_quantity_has(k, quantity, PMFS_BASE);
	bool has_other = pmfs_quantity_has(k, quantity, PMFS_OTHER), both = has_base && has_other;
	bool repeated = pmfs_compare_repeated(k);
	rows->at++;
	pm_set_text(cells++, pm_bytes_of(pmfs_quantity_cost(k, quantity)->stem));
	*cells++ = pmfs_cell(has_base ? base->mean : NAN);
	if (repeated)
		*cells++ = pmfs_cell(has_base ? pmfs_sample_stddev(base) : NAN);
	*cells++ = pmfs_cell(has_other ? other->mean : NAN);
	if (repeated)
		*cells++ = pmfs_cell(has_other ? pmfs_sample_stddev(other) : NAN);
	*cells++ = pmfs_cell(both ? other->mean - base->mean : NAN);
	*cells++ = pmfs_cell(both ? pmfs_ratio(base->mean, other->mean) : NAN);
	if (repeated)
		*cells = pmfs_cell(both ? pmfs_welch(base, other) : NAN);
	return 1;
}

struct pm_table pmfs_totals_table(struct pmfs_compare *c)
{
	static const struct pm_table_type type = {
		.next = totals_next, .columns = totals_columns, .dense = true};
	return (struct pm_table){.type = &type, .self = c};
}

/* ---- functions.csv for tables of the ensemble, which show the same numbers ---- */

static uint32_t cost_of(const struct pmfs_costs *k, const char *quantity, bool incl)
{
	for (uint32_t i = 0; quantity && i < k->n; i++)
		if (strcmp(k->costs[i].stem, quantity) == 0 &&
			(k->costs[i].role == PM_ROLE_INCLUSIVE) == incl)
			return i;
	return PM_NONE;
}

int pmfs_compare_functions(const struct pm_profile *p, const char *quantity,
	struct pmfs_compared *ret, struct pm_error *err)
{
	const struct pmfs_joined *j;
	int r = pmfs_functions_get(p->self, &j, err);
	if (r < 0)
		return r;
	const struct pmfs_costs *k = j->costs;
	uint32_t own = cost_of(k, quantity, false), incl = cost_of(k, quantity, true);
	*ret = (struct pmfs_compared){
		.joined = j, .n = j->n, .order = j->order, .own = own, .incl = incl};
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		uint32_t any = own != PM_NONE ? own : incl;
		ret->whole[side] = any == PM_NONE || !k->costs[any].has[side]
			? NAN
			: k->whole[side][k->costs[any].quantity].mean;
	}
	while (ret->n_base < j->match.n &&
		j->match.spellings[ret->n_base].group[PMFS_BASE] != PM_NONE)
		ret->n_base++;
	return 0;
}

static double mean_of(
	const struct pmfs_compared *c, uint32_t row, uint32_t cost, enum pmfs_side side)
{
	const struct pmfs_costs *k = c->joined->costs;
	if (cost == PM_NONE || !k->costs[cost].has[side])
		return NAN;
	return c->joined->mean[side][(size_t)row * k->n + cost];
}

struct pmfs_compared_row pmfs_compared_row(const struct pmfs_compared *c, uint32_t row)
{
	const struct pmfs_joined_row *of = &c->joined->rows[row];
	struct pmfs_compared_row ret = {
		.module = of->text[0],
		.file = of->text[1],
		.name = of->text[2],
		.joined = of->matched == PMFS_JOINED,
	};
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		ret.own[side] = mean_of(c, row, c->own, (enum pmfs_side)side);
		ret.incl[side] = mean_of(c, row, c->incl, (enum pmfs_side)side);
	}
	return ret;
}

double pmfs_compared_of_run(const struct pmfs_compared *c, uint32_t row, uint32_t run)
{
	const pm_number *own = c->joined->own_of[run];
	return own ? own[row] : NAN;
}

uint32_t pmfs_compared_base(
	const struct pmfs_compared *c, uint32_t spelling, struct pm_bytes ret_text[3])
{
	const struct pmfs_match *m = &c->joined->match;
	const struct pmfs_spelling *s = &m->spellings[spelling];
	ret_text[0] = pmfs_match_text(m, s->name);
	ret_text[1] = pmfs_match_text(m, s->module);
	ret_text[2] = pmfs_match_text(m, s->file);
	return c->joined->row_of[s->group[PMFS_BASE]];
}
