/*
 * A transposition in two steps: each thread provides its cells of the block, ordered by context.
 * When all threads have done so, the number of cells per context is known, and cells are copied to
 * their positions, thread by thread.
 */
#include "formats/hpcrun/across.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/pipeline.h"
#include "formats/common/search.h"

/* The contribution of one thread. */
struct part {
	struct hpcrun_across_cell *cells; /* by context */
	uint32_t *contexts;               /* of each, counted from the block's first */
	uint32_t n;
};

struct turning {
	const struct hpcrun_run *run;
	enum hpcrun_across_of of;
	struct hpcrun_across *across;
	struct part *parts; /* by thread */
};

uint32_t hpcrun_block_of(const struct hpcrun_merged *m, uint32_t context)
{
	return PM_LOWER_BOUND(i, 1, m->n_blocks, m->block_start[i] <= context) - 1;
}

/* ---- one thread ---- */

static void part_done(struct part *p)
{
	free(p->cells);
	free(p->contexts);
	*p = (struct part){.cells = NULL};
}

static void drop_part(void *result)
{
	part_done(result);
}

static bool is_within(const struct hpcrun_across *a, uint32_t context)
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
	size_t begin = hpcrun_cells_find(c, t->across->first), end = begin;
	while (end < c->n && is_within(t->across, c->items[end].context))
		end++;
	r = make_room(ret, end - begin);
	for (size_t i = begin; i < end && r == 0; i++) {
		ret->contexts[ret->n] = c->items[i].context - t->across->first;
		ret->cells[ret->n++] = (struct hpcrun_across_cell){.thread = thread,
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
		n += is_within(t->across, values->items[i].context);
	r = make_room(ret, n);
	for (size_t i = 0; i < values->n && r == 0; i++) {
		const struct hpcrun_stored *v = &values->items[i];
		if (!is_within(t->across, v->context))
			continue;
		ret->contexts[ret->n] = v->context - t->across->first;
		ret->cells[ret->n++] = (struct hpcrun_across_cell){.thread = thread,
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
	return t->of == HPCRUN_ACROSS_COSTS ? take_costs(t, i, result) : take_values(t, i, result);
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
		t->across->start[part->contexts[k] + 1]++;
	t->parts[i] = *part;
	*part = (struct part){.cells = NULL};
	return 0;
}

/* ---- all of them ---- */

static int place_cells(struct turning *t, uint32_t n_threads)
{
	struct hpcrun_across *a = t->across;
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
		.drop = drop_part,
		.context = t};
	t->across->start = calloc((size_t)t->across->n + 1, sizeof(*t->across->start));
	t->parts = calloc((size_t)n_threads + 1, sizeof(*t->parts));
	int r = t->across->start && t->parts ? pm_pipeline_run(&pipeline) : -ENOMEM;
	if (r == 0)
		r = place_cells(t, n_threads);
	for (uint32_t i = 0; i < n_threads && t->parts; i++)
		part_done(&t->parts[i]);
	free(t->parts);
	return r;
}

static void across_free(struct pm_cached *c)
{
	struct hpcrun_across *a = (struct hpcrun_across *)c;
	free(a->start);
	free(a->cells);
	free(a);
}

int hpcrun_across_read(const struct hpcrun_run *run, uint32_t block, enum hpcrun_across_of of,
	struct hpcrun_across **ret)
{
	const uint32_t *start = run->merged->block_start;
	struct hpcrun_across *a = calloc(1, sizeof(*a));
	struct turning t = {.run = run, .of = of, .across = a};
	if (!a)
		return -ENOMEM;
	a->cached.free = across_free;
	a->first = start[block];
	a->n = start[block + 1] - start[block];
	int r = turn(&t, run->folder->n);
	if (r < 0)
		across_free(&a->cached);
	else
		*ret = a;
	return r;
}

int64_t hpcrun_across_fill(const struct hpcrun_across *a, const struct hpcrun_merged *m,
	uint32_t context, uint64_t first, struct pm_value *ret, size_t room)
{
	uint64_t begin = a->start[context - a->first], end = a->start[context - a->first + 1];
	size_t filled = 0;
	for (uint64_t i = first; i < end - begin && filled < room; i++) {
		const struct hpcrun_across_cell *cell = &a->cells[begin + i];
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
