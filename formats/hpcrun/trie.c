/*
 * Nodes are found by a hash of parent and place. Files of one program contain the same nodes in
 * nearly the same order, so the node after the last one is tried first: if threads do the same,
 * nothing is hashed.
 */
#include "formats/hpcrun/trie.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

enum { FIRST_SLOTS = 256, BETWEEN_QUESTIONS = 1 << 12 };

struct hpcrun_place hpcrun_trie_place(const struct hpcrun_trie *t, uint32_t node)
{
	const struct hpcrun_trie_node *n = &t->nodes[node];
	return (struct hpcrun_place){.ip = n->ip, .module = n->module, .kind = n->kind};
}

/* ---- one node ---- */

static bool is_node(const struct hpcrun_trie_node *a, const struct hpcrun_trie_node *b)
{
	return a->ip == b->ip && a->parent == b->parent && a->module == b->module &&
		a->kind == b->kind;
}

/* Salted like the tables of map.c. */
static uint64_t hash_node(const struct hpcrun_trie_node *n, const uint32_t *slots)
{
	uint64_t h = (uint64_t)n->parent << 32 | n->module << 2 | n->kind;
	return pm_hash_u64(n->ip + pm_hash_u64(h ^ (uintptr_t)slots));
}

/* The slot of a node, or the free slot where it belongs. */
static uint32_t *slot_of(const struct hpcrun_trie *t, const struct hpcrun_trie_node *node)
{
	uint64_t at = hash_node(node, t->slots);
	uint32_t *slot = &t->slots[at & (t->n_slots - 1)];
	while (*slot && !is_node(&t->nodes[*slot - 1], node))
		slot = &t->slots[++at & (t->n_slots - 1)];
	return slot;
}

static int grow_slots(struct hpcrun_trie *t)
{
	size_t n = t->n_slots ? 2 * t->n_slots : FIRST_SLOTS;
	uint32_t *slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	for (uint32_t i = 0; i < t->n; i++)
		*slot_of(t, &t->nodes[i]) = i + 1;
	return 0;
}

static int add_node(struct hpcrun_trie *t, const struct hpcrun_trie_node *node)
{
	if (t->n >= PM_LIMIT_ITEMS ||
		pm_list_room(&t->nodes, t->n, &t->nodes_room, sizeof(*t->nodes)) < 0 ||
		pm_list_room(&t->tallies, t->n, &t->tallies_room, sizeof(*t->tallies)) < 0)
		return -ENOMEM;
	t->tallies[t->n] = (struct hpcrun_tally){.visits = 0};
	t->nodes[t->n++] = *node;
	return 0;
}

/* `guess` is a likely result. UINT32_MAX if out of memory. */
static uint32_t enter(struct hpcrun_trie *t, const struct hpcrun_trie_node *node, uint32_t guess)
{
	if (guess < t->n && is_node(&t->nodes[guess], node))
		return guess;
	if (t->n >= t->n_slots - t->n_slots / 4 && grow_slots(t) < 0)
		return UINT32_MAX;
	uint32_t *slot = slot_of(t, node);
	if (*slot)
		return *slot - 1;
	if (add_node(t, node) < 0)
		return UINT32_MAX;
	*slot = t->n;
	return t->n - 1;
}

static uint32_t find(
	const struct hpcrun_trie *t, const struct hpcrun_trie_node *node, uint32_t guess)
{
	if (guess < t->n && is_node(&t->nodes[guess], node))
		return guess;
	return t->n ? *slot_of(t, node) - 1 : UINT32_MAX;
}

static void count(uint32_t *sum, uint32_t more)
{
	*sum = more < UINT32_MAX - *sum ? *sum + more : UINT32_MAX;
}

/* ---- one file ---- */

static struct hpcrun_trie_node node_of(
	const struct hpcrun_crop_node *from, const uint32_t *nodes, const uint32_t *modules)
{
	bool in_module = from->place.kind == HPCRUN_PLACE_MODULE;
	return (struct hpcrun_trie_node){.ip = from->place.ip,
		.parent = from->parent == UINT32_MAX ? UINT32_MAX : nodes[from->parent],
		.module =
			(in_module ? modules[from->place.module] : from->place.module) & 0x3fffffff,
		.kind = from->place.kind & 3};
}

int hpcrun_trie_enter(struct hpcrun_trie *t, const struct hpcrun_harvest *h, uint32_t *ret)
{
	uint32_t *modules = calloc(h->n_modules + 1, sizeof(*modules)), last = UINT32_MAX;
	int r = modules ? 0 : -ENOMEM;
	t->modules.arena = &t->arena;
	for (size_t i = 0; i < h->n_modules && r == 0; i++) {
		modules[i] = pm_strtab_add(&t->modules, h->modules[i]);
		r = modules[i] == UINT32_MAX ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < h->n_nodes && r == 0; i++) {
		struct hpcrun_trie_node node = node_of(&h->nodes[i], ret, modules);
		ret[i] = last = enter(t, &node, last + 1);
		if (last == UINT32_MAX || (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled()))
			r = -ENOMEM;
		else
			count(&t->tallies[last].visits, 1);
	}
	free(modules);
	return r;
}

int hpcrun_trie_follow(const struct hpcrun_trie *t, const struct hpcrun_harvest *h, uint32_t *ret)
{
	uint32_t *modules = calloc(h->n_modules + 1, sizeof(*modules)), last = UINT32_MAX;
	if (!modules)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_modules; i++)
		modules[i] = pm_strtab_find(&t->modules, h->modules[i]);
	for (size_t i = 0; i < h->n_nodes; i++) {
		struct hpcrun_trie_node node = node_of(&h->nodes[i], ret, modules);
		ret[i] = last = find(t, &node, last + 1);
	}
	free(modules);
	return 0;
}

/* By metric of a file: its name in the trie; marks the names as used. */
static uint32_t *names_of(struct hpcrun_trie *t, const struct hpcrun_harvest *h)
{
	uint32_t *names = calloc(h->n_metrics + 1, sizeof(*names));
	for (size_t i = 0; i < h->n_metrics && names; i++) {
		names[i] = hpcrun_metric_names_add(&t->metrics, h->metrics[i].name,
			h->metrics[i].moves ? HPCRUN_METRIC_MOVES : 0);
		if (names[i] == UINT32_MAX) {
			free(names);
			names = NULL;
		}
	}
	return names;
}

int hpcrun_trie_add(struct hpcrun_trie *t, const struct hpcrun_harvest *h, const uint32_t *nodes)
{
	uint32_t *names = names_of(t, h);
	int r = names ? 0 : -ENOMEM;
	for (size_t i = 0; i < h->n_values && r == 0; i++) {
		const struct hpcrun_crop_value *v = &h->values[i];
		double cost = hpcrun_cost(&h->metrics[v->metric], v->bits);
		count(&t->tallies[nodes[v->node]].values, 1);
		t->metrics.flags[names[v->metric]] |= HPCRUN_METRIC_USED;
		if (cost == cost)
			r = hpcrun_sums_add(&t->sums, nodes[v->node], names[v->metric], cost);
	}
	free(names);
	return r;
}

/* ---- many files ---- */

static int join_nodes(struct hpcrun_trie *t, const struct hpcrun_trie *from,
	const uint32_t *modules, uint32_t *nodes)
{
	uint32_t last = UINT32_MAX;
	for (uint32_t i = 0; i < from->n; i++) {
		struct hpcrun_trie_node node = from->nodes[i];
		if (node.parent != UINT32_MAX)
			node.parent = nodes[node.parent];
		if (node.kind == HPCRUN_PLACE_MODULE)
			node.module = modules[node.module] & 0x3fffffff;
		nodes[i] = last = enter(t, &node, last + 1);
		if (last == UINT32_MAX || (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled()))
			return -ENOMEM;
		count(&t->tallies[last].visits, from->tallies[i].visits);
		count(&t->tallies[last].values, from->tallies[i].values);
	}
	return 0;
}

static int join_names(
	struct hpcrun_trie *t, const struct hpcrun_trie *from, uint32_t *modules, uint32_t *metrics)
{
	t->modules.arena = &t->arena;
	for (uint32_t i = 0; i < from->modules.n; i++) {
		modules[i] = pm_strtab_add(&t->modules, from->modules.items[i]);
		if (modules[i] == UINT32_MAX)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < from->metrics.names.n; i++) {
		metrics[i] = hpcrun_metric_names_add(
			&t->metrics, from->metrics.names.items[i], from->metrics.flags[i]);
		if (metrics[i] == UINT32_MAX)
			return -ENOMEM;
	}
	return 0;
}

int hpcrun_trie_join(struct hpcrun_trie *t, const struct hpcrun_trie *from)
{
	uint32_t *modules = calloc((size_t)from->modules.n + 1, sizeof(*modules));
	uint32_t *metrics = calloc((size_t)from->metrics.names.n + 1, sizeof(*metrics));
	uint32_t *nodes = calloc((size_t)from->n + 1, sizeof(*nodes));
	int r = modules && metrics && nodes ? join_names(t, from, modules, metrics) : -ENOMEM;
	if (r == 0)
		r = join_nodes(t, from, modules, nodes);
	if (r == 0)
		r = hpcrun_sums_join(&t->sums, &from->sums, nodes, metrics);
	free(modules);
	free(metrics);
	free(nodes);
	return r;
}

void hpcrun_trie_settle(struct hpcrun_trie *t)
{
	struct hpcrun_trie_node *smaller =
		t->nodes ? realloc(t->nodes, ((size_t)t->n + 1) * sizeof(*smaller)) : NULL;
	if (smaller)
		t->nodes = smaller;
	hpcrun_sums_done(&t->sums);
	free(t->tallies);
	t->tallies = NULL;
}

void hpcrun_trie_done(struct hpcrun_trie *t)
{
	hpcrun_trie_settle(t);
	hpcrun_metric_names_done(&t->metrics);
	pm_strtab_done(&t->modules);
	pm_arena_done(&t->arena);
	free(t->nodes);
	free(t->slots);
	*t = (struct hpcrun_trie){.nodes = NULL};
}
