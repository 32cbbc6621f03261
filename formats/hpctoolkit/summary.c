/* Costs of the whole run, and values of contexts that cct.db lacks. */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <math.h>

#include "formats/common/list.h"
#include "formats/common/search.h"

/*
 * ==== values of all threads by context ====
 * Values of profile.db by context, for contexts whose block in cct.db is missing or broken.
 * Computed on first need, for all contexts at once, because searching for each in every thread
 * would take contexts × threads. 24 bytes for each context of each thread.
 */

/*
 * The runs of one thread, up to the first that is out of order; for now `before` is their length.
 */
static void thread_add(struct pm_arena *a, struct hpctk_gathered *g, size_t *room,
	const struct hpctk_block *block, uint32_t thread)
{
	uint64_t reach = 0;
	for (uint32_t i = 0; i < block->n_index; i++) {
		struct hpctk_run run;
		if (hpctk_block_run(block, i, &run, NULL) < 0 || run.first < reach)
			break;
		reach = run.end;
		if (run.first == run.end)
			continue;
		pm_list_grow(a, &g->runs, g->n, room, sizeof(*g->runs));
		g->runs[g->n++] = (struct hpctk_gathered_run){.number = run.key,
			.thread = thread,
			.entry = i,
			.before = run.end - run.first};
	}
}

/* Sorts by 16 bits of the number; stable. */
static void sort_pass(const struct hpctk_gathered_run *from, struct hpctk_gathered_run *to,
	size_t n, unsigned shift, size_t *at)
{
	memset(at, 0, ((size_t)UINT16_MAX + 2) * sizeof(*at));
	for (size_t i = 0; i < n; i++)
		at[(from[i].number >> shift & UINT16_MAX) + 1]++;
	for (size_t k = 0; k <= UINT16_MAX; k++)
		at[k + 1] += at[k];
	for (size_t i = 0; i < n; i++)
		to[at[from[i].number >> shift & UINT16_MAX]++] = from[i];
}

static void gather(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = opened;
	struct hpctk_gathered *g = part;
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct hpctk_threads *threads;
	size_t room = 0;
	pm_build_check(a, hpctk_threads_get(db, &threads, err));
	for (uint32_t t = 0; t < threads->list.n; t++) {
		struct hpctk_block block;
		pm_build_proceed(a);
		pm_build_check(
			a, hpctk_profile_block(db, threads->list.threads[t].id, &block, err));
		thread_add(a, g, &room, &block, t);
	}
	size_t *at = pm_arena_array(scratch, (size_t)UINT16_MAX + 2, sizeof(*at));
	struct hpctk_gathered_run *other = pm_arena_array(scratch, g->n, sizeof(*other));
	sort_pass(g->runs, other, g->n, 0, at);
	sort_pass(other, g->runs, g->n, 16, at);
	pm_arena_done(scratch);
	uint64_t before = 0;
	for (size_t i = 0; i < g->n; i++) {
		uint64_t own = g->runs[i].before;
		if (i > 0 && g->runs[i].number != g->runs[i - 1].number)
			before = 0;
		g->runs[i].before = before;
		before += own;
	}
}

int hpctk_gathered_get(
	const struct hpctk_opened *db, const struct hpctk_gathered **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct hpctk_gathered),
		.build = gather,
		.what = "the values of contexts"};
	struct hpctk_opened *own = hpctk_opened_of(db->profile);
	return pm_part_get(&own->gathered, &type, own, ret, err);
}

static size_t first_from(const struct hpctk_gathered *g, uint64_t number)
{
	return PM_LOWER_BOUND(i, 0, g->n, g->runs[i].number < number);
}

const struct hpctk_gathered_run *hpctk_gathered_of(
	const struct hpctk_gathered *g, uint64_t number, size_t *ret_n)
{
	size_t first = first_from(g, number);
	*ret_n = 0;
	if (number > UINT32_MAX)
		return NULL;
	*ret_n = first_from(g, number + 1) - first;
	return g->runs ? &g->runs[first] : NULL;
}

int hpctk_gathered_open(const struct hpctk_opened *db, const struct hpctk_threads *threads,
	const struct hpctk_gathered_run *run, struct hpctk_block *block, struct hpctk_run *ret,
	struct pm_error *err)
{
	int r = hpctk_profile_block(db, threads->list.threads[run->thread].id, block, err);
	return r < 0 ? r : hpctk_block_run(block, run->entry, ret, err);
}

/*
 * ==== the run ====
 * Costs of the whole run: the sums of the summary. Sums that it lacks are computed from the
 * context's block in cct.db, or, if that is missing or damaged, from the threads.
 * Values are read in place.
 */

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

int hpctk_run_cost(const struct hpctk_run_reader *r, uint32_t number, uint32_t entry,
	uint32_t quantity, double *ret)
{
	struct pm_value value;
	struct costs c = {.metrics = r->metrics, .values = &value, .room = 1, .only = quantity};
	int status = 0;
	costs_from_summary(r, number, entry, &c);
	if (c.n == 0 && costs_from_cct(r, number, &c) < 0)
		status = costs_from_threads(r, number, &c, NULL);
	*ret = status == 0 && c.n ? value.f : NAN;
	return pm_is_passing(status) ? status : 0;
}
