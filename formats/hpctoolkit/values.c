/*
 * Reads costs straight from the value blocks. Nothing is kept: a context's place in the summary is
 * remembered by the tree, a context's block in cct.db is found by its number, a context in a
 * thread's block by binary search.
 *
 * Costs of the whole run are the summary's sums; what the summary lacks is added up over threads.
 * Where a context's block in cct.db is missing or broken, profile.db holds the same values.
 */
#include "formats/hpctoolkit/values.h"

#include <math.h>

#include "formats/hpctoolkit/contexts.h"

/* ---- the whole run ---- */

int hpctk_run_reader_init(struct hpctk_run_reader *r, struct hpctk_db *db, struct pm_error *err)
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

uint32_t hpctk_run_find(const struct hpctk_run_reader *r, uint32_t number)
{
	return hpctk_block_find(&r->summary, number);
}

/* Costs of one context as they come together, in database order of their metrics. */
struct costs {
	const struct hpctk_metrics *metrics;
	struct pm_value *values;
	size_t n, room;
	uint32_t only; /* quantity that alone is wanted, or HPCTK_NONE */
};

/* A sum that is being added up has a thread; once it is complete it is of the whole run. */
enum { ADDING = 0 };

/* The place of a quantity's cost, made with `fresh` where it has none; NULL where nobody wants it.
 */
static struct pm_value *cost_put(struct costs *c, uint32_t quantity, const struct pm_value *fresh)
{
	size_t at = c->n;
	if (c->only != HPCTK_NONE && quantity != c->only)
		return NULL;
	while (at > 0 && c->metrics->of_prop[c->values[at - 1].metric] > quantity)
		at--;
	if (at > 0 && c->metrics->of_prop[c->values[at - 1].metric] == quantity)
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
		uint32_t quantity = r->metrics->of_sum[value.sub];
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

/* Where the values of a metric are added up; NULL where the summary has its sum. */
static struct pm_value *sum_of(struct costs *c, uint64_t number, uint32_t prop_id)
{
	uint32_t quantity = c->metrics->of_prop[prop_id];
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

/* The context's values in a thread's block; false where it has none. */
static bool run_in_thread(const struct hpctk_block *block, uint64_t number, struct hpctk_run *ret)
{
	uint32_t i = number <= UINT32_MAX ? hpctk_block_find(block, (uint32_t)number) : HPCTK_NONE;
	return i != HPCTK_NONE && hpctk_block_run(block, i, ret, NULL) == 0;
}

static int costs_from_threads(
	const struct hpctk_run_reader *r, uint64_t number, struct costs *c, struct pm_error *err)
{
	for (uint32_t t = 0; t < r->threads->list.n; t++) {
		struct hpctk_block block;
		struct hpctk_run run;
		int status =
			hpctk_profile_block(r->db, r->threads->list.threads[t].id, &block, err);
		if (status < 0)
			return status;
		if (!run_in_thread(&block, number, &run))
			continue;
		for (uint64_t v = run.first; v < run.end; v++) {
			struct hpctk_block_value value = hpctk_block_value(&block, v);
			struct pm_value *sum = sum_of(c, number, value.sub);
			if (sum)
				sum->f += value.value;
		}
	}
	return 0;
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

int64_t hpctk_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct hpctk_db *db = hpctk_db_of(p);
	const struct hpctk_tree *tree;
	struct hpctk_run_reader reader;
	int r = hpctk_tree_get(db, &tree, err);
	if (r == 0)
		r = hpctk_run_reader_init(&reader, db, err);
	return r < 0 ? r
		     : hpctk_run_all(&reader, tree->tree->number[context],
			       tree->in_summary[context], ret, room, err);
}

/* ---- threads and contexts ---- */

int64_t hpctk_thread_costs(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct hpctk_db *db = hpctk_db_of(p);
	const struct hpctk_threads *threads;
	struct hpctk_block block;
	struct hpctk_run run;
	size_t n = 0;
	int r = hpctk_threads_get(db, &threads, err);
	if (r == 0)
		r = hpctk_profile_block(db, threads->list.threads[thread].id, &block, err);
	if (r < 0)
		return r;
	if (first >= block.n_values)
		return 0;
	for (uint32_t i = hpctk_block_entry_of(&block, first); i < block.n_index && n < room; i++) {
		r = hpctk_block_run(&block, i, &run, err);
		if (r < 0)
			return r;
		for (; first < run.end && n < room; first++) {
			struct hpctk_block_value value = hpctk_block_value(&block, first);
			ret[n++] = (struct pm_value){.context = run.key,
				.metric = value.sub,
				.thread = thread,
				.f = value.value};
		}
	}
	return (int64_t)n;
}

static int64_t values_from_cct(const struct hpctk_db *db, const struct hpctk_threads *threads,
	const struct hpctk_block *block, uint64_t number, uint64_t first, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct hpctk_run run;
	size_t n = 0;
	if (first >= block->n_values)
		return 0;
	for (uint32_t i = hpctk_block_entry_of(block, first); i < block->n_index && n < room; i++) {
		int r = hpctk_block_run(block, i, &run, err);
		if (r < 0)
			return r;
		for (; first < run.end && n < room; first++) {
			struct hpctk_block_value value = hpctk_block_value(block, first);
			uint32_t thread = hpctk_thread_of(db, threads, value.sub);
			if (thread == PM_NONE)
				return pm_error_set(err, -EINVAL, "cct.db", block->values_at,
					"context %llu has a value of profile %u, which is no thread",
					(unsigned long long)number, value.sub);
			ret[n++] = (struct pm_value){.context = number,
				.metric = run.key,
				.thread = thread,
				.f = value.value};
		}
	}
	return (int64_t)n;
}

static int64_t values_from_threads(const struct hpctk_db *db, const struct hpctk_threads *threads,
	uint64_t number, uint64_t first, struct pm_value *ret, size_t room, struct pm_error *err)
{
	uint64_t before = 0; /* values of threads that have been passed */
	size_t n = 0;
	for (uint32_t t = 0; t < threads->list.n && n < room; t++) {
		struct hpctk_block block;
		struct hpctk_run run;
		int r = hpctk_profile_block(db, threads->list.threads[t].id, &block, err);
		if (r < 0)
			return r;
		if (!run_in_thread(&block, number, &run))
			continue;
		uint64_t length = run.end - run.first;
		for (uint64_t i = first + n - before; i < length && n < room; i++) {
			struct hpctk_block_value value = hpctk_block_value(&block, run.first + i);
			ret[n++] = (struct pm_value){.context = number,
				.metric = value.sub,
				.thread = t,
				.f = value.value};
		}
		before += length;
	}
	return (int64_t)n;
}

int64_t hpctk_context_costs(const struct pm_profile *p, uint64_t number, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct hpctk_db *db = hpctk_db_of(p);
	const struct hpctk_threads *threads;
	struct hpctk_block block;
	int r = hpctk_threads_get(db, &threads, err);
	if (r < 0)
		return r;
	r = hpctk_context_block(db, number, &block, NULL);
	if (r == 0)
		return values_from_cct(db, threads, &block, number, first, ret, room, err);
	if (r == -ENOMEM)
		return pm_error_plain(err, r);
	return values_from_threads(db, threads, number, first, ret, room, err);
}
