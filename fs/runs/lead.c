#include "fs/runs/lead.h"

#include <math.h>

double pmfs_whole_of(const struct pmfs_run_facts *f, uint32_t quantity)
{
	for (uint32_t k = 0; k < f->n_totals; k++)
		if (f->totals[k].quantity == quantity)
			return f->totals[k].value;
	return NAN;
}

uint32_t pmfs_lead(const struct pmfs_ensemble *e, const struct pmfs_facts *facts)
{
	uint32_t first = e->runs.groups[e->base].first;
	if (!facts->of[first].broken && facts->of[first].lead != PM_NONE)
		return facts->of[first].lead;
	for (uint32_t i = 0; i < e->runs.n; i++)
		if (!facts->of[i].broken && facts->of[i].lead != PM_NONE)
			return facts->of[i].lead;
	return PM_NONE;
}

struct pmfs_column pmfs_lead_column(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t quantity)
{
	uint32_t i = 0;
	while (i < e->runs.n && (facts->of[i].broken || facts->of[i].lead != quantity))
		i++;
	struct pmfs_column column = {.export = "", .export_scale = 1};
	if (i < e->runs.n && facts->of[i].lead_export) {
		column.export = facts->of[i].lead_export;
		column.export_scale = facts->of[i].lead_scale;
	}
	return column;
}
