/*
 * Walks call trees and adds up, in an arena: functions of a partial that are not `int` are called
 * in a build of it, but for zts_partial_drop_paths.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/zts/meta.h"
#include "formats/zts/sums.h"
#include "profmount/limits.h"

static const struct zts_path_sums nothing = {.min_ns = INT64_MAX, .max_ns = INT64_MIN};

/* ---- by path, a cache line each ---- */

/* Whether trace `a` comes before `b` where contexts are numbered: store by store. */
static bool is_before(const struct zts_added *all, uint32_t a, uint32_t b)
{
	return all[a].store != all[b].store ? all[a].store < all[b].store : zts_earlier(all, a, b);
}

/*
 * Notes where paths from `fresh` on were first. Known ones can only have been later if traces are
 * out of order.
 */
static void note_first(
	struct zts_partial *p, const struct zts_tree *tree, uint32_t trace, uint32_t fresh)
{
	uint32_t from = fresh;
	if (p->latest == PM_NONE || !is_before(p->added, trace, p->latest))
		p->latest = trace;
	else
		from = 0;
	for (uint32_t i = 0; from < p->paths.n && i < tree->n; i++) {
		uint32_t path = p->steps[i].path;
		if (path >= from && path != PM_PATHS_FULL &&
			(p->first[path] == UINT64_MAX ||
				is_before(p->added, trace, (uint32_t)(p->first[path] >> 32))))
			p->first[path] = (uint64_t)trace << 32 | i;
	}
}

/* Paths from `fresh` on get sums. */
static void begin_paths(struct zts_partial *p, uint32_t fresh)
{
	pm_list_grow(&p->arena, &p->sums, p->paths.n, &p->sum_room, sizeof(*p->sums));
	pm_list_grow(&p->arena, &p->first, p->paths.n, &p->first_room, sizeof(*p->first));
	for (uint32_t i = fresh; i < p->paths.n; i++) {
		p->sums[i] = nothing;
		p->first[i] = UINT64_MAX;
	}
}

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
static bool add_calls(struct zts_partial *p, const struct zts_tree *tree)
{
	bool all = true;
	memset(p->ns, 0, tree->n * sizeof(*p->ns));
	for (uint32_t i = tree->n; i-- > 0;) {
		uint32_t path = p->steps[i].path;
		zts_call_settle(tree, i, p->ns);
		if (path == PM_PATHS_FULL)
			all = false;
		else
			add_call(&p->sums[path], &tree->calls[i], p->ns[i]);
	}
	return all;
}

/* Calls without a path are only counted for their methods. */
static void add_rest(struct zts_partial *p, const struct zts_tree *tree)
{
	uint32_t open = PM_NONE; /* the previous call, and those around it, have not ended */
	pm_list_grow(p->work, &p->rest, p->n_methods, &p->rest_room, sizeof(*p->rest));
	pm_list_grow(p->work, &p->active, p->n_methods, &p->active_room, sizeof(*p->active));
	for (; p->n_rest < p->n_methods; p->n_rest++) {
		p->rest[p->n_rest] = nothing;
		p->active[p->n_rest] = 0;
	}
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		const struct pm_step *step = &p->steps[i];
		for (; open != call->parent; open = tree->calls[open].parent)
			p->active[p->steps[open].key]--;
		struct zts_path_sums *rest = &p->rest[step->key];
		zts_sum inclusive_ns = rest->sums.inclusive_ns;
		if (step->path == PM_PATHS_FULL) {
			add_call(rest, call, p->ns[i]);
			p->left_out++;
		}
		if (p->active[step->key]++ > 0)
			rest->sums.inclusive_ns = inclusive_ns;
		open = i;
	}
	for (; open != PM_NONE; open = tree->calls[open].parent)
		p->active[p->steps[open].key]--;
}

/*
 * Adds the sums of paths, when `first` has numbers that both understand. Not the shortest and
 * longest calls, nor those without a path: see fold_paths.
 */
static void join_paths(struct zts_partial *to, const struct zts_partial *from)
{
	uint32_t known = to->paths.n;
	uint32_t *places = pm_arena_realloc(&to->arena, NULL, from->paths.n * sizeof(*places) + 1);
	pm_build_check(&to->arena, pm_paths_join(&to->paths, PM_NONE, &from->paths, NULL, places));
	begin_paths(to, known);
	for (uint32_t i = 0; i < from->paths.n; i++) {
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
	pm_arena_free(&to->arena, places);
}

/* ---- by method ---- */

/* Makes methods up to that number. */
static void make_methods(struct zts_partial *p, uint32_t method)
{
	pm_list_grow(&p->arena, &p->methods, method, &p->method_room, sizeof(*p->methods));
	for (; p->n_methods <= method; p->n_methods++)
		p->methods[p->n_methods] = (struct zts_method){.number = p->n_methods};
}

static void method_ended(struct zts_method *m, int64_t min_ns, int64_t max_ns)
{
	if (!m->ended || min_ns < m->min_ns)
		m->min_ns = min_ns;
	if (!m->ended || max_ns > m->max_ns)
		m->max_ns = max_ns;
	m->ended = true;
}

int zts_method_by_time(const void *a, const void *b)
{
	const struct zts_method *x = a, *y = b;
	if (x->sums.exclusive_ns != y->sums.exclusive_ns)
		return x->sums.exclusive_ns > y->sums.exclusive_ns ? -1 : 1;
	return pm_bytes_compare(x->name, y->name);
}

static void add_path(struct zts_method *m, const struct zts_path_sums *path, bool outermost)
{
	struct zts_sums sums = path->sums;
	if (!outermost)
		sums.inclusive_ns = 0;
	zts_sums_add(&m->sums, &sums);
	if (path->min_ns <= path->max_ns)
		method_ended(m, path->min_ns, path->max_ns);
}

/*
 * Adds the sums of paths to methods: their inclusive time is that of outermost calls, and which
 * these are depends on the path.
 */
static void fold_paths(void *partial)
{
	struct zts_partial *p = partial;
	const struct pm_path *items = p->paths.items;
	struct pm_arena *scratch = p->work;
	uint32_t *first = pm_arena_array(scratch, (size_t)p->paths.n + 1, sizeof(*first));
	uint32_t *next = pm_arena_array(scratch, (size_t)p->paths.n + 1, sizeof(*next));
	uint32_t *active = pm_arena_array(scratch, (size_t)p->n_methods + 1, sizeof(*active));
	pm_paths_link(&p->paths, first, next);
	for (uint32_t i = first[0]; i != PM_NONE;) {
		uint32_t method = items[i].key;
		add_path(&p->methods[method], &p->sums[i], active[method]++ == 0);
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
	for (uint32_t i = 0; i < p->n_rest; i++)
		add_path(&p->methods[i], &p->rest[i], true);
}

/* ---- a trace ---- */

/* A trace that is being added. */
struct adding {
	struct zts_partial *p;
	struct zts_stores *stores;
	const struct zts_tree *tree;
	const struct zts_added *trace;
	bool error;
};

/* What is needed of each call. Returns what any of them has. */
static uint32_t take_calls(const struct adding *a)
{
	struct zts_partial *p = a->p;
	const struct zts_tree *tree = a->tree;
	uint32_t has = 0;
	size_t n = 0;
	pm_list_grow(p->work, &p->ended, tree->n, &p->ended_room, sizeof(*p->ended));
	pm_list_grow(p->work, &p->steps, tree->n, &p->step_room, sizeof(*p->steps));
	pm_list_grow(p->work, &p->ns, tree->n, &p->ns_room, sizeof(*p->ns));
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		int64_t ns;
		if (p->window &&
			!pm_window_has(p->window,
				zts_call_time(a->trace->timestamp_ns, tree->calls, call)))
			continue;
		uint32_t method = zts_method_of(a->stores, call->store, call->method);
		if (method >= p->n_methods) {
			pm_build_check(&p->arena, method == PM_NONE ? -ENOMEM : 0);
			make_methods(p, method);
		}
		p->steps[i] =
			(struct pm_step){.key = method, .above = call->parent, .from = PM_NONE};
		has |= call->has;
		bool ended = zts_call_duration(call, &ns);
		if (ended) /* not positive: the clock was set back */
			p->ended[n++] = (struct pm_duration){ns > 0 ? (uint64_t)ns : 0, method};
		if (p->window) { /* calls of windows are not added up by path */
			struct zts_method *m = &p->methods[method];
			m->sums.calls++;
			m->sums.errors += (call->flags & ZTS_FLAG_ERROR) != 0;
			if (ended)
				method_ended(m, ns, ns);
		}
	}
	pm_build_check(&p->arena, pm_durations_add_all(&p->durations, p->ended, n));
	return has;
}

static void add(void *context)
{
	const struct adding *a = context;
	struct zts_partial *p = a->p;
	uint32_t has = ZTS_HAS_EXCEPTION, number = (uint32_t)p->n_added;
	pm_list_grow(&p->arena, &p->added, number, &p->added_room, sizeof(*p->added));
	p->added[p->n_added++] = *a->trace;
	p->added[number].calls = a->tree->n;
	const struct zts_moment moment = {p->added, number, a->trace->timestamp_ns, a->error};
	bool no_calls = p->only_carried || p->again > ZTS_AGAIN_METHODS;
	if (!no_calls)
		has = take_calls(a);
	if (p->window || p->again == ZTS_AGAIN_METHODS)
		return;
	if (!no_calls) {
		const struct pm_measured sums = {p->sums, p->sum_room, sizeof(*p->sums)};
		uint32_t fresh = p->paths.n;
		pm_build_check(&p->arena,
			pm_steps_take(&p->paths, &p->guesses, p->steps, a->tree->n, &sums));
		begin_paths(p, fresh);
		note_first(p, a->tree, number, fresh);
		if (!add_calls(p, a->tree))
			add_rest(p, a->tree);
	}
	if (a->tree->n_attrs)
		zts_attributes_add(&p->attributes, &p->statements, a->tree, &moment);
	if (!p->again && (has & ZTS_HAS_EXCEPTION))
		zts_exceptions_add(&p->exceptions, a->stores, a->tree, &moment);
}

int zts_partial_add(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	const struct zts_added *trace, bool error)
{
	struct adding a = {p, stores, tree, trace, error};
	return pm_build(&p->arena, add, &a);
}

/* ---- begin and end ---- */

static void free_outside(void *partial)
{
	struct zts_partial *p = partial;
	pm_paths_done(&p->paths);
	pm_guesses_done(&p->guesses);
	pm_durations_done(&p->durations);
}

static void begin(void *partial)
{
	struct zts_partial *p = partial;
	p->latest = PM_NONE;
	p->durations.tick_bits = ZTS_TICK_BITS;
	pm_arena_owns(&p->arena, free_outside, p);
	pm_build_check(&p->arena, pm_paths_init(&p->paths, PM_LIMIT_CALL_PATHS));
	p->work = pm_arena_scratch(&p->arena);
	zts_attributes_init(&p->attributes, &p->arena);
	zts_attributes_init(&p->statements, &p->arena);
	p->exceptions = (struct zts_exceptions){
		.arena = &p->arena, .texts = pm_strtab_in(&p->arena), .ids.arena = &p->arena};
}

struct again {
	struct zts_partial *p;
	const struct pm_strtab *texts;
	const struct pm_durations *found;
};

static void begin_again(void *context)
{
	const struct again *a = context;
	struct zts_partial *p = a->p;
	if (p->again == ZTS_AGAIN_METHODS)
		p->durations = (struct pm_durations){.only = a->found->only};
	else
		zts_attributes_again(
			p->again == ZTS_AGAIN_ATTRIBUTES ? &p->attributes : &p->statements,
			a->texts, a->found);
}

int zts_partial_again(struct zts_partial *p, enum zts_again again, const struct pm_strtab *texts,
	const struct pm_durations *found)
{
	struct again a = {p, texts, found};
	p->again = again;
	return pm_build(&p->arena, begin_again, &a);
}

int zts_partial_join_again(struct pm_durations *found, const struct zts_partial *p)
{
	const struct pm_durations *of[] = {[ZTS_AGAIN_METHODS] = &p->durations,
		[ZTS_AGAIN_ATTRIBUTES] = &p->attributes.durations,
		[ZTS_AGAIN_STATEMENTS] = &p->statements.durations};
	return pm_durations_join(found, of[p->again], NULL);
}

int zts_partial_end(struct zts_partial *p)
{
	int r = pm_build(&p->arena, fold_paths, p);
	pm_guesses_done(&p->guesses);
	pm_arena_done(p->work);
	p->work = NULL;
	return r;
}

void zts_partial_join(struct zts_partial *to, const struct zts_partial *from)
{
	if (from->n_methods)
		make_methods(to, from->n_methods - 1);
	for (uint32_t i = 0; i < from->n_methods; i++) {
		zts_sums_add(&to->methods[i].sums, &from->methods[i].sums);
		if (from->methods[i].ended)
			method_ended(
				&to->methods[i], from->methods[i].min_ns, from->methods[i].max_ns);
	}
	join_paths(to, from);
	pm_build_check(&to->arena, pm_durations_join(&to->durations, &from->durations, NULL));
	zts_attributes_join(&to->attributes, &from->attributes);
	zts_attributes_join(&to->statements, &from->statements);
	zts_exceptions_join(&to->exceptions, &from->exceptions);
}

void zts_partial_drop_paths(struct zts_partial *p)
{
	pm_paths_done(&p->paths);
	pm_arena_free(&p->arena, p->sums);
	pm_arena_free(&p->arena, p->first);
	p->sums = NULL;
	p->first = NULL;
}

/* ---- of all threads ---- */

struct zts_adders *zts_adders_new(struct zts_stores *stores)
{
	struct zts_adders *s = malloc(sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct zts_adders){
		.stores = stores, .n = pm_crew_width(), .lock = PTHREAD_MUTEX_INITIALIZER};
	s->items = calloc(s->n, sizeof(*s->items));
	int r = s->items ? 0 : -ENOMEM;
	for (unsigned i = 0; i < s->n && r == 0; i++) {
		struct zts_adder *a = &s->items[i];
		zts_growing_init(&a->growing, &a->tree);
		zts_records_init(&a->values);
		s->free[s->n_free++] = (uint8_t)i;
		r = pm_build(&a->partial.arena, begin, &a->partial);
	}
	if (r == 0)
		return s;
	zts_adders_free(s);
	return NULL;
}

void zts_adders_free(struct zts_adders *s)
{
	for (unsigned i = 0; s && s->items && i < s->n; i++) {
		struct zts_adder *a = &s->items[i];
		pm_arena_done(&a->partial.arena);
		zts_growing_done(&a->growing);
		zts_tree_done(&a->tree);
		zts_records_done(&a->values);
	}
	if (s) {
		free(s->items);
		pthread_mutex_destroy(&s->lock);
	}
	free(s);
}

uint8_t zts_adders_lend(struct zts_adders *s)
{
	pthread_mutex_lock(&s->lock);
	uint8_t adder = s->free[--s->n_free];
	pthread_mutex_unlock(&s->lock);
	return adder;
}

void zts_adders_give_back(struct zts_adders *s, uint8_t adder)
{
	pthread_mutex_lock(&s->lock);
	s->free[s->n_free++] = adder;
	pthread_mutex_unlock(&s->lock);
}
