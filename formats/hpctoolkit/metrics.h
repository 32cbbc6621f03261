/* The metrics section of meta.db: the meaning of values in profiles and in the summary. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_METRICS_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_METRICS_H

#include "formats/hpctoolkit/parts.h"

/* A metric in one propagation scope. Profiles store its values under `prop_id`. */
struct hpctk_quantity {
	uint32_t metric;      /* index in the database */
	uint32_t prop_id;     /* HPCTK_NONE: named by summaries only */
	uint32_t sum_id;      /* summary statistic: sum of the values; HPCTK_NONE: there is none */
	uint32_t scope_type;  /* HPCTK_NONE: not stored */
	uint32_t propagation; /* HPCTK_NONE: not stored */
	uint32_t n_summaries;
	struct pm_bytes name, scope;
};

/* A statistic that the summary profile stores under `stat_id`. */
struct hpctk_summary {
	uint32_t quantity; /* index */
	uint32_t combine;  /* 0 sum, 1 min, 2 max */
	uint32_t stat_id;  /* HPCTK_NONE: a quantity without any statistic */
	struct pm_bytes formula;
};

struct hpctk_metrics {
	uint32_t n_metrics;
	struct hpctk_quantity *quantities; /* database order: adjacent for one metric */
	size_t n_quantities, quantity_room;
	struct hpctk_summary *summaries; /* database order, each quantity at least once */
	size_t n_summaries, summary_room;
	/* HPCTK_N_IDS of each: quantity + 1, or 0, so that ids without one take no memory. */
	uint32_t *of_prop, *of_sum;
	struct pm_damage_list damage; /* found while reading them */
};

#define HPCTK_N_IDS 0x10000u /* metric ids have 16 bits */

/* The quantity of a prop_id or sum_id below HPCTK_N_IDS; HPCTK_NONE for others. */
static inline uint32_t hpctk_quantity_of_prop(const struct hpctk_metrics *m, uint32_t id)
{
	return m->of_prop[id] - 1;
}

static inline uint32_t hpctk_quantity_of_sum(const struct hpctk_metrics *m, uint32_t id)
{
	return m->of_sum[id] - 1;
}

/* Read on first need; lives as long as the database. */
int hpctk_metrics_get(
	struct hpctk_opened *db, const struct hpctk_metrics **ret, struct pm_error *err);

#endif
