/*
 * callers.csv: all call edges, and those of one function as functions/F/callers.csv and
 * callees.csv. A row's position is its place in the list of edges.
 */
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/functions.h"

/* Which edges: all (callers.csv), or those of a function's row. */
enum { ALL_CALLS, CALLS_TO, CALLS_FROM };

/* The list of edges that a table shows. */
static uint32_t choose(const struct pmfs_calls *c, const struct pmfs_functions *f,
	const struct pm_table *table, const uint32_t **ret)
{
	if (table->a == ALL_CALLS) {
		*ret = c->order;
		return c->n;
	}
	uint32_t function = f->function[table->b];
	bool to = table->a == CALLS_TO;
	const uint32_t *first = to ? c->callee_first : c->caller_first;
	*ret = (to ? c->by_callee : c->by_caller) + first[function];
	return first[function + 1] - first[function];
}

static struct pm_cell id_cell(const struct pmfs_functions *f, uint32_t function)
{
	if (function == PM_NONE || f->row[function] == PM_NONE)
		return pm_cell_empty();
	return pm_cell_u64(pmfs_function_id(f, f->row[function]));
}

static struct pm_cell name_cell(const struct pmfs_identity *id, uint32_t function)
{
	if (function == PM_NONE)
		return pm_cell_empty();
	return pm_cell_lasting(id->functions[function].name);
}

static int calls_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_functions *f;
	const struct pmfs_calls *c;
	const uint32_t *list;
	int r = pmfs_calls(m, &c, err);
	if (r < 0 || (r = pmfs_functions(m, &f, err)) < 0)
		return r;
	if (rows->at >= choose(c, f, rows->table, &list))
		return 0;
	uint32_t i = list[rows->at++];
	const struct pmfs_call_edge *call = &c->calls[i];
	*cells++ = id_cell(f, call->caller);
	*cells++ = id_cell(f, call->callee);
	pmfs_set_known(cells++, call->calls, PMFS_UNCOUNTED);
	const pm_number *numbers = c->cells + (size_t)i * c->columns->n;
	for (uint32_t k = 0; k < c->columns->n_shown; k++)
		if (k != c->columns->calls)
			*cells++ = pmfs_cell(numbers[k]);
	pmfs_derived_cells(c->columns, numbers, cells);
	cells += c->columns->n_derived;
	pmfs_set_known(cells++, call->line, 0);
	*cells++ = pm_cell_lasting(c->tree->texts[call->file]);
	*cells++ = name_cell(c->identity, call->caller);
	*cells++ = name_cell(c->identity, call->callee);
	return 1;
}

/* The metric column `calls` is left out: the table has one of its own. */
static int calls_table(struct pmfs_model *m, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = calls_next, .dense = true};
	static const char *const before[] = {"caller_id", "callee_id", "calls", NULL};
	static const char *const plain[] = {"", NULL};
	static const char *const after[] = {"line", "file", "caller", "callee", NULL};
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	if (r < 0)
		return r;
	*ret = (struct pm_table){.type = &type, .self = m};
	return pmfs_model_header(
		m, before, plain, after, c->calls, &ret->columns, &ret->n_columns, err);
}

int pmfs_callers_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	(void)item;
	return calls_table(m, ret, err);
}

int pmfs_function_callers_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	int r = calls_table(m, ret, err);
	ret->a = CALLS_TO;
	ret->b = item;
	return r;
}

int pmfs_function_callees_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	int r = calls_table(m, ret, err);
	ret->a = CALLS_FROM;
	ret->b = item;
	return r;
}
