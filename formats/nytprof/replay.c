#include "formats/nytprof/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/work.h"
#include "profmount/profile.h"

enum { STEPS = 1 << 16 };

int nytp_trie_init(struct nytp_trie *t, uint32_t most)
{
	*t = (struct nytp_trie){.costs = NULL};
	return pm_paths_init(&t->paths, most);
}

void nytp_trie_done(struct nytp_trie *t)
{
	pm_paths_done(&t->paths);
	free(t->costs);
	*t = (struct nytp_trie){.costs = NULL};
}

uint32_t nytp_trie_child(struct nytp_trie *t, uint32_t parent, uint32_t name)
{
	uint32_t known = t->paths.n, path = pm_paths_child(&t->paths, parent, name);
	if (t->paths.n == known)
		return path;
	if (pm_list_room(&t->costs, path, &t->room, sizeof(*t->costs)) < 0)
		return PM_NONE;
	t->costs[path] = (struct nytp_cost){.calls = 0};
	return path;
}

int nytp_replay_place(struct nytp_replay *r, uint32_t depth, uint32_t path)
{
	if (pm_list_room(&r->places, r->n, &r->room, sizeof(*r->places)) < 0)
		return -ENOMEM;
	r->places[r->n++] = (struct nytp_place){depth, path};
	return 0;
}

/* The path to whose children calls of that depth belong. Deeper ones come later. */
static uint32_t parent_at(struct nytp_replay *r, uint32_t depth)
{
	while (r->n > 1 && r->places[r->n - 1].depth > depth)
		r->n--;
	return r->places[r->n - 1].path;
}

static int add_return(struct nytp_replay *r, const struct nytp_event *e)
{
	uint32_t path = nytp_trie_child(r->to, parent_at(r, e->depth), e->name);
	if (path == PM_NONE)
		return -ENOMEM;
	if (path == PM_PATHS_FULL) {
		r->full = true;
	} else {
		struct nytp_cost *cost = &r->to->costs[path];
		cost->calls++;
		cost->incl += e->incl;
		cost->excl += e->excl;
	}
	return nytp_replay_place(r, e->depth + 1, path);
}

static int add_gap(struct nytp_replay *r, const struct nytp_event *e)
{
	uint32_t path = parent_at(r, e->to);
	for (uint32_t n = e->shown; n; n--) {
		path = nytp_trie_child(r->to, path, NYTP_NOT_RETURNED);
		if (path == PM_NONE)
			return -ENOMEM;
	}
	return nytp_replay_place(r, e->depth, path);
}

int nytp_replay_events(struct nytp_replay *r, const struct nytp_event *events, size_t n)
{
	int ret = 0;
	for (size_t i = n; i-- > 0 && ret == 0;) {
		ret = events[i].name == NYTP_NONE ? add_gap(r, &events[i])
						  : add_return(r, &events[i]);
		if (i % STEPS == 0 && pm_work_cancelled())
			return -ENOMEM;
	}
	return ret;
}

static uint32_t add_path(
	struct nytp_replay *r, const struct nytp_trie *from, uint32_t i, const uint32_t *place)
{
	const struct pm_path *p = &from->paths.items[i];
	uint32_t path = nytp_trie_child(r->to, place[p->parent], p->key);
	if (path == PM_PATHS_FULL)
		r->full = true;
	if (path == PM_NONE || path == PM_PATHS_FULL)
		return path;
	r->to->costs[path].calls += from->costs[i].calls;
	r->to->costs[path].incl += from->costs[i].incl;
	r->to->costs[path].excl += from->costs[i].excl;
	return path;
}

int nytp_replay_trie(struct nytp_replay *r, const struct nytp_trie *from,
	const struct nytp_place *places, size_t n)
{
	uint32_t *place = malloc(((size_t)from->paths.n + 1) * sizeof(*place));
	int ret = place ? 0 : -ENOMEM;
	for (size_t i = n; ret == 0 && i-- > 0;)
		place[places[i].path] = parent_at(r, places[i].depth);
	for (uint32_t i = 0; ret == 0 && i < from->paths.n; i++) {
		if (from->paths.items[i].parent == PM_NONE)
			continue; /* of `places` */
		place[i] = add_path(r, from, i, place);
		if (place[i] == PM_NONE || (i % STEPS == 0 && pm_work_cancelled()))
			ret = -ENOMEM;
	}
	free(place);
	return ret;
}

void nytp_replay_done(struct nytp_replay *r)
{
	free(r->places);
	*r = (struct nytp_replay){.places = NULL};
}
