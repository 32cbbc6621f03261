/*
 * Contexts with costs, and their ancestors, are marked in a bitmap over the tree. The set bits
 * number them, and all other work uses arrays of that size. In the order of contexts, children come
 * after their parents, so a backward pass adds everything up. There are two passes over all groups:
 * the first one only counts, so only the cells are kept.
 */
#include "formats/hpcrun/hpcrun.h"

#include <errno.h>
#include <inttypes.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

enum { SEEN_BELOW = 1, SEEN_OWN = 2 };

/* If more than one in this many is marked, scanning all is faster than sorting. */
enum { FEW = 32 };

struct climb {
	struct pm_arena *a; /* of all of it */
	const struct pm_tree *tree;
	uint64_t *marks;  /* by context, 64 in one */
	uint32_t *before; /* by word of marks: the number of marks before it */
	uint32_t n;       /* marked contexts; their positions are 0 … n - 1 */
	/* By position: */
	uint32_t *context, *parent, *touched;
	size_t *cells; /* the number, then the position of the next one */
	double *own, *total;
	uint8_t *seen;
	uint32_t n_touched;
	size_t n_sums, most_sums;
	struct hpcrun_cells *ret;
	struct pm_error *err;
};

/* ---- which contexts ---- */

static void mark(struct climb *c, uint32_t context)
{
	const uint32_t *parent = c->tree->parent;
	for (; context != PM_NONE; context = parent[context]) {
		uint64_t bit = UINT64_C(1) << context % 64;
		if (c->marks[context / 64] & bit)
			return;
		c->marks[context / 64] |= bit;
		c->n++;
	}
}

static uint32_t place_of(const struct climb *c, uint32_t context)
{
	uint64_t below = c->marks[context / 64] & ((UINT64_C(1) << context % 64) - 1);
	return c->before[context / 64] + (uint32_t)__builtin_popcountll(below);
}

static void find_contexts(struct climb *c, const struct hpcrun_own *own, size_t n)
{
	size_t n_words = (size_t)c->tree->n_contexts / 64 + 1;
	uint32_t at = 0;
	c->marks = pm_arena_array(c->a, n_words, sizeof(*c->marks));
	c->before = pm_arena_array(c->a, n_words, sizeof(*c->before));
	for (size_t i = 0; i < n; i++)
		if (own[i].cost == own[i].cost)
			mark(c, own[i].context);
	c->context = pm_arena_array(c->a, c->n, sizeof(*c->context));
	c->parent = pm_arena_array(c->a, c->n, sizeof(*c->parent));
	c->cells = pm_arena_array(c->a, c->n, sizeof(*c->cells));
	c->touched = pm_arena_array(c->a, c->n, sizeof(*c->touched));
	c->own = pm_arena_array(c->a, c->n, sizeof(*c->own));
	c->total = pm_arena_array(c->a, c->n, sizeof(*c->total));
	c->seen = pm_arena_array(c->a, c->n, sizeof(*c->seen));
	for (size_t i = 0; i < n_words; i++) {
		c->before[i] = at;
		for (uint64_t word = c->marks[i]; word; word &= word - 1)
			c->context[at++] = (uint32_t)(64 * i) + (uint32_t)__builtin_ctzll(word);
	}
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t parent = c->tree->parent[c->context[i]];
		c->parent[i] = parent == PM_NONE ? PM_NONE : place_of(c, parent);
	}
}

/* ---- one group ---- */

static void add(struct climb *c, const struct hpcrun_own *own)
{
	if (own->cost != own->cost)
		return;
	uint32_t place = place_of(c, own->context);
	for (uint32_t i = place; i != PM_NONE && !c->seen[i]; i = c->parent[i]) {
		c->seen[i] = SEEN_BELOW;
		c->touched[c->n_touched++] = i;
	}
	c->own[place] += own->cost;
	c->seen[place] |= SEEN_OWN;
}

static int downwards(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x < *y) - (*x > *y);
}

/* The counting pass. */
static void count_cells(struct climb *c, uint32_t group)
{
	(void)group;
	c->n_sums += c->n_touched;
	if (c->n_sums > c->most_sums)
		pm_build_fail(c->a,
			pm_error_set(c->err, -ENOMEM, NULL, PM_NO_OFFSET,
				"the values of its metrics make too many inclusive costs: more "
				"than %zu at %" PRIu32 " contexts",
				c->most_sums, c->n));
	for (uint32_t i = 0; i < c->n_touched; i++) {
		uint32_t place = c->touched[i];
		c->cells[place] += c->seen[place] & SEEN_OWN ? 2 : 1;
		c->own[place] = 0;
		c->seen[place] = 0;
	}
	c->n_touched = 0;
}

/* Orders the marked contexts: children before parents. */
static void order_touched(struct climb *c)
{
	if (c->n_touched < c->n / FEW) {
		pm_build_check(
			c->a, pm_sort(c->touched, c->n_touched, sizeof(*c->touched), downwards));
		return;
	}
	c->n_touched = 0;
	for (uint32_t i = c->n; i-- > 0;)
		if (c->seen[i])
			c->touched[c->n_touched++] = i;
}

static void put_cell(struct climb *c, uint32_t place, uint32_t metric, double cost)
{
	c->ret->items[c->cells[place]++] = (struct hpcrun_cell){c->context[place], metric, cost};
}

static void add_up(struct climb *c, uint32_t group)
{
	order_touched(c);
	for (uint32_t i = 0; i < c->n_touched; i++) {
		uint32_t place = c->touched[i];
		double total = c->total[place] + c->own[place];
		if (c->parent[place] != PM_NONE)
			c->total[c->parent[place]] += total;
		if (c->seen[place] & SEEN_OWN)
			put_cell(c, place, 2 * group, c->own[place]);
		put_cell(c, place, 2 * group + 1, total);
		c->own[place] = c->total[place] = 0;
		c->seen[place] = 0;
	}
	c->n_touched = 0;
}

/* ---- all groups ---- */

/* Sorts `own` by group, keeping the order within a group; `end` gets each group's end. */
static struct hpcrun_own *sort_by_group(
	struct pm_arena *a, const struct hpcrun_own *own, size_t n, uint32_t n_groups, size_t *end)
{
	struct hpcrun_own *sorted = pm_arena_array(a, n, sizeof(*sorted));
	for (size_t i = 0; i < n; i++)
		end[own[i].group + 1]++;
	for (uint32_t group = 0; group < n_groups; group++)
		end[group + 1] += end[group];
	for (size_t i = 0; i < n; i++)
		sorted[end[own[i].group]++] = own[i];
	return sorted;
}

/* Calls `each` when all costs of a group have been added up. */
static void climb_groups(struct climb *c, const struct hpcrun_own *sorted, const size_t *end,
	uint32_t n_groups, void (*each)(struct climb *, uint32_t))
{
	size_t i = 0;
	for (uint32_t group = 0; group < n_groups; group++) {
		for (; i < end[group]; i++)
			add(c, &sorted[i]);
		pm_build_proceed(c->a);
		each(c, group);
	}
}

void hpcrun_cells_make(struct hpcrun_cells *ret, struct pm_arena *a, const struct pm_tree *tree,
	uint32_t n_groups, const struct hpcrun_own *own, size_t n, struct pm_error *err)
{
	struct climb c = {.a = pm_arena_scratch(a), .tree = tree, .ret = ret, .err = err};
	*ret = (struct hpcrun_cells){.items = NULL};
	find_contexts(&c, own, n);
	c.most_sums = PM_LIMIT_SUMS + PM_LIMIT_SUMS_EACH * (n + c.n);
	size_t *end = pm_arena_array(c.a, (size_t)n_groups + 1, sizeof(*end));
	struct hpcrun_own *sorted = sort_by_group(c.a, own, n, n_groups, end);
	climb_groups(&c, sorted, end, n_groups, count_cells);
	/* Cells will come group by group: each context reserves positions for its own. */
	for (uint32_t i = 0; i < c.n; i++) {
		size_t count = c.cells[i];
		c.cells[i] = ret->n;
		ret->n += count;
	}
	pm_build_check(a, ret->n < UINT32_MAX ? 0 : -ENOMEM);
	ret->items = pm_arena_array(a, ret->n, sizeof(*ret->items));
	climb_groups(&c, sorted, end, n_groups, add_up);
	pm_arena_done(c.a);
}

size_t hpcrun_cells_find(const struct hpcrun_cells *c, uint32_t context)
{
	return PM_LOWER_BOUND(i, 0, c->n, c->items[i].context < context);
}
