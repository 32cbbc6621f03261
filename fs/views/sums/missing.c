#include "fs/views/sums/missing.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/affix.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/totals.h"

struct missings_part {
	struct pmfs_missings all;
	struct pm_strtab modules; /* of the rows, before they are sorted */
};

static void missings_done(void *p)
{
	struct missings_part *part = p;
	free(part->all.rows);
	pm_strtab_done(&part->modules);
}

static int by_cost(const void *a, const void *b)
{
	const struct pmfs_missing *x = a, *y = b;
	double cost = isnan(x->cost) ? -1 : x->cost, other = isnan(y->cost) ? -1 : y->cost;
	if (cost != other)
		return cost > other ? -1 : 1;
	size_t len = x->module.len < y->module.len ? x->module.len : y->module.len;
	int order = len ? memcmp(x->module.p, y->module.p, len) : 0;
	return order ? order : (x->module.len > y->module.len) - (x->module.len < y->module.len);
}

/* Whether a column counts samples: all, or those of an event. */
static bool counts_samples(const struct pm_profile *profile, const struct pmfs_column *c)
{
	bool is = strcmp(c->base, "samples") == 0;
	for (uint32_t i = 0; i < profile->n_events; i++)
		is |= profile->events[i].samples == c->group;
	return is && c->role != PM_ROLE_INCLUSIVE;
}

/* Formats that know of nothing but addresses have functions for them. */
static bool is_address(const struct pmfs_functions *f, uint32_t row)
{
	return f->first[row] < f->first[row + 1] &&
		pm_tree_frame(f->tree, f->contexts[f->first[row]])->kind == PM_KIND_INSTRUCTION;
}

static int add_up(struct missings_part *part, const struct pm_profile *profile,
	const struct pmfs_functions *f)
{
	uint32_t own = f->columns->first_excl;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct pmfs_function *function = pmfs_function_at(f, i);
		if (!function->is_address && !is_address(f, i))
			continue;
		uint32_t row = pm_strtab_add(&part->modules, f->tree->texts[function->module]);
		if (row == PM_NONE)
			return -ENOMEM;
		struct pmfs_missing *of = &part->all.rows[row];
		if (row == part->all.n) {
			part->all.n++;
			*of = (struct pmfs_missing){.module = f->tree->texts[function->module],
				.cost = NAN,
				.samples = NAN};
		}
		if (own != PM_NONE)
			pmfs_add(&of->cost, pmfs_function_cell(f, i, own));
		for (uint32_t k = 0; k < f->columns->n; k++)
			if (counts_samples(profile, &f->columns->columns[k]))
				pmfs_add(&of->samples, pmfs_function_cell(f, i, k));
	}
	return 0;
}

static int missings_fill(void *owner, void *p, struct pm_error *err)
{
	static const struct pm_missings unknown = {.why = "not known"};
	struct missings_part *part = p;
	struct pmfs_missings *all = &part->all;
	const struct pm_profile *profile = pmfs_model_profile(owner);
	const struct pm_missings *known = &unknown;
	const struct pmfs_functions *f;
	const struct pmfs_totals *totals;
	int r = pmfs_functions(owner, &f, err);
	if (r < 0 || (r = pmfs_totals(owner, &totals, err)) < 0)
		return r;
	if (profile->ops->missing && (r = profile->ops->missing(profile, &known, err)) < 0)
		return r;
	all->rows = malloc(((size_t)f->n + 1) * sizeof(*all->rows));
	if (!all->rows || add_up(part, profile, f) < 0)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < all->n; i++) {
		all->rows[i].why = known->why;
		all->cost += isnan(all->rows[i].cost) ? 0 : all->rows[i].cost;
	}
	for (size_t i = 0; i < known->n; i++) {
		uint32_t row = pm_strtab_find(&part->modules, known->rows[i].module);
		if (row == UINT32_MAX)
			continue;
		all->rows[row].build_id = known->rows[i].build_id;
		all->rows[row].why = known->rows[i].why;
		all->rows[row].tried = known->rows[i].tried;
	}
	if (pm_sort(all->rows, all->n, sizeof(*all->rows), by_cost) < 0)
		return pmfs_no_memory(err);
	uint32_t own = f->columns->first_excl;
	const char *const columns[] = {"samples",
		own == PM_NONE ? "cost" : f->columns->columns[own].name, "module", "build_id",
		"why", "tried"};
	memcpy(all->columns, columns, sizeof(columns));
	all->whole = f->columns->n > 0 ? totals->of[0] : 0;
	all->advice = known->advice;
	return 0;
}

int pmfs_missings(struct pmfs_model *m, const struct pmfs_missings **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct missings_part), missings_fill,
		missings_done, .what = "what has no names"};
	return pmfs_model_part(m, PMFS_PART_MISSING, &type, ret, err);
}
