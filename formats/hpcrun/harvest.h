/*
 * The contribution of one profile to the merged tree, in compact arrays that do not refer to the
 * file, which is closed again.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_HARVEST_H
#define PROFMOUNT_FORMATS_HPCRUN_HARVEST_H

#include "formats/common/arena.h"
#include "formats/hpcrun/damage.h"
#include "formats/hpcrun/folder.h"
#include "formats/hpcrun/place.h"

struct hpcrun_crop_node {
	struct hpcrun_place place; /* `module` is an index of the harvest's modules */
	uint32_t parent;           /* index of an earlier node, or UINT32_MAX */
	uint32_t number;           /* number used in traces; 0 = none */
};

struct hpcrun_crop_value {
	uint64_t bits;
	uint32_t node, metric; /* indexes */
};

struct hpcrun_crop_metric {
	struct pm_bytes name;
	uint64_t period;
	bool real;
	bool moves; /* see HPCRUN_METRIC_MOVES */
};

struct hpcrun_harvest {
	struct hpcrun_crop_node *nodes;   /* of all epochs */
	struct hpcrun_crop_value *values; /* in stored order, those of known nodes and metrics */
	struct hpcrun_crop_metric *metrics;
	struct pm_bytes *modules; /* names */
	size_t n_nodes, n_values, n_metrics, n_modules;
	size_t nodes_room, values_room, metrics_room, modules_room;
	struct pm_arena arena; /* of names */
};

/*
 * Reads a whole file; an unreadable file gives an empty result. Losses are reported in `damage`,
 * unless it is NULL. 0 or -ENOMEM.
 */
int hpcrun_harvest_read(struct hpcrun_harvest *ret, struct hpcrun_folder *folder,
	const struct hpcrun_file *file, struct pm_damage_list *damage);

/* Accepts a zeroed one. */
void hpcrun_harvest_done(struct hpcrun_harvest *h);

#endif
