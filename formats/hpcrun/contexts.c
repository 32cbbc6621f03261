/*
 * Merging. Files are harvested in parallel and taken in order of their names, so that the tree, its
 * ranks and the order of metrics are the same on every mount. While files come in, contexts are
 * ranks; when the tree is frozen they become indexes.
 */
#include "formats/hpcrun/contexts.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/pipeline.h"
#include "formats/common/quantity.h"
#include "formats/common/work.h"
#include "formats/hpcrun/frames.h"
#include "formats/hpcrun/harvest.h"

struct merger {
	struct hpcrun_merged *merged;
	struct hpcrun_folder *folder;
	const struct hpcrun_who *who;
	struct pm_damage_list *damage;
	struct pm_tree_builder *builder;
	struct hpcrun_frames frames;
	struct hpcrun_metric_names metrics;
	size_t values_room, links_room;
	uint64_t n_values, n_links;
};

/* ---- one file ---- */

/* contexts[i] becomes the rank of node i. */
static int take_nodes(struct merger *m, const struct hpcrun_harvest *h, uint32_t *contexts)
{
	uint32_t *modules = calloc(h->n_modules + 1, sizeof(*modules)); /* texts; 0 = not yet */
	int r = modules ? 0 : -ENOMEM;
	for (size_t i = 0; i < h->n_nodes && r == 0; i++) {
		const struct hpcrun_crop_node *node = &h->nodes[i];
		struct pm_bytes name = {NULL, 0};
		uint32_t module = 0, parent = PM_NONE;
		if (node->place.kind == HPCRUN_PLACE_MODULE) {
			name = h->modules[node->place.module];
			if (modules[node->place.module] == 0)
				modules[node->place.module] = pm_tree_text(m->builder, name, true);
			module = modules[node->place.module];
		}
		if (node->parent != UINT32_MAX)
			parent = contexts[node->parent];
		struct hpcrun_chain chain;
		r = module == PM_NONE || pm_work_cancelled() ? -ENOMEM : 0;
		if (r == 0)
			r = hpcrun_frames_find(
				&m->frames, m->builder, &node->place, module, name, &chain);
		if (r == 0)
			contexts[i] = hpcrun_frames_descend(m->builder, parent, &chain);
		if (contexts[i] == PM_NONE)
			r = -ENOMEM;
	}
	free(modules);
	return r;
}

static int take_values(struct merger *m, const struct hpcrun_harvest *h, const uint32_t *contexts)
{
	uint32_t *scales = calloc(h->n_metrics + 1, sizeof(*scales));
	int r = scales ? 0 : -ENOMEM;
	for (size_t i = 0; i < h->n_metrics && r == 0; i++) {
		scales[i] = hpcrun_metric_names_scale(&m->metrics, &h->metrics[i]);
		r = scales[i] == PM_NONE ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < h->n_values && r == 0; i++) {
		const struct hpcrun_crop_value *v = &h->values[i];
		r = pm_list_room(&m->merged->values, m->n_values, &m->values_room,
			sizeof(*m->merged->values));
		if (r < 0)
			break;
		m->merged->values[m->n_values++] = (struct hpcrun_stored){
			.bits = v->bits, .context = contexts[v->node], .scale = scales[v->metric]};
	}
	free(scales);
	return r;
}

static int by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Nodes that have numbers, as number << 32 | index, in this order. */
static uint64_t *sorted_keys(const struct hpcrun_harvest *h, size_t *ret_n)
{
	uint64_t *keys = malloc((h->n_nodes + 1) * sizeof(*keys));
	bool sorted = true;
	size_t n = 0;
	for (size_t i = 0; i < h->n_nodes && keys; i++) {
		if (h->nodes[i].number == 0)
			continue;
		keys[n] = (uint64_t)h->nodes[i].number << 32 | i;
		sorted &= n == 0 || keys[n - 1] < keys[n];
		n++;
	}
	if (keys && !sorted)
		qsort(keys, n, sizeof(*keys), by_key);
	*ret_n = n;
	return keys;
}

/* Of epochs that number alike the last one stays: traces are written on. */
static int take_links(struct merger *m, const struct hpcrun_harvest *h, const uint32_t *contexts)
{
	size_t n;
	uint64_t *keys = sorted_keys(h, &n);
	int r = keys ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i++) {
		struct hpcrun_link link = {(uint32_t)(keys[i] >> 32), contexts[(uint32_t)keys[i]]};
		if (i + 1 < n && keys[i + 1] >> 32 == link.number)
			continue;
		r = pm_list_room(&m->merged->links, m->n_links, &m->links_room, sizeof(link));
		if (r == 0)
			m->merged->links[m->n_links++] = link;
	}
	free(keys);
	return r;
}

static void take_damage(struct merger *m, struct hpcrun_harvest *h)
{
	struct pm_damages all = pm_damage_rows(&h->damage);
	for (size_t i = 0; i < all.n; i++)
		pm_damage_add(m->damage, all.rows[i].file, all.rows[i].offset, all.rows[i].bytes,
			"%s", all.rows[i].what);
}

static int make_harvest(void *context, uint32_t i, void *result)
{
	struct merger *m = context;
	const struct hpcrun_file *file = &m->folder->sources[i].profile;
	return file->name ? hpcrun_harvest_read(result, m->folder, file) : 0;
}

static int take_harvest(void *context, uint32_t i, void *result)
{
	struct merger *m = context;
	struct hpcrun_harvest *h = result;
	uint32_t *contexts = calloc(h->n_nodes + 1, sizeof(*contexts));
	int r = contexts ? take_nodes(m, h, contexts) : -ENOMEM;
	if (r == 0)
		r = take_values(m, h, contexts);
	if (r == 0 && m->folder->sources[i].trace.name)
		r = take_links(m, h, contexts);
	take_damage(m, h);
	free(contexts);
	m->merged->value_start[i + 1] = m->n_values;
	m->merged->link_start[i + 1] = m->n_links;
	return r;
}

static void drop_harvest(void *result)
{
	hpcrun_harvest_done(result);
}

/* ---- metrics ---- */

static int list_metrics(struct merger *m)
{
	struct hpcrun_merged *merged = m->merged;
	bool *used = calloc((size_t)m->metrics.keys.n + 1, sizeof(*used));
	if (!used)
		return -ENOMEM;
	for (uint64_t i = 0; i < m->n_values; i++)
		used[merged->values[i].scale] = true;
	int r = hpcrun_metric_names_list(&m->metrics, used, &merged->arena, &merged->metrics);
	merged->n_groups = merged->metrics.n / 2;
	merged->scales = m->metrics.scales;
	m->metrics.scales = NULL;
	free(used);
	return r;
}

double hpcrun_merged_cost(const struct hpcrun_merged *m, const struct hpcrun_stored *v)
{
	const struct hpcrun_scale *scale = &m->scales[v->scale];
	double value = scale->real ? pm_f64_of_bits(v->bits) : (double)v->bits;
	double cost = value * (double)scale->period;
	return isfinite(cost) ? cost : NAN;
}

/* ---- the tree ---- */

/* The group of metrics that orders siblings, or PM_NONE where nothing costs anything. */
static int find_leading(const struct merger *m, uint32_t *ret)
{
	const struct hpcrun_merged *merged = m->merged;
	double *whole = calloc((size_t)merged->n_groups + 1, sizeof(*whole));
	if (!whole)
		return -ENOMEM;
	for (uint64_t i = 0; i < m->n_values; i++) {
		double cost = hpcrun_merged_cost(merged, &merged->values[i]);
		if (cost == cost)
			whole[merged->scales[merged->values[i].scale].group] += cost;
	}
	*ret = pm_quantity_leading(&merged->metrics, whole);
	free(whole);
	return 0;
}

/* By rank: the inclusive cost of the group that orders siblings. */
static double *weigh(const struct merger *m, uint32_t group)
{
	const struct hpcrun_merged *merged = m->merged;
	uint32_t n = pm_tree_count(m->builder);
	double *weight = calloc((size_t)n + 1, sizeof(*weight));
	if (!weight)
		return NULL;
	for (uint64_t i = 0; i < m->n_values; i++) {
		const struct hpcrun_stored *v = &merged->values[i];
		double cost = hpcrun_merged_cost(merged, v);
		if (merged->scales[v->scale].group == group && cost == cost)
			weight[v->context] += cost;
	}
	for (uint32_t rank = n; rank-- > 0;) {
		uint32_t parent = pm_tree_parent_of(m->builder, rank);
		if (parent != PM_NONE)
			weight[parent] += weight[rank];
	}
	return weight;
}

static int freeze(struct merger *m, struct pm_error *err)
{
	struct hpcrun_merged *merged = m->merged;
	uint32_t *index = NULL, group;
	int r = find_leading(m, &group);
	double *weight = r == 0 ? weigh(m, group) : NULL;
	if (!weight)
		return -ENOMEM;
	r = pm_tree_freeze(m->builder, weight, &merged->tree, &index, err);
	m->builder = NULL;
	free(weight);
	if (r < 0)
		return r;
	merged->tree->ordered_by = group;
	for (uint64_t i = 0; i < m->n_values; i++)
		merged->values[i].context = index[merged->values[i].context];
	for (uint64_t i = 0; i < m->n_links; i++)
		merged->links[i].context = index[merged->links[i].context];
	free(index);
	return 0;
}

/* Values of each thread, and the contexts that have them. */
static int count(struct merger *m)
{
	struct hpcrun_merged *merged = m->merged;
	uint32_t n = m->who->threads.n;
	uint32_t *seen = calloc((size_t)merged->tree->n_contexts + 1, sizeof(*seen));
	merged->counts = calloc((size_t)n + 1, sizeof(*merged->counts));
	if (!seen || !merged->counts) {
		free(seen);
		return -ENOMEM;
	}
	for (uint32_t thread = 0; thread < n; thread++) {
		uint64_t start = merged->value_start[thread], end = merged->value_start[thread + 1];
		struct pm_thread_counts *c = &merged->counts[thread];
		c->values = end - start;
		for (uint64_t i = start; i < end; i++) {
			uint32_t context = merged->values[i].context;
			c->contexts += seen[context] != thread + 1;
			seen[context] = thread + 1;
		}
	}
	free(seen);
	return 0;
}

/* ---- the whole ---- */

static int merge_all(struct merger *m, struct pm_error *err)
{
	struct hpcrun_merged *merged = m->merged;
	uint32_t n = m->who->threads.n;
	struct pm_pipeline pipeline = {.n = n,
		.size = sizeof(struct hpcrun_harvest),
		.make = make_harvest,
		.take = take_harvest,
		.drop = drop_harvest,
		.context = m};
	m->builder = pm_tree_builder_new();
	merged->value_start = calloc((size_t)n + 1, sizeof(*merged->value_start));
	merged->link_start = calloc((size_t)n + 1, sizeof(*merged->link_start));
	if (!m->builder || !merged->value_start || !merged->link_start)
		return -ENOMEM;
	int r = pm_pipeline_run(&pipeline);
	if (r == 0)
		r = list_metrics(m);
	if (r == 0)
		r = freeze(m, err);
	return r == 0 ? count(m) : r;
}

int hpcrun_merge(struct hpcrun_merged *ret, struct hpcrun_folder *folder,
	const struct hpcrun_who *who, struct pm_damage_list *damage, struct pm_error *err)
{
	struct merger m = {.merged = ret, .folder = folder, .who = who, .damage = damage};
	*ret = (struct hpcrun_merged){.n_groups = 0};
	int r = merge_all(&m, err);
	pm_tree_builder_free(m.builder);
	hpcrun_frames_done(&m.frames);
	hpcrun_metric_names_done(&m.metrics);
	if (r == 0)
		return 0;
	hpcrun_merged_done(ret);
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the tree");
}

void hpcrun_merged_done(struct hpcrun_merged *m)
{
	pm_tree_free(m->tree);
	free(m->scales);
	free(m->values);
	free(m->value_start);
	free(m->links);
	free(m->link_start);
	free(m->counts);
	pm_arena_done(&m->arena);
	*m = (struct hpcrun_merged){.n_groups = 0};
}

/* Steps choose without branching: samples jump about, so no guess of the processor would hold. */
uint64_t hpcrun_merged_find(const struct hpcrun_merged *m, uint32_t thread, uint32_t node)
{
	size_t n = (size_t)(m->link_start[thread + 1] - m->link_start[thread]);
	if (n == 0)
		return UINT64_MAX;
	const struct hpcrun_link *link = m->links + m->link_start[thread];
	while (n > 1) {
		size_t half = n / 2;
		link = link[half].number <= node ? link + half : link;
		n -= half;
	}
	return link->number == node ? pm_tree_number(m->tree, link->context) : UINT64_MAX;
}
