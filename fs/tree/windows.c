/* windows/ of a thread: its windows are items of the run's collection, found in its own directory.
 */
#include "fs/tree/internal.h"

#include "fs/views/sums/threads.h"

#define NAME "windows"

int pmfs_windows_of_thread(struct pmfs_tree *t, uint32_t thread, struct pmfs_entry *ret)
{
	if (!t->windows || pmfs_documents_get(t, NULL) < 0 || !t->has_windows ||
		pmfs_thread_has_trace(t->model, thread, NULL) <= 0)
		return 0;
	return pmfs_entry_fill(
		ret, pm_bytes_of(NAME), pmfs_node(PMFS_THREAD_WINDOWS, thread, 0), PMFS_DIRECTORY);
}

static int windows_check(struct pmfs_tree *t, pm_node dir, struct pm_error *err)
{
	struct pmfs_entry entry;
	if (pmfs_node_b(dir) != 0)
		return pmfs_no_entry();
	int r = pmfs_documents_get(t, err);
	if (r == 0)
		r = pmfs_place_check(t, PMFS_PLACE_THREAD, pmfs_node_a(dir), err);
	if (r < 0)
		return r;
	return pmfs_windows_of_thread(t, pmfs_node_a(dir), &entry) ? 0 : pmfs_no_entry();
}

/* README.txt, the only file that is listed, is that of the run. */
static int windows_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	(void)dir;
	(void)err;
	return (*cookie)++ == 0 ? pmfs_document_entry(t, (uint32_t)t->n_docs - 1, ret) : 0;
}

static int windows_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint64_t first = 0;
	struct pmfs_window_number number;
	if (windows_next(t, dir, &first, ret, err) > 0 && ret->len == name.len &&
		memcmp(ret->name, name.p, name.len) == 0)
		return 1;
	if (name.len >= PMFS_NAME_SIZE)
		return pmfs_no_entry();
	int r = pmfs_windows_find(t->windows, pmfs_node_a(dir), name, &number, err);
	if (r <= 0)
		return r < 0 ? r : pmfs_no_entry();
	memcpy(ret->name, name.p, name.len);
	ret->len = name.len;
	ret->is_unlisted = true;
	ret->generation = number.generation;
	return pmfs_item_entry(t, pmfs_windows_number(t), number.item, ret);
}

const struct pmfs_dir pmfs_dir_thread_windows = {
	.check = windows_check,
	.lookup = windows_lookup,
	.next = windows_next,
	.parent = pmfs_thread_parent,
};
