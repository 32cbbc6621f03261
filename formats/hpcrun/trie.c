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

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

/*
 * ==== sums by node and metric ====
 * The number of both is not known in advance. The first metrics have a cell for every node, which
 * takes a few bytes per byte of a file with that many nodes; the others have cells only for
 * existing values.
 */

enum { FIRST_NODES = 256, FIRST_SLOTS = 64 };

/* ---- the first metrics ---- */

static void grow_dense(struct hpcrun_sums *s, uint32_t metric, uint32_t node)
{
	size_t n = s->dense_n[metric], wanted = n + n / 2;
	wanted = wanted > node ? wanted : (size_t)node + FIRST_NODES;
	wanted = wanted < UINT32_MAX ? wanted : UINT32_MAX;
	s->dense[metric] =
		pm_arena_realloc(s->arena, s->dense[metric], wanted * sizeof(*s->dense[metric]));
	for (size_t i = n; i < wanted; i++)
		s->dense[metric][i] = NAN;
	s->dense_n[metric] = (uint32_t)wanted;
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

static void add_sparse(struct hpcrun_sums *s, uint32_t node, uint32_t metric, double cost)
{
	if (s->n_sparse >= s->n_slots / 2) {
		struct hpcrun_sums old = *s;
		s->n_slots = old.n_slots ? 2 * old.n_slots : FIRST_SLOTS;
		s->slots = pm_arena_zeroed(s->arena, s->n_slots, sizeof(*s->slots));
		for (size_t i = 0; i < old.n_slots; i++)
			if (old.slots[i].metric)
				*slot_of(s, old.slots[i].node, old.slots[i].metric) = old.slots[i];
		pm_arena_free(s->arena, old.slots);
	}
	struct hpcrun_sum *slot = slot_of(s, node, metric);
	s->n_sparse += slot->metric == 0;
	*slot = (struct hpcrun_sum){node, metric, slot->metric ? slot->cost + cost : cost};
}

/* ---- all ---- */

void hpcrun_sums_add(struct hpcrun_sums *s, uint32_t node, uint32_t metric, double cost)
{
	if (metric >= HPCRUN_DENSE) {
		add_sparse(s, node, metric, cost);
		return;
	}
	if (node >= s->dense_n[metric])
		grow_dense(s, metric, node);
	double *cell = &s->dense[metric][node];
	*cell = *cell == *cell ? *cell + cost : cost;
}

/* Each cell is added to once, so the order of slots does not matter. */
void hpcrun_sums_join(struct hpcrun_sums *s, const struct hpcrun_sums *from, const uint32_t *nodes,
	const uint32_t *metrics)
{
	for (uint32_t metric = 0; metric < HPCRUN_DENSE; metric++)
		for (uint32_t i = 0; i < from->dense_n[metric]; i++) {
			double cost = from->dense[metric][i];
			if (cost == cost)
				hpcrun_sums_add(s, nodes[i], metrics[metric], cost);
		}
	for (size_t i = 0; i < from->n_slots; i++) {
		const struct hpcrun_sum *sum = &from->slots[i];
		if (sum->metric)
			hpcrun_sums_add(s, nodes[sum->node], metrics[sum->metric], sum->cost);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct hpcrun_sum *x = a, *y = b;
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

struct hpcrun_sum *hpcrun_sums_list(struct pm_arena *a, const struct hpcrun_sums *s, size_t *ret_n)
{
	size_t room = s->n_sparse, n = 0;
	for (uint32_t metric = 0; metric < HPCRUN_DENSE; metric++)
		for (uint32_t i = 0; i < s->dense_n[metric]; i++)
			room += !isnan(s->dense[metric][i]);
	struct hpcrun_sum *list = pm_arena_array(a, room, sizeof(*list));
	for (uint32_t metric = 0; metric < HPCRUN_DENSE; metric++)
		for (uint32_t i = 0; i < s->dense_n[metric]; i++)
			if (!isnan(s->dense[metric][i]))
				list[n++] = (struct hpcrun_sum){i, metric, s->dense[metric][i]};
	size_t first = n;
	for (size_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].metric)
			list[n++] = s->slots[i];
	*ret_n = n;
	pm_build_check(a, pm_sort(list + first, n - first, sizeof(*list), by_place));
	return list;
}

/* ==== nodes ==== */

enum { STAGE = 16 /* nodes from one stage to the next */ };

struct hpcrun_trie *hpcrun_trie_new(struct pm_arena *a)
{
	struct hpcrun_trie *t = pm_arena_alloc(a, sizeof(*t));
	struct pm_arena *merging = pm_arena_scratch(a);
	*t = (struct hpcrun_trie){.arena = a,
		.merging = merging,
		.modules = pm_strtab_in(a),
		.sums = {.arena = merging},
		.prints = {.arena = a}};
	hpcrun_metric_names_init(&t->metrics, a);
	return t;
}

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

/* ---- many nodes ---- */

/* Nodes of a file or of another trie, parents first; `parent` is an index of them. */
struct walk {
	struct pm_arena *a; /* of the walk */
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

/* Looks a node up, and adds it where that is wanted. */
static void take_node(const struct walk *w, uint32_t i)
{
	const struct hpcrun_trie *t = w->trie;
	struct hpcrun_trie_node node = node_of(w, i);
	uint32_t hash = (uint32_t)w->hashes[i], found;
	struct hpcrun_trie *g = w->grow;
	if (g)
		pm_fingerprints_room(&g->prints);
	size_t at = pm_fingerprints_first(&t->prints, hash);
	while ((found = pm_fingerprints_at(&t->prints, hash, &at)) != UINT32_MAX &&
		!is_node(&t->nodes[found], &node))
		at++;
	w->ret[i] = found;
	if (found != UINT32_MAX || !g)
		return;
	pm_build_check(g->arena, g->n < PM_LIMIT_ITEMS ? 0 : -ENOMEM);
	pm_list_grow(g->arena, &g->nodes, g->n, &g->nodes_room, sizeof(*g->nodes));
	pm_list_grow(g->merging, &g->tallies, g->n, &g->tallies_room, sizeof(*g->tallies));
	pm_fingerprints_put(&g->prints, at, hash, g->n);
	g->tallies[g->n] = (struct hpcrun_tally){.visits = 0};
	g->nodes[g->n] = node;
	w->ret[i] = g->n++;
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
static void take_nodes(struct walk *w, uint32_t first)
{
	const struct pm_fingerprints *prints = &w->trie->prints;
	while (w->n_hashed < first)
		hash_next(w);
	for (uint64_t i = first; i < (uint64_t)w->n + 2 * STAGE; i++) {
		hpcrun_proceed(w->a, i);
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
		if (i >= first + 2 * STAGE)
			take_node(w, (uint32_t)i - 2 * STAGE);
	}
}

static void take_all(struct walk *w)
{
	uint32_t i = 0;
	if (w->grow)
		pm_fingerprints_room(&w->grow->prints);
	for (; i < w->n && is_next(w, i); i++)
		hpcrun_proceed(w->a, i);
	if (i == w->n)
		return;
	w->hashes = pm_arena_array(w->a, w->n, sizeof(*w->hashes));
	take_nodes(w, i);
}

static void count(uint32_t *sum, uint32_t more)
{
	*sum = more < UINT32_MAX - *sum ? *sum + more : UINT32_MAX;
}

/* ---- one file ---- */

/* The nodes of a file, with modules[i] for its module i. */
static uint32_t *take_file(const struct hpcrun_trie *t, struct hpcrun_trie *grow,
	const struct hpcrun_file_tree *h, const uint32_t *modules)
{
	struct pm_arena *scratch = pm_arena_scratch(h->arena);
	struct walk w = {.a = scratch,
		.trie = t,
		.grow = grow,
		.nodes = pm_arena_array(scratch, h->n_nodes, sizeof(*w.nodes)),
		.n = (uint32_t)h->n_nodes, /* at most PM_LIMIT_ITEMS */
		.ret = pm_arena_array(h->arena, h->n_nodes, sizeof(*w.ret))};
	for (size_t i = 0; i < h->n_nodes; i++) {
		const struct hpcrun_file_node *from = &h->nodes[i];
		bool in_module = from->place.kind == HPCRUN_PLACE_MODULE;
		uint32_t module = in_module ? modules[from->place.module] : from->place.module;
		w.nodes[i] = (struct hpcrun_trie_node){.ip = from->place.ip,
			.parent = from->parent,
			.module = module & 0x3fffffff,
			.kind = from->place.kind & 3};
	}
	take_all(&w);
	pm_arena_done(scratch);
	return w.ret;
}

uint32_t *hpcrun_trie_enter(struct hpcrun_trie *t, const struct hpcrun_file_tree *h)
{
	uint32_t *modules = pm_arena_array(h->arena, h->n_modules, sizeof(*modules));
	for (size_t i = 0; i < h->n_modules; i++)
		modules[i] = pm_strtab_add(&t->modules, h->modules[i]);
	uint32_t *ret = take_file(t, t, h, modules);
	for (size_t i = 0; i < h->n_nodes; i++)
		count(&t->tallies[ret[i]].visits, 1);
	return ret;
}

uint32_t *hpcrun_trie_follow(const struct hpcrun_trie *t, const struct hpcrun_file_tree *h)
{
	uint32_t *modules = pm_arena_array(h->arena, h->n_modules, sizeof(*modules));
	for (size_t i = 0; i < h->n_modules; i++)
		modules[i] = pm_strtab_find(&t->modules, h->modules[i]);
	return take_file(t, NULL, h, modules);
}

void hpcrun_trie_add(struct hpcrun_trie *t, const struct hpcrun_file_tree *h, const uint32_t *nodes)
{
	uint32_t *names = pm_arena_array(h->arena, h->n_metrics, sizeof(*names));
	for (size_t i = 0; i < h->n_metrics; i++)
		names[i] = hpcrun_metric_names_add(&t->metrics, &h->metrics[i]);
	for (size_t i = 0; i < h->n_values; i++) {
		const struct hpcrun_file_value *v = &h->values[i];
		double cost = hpcrun_cost(&h->metrics[v->metric], v->bits);
		count(&t->tallies[nodes[v->node]].values, 1);
		t->metrics.flags[names[v->metric]] |= HPCRUN_METRIC_USED;
		if (cost == cost)
			hpcrun_sums_add(&t->sums, nodes[v->node], names[v->metric], cost);
	}
}

/* ---- many files ---- */

void hpcrun_trie_join(struct hpcrun_trie *t, const struct hpcrun_trie *from)
{
	struct pm_arena *a = pm_arena_scratch(t->arena);
	uint32_t *modules = pm_arena_array(a, from->modules.n, sizeof(*modules));
	uint32_t *metrics = pm_arena_array(a, from->metrics.names.n, sizeof(*metrics));
	struct walk w = {.a = a,
		.trie = t,
		.grow = t,
		.nodes = pm_arena_array(a, from->n, sizeof(*w.nodes)),
		.n = from->n,
		.ret = pm_arena_array(a, from->n, sizeof(*w.ret))};
	for (uint32_t i = 0; i < from->modules.n; i++)
		modules[i] = pm_strtab_add(&t->modules, from->modules.items[i]);
	hpcrun_metric_names_join(&t->metrics, &from->metrics, metrics);
	for (uint32_t i = 0; i < from->n; i++) {
		w.nodes[i] = from->nodes[i];
		if (w.nodes[i].kind == HPCRUN_PLACE_MODULE)
			w.nodes[i].module = modules[w.nodes[i].module] & 0x3fffffff;
	}
	take_all(&w);
	for (uint32_t i = 0; i < from->n; i++) {
		count(&t->tallies[w.ret[i]].visits, from->tallies[i].visits);
		count(&t->tallies[w.ret[i]].values, from->tallies[i].values);
	}
	hpcrun_sums_join(&t->sums, &from->sums, w.ret, metrics);
	pm_arena_done(a);
}

void hpcrun_trie_finish(struct hpcrun_trie *t)
{
	struct hpcrun_trie_node *smaller =
		pm_arena_realloc(t->arena, t->nodes, ((size_t)t->n + 1) * sizeof(*smaller));
	if (smaller)
		t->nodes = smaller;
	pm_arena_done(t->merging);
	t->tallies = NULL;
	t->sums = (struct hpcrun_sums){.arena = t->merging};
}
