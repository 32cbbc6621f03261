/* Derived columns of a comparison: the formula over the means of each side. */
#include <math.h>

#include "fs/compare/join.h"

struct side_of_row {
	const struct pmfs_costs *costs;
	const double *mean; /* NULL: the row of totals */
	enum pmfs_side side;
	const struct pm_cell *derived; /* cells of all derived columns so far */
};

static double value_of(const void *self, uint32_t leaf)
{
	const struct side_of_row *row = self;
	if (leaf & PMFS_LEAF_DERIVED)
		return pmfs_cell_number(
			&row->derived[(leaf & ~PMFS_LEAF_DERIVED) * PMFS_DERIVED_CELLS +
				(unsigned)row->side]);
	const struct pmfs_cost *cost = &row->costs->costs[leaf];
	if (row->mean)
		return cost->has[row->side] ? row->mean[leaf] : NAN;
	return pmfs_quantity_has(row->costs, cost->quantity, row->side)
		? row->costs->whole[row->side][cost->quantity].mean
		: NAN;
}

struct pm_cell *pmfs_compared_derived_cells(const struct pmfs_costs *costs,
	const double *const mean[PMFS_N_SIDES], struct pm_cell *cells)
{
	struct pm_cell *first = cells;
	for (uint32_t i = 0; i < costs->n_derived; i++, cells += PMFS_DERIVED_CELLS) {
		double value[PMFS_N_SIDES];
		for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
			struct side_of_row row = {costs, mean[side], (enum pmfs_side)side, first};
			value[side] = pm_formula_value(&costs->derived[i].formula, value_of, &row);
			cells[side] = pmfs_cell(value[side]);
		}
		cells[2] = pmfs_cell(value[PMFS_OTHER] - value[PMFS_BASE]);
		cells[3] = pmfs_cell(pmfs_ratio(value[PMFS_BASE], value[PMFS_OTHER]));
	}
	return cells;
}
