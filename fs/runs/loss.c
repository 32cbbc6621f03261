#include "fs/runs/loss.h"

uint32_t pmfs_busy_threads(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	for (uint32_t i = g->first; i < g->first + g->n; i++)
		if (!facts->of[i].broken)
			return facts->of[i].busy;
	return 0;
}

bool pmfs_loss_factor(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group, double *ret)
{
	uint32_t base = pmfs_busy_threads(e, facts, e->base);
	uint32_t threads = pmfs_busy_threads(e, facts, group);
	*ret = e->options.weak && base > 0 ? (double)threads / base : 1;
	return base > 0 && threads > 0;
}
