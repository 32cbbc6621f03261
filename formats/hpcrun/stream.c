/*
 * Iterates over the metric values of a profile, in stored order, without zeros. Positions are plain
 * numbers, so a table of values can be entered anywhere: epochs number all cells of all nodes,
 * sections number value records.
 */
#include "formats/hpcrun/stream.h"

const struct hpcrun_metric *hpcrun_value_metric(
	const struct hpcrun_profile *p, const struct hpcrun_value *v)
{
	const struct hpcrun_metrics *metrics = &p->epochs[v->epoch].metrics;
	return v->metric < metrics->n ? &metrics->items[v->metric] : NULL;
}

/* ---- epochs ---- */

static uint64_t cells_of(const struct hpcrun_epoch *e)
{
	return e->nodes.n * e->nodes.n_values;
}

static bool next_in_epochs(struct hpcrun_values *v, struct hpcrun_value *ret)
{
	const struct hpcrun_profile *p = v->profile;
	while (v->epoch < p->n_epochs) {
		const struct hpcrun_nodes *nodes = &p->epochs[v->epoch].nodes;
		uint64_t cells = cells_of(&p->epochs[v->epoch]);
		if (v->at - v->before >= cells) {
			v->before += cells;
			v->epoch++;
			continue;
		}
		uint64_t cell = v->at++ - v->before;
		uint64_t node = cell / nodes->n_values;
		size_t metric = (size_t)(cell % nodes->n_values);
		uint64_t bits = hpcrun_node_value(nodes, node, metric);
		if (bits == 0)
			continue;
		struct hpcrun_node record;
		hpcrun_node_decode(nodes, node, &record);
		*ret = (struct hpcrun_value){.epoch = v->epoch,
			.node_id = record.id,
			.node = node,
			.metric = (uint32_t)metric,
			.bits = bits,
			.off = nodes->off + (node + 1) * nodes->size -
				8 * (nodes->n_values - metric)};
		return true;
	}
	return false;
}

/* ---- sections ---- */

static bool next_in_blocks(struct hpcrun_values *v, struct hpcrun_value *ret)
{
	const struct hpcrun_sparse *s = &v->profile->sparse;
	uint64_t start, end;
	while (v->block < s->n_blocks) {
		bool sound = hpcrun_block_range(s, v->block, v->covered, &start, &end);
		if (sound && v->at < start)
			v->at = start;
		if (!sound || v->at >= end) {
			v->covered = sound ? end : v->covered;
			v->block++;
			continue;
		}
		const uint8_t *value = pm_bytes_row(s->values, v->at, HPCRUN_VALUE_SIZE);
		*ret = (struct hpcrun_value){
			.node_id = pm_be32(pm_bytes_row(s->index, v->block, HPCRUN_BLOCK_SIZE)),
			.node = UINT64_MAX,
			.metric = pm_be16(value + 8),
			.bits = pm_be64(value),
			.off = s->values_off + v->at * HPCRUN_VALUE_SIZE};
		v->at++;
		if (ret->bits != 0)
			return true;
	}
	return false;
}

struct hpcrun_values hpcrun_values_from(const struct hpcrun_profile *p, uint64_t at)
{
	return (struct hpcrun_values){.profile = p, .at = at};
}

bool hpcrun_values_next(struct hpcrun_values *v, struct hpcrun_value *ret)
{
	if (v->profile->family == HPCRUN_FAMILY_SECTIONS)
		return next_in_blocks(v, ret);
	return next_in_epochs(v, ret);
}
