/*
 * The tree into which files are merged. Files of one program contain the same nodes in nearly the
 * same order, so the node after the last one is tried first: if threads do the same, nothing is
 * hashed. From the first node on where that fails, nodes are found by a hash of their path. It does
 * not depend on where the nodes above are found, so it is known early, and the memory of later
 * nodes is prefetched while earlier ones are looked up.
 */
#include "formats/hpcrun/hpcrun.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

/*
 * ==== sums by node and metric ====
 * The number of both is not known in advance. The first metrics have a cell for every node, which
 * takes a few bytes per byte of a file with that many nodes; the others have cells only for
 * existing values.
 */

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

/* ==== nodes ==== */

enum {
	BETWEEN_QUESTIONS = 1 << 12,
	STAGE = 16, /* nodes from one stage to the next */
};

struct hpcrun_place hpcrun_trie_place(const struct hpcrun_trie *t, uint32_t node)
{
	const struct hpcrun_trie_node *n = &t->nodes[node];
	return (struct hpcrun_place){.ip = n->ip, .module = n->module, .kind = n->kind};
}

/* Asked for each item i of a long loop. */
static bool is_cancelled(uint64_t i)
{
	return i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled();
}

/* ---- one node ---- */

static bool is_node(const struct hpcrun_trie_node *a, const struct hpcrun_trie_node *b)
{
	return a->ip == b->ip && a->parent == b->parent && a->module == b->module &&
		a->kind == b->kind;
}

/* ---- many nodes ---- */

/* Nodes of a file or of another trie, parents first; `parent` is an index of them. */
struct walk {
	const struct hpcrun_trie *trie;
	struct hpcrun_trie *grow; /* the same, or NULL: unknown nodes are not added */
	struct hpcrun_trie_node *nodes;
	uint32_t n;
	uint64_t *hashes; /* of the paths of the first `n_hashed` nodes */
	uint32_t n_hashed;
	uint32_t *ret; /* the node of the trie of each, or UINT32_MAX */
};

static struct hpcrun_trie_node node_of(const struct walk *w, uint32_t i)
{
	struct hpcrun_trie_node node = w->nodes[i];
	if (node.parent != UINT32_MAX)
		node.parent = w->ret[node.parent];
	return node;
}

static void hash_next(struct walk *w)
{
	const struct hpcrun_trie_node *n = &w->nodes[w->n_hashed];
	uint64_t above = n->parent == UINT32_MAX ? w->trie->prints.salt : w->hashes[n->parent];
	w->hashes[w->n_hashed++] =
		pm_hash_u64(pm_hash_u64(above ^ n->ip) + ((uint64_t)n->module << 2 | n->kind));
}

/* Looks a node up, and adds it where that is wanted. -ENOMEM. */
static int take_node(const struct walk *w, uint32_t i)
{
	const struct hpcrun_trie *t = w->trie;
	struct hpcrun_trie_node node = node_of(w, i);
	uint32_t hash = (uint32_t)w->hashes[i], found;
	if (w->grow && pm_fingerprints_room(&w->grow->prints) < 0)
		return -ENOMEM;
	size_t at = pm_fingerprints_first(&t->prints, hash);
	while ((found = pm_fingerprints_at(&t->prints, hash, &at)) != UINT32_MAX &&
		!is_node(&t->nodes[found], &node))
		at++;
	w->ret[i] = found;
	if (found != UINT32_MAX || !w->grow)
		return 0;
	struct hpcrun_trie *g = w->grow;
	if (g->n >= PM_LIMIT_ITEMS ||
		pm_list_room(&g->nodes, g->n, &g->nodes_room, sizeof(*g->nodes)) < 0 ||
		pm_list_room(&g->tallies, g->n, &g->tallies_room, sizeof(*g->tallies)) < 0)
		return -ENOMEM;
	pm_fingerprints_put(&g->prints, at, hash, g->n);
	g->tallies[g->n] = (struct hpcrun_tally){.visits = 0};
	g->nodes[g->n] = node;
	w->ret[i] = g->n++;
	return 0;
}

static bool is_next(const struct walk *w, uint32_t i)
{
	uint32_t guess = i == 0 ? 0 : w->ret[i - 1] + 1;
	struct hpcrun_trie_node node = node_of(w, i);
	if (guess >= w->trie->n || !is_node(&w->trie->nodes[guess], &node))
		return false;
	w->ret[i] = guess;
	return true;
}

/* The nodes from `first` on, in two stages: slots are prefetched, then the nodes they name. */
static int take_nodes(struct walk *w, uint32_t first)
{
	const struct pm_fingerprints *prints = &w->trie->prints;
	while (w->n_hashed < first)
		hash_next(w);
	for (uint64_t i = first; i < (uint64_t)w->n + 2 * STAGE; i++) {
		if (is_cancelled(i))
			return -ENOMEM;
		if (i < w->n) {
			hash_next(w);
			pm_fingerprints_prefetch(prints, (uint32_t)w->hashes[i]);
		}
		if (i >= first + STAGE && i - STAGE < w->n) {
			uint32_t hash = (uint32_t)w->hashes[i - STAGE];
			size_t at = pm_fingerprints_first(prints, hash);
			uint32_t node = pm_fingerprints_at(prints, hash, &at);
			if (node != UINT32_MAX)
				__builtin_prefetch(&w->trie->nodes[node]);
		}
		if (i >= first + 2 * STAGE && take_node(w, (uint32_t)i - 2 * STAGE) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_all(struct walk *w)
{
	uint32_t i = 0;
	if (w->grow && pm_fingerprints_room(&w->grow->prints) < 0)
		return -ENOMEM;
	while (i < w->n && !is_cancelled(i) && is_next(w, i))
		i++;
	if (i == w->n)
		return 0;
	w->hashes = malloc(((size_t)w->n + 1) * sizeof(*w->hashes));
	int r = w->hashes ? take_nodes(w, i) : -ENOMEM;
	free(w->hashes);
	return r;
}

static void count(uint32_t *sum, uint32_t more)
{
	*sum = more < UINT32_MAX - *sum ? *sum + more : UINT32_MAX;
}

/* ---- one file ---- */

/* A file's nodes with modules[i] for module i; NULL if out of memory. */
static struct hpcrun_trie_node *nodes_of(const struct hpcrun_file_tree *h, const uint32_t *modules)
{
	struct hpcrun_trie_node *nodes = malloc((h->n_nodes + 1) * sizeof(*nodes));
	for (size_t i = 0; i < h->n_nodes && nodes; i++) {
		const struct hpcrun_file_node *from = &h->nodes[i];
		bool in_module = from->place.kind == HPCRUN_PLACE_MODULE;
		uint32_t module = in_module ? modules[from->place.module] : from->place.module;
		nodes[i] = (struct hpcrun_trie_node){.ip = from->place.ip,
			.parent = from->parent,
			.module = module & 0x3fffffff,
			.kind = from->place.kind & 3};
	}
	return nodes;
}

static int take_file(struct walk *w, const struct hpcrun_file_tree *h, const uint32_t *modules)
{
	w->nodes = nodes_of(h, modules);
	w->n = (uint32_t)h->n_nodes; /* at most PM_LIMIT_ITEMS */
	int r = w->nodes ? take_all(w) : -ENOMEM;
	free(w->nodes);
	return r;
}

int hpcrun_trie_enter(struct hpcrun_trie *t, const struct hpcrun_file_tree *h, uint32_t *ret)
{
	struct walk w = {.trie = t, .grow = t, .ret = ret};
	uint32_t *modules = calloc(h->n_modules + 1, sizeof(*modules));
	int r = modules ? 0 : -ENOMEM;
	t->modules.arena = &t->arena;
	for (size_t i = 0; i < h->n_modules && r == 0; i++) {
		modules[i] = pm_strtab_add(&t->modules, h->modules[i]);
		r = modules[i] == UINT32_MAX ? -ENOMEM : 0;
	}
	if (r == 0)
		r = take_file(&w, h, modules);
	for (size_t i = 0; i < h->n_nodes && r == 0; i++)
		count(&t->tallies[ret[i]].visits, 1);
	free(modules);
	return r;
}

int hpcrun_trie_follow(const struct hpcrun_trie *t, const struct hpcrun_file_tree *h, uint32_t *ret)
{
	struct walk w = {.trie = t, .ret = ret};
	uint32_t *modules = calloc(h->n_modules + 1, sizeof(*modules));
	int r = modules ? 0 : -ENOMEM;
	for (size_t i = 0; i < h->n_modules && r == 0; i++)
		modules[i] = pm_strtab_find(&t->modules, h->modules[i]);
	if (r == 0)
		r = take_file(&w, h, modules);
	free(modules);
	return r;
}

/* By metric of a file: its name in the trie; marks the names as used. */
static uint32_t *names_of(struct hpcrun_trie *t, const struct hpcrun_file_tree *h)
{
	uint32_t *names = calloc(h->n_metrics + 1, sizeof(*names));
	for (size_t i = 0; i < h->n_metrics && names; i++) {
		names[i] = hpcrun_metric_names_add(&t->metrics, &h->metrics[i]);
		if (names[i] == UINT32_MAX) {
			free(names);
			names = NULL;
		}
	}
	return names;
}

int hpcrun_trie_add(struct hpcrun_trie *t, const struct hpcrun_file_tree *h, const uint32_t *nodes)
{
	uint32_t *names = names_of(t, h);
	int r = names ? 0 : -ENOMEM;
	for (size_t i = 0; i < h->n_values && r == 0; i++) {
		const struct hpcrun_file_value *v = &h->values[i];
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
	struct walk w = {.trie = t, .grow = t, .n = from->n, .ret = nodes};
	w.nodes = malloc(((size_t)from->n + 1) * sizeof(*w.nodes));
	for (uint32_t i = 0; i < from->n && w.nodes; i++) {
		w.nodes[i] = from->nodes[i];
		if (w.nodes[i].kind == HPCRUN_PLACE_MODULE)
			w.nodes[i].module = modules[w.nodes[i].module] & 0x3fffffff;
	}
	int r = w.nodes ? take_all(&w) : -ENOMEM;
	for (uint32_t i = 0; i < from->n && r == 0; i++) {
		count(&t->tallies[nodes[i]].visits, from->tallies[i].visits);
		count(&t->tallies[nodes[i]].values, from->tallies[i].values);
	}
	free(w.nodes);
	return r;
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
	return hpcrun_metric_names_join(&t->metrics, &from->metrics, metrics);
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

void hpcrun_trie_finish(struct hpcrun_trie *t)
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
	hpcrun_trie_finish(t);
	hpcrun_metric_names_done(&t->metrics);
	pm_strtab_done(&t->modules);
	pm_arena_done(&t->arena);
	free(t->nodes);
	pm_fingerprints_done(&t->prints);
	*t = (struct hpcrun_trie){.nodes = NULL};
}
