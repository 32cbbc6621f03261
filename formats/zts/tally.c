/*
 * Calls are added to their paths, one cache line each, and methods are computed from those at the
 * end: a method's inclusive time is that of its outermost calls, and which calls are outermost
 * depends on the path.
 */
#include "formats/zts/tally.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/zts/meta.h"
#include "profmount/limits.h"

static const struct zts_path_sums nothing = {.min_ns = INT64_MAX, .max_ns = INT64_MIN};

/* Whether trace `a` comes before `b` where contexts are numbered: store by store. */
static bool is_before(const struct zts_added *all, uint32_t a, uint32_t b)
{
	return all[a].store != all[b].store ? all[a].store < all[b].store : zts_earlier(all, a, b);
}

/*
 * Notes where paths from `fresh` on were first. Known ones can only have been later if traces are
 * out of order.
 */
static void note_first(struct zts_tally *t, const struct zts_tree *tree,
	const struct zts_added *all, uint32_t trace, uint32_t fresh)
{
	uint32_t from = fresh;
	if (t->latest == PM_NONE || !is_before(all, trace, t->latest))
		t->latest = trace;
	else
		from = 0;
	for (uint32_t i = 0; from < t->paths.n && i < tree->n; i++) {
		uint32_t path = t->steps[i].path;
		if (path >= from && path != PM_PATHS_FULL &&
			(t->first[path] == UINT64_MAX ||
				is_before(all, trace, (uint32_t)(t->first[path] >> 32))))
			t->first[path] = (uint64_t)trace << 32 | i;
	}
}

/* Paths from `fresh` on get sums. */
static int begin_paths(struct zts_tally *t, uint32_t fresh)
{
	if (pm_list_room(&t->sums, t->paths.n, &t->sum_room, sizeof(*t->sums)) < 0 ||
		pm_list_room(&t->first, t->paths.n, &t->first_room, sizeof(*t->first)) < 0)
		return -ENOMEM;
	for (uint32_t i = fresh; i < t->paths.n; i++) {
		t->sums[i] = nothing;
		t->first[i] = UINT64_MAX;
	}
	return 0;
}

/* ---- adding up ---- */

/* `ns` is from zts_call_settle. */
static inline void add_call(struct zts_path_sums *to, const struct zts_call *call, zts_sum ns)
{
	int64_t duration_ns;
	to->sums.calls++;
	to->sums.errors += (call->flags & ZTS_FLAG_ERROR) != 0;
	if (zts_call_duration(call, &duration_ns)) {
		to->min_ns = duration_ns < to->min_ns ? duration_ns : to->min_ns;
		to->max_ns = duration_ns > to->max_ns ? duration_ns : to->max_ns;
		to->sums.inclusive_ns += duration_ns;
		to->sums.exclusive_ns += ns;
	} else {
		to->sums.inclusive_ns += ns;
	}
}

/* Calls after their callers; false if some have paths that were left out. */
static bool add_calls(struct zts_tally *t, const struct zts_tree *tree)
{
	bool all = true;
	memset(t->ns, 0, tree->n * sizeof(*t->ns));
	for (uint32_t i = tree->n; i-- > 0;) {
		uint32_t path = t->steps[i].path;
		zts_call_settle(tree, i, t->ns);
		if (path == PM_PATHS_FULL)
			all = false;
		else
			add_call(&t->sums[path], &tree->calls[i], t->ns[i]);
	}
	return all;
}

static int rest_room(struct zts_tally *t, uint32_t method)
{
	if (pm_list_room(&t->rest, method, &t->rest_room, sizeof(*t->rest)) < 0 ||
		pm_list_room(&t->active, method, &t->active_room, sizeof(*t->active)) < 0)
		return -ENOMEM;
	for (; t->n_rest <= method; t->n_rest++) {
		t->rest[t->n_rest] = nothing;
		t->active[t->n_rest] = 0;
	}
	return 0;
}

/* Calls without a path are only counted for their methods. */
static int add_rest(struct zts_tally *t, const struct zts_tree *tree)
{
	uint32_t open = PM_NONE; /* the previous call, and those around it, have not ended */
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		const struct pm_step *step = &t->steps[i];
		for (; open != call->parent; open = tree->calls[open].parent)
			t->active[t->steps[open].key]--;
		if (rest_room(t, step->key) < 0)
			return -ENOMEM;
		struct zts_path_sums *rest = &t->rest[step->key];
		zts_sum inclusive_ns = rest->sums.inclusive_ns;
		if (step->path == PM_PATHS_FULL) {
			add_call(rest, call, t->ns[i]);
			t->left_out++;
		}
		if (t->active[step->key]++ > 0)
			rest->sums.inclusive_ns = inclusive_ns;
		open = i;
	}
	for (; open != PM_NONE; open = tree->calls[open].parent)
		t->active[t->steps[open].key]--;
	return 0;
}

int zts_tally_room(struct zts_tally *t, uint32_t n)
{
	int r = pm_list_room(&t->steps, n, &t->step_room, sizeof(*t->steps));
	return r < 0 ? r : pm_list_room(&t->ns, n, &t->ns_room, sizeof(*t->ns));
}

int zts_tally_add(struct zts_tally *t, const struct zts_tree *tree, const struct zts_added *all,
	uint32_t trace)
{
	const struct pm_measured sums = {t->sums, t->sum_room, sizeof(*t->sums)};
	uint32_t fresh = t->paths.n;
	if (pm_steps_take(&t->paths, &t->guesses, t->steps, tree->n, &sums) < 0 ||
		begin_paths(t, fresh) < 0)
		return -ENOMEM;
	note_first(t, tree, all, trace, fresh);
	return add_calls(t, tree) ? 0 : add_rest(t, tree);
}

int zts_tally_join(struct zts_tally *to, const struct zts_tally *from, const uint32_t *methods)
{
	uint32_t known = to->paths.n;
	uint32_t *places = malloc(from->paths.n * sizeof(*places) + 1);
	int r = places ? pm_paths_join(&to->paths, PM_NONE, &from->paths, methods, places)
		       : -ENOMEM;
	if (r == 0)
		r = begin_paths(to, known);
	for (uint32_t i = 0; i < from->paths.n && r == 0; i++) {
		uint32_t place = places[i];
		if (place == PM_PATHS_FULL) {
			to->left_out += from->sums[i].sums.calls;
			continue;
		}
		zts_sums_add(&to->sums[place].sums, &from->sums[i].sums);
		if (from->first[i] < to->first[place])
			to->first[place] = from->first[i];
	}
	to->left_out += from->left_out;
	free(places);
	return r;
}

/* ---- methods ---- */

void zts_method_ended(struct zts_method *m, int64_t min_ns, int64_t max_ns)
{
	if (!m->ended || min_ns < m->min_ns)
		m->min_ns = min_ns;
	if (!m->ended || max_ns > m->max_ns)
		m->max_ns = max_ns;
	m->ended = true;
}

void zts_method_add(struct zts_method *to, const struct zts_method *from)
{
	zts_sums_add(&to->sums, &from->sums);
	if (from->ended)
		zts_method_ended(to, from->min_ns, from->max_ns);
}

int zts_method_by_time(const void *a, const void *b)
{
	const struct zts_method *x = a, *y = b;
	if (x->sums.exclusive_ns != y->sums.exclusive_ns)
		return x->sums.exclusive_ns > y->sums.exclusive_ns ? -1 : 1;
	return pm_bytes_compare(x->name, y->name);
}

static void add_method(struct zts_method *m, const struct zts_path_sums *path, bool outermost)
{
	struct zts_sums sums = path->sums;
	if (!outermost)
		sums.inclusive_ns = 0;
	zts_sums_add(&m->sums, &sums);
	if (path->min_ns <= path->max_ns)
		zts_method_ended(m, path->min_ns, path->max_ns);
}

static void walk_paths(const struct zts_tally *t, struct zts_method *methods, const uint32_t *first,
	const uint32_t *next, uint32_t *active)
{
	const struct pm_path *items = t->paths.items;
	for (uint32_t i = first[0]; i != PM_NONE;) {
		uint32_t method = items[i].key;
		add_method(&methods[method], &t->sums[i], active[method]++ == 0);
		if (first[i + 1] != PM_NONE) {
			i = first[i + 1];
			continue;
		}
		active[method]--;
		while (next[i] == PM_NONE && items[i].parent != PM_NONE) {
			i = items[i].parent;
			active[items[i].key]--;
		}
		i = next[i];
	}
}

int zts_tally_fold(const struct zts_tally *t, struct zts_method *methods, uint32_t n_methods)
{
	uint32_t *first = malloc(((size_t)t->paths.n + 1) * sizeof(*first));
	uint32_t *next = malloc(((size_t)t->paths.n + 1) * sizeof(*next));
	uint32_t *active = calloc((size_t)n_methods + 1, sizeof(*active));
	bool made = first && next && active;
	if (made) {
		pm_paths_link(&t->paths, first, next);
		walk_paths(t, methods, first, next, active);
		for (uint32_t i = 0; i < t->n_rest; i++)
			add_method(&methods[i], &t->rest[i], true);
	}
	free(first);
	free(next);
	free(active);
	return made ? 0 : -ENOMEM;
}

int zts_tally_init(struct zts_tally *t)
{
	*t = (struct zts_tally){.latest = PM_NONE};
	return pm_paths_init(&t->paths, PM_LIMIT_CALL_PATHS);
}

void zts_tally_end(struct zts_tally *t)
{
	pm_guesses_done(&t->guesses);
	free(t->steps);
	free(t->ns);
	free(t->rest);
	free(t->active);
	t->steps = NULL;
	t->ns = NULL;
	t->rest = NULL;
	t->active = NULL;
}

void zts_tally_done(struct zts_tally *t)
{
	zts_tally_end(t);
	pm_paths_done(&t->paths);
	free(t->sums);
	free(t->first);
	*t = (struct zts_tally){.left_out = 0};
}
