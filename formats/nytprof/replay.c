#include "formats/nytprof/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "profmount/profile.h"

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
static int make_room(struct nytp_trie *t, uint32_t n)
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
	if (make_room(t, 1) < 0)
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
	if (make_room(t, r->n_steps) < 0)
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
