/*
 * All profiles merged: files into a trie, its places into frames, and the trie into the tree. While
 * the tree grows, contexts are identified by rank; after freezing, by index.
 */
#include "formats/hpcrun/hpcrun.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/pipeline.h"
#include "formats/common/quantity.h"
#include "formats/common/text.h"
#include "formats/common/tree.h"
#include "formats/common/work.h"
#include "formats/symbols/symbols.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

/*
 * ==== reading all files ====
 * In stretches: groups of consecutive files with a total of a few megabytes. They depend only on
 * the files, so sums do not depend on the number of cores.
 */

/* Large enough that joining takes a small part of the time, and small compared with free memory. */
#define STRETCH_BYTES ((uint64_t)8 << 20)

/*
 * Of the files whose tries exist at the same time. If no two nodes are equal, tries take twice
 * that.
 */
#define MOST_BYTES ((uint64_t)96 << 20)

struct reading {
	struct hpcrun_trie *trie;
	struct hpcrun_folder *folder;
	struct pm_thread_counts *counts;
	struct pm_damage_list *damage;
	uint32_t *starts; /* of stretches, in folder->sources; n + 1 */
	uint32_t n;
	size_t room;
};

/* ---- one stretch ---- */

struct stretch {
	struct hpcrun_trie trie;
	struct pm_damage_list damage;
	uint32_t *seen; /* by node: the last source with a value there, + 1 */
	size_t seen_room, n_seen;
};

static int count_values(struct stretch *s, uint32_t source, const struct hpcrun_file_tree *h,
	const uint32_t *nodes, struct pm_thread_counts *ret)
{
	if (s->trie.n > 0 &&
		pm_list_room(&s->seen, s->trie.n - 1, &s->seen_room, sizeof(*s->seen)) < 0)
		return -ENOMEM;
	while (s->n_seen < s->trie.n)
		s->seen[s->n_seen++] = 0;
	ret->values = h->n_values;
	for (size_t i = 0; i < h->n_values; i++) {
		uint32_t *seen = &s->seen[nodes[h->values[i].node]];
		ret->contexts += *seen != source + 1;
		*seen = source + 1;
	}
	return 0;
}

static int read_source(const struct reading *reading, struct stretch *s, uint32_t source)
{
	const struct hpcrun_file *file = &reading->folder->sources[source].profile;
	struct hpcrun_file_tree h = {.n_nodes = 0};
	reading->counts[source] = (struct pm_thread_counts){.contexts = 0};
	int r = file->name ? hpcrun_file_tree_read(&h, reading->folder, file, &s->damage) : 0;
	uint32_t *nodes = r == 0 ? malloc((h.n_nodes + 1) * sizeof(*nodes)) : NULL;
	if (r == 0)
		r = nodes ? hpcrun_trie_enter(&s->trie, &h, nodes) : -ENOMEM;
	if (r == 0)
		r = hpcrun_trie_add(&s->trie, &h, nodes);
	if (r == 0)
		r = count_values(s, source, &h, nodes, &reading->counts[source]);
	free(nodes);
	hpcrun_file_tree_done(&h);
	return r;
}

static int make_stretch(void *context, uint32_t i, void *result)
{
	const struct reading *reading = context;
	struct stretch *s = result;
	int r = 0;
	s->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	for (uint32_t k = reading->starts[i]; k < reading->starts[i + 1] && r == 0; k++)
		r = read_source(reading, s, k);
	free(s->seen);
	s->seen = NULL;
	return r;
}

/* ---- all of them ---- */

static uint64_t weigh_stretch(void *context, uint32_t i)
{
	const struct reading *reading = context;
	uint64_t bytes = 0;
	for (uint32_t k = reading->starts[i]; k < reading->starts[i + 1]; k++)
		bytes += reading->folder->sources[k].profile.size;
	return bytes;
}

/* The first one becomes the whole. */
static int take_stretch(void *context, uint32_t i, void *result)
{
	const struct reading *reading = context;
	struct stretch *s = result;
	pm_damage_add_all(reading->damage, &s->damage);
	if (i > 0)
		return hpcrun_trie_join(reading->trie, &s->trie);
	*reading->trie = s->trie;
	s->trie = (struct hpcrun_trie){.nodes = NULL};
	return 0;
}

static void drop_stretch(void *result)
{
	struct stretch *s = result;
	free(s->seen);
	hpcrun_trie_done(&s->trie);
	pm_damage_done(&s->damage);
}

static int add_start(struct reading *reading, uint32_t start)
{
	if (pm_list_room(&reading->starts, reading->n, &reading->room, sizeof(start)) < 0)
		return -ENOMEM;
	reading->starts[reading->n++] = start;
	return 0;
}

static int plan(struct reading *reading)
{
	const struct hpcrun_folder *f = reading->folder;
	uint64_t bytes = 0;
	int r = add_start(reading, 0);
	for (uint32_t i = 0; i < f->n && r == 0; i++) {
		bytes += f->sources[i].profile.size;
		if (bytes < STRETCH_BYTES || i + 1 == f->n)
			continue;
		r = add_start(reading, i + 1);
		bytes = 0;
	}
	if (r == 0)
		r = add_start(reading, f->n);
	reading->n--; /* the last entry is an end */
	return r;
}

/*
 * Merges the profiles of all sources of the folder into `ret`, which is zeroed. counts[i] gets the
 * number of stored values of thread i, and of trie nodes with values. 0 or -ENOMEM.
 */
static int read_stretches(struct hpcrun_trie *ret, struct hpcrun_folder *folder,
	struct pm_thread_counts *counts, struct pm_damage_list *damage)
{
	struct reading reading = {
		.trie = ret, .folder = folder, .counts = counts, .damage = damage};
	int r = plan(&reading);
	struct pm_pipeline pipeline = {.n = reading.n,
		.size = sizeof(struct stretch),
		.make = make_stretch,
		.take = take_stretch,
		.drop = drop_stretch,
		.weigh = weigh_stretch,
		.most = MOST_BYTES,
		.context = &reading};
	if (r == 0)
		r = pm_pipeline_run(&pipeline);
	free(reading.starts);
	return r;
}

/*
 * ==== frames of places ====
 * Chains of frames in the tree, outermost first. Without symbols a chain is one frame,
 * MODULE+0xOFFSET; with symbols it is the function, inlined functions, loops and the line. A chain
 * depends only on the place, and is requested once per place, by one thread, in the order of the
 * files. Different places may share frames: siblings with equal frames are one context with the
 * sums of their costs. A place without a name is a function of its own, because the extent of its
 * function is unknown.
 */

/* Frames of the tree's builder, outermost first; at least one. Valid until the next call. */
struct chain {
	const uint32_t *frames;
	uint32_t n;
};

/* Zeroed = empty; set named.names if there are symbols. */
struct frames {
	struct sym_frames named;
	struct pm_map modules;   /* name among the tree's texts → number among the symbols */
	struct pm_strtab places; /* distinct (kind, module, ip) */
	uint32_t *starts; /* by place: start of its chain in `frames`, which ends where the next one
			     starts */
	uint32_t *frames;
	uint32_t n_frames;
	uint8_t *inner; /* by frame of the builder */
	size_t starts_room, frames_room, inner_room, n_inner;
	struct pm_arena arena;
	struct pm_text text;
};

/* Placeholders by their readable names, others as MODULE+0xOFFSET. */
static void compose_name(
	struct pm_text *out, const struct hpcrun_place *place, struct pm_bytes module)
{
	pm_text_clear(out);
	if (place->kind == HPCRUN_PLACE_SPECIAL) {
		hpcrun_placeholder_name(out, place->module, place->ip);
		return;
	}
	/* Each address has a name of its own: as in views, the end of a long one is shown. */
	if (module.len > PM_LIMIT_BASE_NAME) {
		module.p += module.len - PM_LIMIT_BASE_NAME;
		module.len = PM_LIMIT_BASE_NAME;
	}
	const uint8_t *slash = module.len ? memrchr(module.p, '/', module.len) : NULL;
	const uint8_t *base = slash ? slash + 1 : module.p;
	pm_text_add(out, base, module.len - (size_t)(base - module.p));
	if (place->kind == HPCRUN_PLACE_UNKNOWN)
		pm_text_str(out, "(unknown)");
	pm_text_str(out, "+0x");
	pm_text_hex(out, place->ip, 1);
}

static uint32_t make_frame(struct frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_place *place, uint32_t module, struct pm_bytes module_name)
{
	compose_name(&f->text, place, module_name);
	if (f->text.failed)
		return PM_NONE;
	uint32_t name = pm_tree_text(builder, pm_text_view(&f->text), true);
	struct pm_function function = {
		.name = name, .module = module, .id = PM_NONE, .offset = place->ip};
	struct pm_frame frame = {.kind = PM_KIND_INSTRUCTION,
		.has_offset = true,
		.function = pm_tree_function(builder, &function),
		.module = module,
		.offset = place->ip};
	if (place->kind != HPCRUN_PLACE_MODULE)
		frame.name = name; /* views name instructions in known modules in the same way */
	if (place->kind == HPCRUN_PLACE_SPECIAL) {
		frame.kind = PM_KIND_PLACEHOLDER;
		frame.is_idle = hpcrun_is_idle(place->module, place->ip);
		frame.is_nothing = hpcrun_is_nothing(place->module, place->ip);
		frame.is_root = hpcrun_is_root(place->module, place->ip);
	}
	return pm_tree_intern(builder, &frame);
}

/* Adds a frame to the chain under construction; it is the last one. */
static int add_frame(struct frames *f, uint32_t frame)
{
	if (frame == PM_NONE ||
		pm_list_room(&f->frames, f->n_frames, &f->frames_room, sizeof(*f->frames)) < 0)
		return -ENOMEM;
	f->frames[f->n_frames++] = frame;
	return 0;
}

static int note_inner(struct frames *f, uint32_t frame, bool inner)
{
	for (; f->n_inner <= frame; f->n_inner++) {
		if (pm_list_room(&f->inner, f->n_inner, &f->inner_room, sizeof(*f->inner)) < 0)
			return -ENOMEM;
		f->inner[f->n_inner] = false;
	}
	f->inner[frame] |= inner;
	return 0;
}

/* Whether a frame is inside the function of its chain; the same for all chains with this frame. */
static bool is_inner(const struct frames *f, uint32_t frame)
{
	return frame < f->n_inner && f->inner[frame];
}

/* The frames of an address that symbols know of: how many, 0, or -ENOMEM. */
static int find_named(struct frames *f, struct pm_tree_builder *builder, uint32_t module,
	struct pm_bytes module_name, uint64_t ip, uint32_t ret[SYM_SCOPE_DEPTH_MAX])
{
	if (!f->named.names)
		return 0;
	bool fresh;
	uint32_t *number = pm_map_put(&f->modules, module, 0, &fresh);
	if (!number)
		return -ENOMEM;
	const struct sym_module described = {.path = module_name};
	int r = fresh ? sym_names_module(f->named.names, &described, number) : 0;
	return r < 0 ? r : sym_frames_find(&f->named, builder, *number, module, ip, ret);
}

static int make_chain(struct frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_place *place, uint32_t module, struct pm_bytes module_name)
{
	uint32_t frames[SYM_SCOPE_DEPTH_MAX];
	int n = 0, r = 0;
	if (place->kind == HPCRUN_PLACE_MODULE)
		n = find_named(f, builder, module, module_name, place->ip, frames);
	if (n == 0)
		return add_frame(f, make_frame(f, builder, place, module, module_name));
	for (int i = 0; i < n && r == 0; i++)
		if ((r = add_frame(f, frames[i])) == 0)
			r = note_inner(f, frames[i], i > 0); /* the first frame is the function */
	return n < 0 ? n : r;
}

/*
 * The chain of a place, created if new. `module` is the index of its module's name among the tree's
 * texts, `module_name` the name from the load map; 0 and empty for places without a module. 0 or
 * -ENOMEM.
 */
static int find_chain(struct frames *f, struct pm_tree_builder *builder,
	const struct hpcrun_place *place, uint32_t module, struct pm_bytes module_name,
	struct chain *ret)
{
	bool special = place->kind == HPCRUN_PLACE_SPECIAL;
	struct {
		uint64_t ip;
		uint32_t module, kind;
	} key = {place->ip, special ? place->module : module, place->kind};
	uint32_t known = f->places.n;
	f->places.arena = &f->arena;
	uint32_t i =
		pm_strtab_add(&f->places, (struct pm_bytes){(const uint8_t *)&key, sizeof(key)});
	if (i == PM_NONE)
		return -ENOMEM;
	if (i == known) {
		if (pm_list_room(&f->starts, i, &f->starts_room, sizeof(*f->starts)) < 0)
			return -ENOMEM;
		f->starts[i] = f->n_frames;
		if (make_chain(f, builder, place, module, module_name) < 0)
			return -ENOMEM;
	}
	uint32_t end = i + 1 < f->places.n ? f->starts[i + 1] : f->n_frames;
	*ret = (struct chain){f->frames + f->starts[i], end - f->starts[i]};
	return 0;
}

/* The context at the end of a chain below `parent` (or PM_NONE); PM_NONE if out of memory. */
static uint32_t descend(struct pm_tree_builder *builder, uint32_t parent, const struct chain *chain)
{
	for (uint32_t i = 0; i < chain->n; i++) {
		parent = pm_tree_child(builder, parent, chain->frames[i]);
		if (parent == PM_NONE)
			break;
	}
	return parent;
}

static void frames_done(struct frames *f)
{
	pm_strtab_done(&f->places);
	pm_arena_done(&f->arena);
	pm_text_done(&f->text);
	sym_frames_done(&f->named);
	pm_map_done(&f->modules);
	free(f->inner);
	free(f->starts);
	free(f->frames);
	*f = (struct frames){.frames = NULL};
}

/* ==== the tree ==== */

enum { BETWEEN_QUESTIONS = 1 << 12 };

/* Approximate number of cells per block of contexts: 16 bytes each, plus their values. */
#define BLOCK_CELLS ((uint64_t)1 << 20)

struct merger {
	struct hpcrun_merged *merged;
	struct pm_tree_builder *builder;
	struct frames frames;
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
	struct chain chain;
	if (place.kind == HPCRUN_PLACE_MODULE) {
		name = trie->modules.items[place.module];
		if (texts[place.module] == 0)
			texts[place.module] = pm_tree_text(m->builder, name, true);
		text = texts[place.module];
	}
	if (text == PM_NONE || find_chain(&m->frames, m->builder, &place, text, name, &chain) < 0)
		return -ENOMEM;
	uint32_t parent = above == UINT32_MAX ? PM_NONE : context[above];
	context[node] = descend(m->builder, parent, &chain);
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
			r = PM_CANCELLED;
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
	while (is_inner(&m->frames, pm_tree_frame_of(m->builder, rank)))
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

static int merge_all(struct merger *m, struct hpcrun_folder *folder,
	const struct hpcrun_thread_list *thread_list, struct pm_damage_list *damage,
	struct pm_error *err)
{
	struct hpcrun_merged *merged = m->merged;
	uint32_t n = thread_list->threads.n, *groups = NULL;
	merged->counts = calloc((size_t)n + 1, sizeof(*merged->counts));
	if (!merged->counts)
		return -ENOMEM;
	int r = read_stretches(&merged->trie, folder, merged->counts, damage);
	if (r == 0)
		r = hpcrun_metric_names_list(
			&merged->trie.metrics, &merged->arena, damage, &merged->metrics, &groups);
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
	hpcrun_trie_finish(&merged->trie);
	return r;
}

int hpcrun_merge(struct hpcrun_merged *ret, struct hpcrun_folder *folder,
	const struct hpcrun_thread_list *thread_list, struct pm_damage_list *damage,
	struct pm_error *err)
{
	struct merger m = {.merged = ret};
	*ret = (struct hpcrun_merged){.n_groups = 0};
	struct sym_place place = hpcrun_symbols_place(folder);
	struct sym_names *symbols = NULL;
	int r = folder->no_symbols ? 0 : sym_names_new(&symbols, &place, damage);
	m.frames.named.names = symbols;
	if (r == 0)
		r = merge_all(&m, folder, thread_list, damage, err);
	if (r == 0 && damage->no_memory)
		r = -ENOMEM;
	pm_tree_builder_free(m.builder);
	frames_done(&m.frames);
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
