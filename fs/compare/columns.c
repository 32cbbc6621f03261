/* The cost columns of all tables of a comparison: names and cells. */
#include <math.h>

#include "fs/compare/join.h"

double pmfs_ratio(double base, double value)
{
	if (base == value)
		return 1;
	return base != 0 ? value / base : NAN;
}

/* ---- names ---- */

struct header {
	struct pm_arena *arena;
	const char **names;
	uint32_t n;
	bool failed;
};

static void add(struct header *h, const char *name, const char *suffix)
{
	const char *copy = pm_arena_printf(h->arena, "%s%s", name, suffix);
	h->failed |= !copy;
	h->names[h->n++] = copy;
}

static bool is_count(const struct pmfs_cost *cost)
{
	return cost->role == PM_ROLE_COUNT;
}

/* Shares have their own names, because they have no unit. */
static const char *name_of(
	const struct pmfs_costs *costs, const struct pmfs_cost *cost, struct pm_arena *arena)
{
	const char *part = cost->role == PM_ROLE_INCLUSIVE ? "_incl" : "";
	if (!costs->shares || is_count(cost))
		return cost->name;
	if (cost->quantity == 0)
		return pm_arena_printf(arena, "share%s", part);
	return pm_arena_printf(arena, "%s_share%s", cost->stem, part);
}

static bool has_ratio(const struct pmfs_costs *costs, const struct pmfs_cost *cost)
{
	return !is_count(cost) && !costs->shares;
}

/* The columns before and after those of the costs; lists end with NULL. */
static const char *const nothing[] = {NULL};
static const char *const lines_before[] = {"line_base", "line", NULL};
static const char *const contexts_before[] = {"context_id", "parent_id", "depth", NULL};
static const char *const functions_after[] = {
	"p", "q", "matched", "only_in", "module", "file", "name", NULL};
static const char *const lines_after[] = {"p", "q", "matched", "only_in", "file", "name", NULL};
static const char *const modules_after[] = {"p", "q", "matched", "only_in", "module", NULL};
static const char *const files_after[] = {"p", "q", "matched", "only_in", "file", NULL};
static const char *const categories_after[] = {"p", "q", "matched", "only_in", "category", NULL};
static const char *const callers_after[] = {
	"p", "q", "matched", "only_in", "caller", "callee", NULL};
static const char *const contexts_after[] = {
	"line_base", "line", "kind", "only_in", "file", "name", NULL};

static const struct {
	const char *const *before, *const *after;
} around[PMFS_COMPARE_N_PARTS] = {
	[PMFS_COMPARE_FUNCTIONS] = {nothing, functions_after},
	[PMFS_COMPARE_LINES] = {lines_before, lines_after},
	[PMFS_COMPARE_MODULES] = {nothing, modules_after},
	[PMFS_COMPARE_FILES] = {nothing, files_after},
	[PMFS_COMPARE_CATEGORIES] = {nothing, categories_after},
	[PMFS_COMPARE_CALLERS] = {nothing, callers_after},
	[PMFS_COMPARE_UNION] = {contexts_before, contexts_after},
};

enum { MOST_AROUND = 16, MOST_OF_COST = 6 };

static int add_cost(struct header *h, const struct pmfs_costs *costs, const struct pmfs_cost *cost)
{
	const char *name = name_of(costs, cost, h->arena);
	bool repeated = pmfs_compare_repeated(costs);
	if (!name)
		return -ENOMEM;
	add(h, name, "_base");
	if (repeated)
		add(h, name, "_base_stddev");
	add(h, name, "");
	if (repeated)
		add(h, name, "_stddev");
	add(h, name, "_diff");
	if (has_ratio(costs, cost))
		add(h, name, "_ratio");
	return h->failed ? -ENOMEM : 0;
}

static int make_header(struct pmfs_costs *costs, unsigned which)
{
	struct header h = {.arena = &costs->arena};
	h.names = pm_arena_array(h.arena,
		(size_t)costs->n * MOST_OF_COST + (size_t)costs->n_derived * PMFS_DERIVED_CELLS +
			MOST_AROUND,
		sizeof(char *));
	int r = h.names ? 0 : -ENOMEM;
	for (const char *const *name = around[which].before; r == 0 && *name; name++)
		h.names[h.n++] = *name;
	for (uint32_t i = 0; r == 0 && i < costs->n; i++)
		r = add_cost(&h, costs, &costs->costs[i]);
	for (uint32_t i = 0; r == 0 && i < costs->n_derived; i++) {
		static const char *const ends[PMFS_DERIVED_CELLS] = {
			"_base", "", "_diff", "_ratio"};
		for (unsigned k = 0; k < PMFS_DERIVED_CELLS; k++)
			add(&h, costs->derived[i].name, ends[k]);
		r = h.failed ? -ENOMEM : 0;
	}
	for (const char *const *name = around[which].after; r == 0 && *name; name++)
		h.names[h.n++] = *name;
	costs->columns[which] = h.names;
	costs->n_columns[which] = h.n;
	return r;
}

int pmfs_compare_headers(struct pmfs_costs *costs)
{
	for (unsigned which = 0; which < PMFS_COMPARE_N_PARTS; which++)
		if (around[which].after && make_header(costs, which) < 0)
			return -ENOMEM;
	return 0;
}

/* ---- cells ---- */

struct pm_cell *pmfs_pair_cells(const struct pmfs_costs *costs, uint32_t cost,
	const struct pmfs_pair *pair, struct pm_cell *cells)
{
	const struct pmfs_cost *k = &costs->costs[cost];
	bool both = k->has[PMFS_BASE] && k->has[PMFS_OTHER];
	double base = k->has[PMFS_BASE] ? pair->value[PMFS_BASE] : NAN;
	double value = k->has[PMFS_OTHER] ? pair->value[PMFS_OTHER] : NAN;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		double mean = side == PMFS_BASE ? base : value;
		*cells++ = pmfs_cell(mean);
		if (pmfs_compare_repeated(costs))
			*cells++ = pmfs_cell(isnan(mean) ? NAN : pair->stddev[side]);
	}
	/* Sums in another order differ in their last digits; counts are exact. */
	if (fabs(value - base) <= fabs(base) * 0x1p-40 &&
		(trunc(base) != base || trunc(value) != value))
		value = base;
	double diff = (isnan(value) ? 0 : value) - (isnan(base) ? 0 : base);
	*cells++ = pmfs_cell(both ? diff : NAN);
	if (has_ratio(costs, k))
		*cells++ = pmfs_cell(isnan(base) || isnan(value) ? NAN : pmfs_ratio(base, value));
	return cells;
}
