#include "lead.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fs/views/model/flat.h"
#include "fs/views/sums/functions.h"

enum { MOST_COLUMNS = 8 }; /* that lead, one after the other */

static const char *columns_breach(const struct pmfs_columns *c)
{
	if (c->n_shown > 0 && (!c->lead || strcmp(c->lead, c->columns[0].base) != 0))
		return "the columns of what leads do not come first";
	for (uint32_t i = 1; i < c->n_shown; i++) {
		const struct pmfs_column *a = &c->columns[i - 1], *b = &c->columns[i];
		if (a->group == b->group && a->role == PM_ROLE_INCLUSIVE &&
			b->role == PM_ROLE_EXCLUSIVE)
			return "an inclusive column comes before that of own cost";
		if (a->group > b->group && a->group != c->columns[0].group)
			return "columns are not in database order";
	}
	return NULL;
}

/* As it is in order, by amount: no value is less than any. */
static bool falls(double before, double after)
{
	return isnan(before) ? !isnan(after) : fabs(after) > fabs(before) * (1 + 1e-9);
}

static const char *siblings_breach(
	struct pmfs_model *m, const struct pm_tree *tree, const struct pmfs_columns *c)
{
	uint32_t column = pmfs_leading_column(c);
	pm_number *cells = malloc((c->n + 1) * sizeof(*cells)),
		  *value = malloc(((size_t)tree->n_contexts + 1) * sizeof(*value));
	const char *breach = NULL;
	for (uint32_t i = 0; cells && value && i < tree->n_contexts; i++) {
		bool read = pmfs_run_cells(m, i, false, cells, NULL) == 0;
		value[i] = read ? cells[column] : NAN;
	}
	for (uint32_t i = 0; !breach && cells && value && i < tree->n_contexts; i++) {
		uint32_t next = tree->end[i], parent = tree->parent[i];
		uint32_t end = parent == PM_NONE ? tree->n_contexts : tree->end[parent];
		if (next < end && falls(value[i], value[next]))
			breach = "siblings are not in the order of what leads";
	}
	free(cells);
	free(value);
	return breach;
}

static const char *functions_breach(const struct pmfs_functions *f)
{
	uint32_t column = pmfs_order_column(f->columns);
	for (uint32_t row = 1; column != PM_NONE && row < f->n; row++)
		if (falls(pmfs_function_cell(f, row - 1, column),
			    pmfs_function_cell(f, row, column)))
			return "functions are not in the order of what leads";
	return NULL;
}

static const char *breach_of(struct pmfs_model *m)
{
	const struct pmfs_columns *c;
	const struct pmfs_functions *f;
	const struct pm_tree *tree;
	if (pmfs_model_columns(m, &c, NULL) < 0 || pmfs_model_tree(m, &tree, NULL) < 0 ||
		pmfs_functions(m, &f, NULL) < 0)
		return NULL; /* a source that has none of them says so elsewhere */
	const char *breach = columns_breach(c);
	if (!breach && pmfs_leading_column(c) != PM_NONE)
		breach = siblings_breach(m, tree, c);
	return breach ? breach : functions_breach(f);
}

const char *lead_breach(struct pmfs_instance *in)
{
	const struct pmfs_columns *c;
	const char *breach = breach_of(in->model);
	if (pmfs_model_columns(in->model, &c, NULL) < 0)
		return NULL;
	for (uint32_t i = 1; !breach && i < c->n_shown && i < MOST_COLUMNS; i++) {
		struct pmfs_model *m = pmfs_model_new(in->profile);
		if (!m)
			return "no memory";
		breach = pmfs_model_lead_with(m, c->columns[i].name, NULL) < 0
			? "a column cannot lead"
			: breach_of(m);
		pmfs_model_free(m);
	}
	return breach;
}
