/* Cuts the traces of the threads, in parallel, and adds up what ran between the edges. */
#include "fs/windows/contents.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "fs/windows/gather.h"

static int cut_one(struct pmfs_contents *c, uint32_t i, struct pm_error *err)
{
	const struct pmfs_trace_index *trace;
	bool weighed = c->x->profile->samples_are_weighed;
	int r = weighed ? pmfs_instants_cut(c, i, err)
			: pmfs_index_of(c->x, c->first + i, &trace, err);
	if (r == 0 && !weighed)
		r = pmfs_cut_make(&c->cuts[i], c->x, c->first + i, &c->span, err);
	if (r < 0)
		pmfs_cut_done(&c->cuts[i]);
	c->cuts[i].failed = r < 0;
	return r;
}

static int cut_thread(void *context, size_t i)
{
	int r = cut_one(context, (uint32_t)i, NULL);
	return r == -ENOMEM ? r : 0;
}

/* Finds out why traces cannot be read. If none of them can, neither can the window. */
static int list_damage(struct pmfs_contents *c, struct pm_error *err)
{
	struct pm_error first = {.code = 0};
	const struct pm_damage_mark before = pm_damage_mark(&c->damage);
	uint32_t n_traces = 0, n_failed = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct pm_thread *thread = &c->x->threads->threads[c->first + i];
		struct pm_error why = {.offset = PM_NO_OFFSET};
		n_traces += thread->has_trace;
		int r = c->cuts[i].failed ? cut_one(c, i, &why) : 0;
		if (r == -ENOMEM)
			return pm_error_plain(err, r);
		if (r == 0)
			continue;
		if (n_failed++ == 0)
			first = why;
		pm_damage_add(&c->damage, why.file, why.offset, PM_NO_OFFSET,
			"trace of thread_id %u: %s", thread->id, why.text);
	}
	if (n_failed > 0 && n_failed == n_traces)
		return pm_error_set(err, first.code, first.file, first.offset, "%s", first.text);
	if (pm_damage_since(&c->damage, before) < 0)
		return pm_error_plain(err, -ENOMEM);
	c->damages = pm_damage_rows(&c->damage);
	return 0;
}

static void fill_threads(struct pmfs_contents *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		c->items[i] = c->x->threads->threads[c->first + i];
		c->items[i].n_samples = c->cuts[i].n;
	}
	c->threads = *c->x->threads;
	c->threads.n = c->n;
	c->threads.n_lanes = 0;
	for (uint32_t i = 0; i < c->n; i++)
		c->threads.n_lanes += c->items[i].is_lane;
	c->threads.threads = c->items;
}

static int gather(struct pmfs_contents *c, struct pm_error *err)
{
	const struct pm_profile *p = c->x->profile;
	const struct pm_tree *whole = NULL;
	if (p->samples_are_weighed)
		return pmfs_instants_gather(c, err);
	int r = p->ops->tree(p, &whole, err);
	struct pmfs_gathered from = {whole, c->x, c->cuts, c->first, c->n};
	return r < 0 ? r : pmfs_gather(&from, &c->tree, &c->costs, err);
}

uint64_t pmfs_contents_bytes(const struct pmfs_contents *c)
{
	enum { A_CONTEXT = 64, A_VALUE = 20 }; /* approximately */
	uint64_t bytes = c->n * (sizeof(*c->items) + sizeof(*c->cuts));
	for (uint32_t i = 0; i < c->n; i++)
		bytes += c->cuts[i].room * sizeof(*c->cuts[i].stretches);
	bytes += c->damage.arena.total + c->damage.room * sizeof(*c->damage.rows);
	return bytes + pm_callcosts_bytes(&c->costs) + c->weighed.n * A_VALUE +
		(uint64_t)c->tree->n_contexts * A_CONTEXT;
}

void pmfs_contents_drop(struct pmfs_contents *c)
{
	for (uint32_t i = 0; c->cuts && i < c->n; i++)
		pmfs_cut_done(&c->cuts[i]);
	free(c->cuts);
	free(c->items);
	pm_tree_free(c->tree);
	pm_callcosts_done(&c->costs);
	pm_costs_done(&c->weighed);
	pm_damage_done(&c->damage);
	c->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	c->damages = (struct pm_damages){.n = 0};
	c->cuts = NULL;
	c->items = NULL;
	c->tree = NULL;
	c->costs = (struct pm_callcosts){.n = 0};
}

int pmfs_contents_make(struct pmfs_contents *c, struct pm_error *err)
{
	pmfs_contents_drop(c);
	c->cuts = calloc((size_t)c->n + 1, sizeof(*c->cuts));
	c->items = calloc((size_t)c->n + 1, sizeof(*c->items));
	int r = c->cuts && c->items ? 0 : pm_error_plain(err, -ENOMEM);
	if (r == 0 && !c->x->profile->samples_are_weighed)
		r = pmfs_index_threads(c->x, c->first, c->n, err);
	if (r == 0 && (r = pm_crew_each(c->n, cut_thread, c)) < 0)
		pm_error_plain(err, r);
	if (r == 0)
		r = list_damage(c, err);
	if (r == 0)
		r = gather(c, err);
	if (r < 0) {
		pmfs_contents_drop(c);
		return r;
	}
	fill_threads(c);
	for (uint32_t i = 0; i < c->n; i++) {
		pmfs_tally_done(&c->cuts[i].tally);
		pmfs_tally_done(&c->cuts[i].lent);
	}
	return 0;
}

int pmfs_contents_check(const struct pmfs_contents *c, uint32_t thread, struct pm_error *err)
{
	const struct pmfs_trace_index *trace;
	if (!c->cuts[thread].failed)
		return 0;
	int r = c->x->profile->samples_are_weighed
		? 0
		: pmfs_index_of(c->x, c->first + thread, &trace, err);
	return r < 0 ? r : pm_error_plain(err, -EIO);
}
