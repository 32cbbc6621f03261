/* functions.csv of a comparison for tables of the ensemble, which show the same numbers. */
#include <math.h>
#include <string.h>

#include "fs/compare/flat.h"

static uint32_t cost_of(const struct pmfs_costs *k, const char *quantity, bool incl)
{
	for (uint32_t i = 0; quantity && i < k->n; i++)
		if (strcmp(k->costs[i].stem, quantity) == 0 &&
			(k->costs[i].role == PM_ROLE_INCLUSIVE) == incl)
			return i;
	return PM_NONE;
}

int pmfs_compare_functions(const struct pm_profile *p, const char *quantity,
	struct pmfs_compared *ret, struct pm_error *err)
{
	const struct pmfs_joined *j;
	int r = pmfs_functions_get(p->self, &j, err);
	if (r < 0)
		return r;
	const struct pmfs_costs *k = j->costs;
	uint32_t own = cost_of(k, quantity, false), incl = cost_of(k, quantity, true);
	*ret = (struct pmfs_compared){
		.joined = j, .n = j->n, .order = j->order, .own = own, .incl = incl};
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		uint32_t any = own != PM_NONE ? own : incl;
		ret->whole[side] = any == PM_NONE || !k->costs[any].has[side]
			? NAN
			: k->whole[side][k->costs[any].quantity].mean;
	}
	while (ret->n_base < j->match.n &&
		j->match.spellings[ret->n_base].group[PMFS_BASE] != PM_NONE)
		ret->n_base++;
	return 0;
}

static double mean_of(
	const struct pmfs_compared *c, uint32_t row, uint32_t cost, enum pmfs_side side)
{
	const struct pmfs_costs *k = c->joined->costs;
	if (cost == PM_NONE || !k->costs[cost].has[side])
		return NAN;
	return c->joined->mean[side][(size_t)row * k->n + cost];
}

struct pmfs_compared_row pmfs_compared_row(const struct pmfs_compared *c, uint32_t row)
{
	const struct pmfs_joined_row *of = &c->joined->rows[row];
	struct pmfs_compared_row ret = {
		.module = of->text[0],
		.file = of->text[1],
		.name = of->text[2],
		.joined = of->matched == PMFS_JOINED,
	};
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		ret.own[side] = mean_of(c, row, c->own, (enum pmfs_side)side);
		ret.incl[side] = mean_of(c, row, c->incl, (enum pmfs_side)side);
	}
	return ret;
}

double pmfs_compared_of_run(const struct pmfs_compared *c, uint32_t row, uint32_t run)
{
	const double *own = c->joined->own_of[run];
	return own ? own[row] : NAN;
}

uint32_t pmfs_compared_base(
	const struct pmfs_compared *c, uint32_t spelling, struct pm_bytes ret_text[3])
{
	const struct pmfs_match *m = &c->joined->match;
	const struct pmfs_spelling *s = &m->spellings[spelling];
	ret_text[0] = pmfs_match_text(m, s->name);
	ret_text[1] = pmfs_match_text(m, s->module);
	ret_text[2] = pmfs_match_text(m, s->file);
	return c->joined->row_of[s->group[PMFS_BASE]];
}
