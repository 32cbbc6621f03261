/* report/: the data of report.html, found by name and never listed. */
#include "fs/tree/internal.h"

#include "fs/views/report/report.h"

#define REPORT_NODE (pmfs_node(PMFS_REPORT, 0, 0))

int pmfs_report_root_lookup(struct pm_bytes name, struct pmfs_entry *ret)
{
	if (!pm_bytes_equal(name, pm_bytes_of("report")))
		return pmfs_no_entry();
	return pmfs_entry_fill(ret, name, REPORT_NODE, PMFS_DIRECTORY);
}

static int report_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	struct pmfs_report_key key;
	(void)t;
	(void)dir;
	(void)err;
	if (!pmfs_report_find(name, &key))
		return pmfs_no_entry();
	return pmfs_entry_fill(ret, name, pmfs_node(PMFS_REPORT_DATA, key.a, key.b), PMFS_FILE);
}

static int report_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	(void)t;
	(void)dir;
	(void)cookie;
	(void)ret;
	(void)err;
	return 0;
}

const struct pmfs_dir pmfs_dir_report = {
	.lookup = report_lookup,
	.next = report_next,
};

int pmfs_report_data_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	struct pmfs_report_key key = {pmfs_node_a(node), pmfs_node_b(node)};
	(void)err;
	if (!pmfs_report_has(key))
		return pmfs_no_entry();
	*ret = pmfs_report_document(t->model, key);
	return 0;
}
