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
	struct hpcrun_folder *folder;
	struct pm_thread_counts *counts;
	struct pm_damage_list *damage;
	uint32_t *starts; /* of stretches, in folder->sources; n + 1 */
	uint32_t n;
	size_t room;
	struct stretch *first; /* owned: the first one becomes the whole */
};

/* ---- one stretch ---- */

struct stretch {
	const struct reading *reading;
	uint32_t first, end;   /* sources */
	struct pm_arena arena; /* of the trie */
	struct hpcrun_trie *trie;
	struct pm_damage_list damage;
};

static void read_stretch(void *stretch)
{
	struct stretch *s = stretch;
	struct pm_arena *scratch = pm_arena_scratch(&s->arena);
	struct pm_arena *of_file = pm_arena_scratch(scratch);
	uint32_t *seen = NULL; /* by node: the last source with a value there, + 1 */
	size_t room = 0, n_seen = 0;
	s->trie = hpcrun_trie_new(&s->arena);
	for (uint32_t source = s->first; source < s->end; source++) {
		struct hpcrun_folder *folder = s->reading->folder;
		struct pm_thread_counts *counts = &s->reading->counts[source];
		const struct hpcrun_file_tree *h = hpcrun_file_tree_read(
			of_file, folder, &folder->sources[source].profile, &s->damage);
		const uint32_t *nodes = hpcrun_trie_enter(s->trie, h);
		hpcrun_trie_add(s->trie, h, nodes);
		if (s->trie->n > 0)
			pm_list_grow(scratch, &seen, s->trie->n - 1, &room, sizeof(*seen));
		while (n_seen < s->trie->n)
			seen[n_seen++] = 0;
		*counts = (struct pm_thread_counts){.values = h->n_values};
		for (size_t i = 0; i < h->n_values; i++) {
			uint32_t *last = &seen[nodes[h->values[i].node]];
			counts->contexts += *last != source + 1;
			*last = source + 1;
		}
		pm_arena_done(of_file);
	}
	pm_arena_done(scratch);
}

static int make_stretch(void *context, uint32_t i, void *result)
{
	const struct reading *reading = context;
	struct stretch **ret = result, *s = *ret = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct stretch){.reading = reading,
		.first = reading->starts[i],
		.end = reading->starts[i + 1],
		.damage = PM_DAMAGE_LIST_INIT};
	return pm_build(&s->arena, read_stretch, s);
}

static void drop_stretch(void *result)
{
	struct stretch *s = *(struct stretch **)result;
	if (!s)
		return;
	pm_arena_done(&s->arena);
	pm_damage_done(&s->damage);
	free(s);
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

static void join_stretch(void *stretch)
{
	const struct stretch *s = stretch;
	hpcrun_trie_join(s->reading->first->trie, s->trie);
}

static int take_stretch(void *context, uint32_t i, void *result)
{
	struct reading *reading = context;
	struct stretch **s = result;
	pm_damage_add_all(reading->damage, &(*s)->damage);
	if (i > 0)
		return pm_build(&reading->first->arena, join_stretch, *s);
	reading->first = *s;
	*s = NULL;
	return 0;
}

static void add_start(struct pm_arena *a, struct reading *reading, uint32_t start)
{
	pm_list_grow(a, &reading->starts, reading->n, &reading->room, sizeof(start));
	reading->starts[reading->n++] = start;
}

static void plan(struct pm_arena *a, struct reading *reading)
{
	const struct hpcrun_folder *f = reading->folder;
	uint64_t bytes = 0;
	add_start(a, reading, 0);
	for (uint32_t i = 0; i < f->n; i++) {
		bytes += f->sources[i].profile.size;
		if (bytes < STRETCH_BYTES || i + 1 == f->n)
			continue;
		add_start(a, reading, i + 1);
		bytes = 0;
	}
	add_start(a, reading, f->n);
	reading->n--; /* the last entry is an end */
}

/*
 * Merges the profiles of all sources of the folder. counts[i] gets the number of stored values of
 * thread i, and of trie nodes with values.
 */
static struct hpcrun_trie *read_stretches(struct pm_arena *a, struct hpcrun_folder *folder,
	struct pm_thread_counts *counts, struct pm_damage_list *damage)
{
	struct reading *reading = pm_arena_alloc(a, sizeof(*reading));
	*reading = (struct reading){.folder = folder, .counts = counts, .damage = damage};
	pm_arena_owns(a, drop_stretch, &reading->first);
	plan(a, reading);
	struct pm_pipeline pipeline = {.n = reading->n,
		.size = sizeof(struct stretch *),
		.make = make_stretch,
		.take = take_stretch,
		.drop = drop_stretch,
		.weigh = weigh_stretch,
		.most = MOST_BYTES,
		.context = reading};
	pm_build_check(a, pm_pipeline_run(&pipeline));
	return reading->first->trie;
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

struct frames {
	struct pm_arena *a;
	struct pm_tree_builder *builder;
	struct sym_frames named;
	struct pm_map modules;   /* name among the tree's texts → number among the symbols */
	struct pm_strtab places; /* distinct (kind, module, ip) */
	uint32_t *starts; /* by place: start of its chain in `frames`, which ends where the next one
			     starts */
	uint32_t *frames;
	uint32_t n_frames;
	/* By frame of the builder: it is inside the function of its chain; the same for all chains
	   with this frame. */
	uint8_t *inner;
	size_t starts_room, frames_room, inner_room, n_inner;
	struct pm_text text;
};

/* An index or rank of the tree's builder, which gives PM_NONE where there is no memory. */
static uint32_t good(const struct frames *f, uint32_t of_builder)
{
	pm_build_check(f->a, of_builder == PM_NONE ? -ENOMEM : 0);
	return of_builder;
}

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

static uint32_t make_frame(struct frames *f, const struct hpcrun_place *place, uint32_t module,
	struct pm_bytes module_name)
{
	compose_name(&f->text, place, module_name);
	uint32_t name = good(f, pm_tree_text(f->builder, pm_text_view(&f->text), true));
	struct pm_function function = {
		.name = name, .module = module, .id = PM_NONE, .offset = place->ip};
	struct pm_frame frame = {.kind = PM_KIND_INSTRUCTION,
		.has_offset = true,
		.function = good(f, pm_tree_function(f->builder, &function)),
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
	return good(f, pm_tree_intern(f->builder, &frame));
}

/* Adds a frame to the chain under construction; it is the last one. */
static void add_frame(struct frames *f, uint32_t frame)
{
	pm_list_grow(f->a, &f->frames, f->n_frames, &f->frames_room, sizeof(*f->frames));
	f->frames[f->n_frames++] = frame;
}

/* The frames of an address that symbols know of: how many. */
static int find_named(struct frames *f, uint32_t module, struct pm_bytes module_name, uint64_t ip,
	uint32_t ret[SYM_SCOPE_DEPTH_MAX])
{
	bool fresh;
	if (!f->named.names)
		return 0;
	uint32_t *number = pm_map_put(&f->modules, module, 0, &fresh);
	const struct sym_module described = {.path = module_name};
	if (fresh)
		pm_build_check(f->a, sym_names_module(f->named.names, &described, number));
	return sym_frames_find(&f->named, f->builder, *number, module, ip, ret);
}

static void make_chain(struct frames *f, const struct hpcrun_place *place, uint32_t module,
	struct pm_bytes module_name)
{
	uint32_t frames[SYM_SCOPE_DEPTH_MAX];
	int n = 0;
	if (place->kind == HPCRUN_PLACE_MODULE)
		n = find_named(f, module, module_name, place->ip, frames);
	if (n == 0)
		add_frame(f, make_frame(f, place, module, module_name));
	for (int i = 0; i < n; i++) {
		add_frame(f, frames[i]);
		for (; f->n_inner <= frames[i]; f->n_inner++) {
			pm_list_grow(
				f->a, &f->inner, f->n_inner, &f->inner_room, sizeof(*f->inner));
			f->inner[f->n_inner] = false;
		}
		f->inner[frames[i]] |= i > 0; /* the first frame is the function */
	}
}

/*
 * The chain of a place, created if new. `module` is the index of its module's name among the tree's
 * texts, `module_name` the name from the load map; 0 and empty for places without a module.
 */
static struct chain find_chain(struct frames *f, const struct hpcrun_place *place, uint32_t module,
	struct pm_bytes module_name)
{
	bool special = place->kind == HPCRUN_PLACE_SPECIAL;
	struct {
		uint64_t ip;
		uint32_t module, kind;
	} key = {place->ip, special ? place->module : module, place->kind};
	uint32_t known = f->places.n;
	uint32_t i =
		pm_strtab_add(&f->places, (struct pm_bytes){(const uint8_t *)&key, sizeof(key)});
	if (i == known) {
		pm_list_grow(f->a, &f->starts, i, &f->starts_room, sizeof(*f->starts));
		f->starts[i] = f->n_frames;
		make_chain(f, place, module, module_name);
	}
	uint32_t end = i + 1 < f->places.n ? f->starts[i + 1] : f->n_frames;
	return (struct chain){f->frames + f->starts[i], end - f->starts[i]};
}

/* ==== the tree ==== */

/* Approximate number of cells per block of contexts: 16 bytes each, plus their values. */
#define BLOCK_CELLS ((uint64_t)1 << 20)

/* In a scratch arena, which owns what the builder and the symbols have. */
struct merger {
	struct pm_arena *a; /* of the merged tree */
	struct hpcrun_merged *merged;
	struct frames frames;
	struct sym_names *symbols;
	uint32_t *index;         /* rank → index in the tree */
	struct hpcrun_sum *sums; /* by metric name of the trie, then node */
	size_t n_sums;
};

/* ---- contexts ---- */

/*
 * The context of a node whose parent has one. `texts` has the text of each module seen so far, else
 * 0.
 */
static void plant(struct merger *m, uint32_t node, uint32_t *texts)
{
	const struct hpcrun_trie *trie = m->merged->trie;
	struct hpcrun_place place = hpcrun_trie_place(trie, node);
	uint32_t *context = m->merged->context, above = trie->nodes[node].parent, text = 0;
	struct frames *f = &m->frames;
	struct pm_bytes name = {NULL, 0};
	if (place.kind == HPCRUN_PLACE_MODULE) {
		name = trie->modules.items[place.module];
		if (texts[place.module] == 0)
			texts[place.module] = good(f, pm_tree_text(f->builder, name, true));
		text = texts[place.module];
	}
	struct chain chain = find_chain(f, &place, text, name);
	uint32_t at = above == UINT32_MAX ? PM_NONE : context[above];
	for (uint32_t i = 0; i < chain.n; i++)
		at = good(f, pm_tree_child(f->builder, at, chain.frames[i]));
	context[node] = at;
}

/* Why modules have no names, or not for all of their code. `texts`: by module, of the tree. */
static void note_missing(struct merger *m, const uint32_t *texts)
{
	const struct hpcrun_trie *trie = m->merged->trie;
	struct pm_missing *rows = pm_arena_array(m->a, trie->modules.n, sizeof(*rows));
	struct pm_missings *all = &m->merged->missing;
	*all = (struct pm_missings){.rows = rows,
		.why = m->symbols ? "not looked for" : "not looked for: -o symbols=no",
		.advice = m->symbols ? "give its files with -o sysroot=DIR, or run hpcstruct"
				     : "mount without -o symbols=no"};
	for (uint32_t i = 0; m->symbols && i < trie->modules.n; i++) {
		const uint32_t *number =
			texts[i] ? pm_map_find(&m->frames.modules, texts[i]) : NULL;
		if (!number)
			continue;
		struct sym_absence absence = sym_names_absence(m->symbols, *number);
		struct pm_text hex = {.arena = m->a};
		for (size_t k = 0; k < absence.build_id.len; k++)
			pm_text_hex(&hex, absence.build_id.p[k], 2);
		rows[all->n++] = (struct pm_missing){.build_id = pm_text_view(&hex),
			.module = pm_arena_copy(m->a, trie->modules.items[i]),
			.why = absence.why,
			.tried = pm_arena_printf(m->a, "%.*s", (int)absence.tried.len,
				(const char *)absence.tried.p)};
	}
}

static void plant_all(struct merger *m)
{
	struct pm_arena *a = m->frames.a;
	const struct hpcrun_trie *trie = m->merged->trie;
	uint32_t *texts = pm_arena_array(a, trie->modules.n, sizeof(*texts));
	m->frames.builder = pm_tree_builder_new();
	pm_build_check(a, m->frames.builder ? 0 : -ENOMEM);
	m->merged->context = pm_arena_array(m->a, trie->n, sizeof(*m->merged->context));
	for (uint32_t i = 0; i < trie->modules.n && m->symbols; i++)
		pm_build_check(a, sym_names_announce(m->symbols, trie->modules.items[i]));
	for (uint32_t i = 0; i < trie->n; i++) {
		hpcrun_proceed(a, i);
		plant(m, i, texts);
	}
	note_missing(m, texts);
}

/* ---- the order of siblings ---- */

uint32_t hpcrun_merged_owner(const struct hpcrun_merged *m, uint32_t name, uint32_t context)
{
	if (!(m->trie->metrics.flags[name] & HPCRUN_METRIC_MOVES))
		return context;
	while (sym_frame_is_inner(pm_tree_frame(m->tree, context)->kind))
		context = m->tree->parent[context];
	return context;
}

/* The same while contexts are ranks. */
static uint32_t owner_of_rank(const struct merger *m, uint32_t name, uint32_t rank)
{
	const struct frames *f = &m->frames;
	if (!(m->merged->trie->metrics.flags[name] & HPCRUN_METRIC_MOVES))
		return rank;
	for (;;) {
		uint32_t frame = pm_tree_frame_of(f->builder, rank);
		if (frame >= f->n_inner || !f->inner[frame])
			return rank;
		rank = pm_tree_parent_of(f->builder, rank);
	}
}

static void free_tree(void *merged)
{
	pm_tree_free(((struct hpcrun_merged *)merged)->tree);
}

static void freeze(struct merger *m, struct pm_error *err)
{
	struct hpcrun_merged *merged = m->merged;
	struct pm_tree_builder *builder = m->frames.builder;
	double *whole = pm_arena_array(m->frames.a, merged->n_groups, sizeof(*whole));
	for (size_t i = 0; i < m->n_sums; i++)
		whole[merged->groups[m->sums[i].metric]] += m->sums[i].cost;
	uint32_t group = pm_quantity_leading(&merged->metrics, whole);
	uint32_t n = pm_tree_count(builder);
	/* By rank: the inclusive cost in the group that orders siblings. */
	double *weight = pm_arena_array(m->frames.a, n, sizeof(*weight));
	for (size_t i = 0; i < m->n_sums; i++)
		if (merged->groups[m->sums[i].metric] == group)
			weight[owner_of_rank(m, m->sums[i].metric,
				merged->context[m->sums[i].node])] += m->sums[i].cost;
	for (uint32_t rank = n; rank-- > 0;) {
		uint32_t parent = pm_tree_parent_of(builder, rank);
		if (parent != PM_NONE)
			weight[parent] += weight[rank];
	}
	pm_arena_owns(m->a, free_tree, merged);
	m->frames.builder = NULL;
	pm_build_check(m->a, pm_tree_freeze(builder, weight, &merged->tree, &m->index, err));
	merged->tree->ordered_by = group;
	for (uint32_t i = 0; i < merged->trie->n; i++)
		merged->context[i] = m->index[merged->context[i]];
}

/* Different places may have the same frame, and values may belong to the enclosing function. */
static void find_sharing(struct pm_arena *scratch, struct hpcrun_merged *m)
{
	bool *taken = pm_arena_array(scratch, m->tree->n_contexts, sizeof(*taken));
	for (uint32_t i = 0; i < m->trie->n; i++) {
		m->shares |= taken[m->context[i]];
		taken[m->context[i]] = true;
	}
	for (uint32_t i = 0; i < m->trie->metrics.names.n; i++)
		m->shares |= m->trie->metrics.flags[i] & HPCRUN_METRIC_MOVES;
}

/* ---- costs of the run ---- */

static void sum_up(struct merger *m, struct pm_error *err)
{
	struct hpcrun_merged *merged = m->merged;
	uint32_t n = merged->tree->n_contexts;
	struct pm_arena *scratch = pm_arena_scratch(m->frames.a);
	struct hpcrun_own *own = pm_arena_array(scratch, m->n_sums, sizeof(*own));
	size_t at = 0;
	for (size_t i = 0; i < m->n_sums; i++)
		own[i] = (struct hpcrun_own){
			.context = hpcrun_merged_owner(
				merged, m->sums[i].metric, merged->context[m->sums[i].node]),
			.group = merged->groups[m->sums[i].metric],
			.cost = m->sums[i].cost};
	hpcrun_cells_make(
		&merged->costs, m->a, merged->tree, merged->n_groups, own, m->n_sums, err);
	pm_arena_done(scratch);
	merged->cost_start = pm_arena_array(m->a, (size_t)n + 1, sizeof(*merged->cost_start));
	for (uint32_t i = 0; i <= n; i++) {
		while (at < merged->costs.n && merged->costs.items[at].context < i)
			at++;
		merged->cost_start[i] = (uint32_t)at; /* hpcrun_cells_make checks that it fits */
	}
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

/* Upper bounds on the number of cells of all threads, by context with its descendants. */
static uint64_t *weigh_contexts(
	struct pm_arena *a, const struct hpcrun_merged *m, uint32_t n_threads)
{
	const struct pm_tree *tree = m->tree;
	uint64_t *visits = pm_arena_array(a, tree->n_contexts, sizeof(*visits));
	uint64_t *values = pm_arena_array(a, tree->n_contexts, sizeof(*values));
	for (uint32_t i = 0; i < m->trie->n; i++) {
		visits[m->context[i]] += m->trie->tallies[i].visits;
		values[m->context[i]] += m->trie->tallies[i].values;
	}
	for (uint32_t i = tree->n_contexts; i-- > 0;) {
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
	return visits;
}

static void divide(struct merger *m, uint32_t n_threads)
{
	struct hpcrun_merged *merged = m->merged;
	uint64_t *cells = weigh_contexts(m->frames.a, merged, n_threads), sum = 0;
	size_t room = 0;
	for (uint32_t i = 0; i <= merged->tree->n_contexts; i++) {
		bool is_end = i == merged->tree->n_contexts;
		if (i == 0 || is_end || sum + cells[i] > BLOCK_CELLS) {
			pm_list_grow(m->a, &merged->block_start, merged->n_blocks, &room,
				sizeof(*merged->block_start));
			merged->block_start[merged->n_blocks++] = i;
			sum = 0;
		}
		sum += is_end ? 0 : cells[i];
	}
	merged->n_blocks--; /* the last entry is an end */
}

/* ---- the whole ---- */

static void merger_done(void *merger)
{
	struct merger *m = merger;
	pm_tree_builder_free(m->frames.builder);
	sym_names_free(m->symbols);
	free(m->index);
}

void hpcrun_merge(struct hpcrun_merged *ret, struct pm_arena *a, struct hpcrun_folder *folder,
	uint32_t n_threads, struct pm_error *err)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct merger *m = pm_arena_alloc(scratch, sizeof(*m));
	struct sym_place place = hpcrun_symbols_place(folder);
	*m = (struct merger){.a = a,
		.merged = ret,
		.frames = {.a = scratch,
			.modules = {.arena = scratch},
			.named.by_address = {.arena = scratch},
			.places = pm_strtab_in(scratch),
			.text = {.arena = scratch}}};
	pm_arena_owns(scratch, merger_done, m);
	pm_damage_list_in(&ret->damage, a);
	if (!folder->no_symbols)
		pm_build_check(a, sym_names_new(&m->symbols, &place, &ret->damage));
	m->frames.named.names = m->symbols;
	ret->counts = pm_arena_array(a, n_threads, sizeof(*ret->counts));
	ret->trie = read_stretches(a, folder, ret->counts, &ret->damage);
	ret->groups = hpcrun_metric_names_list(a, &ret->trie->metrics, &ret->damage, &ret->metrics);
	ret->n_groups = ret->metrics.n / 2;
	m->sums = hpcrun_sums_list(scratch, &ret->trie->sums, &m->n_sums);
	plant_all(m);
	freeze(m, err);
	find_sharing(scratch, ret);
	sum_up(m, err);
	divide(m, n_threads);
	hpcrun_trie_finish(ret->trie);
	pm_build_check(a, ret->damage.no_memory ? -ENOMEM : 0);
	pm_arena_done(scratch);
}
