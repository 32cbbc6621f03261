#include "formats/hpcrun/sums.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/map.h"
#include "formats/common/sort.h"

enum { FIRST_NODES = 256, FIRST_SLOTS = 64 };

/* ---- the first metrics ---- */

static int grow_dense(struct hpcrun_sums *s, uint32_t metric, uint32_t node)
{
	size_t n = s->dense_n[metric], wanted = n + n / 2;
	wanted = wanted > node ? wanted : (size_t)node + FIRST_NODES;
	wanted = wanted < UINT32_MAX ? wanted : UINT32_MAX;
	double *cells = realloc(s->dense[metric], wanted * sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	for (size_t i = n; i < wanted; i++)
		cells[i] = NAN;
	s->dense[metric] = cells;
	s->dense_n[metric] = (uint32_t)wanted;
	return 0;
}

/* ---- the others ---- */

static struct hpcrun_sum *slot_of(const struct hpcrun_sums *s, uint32_t node, uint32_t metric)
{
	uint64_t at = pm_hash_u64(((uint64_t)metric << 32 | node) ^ (uintptr_t)s->slots);
	struct hpcrun_sum *slot = &s->slots[at & (s->n_slots - 1)];
	while (slot->metric && (slot->node != node || slot->metric != metric))
		slot = &s->slots[++at & (s->n_slots - 1)];
	return slot;
}

static int grow_slots(struct hpcrun_sums *s)
{
	struct hpcrun_sums old = *s;
	s->n_slots = old.n_slots ? 2 * old.n_slots : FIRST_SLOTS;
	s->slots = calloc(s->n_slots, sizeof(*s->slots));
	if (!s->slots) {
		*s = old;
		return -ENOMEM;
	}
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slots[i].metric)
			*slot_of(s, old.slots[i].node, old.slots[i].metric) = old.slots[i];
	free(old.slots);
	return 0;
}

static int add_sparse(struct hpcrun_sums *s, uint32_t node, uint32_t metric, double cost)
{
	if (s->n_sparse >= s->n_slots / 2 && grow_slots(s) < 0)
		return -ENOMEM;
	struct hpcrun_sum *slot = slot_of(s, node, metric);
	if (slot->metric) {
		slot->cost += cost;
		return 0;
	}
	s->n_sparse++;
	*slot = (struct hpcrun_sum){node, metric, cost};
	return 0;
}

/* ---- all ---- */

int hpcrun_sums_add(struct hpcrun_sums *s, uint32_t node, uint32_t metric, double cost)
{
	if (metric >= HPCRUN_DENSE)
		return add_sparse(s, node, metric, cost);
	if (node >= s->dense_n[metric] && grow_dense(s, metric, node) < 0)
		return -ENOMEM;
	double *cell = &s->dense[metric][node];
	*cell = *cell == *cell ? *cell + cost : cost;
	return 0;
}

/* Each cell is added to once, so the order of slots does not matter. */
int hpcrun_sums_join(struct hpcrun_sums *s, const struct hpcrun_sums *from, const uint32_t *nodes,
	const uint32_t *metrics)
{
	int r = 0;
	for (uint32_t metric = 0; metric < HPCRUN_DENSE; metric++)
		for (uint32_t i = 0; i < from->dense_n[metric] && r == 0; i++) {
			double cost = from->dense[metric][i];
			if (cost == cost)
				r = hpcrun_sums_add(s, nodes[i], metrics[metric], cost);
		}
	for (size_t i = 0; i < from->n_slots && r == 0; i++) {
		const struct hpcrun_sum *sum = &from->slots[i];
		if (sum->metric)
			r = hpcrun_sums_add(s, nodes[sum->node], metrics[sum->metric], sum->cost);
	}
	return r;
}

static int by_place(const void *a, const void *b)
{
	const struct hpcrun_sum *x = a, *y = b;
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

struct hpcrun_sum *hpcrun_sums_list(const struct hpcrun_sums *s, size_t *ret_n)
{
	size_t room = s->n_sparse + 1, n = 0;
	for (uint32_t metric = 0; metric < HPCRUN_DENSE; metric++)
		for (uint32_t i = 0; i < s->dense_n[metric]; i++)
			room += !isnan(s->dense[metric][i]);
	struct hpcrun_sum *list = malloc(room * sizeof(*list));
	if (!list)
		return NULL;
	for (uint32_t metric = 0; metric < HPCRUN_DENSE; metric++)
		for (uint32_t i = 0; i < s->dense_n[metric]; i++)
			if (!isnan(s->dense[metric][i]))
				list[n++] = (struct hpcrun_sum){i, metric, s->dense[metric][i]};
	size_t first = n;
	for (size_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].metric)
			list[n++] = s->slots[i];
	*ret_n = n;
	if (pm_sort(list + first, n - first, sizeof(*list), by_place) == 0)
		return list;
	free(list);
	return NULL;
}

void hpcrun_sums_done(struct hpcrun_sums *s)
{
	for (uint32_t metric = 0; metric < HPCRUN_DENSE; metric++)
		free(s->dense[metric]);
	free(s->slots);
	*s = (struct hpcrun_sums){.slots = NULL};
}
