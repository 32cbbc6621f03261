#include "fs/views/sums/efficiency.h"

#include <math.h>
#include <string.h>

#include "formats/common/quantity.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/peers.h"
#include "fs/views/sums/rollups.h"
#include "fs/views/sums/threads.h"

struct adding {
	const struct pm_threads *threads;
	struct pmfs_thread_categories costs;
	double unit_ns;
	uint32_t time; /* the column */
	const struct pmfs_peers *peers;
	uint64_t *main;  /* by rank: the number of its main thread so far */
	double *outside; /* by rank: of that thread; NaN: none so far */
};

/* In ns, of the exclusive time on processors that leads; 0: there is none. */
static double time_unit(const struct pmfs_columns *c, uint32_t *ret_column)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct pmfs_column *column = &c->columns[i];
		const struct pm_metric *metric = column->flat ? column->flat : column->tree;
		*ret_column = i;
		if (column->role == PM_ROLE_EXCLUSIVE &&
			pm_quantity_of(metric->name, metric->unit) == PM_QUANTITY_TIME)
			return pm_unit_ns(metric->unit);
	}
	return 0;
}

static bool is_sampled(const struct pm_profile *p)
{
	return pm_profile_has(p, span) && pm_profile_has(p, threads) &&
		strcmp(pm_profile_kind_of_tree(p), "samples") == 0;
}

int pmfs_efficiency_may_apply(struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	if (!is_sampled(p))
		return 0;
	if (!p->ops->has)
		return pmfs_efficiency_applies(m, err);
	int r = p->ops->has(p, PM_HAS_TRACES, err); /* the duration is theirs */
	return r <= 0 ? r : p->ops->has(p, PM_HAS_TIMES, err);
}

int pmfs_efficiency_applies(struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pmfs_columns *c;
	uint64_t origin, duration = PM_NO_TIME;
	uint32_t column;
	int r = is_sampled(p) ? pm_profile_span(p, &origin, &duration, err) : 0;
	if (r < 0 || duration == PM_NO_TIME || duration == 0 ||
		(r = pmfs_model_columns(m, &c, err)) < 0)
		return r;
	return time_unit(c, &column) > 0;
}

/* ---- a thread ---- */

static double time_in(const struct adding *a, enum pmfs_category category)
{
	double time = a->costs.cells[category * a->costs.columns->n + a->time];
	return isnan(time) ? 0 : time * a->unit_ns;
}

/* The main thread of a rank is the one with the lowest number. */
static void add_to_rank(struct adding *a, uint32_t thread, double outside)
{
	const struct pm_thread *t = &a->threads->threads[thread];
	uint32_t rank = a->peers->rank[thread];
	uint64_t number = 0;
	if (rank == PM_NONE)
		return;
	for (uint32_t i = 0; i < t->n_identity; i++)
		if (strcmp(a->threads->keys[t->identity[i].key], "thread") == 0)
			number = t->identity[i].value;
	if (isnan(a->outside[rank]) || number < a->main[rank]) {
		a->main[rank] = number;
		a->outside[rank] = outside;
	}
}

static void add_thread(struct adding *a, uint32_t thread, struct pmfs_efficiency *ret)
{
	double all = 0, useful;
	for (unsigned i = 0; i < PMFS_N_CATEGORIES; i++)
		all += time_in(a, (enum pmfs_category)i);
	if (!(all > 0))
		return;
	useful = all - time_in(a, PMFS_MPI) - time_in(a, PMFS_OPENMP) - time_in(a, PMFS_THREAD) -
		time_in(a, PMFS_IDLE) - time_in(a, PMFS_GPU);
	ret->threads++;
	ret->useful_ns += useful;
	ret->most_useful_ns = fmax(ret->most_useful_ns, useful);
	ret->duration_ns = fmax(ret->duration_ns, all);
	add_to_rank(a, thread, all - time_in(a, PMFS_MPI) - time_in(a, PMFS_IDLE));
}

/* ---- all of them ---- */

static void build_efficiency(struct pm_arena *arena, void *m, void *p, struct pm_error *err)
{
	struct pmfs_efficiency *ret = p;
	struct adding a = {.unit_ns = 0};
	uint64_t origin, duration;
	double outside = 0;
	int applies = pmfs_efficiency_applies(m, err);
	pm_build_check(arena, applies);
	if (applies == 0)
		return;
	pm_build_check(arena, pm_profile_span(pmfs_model_profile(m), &origin, &duration, err));
	pm_build_check(arena, pmfs_model_threads(m, &a.threads, err));
	pm_build_check(arena, pmfs_peers(m, &a.peers, err));
	pmfs_thread_categories_start(arena, &a.costs, m, err);
	size_t n_ranks = a.peers->n_ranks;
	a.unit_ns = time_unit(a.costs.columns, &a.time);
	a.main = pm_arena_array(arena, n_ranks + 1, sizeof(*a.main));
	a.outside = pm_arena_array(arena, n_ranks + 1, sizeof(*a.outside));
	ret->duration_ns = (double)duration;
	for (uint32_t i = 0; i < n_ranks; i++)
		a.outside[i] = NAN;
	for (uint32_t i = 0; i < a.threads->n; i++) {
		struct pm_error why = {.offset = PM_NO_OFFSET};
		if (a.threads->threads[i].is_lane)
			continue;
		int r = pmfs_thread_categories_read(&a.costs, i, &why);
		if (r == 0)
			add_thread(&a, i, ret);
		pm_build_check(arena, pmfs_unless_unreadable(r, &why, err)); /* damage.csv says */
	}
	for (uint32_t i = 0; i < n_ranks; i++) {
		ret->ranks += !isnan(a.outside[i]);
		outside += isnan(a.outside[i]) ? 0 : a.outside[i];
	}
	ret->outside_ns = ret->ranks > 0 ? outside / ret->ranks : 0;
}

int pmfs_efficiency(struct pmfs_model *m, const struct pmfs_efficiency **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_efficiency),
		.what = "the efficiency", .build = build_efficiency};
	return pmfs_model_part(m, PMFS_PART_EFFICIENCY, &type, ret, err);
}

const char *const pmfs_efficiency_columns[PMFS_EFFICIENCY_COLUMNS] = {"run", "threads", "ranks",
	"duration_ns", "speedup", "load_balance", "communication_efficiency", "parallel_efficiency",
	"mpi_parallel_efficiency", "openmp_parallel_efficiency", "computation_scaling",
	"global_efficiency"};

void pmfs_efficiency_cells(const struct pmfs_efficiency *e, const struct pmfs_efficiency *base,
	bool weak, struct pm_cell *cells)
{
	double mean = e->useful_ns / e->threads, scaling = NAN;
	double parallel = mean / e->duration_ns, mpi = NAN;
	for (unsigned i = 1; i < PMFS_EFFICIENCY_COLUMNS; i++)
		pm_set_empty(&cells[i]);
	if (!(e->threads > 0))
		return;
	if (e->ranks > 0)
		mpi = e->outside_ns / e->duration_ns;
	if (base)
		scaling = weak ? base->useful_ns / base->threads / mean
			       : base->useful_ns / e->useful_ns;
	cells[1] = pm_cell_u64((uint64_t)llround(e->threads));
	cells[2] = e->ranks > 0 ? pm_cell_u64((uint64_t)llround(e->ranks)) : pm_cell_empty();
	cells[3] = pm_cell_u64((uint64_t)llround(e->duration_ns));
	cells[4] = pmfs_cell(base ? base->duration_ns / e->duration_ns : NAN);
	cells[5] = pmfs_cell(e->most_useful_ns > 0 ? mean / e->most_useful_ns : NAN);
	cells[6] = pmfs_cell(e->most_useful_ns / e->duration_ns);
	cells[7] = pmfs_cell(parallel);
	cells[8] = pmfs_cell(mpi);
	cells[9] = pmfs_cell(mpi > 0 ? parallel / mpi : NAN);
	cells[10] = pmfs_cell(isfinite(scaling) ? scaling : NAN);
	cells[11] = pmfs_cell(isfinite(scaling) ? parallel * scaling : NAN);
}
