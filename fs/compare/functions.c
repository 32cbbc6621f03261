/* functions.csv: the functions of all runs, matched once for all tables of a comparison. */
#include <stdlib.h>
#include <string.h>

#include "fs/compare/flat.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/functions.h"

int pmfs_compare_evals(
	struct pmfs_match *m, struct pmfs_model *run, bool exact, struct pm_error *err)
{
	const struct pm_flat *flat;
	const struct pm_tree *tree;
	int r = pmfs_model_flat(run, &flat, err);
	if (r < 0 || exact || !flat->evals || (r = pmfs_model_tree(run, &tree, err)) < 0)
		return r;
	return pmfs_match_evals(m, flat->evals, tree->texts) < 0 ? pmfs_compare_no_memory(err) : 0;
}

static int add_functions(struct pmfs_joining *j, uint32_t run, const struct pmfs_identity *id)
{
	struct pmfs_match *m = &j->joined->match;
	enum pmfs_side side = j->costs->runs[run].side;
	uint32_t *of = malloc(((size_t)id->n + 1) * sizeof(*of));
	j->joined->of[run] = of;
	j->joined->n_of[run] = id->n;
	for (uint32_t i = 0; of && i < id->n; i++) {
		const struct pmfs_function *f = &id->functions[i];
		if (i < id->tree->n_functions && id->same[i] != i) {
			of[i] = of[id->same[i]];
			continue;
		}
		const struct pm_bytes text[3] = {
			f->name, id->tree->texts[f->module], id->tree->texts[f->file]};
		if (pm_work_cancelled() || pmfs_match_add(m, side, run, text, &of[i]) < 0)
			return -ENOMEM;
		pmfs_match_line(m, of[i], side, f->line);
	}
	return of ? 0 : -ENOMEM;
}

static int read_functions(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct pmfs_joining *j = self;
	const struct pmfs_functions *f;
	int r = pmfs_joining_check(j, run, m, err);
	if (r == 0)
		r = pmfs_functions(m, &f, err);
	if (r == 0)
		r = pmfs_compare_evals(&j->joined->match, m, j->joined->match.exact, err);
	if (r == 0)
		r = add_functions(j, run, f->identity);
	for (uint32_t i = 0; r == 0 && i < f->n; i++)
		r = pm_work_cancelled()
			? -ENOMEM
			: pmfs_joining_add(j, run, j->joined->of[run][f->function[i]], PM_NONE,
				  f->cells + (size_t)i * f->columns->n);
	pmfs_match_run_ends(&j->joined->match);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}

static int prepare_functions(void *self, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_functions *functions;
	(void)self;
	return pmfs_functions(m, &functions, err);
}

/* ---- what functions call, for those that nothing else tells apart ---- */

int pmfs_joining_calls(const struct pmfs_joining *j, uint32_t run, struct pmfs_model *m,
	const struct pmfs_calls **ret, struct pm_error *err)
{
	int r = pmfs_calls(m, ret, err);
	if (r == 0 && (*ret)->identity->n != j->functions->n_of[run])
		return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "a run has changed");
	return r;
}

static int prepare_calls(void *self, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_calls *calls;
	(void)self;
	return pmfs_calls(m, &calls, err);
}

static int read_calls(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct pmfs_joining *j = self;
	const uint32_t *of = j->joined->of[run];
	const struct pmfs_calls *c;
	int r = pmfs_joining_calls(j, run, m, &c, err);
	for (uint32_t i = 0; r == 0 && i < c->n; i++)
		if (c->calls[i].caller != PM_NONE &&
			pmfs_match_call(&j->joined->match, j->costs->runs[run].side,
				of[c->calls[i].caller], of[c->calls[i].callee]) < 0)
			r = pmfs_compare_no_memory(err);
	return r;
}

static int match_functions(struct pmfs_joining *j, struct pm_error *err)
{
	struct pmfs_match *m = &j->joined->match;
	int r = pmfs_match_families(m);
	if (r == 0 && m->needs_calls)
		r = pmfs_compare_read(j->compare, j->costs,
			(struct pmfs_reader){prepare_calls, read_calls}, j, err);
	return r < 0 ? r : pmfs_match_finish(m);
}

static int allocate(struct pmfs_joining *j)
{
	size_t n = (size_t)j->costs->n_runs + 1;
	j->rows = calloc(n, sizeof(*j->rows));
	j->joined->of = calloc(n, sizeof(*j->joined->of));
	j->joined->n_of = calloc(n, sizeof(*j->joined->n_of));
	j->joined->own_of = calloc(n, sizeof(*j->joined->own_of));
	return j->rows && j->joined->of && j->joined->n_of && j->joined->own_of ? 0 : -ENOMEM;
}

/* The cost that tables of the ensemble show for each run, or PM_NONE. */
static uint32_t kept_cost(const struct pmfs_compare *c, const struct pmfs_costs *k)
{
	for (uint32_t i = 0; c->of.of_runs && i < k->n; i++)
		if (strcmp(k->costs[i].stem, c->of.of_runs) == 0 &&
			k->costs[i].role != PM_ROLE_INCLUSIVE)
			return i;
	return PM_NONE;
}

static int functions_build(struct pmfs_compare *c, enum pmfs_compare_part which, void **ret,
	uint64_t *ret_bytes, struct pm_error *err)
{
	struct pmfs_joined *joined = calloc(1, sizeof(*joined));
	struct pmfs_joining j = {
		.compare = c, .which = which, .joined = joined, .functions = joined};
	if (!joined)
		return pmfs_compare_no_memory(err);
	int r = pmfs_compare_costs(c, &joined->costs, err);
	if (r == 0) {
		j.costs = joined->costs;
		joined->match.exact = c->of.exact;
		joined->kept = kept_cost(c, j.costs);
		r = allocate(&j);
	}
	if (r == 0)
		r = pmfs_compare_read(c, j.costs,
			(struct pmfs_reader){prepare_functions, read_functions}, &j, err);
	if (r == 0)
		r = match_functions(&j, err);
	if (r == 0)
		r = pmfs_joining_join(&j);
	pmfs_joining_done(&j);
	if (r < 0) {
		pmfs_joined_free(joined);
		return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
	}
	*ret = joined;
	*ret_bytes = pmfs_joined_bytes(joined);
	return 0;
}

int pmfs_functions_get(struct pmfs_compare *c, const struct pmfs_joined **ret, struct pm_error *err)
{
	static const struct pmfs_compare_part_type type = {functions_build, pmfs_joined_free};
	return pmfs_compare_get(c, PMFS_COMPARE_FUNCTIONS, &type, ret, err);
}
