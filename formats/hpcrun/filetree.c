/*
 * From a profile's bytes to what the merged tree needs of it. Everything that has to be reported
 * about this file is reported here, once.
 */
#include "formats/hpcrun/hpcrun.h"

#include <errno.h>
#include <math.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/hpcrun/profile.h"
#include "profmount/limits.h"

/* ==== nodes by number ==== */

/* Up to this many cells per number, an array is smaller than a map, and much faster. */
enum { MOST_CELLS = 12, FEW = 1024 };

void hpcrun_numbers_init(
	struct hpcrun_numbers *ret, struct pm_arena *a, const uint32_t *numbers, size_t n)
{
	uint32_t least = UINT32_MAX, greatest = 0;
	*ret = (struct hpcrun_numbers){.map = {.arena = a}};
	for (size_t i = 0; i < n; i++) {
		if (numbers[i] == 0)
			continue;
		least = numbers[i] < least ? numbers[i] : least;
		greatest = numbers[i] > greatest ? numbers[i] : greatest;
	}
	uint64_t span = greatest >= least ? (uint64_t)greatest - least + 1 : 1;
	if (span > MOST_CELLS * (uint64_t)n + FEW)
		return;
	ret->least = least;
	ret->span = span;
	ret->places = pm_arena_array(a, (size_t)span, sizeof(*ret->places));
}

bool hpcrun_numbers_put(struct hpcrun_numbers *s, uint32_t number, uint32_t place)
{
	bool is_new;
	if (s->places) {
		uint32_t *cell = &s->places[number - s->least];
		is_new = *cell == 0;
		*cell = is_new ? place + 1 : *cell;
	} else {
		pm_map_put(&s->map, number, place, &is_new);
	}
	return is_new;
}

/*
 * ==== the shape of a stored tree ====
 * Writers put parents before children, but a damaged file may contain anything: missing parents,
 * cycles. Every chain is followed once; nodes that have been visited have a depth.
 */

#define NONE UINT32_MAX

enum { UNSEEN = 0 /* depths count from 1 */ };
#define ON_CHAIN UINT32_MAX

struct walk {
	struct pm_arena *a;
	struct hpcrun_shape *shape;
	const struct hpcrun_nodes *nodes;
	const struct hpcrun_report *report;
	uint32_t *above; /* the parent's number, as stored */
	uint32_t *depth;
	uint32_t *chain; /* the nodes from the one in question to one with a known depth */
	uint32_t n_ordered;
};

static void report_misplaced(const struct walk *w, uint32_t place, const char *what)
{
	struct hpcrun_node node;
	hpcrun_node_decode(w->nodes, place, &node);
	hpcrun_report_loss(w->report, w->nodes->off + (uint64_t)place * w->nodes->size,
		w->nodes->size, "context %lld (parent %lld) %s", (long long)node.id,
		(long long)node.parent, what);
}

static void number_nodes(struct walk *w)
{
	struct hpcrun_shape *s = w->shape;
	for (uint32_t i = 0; i < s->n; i++) {
		struct hpcrun_node node;
		hpcrun_proceed(w->a, i);
		hpcrun_node_decode(w->nodes, i, &node);
		s->number[i] = hpcrun_node_number(node.id);
		w->above[i] = hpcrun_node_number(node.parent);
	}
	hpcrun_numbers_init(&s->by_number, w->a, s->number, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		hpcrun_proceed(w->a, i);
		if (s->number[i] == 0) {
			report_misplaced(w, i, "has the number reserved for no context");
		} else if (!hpcrun_numbers_put(&s->by_number, s->number[i], i)) {
			s->number[i] = 0;
			report_misplaced(w, i, "has the number of an earlier one, which keeps it");
		}
	}
}

static void find_parents(struct walk *w)
{
	for (uint32_t i = 0; i < w->shape->n; i++) {
		uint32_t number = w->above[i], place = NONE;
		hpcrun_proceed(w->a, i);
		if (number)
			place = hpcrun_numbers_find(&w->shape->by_number, number);
		w->shape->parent[i] = place != i ? place : NONE;
		if (number && place == NONE)
			report_misplaced(
				w, i, "has a parent that does not exist: shown at the top");
		else if (place == i)
			report_misplaced(w, i, "is its own parent: shown at the top");
	}
}

/* Follows parents from `place` to a known node or the top; cuts a cycle at its last link. */
static uint32_t climb(struct walk *w, uint32_t place)
{
	uint32_t n = 0, *parent = w->shape->parent;
	while (place != NONE && w->depth[place] == UNSEEN) {
		w->depth[place] = ON_CHAIN;
		w->chain[n++] = place;
		place = parent[place];
	}
	if (place != NONE && w->depth[place] == ON_CHAIN) {
		report_misplaced(w, w->chain[n - 1], "is its own ancestor: shown at the top");
		parent[w->chain[n - 1]] = NONE;
	}
	return n;
}

static void put_in_order(struct walk *w)
{
	uint32_t *parent = w->shape->parent;
	for (uint32_t i = 0; i < w->shape->n; i++) {
		hpcrun_proceed(w->a, i);
		for (uint32_t n = climb(w, i); n-- > 0;) {
			uint32_t place = w->chain[n];
			uint32_t above = parent[place] == NONE ? 0 : w->depth[parent[place]];
			if (above >= PM_LIMIT_DEPTH) {
				report_misplaced(w, place, "is too deep: shown at the top");
				parent[place] = NONE;
				above = 0;
			}
			w->depth[place] = above + 1;
			w->shape->order[w->n_ordered++] = place;
		}
	}
}

void hpcrun_shape_read(struct hpcrun_shape *ret, struct pm_arena *a,
	const struct hpcrun_nodes *nodes, const struct hpcrun_report *report)
{
	pm_build_check(a, nodes->n > PM_LIMIT_ITEMS ? -ENOMEM : 0);
	struct pm_arena *scratch = pm_arena_scratch(a);
	size_t n = nodes->n;
	*ret = (struct hpcrun_shape){.n = (uint32_t)n,
		.parent = pm_arena_array(a, n, sizeof(*ret->parent)),
		.number = pm_arena_array(a, n, sizeof(*ret->number)),
		.order = pm_arena_array(a, n, sizeof(*ret->order))};
	struct walk w = {.a = a,
		.shape = ret,
		.nodes = nodes,
		.report = report,
		.above = pm_arena_array(scratch, n, sizeof(*w.above)),
		.depth = pm_arena_array(scratch, n, sizeof(*w.depth)),
		.chain = pm_arena_array(scratch, n, sizeof(*w.chain))};
	number_nodes(&w);
	find_parents(&w);
	put_in_order(&w);
	pm_arena_done(scratch);
}

/*
 * ==== load modules of nodes ====
 * Nodes refer to their module by id; those of 2009 by an address. Their module is the last one that
 * begins at or before the address, because sizes were not stored.
 */

struct finder {
	const struct hpcrun_modules *modules;
	bool in_order; /* ids are 1, 2, 3 …, as real ones are: no map is needed */
	struct pm_map by_id;
	uint32_t *by_address; /* indexes by vaddr, later ones last; NULL where nodes name ids */
};

static int by_vaddr(const void *a, const void *b, void *modules)
{
	const uint32_t *x = a, *y = b;
	const struct hpcrun_module *all = modules;
	if (all[*x].vaddr != all[*y].vaddr)
		return all[*x].vaddr < all[*y].vaddr ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

/* `modules` must outlive it. */
static struct finder finder_of(
	struct pm_arena *a, const struct hpcrun_modules *modules, bool nodes_have_ids)
{
	struct finder f = {.modules = modules, .in_order = nodes_have_ids, .by_id = {.arena = a}};
	bool is_new;
	for (size_t i = 0; i < modules->n; i++)
		f.in_order &= modules->items[i].id == i + 1;
	if (!nodes_have_ids) {
		f.by_address = pm_arena_array(a, modules->n, sizeof(*f.by_address));
		for (size_t i = 0; i < modules->n; i++)
			f.by_address[i] = (uint32_t)i;
		pm_build_check(a,
			pm_sort_with(f.by_address, modules->n, sizeof(*f.by_address), by_vaddr,
				modules->items));
	}
	for (size_t i = 0; i < modules->n && nodes_have_ids && !f.in_order; i++)
		pm_map_put(&f.by_id, modules->items[i].id, (uint32_t)i, &is_new);
	return f;
}

/* The module's index in the load map, or UINT32_MAX. */
static uint32_t find_module(const struct finder *f, const struct hpcrun_node *node)
{
	if (f->by_address) { /* the last module that begins at or before the address */
		size_t next = PM_LOWER_BOUND(
			i, 0, f->modules->n, f->modules->items[f->by_address[i]].vaddr <= node->ip);
		return next ? f->by_address[next - 1] : UINT32_MAX;
	}
	if (f->in_order)
		return node->module - 1 < f->modules->n ? node->module - 1 : UINT32_MAX;
	const uint32_t *index = pm_map_find(&f->by_id, node->module);
	return index ? *index : UINT32_MAX;
}

/* ==== a whole file ==== */

/* An epoch being read: its position in the file tree's lists, and the index of its nodes. */
struct epoch {
	const struct hpcrun_epoch *stored;
	struct hpcrun_shape shape;
	uint32_t *index; /* position in the file → index in the file tree */
	size_t first_module, first_metric;
};

struct file_reading {
	struct pm_arena *a; /* until the file has been read */
	struct hpcrun_file_tree *file_tree;
	const struct hpcrun_profile *profile;
	const struct hpcrun_report *report;
	struct epoch *epochs; /* profile->n_epochs */
};

/* ---- names ---- */

static void keep_metrics(const struct file_reading *s, const struct hpcrun_metrics *metrics)
{
	struct hpcrun_file_tree *h = s->file_tree;
	bool lost = false;
	for (size_t i = 0; i < metrics->n; i++) {
		/* Names may take more memory in formulas than in the file. */
		bool with_formula = h->n_formulas < HPCRUN_MOST_DERIVED;
		if (!with_formula && !lost && metrics->items[i].formula.len) {
			hpcrun_report_loss(s->report, PM_NO_OFFSET, PM_NO_OFFSET,
				"more than %d metrics with formulas: the others are not computed",
				HPCRUN_MOST_DERIVED);
			lost = true;
		}
		pm_list_grow(
			h->arena, &h->metrics, h->n_metrics, &h->metrics_room, sizeof(*h->metrics));
		struct hpcrun_file_metric *metric = &h->metrics[h->n_metrics++];
		*metric = hpcrun_metric_crop(h->arena, metrics, i, with_formula);
		h->n_formulas += metric->formula.len > 0;
	}
}

/* ---- nodes ---- */

static void report_node(const struct file_reading *s, const struct epoch *e, uint32_t place,
	const struct hpcrun_node *node, const char *what)
{
	const struct hpcrun_nodes *nodes = &e->stored->nodes;
	hpcrun_report_loss(s->report, nodes->off + (uint64_t)place * nodes->size, nodes->size,
		"context %lld %s", (long long)node->id, what);
}

/* The position of the node, and what is wrong with it. */
static void locate(const struct file_reading *s, const struct epoch *e, uint32_t place,
	const struct finder *finder, struct hpcrun_file_node *ret)
{
	struct hpcrun_node node;
	hpcrun_node_decode(&e->stored->nodes, place, &node);
	uint32_t module = find_module(finder, &node);
	ret->place.ip = node.ip;
	if (module != UINT32_MAX) {
		ret->place.kind = HPCRUN_PLACE_MODULE;
		ret->place.module = (uint32_t)e->first_module + module;
	} else if (e->stored->nodes.has_module ? hpcrun_is_special_module(node.module)
					       : node.ip == 0) {
		ret->place.kind = HPCRUN_PLACE_SPECIAL;
		ret->place.module = node.module;
	} else {
		ret->place.kind = HPCRUN_PLACE_UNKNOWN;
		if (e->stored->nodes.has_module) /* an address may be in no module */
			report_node(
				s, e, place, &node, "is in a load module that the load map lacks");
	}
	if (s->profile->family == HPCRUN_FAMILY_SECTIONS && node.parent == 0 &&
		(ret->place.kind != HPCRUN_PLACE_SPECIAL || !hpcrun_is_root(node.module, node.ip)))
		report_node(s, e, place, &node, "has no parent and is not a root");
}

static void keep_epoch(const struct file_reading *s, struct epoch *e)
{
	struct hpcrun_file_tree *h = s->file_tree;
	struct hpcrun_shape *shape = &e->shape;
	e->first_module = h->n_modules;
	e->first_metric = h->n_metrics;
	for (size_t i = 0; i < e->stored->modules.n; i++) {
		pm_list_grow(
			h->arena, &h->modules, h->n_modules, &h->modules_room, sizeof(*h->modules));
		h->modules[h->n_modules++] =
			pm_arena_copy(h->arena, e->stored->modules.items[i].name);
	}
	keep_metrics(s, &e->stored->metrics);
	hpcrun_shape_read(shape, s->a, &e->stored->nodes, s->report);
	struct finder finder = finder_of(s->a, &e->stored->modules, e->stored->nodes.has_module);
	e->index = pm_arena_array(s->a, shape->n, sizeof(*e->index));
	size_t n = h->n_nodes + shape->n;
	pm_build_check(s->a, n > PM_LIMIT_ITEMS ? -ENOMEM : 0);
	if (n > 0)
		pm_list_grow(h->arena, &h->nodes, n - 1, &h->nodes_room, sizeof(*h->nodes));
	for (uint32_t i = 0; i < shape->n; i++) {
		uint32_t place = shape->order[i], parent = shape->parent[place];
		struct hpcrun_file_node *node = &h->nodes[h->n_nodes];
		hpcrun_proceed(s->a, i);
		*node = (struct hpcrun_file_node){
			.parent = parent == UINT32_MAX ? UINT32_MAX : e->index[parent],
			.number = shape->number[place]};
		locate(s, e, place, &finder, node);
		e->index[place] = (uint32_t)h->n_nodes++;
	}
}

/* ---- values ---- */

/* The node's index in the file tree, or UINT32_MAX. */
static uint32_t node_of(const struct epoch *e, const struct hpcrun_value *v)
{
	if (v->node != UINT64_MAX)
		return e->index[v->node];
	uint32_t place = hpcrun_numbers_find(&e->shape.by_number, hpcrun_node_number(v->node_id));
	return place != UINT32_MAX ? e->index[place] : UINT32_MAX;
}

static void keep_value(const struct file_reading *s, const struct hpcrun_value *v)
{
	struct hpcrun_file_tree *h = s->file_tree;
	const struct epoch *e = &s->epochs[v->epoch];
	struct hpcrun_file_value value = {.bits = v->bits,
		.node = node_of(e, v),
		.metric = (uint32_t)(e->first_metric + v->metric)};
	const struct hpcrun_metric *metric = hpcrun_value_metric(s->profile, v);
	if (!metric || value.node == UINT32_MAX) {
		hpcrun_report_loss(s->report, v->off, 8, "a value of %s that does not exist",
			metric ? "a context" : "a metric");
		return;
	}
	if (hpcrun_value_is_real(metric) && !isfinite(pm_f64_of_bits(v->bits)))
		hpcrun_report_loss(
			s->report, v->off, 8, "a value that is not a number: not added to sums");
	pm_list_grow(h->arena, &h->values, h->n_values, &h->values_room, sizeof(value));
	h->values[h->n_values++] = value;
}

/* ---- the whole ---- */

static void keep_all(struct file_reading *s)
{
	struct hpcrun_values values = hpcrun_values_from(s->profile, 0);
	struct hpcrun_value value;
	s->epochs = pm_arena_array(s->a, s->profile->n_epochs, sizeof(*s->epochs));
	for (size_t i = 0; i < s->profile->n_epochs; i++) {
		s->epochs[i].stored = &s->profile->epochs[i];
		keep_epoch(s, &s->epochs[i]);
	}
	for (uint64_t i = 1; hpcrun_values_next(&values, &value); i++) {
		hpcrun_proceed(s->a, i);
		keep_value(s, &value);
	}
}

struct hpcrun_file_tree *hpcrun_file_tree_read(struct pm_arena *a, struct hpcrun_folder *folder,
	const struct hpcrun_file *file, struct pm_damage_list *damage)
{
	struct hpcrun_file_tree *h = pm_arena_alloc(a, sizeof(*h));
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct hpcrun_report report = {.list = damage, .file = file->name};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct file_reading s = {.a = scratch, .file_tree = h, .report = &report};
	h->arena = a;
	if (!file->name)
		return h;
	s.profile = hpcrun_profile_open(scratch, folder, file, HPCRUN_ALL, damage, &err);
	if (s.profile)
		keep_all(&s);
	else
		hpcrun_report_file(&report, file->size, &err);
	pm_arena_done(scratch);
	return h;
}
