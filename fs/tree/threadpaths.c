/* The directories of threads/ by path: the levels key=value of the threads' identities. */
#include "fs/tree/internal.h"

#include <stdlib.h>

static int add_threads(struct pmfs_tree *t, uint32_t n, struct pm_error *err)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *path;
		int r = pmfs_thread_path(t->model, i, &path, err);
		if (r < 0)
			return r;
		path = strchr(path, '/'); /* below threads/ */
		r = pmfs_paths_add(&t->threads, path ? path : "", PMFS_PAYLOAD_THREAD, i);
		if (r < 0)
			return pm_error_set(err, r, NULL, PM_NO_OFFSET, "threads cannot be named");
	}
	return 0;
}

static int threads_build(void *context, struct pm_error *err)
{
	struct pmfs_tree *t = context;
	const struct pm_threads *threads;
	int r = pmfs_model_threads(t->model, &threads, err);
	if (r < 0)
		return r;
	pmfs_paths_done(&t->threads);
	r = add_threads(t, threads->n, err);
	if (r < 0)
		return r;
	free(t->thread_node);
	t->thread_node = calloc(threads->n + 1, sizeof(*t->thread_node));
	if (!t->thread_node || pmfs_paths_freeze(&t->threads) < 0)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
	for (uint32_t i = 0; i < t->threads.n; i++)
		if (t->threads.nodes[i].payload == PMFS_PAYLOAD_THREAD)
			t->thread_node[t->threads.nodes[i].index] = i;
	return 0;
}

int pmfs_threads_get(struct pmfs_tree *t, struct pm_error *err)
{
	return pm_lazy_get(&t->threads_built, threads_build, t, err);
}

int pmfs_thread_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	int r = pmfs_threads_get(t, err);
	if (r == 0)
		*ret = pmfs_node(PMFS_THREADS, t->thread_node[pmfs_node_a(dir)], 0);
	return r;
}
