/* Walks call trees and adds up. */
#include "formats/zts/partial.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/zts/attrs.h"
#include "profmount/limits.h"

/* Makes methods up to that number. 0 or -ENOMEM. */
static int make_methods(struct zts_partial *p, uint32_t method)
{
	if (pm_list_room(&p->methods, method, &p->method_room, sizeof(*p->methods)) < 0 ||
		pm_list_room(&p->brief, method, &p->brief_room, sizeof(*p->brief)) < 0)
		return -ENOMEM;
	for (; p->n_methods <= method; p->n_methods++) {
		p->methods[p->n_methods] = (struct zts_method){.number = p->n_methods};
		p->brief[p->n_methods] = (struct zts_brief){{0}};
	}
	return 0;
}

/* ---- tallies: calls added up by path, a cache line each ---- */

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

/* ---- tallies: adding up ---- */

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

/* Makes room for the steps of a trace of n calls. */
static int tally_room(struct zts_tally *t, uint32_t n)
{
	int r = pm_list_room(&t->steps, n, &t->step_room, sizeof(*t->steps));
	return r < 0 ? r : pm_list_room(&t->ns, n, &t->ns_room, sizeof(*t->ns));
}

/*
 * Adds the calls of a trace, which is all[trace]. Their steps are in t->steps, with methods as
 * keys.
 */
static int tally_add(struct zts_tally *t, const struct zts_tree *tree, const struct zts_added *all,
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

/*
 * Adds the sums of paths, when `first` has numbers that both understand. Not the shortest and
 * longest calls, nor those without a path: see tally_fold.
 */
static int tally_join(struct zts_tally *to, const struct zts_tally *from)
{
	uint32_t known = to->paths.n;
	uint32_t *places = malloc(from->paths.n * sizeof(*places) + 1);
	int r = places ? pm_paths_join(&to->paths, PM_NONE, &from->paths, NULL, places) : -ENOMEM;
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

/* ---- tallies: methods ---- */

static void method_ended(struct zts_method *m, int64_t min_ns, int64_t max_ns)
{
	if (!m->ended || min_ns < m->min_ns)
		m->min_ns = min_ns;
	if (!m->ended || max_ns > m->max_ns)
		m->max_ns = max_ns;
	m->ended = true;
}

static void method_add(struct zts_method *to, const struct zts_method *from)
{
	zts_sums_add(&to->sums, &from->sums);
	if (from->ended)
		method_ended(to, from->min_ns, from->max_ns);
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

static void walk_paths(const struct zts_tally *t, struct zts_method *methods, const uint32_t *first,
	const uint32_t *next, uint32_t *active)
{
	const struct pm_path *items = t->paths.items;
	for (uint32_t i = first[0]; i != PM_NONE;) {
		uint32_t method = items[i].key;
		add_path(&methods[method], &t->sums[i], active[method]++ == 0);
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

/*
 * Adds the sums to `methods`: their inclusive time is that of outermost calls, and which these are
 * depends on the path.
 */
static int tally_fold(const struct zts_tally *t, struct zts_method *methods, uint32_t n_methods)
{
	uint32_t *first = malloc(((size_t)t->paths.n + 1) * sizeof(*first));
	uint32_t *next = malloc(((size_t)t->paths.n + 1) * sizeof(*next));
	uint32_t *active = calloc((size_t)n_methods + 1, sizeof(*active));
	bool made = first && next && active;
	if (made) {
		pm_paths_link(&t->paths, first, next);
		walk_paths(t, methods, first, next, active);
		for (uint32_t i = 0; i < t->n_rest; i++)
			add_path(&methods[i], &t->rest[i], true);
	}
	free(first);
	free(next);
	free(active);
	return made ? 0 : -ENOMEM;
}

static int tally_init(struct zts_tally *t)
{
	*t = (struct zts_tally){.latest = PM_NONE};
	return pm_paths_init(&t->paths, PM_LIMIT_CALL_PATHS);
}

static void tally_end(struct zts_tally *t)
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
	tally_end(t);
	pm_paths_done(&t->paths);
	free(t->sums);
	free(t->first);
	*t = (struct zts_tally){.left_out = 0};
}

/* ---- a trace ---- */

/*
 * Counts a call that took `ns`; 0 if the clock was set back during it. A call that was not brief is
 * added to p->ended, of which there are *n.
 */
static inline int count_duration(struct zts_partial *p, uint32_t method, int64_t ns, size_t *n)
{
	uint64_t duration = ns > 0 ? (uint64_t)ns : 0;
	if (duration >= ZTS_BRIEF * ZTS_TICK_NS) {
		p->ended[(*n)++] = (struct pm_duration){duration, method};
		return 0;
	}
	uint32_t *calls = &p->brief[method].calls[duration / ZTS_TICK_NS];
	if (++*calls < UINT32_MAX)
		return 0;
	*calls = 0;
	return pm_durations_add(&p->durations, method, duration, UINT32_MAX);
}

static int add_brief(struct zts_partial *p)
{
	int r = 0;
	for (uint32_t method = 0; method < p->n_methods; method++)
		for (uint32_t ticks = 0; ticks < ZTS_BRIEF && r == 0; ticks++)
			r = pm_durations_add(&p->durations, method, ticks * ZTS_TICK_NS,
				p->brief[method].calls[ticks]);
	return r;
}

/* Of a window, whose calls are not added up by path. */
static void count_alone(struct zts_method *m, const struct zts_call *call)
{
	int64_t ns;
	m->sums.calls++;
	m->sums.errors += (call->flags & ZTS_FLAG_ERROR) != 0;
	if (zts_call_duration(call, &ns))
		method_ended(m, ns, ns);
}

/* What is needed of each call. *ret_has: what any of them has. */
static int take_calls(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	uint64_t trace_ns, uint32_t *ret_has)
{
	size_t n = 0;
	*ret_has = 0;
	if (pm_list_room(&p->ended, tree->n, &p->ended_room, sizeof(*p->ended)) < 0 ||
		tally_room(&p->tally, tree->n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		if (p->window &&
			!pm_window_has(p->window, zts_call_time(trace_ns, tree->calls, call)))
			continue;
		uint32_t method = zts_method_of(stores, call->store, call->method);
		int64_t ns;
		if (method >= p->n_methods && (method == PM_NONE || make_methods(p, method) < 0))
			return -ENOMEM;
		p->tally.steps[i] =
			(struct pm_step){.key = method, .above = call->parent, .from = PM_NONE};
		*ret_has |= call->has;
		if (zts_call_duration(call, &ns) && count_duration(p, method, ns, &n) < 0)
			return -ENOMEM;
		if (p->window)
			count_alone(&p->methods[method], call);
	}
	return pm_durations_add_all(&p->durations, p->ended, n);
}

int zts_partial_add(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	const struct zts_added *trace, bool error)
{
	uint32_t has = ZTS_HAS_EXCEPTION, number = (uint32_t)p->n_added;
	if (pm_list_room(&p->added, number, &p->added_room, sizeof(*p->added)) < 0)
		return -ENOMEM;
	p->added[p->n_added++] = *trace;
	p->added[number].calls = tree->n;
	const struct zts_moment moment = {p->added, number, trace->timestamp_ns, error};
	bool no_calls = p->only_carried || p->again > ZTS_AGAIN_METHODS;
	int r = no_calls ? 0 : take_calls(p, stores, tree, trace->timestamp_ns, &has);
	if (r < 0 || p->window || p->again == ZTS_AGAIN_METHODS)
		return r;
	if (!no_calls)
		r = tally_add(&p->tally, tree, p->added, number);
	if (r == 0 && tree->n_attrs)
		r = zts_attributes_add(&p->attributes, &p->statements, tree, &moment, &p->texts);
	if (r < 0 || p->again || !(has & ZTS_HAS_EXCEPTION))
		return r;
	return zts_exceptions_add(&p->exceptions, stores, tree, &moment, &p->texts);
}

int zts_partial_init(struct zts_partial *p)
{
	*p = (struct zts_partial){.texts = {.block = NULL}};
	return tally_init(&p->tally);
}

/* ---- a pass for percentiles ---- */

int zts_partial_again(struct zts_partial *p, enum zts_again again, const struct pm_strtab *texts,
	const struct pm_durations *found)
{
	p->again = again;
	if (again != ZTS_AGAIN_METHODS)
		return zts_attributes_again(
			again == ZTS_AGAIN_ATTRIBUTES ? &p->attributes : &p->statements, texts,
			found, &p->texts);
	p->durations.only = found->only;
	return 0;
}

int zts_partial_join_again(struct pm_durations *found, const struct zts_partial *p)
{
	const struct pm_durations *of[] = {[ZTS_AGAIN_METHODS] = &p->durations,
		[ZTS_AGAIN_ATTRIBUTES] = &p->attributes.durations,
		[ZTS_AGAIN_STATEMENTS] = &p->statements.durations};
	return pm_durations_join(found, of[p->again], NULL);
}

/* ---- the end ---- */

int zts_partial_end(struct zts_partial *p)
{
	free(p->ended);
	p->ended = NULL;
	int r = add_brief(p);
	if (r == 0)
		r = tally_fold(&p->tally, p->methods, p->n_methods);
	free(p->brief);
	p->brief = NULL;
	p->brief_room = 0;
	tally_end(&p->tally);
	return r;
}

int zts_partial_join(struct zts_partial *to, const struct zts_partial *from)
{
	int r = from->n_methods ? make_methods(to, from->n_methods - 1) : 0;
	for (uint32_t i = 0; i < from->n_methods && r == 0; i++)
		method_add(&to->methods[i], &from->methods[i]);
	if (r == 0)
		r = tally_join(&to->tally, &from->tally);
	if (r == 0)
		r = pm_durations_join(&to->durations, &from->durations, NULL);
	if (r == 0)
		r = zts_attributes_join(&to->attributes, &from->attributes, &to->texts);
	if (r == 0)
		r = zts_attributes_join(&to->statements, &from->statements, &to->texts);
	if (r == 0)
		r = zts_exceptions_join(&to->exceptions, &from->exceptions, &to->texts);
	return r;
}

void zts_partial_done(struct zts_partial *p)
{
	pm_arena_done(&p->texts);
	zts_tally_done(&p->tally);
	pm_durations_done(&p->durations);
	free(p->brief);
	free(p->ended);
	zts_attributes_done(&p->attributes);
	zts_attributes_done(&p->statements);
	zts_exceptions_done(&p->exceptions);
	free(p->methods);
	free(p->added);
	*p = (struct zts_partial){.texts = {.block = NULL}};
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
		r = zts_partial_init(&a->partial);
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
		zts_partial_done(&a->partial);
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
