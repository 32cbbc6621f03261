/*
 * Costs of the whole run: the sums of the summary. Sums that it lacks are computed from the
 * context's block in cct.db, or, if that is missing or damaged, from the threads (gathered.h).
 * Values are read in place.
 */
#include "formats/hpctoolkit/summary.h"

#include <math.h>

#include "formats/hpctoolkit/gathered.h"

int hpctk_run_reader_init(struct hpctk_run_reader *r, struct hpctk_opened *db, struct pm_error *err)
{
	*r = (struct hpctk_run_reader){.db = db, .summary.layout = &db->layout};
	int status = hpctk_metrics_get(db, &r->metrics, err);
	if (status == 0)
		status = hpctk_threads_get(db, &r->threads, err);
	if (status < 0)
		return status;
	if (r->threads->summary != PM_NONE &&
		hpctk_profile_block(db, r->threads->summary, &r->summary, NULL) < 0)
		r->summary = (struct hpctk_block){.layout = &db->layout};
	return 0;
}

uint32_t hpctk_run_find(const struct hpctk_run_reader *r, uint32_t number, uint32_t *next)
{
	return hpctk_block_find(&r->summary, number, next);
}

/* Costs of one context while they are collected, in database order of their metrics. */
struct costs {
	const struct hpctk_metrics *metrics;
	struct pm_value *values;
	size_t n, room;
	uint32_t only; /* the only wanted quantity, or HPCTK_NONE */
};

/* While a sum is being computed it has a thread; when it is complete, it is of the whole run. */
enum { ADDING = 0 };

/*
 * The entry for the cost of a quantity, added as `fresh` if there is none; NULL if it is not
 * wanted.
 */
static struct pm_value *cost_put(struct costs *c, uint32_t quantity, const struct pm_value *fresh)
{
	size_t at = c->n;
	if (c->only != HPCTK_NONE && quantity != c->only)
		return NULL;
	while (at > 0 && hpctk_quantity_of_prop(c->metrics, c->values[at - 1].metric) > quantity)
		at--;
	if (at > 0 && hpctk_quantity_of_prop(c->metrics, c->values[at - 1].metric) == quantity)
		return &c->values[at - 1];
	if (c->n == c->room)
		return NULL;
	memmove(&c->values[at + 1], &c->values[at], (c->n - at) * sizeof(*c->values));
	c->values[at] = *fresh;
	c->n++;
	return &c->values[at];
}

static void costs_from_summary(
	const struct hpctk_run_reader *r, uint64_t number, uint32_t entry, struct costs *c)
{
	struct hpctk_run run;
	if (entry >= r->summary.n_index || hpctk_block_run(&r->summary, entry, &run, NULL) < 0)
		return;
	for (uint64_t v = run.first; v < run.end; v++) {
		struct hpctk_block_value value = hpctk_block_value(&r->summary, v);
		uint32_t quantity = hpctk_quantity_of_sum(r->metrics, value.sub);
		if (quantity == HPCTK_NONE ||
			r->metrics->quantities[quantity].prop_id == HPCTK_NONE)
			continue;
		struct pm_value fresh = {.context = number,
			.metric = r->metrics->quantities[quantity].prop_id,
			.thread = PM_NONE,
			.f = value.value};
		cost_put(c, quantity, &fresh);
	}
}

/* The entry in which the values of a metric are added up; NULL if the summary has the sum. */
static struct pm_value *sum_of(struct costs *c, uint64_t number, uint32_t prop_id)
{
	uint32_t quantity = hpctk_quantity_of_prop(c->metrics, prop_id);
	struct pm_value fresh = {.context = number, .metric = prop_id, .thread = ADDING};
	struct pm_value *sum = quantity == HPCTK_NONE ? NULL : cost_put(c, quantity, &fresh);
	return sum && sum->thread == ADDING ? sum : NULL;
}

static int costs_from_cct(const struct hpctk_run_reader *r, uint64_t number, struct costs *c)
{
	struct hpctk_block block;
	struct hpctk_run run;
	int status = hpctk_context_block(r->db, number, &block, NULL);
	for (uint32_t i = 0; i < block.n_index && status == 0; i++) {
		status = hpctk_block_run(&block, i, &run, NULL);
		struct pm_value *sum = NULL;
		if (status == 0 && run.first < run.end && run.key < HPCTK_N_IDS)
			sum = sum_of(c, number, run.key);
		for (uint64_t v = run.first; sum && v < run.end; v++)
			sum->f += hpctk_block_value(&block, v).value;
	}
	return status;
}

static int costs_from_threads(
	const struct hpctk_run_reader *r, uint64_t number, struct costs *c, struct pm_error *err)
{
	const struct hpctk_gathered *gathered;
	size_t n = 0;
	int status = hpctk_gathered_get(r->db, &gathered, err);
	const struct hpctk_gathered_run *runs =
		status == 0 ? hpctk_gathered_of(gathered, number, &n) : NULL;
	for (size_t i = 0; i < n && status == 0; i++) {
		struct hpctk_block block;
		struct hpctk_run run;
		status = hpctk_gathered_open(r->db, r->threads, &runs[i], &block, &run, err);
		for (uint64_t v = run.first; status == 0 && v < run.end; v++) {
			struct hpctk_block_value value = hpctk_block_value(&block, v);
			struct pm_value *sum = sum_of(c, number, value.sub);
			if (sum)
				sum->f += value.value;
		}
	}
	return status;
}

int64_t hpctk_run_all(const struct hpctk_run_reader *r, uint32_t number, uint32_t entry,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct costs c = {.metrics = r->metrics, .values = ret, .room = room, .only = HPCTK_NONE};
	costs_from_summary(r, number, entry, &c);
	int status = costs_from_cct(r, number, &c);
	if (status < 0)
		status = costs_from_threads(r, number, &c, err);
	for (size_t i = 0; i < c.n; i++)
		c.values[i].thread = PM_NONE;
	return status < 0 ? status : (int64_t)c.n;
}

double hpctk_run_cost(
	const struct hpctk_run_reader *r, uint32_t number, uint32_t entry, uint32_t quantity)
{
	struct pm_value value;
	struct costs c = {.metrics = r->metrics, .values = &value, .room = 1, .only = quantity};
	costs_from_summary(r, number, entry, &c);
	if (c.n == 0 && costs_from_cct(r, number, &c) < 0 &&
		costs_from_threads(r, number, &c, NULL) < 0)
		return NAN;
	return c.n ? value.f : NAN;
}
