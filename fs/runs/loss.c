#include "fs/runs/loss.h"

double pmfs_busy_threads(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	uint64_t threads = 0;
	uint32_t n = 0;
	for (uint32_t i = g->first; i < g->first + g->n; i++) {
		if (facts->of[i].broken)
			continue;
		threads += facts->of[i].busy;
		n++;
	}
	return n ? (double)threads / n : 0;
}

bool pmfs_loss_factor(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group, double *ret)
{
	double base = pmfs_busy_threads(e, facts, e->base);
	double threads = pmfs_busy_threads(e, facts, group);
	*ret = e->options.weak && base > 0 ? threads / base : 1;
	return base > 0 && threads > 0;
}
