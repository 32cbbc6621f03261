/* The directories of threads/ by path: the levels key=value of the threads' identities. */
#include "fs/tree/internal.h"

#include <stdlib.h>

static int add_thread(
	struct pmfs_tree *t, struct pmfs_thread_paths *threads, uint32_t i, struct pm_error *err)
{
	const char *path;
	int r = pmfs_thread_path(t->model, i, &path, err);
	if (r < 0)
		return r;
	path = strchr(path, '/'); /* below threads/ */
	r = pmfs_paths_add(&threads->paths, path ? path : "", PMFS_PAYLOAD_THREAD, i);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "threads cannot be named") : 0;
}

static int threads_fill(void *owner, void *part, struct pm_error *err)
{
	struct pmfs_thread_paths *ret = part;
	const struct pm_threads *threads;
	int r = pmfs_model_threads(((struct pmfs_tree *)owner)->model, &threads, err);
	for (uint32_t i = 0; r == 0 && i < threads->n; i++)
		r = add_thread(owner, ret, i, err);
	if (r < 0)
		return r;
	ret->node = calloc(threads->n + 1, sizeof(*ret->node));
	if (!ret->node || pmfs_paths_freeze(&ret->paths) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < ret->paths.n; i++)
		if (ret->paths.nodes[i].payload == PMFS_PAYLOAD_THREAD)
			ret->node[ret->paths.nodes[i].index] = i;
	return 0;
}

static void threads_done(void *part)
{
	struct pmfs_thread_paths *threads = part;
	pmfs_paths_done(&threads->paths);
	free(threads->node);
}

int pmfs_threads_get(
	struct pmfs_tree *t, const struct pmfs_thread_paths **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_thread_paths), threads_fill, threads_done, .what = "threads/"};
	return pm_part_get(&t->threads, &type, t, ret, err);
}

int pmfs_thread_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	const struct pmfs_thread_paths *threads;
	int r = pmfs_threads_get(t, &threads, err);
	if (r == 0)
		*ret = pmfs_node(PMFS_THREADS, threads->node[pmfs_node_a(dir)], 0);
	return r;
}
