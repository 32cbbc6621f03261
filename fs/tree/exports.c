/* The directories that contain only views: export/ at the root and in each thread. */
#include "fs/tree/internal.h"

static enum pmfs_place export_place(pm_node dir)
{
	return pmfs_node_kind_of(dir) == PMFS_EXPORT ? PMFS_PLACE_EXPORT : PMFS_PLACE_THREAD_EXPORT;
}

static int export_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	if (pmfs_node_b(dir) != 0)
		return pmfs_no_entry();
	return pmfs_place_check(t, export_place(dir), pmfs_node_a(dir), err);
}

static int export_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	return pmfs_place_lookup(t, export_place(dir), pmfs_node_a(dir), name, ret, err);
}

static int export_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	return pmfs_place_next(t, export_place(dir), pmfs_node_a(dir), cookie, ret, err);
}

const struct pmfs_dir pmfs_dir_export = {
	.check = export_check,
	.lookup = export_lookup,
	.next = export_next,
};

const struct pmfs_dir pmfs_dir_thread_export = {
	.check = export_check,
	.lookup = export_lookup,
	.next = export_next,
	.parent = pmfs_thread_parent,
};
