/*
 * Contexts with costs, and their ancestors, are marked in a bitmap over the tree. The set bits
 * number them, and all other work uses arrays of that size. In the order of contexts, children come
 * after their parents, so a backward pass adds everything up. There are two passes over all groups:
 * the first one only counts, so only the cells are kept.
 */
#include "formats/hpcrun/hpcrun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

enum { SEEN_BELOW = 1, SEEN_OWN = 2 };

/* If more than one in this many is marked, scanning all is faster than sorting. */
enum { FEW = 32 };

struct climb {
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

static void number_contexts(struct climb *c, size_t n_words)
{
	uint32_t at = 0;
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

static int find_contexts(struct climb *c, const struct hpcrun_own *own, size_t n)
{
	size_t n_words = (size_t)c->tree->n_contexts / 64 + 1;
	c->marks = calloc(n_words, sizeof(*c->marks));
	c->before = malloc(n_words * sizeof(*c->before));
	if (!c->marks || !c->before)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (own[i].cost == own[i].cost)
			mark(c, own[i].context);
	size_t room = (size_t)c->n + 1;
	c->context = malloc(room * sizeof(*c->context));
	c->parent = malloc(room * sizeof(*c->parent));
	c->cells = calloc(room, sizeof(*c->cells));
	c->touched = malloc(room * sizeof(*c->touched));
	c->own = calloc(room, sizeof(*c->own));
	c->total = calloc(room, sizeof(*c->total));
	c->seen = calloc(room, sizeof(*c->seen));
	if (!c->context || !c->parent || !c->cells || !c->touched || !c->own || !c->total ||
		!c->seen)
		return -ENOMEM;
	number_contexts(c, n_words);
	return 0;
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

/* Orders the marked contexts: children before parents. */
static int order_touched(struct climb *c)
{
	if (c->n_touched < c->n / FEW)
		return pm_sort(c->touched, c->n_touched, sizeof(*c->touched), downwards);
	c->n_touched = 0;
	for (uint32_t i = c->n; i-- > 0;)
		if (c->seen[i])
			c->touched[c->n_touched++] = i;
	return 0;
}

/* The counting pass. */
static int count_cells(struct climb *c, uint32_t group)
{
	(void)group;
	c->n_sums += c->n_touched;
	if (c->n_sums > c->most_sums)
		return pm_error_set(c->err, -ENOMEM, NULL, PM_NO_OFFSET,
			"the values of its metrics make too many inclusive costs: more than %zu at "
			"%" PRIu32 " contexts",
			c->most_sums, c->n);
	for (uint32_t i = 0; i < c->n_touched; i++) {
		uint32_t place = c->touched[i];
		c->cells[place] += c->seen[place] & SEEN_OWN ? 2 : 1;
		c->own[place] = 0;
		c->seen[place] = 0;
	}
	c->n_touched = 0;
	return 0;
}

static void put_cell(struct climb *c, uint32_t place, uint32_t metric, double cost)
{
	c->ret->items[c->cells[place]++] = (struct hpcrun_cell){c->context[place], metric, cost};
}

static int add_up(struct climb *c, uint32_t group)
{
	if (order_touched(c) < 0)
		return -ENOMEM;
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
	return 0;
}

/* ---- all groups ---- */

/* Sorts `own` by group, keeping the order within a group; *ret_end has each group's end. */
static struct hpcrun_own *sort_by_group(
	const struct hpcrun_own *own, size_t n, uint32_t n_groups, size_t *end)
{
	struct hpcrun_own *sorted = malloc((n + 1) * sizeof(*sorted));
	if (!sorted)
		return NULL;
	memset(end, 0, ((size_t)n_groups + 1) * sizeof(*end));
	for (size_t i = 0; i < n; i++)
		end[own[i].group + 1]++;
	for (uint32_t group = 0; group < n_groups; group++)
		end[group + 1] += end[group];
	for (size_t i = 0; i < n; i++)
		sorted[end[own[i].group]++] = own[i];
	return sorted;
}

/* Calls `each` when all costs of a group have been added up. */
static int climb_groups(struct climb *c, const struct hpcrun_own *sorted, const size_t *end,
	uint32_t n_groups, int (*each)(struct climb *, uint32_t))
{
	size_t i = 0;
	int r = 0;
	for (uint32_t group = 0; group < n_groups && r == 0; group++) {
		for (; i < end[group]; i++)
			add(c, &sorted[i]);
		r = pm_work_cancelled() ? PM_CANCELLED : each(c, group);
	}
	return r;
}

/* Cells will come group by group: each context reserves positions for its own. */
static int make_room(struct climb *c)
{
	size_t n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		size_t count = c->cells[i];
		c->cells[i] = n;
		n += count;
	}
	c->ret->items = n < UINT32_MAX ? malloc((n + 1) * sizeof(*c->ret->items)) : NULL;
	c->ret->n = c->ret->items ? n : 0;
	return c->ret->items ? 0 : -ENOMEM;
}

static int climb_all(struct climb *c, const struct hpcrun_own *own, size_t n, uint32_t n_groups)
{
	size_t *end = malloc(((size_t)n_groups + 1) * sizeof(*end));
	struct hpcrun_own *sorted = end ? sort_by_group(own, n, n_groups, end) : NULL;
	int r = sorted ? climb_groups(c, sorted, end, n_groups, count_cells) : -ENOMEM;
	if (r == 0)
		r = make_room(c);
	if (r == 0)
		r = climb_groups(c, sorted, end, n_groups, add_up);
	free(sorted);
	free(end);
	return r;
}

void hpcrun_cells_done(struct hpcrun_cells *c)
{
	free(c->items);
	*c = (struct hpcrun_cells){.items = NULL};
}

int hpcrun_cells_make(struct hpcrun_cells *ret, const struct pm_tree *tree, uint32_t n_groups,
	const struct hpcrun_own *own, size_t n, struct pm_error *err)
{
	struct climb c = {.tree = tree, .ret = ret, .err = err};
	*ret = (struct hpcrun_cells){.items = NULL};
	int r = find_contexts(&c, own, n);
	c.most_sums = PM_LIMIT_SUMS + PM_LIMIT_SUMS_EACH * (n + c.n);
	if (r == 0)
		r = climb_all(&c, own, n, n_groups);
	if (r < 0)
		hpcrun_cells_done(ret);
	free(c.marks);
	free(c.before);
	free(c.context);
	free(c.parent);
	free(c.cells);
	free(c.touched);
	free(c.own);
	free(c.total);
	free(c.seen);
	return r;
}

size_t hpcrun_cells_find(const struct hpcrun_cells *c, uint32_t context)
{
	return PM_LOWER_BOUND(i, 0, c->n, c->items[i].context < context);
}
