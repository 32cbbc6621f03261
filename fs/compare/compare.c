/*
 * The profile of a comparison. It only has documents: what the runs have in common is not the tree
 * of one run, and views for one run would not show the differences.
 */
#include "fs/compare/compare.h"

#include <stdlib.h>

#include "fs/compare/documents.h"
#include "fs/compare/internal.h"

static int compare_tree(
	const struct pm_profile *p, const struct pm_tree **ret, struct pm_error *err)
{
	static const struct pm_bytes text = {(const uint8_t *)"", 0};
	static const struct pm_tree empty = {.ordered_by = PM_NONE, .n_texts = 1, .texts = &text};
	(void)p;
	(void)err;
	*ret = &empty;
	return 0;
}

static int compare_metrics(
	const struct pm_profile *p, const struct pm_metrics **ret, struct pm_error *err)
{
	static const struct pm_metrics none;
	(void)p;
	(void)err;
	*ret = &none;
	return 0;
}

static int64_t compare_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	(void)p;
	(void)context;
	(void)ret;
	(void)room;
	(void)err;
	return 0;
}

static int64_t compare_values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	(void)p;
	(void)of;
	(void)first;
	(void)ret;
	(void)room;
	(void)err;
	return 0;
}

static int compare_damage(
	const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err)
{
	static const struct pm_damages none;
	(void)p;
	(void)err;
	*ret = &none;
	return 0;
}

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
	.tree = compare_tree,
	.metrics = compare_metrics,
	.run_costs = compare_run_costs,
	.values = compare_values,
	.damage = compare_damage,
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
		.self = c,
	};
	*ret = &c->profile;
	return 0;
}
