/*
 * runs/ and compare/: their items are profiles, which are opened when their directory is
 * entered.
 */
#include "fs/runs/runs.h"

#include <stdlib.h>

/*
 * ---- a run as an item's profile ----
 *
 * It forwards everything to the run except closing, so a run is opened once for all its users.
 */

struct item {
	struct pm_profile profile;
	struct pm_profile_ops ops;
	struct pmfs_shelf *shelf;
	uint32_t run;
};

static void item_close(struct pm_profile *p)
{
	struct item *item = (struct item *)p; /* its first member */
	pmfs_shelf_release(item->shelf, item->run);
	free(item);
}

static uint64_t item_memory(const struct pm_profile *p)
{
	return pmfs_shelf_bytes(((const struct item *)p)->shelf, p);
}

static int pmfs_run_profile(
	const struct pmfs_ensemble *e, uint32_t run, struct pm_profile **ret, struct pm_error *err)
{
	struct item *item = calloc(1, sizeof(*item));
	struct pmfs_model *model;
	if (!item)
		return pmfs_ensemble_no_memory(err);
	int r = pmfs_shelf_acquire(e->shelf, run, &model, err);
	if (r < 0) {
		free(item);
		return r;
	}
	item->profile = *pmfs_model_profile(model);
	item->ops = *item->profile.ops;
	item->ops.close = item_close;
	item->ops.memory = item_memory;
	item->profile.ops = &item->ops;
	item->shelf = e->shelf;
	item->run = run;
	*ret = &item->profile;
	return 0;
}

/* ---- paths of runs, and the two sides of a comparison ---- */

void pmfs_run_path(const struct pmfs_ensemble *e, uint32_t run, struct pm_text *out)
{
	const struct pmfs_run *r = &e->runs.runs[run];
	pm_text_str(out, "runs/");
	pm_text_str(out, e->runs_of.names[r->group]);
	if (e->runs.repeated)
		pm_text_printf(out, "/repetition=%u", r->repetition);
}

int pmfs_ensemble_compare(const struct pmfs_ensemble *e, uint32_t other, bool normalize,
	const char *of_runs, struct pm_profile **ret, struct pm_error *err)
{
	static const struct pmfs_group nothing = {.name = ""};
	const struct pmfs_group *base = &e->runs.groups[e->base], *group = &nothing;
	if (other + 1 < e->runs.n_groups)
		group = &e->runs.groups[e->others[other]];
	struct pmfs_comparison c = {.lender = pmfs_shelf_lender(e->shelf),
		.base_name = base->name,
		.name = group->name,
		.base = e->numbers + base->first,
		.runs = e->numbers + group->first,
		.n_base = base->n,
		.n_runs = group->n,
		.exact = e->options.exact,
		.normalize = normalize,
		.of_runs = of_runs,
		.metric = e->options.shelf.metric};
	return pmfs_compare_new(&c, ret, err);
}

/* ---- runs/run=NAME, or runs/run=NAME/repetition=K ---- */

/* The run of an item of runs/, or of a collection of the repetitions of group c->a. */
static uint32_t run_of(const struct pm_collection *c, uint32_t i)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(c->self);
	return e->runs.groups[e->runs.repeated ? c->a : i].first + (e->runs.repeated ? i : 0);
}

static struct pm_bytes run_name(const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	(void)scratch;
	return pm_bytes_of(pmfs_ensemble_of(c->self)->runs_of.names[i]);
}

static bool find_in(const struct pmfs_folders *folders, struct pm_bytes name, uint32_t *ret)
{
	*ret = pm_strtab_find(&folders->numbers, name);
	return *ret != UINT32_MAX;
}

static int run_find(const struct pm_collection *c, struct pm_bytes name, uint32_t *ret_i)
{
	return find_in(&pmfs_ensemble_of(c->self)->runs_of, name, ret_i);
}

static struct pm_bytes repetition_name(
	const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	(void)c;
	pm_text_clear(scratch);
	pm_text_printf(scratch, "repetition=%u", i + 1);
	return pm_text_view(scratch);
}

static int repetition_find(const struct pm_collection *c, struct pm_bytes name, uint32_t *ret_i)
{
	static const char prefix[] = "repetition=";
	enum { PREFIX = sizeof(prefix) - 1 };
	uint32_t n = 0;
	if (name.len <= PREFIX || memcmp(name.p, prefix, PREFIX) != 0 || name.p[PREFIX] == '0')
		return false;
	for (size_t i = PREFIX; i < name.len; i++) {
		if (name.p[i] < '0' || name.p[i] > '9' || n > c->n)
			return false;
		n = n * 10 + (name.p[i] - '0');
	}
	*ret_i = n - 1;
	return n >= 1 && n <= c->n;
}

/* 1 if the run cannot be opened, else 0. */
static int is_broken(const struct pmfs_ensemble *e, uint32_t run, struct pm_error *err)
{
	struct pmfs_model *model;
	int r = pmfs_shelf_acquire(e->shelf, run, &model, err);
	if (r == 0)
		pmfs_shelf_release(e->shelf, run);
	if (!pm_is_lasting(r))
		return r;
	return 1;
}

static int run_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(c->self);
	struct pm_error unused = {.offset = PM_NO_OFFSET};
	int r = k == 0 ? is_broken(e, run_of(c, i), &unused) : 0;
	if (r > 0)
		*ret = (struct pm_named_doc){
			"damage.csv", pm_doc_csv(pmfs_run_errors_table(e, run_of(c, i)))};
	return r;
}

static int run_profile(
	const struct pm_collection *c, uint32_t i, struct pm_profile **ret, struct pm_error *err)
{
	return pmfs_run_profile(pmfs_ensemble_of(c->self), run_of(c, i), ret, err);
}

/* ---- compare/NAME ---- */

static struct pm_bytes compared_name(
	const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	(void)scratch;
	return pm_bytes_of(pmfs_ensemble_of(c->self)->compared.names[i]);
}

static int compared_find(const struct pm_collection *c, struct pm_bytes name, uint32_t *ret_i)
{
	return find_in(&pmfs_ensemble_of(c->self)->compared, name, ret_i);
}

/* 1 if none of a group's runs can be opened. */
static int group_is_broken(const struct pmfs_ensemble *e, uint32_t group)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	int r = 1;
	for (uint32_t i = 0; i < g->n && r > 0; i++) {
		struct pm_error unused = {.offset = PM_NO_OFFSET};
		r = is_broken(e, g->first + i, &unused);
	}
	return r;
}

static int pair_is_broken(const struct pmfs_ensemble *e, uint32_t other)
{
	int r = group_is_broken(e, e->base);
	return r != 0 ? r : group_is_broken(e, e->others[other]);
}

static int compared_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(c->self);
	int r = k == 0 ? pair_is_broken(e, i) : 0;
	if (r > 0)
		*ret = (struct pm_named_doc){
			"damage.csv", pm_doc_csv(pmfs_pair_errors_table(e, i))};
	return r;
}

static int compared_profile(
	const struct pm_collection *c, uint32_t i, struct pm_profile **ret, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(c->self);
	int r = pair_is_broken(e, i);
	if (r > 0)
		r = pm_error_set(err, -EIO, NULL, PM_NO_OFFSET,
			"cannot be compared: no run of one side can be opened");
	return r < 0 ? pm_error_plain(err, r)
		     : pmfs_ensemble_compare(e, i, e->options.normalize, NULL, ret, err);
}

/* ---- */

static int add_runs(struct pmfs_ensemble *e)
{
	struct pm_collection runs = {.path = "runs",
		.n = e->runs.n_groups,
		.self = e,
		.name = run_name,
		.find = run_find,
		.document = run_document,
		.profile = run_profile,
		.shape = PM_SHAPE_RUN};
	if (!e->runs.repeated) {
		e->collections[e->n_collections++] = runs;
		return 0;
	}
	runs.name = repetition_name;
	runs.find = repetition_find;
	for (uint32_t g = 0; g < e->runs.n_groups; g++) {
		runs.path = pm_arena_printf(&e->arena, "runs/%s", e->runs_of.names[g]);
		if (!runs.path)
			return -ENOMEM;
		runs.a = g;
		runs.n = e->runs.groups[g].n;
		e->collections[e->n_collections++] = runs;
	}
	return 0;
}

int pmfs_ensemble_collections(struct pmfs_ensemble *e)
{
	const struct pm_collection compare = {.path = "compare",
		.n = e->runs.n_groups - 1,
		.self = e,
		.name = compared_name,
		.find = compared_find,
		.document = compared_document,
		.profile = compared_profile,
		.shape = PM_SHAPE_COMPARISON};
	size_t most = e->runs.n_groups + (size_t)2;
	e->collections = pm_arena_array(&e->arena, most, sizeof(*e->collections));
	if (!e->collections || add_runs(e) < 0)
		return -ENOMEM;
	e->collections[e->n_collections++] = compare;
	return 0;
}
