/* The ensemble as a profile: it has documents and collections, but no contexts of its own. */
#include "fs/runs/runs.h"

#include <math.h>
#include <stdlib.h>

#include "fs/tree/names.h"

/* ---- names of directories ---- */

/* The things to be named. */
struct naming {
	const struct pmfs_ensemble *e;
	bool hive; /* run=NAME with `%` escaped, for SQL engines; else NAME */
};

static uint32_t same(void *context, uint32_t k)
{
	(void)context;
	return k;
}

static struct pm_bytes raw_name(void *context, uint32_t item, struct pm_text *scratch)
{
	const struct naming *n = context;
	uint32_t group = n->hive ? item : n->e->others[item];
	const char *name = n->e->runs.groups[group].name;
	if (!n->hive)
		return pm_bytes_of(name);
	pm_text_clear(scratch);
	pm_text_str(scratch, "run=");
	for (; *name; name++) {
		if (*name == '%')
			pm_text_str(scratch, "%25");
		else
			pm_text_char(scratch, *name);
	}
	return pm_text_view(scratch);
}

static int fill_folders(struct pmfs_ensemble *e, const struct pmfs_naming *naming,
	const struct pmfs_siblings *s, struct pmfs_folders *ret)
{
	char name[PMFS_NAME_SIZE];
	ret->names = pm_arena_array(&e->arena, naming->n + (size_t)1, sizeof(*ret->names));
	if (!ret->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < naming->n; i++) {
		size_t len = pmfs_siblings_name(s, naming, i, name);
		ret->names[i] = pm_arena_printf(&e->arena, "%.*s", (int)len, name);
		if (len == 0 || !ret->names[i] ||
			pm_strtab_add(&ret->numbers, pm_bytes_of(ret->names[i])) != i)
			return -ENOMEM;
	}
	return 0;
}

static int name_folders(struct pmfs_ensemble *e, bool hive, uint32_t n, struct pmfs_folders *ret)
{
	struct naming what = {e, hive};
	struct pmfs_naming naming = {.n = n, .item = same, .raw = raw_name, .context = &what};
	struct pmfs_siblings *s;
	int r = pmfs_siblings_build(&naming, &s, NULL);
	if (r < 0)
		return r;
	r = fill_folders(e, &naming, s, ret);
	s->cached.free(&s->cached);
	return r;
}

/* ---- what depends on the baseline ---- */

/* Nobody has put the runs of a folder in order: more threads are compared with fewer. */
static int choose_base(struct pmfs_ensemble *e, struct pm_error *err)
{
	const struct pmfs_facts *facts;
	double fewest = INFINITY;
	uint32_t base = e->base;
	if (e->options.base || !e->runs.of_folder || e->runs.n > PMFS_MOST_OPENED)
		return 0;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0 || !pmfs_threads_differ(e, facts))
		return r;
	for (uint32_t i = 0; i < e->runs.n_groups; i++) {
		double threads = pmfs_group_facts(e, facts, i).threads;
		if (threads > 0 && threads < fewest) {
			fewest = threads;
			base = i;
		}
	}
	e->base = base; /* only now: the primary quantity is the baseline's */
	return 0;
}

static int list_groups(struct pmfs_ensemble *e)
{
	e->others = pm_arena_array(&e->arena, e->runs.n_groups, sizeof(*e->others));
	e->numbers = pm_arena_array(&e->arena, e->runs.n, sizeof(*e->numbers));
	if (!e->others || !e->numbers)
		return -ENOMEM;
	uint32_t n = 0;
	for (uint32_t g = 0; g < e->runs.n_groups; g++)
		if (g != e->base)
			e->others[n++] = g;
	for (uint32_t i = 0; i < e->runs.n; i++)
		e->numbers[i] = i;
	return 0;
}

static int settle(void *context, struct pm_error *err)
{
	struct pmfs_ensemble *e = context;
	pm_strtab_done(&e->runs_of.numbers); /* left over from a failure */
	pm_strtab_done(&e->compared.numbers);
	e->n_collections = e->n_documents = 0;
	int r = choose_base(e, err);
	if (r < 0)
		return r;
	if (list_groups(e) < 0 || name_folders(e, true, e->runs.n_groups, &e->runs_of) < 0 ||
		name_folders(e, false, e->runs.n_groups - 1, &e->compared) < 0 ||
		pmfs_ensemble_collections(e) < 0)
		return pmfs_ensemble_no_memory(err);
	pmfs_ensemble_list_documents(e);
	e->shown.documents.it = e->documents;
	e->shown.documents.n = e->n_documents;
	e->shown.collections.it = e->collections;
	e->shown.collections.n = e->n_collections;
	e->profile.baseline = e->runs.groups[e->base].name;
	return 0;
}

static int get_settled(void *self, struct pm_error *err)
{
	struct pmfs_ensemble *e = pmfs_ensemble_of(self);
	return pm_lazy_get(&e->settled, settle, e, err);
}

static void ensemble_free(struct pmfs_ensemble *e)
{
	for (size_t i = 0; i < sizeof(e->parts) / sizeof(*e->parts); i++)
		pm_part_done(&e->parts[i]);
	pmfs_shelf_free(e->shelf);
	if (!e->filter_of)
		pmfs_runs_done(&e->runs);
	pm_strtab_done(&e->runs_of.numbers);
	pm_strtab_done(&e->compared.numbers);
	pm_arena_done(&e->arena);
	free(e);
}

/* Of a filter of one: its runs are kept apart from those that are not filtered. */
static uint64_t memory(const struct pm_profile *p)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(p->self);
	return sizeof(*e) + e->arena.total + pmfs_shelf_memory(e->shelf);
}

static void ensemble_close(struct pm_profile *p)
{
	ensemble_free(pmfs_ensemble_of(p->self));
}

static int filtered(const struct pm_profile *p, const struct pmfs_filter_what *what,
	struct pm_profile **ret, struct pm_error *err);

static const struct pm_profile_ops ops = {
	.filtered = filtered,
	.close = ensemble_close,
	.memory = memory,
};

static int find_base(struct pmfs_ensemble *e, struct pm_error *err)
{
	const char *name = e->options.base;
	while (name && e->base < e->runs.n_groups &&
		strcmp(e->runs.groups[e->base].name, name) != 0)
		e->base++;
	if (e->base < e->runs.n_groups)
		return 0;
	return pm_error_set(
		err, -EINVAL, NULL, PM_NO_OFFSET, "-o base=%s: no run has that name", name);
}

static int prepare(struct pmfs_ensemble *e, struct pm_error *err)
{
	int r = find_base(e, err);
	if (r < 0)
		return r;
	e->shelf = pmfs_shelf_new(&e->runs, &e->options.shelf);
	if (!e->shelf)
		return pmfs_ensemble_no_memory(err);
	e->title = pm_arena_printf(&e->arena, "%u runs", e->runs.n);
	e->names = pm_arena_array(&e->arena, e->runs.n_groups, sizeof(*e->names));
	if (!e->title || !e->names)
		return pmfs_ensemble_no_memory(err);
	for (uint32_t i = 0; i < e->runs.n_groups; i++)
		e->names[i] = pm_bytes_of(e->runs.groups[i].name);
	e->shown = pm_nothing;
	e->shown.damage.build = pmfs_ensemble_damage;
	e->shown.documents.build = e->shown.collections.build = get_settled;
	e->profile = (struct pm_profile){.ops = &ops,
		.parts = &e->shown,
		.format = "runs",
		.source = e->runs.runs[0].source,
		.layout = "several sources",
		.title = pm_bytes_of(e->title),
		.self = e};
	for (uint32_t i = 0; i < e->runs.n; i++) {
		const struct pmfs_run *run = &e->runs.runs[i];
		e->profile.input_bytes += run->bytes;
		if (run->mtime_ns > e->profile.mtime_ns)
			e->profile.mtime_ns = run->mtime_ns;
	}
	return 0;
}

/*
 * The same runs, each filtered once more. Runs and patterns are those of the other ensemble, which
 * outlives it.
 */
static int filtered(const struct pm_profile *p, const struct pmfs_filter_what *what,
	struct pm_profile **ret, struct pm_error *err)
{
	const struct pmfs_ensemble *of = pmfs_ensemble_of(p->self);
	unsigned n = of->options.shelf.n_filters;
	struct pmfs_pattern pattern;
	if (n == PMFS_MOST_FILTERS || !pmfs_pattern_read(&pattern, what->pattern))
		return pm_error_plain(err, -ENOENT);
	struct pmfs_ensemble *e = calloc(1, sizeof(*e));
	if (!e)
		return pmfs_ensemble_no_memory(err);
	e->filter_of = of;
	e->runs = of->runs;
	e->options = of->options;
	if (n > 0)
		memcpy(e->filters, of->options.shelf.filters, n * sizeof(*e->filters));
	e->filters[n] = *what;
	e->filters[n].pattern = pm_arena_copy(&e->arena, what->pattern);
	e->options.shelf.filters = e->filters;
	e->options.shelf.n_filters = n + 1;
	int r = e->filters[n].pattern.p ? prepare(e, err) : pmfs_ensemble_no_memory(err);
	if (r < 0)
		ensemble_free(e);
	else
		*ret = &e->profile;
	return r;
}

int pmfs_ensemble_open(const char *const *words, const char *const *paths, uint32_t n,
	const struct pmfs_ensemble_options *options, struct pm_profile **ret, struct pm_error *err)
{
	struct pmfs_ensemble *e = calloc(1, sizeof(*e));
	if (!e)
		return pmfs_ensemble_no_memory(err);
	e->options = *options;
	int r = pmfs_runs_list(&e->runs, words, paths, n, options->repetitions, err);
	if (r == 0 && options->mountpoint && pmfs_runs_cover(&e->runs, options->mountpoint) < 0)
		r = pmfs_ensemble_no_memory(err);
	if (r == 0)
		r = prepare(e, err);
	if (r < 0)
		ensemble_free(e);
	else
		*ret = &e->profile;
	return r;
}
