/*
 * cycles.csv and cycle-members.csv: functions that call one another in a circle, of profiles that
 * have call edges only. A row's position is its number.
 */
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/functions.h"

static int cycles_of(struct pmfs_model *m, const struct pm_cycles **ret,
	const struct pmfs_functions **ret_functions, struct pm_error *err)
{
	const struct pm_flat *flat;
	int r = pmfs_model_flat(m, &flat, err);
	*ret = r < 0 ? NULL : flat->cycles;
	return r < 0 ? r : pmfs_functions(m, ret_functions, err);
}

static const pm_number *costs_of(const struct pmfs_functions *f, uint32_t function)
{
	return f->cells + (size_t)f->row[f->identity->same[function]] * f->columns->n;
}

static int cycles_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_cycles *c;
	const struct pmfs_functions *f;
	int r = cycles_of(pmfs_model_of(rows->table->self), &c, &f, err);
	if (r < 0 || !c || rows->at >= c->n)
		return r;
	uint32_t cycle = (uint32_t)rows->at++;
	pm_number *sums = pmfs_cells_new(NULL, f->columns->n);
	if (!sums)
		return pmfs_no_memory(err);
	/* Inclusive costs of members are unknown: the cycle has its own. */
	for (uint32_t i = c->first[cycle]; i < c->first[cycle + 1]; i++)
		pmfs_add_cells(f->columns, sums, costs_of(f, c->members[i]), false);
	pmfs_add_cells(f->columns, sums, costs_of(f, c->functions[cycle]), true);
	pm_set_u64(cells++, cycle + 1);
	pm_set_u64(cells++, c->first[cycle + 1] - c->first[cycle]);
	cells = pmfs_number_cells(f->columns, sums, cells);
	free(sums);
	*cells = pm_cell_lasting(
		f->identity->functions[f->identity->same[c->functions[cycle]]].name);
	return 1;
}

int pmfs_cycles_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = cycles_next, .dense = true};
	static const char *const before[] = {"cycle_id", "functions", NULL};
	static const char *const after[] = {"name", NULL};
	(void)item;
	return pmfs_table_with_metrics(m, &type, before, after, ret, err);
}

static int members_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_cycles *c;
	const struct pmfs_functions *f;
	int r = cycles_of(pmfs_model_of(rows->table->self), &c, &f, err);
	if (r < 0 || !c || rows->at >= c->first[c->n])
		return r;
	uint32_t at = (uint32_t)rows->at++, cycle = (uint32_t)rows->state[0];
	if (at < c->first[cycle])
		cycle = 0; /* a cursor that has begun anew */
	while (at >= c->first[cycle + 1])
		cycle++;
	rows->state[0] = cycle;
	uint32_t row = f->row[f->identity->same[c->members[at]]];
	pm_set_u64(cells++, cycle + 1);
	pm_set_u64(cells++, pmfs_function_id(f, row));
	cells = pmfs_number_cells(f->columns, costs_of(f, c->members[at]), cells);
	*cells = pm_cell_lasting(pmfs_function_name(f, row));
	return 1;
}

int pmfs_cycle_members_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = members_next, .dense = true};
	static const char *const before[] = {"cycle_id", "function_id", NULL};
	static const char *const after[] = {"name", NULL};
	(void)item;
	return pmfs_table_with_metrics(m, &type, before, after, ret, err);
}

int pmfs_has_cycles(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return pmfs_model_profile(m)->has_cycles;
}
