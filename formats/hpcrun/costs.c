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
	const struct hpcrun_file_tree *file_tree;
	uint32_t *contexts;
};

static struct reading read_thread(struct pm_arena *a, const struct hpcrun_run *run, uint32_t thread)
{
	const struct hpcrun_merged *m = run->merged;
	struct reading ret;
	ret.file_tree =
		hpcrun_file_tree_read(a, run->folder, &run->folder->sources[thread].profile, NULL);
	ret.contexts = hpcrun_trie_follow(m->trie, ret.file_tree);
	for (size_t i = 0; i < ret.file_tree->n_nodes; i++)
		if (ret.contexts[i] != UINT32_MAX)
			ret.contexts[i] = m->context[ret.contexts[i]];
	return ret;
}

/* ---- values ---- */

static const struct hpcrun_values_of_thread *values_of_thread(
	struct pm_arena *a, const struct hpcrun_run *run, uint32_t thread)
{
	const struct hpcrun_merged *m = run->merged;
	struct hpcrun_values_of_thread *ret = pm_arena_alloc(a, sizeof(*ret));
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct reading reading = read_thread(scratch, run, thread);
	const struct hpcrun_file_tree *h = reading.file_tree;
	/* Of metrics that were absent, or had no values, when files were merged: PM_NONE. */
	uint32_t *names = pm_arena_array(scratch, h->n_metrics, sizeof(*names));
	for (size_t i = 0; i < h->n_metrics; i++) {
		names[i] = pm_strtab_find(&m->trie->metrics.names, h->metrics[i].name);
		if (names[i] != PM_NONE && m->groups[names[i]] == PM_NONE)
			names[i] = PM_NONE;
	}
	ret->items = pm_arena_array(a, h->n_values, sizeof(*ret->items));
	for (size_t i = 0; i < h->n_values; i++) {
		const struct hpcrun_file_value *v = &h->values[i];
		uint32_t context = reading.contexts[v->node], name = names[v->metric];
		if (context == PM_NONE || name == PM_NONE)
			continue;
		ret->items[ret->n++] = (struct hpcrun_stored){.bits = v->bits,
			.context = hpcrun_merged_owner(m, name, context),
			.group = m->groups[name],
			.cost = hpcrun_cost(&h->metrics[v->metric], v->bits),
			.real = h->metrics[v->metric].real};
	}
	pm_arena_done(scratch);
	return ret;
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

static const struct hpcrun_cells *costs_of_thread(
	struct pm_arena *a, const struct hpcrun_run *run, uint32_t thread)
{
	struct hpcrun_cells *ret = pm_arena_alloc(a, sizeof(*ret));
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct hpcrun_values_of_thread *values = values_of_thread(scratch, run, thread);
	struct hpcrun_own *own = pm_arena_array(scratch, values->n, sizeof(*own));
	for (size_t i = 0; i < values->n; i++)
		own[i] = (struct hpcrun_own){.context = values->items[i].context,
			.group = values->items[i].group,
			.cost = values->items[i].cost};
	hpcrun_cells_make(ret, a, run->merged->tree, run->merged->n_groups, own, values->n, NULL);
	pm_arena_done(scratch);
	return ret;
}

/* ---- links ---- */

static int by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Nodes that have numbers, as number << 32 | index, sorted. */
static uint64_t *sorted_keys(const struct hpcrun_file_tree *h, size_t *ret_n)
{
	uint64_t *keys = pm_arena_array(h->arena, h->n_nodes, sizeof(*keys));
	bool sorted = true;
	size_t n = 0;
	for (size_t i = 0; i < h->n_nodes; i++) {
		if (h->nodes[i].number == 0)
			continue;
		keys[n] = (uint64_t)h->nodes[i].number << 32 | i;
		sorted &= n == 0 || keys[n - 1] < keys[n];
		n++;
	}
	*ret_n = n;
	if (!sorted)
		pm_build_check(h->arena, pm_sort(keys, n, sizeof(*keys), by_key));
	return keys;
}

/* If epochs use the same numbers, the last epoch wins, because traces are appended to. */
struct hpcrun_links_of_thread *hpcrun_links_of_thread(
	struct pm_arena *a, const struct hpcrun_run *run, uint32_t thread)
{
	struct hpcrun_links_of_thread *ret = pm_arena_alloc(a, sizeof(*ret));
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct reading reading = read_thread(scratch, run, thread);
	size_t n;
	uint64_t *keys = sorted_keys(reading.file_tree, &n);
	ret->items = pm_arena_array(a, n, sizeof(*ret->items));
	for (size_t i = 0; i < n; i++) {
		struct hpcrun_link link = {
			(uint32_t)(keys[i] >> 32), reading.contexts[(uint32_t)keys[i]]};
		if (i + 1 < n && keys[i + 1] >> 32 == link.number)
			continue;
		if (link.context != PM_NONE)
			ret->items[ret->n++] = link;
	}
	pm_arena_done(scratch);
	hpcrun_links_index(ret, a);
	return ret;
}

static size_t range_of(const struct hpcrun_links_of_thread *l, uint32_t number)
{
	return (number - l->items[0].number) >> l->shift;
}

void hpcrun_links_index(struct hpcrun_links_of_thread *l, struct pm_arena *a)
{
	if (l->n == 0)
		return;
	uint32_t width = l->items[l->n - 1].number - l->items[0].number;
	for (l->shift = 0; width >> l->shift > l->n;)
		l->shift++;
	size_t n = (size_t)(width >> l->shift) + 1;
	l->starts = pm_arena_array(a, n + 1, sizeof(*l->starts));
	for (size_t i = 0; i < l->n; i++)
		l->starts[range_of(l, l->items[i].number) + 1] = (uint32_t)i + 1;
	for (size_t i = 1; i <= n; i++)
		if (l->starts[i] == 0)
			l->starts[i] = l->starts[i - 1];
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

/* The contribution of one thread, in one block of memory. */
struct part {
	uint32_t *contexts; /* of each cell, counted from the block's first */
	uint32_t n;
	struct hpcrun_by_context_cell cells[]; /* by context */
};

struct turning {
	const struct hpcrun_run *run;
	bool stored; /* values, not costs */
	struct hpcrun_by_context *by_context;
	struct part **parts; /* by thread */
};

uint32_t hpcrun_block_of(const struct hpcrun_merged *m, uint32_t context)
{
	return PM_LOWER_BOUND(i, 1, m->n_blocks, m->block_start[i] <= context) - 1;
}

/* ---- one thread ---- */

static void free_part(void *result)
{
	free(*(struct part **)result);
}

static bool is_within(const struct hpcrun_by_context *a, uint32_t context)
{
	return context - a->first < a->n;
}

/* Nothing may fail after it: what owns the part is not known here. */
static struct part *new_part(struct pm_arena *a, size_t n)
{
	struct part *part = NULL;
	if (n < UINT32_MAX)
		part = malloc(sizeof(*part) + n * (sizeof(*part->cells) + sizeof(uint32_t)));
	pm_build_check(a, part ? 0 : -ENOMEM);
	part->n = 0;
	part->contexts = (uint32_t *)(part->cells + n);
	return part;
}

static struct part *take_costs(struct pm_arena *a, const struct turning *t, uint32_t thread)
{
	const struct hpcrun_cells *c = costs_of_thread(a, t->run, thread);
	size_t begin = hpcrun_cells_find(c, t->by_context->first), end = begin;
	while (end < c->n && is_within(t->by_context, c->items[end].context))
		end++;
	struct part *ret = new_part(a, end - begin);
	for (size_t i = begin; i < end; i++) {
		ret->contexts[ret->n] = c->items[i].context - t->by_context->first;
		ret->cells[ret->n++] = (struct hpcrun_by_context_cell){.thread = thread,
			.metric = c->items[i].metric & 0x7fffffff,
			.cost = c->items[i].cost};
	}
	return ret;
}

static struct part *take_values(struct pm_arena *a, const struct turning *t, uint32_t thread)
{
	const struct hpcrun_values_of_thread *values = values_of_thread(a, t->run, thread);
	size_t n = 0;
	for (size_t i = 0; i < values->n; i++)
		n += is_within(t->by_context, values->items[i].context);
	struct part *ret = new_part(a, n);
	for (size_t i = 0; i < values->n; i++) {
		const struct hpcrun_stored *v = &values->items[i];
		if (!is_within(t->by_context, v->context))
			continue;
		ret->contexts[ret->n] = v->context - t->by_context->first;
		ret->cells[ret->n++] = (struct hpcrun_by_context_cell){.thread = thread,
			.metric = 2 * v->group & 0x7fffffff,
			.whole = !v->real,
			.bits = v->bits};
	}
	return ret;
}

static void make_part(struct pm_arena *a, void *context, uint32_t i, void *result)
{
	const struct turning *t = context;
	*(struct part **)result = t->stored ? take_values(a, t, i) : take_costs(a, t, i);
}

/*
 * Counted with an offset of one: counts become starts, and starts become ends while cells are
 * placed.
 */
static int take_part(void *context, uint32_t i, void *result)
{
	const struct turning *t = context;
	struct part **part = result;
	t->parts[i] = *part;
	*part = NULL;
	for (uint32_t k = 0; k < t->parts[i]->n; k++)
		t->by_context->start[t->parts[i]->contexts[k] + 1]++;
	return 0;
}

/* ---- all of them ---- */

static void free_parts(void *turning)
{
	struct turning *t = turning;
	for (uint32_t i = 0; i < t->run->folder->n; i++)
		free(t->parts[i]);
}

static const struct hpcrun_by_context *read_block(
	struct pm_arena *a, const struct hpcrun_run *run, uint32_t block, bool stored)
{
	const uint32_t *bounds = &run->merged->block_start[block];
	uint32_t n_threads = run->folder->n;
	struct hpcrun_by_context *ret = pm_arena_alloc(a, sizeof(*ret));
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct turning *t = pm_arena_alloc(scratch, sizeof(*t));
	*t = (struct turning){.run = run,
		.stored = stored,
		.by_context = ret,
		.parts = pm_arena_array(scratch, n_threads, sizeof(*t->parts))};
	pm_arena_owns(scratch, free_parts, t);
	ret->first = bounds[0];
	ret->n = bounds[1] - bounds[0];
	ret->start = pm_arena_array(a, (size_t)ret->n + 1, sizeof(*ret->start));
	struct pm_pipeline pipeline = {.n = n_threads,
		.size = sizeof(struct part *),
		.build = make_part,
		.take = take_part,
		.drop = free_part,
		.context = t};
	pm_build_check(a, pm_pipeline_run(&pipeline));
	for (uint32_t i = 0; i < ret->n; i++)
		ret->start[i + 1] += ret->start[i];
	ret->cells = pm_arena_array(a, ret->start[ret->n], sizeof(*ret->cells));
	for (uint32_t thread = 0; thread < n_threads; thread++) {
		struct part *part = t->parts[thread];
		for (uint32_t k = 0; k < part->n; k++)
			ret->cells[ret->start[part->contexts[k]]++] = part->cells[k];
		free(part);
		t->parts[thread] = NULL;
	}
	/* Each start has become its end, which is the start of the next context. */
	memmove(ret->start + 1, ret->start, ret->n * sizeof(*ret->start));
	ret->start[0] = 0;
	pm_arena_done(scratch);
	return ret;
}

int64_t hpcrun_by_context_fill(const struct hpcrun_merged *m, const void *by_context,
	uint32_t context, uint64_t first, struct pm_value *ret, size_t room)
{
	const struct hpcrun_by_context *a = by_context;
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

/* ==== what is kept ==== */

struct decoding {
	const struct hpcrun_run *run;
	enum hpcrun_decoded_what what;
	uint32_t of;
	struct hpcrun_decoded *d;
};

static void decode(void *context)
{
	const struct decoding *c = context;
	struct pm_arena *a = &c->d->arena;
	switch (c->what) {
	case HPCRUN_THREAD_VALUES: c->d->it = values_of_thread(a, c->run, c->of); break;
	case HPCRUN_THREAD_COSTS: c->d->it = costs_of_thread(a, c->run, c->of); break;
	case HPCRUN_THREAD_LINKS: c->d->it = hpcrun_links_of_thread(a, c->run, c->of); break;
	case HPCRUN_CONTEXT_VALUES: c->d->it = read_block(a, c->run, c->of, true); break;
	case HPCRUN_CONTEXT_COSTS: c->d->it = read_block(a, c->run, c->of, false); break;
	}
}

static void decoded_free(struct pm_cached *c)
{
	struct hpcrun_decoded *d = (struct hpcrun_decoded *)c;
	pm_arena_done(&d->arena);
	free(d);
}

int hpcrun_decode(const struct hpcrun_run *run, enum hpcrun_decoded_what what, uint32_t of,
	struct hpcrun_decoded **ret)
{
	struct decoding c = {run, what, of, calloc(1, sizeof(*c.d))};
	int r = c.d ? pm_build(&c.d->arena, decode, &c) : -ENOMEM;
	if (r < 0) {
		if (c.d)
			decoded_free(&c.d->cached);
		return r;
	}
	c.d->cached.free = decoded_free;
	c.d->cached.bytes = sizeof(*c.d) + c.d->arena.total;
	*ret = c.d;
	return 0;
}
