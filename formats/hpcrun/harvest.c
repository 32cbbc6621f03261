/*
 * From a profile's bytes to what the model needs of it. Everything that has to be reported about
 * this file is reported here, once.
 */
#include "formats/hpcrun/harvest.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/work.h"
#include "formats/hpcrun/dialect.h"
#include "formats/hpcrun/modules.h"
#include "formats/hpcrun/names.h"
#include "formats/hpcrun/shape.h"
#include "formats/hpcrun/stream.h"
#include "profmount/limits.h"

enum { BETWEEN_QUESTIONS = 1 << 12 };

/* An epoch being read: its position in the harvest's lists, and the index of its nodes. */
struct epoch {
	const struct hpcrun_epoch *stored;
	struct hpcrun_shape shape;
	uint32_t *index; /* position in the file → index in the harvest */
	size_t first_module, first_metric;
};

struct harvester {
	struct hpcrun_harvest *harvest;
	const struct hpcrun_profile *profile;
	const struct hpcrun_report *report;
	struct epoch *epochs; /* profile->n_epochs */
};

/* ---- names ---- */

static int keep_modules(struct hpcrun_harvest *h, const struct hpcrun_modules *modules)
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

static int keep_metrics(struct hpcrun_harvest *h, const struct hpcrun_metrics *metrics)
{
	for (size_t i = 0; i < metrics->n; i++) {
		const struct hpcrun_metric *from = &metrics->items[i];
		struct hpcrun_crop_metric metric = {.name = pm_arena_copy(&h->arena, from->name),
			.period = from->period,
			.moves = from->has_flags && from->move_to_proc,
			.real = hpcrun_value_is_real(from)};
		if (!metric.name.p ||
			pm_list_room(&h->metrics, h->n_metrics, &h->metrics_room, sizeof(metric)) <
				0)
			return -ENOMEM;
		h->metrics[h->n_metrics++] = metric;
	}
	return 0;
}

/* ---- nodes ---- */

static void report_node(const struct harvester *s, const struct epoch *e, uint32_t place,
	const struct hpcrun_node *node, const char *what)
{
	const struct hpcrun_nodes *nodes = &e->stored->nodes;
	hpcrun_report_loss(s->report, nodes->off + (uint64_t)place * nodes->size, nodes->size,
		"context %lld %s", (long long)node->id, what);
}

/* The position of the node, and what is wrong with it. */
static void locate(const struct harvester *s, const struct epoch *e, uint32_t place,
	const struct hpcrun_finder *finder, struct hpcrun_crop_node *ret)
{
	struct hpcrun_node node;
	hpcrun_node_decode(&e->stored->nodes, place, &node);
	uint32_t module = hpcrun_finder_find(finder, &node);
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

static int keep_nodes(
	const struct harvester *s, struct epoch *e, const struct hpcrun_finder *finder)
{
	struct hpcrun_harvest *h = s->harvest;
	size_t n = h->n_nodes + e->shape.n;
	if (n > PM_LIMIT_ITEMS ||
		(n > 0 && pm_list_room(&h->nodes, n - 1, &h->nodes_room, sizeof(*h->nodes)) < 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < e->shape.n; i++) {
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return -ENOMEM;
		uint32_t place = e->shape.order[i], parent = e->shape.parent[place];
		struct hpcrun_crop_node *node = &h->nodes[h->n_nodes];
		*node = (struct hpcrun_crop_node){
			.parent = parent == UINT32_MAX ? UINT32_MAX : e->index[parent],
			.number = e->shape.number[place]};
		locate(s, e, place, finder, node);
		e->index[place] = (uint32_t)h->n_nodes++;
	}
	return 0;
}

static int keep_epoch(const struct harvester *s, struct epoch *e)
{
	struct hpcrun_finder finder = {.modules = NULL};
	e->first_module = s->harvest->n_modules;
	e->first_metric = s->harvest->n_metrics;
	int r = keep_modules(s->harvest, &e->stored->modules);
	if (r == 0)
		r = keep_metrics(s->harvest, &e->stored->metrics);
	if (r == 0)
		r = hpcrun_shape_read(&e->shape, &e->stored->nodes, s->report);
	if (r == 0)
		r = hpcrun_finder_init(&finder, &e->stored->modules, e->stored->nodes.has_module);
	if (r == 0) {
		e->index = calloc((size_t)e->shape.n + 1, sizeof(*e->index));
		r = e->index ? keep_nodes(s, e, &finder) : -ENOMEM;
	}
	hpcrun_finder_done(&finder);
	return r;
}

/* ---- values ---- */

/* The node's index in the harvest, or UINT32_MAX. */
static uint32_t node_of(const struct epoch *e, const struct hpcrun_value *v)
{
	if (v->node != UINT64_MAX)
		return e->index[v->node];
	uint32_t place = hpcrun_numbers_find(&e->shape.by_number, hpcrun_node_number(v->node_id));
	return place != UINT32_MAX ? e->index[place] : UINT32_MAX;
}

static int keep_value(const struct harvester *s, const struct hpcrun_value *v)
{
	struct hpcrun_harvest *h = s->harvest;
	const struct epoch *e = &s->epochs[v->epoch];
	struct hpcrun_crop_value value = {.bits = v->bits,
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

static int keep_values(const struct harvester *s)
{
	struct hpcrun_values v = hpcrun_values_from(s->profile, 0);
	struct hpcrun_value value;
	int r = 0;
	for (uint64_t i = 1; r == 0 && hpcrun_values_next(&v, &value); i++)
		r = i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled() ? -ENOMEM
								      : keep_value(s, &value);
	return r;
}

/* ---- the whole ---- */

static int keep_all(struct harvester *s)
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

int hpcrun_harvest_read(struct hpcrun_harvest *ret, struct hpcrun_folder *folder,
	const struct hpcrun_file *file, struct pm_damage_list *damage)
{
	*ret = (struct hpcrun_harvest){.n_nodes = 0};
	struct hpcrun_report report = {.list = damage, .file = file->name};
	struct hpcrun_profile p = {.family = HPCRUN_FAMILY_NONE};
	struct harvester s = {.harvest = ret, .profile = &p, .report = &report};
	struct pm_input in = {.name = NULL};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	int r = hpcrun_file_open(folder, file, &in, &err);
	if (r == 0)
		hpcrun_file_use(&in, 0, in.bytes.len);
	if (r == 0)
		r = hpcrun_profile_read(&p, in.bytes, HPCRUN_ALL, &report, &err);
	if (r == 0)
		r = keep_all(&s);
	else if (r != -ENOMEM)
		hpcrun_report_file(&report, file->size, &err);
	hpcrun_profile_done(&p);
	hpcrun_file_close(folder, &in);
	return r == -ENOMEM ? r : 0;
}

void hpcrun_harvest_done(struct hpcrun_harvest *h)
{
	free(h->nodes);
	free(h->values);
	free(h->metrics);
	free(h->modules);
	pm_arena_done(&h->arena);
	*h = (struct hpcrun_harvest){.n_nodes = 0};
}
