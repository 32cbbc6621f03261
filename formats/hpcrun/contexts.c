/*
 * From the trie of all files to the tree. While it grows, contexts are identified by rank; after
 * freezing, by index.
 */
#include "formats/hpcrun/contexts.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/quantity.h"
#include "formats/common/work.h"
#include "formats/hpcrun/facts.h"
#include "formats/hpcrun/frames.h"
#include "formats/hpcrun/stretch.h"

enum { BETWEEN_QUESTIONS = 1 << 12 };

/* Approximate number of cells per block of contexts: 16 bytes each, plus their values. */
#define BLOCK_CELLS ((uint64_t)1 << 20)

struct merger {
	struct hpcrun_merged *merged;
	struct pm_tree_builder *builder;
	struct hpcrun_frames frames;
	struct hpcrun_sum *sums; /* by metric name of the trie, then node */
	size_t n_sums;
};

/* ---- contexts ---- */

/*
 * The context of a node whose parent has one. `texts` has the text of each module seen so far, else
 * 0.
 */
static int plant(struct merger *m, uint32_t node, uint32_t *texts)
{
	const struct hpcrun_trie *trie = &m->merged->trie;
	struct hpcrun_place place = hpcrun_trie_place(trie, node);
	uint32_t *context = m->merged->context, above = trie->nodes[node].parent, text = 0;
	struct pm_bytes name = {NULL, 0};
	struct hpcrun_chain chain;
	if (place.kind == HPCRUN_PLACE_MODULE) {
		name = trie->modules.items[place.module];
		if (texts[place.module] == 0)
			texts[place.module] = pm_tree_text(m->builder, name, true);
		text = texts[place.module];
	}
	if (text == PM_NONE ||
		hpcrun_frames_find(&m->frames, m->builder, &place, text, name, &chain) < 0)
		return -ENOMEM;
	uint32_t parent = above == UINT32_MAX ? PM_NONE : context[above];
	context[node] = hpcrun_frames_descend(m->builder, parent, &chain);
	return context[node] == PM_NONE ? -ENOMEM : 0;
}

/* Why modules have no names, or not for all of their code. `texts`: by module, of the tree. */
static int note_missing(struct merger *m, const uint32_t *texts)
{
	const struct hpcrun_trie *trie = &m->merged->trie;
	struct pm_arena *arena = &m->merged->arena;
	struct pm_missing *rows = pm_arena_array(arena, (size_t)trie->modules.n + 1, sizeof(*rows));
	struct pm_missings *all = &m->merged->missing;
	if (!rows)
		return -ENOMEM;
	*all = (struct pm_missings){.rows = rows,
		.why = m->frames.named.names ? "not looked for" : "not looked for: -o symbols=no",
		.advice = m->frames.named.names
			? "give its files with -o sysroot=DIR, or run hpcstruct"
			: "mount without -o symbols=no"};
	for (uint32_t i = 0; m->frames.named.names && i < trie->modules.n; i++) {
		const uint32_t *number =
			texts[i] ? pm_map_find(&m->frames.modules, texts[i]) : NULL;
		if (!number)
			continue;
		struct sym_absence absence = sym_names_absence(m->frames.named.names, *number);
		struct pm_text hex = {.p = NULL};
		for (size_t k = 0; k < absence.build_id.len; k++)
			pm_text_hex(&hex, absence.build_id.p[k], 2);
		rows[all->n] =
			(struct pm_missing){.build_id = pm_arena_copy(arena, pm_text_view(&hex)),
				.module = pm_arena_copy(arena, trie->modules.items[i]),
				.why = absence.why,
				.tried = pm_arena_printf(arena, "%.*s", (int)absence.tried.len,
					(const char *)absence.tried.p)};
		bool good = !hex.failed && rows[all->n].build_id.p && rows[all->n].module.p;
		pm_text_done(&hex);
		if (!good || !rows[all->n].tried)
			return -ENOMEM;
		all->n++;
	}
	return 0;
}

static int plant_all(struct merger *m)
{
	const struct hpcrun_trie *trie = &m->merged->trie;
	uint32_t *texts = calloc((size_t)trie->modules.n + 1, sizeof(*texts));
	m->builder = pm_tree_builder_new();
	m->merged->context = malloc(((size_t)trie->n + 1) * sizeof(*m->merged->context));
	int r = texts && m->builder && m->merged->context ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < trie->modules.n && r == 0 && m->frames.named.names; i++)
		r = sym_names_announce(m->frames.named.names, trie->modules.items[i]);
	for (uint32_t i = 0; i < trie->n && r == 0; i++) {
		r = plant(m, i, texts);
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			r = -ENOMEM;
	}
	if (r == 0)
		r = note_missing(m, texts);
	free(texts);
	return r;
}

/* ---- the order of siblings ---- */

/* The group of metrics that orders siblings, or PM_NONE if there are no costs. */
static int find_leading(const struct merger *m, uint32_t *ret)
{
	const struct hpcrun_merged *merged = m->merged;
	double *whole = calloc((size_t)merged->n_groups + 1, sizeof(*whole));
	if (!whole)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_sums; i++)
		whole[merged->groups[m->sums[i].metric]] += m->sums[i].cost;
	*ret = pm_quantity_leading(&merged->metrics, whole);
	free(whole);
	return 0;
}

uint32_t hpcrun_merged_owner(const struct hpcrun_merged *m, uint32_t name, uint32_t context)
{
	if (!(m->trie.metrics.flags[name] & HPCRUN_METRIC_MOVES))
		return context;
	while (sym_frame_is_inner(pm_tree_frame(m->tree, context)->kind))
		context = m->tree->parent[context];
	return context;
}

/* The same while contexts are ranks. */
static uint32_t owner_of_rank(const struct merger *m, uint32_t name, uint32_t rank)
{
	if (!(m->merged->trie.metrics.flags[name] & HPCRUN_METRIC_MOVES))
		return rank;
	while (hpcrun_frames_is_inner(&m->frames, pm_tree_frame_of(m->builder, rank)))
		rank = pm_tree_parent_of(m->builder, rank);
	return rank;
}

/* By rank: the inclusive cost in the group that orders siblings. */
static double *weigh(const struct merger *m, uint32_t group)
{
	uint32_t n = pm_tree_count(m->builder);
	double *weight = calloc((size_t)n + 1, sizeof(*weight));
	if (!weight)
		return NULL;
	for (size_t i = 0; i < m->n_sums; i++)
		if (m->merged->groups[m->sums[i].metric] == group)
			weight[owner_of_rank(m, m->sums[i].metric,
				m->merged->context[m->sums[i].node])] += m->sums[i].cost;
	for (uint32_t rank = n; rank-- > 0;) {
		uint32_t parent = pm_tree_parent_of(m->builder, rank);
		if (parent != PM_NONE)
			weight[parent] += weight[rank];
	}
	return weight;
}

static int freeze(struct merger *m, struct pm_error *err)
{
	struct hpcrun_merged *merged = m->merged;
	uint32_t *index = NULL, group;
	int r = find_leading(m, &group);
	double *weight = r == 0 ? weigh(m, group) : NULL;
	if (!weight)
		return -ENOMEM;
	r = pm_tree_freeze(m->builder, weight, &merged->tree, &index, err);
	m->builder = NULL;
	free(weight);
	if (r < 0)
		return r;
	merged->tree->ordered_by = group;
	for (uint32_t i = 0; i < merged->trie.n; i++)
		merged->context[i] = index[merged->context[i]];
	free(index);
	return 0;
}

/* Different places may have the same frame, and values may belong to the enclosing function. */
static int find_sharing(struct hpcrun_merged *m)
{
	bool *taken = calloc((size_t)m->tree->n_contexts + 1, sizeof(*taken));
	for (uint32_t i = 0; i < m->trie.n && taken; i++) {
		m->shares |= taken[m->context[i]];
		taken[m->context[i]] = true;
	}
	for (uint32_t i = 0; i < m->trie.metrics.names.n; i++)
		m->shares |= m->trie.metrics.flags[i] & HPCRUN_METRIC_MOVES;
	int r = taken ? 0 : -ENOMEM;
	free(taken);
	return r;
}

/* ---- costs of the run ---- */

static int find_starts(struct hpcrun_merged *m)
{
	const struct hpcrun_cells *c = &m->costs;
	uint32_t n = m->tree->n_contexts;
	size_t at = 0;
	m->cost_start = malloc(((size_t)n + 1) * sizeof(*m->cost_start));
	for (uint32_t i = 0; i <= n && m->cost_start; i++) {
		while (at < c->n && c->items[at].context < i)
			at++;
		m->cost_start[i] = (uint32_t)at; /* hpcrun_cells_make checks that it fits */
	}
	return m->cost_start ? 0 : -ENOMEM;
}

static int sum_up(struct merger *m, struct pm_error *err)
{
	struct hpcrun_merged *merged = m->merged;
	struct hpcrun_own *own = malloc((m->n_sums + 1) * sizeof(*own));
	if (!own)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_sums; i++)
		own[i] = (struct hpcrun_own){
			.context = hpcrun_merged_owner(
				merged, m->sums[i].metric, merged->context[m->sums[i].node]),
			.group = merged->groups[m->sums[i].metric],
			.cost = m->sums[i].cost};
	int r = hpcrun_cells_make(
		&merged->costs, merged->tree, merged->n_groups, own, m->n_sums, err);
	free(own);
	return r < 0 ? r : find_starts(merged);
}

int64_t hpcrun_merged_costs(
	const struct hpcrun_merged *m, uint32_t context, struct pm_value *ret, size_t room)
{
	const struct hpcrun_cells *c = &m->costs;
	size_t filled = 0;
	if (context >= m->tree->n_contexts)
		return 0;
	for (uint32_t i = m->cost_start[context]; i < m->cost_start[context + 1] && filled < room;
		i++)
		ret[filled++] = (struct pm_value){.context = pm_tree_number(m->tree, context),
			.metric = c->items[i].metric,
			.thread = PM_NONE,
			.f = c->items[i].cost};
	return (int64_t)filled;
}

/* ---- blocks ---- */

/*
 * Upper bounds on the number of cells of all threads, by context with its descendants; NULL if out
 * of memory.
 */
static uint64_t *weigh_contexts(const struct hpcrun_merged *m, uint32_t n_threads)
{
	const struct pm_tree *tree = m->tree;
	uint64_t *visits = calloc((size_t)tree->n_contexts + 1, sizeof(*visits));
	uint64_t *values = calloc((size_t)tree->n_contexts + 1, sizeof(*values));
	for (uint32_t i = 0; i < m->trie.n && visits && values; i++) {
		visits[m->context[i]] += m->trie.tallies[i].visits;
		values[m->context[i]] += m->trie.tallies[i].values;
	}
	for (uint32_t i = tree->n_contexts; visits && values && i-- > 0;) {
		uint32_t parent = tree->parent[i];
		visits[i] = visits[i] < n_threads ? visits[i] : n_threads;
		if (parent != PM_NONE) {
			values[parent] += values[i];
			visits[parent] = visits[parent] > visits[i] ? visits[parent] : visits[i];
		}
		uint64_t most = visits[i] * m->n_groups;
		most = values[i] < most ? values[i] : most;
		visits[i] = 2 * most; /* inclusive and exclusive */
	}
	if (!values) {
		free(visits);
		visits = NULL;
	}
	free(values);
	return visits;
}

static int add_block(struct hpcrun_merged *m, uint32_t start, size_t *room)
{
	if (pm_list_room(&m->block_start, m->n_blocks, room, sizeof(start)) < 0)
		return -ENOMEM;
	m->block_start[m->n_blocks++] = start;
	return 0;
}

static int divide(struct hpcrun_merged *m, uint32_t n_threads)
{
	uint64_t *cells = weigh_contexts(m, n_threads), sum = 0;
	size_t room = 0;
	int r = cells ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < m->tree->n_contexts && r == 0; i++) {
		if (i == 0 || sum + cells[i] > BLOCK_CELLS) {
			r = add_block(m, i, &room);
			sum = 0;
		}
		sum += cells[i];
	}
	if (r == 0)
		r = add_block(m, m->tree->n_contexts, &room);
	m->n_blocks--; /* the last entry is an end */
	free(cells);
	return r;
}

/* ---- the whole ---- */

static int merge_all(struct merger *m, struct hpcrun_folder *folder, const struct hpcrun_who *who,
	struct pm_damage_list *damage, struct pm_error *err)
{
	struct hpcrun_merged *merged = m->merged;
	uint32_t n = who->threads.n, *groups = NULL;
	merged->counts = calloc((size_t)n + 1, sizeof(*merged->counts));
	if (!merged->counts)
		return -ENOMEM;
	int r = hpcrun_stretches_read(&merged->trie, folder, merged->counts, damage);
	if (r == 0)
		r = hpcrun_metric_names_list(
			&merged->trie.metrics, &merged->arena, &merged->metrics, &groups);
	if (r < 0)
		return r;
	merged->groups = groups;
	merged->n_groups = merged->metrics.n / 2;
	m->sums = hpcrun_sums_list(&merged->trie.sums, &m->n_sums);
	r = m->sums ? plant_all(m) : -ENOMEM;
	if (r == 0)
		r = freeze(m, err);
	if (r == 0)
		r = find_sharing(merged);
	if (r == 0)
		r = sum_up(m, err);
	if (r == 0)
		r = divide(merged, n);
	hpcrun_trie_settle(&merged->trie);
	return r;
}

int hpcrun_merge(struct hpcrun_merged *ret, struct hpcrun_folder *folder,
	const struct hpcrun_who *who, struct pm_damage_list *damage, struct pm_error *err)
{
	struct merger m = {.merged = ret};
	*ret = (struct hpcrun_merged){.n_groups = 0};
	struct sym_place place = hpcrun_symbols_place(folder);
	struct sym_names *symbols = NULL;
	int r = folder->no_symbols ? 0 : sym_names_new(&symbols, &place, damage);
	m.frames.named.names = symbols;
	if (r == 0)
		r = merge_all(&m, folder, who, damage, err);
	pm_tree_builder_free(m.builder);
	hpcrun_frames_done(&m.frames);
	sym_names_free(symbols);
	free(m.sums);
	if (r == 0)
		return 0;
	hpcrun_merged_done(ret);
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the tree");
}

void hpcrun_merged_done(struct hpcrun_merged *m)
{
	pm_tree_free(m->tree);
	hpcrun_trie_done(&m->trie);
	hpcrun_cells_done(&m->costs);
	free(m->cost_start);
	free(m->context);
	free(m->block_start);
	free(m->counts);
	pm_arena_done(&m->arena);
	*m = (struct hpcrun_merged){.n_groups = 0};
}
