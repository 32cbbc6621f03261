/* Metrics merge by name: files may disagree on their periods and formats. */
#include "formats/hpcrun/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/hpcrun/names.h"

uint32_t hpcrun_metric_names_add(struct hpcrun_metric_names *n, struct pm_bytes name, uint8_t flags)
{
	n->names.arena = &n->arena;
	uint32_t known = n->names.n, index = pm_strtab_add(&n->names, name);
	if (index == PM_NONE)
		return PM_NONE;
	if (index < known) {
		n->flags[index] |= flags;
		return index;
	}
	if (pm_list_room(&n->flags, index, &n->room, sizeof(*n->flags)) < 0)
		return PM_NONE;
	n->flags[index] = flags;
	return index;
}

double hpcrun_cost(const struct hpcrun_crop_metric *metric, uint64_t bits)
{
	double value = metric->real ? pm_f64_of_bits(bits) : (double)bits;
	double cost = value * (double)metric->period;
	return isfinite(cost) ? cost : NAN;
}

/* The two metrics of the group. */
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

int hpcrun_metric_names_list(const struct hpcrun_metric_names *n, struct pm_arena *arena,
	struct pm_metrics *ret, uint32_t **ret_groups)
{
	uint32_t n_groups = 0, count = 0;
	for (uint32_t i = 0; i < n->names.n; i++)
		count += n->flags[i] & HPCRUN_METRIC_USED;
	uint32_t *groups = pm_arena_array(arena, (size_t)n->names.n + 1, sizeof(*groups));
	struct pm_metric *metrics = pm_arena_array(arena, 2 * (size_t)count + 1, sizeof(*metrics));
	int r = groups && metrics ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < n->names.n && r == 0; i++) {
		bool used = n->flags[i] & HPCRUN_METRIC_USED;
		groups[i] = used ? n_groups++ : PM_NONE;
		if (used)
			r = make_metrics(arena, metrics, groups[i], n->names.items[i]);
	}
	*ret = (struct pm_metrics){.n = 2 * n_groups, .metrics = metrics};
	*ret_groups = groups;
	return r;
}

void hpcrun_metric_names_done(struct hpcrun_metric_names *n)
{
	pm_strtab_done(&n->names);
	pm_arena_done(&n->arena);
	free(n->flags);
	*n = (struct hpcrun_metric_names){.flags = NULL};
}
