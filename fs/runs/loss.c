#include "fs/runs/loss.h"

#include <math.h>

#include "fs/runs/lead.h"

struct pmfs_group_facts pmfs_group_facts(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	struct pmfs_group_facts ret = {.whole = NAN, .duration_ns = NAN};
	uint32_t lead = pmfs_lead(e, facts);
	double whole = 0, threads = 0, duration = 0;
	bool counted = true;
	for (uint32_t i = g->first; lead != PM_NONE && i < g->first + g->n; i++) {
		const struct pmfs_run_facts *f = &facts->of[i];
		double of_run = pmfs_whole_of(f, lead);
		if (f->broken || isnan(of_run))
			continue;
		ret.n++;
		whole += of_run;
		threads += f->busy;
		counted &= f->busy > 0;
		duration += f->duration_ns == PM_NO_TIME ? NAN : (double)f->duration_ns;
	}
	if (ret.n == 0)
		return ret;
	ret.whole = whole / ret.n;
	ret.threads = counted ? threads / ret.n : 0;
	ret.duration_ns = duration > 0 ? duration / ret.n : NAN;
	return ret;
}

bool pmfs_threads_differ(const struct pmfs_ensemble *e, const struct pmfs_facts *facts)
{
	uint32_t known = 0;
	for (uint32_t i = 0; i < e->runs.n; i++) {
		uint32_t busy = facts->of[i].broken ? 0 : facts->of[i].busy;
		if (busy && known && busy != known)
			return true;
		known = busy ? busy : known;
	}
	return false;
}

bool pmfs_loss_factor(const struct pmfs_ensemble *e, const struct pmfs_group_facts *base,
	const struct pmfs_group_facts *group, double *ret)
{
	*ret = e->options.weak && base->threads > 0 ? group->threads / base->threads : 1;
	return base->threads > 0 && group->threads > 0;
}
