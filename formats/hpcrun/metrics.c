/*
 * Metrics merge by name. What a value of a file costs depends on its metric's period and format
 * too: files that mean the same share a scale.
 */
#include "formats/hpcrun/metrics.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/hpcrun/names.h"

uint32_t hpcrun_metric_names_scale(
	struct hpcrun_metric_names *n, const struct hpcrun_crop_metric *metric)
{
	n->names.arena = n->keys.arena = &n->arena;
	struct {
		uint64_t period;
		uint32_t name, real;
	} key = {metric->period, pm_strtab_add(&n->names, metric->name), metric->real};
	uint32_t known = n->keys.n;
	uint32_t scale =
		pm_strtab_add(&n->keys, (struct pm_bytes){(const uint8_t *)&key, sizeof(key)});
	if (key.name == PM_NONE || scale == PM_NONE || scale < known)
		return key.name == PM_NONE ? PM_NONE : scale;
	if (pm_list_room(&n->scales, scale, &n->room, sizeof(*n->scales)) < 0)
		return PM_NONE;
	n->scales[scale] = (struct hpcrun_scale){
		.group = key.name, .real = metric->real, .period = metric->period};
	return scale;
}

/* The group's two metrics. */
static int make_metrics(
	struct pm_arena *arena, struct pm_metric *metrics, uint32_t group, struct pm_bytes name)
{
	struct pm_metric metric = {.id = 2 * group,
		.group = group,
		.role = PM_ROLE_EXCLUSIVE,
		.in_tree = true,
		.in_flat = true,
		.has_values = true,
		.name = pm_arena_copy(arena, name),
		.scope = pm_bytes_of("exclusive")};
	if (!metric.name.p)
		return -ENOMEM;
	metric.unit = hpcrun_metric_unit(metric.name);
	metrics[metric.id] = metric;
	metric.id++;
	metric.role = PM_ROLE_INCLUSIVE;
	metric.scope = pm_bytes_of("inclusive");
	metrics[metric.id] = metric;
	return 0;
}

/* By name: its group, or PM_NONE where no value is stored. */
static uint32_t *number_groups(
	struct hpcrun_metric_names *n, const bool *used, uint32_t *ret_n_groups)
{
	uint32_t *groups = malloc(((size_t)n->names.n + 1) * sizeof(*groups));
	if (!groups)
		return NULL;
	*ret_n_groups = 0;
	for (uint32_t i = 0; i < n->names.n; i++)
		groups[i] = PM_NONE;
	for (uint32_t i = 0; i < n->keys.n; i++)
		if (used[i])
			groups[n->scales[i].group] = 0;
	for (uint32_t i = 0; i < n->names.n; i++)
		if (groups[i] != PM_NONE)
			groups[i] = (*ret_n_groups)++;
	for (uint32_t i = 0; i < n->keys.n; i++)
		n->scales[i].group = groups[n->scales[i].group];
	return groups;
}

int hpcrun_metric_names_list(struct hpcrun_metric_names *n, const bool *used,
	struct pm_arena *arena, struct pm_metrics *ret)
{
	uint32_t n_groups = 0, *groups = number_groups(n, used, &n_groups);
	struct pm_metric *metrics =
		pm_arena_array(arena, 2 * (size_t)n_groups + 1, sizeof(*metrics));
	int r = groups && metrics ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < n->names.n && r == 0; i++)
		if (groups[i] != PM_NONE)
			r = make_metrics(arena, metrics, groups[i], n->names.items[i]);
	*ret = (struct pm_metrics){.n = 2 * n_groups, .metrics = metrics};
	free(groups);
	return r;
}

void hpcrun_metric_names_done(struct hpcrun_metric_names *n)
{
	pm_strtab_done(&n->names);
	pm_strtab_done(&n->keys);
	pm_arena_done(&n->arena);
	free(n->scales);
}
