/*
 * The frozen tree: finding contexts and paths, and freeing. tree_build.c and tree_freeze.c
 * create trees.
 */
#include "formats/common/tree.h"

#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/tree_private.h"

/* Database numbers → contexts: an array where numbers are dense, else sorted pairs. */
struct pm_index {
	uint64_t n;      /* cells */
	uint32_t *dense; /* by number; PM_NONE if there is none; or NULL */
	uint64_t *pairs; /* number << 32 | context, by number; or NULL */
};

static struct pm_index *free_index(struct pm_index *index)
{
	if (index) {
		free(index->dense);
		free(index->pairs);
	}
	free(index);
	return NULL;
}

static bool fill_dense(struct pm_index *by_number, const struct pm_tree *tree,
	const uint32_t *index, bool with_zero)
{
	uint32_t *dense = malloc(by_number->n * sizeof(*dense));
	if (!dense)
		return false;
	memset(dense, 0xff, by_number->n * sizeof(*dense)); /* PM_NONE */
	for (uint32_t rank = 0; rank < tree->n_contexts; rank++) {
		uint32_t number = tree->number[index[rank]];
		if ((number || with_zero) && dense[number] == PM_NONE)
			dense[number] = index[rank];
	}
	by_number->dense = dense;
	return true;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static bool fill_pairs(struct pm_index *by_number, const struct pm_tree *tree,
	const uint32_t *index, bool with_zero)
{
	uint32_t n = tree->n_contexts;
	uint64_t *pairs = malloc(n * sizeof(*pairs));
	if (!pairs)
		return false;
	/* First number << 32 | rank, so that sorting keeps equal numbers in database order. */
	for (uint32_t rank = 0; rank < n; rank++)
		pairs[rank] = (uint64_t)tree->number[index[rank]] << 32 | rank;
	if (pm_sort(pairs, n, sizeof(*pairs), by_value) < 0) {
		free(pairs);
		return false;
	}
	by_number->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = pairs[i] >> 32, kept = by_number->n;
		if ((number || with_zero) && (kept == 0 || pairs[kept - 1] >> 32 != number))
			pairs[by_number->n++] = number << 32 | index[(uint32_t)pairs[i]];
	}
	by_number->pairs = pairs;
	return true;
}

struct pm_index *pm_index_new(const struct pm_tree *tree, const uint32_t *index, bool with_zero)
{
	struct pm_index *by_number = calloc(1, sizeof(*by_number));
	if (!by_number)
		return NULL;
	uint64_t largest = 0;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		if (tree->number[i] > largest)
			largest = tree->number[i];
	by_number->n = largest + 1;
	bool is_dense = largest <= 4 * (uint64_t)tree->n_contexts + 1024;
	bool filled = is_dense ? fill_dense(by_number, tree, index, with_zero)
			       : fill_pairs(by_number, tree, index, with_zero);
	return filled ? by_number : free_index(by_number);
}

uint32_t pm_tree_find(const struct pm_tree *tree, uint64_t number)
{
	const struct pm_index *index = tree->by_number;
	if (!tree->number)
		return number - 1 < tree->n_contexts ? (uint32_t)(number - 1) : PM_NONE;
	if (index->dense)
		return number < index->n ? index->dense[number] : PM_NONE;
	uint64_t at = PM_LOWER_BOUND(i, 0, index->n, index->pairs[i] >> 32 < number);
	bool found = at < index->n && index->pairs[at] >> 32 == number;
	return found ? (uint32_t)index->pairs[at] : PM_NONE;
}

uint32_t *pm_tree_path(const struct pm_tree *tree, uint32_t context, uint32_t *ret_n)
{
	uint32_t n = tree->depth[context] + 1;
	uint32_t *path = malloc(n * sizeof(*path));
	for (uint32_t i = n; path && i-- > 0; context = tree->parent[context])
		path[i] = context;
	*ret_n = n;
	return path;
}

void pm_tree_free(struct pm_tree *tree)
{
	struct pm_tree_frozen *frozen = (struct pm_tree_frozen *)tree;
	if (!frozen)
		return;
	free(frozen->arrays);
	free(frozen->frames);
	free(frozen->functions);
	pm_strtab_done(&frozen->texts);
	free_index(frozen->by_number);
	pm_arena_done(&frozen->arena);
	free(frozen);
}
