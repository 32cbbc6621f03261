#include "fs/views/sums/iterations.h"

#include "formats/common/glob.h"
#include "formats/common/list.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/threads.h"
#include "profmount/limits.h"

enum { BETWEEN = 4096 }; /* functions: two checks for cancellation */

/* A context is outside of iterations, is the top of one, or is below such a top. */
enum mark { NONE, HEAD, BELOW };

struct finding {
	struct pm_arena *a;
	const struct pm_profile *profile;
	const struct pm_tree *tree;
	const struct pm_threads *threads;
	const uint8_t *categories;
	uint8_t *marks; /* by context: enum mark */
	struct pmfs_iterations *all;
	struct pmfs_iteration *items; /* all->n of them */
	size_t room;
	bool counting; /* iterations are only counted */
	uint64_t n;
	bool open; /* the previous sample was in the last iteration */
};

/* ---- contexts ---- */

/*
 * By function: whether it has that name; if none has, whether it matches it as a pattern. Names may
 * have any character of patterns. NULL if there are none.
 */
static const bool *find_functions(
	struct pm_arena *a, const struct pmfs_identity *id, struct pm_bytes name)
{
	bool *found = pm_arena_array(a, (size_t)id->n + 1, sizeof(*found)), some = false;
	struct pm_glob glob;
	for (uint32_t i = 0; i < id->n; i++)
		some |= found[i] = pm_bytes_equal(id->functions[i].name, name);
	if (some || name.len >= PM_GLOB_SIZE)
		return some ? found : NULL;
	pm_glob_read(&glob, name);
	for (uint32_t i = 0; i < id->n; i++) {
		some |= found[i] = pm_glob_matches(&glob, id->functions[i].name);
		if (i % BETWEEN == 0)
			pm_build_proceed(a);
	}
	return some ? found : NULL;
}

/* In pre-order, parents come first. */
static bool mark_contexts(struct finding *f, const struct pmfs_identity *id, const bool *found)
{
	bool some = false;
	for (uint32_t i = 0; i < f->tree->n_contexts; i++) {
		uint32_t parent = f->tree->parent[i];
		if (parent != PM_NONE && f->marks[parent]) {
			f->marks[i] = BELOW;
		} else if (pmfs_is_call(id, i) && found[pmfs_function_of(id, i)]) {
			f->marks[i] = HEAD;
			some = true;
		}
	}
	return some;
}

/* ---- reading ---- */

static uint64_t length_of(const struct pm_sample *s)
{
	return s->duration_ns == PM_NO_TIME ? 0 : s->duration_ns;
}

/* 0, or -ENOTSUP if there are too many. */
static int begin(struct finding *f, const struct pm_sample *s)
{
	if (++f->n > PM_LIMIT_ITERATIONS)
		return -ENOTSUP;
	if (f->counting)
		return 0;
	pm_list_grow(f->a, &f->items, f->all->n, &f->room, sizeof(*f->items));
	f->items[f->all->n++] = (struct pmfs_iteration){
		.time_ns = s->time_ns, .first_ns = s->time_ns, .end_ns = s->time_ns, .seq = s->seq};
	return 0;
}

static void cover(struct pmfs_iteration *it, const struct pm_sample *s)
{
	uint64_t end;
	if (__builtin_add_overflow(s->time_ns, length_of(s), &end))
		end = UINT64_MAX;
	it->first_ns = s->time_ns < it->first_ns ? s->time_ns : it->first_ns;
	it->end_ns = end > it->end_ns ? end : it->end_ns;
}

static const int64_t NO_OWN = (int64_t)PM_NO_SELF;

static void own_add(struct pmfs_iteration *it, enum pmfs_category category, uint64_t ns)
{
	int64_t *own = &it->own_ns[category];
	if (*own == NO_OWN || __builtin_add_overflow(*own, ns, own))
		*own = NO_OWN;
}

static void own_take(struct pmfs_iteration *it, enum pmfs_category category, uint64_t ns)
{
	int64_t *own = &it->own_ns[category];
	if (*own == NO_OWN || __builtin_sub_overflow(*own, ns, own))
		*own = NO_OWN;
}

/* Adds a sample, or a call whose time is no part of another one's there. */
static void add_to_last(struct finding *f, const struct pm_sample *s, uint32_t context)
{
	struct pmfs_iteration *it = &f->items[f->all->n - 1];
	if (__builtin_add_overflow(it->duration_ns, length_of(s), &it->duration_ns))
		it->duration_ns = PM_NO_TIME;
	cover(it, s);
	own_add(it, f->categories[context], length_of(s));
}

static int take_sample(struct finding *f, const struct pm_sample *s, uint32_t context)
{
	bool inside = context != PM_NONE && f->marks[context];
	int r = inside && !f->open ? begin(f, s) : 0;
	f->open = inside;
	if (r < 0 || !inside || f->counting)
		return r;
	add_to_last(f, s, context);
	return 0;
}

/*
 * Calls come in pre-order, so the last iteration is the one that a call is below, if any is. The
 * time of a call is a part of that of the call around it. If the iteration has no time of its own,
 * it takes as long as the calls below it that are part of no other one there.
 */
static int take_call(struct finding *f, const struct pm_sample *s, uint32_t context)
{
	enum mark mark = context == PM_NONE ? NONE : f->marks[context];
	int r = mark == HEAD ? begin(f, s) : 0;
	if (r < 0 || mark == NONE || f->counting || f->all->n == 0)
		return r;
	uint32_t around = PM_NONE;
	if (mark == BELOW)
		around = s->within ? pm_tree_find(f->tree, s->within) : f->tree->parent[context];
	if (around == PM_NONE || !f->marks[around]) {
		add_to_last(f, s, context);
		return 0;
	}
	struct pmfs_iteration *it = &f->items[f->all->n - 1];
	own_take(it, f->categories[around], length_of(s));
	own_add(it, f->categories[context], length_of(s));
	return 0;
}

static int read_thread(struct finding *f, uint32_t thread, struct pm_error *err)
{
	struct pmfs_samples samples = {f->profile, thread};
	const struct pm_sample *s;
	int r;
	f->n = 0;
	f->open = false;
	while ((r = pmfs_samples_next(&samples, &s, err)) > 0) {
		uint32_t context = pm_tree_find_sample(f->tree, s->context);
		r = f->profile->traces_are_calls ? take_call(f, s, context)
						 : take_sample(f, s, context);
		if (r < 0)
			return r;
	}
	return r;
}

/* ---- the part ---- */

static void build_iterations(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct pmfs_iterations *all = p;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct finding f = {.a = a, .profile = pmfs_model_profile(m), .all = all, .counting = true};
	const char *name = pmfs_model_iterations(m);
	const struct pmfs_identity *id;
	uint64_t most = 0;
	pm_build_check(a, pm_profile_traces(f.profile, &f.threads, err));
	pm_build_check(a, pmfs_categories(m, &f.categories, err));
	pm_build_check(a, pm_profile_span(f.profile, &all->origin_ns, &all->run_ns, err));
	pm_build_check(a, pmfs_identity(m, &id, err));
	f.tree = id->tree;
	f.marks = pm_arena_array(scratch, (size_t)f.tree->n_contexts + 1, sizeof(*f.marks));
	const bool *found = find_functions(scratch, id, pm_bytes_of(name));
	if (!found || !mark_contexts(&f, id, found))
		pm_build_fail(a,
			pm_error_set(err, -ENOENT, NULL, PM_NO_OFFSET,
				"-o iterations: nothing is called `%s` (see functions.csv)", name));
	/* The thread with most of them. Threads that cannot be read have none. */
	all->thread = PM_NONE;
	for (uint32_t i = 0; i < f.threads->n; i++) {
		int r = f.threads->threads[i].has_trace ? read_thread(&f, i, NULL) : -ENODATA;
		if (r == -ENOTSUP)
			pm_error_set(err, r, NULL, PM_NO_OFFSET,
				"-o iterations: there are more than %u iterations",
				PM_LIMIT_ITERATIONS);
		if (r == -ENOTSUP || pm_is_passing(r))
			pm_build_fail(a, r);
		if (r == 0 && f.n > most) {
			most = f.n;
			all->thread = i;
		}
	}
	f.counting = false;
	if (all->thread != PM_NONE)
		pm_build_check(a, read_thread(&f, all->thread, err));
	pm_arena_done(scratch);
	all->items = f.items;
}

bool pmfs_iteration_window(const struct pmfs_iterations *all, const struct pmfs_iteration *it,
	uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t origin = all->origin_ns, stop;
	if (origin == PM_NO_TIME || all->run_ns == PM_NO_TIME)
		return false;
	if (__builtin_add_overflow(origin, all->run_ns, &stop))
		stop = UINT64_MAX;
	uint64_t start = it->first_ns > origin ? it->first_ns : origin;
	uint64_t end = it->end_ns < stop ? it->end_ns : stop;
	*ret_start = start - origin;
	*ret_end = end - origin;
	return start < end;
}

int pmfs_iterations(struct pmfs_model *m, const struct pmfs_iterations **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_iterations),
		.what = "the iterations", .build = build_iterations};
	return pmfs_model_part(m, PMFS_PART_ITERATIONS, &type, ret, err);
}

int pmfs_has_iterations(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return pmfs_model_iterations(m) && pmfs_model_profile(m)->ops->samples;
}
