#include "fs/views/sums/rollups.h"

#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/groups.h"
#include "fs/views/sums/lines.h"
#include "fs/views/sums/totals.h"

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

int pmfs_add_statements(struct pmfs_model *m,
	uint32_t (*row_of)(const void *self, const struct pm_line *line), const void *self,
	double *cells, struct pm_error *err)
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
		r = pmfs_add_statements(m, row_of_line, &rolling, u->sums.cells, err);
	free(rolling.row_of_line);
	if (r == 0) {
		u->order = pmfs_order(
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
