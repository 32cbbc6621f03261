/* Counts what info.json and the texts state. */
#include "fs/views/sums/counts.h"

#include "fs/views/sums/functions.h"

static void count_threads(
	const struct pm_profile *p, const struct pm_threads *threads, struct pmfs_counts *c)
{
	c->threads = c->samples = PM_NO_TIME;
	if (!p->ops->threads)
		return;
	c->threads = threads->n - threads->n_lanes;
	c->samples = 0;
	for (uint32_t i = 0; i < threads->n; i++)
		if (threads->threads[i].has_trace)
			c->samples += threads->threads[i].n_samples;
}

int pmfs_count(struct pmfs_model *m, struct pmfs_counts *ret, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pmfs_functions *functions;
	const struct pm_metrics *metrics;
	const struct pm_threads *threads;
	const struct pm_damages *damages;
	const struct pm_tree *tree;
	int r;
	if ((r = pmfs_model_tree(m, &tree, err)) < 0 ||
		(r = pmfs_model_metrics(m, &metrics, err)) < 0 ||
		(r = pmfs_model_threads(m, &threads, err)) < 0 ||
		(r = pmfs_functions(m, &functions, err)) < 0 ||
		(r = p->ops->damage(p, &damages, err)) < 0)
		return r;
	ret->contexts = tree->n_contexts;
	ret->metrics = metrics->n;
	ret->functions = functions->n;
	ret->damages = damages->n;
	count_threads(p, threads, ret);
	ret->time_origin_ns = ret->duration_ns = PM_NO_TIME;
	return p->ops->span ? p->ops->span(p, &ret->time_origin_ns, &ret->duration_ns, err) : 0;
}
