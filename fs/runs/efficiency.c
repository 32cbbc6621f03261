/* efficiency.csv of an ensemble: a row for each name; with repetitions, of the means. */
#include "fs/views/sums/efficiency.h"
#include "formats/common/crew.h"
#include "fs/runs/runs.h"

struct efficiencies {
	struct pmfs_efficiency *of; /* by run; without threads: it does not apply */
	const struct pmfs_ensemble *e;
	const struct pmfs_facts *facts;
};

int pmfs_has_efficiencies(const struct pmfs_ensemble *e, struct pm_error *err)
{
	const struct pmfs_facts *facts;
	/* What a filter leaves out is no loss. */
	if (e->runs.n > PMFS_MOST_OPENED || e->options.shelf.n_filters > 0)
		return 0;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0)
		return pm_is_passing(r) ? r : 0;
	for (uint32_t i = 0; i < e->runs.n; i++)
		if (!facts->of[i].broken && facts->of[i].is_sampled && facts->of[i].busy > 1)
			return 1;
	return 0;
}

static int read_run(void *context, size_t i)
{
	struct efficiencies *all = context;
	struct pm_error unused = {.offset = PM_NO_OFFSET};
	const struct pmfs_efficiency *found;
	struct pmfs_model *m;
	if (all->facts->of[i].broken || !all->facts->of[i].is_sampled)
		return 0;
	int r = pmfs_shelf_acquire(all->e->shelf, (uint32_t)i, &m, &unused);
	if (r < 0)
		return pm_is_lasting(r) ? 0 : r;
	r = pmfs_efficiency(m, &found, &unused);
	if (r == 0)
		all->of[i] = *found;
	pmfs_shelf_release(all->e->shelf, (uint32_t)i);
	return pm_is_lasting(r) ? 0 : r;
}

static void efficiencies_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct efficiencies *all = part;
	all->e = owner;
	pm_build_check(a, pmfs_facts(all->e, &all->facts, err));
	all->of = pm_arena_array(a, all->e->runs.n, sizeof(*all->of));
	pm_build_check(a, pm_crew_each(all->e->runs.n, read_run, all));
}

static struct pmfs_efficiency mean_of(const struct efficiencies *all, uint32_t group)
{
	const struct pmfs_group *g = &all->e->runs.groups[group];
	struct pmfs_efficiency mean = {.threads = 0};
	uint32_t n = 0;
	for (uint32_t i = g->first; i < g->first + g->n; i++) {
		const struct pmfs_efficiency *of = &all->of[i];
		if (of->threads == 0)
			continue;
		n++;
		mean.threads += of->threads;
		mean.ranks += of->ranks;
		mean.duration_ns += of->duration_ns;
		mean.useful_ns += of->useful_ns;
		mean.most_useful_ns += of->most_useful_ns;
		mean.outside_ns += of->outside_ns;
	}
	if (n == 0)
		return mean;
	mean.threads /= n;
	mean.ranks /= n;
	mean.duration_ns /= n;
	mean.useful_ns /= n;
	mean.most_useful_ns /= n;
	mean.outside_ns /= n;
	return mean;
}

static int efficiency_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct efficiencies),
		.what = "the efficiency of the runs",
		.build = efficiencies_build};
	struct pmfs_ensemble *e = pmfs_ensemble_of(rows->table->self);
	const struct efficiencies *all;
	if (rows->at >= e->runs.n_groups)
		return 0;
	int r = pm_part_get(&e->parts[PMFS_ENSEMBLE_EFFICIENCY], &type, e, &all, err);
	if (r < 0)
		return r;
	struct pmfs_efficiency base = mean_of(all, e->base);
	struct pmfs_efficiency of = mean_of(all, (uint32_t)rows->at);
	pmfs_efficiency_cells(&of, base.threads > 0 ? &base : NULL, e->options.weak, cells);
	cells[0] = pm_cell_str(e->runs.groups[rows->at++].name);
	return 1;
}

struct pm_table pmfs_efficiencies_table(const struct pmfs_ensemble *e)
{
	static const struct pm_table_type type = {.next = efficiency_next, .dense = true};
	return (struct pm_table){.type = &type,
		.columns = pmfs_efficiency_columns,
		.n_columns = PMFS_EFFICIENCY_COLUMNS,
		.self = e,
		.end = e->runs.n_groups};
}
