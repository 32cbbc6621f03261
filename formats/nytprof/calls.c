/*
 * Subs return before their callers, so the path of a call is not known when it returns, but only
 * after the next return from each lower depth:
 *
 * 	depth 3   < d     < e
 * 	depth 2              < c        <- calls d and e
 * 	depth 1                         (c's caller is still running)
 *
 * So some thousand returns are collected and then added up backwards (struct nytp_replay). Calls
 * that wait for callers beyond the last event are below nameless paths, one for each depth at which
 * something waits. As long as those callers do not return, the next events are added to the same
 * trie. Once one of them has returned, the trie is out of date: events are then collected until
 * there are more of them than paths in the trie, and everything is added up again. So each event is
 * added up at most twice on average, and memory depends on the number of paths.
 *
 * If only a few calls of the innermost depths wait, they stay in the list of events, because their
 * callers return soon.
 */
#include "formats/nytprof/calls.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/nytprof/limits.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

/* ==== adding up ==== */

/* Steps of a batch: they and the costs that they lead to should fit in the cache. */
enum { STEPS = 1 << 10 };

int nytp_trie_init(struct nytp_trie *t, uint32_t most)
{
	*t = (struct nytp_trie){.costs = NULL};
	return pm_paths_init(&t->paths, most);
}

void nytp_trie_done(struct nytp_trie *t)
{
	pm_paths_done(&t->paths);
	pm_guesses_done(&t->guesses);
	free(t->costs);
	*t = (struct nytp_trie){.costs = NULL};
}

/* Room for the costs of n more paths, before they are added: each path has costs at any time. */
static int room_for_path(struct nytp_trie *t, uint32_t n)
{
	return pm_list_room(&t->costs, (size_t)t->paths.n + n, &t->room, sizeof(*t->costs));
}

static void clear_costs(struct nytp_trie *t, uint32_t from)
{
	for (; from < t->paths.n; from++)
		t->costs[from] = (struct nytp_cost){.calls = 0};
}

uint32_t nytp_trie_child(struct nytp_trie *t, uint32_t parent, uint32_t name)
{
	uint32_t known = t->paths.n;
	if (room_for_path(t, 1) < 0)
		return PM_NONE;
	uint32_t path = pm_paths_child(&t->paths, parent, name);
	clear_costs(t, known);
	return path;
}

/* ---- steps ---- */

static struct nytp_reached reached(uint32_t path)
{
	return (struct nytp_reached){PM_NONE, path, ((uint64_t)path + 1) << 32};
}

/* Replaces a step that has been taken by the path that it led to. */
static void settle(const struct nytp_replay *r, struct nytp_reached *at)
{
	if (at->step == PM_NONE)
		return;
	at->path = r->steps[at->step].path;
	at->hash = r->steps[at->step].hash;
	at->step = PM_NONE;
}

/* Looks up the paths of the steps, and adds what is added to them. Afterwards there are none. */
static int take_steps(struct nytp_replay *r)
{
	struct nytp_trie *t = r->to;
	uint32_t known = t->paths.n;
	if (room_for_path(t, r->n_steps) < 0)
		return -ENOMEM;
	const struct pm_measured costs = {t->costs, t->room, sizeof(*t->costs)};
	int ret = pm_steps_take(&t->paths, &t->guesses, r->steps, r->n_steps, &costs);
	clear_costs(t, known);
	if (ret < 0)
		return ret;
	for (uint32_t i = 0; i < r->n_steps; i++) {
		if (r->steps[i].path == PM_PATHS_FULL) {
			r->full = true;
			continue;
		}
		struct nytp_cost *cost = &t->costs[r->steps[i].path];
		cost->calls += r->added[i].calls;
		cost->incl += r->added[i].incl;
		cost->excl += r->added[i].excl;
	}
	for (size_t i = r->n; i-- > 0 && r->callers[i].at.step != PM_NONE;)
		settle(r, &r->callers[i].at);
	r->n_steps = 0;
	return 0;
}

/* A step to the child of a path. There is room for it. */
static struct nytp_reached add_step(struct nytp_replay *r, const struct nytp_reached *above,
	uint32_t name, struct nytp_cost added)
{
	r->steps[r->n_steps] = (struct pm_step){
		.key = name, .above = above->step, .from = above->path, .hash = above->hash};
	r->added[r->n_steps] = added;
	return (struct nytp_reached){.step = r->n_steps++};
}

static int make_steps(struct nytp_replay *r)
{
	if (!r->steps)
		r->steps = malloc(STEPS * sizeof(*r->steps));
	if (!r->added)
		r->added = malloc(STEPS * sizeof(*r->added));
	return r->steps && r->added ? 0 : -ENOMEM;
}

/* ---- events ---- */

static int call_from(struct nytp_replay *r, uint32_t depth, const struct nytp_reached *at)
{
	if (pm_list_room(&r->callers, r->n, &r->room, sizeof(*r->callers)) < 0)
		return -ENOMEM;
	r->callers[r->n++] = (struct nytp_caller){depth, *at};
	return 0;
}

int nytp_replay_place(struct nytp_replay *r, uint32_t depth, uint32_t path)
{
	const struct nytp_reached at = reached(path);
	return call_from(r, depth, &at);
}

/* The path whose children the calls of that depth are. Deeper ones come later. */
static const struct nytp_reached *caller_of(struct nytp_replay *r, uint32_t depth)
{
	while (r->n > 1 && r->callers[r->n - 1].depth > depth)
		r->n--;
	return &r->callers[r->n - 1].at;
}

static int add_return(struct nytp_replay *r, const struct nytp_event *e)
{
	if (r->n_steps == STEPS && take_steps(r) < 0)
		return -ENOMEM;
	const struct nytp_reached call = add_step(r, caller_of(r, e->depth), e->name,
		(struct nytp_cost){.calls = 1, .incl = e->incl, .excl = e->excl});
	return call_from(r, e->depth + 1, &call);
}

static int add_gap(struct nytp_replay *r, const struct nytp_event *e)
{
	struct nytp_reached at = *caller_of(r, e->to);
	for (uint32_t n = e->shown; n; n--) {
		if (r->n_steps == STEPS) {
			if (take_steps(r) < 0)
				return -ENOMEM;
			settle(r, &at);
		}
		at = add_step(r, &at, NYTP_NOT_RETURNED, (struct nytp_cost){.calls = 0});
	}
	return call_from(r, e->depth, &at);
}

int nytp_replay_events(struct nytp_replay *r, const struct nytp_event *events, size_t n)
{
	int ret = make_steps(r);
	for (size_t i = n; i-- > 0 && ret == 0;)
		ret = events[i].name == NYTP_NONE ? add_gap(r, &events[i])
						  : add_return(r, &events[i]);
	return ret < 0 ? ret : take_steps(r);
}

/* ---- tries ---- */

/* Adds the paths except the top-level ones, which are in `at` already; `at` gets the others. */
static int add_paths(struct nytp_replay *r, const struct nytp_trie *from, struct nytp_reached *at)
{
	uint32_t settled = 0;
	for (uint32_t i = 0; i < from->paths.n; i++) {
		const struct pm_path *path = &from->paths.items[i];
		if (path->parent == PM_NONE)
			continue;
		if (r->n_steps == STEPS) {
			if (take_steps(r) < 0)
				return -ENOMEM;
			for (; settled < i; settled++)
				settle(r, &at[settled]);
		}
		at[i] = add_step(r, &at[path->parent], path->key, from->costs[i]);
	}
	return take_steps(r);
}

int nytp_replay_trie(struct nytp_replay *r, const struct nytp_trie *from,
	const struct nytp_place *places, size_t n)
{
	struct nytp_reached *at = malloc(((size_t)from->paths.n + 1) * sizeof(*at));
	int ret = at ? make_steps(r) : -ENOMEM;
	for (size_t i = n; ret == 0 && i-- > 0;)
		at[places[i].path] = *caller_of(r, places[i].depth);
	if (ret == 0)
		ret = add_paths(r, from, at);
	free(at);
	return ret;
}

void nytp_replay_done(struct nytp_replay *r)
{
	free(r->callers);
	free(r->steps);
	free(r->added);
	*r = (struct nytp_replay){.callers = NULL};
}

/* ==== collecting ==== */

/*
 * Missing callers are shown one by one: all of them for short gaps, and this many contexts for long
 * ones.
 */
enum { GAP_SHORT = 64, GAPS_LONG = 20000 };

/*
 * Number of events that are added up at once: they, and the paths they lead to, should fit in the
 * cache.
 */
enum { EVENTS = 8192 };

struct nytp_level {
	uint32_t depth;
	size_t end; /* after the last event of this depth */
};

void nytp_calls_init(struct nytp_calls *c, size_t *rows)
{
	*c = (struct nytp_calls){.rows = rows};
}

static void forget_waiting(struct nytp_calls *c)
{
	nytp_trie_done(&c->waiting);
	free(c->events);
	free(c->levels);
	c->events = NULL;
	c->levels = NULL;
	c->n_events = c->events_room = c->n_levels = c->levels_room = c->n_bound = 0;
	c->closed = false;
}

void nytp_calls_done(struct nytp_calls *c)
{
	forget_waiting(c);
	nytp_trie_done(&c->tree);
	nytp_calls_init(c, c->rows);
}

/* ---- adding up ---- */

/* Limits the trie to as many paths as there may be rows. `moved` paths will be moved to `t`. */
static int make_room(const struct nytp_calls *c, struct nytp_trie *t, size_t moved)
{
	size_t left = *c->rows < NYTP_LIMIT_ROWS ? NYTP_LIMIT_ROWS - *c->rows : 0;
	if (!t->paths.children && nytp_trie_init(t, 0) < 0)
		return -ENOMEM;
	t->paths.most = (uint32_t)(t->paths.n + moved + left);
	return 0;
}

static void count_rows(struct nytp_calls *c)
{
	*c->rows -= c->counted;
	c->counted = c->tree.paths.n + c->waiting.paths.n;
	*c->rows += c->counted;
}

/*
 * Adds the trie of earlier events. Its top-level paths are the depths at which calls waited, in
 * order.
 */
static int add_waiting(struct nytp_replay *r, const struct nytp_trie *waiting)
{
	struct nytp_place *places = NULL;
	size_t n = 0, room = 0;
	int ret = 0;
	for (uint32_t i = 0; ret == 0 && i < waiting->paths.n; i++) {
		const struct pm_path *path = &waiting->paths.items[i];
		if (path->parent != PM_NONE)
			continue;
		ret = pm_list_room(&places, n, &room, sizeof(*places));
		if (ret == 0)
			places[n++] = (struct nytp_place){path->key, i};
	}
	if (ret == 0)
		ret = nytp_replay_trie(r, waiting, places, n);
	free(places);
	return ret;
}

/* There may be very many outer levels without events, all of whose calls are in `waiting`. */
static bool has_events(const struct nytp_level *level)
{
	return level->end > 0;
}

/*
 * Adds nameless paths for the callers that levels wait for: for levels with events, or in a new
 * trie for all of the first n.
 */
static int place_levels(const struct nytp_calls *c, struct nytp_replay *r, size_t n)
{
	int ret = 0;
	size_t i = c->closed ? 0 : n;
	while (i > 0 && has_events(&c->levels[i - 1]))
		i--;
	for (; i < n && ret == 0; i++) {
		uint32_t path = nytp_trie_child(r->to, PM_NONE, c->levels[i].depth);
		ret = path == PM_NONE ? -ENOMEM : nytp_replay_place(r, c->levels[i].depth, path);
	}
	return ret;
}

/* Moves the events of the first n levels to `waiting`, which is rebuilt if it is `closed`. */
static int add_levels(struct nytp_calls *c, size_t n, bool *ret_full)
{
	struct nytp_trie fresh = {.costs = NULL};
	struct nytp_replay r = {.to = c->closed ? &fresh : &c->waiting};
	int ret = make_room(c, r.to, n + (c->closed ? c->waiting.paths.n : 0));
	if (ret == 0)
		ret = place_levels(c, &r, n);
	if (ret == 0)
		ret = nytp_replay_events(&r, c->events, c->levels[n - 1].end);
	if (ret == 0 && c->closed)
		ret = add_waiting(&r, &c->waiting);
	if (c->closed) {
		nytp_trie_done(&c->waiting);
		c->waiting = fresh;
	}
	c->closed = false;
	count_rows(c);
	*ret_full = r.full;
	nytp_replay_done(&r);
	return ret;
}

/* The first n levels are in `waiting`, so their events are no longer needed. */
static void drop_events(struct nytp_calls *c, size_t n)
{
	size_t done = c->levels[n - 1].end;
	for (size_t i = c->n_levels; i-- > 0 && has_events(&c->levels[i]);)
		c->levels[i].end = i < n ? 0 : c->levels[i].end - done;
	c->n_events -= done;
	memmove(c->events, c->events + done, c->n_events * sizeof(*c->events));
	c->n_bound = n > c->n_bound ? n : c->n_bound;
}

/* -ENOMEM, also if there are too many paths. */
static int relieve(struct nytp_calls *c)
{
	bool full;
	size_t n = c->n_levels, least = c->closed ? c->n_bound : 1;
	while (n > least && c->n_events - c->levels[n - 2].end <= EVENTS / 2)
		n--;
	int r = add_levels(c, n, &full);
	drop_events(c, n);
	return full ? -ENOMEM : r;
}

static bool is_time(const struct nytp_calls *c)
{
	return c->n_events >= EVENTS &&
		(!c->closed || c->n_events >= 2 * (size_t)c->waiting.paths.n);
}

/* ---- events ---- */

static int add_event(struct nytp_calls *c, struct nytp_event event)
{
	if (pm_list_room(&c->events, c->n_events, &c->events_room, sizeof(event)) < 0)
		return -ENOMEM;
	c->events[c->n_events++] = event;
	return 0;
}

/* The number of contexts that represent `gap` missing callers. */
static uint32_t gap_shown(struct nytp_calls *c, uint32_t gap)
{
	if (gap <= GAP_SHORT)
		return gap;
	if (gap > GAPS_LONG - c->long_gap)
		return 1;
	c->long_gap += gap;
	return gap;
}

/*
 * Everything that waits at depths greater than `depth` gets callers that never returned, down to
 * depth + 1.
 */
static int gather(struct nytp_calls *c, uint32_t depth)
{
	while (c->n_levels && c->levels[c->n_levels - 1].depth > depth) {
		uint32_t at = c->levels[--c->n_levels].depth, to = depth + 1;
		if (c->n_levels && c->levels[c->n_levels - 1].depth > depth)
			to = c->levels[c->n_levels - 1].depth;
		struct nytp_event gap = {.depth = at, .name = NYTP_NONE, .to = to};
		if (at > to)
			gap.shown = gap_shown(c, at - to);
		if (at > to && add_event(c, gap) < 0)
			return -ENOMEM;
	}
	return 0;
}

int nytp_calls_return(struct nytp_calls *c, uint32_t depth, uint32_t name, double incl, double excl)
{
	if (depth > PM_LIMIT_DEPTH) {
		depth = PM_LIMIT_DEPTH;
		c->too_deep = true;
	}
	if (*c->rows >= NYTP_LIMIT_ROWS || (is_time(c) && relieve(c) < 0) || gather(c, depth) < 0 ||
		pm_list_room(&c->levels, c->n_levels, &c->levels_room, sizeof(*c->levels)) < 0)
		return -ENOMEM;
	size_t still = c->n_levels;
	if (!c->n_levels || c->levels[c->n_levels - 1].depth < depth)
		c->levels[c->n_levels++] = (struct nytp_level){.depth = depth};
	if (still < c->n_bound) {
		c->closed = true;
		c->n_bound = c->n_levels;
	}
	struct nytp_event event = {.depth = depth, .name = name, .incl = incl, .excl = excl};
	if (add_event(c, event) < 0)
		return -ENOMEM;
	c->levels[c->n_levels - 1].end = c->n_events;
	c->returns++;
	return 0;
}

int nytp_calls_finish(struct nytp_calls *c)
{
	struct nytp_replay r = {.to = &c->tree};
	if (c->n_levels == 0)
		return 0;
	int ret = gather(c, 0);
	if (ret == 0)
		ret = make_room(c, &c->tree, c->waiting.paths.n);
	if (ret == 0)
		ret = nytp_replay_place(&r, 0, PM_NONE);
	if (ret == 0)
		ret = nytp_replay_place(&r, 1, PM_NONE);
	if (ret == 0)
		ret = nytp_replay_events(&r, c->events, c->n_events);
	if (ret == 0)
		ret = add_waiting(&r, &c->waiting);
	nytp_replay_done(&r);
	pm_guesses_done(&c->tree.guesses);
	forget_waiting(c);
	count_rows(c);
	return ret;
}

/* Children come after their parents, so sums propagate upwards in one backward pass. */
void nytp_calls_settle(struct nytp_calls *c)
{
	const struct pm_paths *paths = &c->tree.paths;
	for (uint32_t i = paths->n; i-- > 0;) {
		uint32_t parent = paths->items[i].parent;
		if (parent != PM_NONE && paths->items[parent].key == NYTP_NOT_RETURNED)
			c->tree.costs[parent].incl += c->tree.costs[i].incl;
	}
}
