/*
 * focus/, ignore/, hide/ and from/ of a thread: found by name. Their filters are items of the run's
 * collections, found in the thread's own directories.
 */
#include "fs/tree/internal.h"

int pmfs_filters_of_thread(
	struct pmfs_tree *t, uint32_t thread, struct pm_bytes name, struct pmfs_entry *ret)
{
	if (!t->profile->ops->values)
		return 0;
	if (!t->filters && (pmfs_documents_get(t, NULL) < 0 || !t->filters))
		return 0;
	for (unsigned i = 0; i < PMFS_N_FILTERS; i++)
		if (pm_bytes_equal(name, pm_bytes_of(pmfs_filter_names[i])))
			return pmfs_entry_fill(ret, name, pmfs_node(PMFS_THREAD_FILTERS, thread, i),
				PMFS_DIRECTORY);
	return 0;
}

static int filters_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	if (pmfs_node_b(dir) >= PMFS_N_FILTERS)
		return pmfs_no_entry();
	int r = pmfs_documents_get(t, err);
	if (r == 0 && !t->filters)
		r = pmfs_no_entry();
	return r < 0 ? r : pmfs_place_check(t, PMFS_PLACE_THREAD, pmfs_node_a(dir), err);
}

/* README.txt, the only file that is listed, is that of the run. */
static int filters_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	(void)err;
	return (*cookie)++ == 0
		? pmfs_document_entry(t, t->first_filter_doc + pmfs_node_b(dir), ret)
		: 0;
}

static int filters_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint64_t first = 0;
	uint32_t item, generation;
	if (filters_next(t, dir, &first, ret, err) > 0 && ret->len == name.len &&
		memcmp(ret->name, name.p, name.len) == 0)
		return 1;
	if (name.len >= PMFS_NAME_SIZE)
		return pmfs_no_entry();
	int r = pmfs_filters_find(t->filters, (enum pmfs_filter_kind)pmfs_node_b(dir),
		pmfs_node_a(dir), name, &item, &generation);
	if (r <= 0)
		return r < 0 ? pm_error_plain(err, r) : pmfs_no_entry();
	memcpy(ret->name, name.p, name.len);
	ret->len = name.len;
	ret->is_unlisted = true;
	ret->generation = generation;
	return pmfs_item_entry(t, t->first_filter + pmfs_node_b(dir), item, ret);
}

const struct pmfs_dir pmfs_dir_thread_filters = {
	.check = filters_check,
	.lookup = filters_lookup,
	.next = filters_next,
	.parent = pmfs_thread_parent,
};
