/*
 * From a profile's bytes to what the merged tree needs of it. Everything that has to be reported
 * about this file is reported here, once.
 */
#include "formats/hpcrun/hpcrun.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "formats/hpcrun/profile.h"
#include "profmount/limits.h"

/* ==== nodes by number ==== */

/* Up to this many cells per number, an array is smaller than a map, and much faster. */
enum { MOST_CELLS = 12, FEW = 1024 };

int hpcrun_numbers_init(struct hpcrun_numbers *ret, const uint32_t *numbers, size_t n)
{
	uint32_t least = UINT32_MAX, greatest = 0;
	*ret = (struct hpcrun_numbers){.places = NULL};
	for (size_t i = 0; i < n; i++) {
		if (numbers[i] == 0)
			continue;
		least = numbers[i] < least ? numbers[i] : least;
		greatest = numbers[i] > greatest ? numbers[i] : greatest;
	}
	uint64_t span = greatest >= least ? (uint64_t)greatest - least + 1 : 1;
	if (span > MOST_CELLS * (uint64_t)n + FEW)
		return 0;
	ret->least = least;
	ret->span = span;
	ret->places = calloc((size_t)span, sizeof(*ret->places));
	return ret->places ? 0 : -ENOMEM;
}

int hpcrun_numbers_put(struct hpcrun_numbers *s, uint32_t number, uint32_t place)
{
	bool is_new = false;
	if (s->places) {
		uint32_t *cell = &s->places[number - s->least];
		is_new = *cell == 0;
		*cell = is_new ? place + 1 : *cell;
	} else if (!pm_map_put(&s->map, number, place, &is_new)) {
		return -ENOMEM;
	}
	return is_new;
}

void hpcrun_numbers_done(struct hpcrun_numbers *s)
{
	free(s->places);
	pm_map_done(&s->map);
	*s = (struct hpcrun_numbers){.places = NULL};
}

/*
 * ==== the shape of a stored tree ====
 * Writers put parents before children, but a damaged file may contain anything: missing parents,
 * cycles. Every chain is followed once; nodes that have been visited have a depth.
 */

#define NONE UINT32_MAX

enum { UNSEEN = 0 /* depths count from 1 */, BETWEEN_QUESTIONS = 4096 };
#define ON_CHAIN UINT32_MAX

struct walk {
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

/* False once the work is cancelled. */
static bool go_on(uint32_t i)
{
	return i % BETWEEN_QUESTIONS != 0 || !pm_work_cancelled();
}

static void read_numbers(struct walk *w)
{
	for (uint32_t i = 0; i < w->shape->n && go_on(i); i++) {
		struct hpcrun_node node;
		hpcrun_node_decode(w->nodes, i, &node);
		w->shape->number[i] = hpcrun_node_number(node.id);
		w->above[i] = hpcrun_node_number(node.parent);
	}
}

static int number_nodes(struct walk *w)
{
	struct hpcrun_shape *s = w->shape;
	int r = hpcrun_numbers_init(&s->by_number, s->number, s->n);
	for (uint32_t i = 0; i < s->n && r == 0 && go_on(i); i++) {
		if (s->number[i] == 0) {
			report_misplaced(w, i, "has the number reserved for no context");
			continue;
		}
		int fresh = hpcrun_numbers_put(&s->by_number, s->number[i], i);
		if (fresh == 0) {
			s->number[i] = 0;
			report_misplaced(w, i, "has the number of an earlier one, which keeps it");
		}
		r = fresh < 0 ? fresh : 0;
	}
	return r;
}

static void find_parents(struct walk *w)
{
	for (uint32_t i = 0; i < w->shape->n && go_on(i); i++) {
		uint32_t number = w->above[i], place = NONE;
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
	for (uint32_t i = 0; i < w->shape->n && go_on(i); i++)
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

int hpcrun_shape_read(struct hpcrun_shape *ret, const struct hpcrun_nodes *nodes,
	const struct hpcrun_report *report)
{
	struct walk w = {.shape = ret, .nodes = nodes, .report = report};
	*ret = (struct hpcrun_shape){.n = (uint32_t)nodes->n};
	if (nodes->n > PM_LIMIT_ITEMS)
		return -ENOMEM;
	size_t n = nodes->n + 1; /* never of size 0 */
	ret->parent = calloc(n, sizeof(*ret->parent));
	ret->number = calloc(n, sizeof(*ret->number));
	ret->order = calloc(n, sizeof(*ret->order));
	w.above = calloc(n, sizeof(*w.above));
	w.depth = calloc(n, sizeof(*w.depth));
	w.chain = calloc(n, sizeof(*w.chain));
	bool room = ret->parent && ret->number && ret->order && w.above && w.depth && w.chain;
	int r = room ? 0 : -ENOMEM;
	if (r == 0) {
		read_numbers(&w);
		r = number_nodes(&w);
	}
	if (r == 0) {
		find_parents(&w);
		put_in_order(&w);
	}
	if (pm_work_cancelled())
		r = PM_CANCELLED;
	free(w.above);
	free(w.depth);
	free(w.chain);
	return r;
}

void hpcrun_shape_done(struct hpcrun_shape *s)
{
	free(s->parent);
	free(s->number);
	free(s->order);
	hpcrun_numbers_done(&s->by_number);
	*s = (struct hpcrun_shape){.n = 0};
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

/* 0 or -ENOMEM. `modules` must outlive it. */
static int finder_init(struct finder *f, const struct hpcrun_modules *modules, bool nodes_have_ids)
{
	bool is_new;
	*f = (struct finder){.modules = modules};
	if (!nodes_have_ids) {
		f->by_address = calloc(modules->n + 1, sizeof(*f->by_address));
		for (size_t i = 0; i < modules->n && f->by_address; i++)
			f->by_address[i] = (uint32_t)i;
		return f->by_address ? pm_sort_with(f->by_address, modules->n,
					       sizeof(*f->by_address), by_vaddr, modules->items)
				     : -ENOMEM;
	}
	f->in_order = true;
	for (size_t i = 0; i < modules->n; i++)
		f->in_order &= modules->items[i].id == i + 1;
	if (f->in_order)
		return 0;
	for (size_t i = 0; i < modules->n; i++)
		if (!pm_map_put(&f->by_id, modules->items[i].id, (uint32_t)i, &is_new))
			return -ENOMEM;
	return 0;
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

/* Also for a zeroed one. */
static void finder_done(struct finder *f)
{
	pm_map_done(&f->by_id);
	free(f->by_address);
	*f = (struct finder){.modules = NULL};
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
	struct hpcrun_file_tree *file_tree;
	const struct hpcrun_profile *profile;
	const struct hpcrun_report *report;
	struct epoch *epochs; /* profile->n_epochs */
};

/* ---- names ---- */

static int keep_modules(struct hpcrun_file_tree *h, const struct hpcrun_modules *modules)
{
	for (size_t i = 0; i < modules->n; i++) {
		struct pm_bytes name = pm_arena_copy(&h->arena, modules->items[i].name);
		if (!name.p ||
			pm_list_room(&h->modules, h->n_modules, &h->modules_room, sizeof(name)) < 0)
			return -ENOMEM;
		h->modules[h->n_modules++] = name;
	}
	return 0;
}

static int keep_metrics(const struct file_reading *s, const struct hpcrun_metrics *metrics)
{
	struct hpcrun_file_tree *h = s->file_tree;
	bool lost = false;
	for (size_t i = 0; i < metrics->n; i++) {
		struct hpcrun_file_metric metric;
		/* Names may take more memory in formulas than in the file. */
		bool with_formula = h->n_formulas < HPCRUN_MOST_DERIVED;
		if (!with_formula && !lost && metrics->items[i].formula.len) {
			hpcrun_report_loss(s->report, PM_NO_OFFSET, PM_NO_OFFSET,
				"more than %d metrics with formulas: the others are not computed",
				HPCRUN_MOST_DERIVED);
			lost = true;
		}
		if (hpcrun_metric_crop(metrics, i, with_formula, &h->arena, &metric) < 0 ||
			pm_list_room(&h->metrics, h->n_metrics, &h->metrics_room, sizeof(metric)) <
				0)
			return -ENOMEM;
		h->n_formulas += metric.formula.len > 0;
		h->metrics[h->n_metrics++] = metric;
	}
	return 0;
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

static int keep_nodes(const struct file_reading *s, struct epoch *e, const struct finder *finder)
{
	struct hpcrun_file_tree *h = s->file_tree;
	size_t n = h->n_nodes + e->shape.n;
	if (n > PM_LIMIT_ITEMS ||
		(n > 0 && pm_list_room(&h->nodes, n - 1, &h->nodes_room, sizeof(*h->nodes)) < 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < e->shape.n; i++) {
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		uint32_t place = e->shape.order[i], parent = e->shape.parent[place];
		struct hpcrun_file_node *node = &h->nodes[h->n_nodes];
		*node = (struct hpcrun_file_node){
			.parent = parent == UINT32_MAX ? UINT32_MAX : e->index[parent],
			.number = e->shape.number[place]};
		locate(s, e, place, finder, node);
		e->index[place] = (uint32_t)h->n_nodes++;
	}
	return 0;
}

static int keep_epoch(const struct file_reading *s, struct epoch *e)
{
	struct finder finder = {.modules = NULL};
	e->first_module = s->file_tree->n_modules;
	e->first_metric = s->file_tree->n_metrics;
	int r = keep_modules(s->file_tree, &e->stored->modules);
	if (r == 0)
		r = keep_metrics(s, &e->stored->metrics);
	if (r == 0)
		r = hpcrun_shape_read(&e->shape, &e->stored->nodes, s->report);
	if (r == 0)
		r = finder_init(&finder, &e->stored->modules, e->stored->nodes.has_module);
	if (r == 0) {
		e->index = calloc((size_t)e->shape.n + 1, sizeof(*e->index));
		r = e->index ? keep_nodes(s, e, &finder) : -ENOMEM;
	}
	finder_done(&finder);
	return r;
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

static int keep_value(const struct file_reading *s, const struct hpcrun_value *v)
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
		return 0;
	}
	if (hpcrun_value_is_real(metric) && !isfinite(pm_f64_of_bits(v->bits)))
		hpcrun_report_loss(
			s->report, v->off, 8, "a value that is not a number: not added to sums");
	if (pm_list_room(&h->values, h->n_values, &h->values_room, sizeof(value)) < 0)
		return -ENOMEM;
	h->values[h->n_values++] = value;
	return 0;
}

static int keep_values(const struct file_reading *s)
{
	struct hpcrun_values v = hpcrun_values_from(s->profile, 0);
	struct hpcrun_value value;
	int r = 0;
	for (uint64_t i = 1; r == 0 && hpcrun_values_next(&v, &value); i++)
		r = i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled() ? PM_CANCELLED
								      : keep_value(s, &value);
	return r;
}

/* ---- the whole ---- */

static int keep_all(struct file_reading *s)
{
	size_t n = s->profile->n_epochs;
	int r = 0;
	s->epochs = calloc(n + 1, sizeof(*s->epochs));
	if (!s->epochs)
		return -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i++) {
		s->epochs[i].stored = &s->profile->epochs[i];
		r = keep_epoch(s, &s->epochs[i]);
	}
	if (r == 0)
		r = keep_values(s);
	for (size_t i = 0; i < n; i++) {
		hpcrun_shape_done(&s->epochs[i].shape);
		free(s->epochs[i].index);
	}
	free(s->epochs);
	return r;
}

int hpcrun_file_tree_read(struct hpcrun_file_tree *ret, struct hpcrun_folder *folder,
	const struct hpcrun_file *file, struct pm_damage_list *damage)
{
	*ret = (struct hpcrun_file_tree){.n_nodes = 0};
	struct hpcrun_report report = {.list = damage, .file = file->name};
	struct hpcrun_profile p = {.family = HPCRUN_FAMILY_NONE};
	struct file_reading s = {.file_tree = ret, .profile = &p, .report = &report};
	struct pm_input in = {.name = NULL};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	int r = hpcrun_file_open(folder, file, &in, &err);
	if (r == 0)
		hpcrun_file_use(&in, 0, in.bytes.len);
	if (r == 0)
		r = hpcrun_profile_read(&p, in.bytes, HPCRUN_ALL, &report, &err);
	if (r == 0)
		r = keep_all(&s);
	else if (!pm_is_passing(r))
		hpcrun_report_file(&report, file->size, &err);
	hpcrun_profile_done(&p);
	hpcrun_file_close(folder, &in);
	return pm_is_passing(r) ? r : 0;
}

void hpcrun_file_tree_done(struct hpcrun_file_tree *h)
{
	free(h->nodes);
	free(h->values);
	free(h->metrics);
	free(h->modules);
	pm_arena_done(&h->arena);
	*h = (struct hpcrun_file_tree){.n_nodes = 0};
}
