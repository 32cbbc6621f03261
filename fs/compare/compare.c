/*
 * The profile of a comparison. It only has documents: what the runs have in common is not the tree
 * of one run, and views for one run would not show the differences.
 */
#include "fs/compare/compare.h"

#include <stdlib.h>

#include "formats/common/nothing.h"
#include "fs/compare/documents.h"
#include "fs/compare/internal.h"

static void compare_close(struct pm_profile *p)
{
	struct pmfs_compare *c = p->self;
	for (unsigned i = PMFS_COMPARE_N_PARTS; i-- > 0;) /* later parts refer to earlier ones */
		if (c->parts[i].built)
			c->parts[i].free(c->parts[i].built);
	free(c);
}

static uint64_t compare_memory(const struct pm_profile *p)
{
	const struct pmfs_compare *c = p->self;
	return sizeof(*c) + __atomic_load_n(&c->bytes, __ATOMIC_RELAXED);
}

static const struct pm_profile_ops compare_ops = {
	.tree = pm_nothing_tree,
	.metrics = pm_nothing_metrics,
	.run_costs = pm_nothing_run_costs,
	.damage = pm_nothing_damage,
	.documents = pmfs_compare_documents,
	.close = compare_close,
	.memory = compare_memory,
};

int pmfs_compare_new(
	const struct pmfs_comparison *of, struct pm_profile **ret, struct pm_error *err)
{
	static const struct pm_lazy fresh = PM_LAZY_INIT;
	struct pmfs_compare *c = calloc(1, sizeof(*c));
	if (!c)
		return pmfs_compare_no_memory(err);
	c->of = *of;
	for (unsigned i = 0; i < PMFS_COMPARE_N_PARTS; i++)
		c->parts[i].lazy = fresh;
	c->profile = (struct pm_profile){
		.ops = &compare_ops,
		.format = "comparison",
		.source = of->name,
		.layout = "comparison",
		.title = pm_bytes_of(of->name),
		.kind_of_tree = "samples",
		.baseline = of->base_name,
		.self = c,
	};
	*ret = &c->profile;
	return 0;
}
