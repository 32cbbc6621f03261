#include "formats/hpcrun/costs.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/hpcrun/harvest.h"

/* The file of a thread, and the context of each of its nodes; PM_NONE if the file has changed. */
struct reading {
	struct hpcrun_harvest harvest;
	uint32_t *contexts;
};

static int read_thread(const struct hpcrun_run *run, uint32_t thread, struct reading *ret)
{
	const struct hpcrun_file *file = &run->folder->sources[thread].profile;
	const struct hpcrun_merged *m = run->merged;
	*ret = (struct reading){.contexts = NULL};
	int r = file->name ? hpcrun_harvest_read(&ret->harvest, run->folder, file, NULL) : 0;
	if (r == 0)
		ret->contexts = malloc((ret->harvest.n_nodes + 1) * sizeof(*ret->contexts));
	r = ret->contexts ? hpcrun_trie_follow(&m->trie, &ret->harvest, ret->contexts) : -ENOMEM;
	for (size_t i = 0; i < ret->harvest.n_nodes && r == 0; i++)
		if (ret->contexts[i] != UINT32_MAX)
			ret->contexts[i] = m->context[ret->contexts[i]];
	return r;
}

static void reading_done(struct reading *r)
{
	hpcrun_harvest_done(&r->harvest);
	free(r->contexts);
}

/* ---- values ---- */

static void values_free(struct pm_cached *c)
{
	struct hpcrun_values_of_thread *v = (struct hpcrun_values_of_thread *)c;
	free(v->items);
	free(v);
}

/*
 * By metric of the file: its name in the trie; PM_NONE if it was absent, or had no values, when
 * files were merged.
 */
static uint32_t *names_of(const struct hpcrun_merged *m, const struct hpcrun_harvest *h)
{
	uint32_t *names = malloc((h->n_metrics + 1) * sizeof(*names));
	for (size_t i = 0; i < h->n_metrics && names; i++) {
		names[i] = pm_strtab_find(&m->trie.metrics.names, h->metrics[i].name);
		if (names[i] != PM_NONE && m->groups[names[i]] == PM_NONE)
			names[i] = PM_NONE;
	}
	return names;
}

static int keep_values(const struct hpcrun_merged *m, const struct reading *reading,
	struct hpcrun_values_of_thread *ret)
{
	const struct hpcrun_harvest *h = &reading->harvest;
	uint32_t *names = names_of(m, h);
	ret->items = malloc((h->n_values + 1) * sizeof(*ret->items));
	for (size_t i = 0; i < h->n_values && names && ret->items; i++) {
		const struct hpcrun_crop_value *v = &h->values[i];
		uint32_t context = reading->contexts[v->node];
		if (context == PM_NONE || names[v->metric] == PM_NONE)
			continue;
		ret->items[ret->n++] = (struct hpcrun_stored){.bits = v->bits,
			.context = hpcrun_merged_owner(m, names[v->metric], context),
			.group = m->groups[names[v->metric]],
			.cost = hpcrun_cost(&h->metrics[v->metric], v->bits),
			.real = h->metrics[v->metric].real};
	}
	ret->cached.bytes = sizeof(*ret) + (h->n_values + 1) * sizeof(*ret->items);
	int r = names && ret->items ? 0 : -ENOMEM;
	free(names);
	return r;
}

int hpcrun_values_of_thread(
	const struct hpcrun_run *run, uint32_t thread, struct hpcrun_values_of_thread **ret)
{
	struct reading reading;
	struct hpcrun_values_of_thread *v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->cached.free = values_free;
	int r = read_thread(run, thread, &reading);
	if (r == 0)
		r = keep_values(run->merged, &reading, v);
	reading_done(&reading);
	if (r < 0)
		values_free(&v->cached);
	else
		*ret = v;
	return r;
}

int hpcrun_values_count(const struct hpcrun_values_of_thread *values, const struct hpcrun_merged *m,
	struct pm_thread_counts *ret)
{
	uint64_t *seen = calloc((size_t)m->tree->n_contexts / 64 + 1, sizeof(*seen));
	*ret = (struct pm_thread_counts){.values = values->n};
	for (size_t i = 0; i < values->n && seen; i++) {
		uint32_t context = values->items[i].context;
		uint64_t bit = UINT64_C(1) << context % 64;
		ret->contexts += !(seen[context / 64] & bit);
		seen[context / 64] |= bit;
	}
	int r = seen ? 0 : -ENOMEM;
	free(seen);
	return r;
}

struct pm_value hpcrun_stored_value(
	const struct hpcrun_merged *m, const struct hpcrun_stored *v, uint32_t thread)
{
	struct pm_value value = {.context = pm_tree_number(m->tree, v->context),
		.metric = 2 * v->group,
		.thread = thread,
		.whole = !v->real};
	if (value.whole)
		value.u = v->bits;
	else
		value.f = pm_f64_of_bits(v->bits);
	return value;
}

/* ---- costs ---- */

static void costs_free(struct pm_cached *c)
{
	struct hpcrun_costs_of_thread *costs = (struct hpcrun_costs_of_thread *)c;
	hpcrun_cells_done(&costs->cells);
	free(costs);
}

static int add_up(const struct hpcrun_merged *m, const struct hpcrun_values_of_thread *values,
	struct hpcrun_costs_of_thread *ret)
{
	struct hpcrun_own *own = malloc((values->n + 1) * sizeof(*own));
	if (!own)
		return -ENOMEM;
	for (size_t i = 0; i < values->n; i++)
		own[i] = (struct hpcrun_own){.context = values->items[i].context,
			.group = values->items[i].group,
			.cost = values->items[i].cost};
	int r = hpcrun_cells_make(&ret->cells, m->tree, m->n_groups, own, values->n, NULL);
	free(own);
	ret->cached.bytes = sizeof(*ret) + (ret->cells.n + 1) * sizeof(*ret->cells.items);
	return r;
}

int hpcrun_costs_of_thread(
	const struct hpcrun_run *run, uint32_t thread, struct hpcrun_costs_of_thread **ret)
{
	struct hpcrun_values_of_thread *values;
	struct hpcrun_costs_of_thread *costs = calloc(1, sizeof(*costs));
	if (!costs)
		return -ENOMEM;
	costs->cached.free = costs_free;
	int r = hpcrun_values_of_thread(run, thread, &values);
	if (r == 0) {
		r = add_up(run->merged, values, costs);
		values_free(&values->cached);
	}
	if (r < 0)
		costs_free(&costs->cached);
	else
		*ret = costs;
	return r;
}

/* ---- links ---- */

static void links_free(struct pm_cached *c)
{
	struct hpcrun_links_of_thread *links = (struct hpcrun_links_of_thread *)c;
	free(links->items);
	free(links->starts);
	free(links);
}

static int by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Nodes that have numbers, as number << 32 | index, sorted. */
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
	*ret_n = n;
	if (!keys || sorted || pm_sort(keys, n, sizeof(*keys), by_key) == 0)
		return keys;
	free(keys);
	return NULL;
}

/* If epochs use the same numbers, the last epoch wins, because traces are appended to. */
static int keep_links(const struct reading *reading, struct hpcrun_links_of_thread *ret)
{
	size_t n;
	uint64_t *keys = sorted_keys(&reading->harvest, &n);
	if (keys)
		ret->items = malloc((n + 1) * sizeof(*ret->items));
	for (size_t i = 0; i < n && keys && ret->items; i++) {
		struct hpcrun_link link = {
			(uint32_t)(keys[i] >> 32), reading->contexts[(uint32_t)keys[i]]};
		if (i + 1 < n && keys[i + 1] >> 32 == link.number)
			continue;
		if (link.context != PM_NONE)
			ret->items[ret->n++] = link;
	}
	ret->cached.bytes = sizeof(*ret) + (n + 1) * sizeof(*ret->items);
	int r = keys && ret->items ? hpcrun_links_index(ret) : -ENOMEM;
	free(keys);
	return r;
}

int hpcrun_links_of_thread(
	const struct hpcrun_run *run, uint32_t thread, struct hpcrun_links_of_thread **ret)
{
	struct reading reading;
	struct hpcrun_links_of_thread *links = calloc(1, sizeof(*links));
	if (!links)
		return -ENOMEM;
	links->cached.free = links_free;
	int r = read_thread(run, thread, &reading);
	if (r == 0)
		r = keep_links(&reading, links);
	reading_done(&reading);
	if (r < 0)
		links_free(&links->cached);
	else
		*ret = links;
	return r;
}

static size_t range_of(const struct hpcrun_links_of_thread *l, uint32_t number)
{
	return (number - l->items[0].number) >> l->shift;
}

int hpcrun_links_index(struct hpcrun_links_of_thread *l)
{
	if (l->n == 0)
		return 0;
	uint32_t width = l->items[l->n - 1].number - l->items[0].number;
	for (l->shift = 0; width >> l->shift > l->n;)
		l->shift++;
	size_t n = (size_t)(width >> l->shift) + 1;
	l->starts = calloc(n + 1, sizeof(*l->starts));
	if (!l->starts)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++)
		l->starts[range_of(l, l->items[i].number) + 1] = (uint32_t)i + 1;
	for (size_t i = 1; i <= n; i++)
		if (l->starts[i] == 0)
			l->starts[i] = l->starts[i - 1];
	l->cached.bytes += (n + 1) * sizeof(*l->starts);
	return 0;
}

uint64_t hpcrun_links_find(
	const struct hpcrun_links_of_thread *l, const struct hpcrun_merged *m, uint32_t node)
{
	if (l->n == 0 || node < l->items[0].number || node > l->items[l->n - 1].number)
		return UINT64_MAX;
	const uint32_t *range = &l->starts[range_of(l, node)];
	uint32_t i = PM_LOWER_BOUND(k, range[0], range[1], l->items[k].number < node);
	bool found = i < range[1] && l->items[i].number == node;
	return found ? pm_tree_number(m->tree, l->items[i].context) : UINT64_MAX;
}
