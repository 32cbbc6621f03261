/*
 * Joins the flat tables of runs: functions, modules, files, categories, callers. The runs' own
 * tables are read, so values are the same as in the runs.
 */
#include "fs/compare/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "fs/views/model/catalog.h"

/* The columns of a run's table that identify a row: names, modules, files. */
struct source {
	pmfs_table_fn *table;
	const char *name, *module, *file;
	const char *second; /* another name: rows are pairs */
};

static const struct source sources[PMFS_COMPARE_N_PARTS] = {
	[PMFS_COMPARE_FUNCTIONS] = {pmfs_functions_table, "name", "module", "file", NULL},
	[PMFS_COMPARE_MODULES] = {pmfs_modules_table, NULL, "module", NULL, NULL},
	[PMFS_COMPARE_FILES] = {pmfs_files_table, NULL, NULL, "file", NULL},
	[PMFS_COMPARE_CATEGORIES] = {pmfs_categories_table, "category", NULL, NULL, NULL},
	[PMFS_COMPARE_CALLERS] = {pmfs_callers_table, "caller", NULL, NULL, "callee"},
};

/* Spellings; the second one is PM_NONE unless rows are pairs. */
struct key {
	uint32_t first, second;
};

struct joining {
	const struct pmfs_costs *costs;
	const struct source *source;
	struct pmfs_joined *joined;
	struct pmfs_run_rows *rows; /* by run */
	struct pm_map known;        /* two spellings → key */
	struct key *keys;
	size_t n_keys, room_keys;
};

static const struct pmfs_compared_run *next_run(const struct pmfs_costs *costs, uint32_t *i)
{
	while (*i < costs->n_runs && costs->runs[*i].broken)
		++*i;
	return *i < costs->n_runs ? &costs->runs[*i] : NULL;
}

int pmfs_compare_read(struct pmfs_compare *c, const struct pmfs_costs *costs,
	struct pmfs_reader reader, void *self, struct pm_error *err)
{
	struct pmfs_borrowed two = {.compare = c, .prepare = reader.prepare, .self = self};
	const struct pmfs_compared_run *run;
	int r = 0;
	for (uint32_t i = 0, n = 0; r == 0 && (run = next_run(costs, &i)); i++, n++) {
		uint32_t second = i + 1;
		struct pmfs_model *m;
		if (reader.prepare && n % 2 == 0) {
			pmfs_return(&two);
			pmfs_borrow(&two, run, next_run(costs, &second));
		}
		r = pmfs_compare_acquire(c, run, &m, err);
		if (r < 0)
			break;
		r = reader.read(self, i, m, err);
		pmfs_compare_release(c, run);
	}
	pmfs_return(&two);
	return r;
}

/* ---- a run's table ---- */

/* Indexes of a table's columns; PM_NONE if there is no such column. */
struct places {
	uint32_t text[3], second;
	uint32_t *cost; /* by column of the run's model */
};

static uint32_t find(const struct pm_table *table, const char *name)
{
	for (uint32_t i = 0; name && i < table->n_columns; i++)
		if (strcmp(pm_table_column(table, i), name) == 0)
			return i;
	return PM_NONE;
}

static int find_places(const struct joining *j, const struct pm_table *table,
	const struct pmfs_columns *columns, struct places *ret)
{
	ret->text[0] = find(table, j->source->name);
	ret->text[1] = find(table, j->source->module);
	ret->text[2] = find(table, j->source->file);
	ret->second = find(table, j->source->second);
	ret->cost = malloc(((size_t)columns->n + 1) * sizeof(*ret->cost));
	for (uint32_t i = 0; ret->cost && i < columns->n; i++)
		ret->cost[i] = find(table, columns->columns[i].name);
	return ret->cost ? 0 : -ENOMEM;
}

static struct pm_bytes text_at(const struct pm_cell *cells, uint32_t place)
{
	if (place == PM_NONE || cells[place].kind != PM_CELL_TEXT)
		return pm_bytes_of("");
	return cells[place].text;
}

static double number_at(const struct pm_cell *cells, uint32_t place)
{
	if (place == PM_NONE)
		return NAN;
	const struct pm_cell *cell = &cells[place];
	if (cell->kind == PM_CELL_F64)
		return cell->f;
	if (cell->kind == PM_CELL_I64)
		return (double)cell->i;
	return cell->kind == PM_CELL_U64 ? (double)cell->u : NAN;
}

static int intern_key(struct joining *j, struct key key, uint32_t *ret)
{
	bool fresh;
	uint32_t *known = pm_map_put(
		&j->known, (uint64_t)key.first << 32 | key.second, (uint32_t)j->n_keys, &fresh);
	if (!known)
		return -ENOMEM;
	*ret = *known;
	if (!fresh)
		return 0;
	if (pm_list_room(&j->keys, j->n_keys, &j->room_keys, sizeof(*j->keys)) < 0)
		return -ENOMEM;
	j->keys[j->n_keys++] = key;
	return 0;
}

static int key_of(struct joining *j, uint32_t run, const struct pm_cell *cells,
	const struct places *at, uint32_t *ret)
{
	enum pmfs_side side = j->costs->runs[run].side;
	const struct pm_bytes none = pm_bytes_of("");
	struct pm_bytes first[3], second[3] = {text_at(cells, at->second), none, none};
	struct key key = {.second = PM_NONE};
	for (unsigned i = 0; i < 3; i++)
		first[i] = text_at(cells, at->text[i]);
	int r = pmfs_match_add(&j->joined->match, side, run, first, &key.first);
	if (r == 0 && j->source->second)
		r = pmfs_match_add(&j->joined->match, side, run, second, &key.second);
	return r < 0 ? r : intern_key(j, key, ret);
}

static int add_row(
	struct joining *j, uint32_t run, const struct pm_cell *cells, const struct places *at)
{
	const struct pmfs_compared_run *of = &j->costs->runs[run];
	uint32_t key;
	if (key_of(j, run, cells, at, &key) < 0)
		return -ENOMEM;
	double *numbers = pmfs_run_rows_add(&j->rows[run], key, j->costs->n);
	if (!numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < of->n_columns; i++)
		numbers[of->cost[i]] = pmfs_compare_value(
			j->costs, of, of->cost[i], number_at(cells, at->cost[i]));
	return 0;
}

static int read_rows(struct joining *j, uint32_t run, const struct pm_table *table,
	const struct places *at, struct pm_error *err)
{
	struct pm_cell *cells = malloc(((size_t)table->n_columns + 1) * sizeof(*cells));
	struct pm_rows rows;
	if (!cells)
		return pmfs_compare_no_memory(err);
	int r = pm_rows_start(&rows, table, 0, err);
	while (r == 0 && (r = pm_rows_next(&rows, cells, err)) > 0)
		r = pm_work_cancelled() ? -ENOMEM : add_row(j, run, cells, at);
	pm_rows_done(&rows);
	free(cells);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}

static int read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct joining *j = self;
	const struct pmfs_columns *columns;
	struct pm_table table;
	struct places at;
	int r = pmfs_model_columns(m, &columns, err);
	if (r == 0)
		r = j->source->table(m, 0, &table, err);
	if (r < 0)
		return r;
	/* The run was closed and has changed since: its columns are different. */
	if (columns->n != j->costs->runs[run].n_columns)
		return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "a run has changed");
	if (find_places(j, &table, columns, &at) < 0)
		return pmfs_compare_no_memory(err);
	r = read_rows(j, run, &table, &at, err);
	pmfs_match_run_ends(&j->joined->match);
	free(at.cost);
	return r;
}

/* The first row needs what all rows need. */
static int prepare(void *self, struct pmfs_model *m, struct pm_error *err)
{
	const struct joining *j = self;
	struct pm_rows rows = {.table = NULL};
	struct pm_table table;
	int r = j->source->table(m, 0, &table, err);
	struct pm_cell *cells = r < 0 ? NULL : malloc((table.n_columns + 1) * sizeof(*cells));
	if (cells && (r = pm_rows_start(&rows, &table, 0, err)) == 0)
		r = pm_rows_next(&rows, cells, err);
	pm_rows_done(&rows);
	free(cells);
	return r;
}

/* ---- rows ---- */

static struct pm_bytes shown(const struct pmfs_match *m, uint32_t group, unsigned what)
{
	const struct pmfs_spelling *s = &m->spellings[m->groups[group].shown];
	return pmfs_match_text(m, what == 0 ? s->name : what == 1 ? s->module : s->file);
}

/* The texts in the order of the table's columns. */
static void show_row(
	const struct joining *j, uint32_t first, uint32_t second, struct pmfs_joined_row *row)
{
	const struct pmfs_match *m = &j->joined->match;
	const struct source *s = j->source;
	unsigned n = 0;
	if (s->module)
		row->text[n++] = shown(m, first, 1);
	if (s->file)
		row->text[n++] = shown(m, first, 2);
	if (s->name)
		row->text[n++] = shown(m, first, 0);
	if (s->second)
		row->text[n++] = shown(m, second, 0);
}

/* Keys with the same groups become one row. */
static int make_rows(struct joining *j, uint32_t *of_key)
{
	struct pm_map rows = {.slots = NULL};
	struct pmfs_joined *joined = j->joined;
	joined->rows = calloc(j->n_keys + 1, sizeof(*joined->rows));
	int r = joined->rows ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < j->n_keys; i++) {
		const struct pmfs_spelling *s = joined->match.spellings;
		uint32_t first = s[j->keys[i].first].group;
		uint32_t second =
			j->keys[i].second == PM_NONE ? PM_NONE : s[j->keys[i].second].group;
		bool fresh;
		uint32_t *row =
			pm_map_put(&rows, (uint64_t)first << 32 | second, joined->n, &fresh);
		if (!row) {
			r = -ENOMEM;
			continue;
		}
		of_key[i] = *row;
		if (fresh)
			show_row(j, first, second, &joined->rows[joined->n++]);
	}
	for (uint32_t run = 0; r == 0 && run < j->costs->n_runs; run++)
		for (uint32_t i = 0; i < j->rows[run].n; i++)
			joined->rows[of_key[j->rows[run].key[i]]].sides |=
				(uint8_t)(1u << j->costs->runs[run].side);
	pm_map_done(&rows);
	return r;
}

static int join(struct joining *j)
{
	uint32_t *of_key = malloc((j->n_keys + 1) * sizeof(*of_key));
	int r = of_key ? pmfs_match_finish(&j->joined->match) : -ENOMEM;
	if (r == 0)
		r = make_rows(j, of_key);
	if (r == 0)
		r = pmfs_joined_sum(j->joined, j->rows, of_key);
	free(of_key);
	return r;
}

int pmfs_flat_join(struct pmfs_compare *c, enum pmfs_compare_part which, struct pmfs_joined *j,
	struct pm_error *err)
{
	struct joining joining = {.costs = j->costs, .source = &sources[which], .joined = j};
	joining.rows = calloc((size_t)j->costs->n_runs + 1, sizeof(*joining.rows));
	int r = joining.rows ? 0 : -ENOMEM;
	if (r == 0)
		r = pmfs_compare_read(
			c, j->costs, (struct pmfs_reader){prepare, read_run}, &joining, err);
	if (r == 0)
		r = join(&joining);
	for (uint32_t i = 0; joining.rows && i < j->costs->n_runs; i++)
		pmfs_run_rows_done(&joining.rows[i]);
	free(joining.rows);
	free(joining.keys);
	pm_map_done(&joining.known);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}
