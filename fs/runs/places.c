/* Paths of runs, and the two sides of a comparison. */
#include "fs/runs/internal.h"

void pmfs_run_path(const struct pmfs_ensemble *e, uint32_t run, struct pm_text *out)
{
	const struct pmfs_run *r = &e->runs.runs[run];
	pm_text_str(out, "runs/");
	pm_text_str(out, e->runs_of.names[r->group]);
	if (e->runs.repeated)
		pm_text_printf(out, "/repetition=%u", r->repetition);
}

int pmfs_ensemble_compare(const struct pmfs_ensemble *e, uint32_t other, bool normalize,
	const char *of_runs, struct pm_profile **ret, struct pm_error *err)
{
	static const struct pmfs_group nothing = {.name = ""};
	const struct pmfs_group *base = &e->runs.groups[e->base], *group = &nothing;
	if (other + 1 < e->runs.n_groups)
		group = &e->runs.groups[e->others[other]];
	struct pmfs_comparison c = {.lender = pmfs_shelf_lender(e->shelf),
		.base_name = base->name,
		.name = group->name,
		.base = e->numbers + base->first,
		.runs = e->numbers + group->first,
		.n_base = base->n,
		.n_runs = group->n,
		.exact = e->options.exact,
		.normalize = normalize,
		.of_runs = of_runs,
		.metric = e->options.shelf.metric};
	return pmfs_compare_new(&c, ret, err);
}
