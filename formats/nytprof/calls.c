/*
 * Subs return before their callers, so the path of a call is not known when it returns, but only
 * after the next return from each lower depth:
 *
 * 	depth 3   < d     < e
 * 	depth 2              < c        <- calls d and e
 * 	depth 1                         (c's caller is still running)
 *
 * So some thousand returns are collected and then added up backwards (struct replay). Calls
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

#include "formats/common/list.h"
#include "formats/nytprof/limits.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

/* ==== adding up ==== */

/* Steps of a batch: they and the costs that they lead to should fit in the cache. */
enum { STEPS = 1 << 10 };

/* A return; or a gap, with the name NYTP_NONE: callers that did not return. */
struct nytp_event {
	uint32_t depth, name;
	union {
		struct {
			double incl, excl;
		};
		/* Calls at `depth` get `shown` callers above them, the topmost at depth `to`. */
		struct {
			uint32_t to, shown;
		};
	};
};

/* A path, or a step to one that is not looked up yet. */
struct reached {
	uint32_t step; /* in replay.steps; PM_NONE: the path is known */
	uint32_t path; /* PM_NONE: the top */
	uint64_t hash; /* see pm_step.hash; of `path` */
};

/* Calls of `depth` are its children. */
struct caller {
	uint32_t depth;
	struct reached at;
};

struct replay {
	struct pm_arena *arena; /* can be dropped afterwards */
	struct nytp_trie *to;
	struct caller *callers; /* by depth, the greatest last */
	size_t n, room;
	struct pm_step *steps;   /* looked up together */
	struct nytp_cost *added; /* by each step, to its path */
	uint32_t n_steps;
	bool full; /* the limit of paths was reached: calls are missing */
};

static struct replay replay_begin(struct pm_arena *scratch, struct nytp_trie *to)
{
	return (struct replay){.arena = scratch,
		.to = to,
		.steps = pm_arena_array(scratch, STEPS, sizeof(struct pm_step)),
		.added = pm_arena_array(scratch, STEPS, sizeof(struct nytp_cost))};
}

/* ---- tries ---- */

static void trie_done(struct nytp_trie *t)
{
	pm_arena_free(t->paths.arena, t->costs);
	pm_guesses_done(&t->guesses);
	pm_paths_done(&t->paths);
	*t = (struct nytp_trie){.costs = NULL};
}

/* Room for the costs of n more paths, before they are added: each path has costs at any time. */
static void room_for_path(struct nytp_trie *t, uint32_t n)
{
	pm_list_grow(
		t->paths.arena, &t->costs, (size_t)t->paths.n + n, &t->room, sizeof(*t->costs));
}

static void clear_costs(struct nytp_trie *t, uint32_t from)
{
	for (; from < t->paths.n; from++)
		t->costs[from] = (struct nytp_cost){.calls = 0};
}

/* ---- steps ---- */

/* Replaces a step that has been taken by the path that it led to. */
static void settle(const struct replay *r, struct reached *at)
{
	if (at->step == PM_NONE)
		return;
	at->path = r->steps[at->step].path;
	at->hash = r->steps[at->step].hash;
	at->step = PM_NONE;
}

/* Looks up the paths of the steps, and adds what is added to them. Afterwards there are none. */
static void take_steps(struct replay *r)
{
	struct nytp_trie *t = r->to;
	uint32_t known = t->paths.n;
	room_for_path(t, r->n_steps);
	const struct pm_measured costs = {t->costs, t->room, sizeof(*t->costs)};
	pm_build_check(
		r->arena, pm_steps_take(&t->paths, &t->guesses, r->steps, r->n_steps, &costs));
	clear_costs(t, known);
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
}

/* A step to the child of a path. There is room for it. */
static struct reached add_step(
	struct replay *r, const struct reached *above, uint32_t name, struct nytp_cost added)
{
	r->steps[r->n_steps] = (struct pm_step){
		.key = name, .above = above->step, .from = above->path, .hash = above->hash};
	r->added[r->n_steps] = added;
	return (struct reached){.step = r->n_steps++};
}

/* ---- events ---- */

/* Calls of `depth`, greater than those before it, are children of `at`. */
static void call_from(struct replay *r, uint32_t depth, struct reached at)
{
	pm_list_grow(r->arena, &r->callers, r->n, &r->room, sizeof(*r->callers));
	r->callers[r->n++] = (struct caller){depth, at};
}

static void call_from_path(struct replay *r, uint32_t depth, uint32_t path)
{
	call_from(r, depth, (struct reached){PM_NONE, path, ((uint64_t)path + 1) << 32});
}

/* The path whose children the calls of that depth are. Deeper ones come later. */
static const struct reached *caller_of(struct replay *r, uint32_t depth)
{
	while (r->n > 1 && r->callers[r->n - 1].depth > depth)
		r->n--;
	return &r->callers[r->n - 1].at;
}

static void add_gap(struct replay *r, const struct nytp_event *e)
{
	struct reached at = *caller_of(r, e->to);
	for (uint32_t n = e->shown; n; n--) {
		if (r->n_steps == STEPS) {
			take_steps(r);
			settle(r, &at);
		}
		at = add_step(r, &at, NYTP_NOT_RETURNED, (struct nytp_cost){.calls = 0});
	}
	call_from(r, e->depth, at);
}

/*
 * Adds events from the last one to the first. Each return and gap finds a caller of its depth, or
 * of `to`.
 */
static void replay_events(struct replay *r, const struct nytp_event *events, size_t n)
{
	for (size_t i = n; i-- > 0;) {
		const struct nytp_event *e = &events[i];
		if (e->name == NYTP_NONE) {
			add_gap(r, e);
			continue;
		}
		if (r->n_steps == STEPS)
			take_steps(r);
		call_from(r, e->depth + 1,
			add_step(r, caller_of(r, e->depth), e->name,
				(struct nytp_cost){.calls = 1, .incl = e->incl, .excl = e->excl}));
	}
	take_steps(r);
}

/*
 * Adds a trie of earlier events. Its top-level paths are the depths at which calls waited, in
 * order, for which callers are found like those of an event.
 */
static void replay_trie(struct replay *r, const struct nytp_trie *from)
{
	uint32_t settled = 0;
	struct reached *at = pm_arena_array(r->arena, from->paths.n, sizeof(*at));
	for (uint32_t i = from->paths.n; i-- > 0;)
		if (from->paths.items[i].parent == PM_NONE)
			at[i] = *caller_of(r, from->paths.items[i].key);
	for (uint32_t i = 0; i < from->paths.n; i++) {
		const struct pm_path *path = &from->paths.items[i];
		if (path->parent == PM_NONE)
			continue;
		if (r->n_steps == STEPS) {
			take_steps(r);
			for (; settled < i; settled++)
				settle(r, &at[settled]);
		}
		at[i] = add_step(r, &at[path->parent], path->key, from->costs[i]);
	}
	take_steps(r);
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

void nytp_calls_init(
	struct nytp_calls *c, struct pm_arena *arena, struct pm_arena *waiting, size_t *rows)
{
	*c = (struct nytp_calls){.arena = arena,
		.of_waiting = waiting,
		.scratch = pm_arena_scratch(waiting),
		.rows = rows};
}

/* ---- adding up ---- */

/* Limits the trie to as many paths as there may be rows. `moved` paths will be moved to `t`. */
static void make_room(
	const struct nytp_calls *c, struct pm_arena *a, struct nytp_trie *t, size_t moved)
{
	size_t left = *c->rows < NYTP_LIMIT_ROWS ? NYTP_LIMIT_ROWS - *c->rows : 0;
	if (!t->paths.children) {
		*t = (struct nytp_trie){.guesses.arena = a};
		pm_paths_init_in(a, &t->paths, 0);
	}
	t->paths.most = (uint32_t)(t->paths.n + moved + left);
}

static void count_rows(struct nytp_calls *c)
{
	*c->rows -= c->counted;
	c->counted = c->tree.paths.n + c->waiting.paths.n;
	*c->rows += c->counted;
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
static void place_levels(const struct nytp_calls *c, struct replay *r, size_t n)
{
	size_t i = c->closed ? 0 : n;
	while (i > 0 && has_events(&c->levels[i - 1]))
		i--;
	for (; i < n; i++) {
		uint32_t known = r->to->paths.n, depth = c->levels[i].depth;
		room_for_path(r->to, 1);
		call_from_path(r, depth, pm_paths_child(&r->to->paths, PM_NONE, depth));
		clear_costs(r->to, known);
	}
}

/* Moves the events of the first n levels to `waiting`, which is rebuilt if it is `closed`. */
static bool add_levels(struct nytp_calls *c, size_t n)
{
	struct nytp_trie fresh = {.costs = NULL};
	struct replay r = replay_begin(c->scratch, c->closed ? &fresh : &c->waiting);
	make_room(c, c->of_waiting, r.to, n + (c->closed ? c->waiting.paths.n : 0));
	place_levels(c, &r, n);
	replay_events(&r, c->events, c->levels[n - 1].end);
	if (c->closed) {
		replay_trie(&r, &c->waiting);
		trie_done(&c->waiting);
		c->waiting = fresh;
	}
	c->closed = false;
	count_rows(c);
	pm_arena_done(c->scratch);
	return !r.full;
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

static void relieve(struct nytp_calls *c)
{
	size_t n = c->n_levels, least = c->closed ? c->n_bound : 1;
	while (n > least && c->n_events - c->levels[n - 2].end <= EVENTS / 2)
		n--;
	bool all = add_levels(c, n);
	drop_events(c, n);
	if (!all)
		pm_build_fail(c->arena, NYTP_FULL);
}

/* ---- events ---- */

static void add_event(struct nytp_calls *c, struct nytp_event event)
{
	pm_list_grow(c->of_waiting, &c->events, c->n_events, &c->events_room, sizeof(event));
	c->events[c->n_events++] = event;
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
static void gather(struct nytp_calls *c, uint32_t depth)
{
	while (c->n_levels && c->levels[c->n_levels - 1].depth > depth) {
		uint32_t at = c->levels[--c->n_levels].depth, to = depth + 1;
		if (c->n_levels && c->levels[c->n_levels - 1].depth > depth)
			to = c->levels[c->n_levels - 1].depth;
		struct nytp_event gap = {.depth = at, .name = NYTP_NONE, .to = to};
		if (at > to) {
			gap.shown = gap_shown(c, at - to);
			add_event(c, gap);
		}
	}
}

void nytp_calls_return(
	struct nytp_calls *c, uint32_t depth, uint32_t name, double incl, double excl)
{
	if (depth > PM_LIMIT_DEPTH) {
		depth = PM_LIMIT_DEPTH;
		c->too_deep = true;
	}
	if (*c->rows >= NYTP_LIMIT_ROWS)
		pm_build_fail(c->arena, NYTP_FULL);
	if (c->n_events >= EVENTS && (!c->closed || c->n_events >= 2 * (size_t)c->waiting.paths.n))
		relieve(c);
	gather(c, depth);
	pm_list_grow(c->of_waiting, &c->levels, c->n_levels, &c->levels_room, sizeof(*c->levels));
	size_t still = c->n_levels;
	if (!c->n_levels || c->levels[c->n_levels - 1].depth < depth)
		c->levels[c->n_levels++] = (struct nytp_level){.depth = depth};
	if (still < c->n_bound) {
		c->closed = true;
		c->n_bound = c->n_levels;
	}
	add_event(c, (struct nytp_event){.depth = depth, .name = name, .incl = incl, .excl = excl});
	c->levels[c->n_levels - 1].end = c->n_events;
	c->returns++;
}

void nytp_calls_finish(struct nytp_calls *c)
{
	if (c->n_levels == 0)
		return;
	gather(c, 0);
	struct replay r = replay_begin(c->scratch, &c->tree);
	make_room(c, c->arena, &c->tree, c->waiting.paths.n);
	call_from_path(&r, 0, PM_NONE);
	call_from_path(&r, 1, PM_NONE);
	replay_events(&r, c->events, c->n_events);
	replay_trie(&r, &c->waiting);
	pm_arena_done(c->scratch);
	pm_guesses_done(&c->tree.guesses);
	trie_done(&c->waiting);
	pm_arena_free(c->of_waiting, c->events);
	pm_arena_free(c->of_waiting, c->levels);
	c->events = NULL;
	c->levels = NULL;
	c->n_events = c->events_room = c->n_levels = c->levels_room = c->n_bound = 0;
	c->closed = false;
	count_rows(c);
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
