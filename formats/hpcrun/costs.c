/*
 * Values, costs and sampled contexts of one thread, decoded from its file when needed; and, for a
 * block of contexts at once, those of all threads.
 */
#include "formats/hpcrun/hpcrun.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/pipeline.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"

/* The file of a thread, and the context of each of its nodes; PM_NONE if the file has changed. */
struct reading {
	struct hpcrun_file_tree file_tree;
	uint32_t *contexts;
};

static int read_thread(const struct hpcrun_run *run, uint32_t thread, struct reading *ret)
{
	const struct hpcrun_file *file = &run->folder->sources[thread].profile;
	const struct hpcrun_merged *m = run->merged;
	*ret = (struct reading){.contexts = NULL};
	int r = file->name ? hpcrun_file_tree_read(&ret->file_tree, run->folder, file, NULL) : 0;
	if (r == 0)
		ret->contexts = malloc((ret->file_tree.n_nodes + 1) * sizeof(*ret->contexts));
	r = ret->contexts ? hpcrun_trie_follow(&m->trie, &ret->file_tree, ret->contexts) : -ENOMEM;
	for (size_t i = 0; i < ret->file_tree.n_nodes && r == 0; i++)
		if (ret->contexts[i] != UINT32_MAX)
			ret->contexts[i] = m->context[ret->contexts[i]];
	return r;
}

static void reading_done(struct reading *r)
{
	hpcrun_file_tree_done(&r->file_tree);
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
static uint32_t *names_of(const struct hpcrun_merged *m, const struct hpcrun_file_tree *h)
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
	const struct hpcrun_file_tree *h = &reading->file_tree;
	uint32_t *names = names_of(m, h);
	ret->items = malloc((h->n_values + 1) * sizeof(*ret->items));
	for (size_t i = 0; i < h->n_values && names && ret->items; i++) {
		const struct hpcrun_file_value *v = &h->values[i];
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
static uint64_t *sorted_keys(const struct hpcrun_file_tree *h, size_t *ret_n)
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
	uint64_t *keys = sorted_keys(&reading->file_tree, &n);
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

/*
 * ==== over all threads ====
 * Files store values thread by thread. A transposition in two steps: each thread provides its cells
 * of the block, ordered by context. When all threads have done so, the number of cells per context
 * is known, and cells are copied to their positions, thread by thread.
 */

/* The contribution of one thread. */
struct part {
	struct hpcrun_by_context_cell *cells; /* by context */
	uint32_t *contexts;                   /* of each, counted from the block's first */
	uint32_t n;
};

struct turning {
	const struct hpcrun_run *run;
	enum hpcrun_by_context_of of;
	struct hpcrun_by_context *by_context;
	struct part *parts; /* by thread */
};

uint32_t hpcrun_block_of(const struct hpcrun_merged *m, uint32_t context)
{
	return PM_LOWER_BOUND(i, 1, m->n_blocks, m->block_start[i] <= context) - 1;
}

/* ---- one thread ---- */

static void part_done(void *part)
{
	struct part *p = part;
	free(p->cells);
	free(p->contexts);
	*p = (struct part){.cells = NULL};
}

static bool is_within(const struct hpcrun_by_context *a, uint32_t context)
{
	return context - a->first < a->n;
}

static int make_room(struct part *p, size_t n)
{
	p->cells = n < UINT32_MAX ? malloc((n + 1) * sizeof(*p->cells)) : NULL;
	p->contexts = p->cells ? malloc((n + 1) * sizeof(*p->contexts)) : NULL;
	return p->contexts ? 0 : -ENOMEM;
}

static int take_costs(const struct turning *t, uint32_t thread, struct part *ret)
{
	struct hpcrun_costs_of_thread *costs;
	int r = hpcrun_costs_of_thread(t->run, thread, &costs);
	if (r < 0)
		return r;
	const struct hpcrun_cells *c = &costs->cells;
	size_t begin = hpcrun_cells_find(c, t->by_context->first), end = begin;
	while (end < c->n && is_within(t->by_context, c->items[end].context))
		end++;
	r = make_room(ret, end - begin);
	for (size_t i = begin; i < end && r == 0; i++) {
		ret->contexts[ret->n] = c->items[i].context - t->by_context->first;
		ret->cells[ret->n++] = (struct hpcrun_by_context_cell){.thread = thread,
			.metric = c->items[i].metric & 0x7fffffff,
			.cost = c->items[i].cost};
	}
	costs->cached.free(&costs->cached);
	return r;
}

static int take_values(const struct turning *t, uint32_t thread, struct part *ret)
{
	struct hpcrun_values_of_thread *values;
	size_t n = 0;
	int r = hpcrun_values_of_thread(t->run, thread, &values);
	if (r < 0)
		return r;
	for (size_t i = 0; i < values->n; i++)
		n += is_within(t->by_context, values->items[i].context);
	r = make_room(ret, n);
	for (size_t i = 0; i < values->n && r == 0; i++) {
		const struct hpcrun_stored *v = &values->items[i];
		if (!is_within(t->by_context, v->context))
			continue;
		ret->contexts[ret->n] = v->context - t->by_context->first;
		ret->cells[ret->n++] = (struct hpcrun_by_context_cell){.thread = thread,
			.metric = 2 * v->group & 0x7fffffff,
			.whole = !v->real,
			.bits = v->bits};
	}
	values->cached.free(&values->cached);
	return r;
}

static int make_part(void *context, uint32_t i, void *result)
{
	const struct turning *t = context;
	return t->of == HPCRUN_BY_CONTEXT_COSTS ? take_costs(t, i, result)
						: take_values(t, i, result);
}

/*
 * Counted with an offset of one: counts become starts, and starts become ends while cells are
 * placed.
 */
static int take_part(void *context, uint32_t i, void *result)
{
	const struct turning *t = context;
	struct part *part = result;
	for (uint32_t k = 0; k < part->n; k++)
		t->by_context->start[part->contexts[k] + 1]++;
	t->parts[i] = *part;
	*part = (struct part){.cells = NULL};
	return 0;
}

/* ---- all of them ---- */

static int place_cells(struct turning *t, uint32_t n_threads)
{
	struct hpcrun_by_context *a = t->by_context;
	for (uint32_t i = 0; i < a->n; i++)
		a->start[i + 1] += a->start[i];
	uint64_t n = a->start[a->n];
	a->cells = malloc((size_t)(n + 1) * sizeof(*a->cells));
	if (!a->cells)
		return -ENOMEM;
	for (uint32_t thread = 0; thread < n_threads; thread++) {
		struct part *part = &t->parts[thread];
		for (uint32_t k = 0; k < part->n; k++)
			a->cells[a->start[part->contexts[k]]++] = part->cells[k];
		part_done(part);
	}
	/* Each start has become its end, which is the start of the next context. */
	memmove(a->start + 1, a->start, a->n * sizeof(*a->start));
	a->start[0] = 0;
	a->cached.bytes = sizeof(*a) + (a->n + 1) * sizeof(*a->start) + n * sizeof(*a->cells);
	return 0;
}

static int turn(struct turning *t, uint32_t n_threads)
{
	struct pm_pipeline pipeline = {.n = n_threads,
		.size = sizeof(struct part),
		.make = make_part,
		.take = take_part,
		.drop = part_done,
		.context = t};
	t->by_context->start = calloc((size_t)t->by_context->n + 1, sizeof(*t->by_context->start));
	t->parts = calloc((size_t)n_threads + 1, sizeof(*t->parts));
	int r = t->by_context->start && t->parts ? pm_pipeline_run(&pipeline) : -ENOMEM;
	if (r == 0)
		r = place_cells(t, n_threads);
	for (uint32_t i = 0; i < n_threads && t->parts; i++)
		part_done(&t->parts[i]);
	free(t->parts);
	return r;
}

static void by_context_free(struct pm_cached *c)
{
	struct hpcrun_by_context *a = (struct hpcrun_by_context *)c;
	free(a->start);
	free(a->cells);
	free(a);
}

int hpcrun_by_context_read(const struct hpcrun_run *run, uint32_t block,
	enum hpcrun_by_context_of of, struct hpcrun_by_context **ret)
{
	const uint32_t *start = run->merged->block_start;
	struct hpcrun_by_context *a = calloc(1, sizeof(*a));
	struct turning t = {.run = run, .of = of, .by_context = a};
	if (!a)
		return -ENOMEM;
	a->cached.free = by_context_free;
	a->first = start[block];
	a->n = start[block + 1] - start[block];
	int r = turn(&t, run->folder->n);
	if (r < 0)
		by_context_free(&a->cached);
	else
		*ret = a;
	return r;
}

int64_t hpcrun_by_context_fill(const struct hpcrun_by_context *a, const struct hpcrun_merged *m,
	uint32_t context, uint64_t first, struct pm_value *ret, size_t room)
{
	uint64_t begin = a->start[context - a->first], end = a->start[context - a->first + 1];
	size_t filled = 0;
	for (uint64_t i = first; i < end - begin && filled < room; i++) {
		const struct hpcrun_by_context_cell *cell = &a->cells[begin + i];
		struct pm_value *v = &ret[filled++];
		*v = (struct pm_value){.context = pm_tree_number(m->tree, context),
			.metric = cell->metric,
			.thread = cell->thread,
			.whole = cell->whole};
		if (cell->whole)
			v->u = cell->bits;
		else
			v->f = cell->cost;
	}
	return (int64_t)filled;
}
