/*
 * Walks the calls of a thread in time order, with a stack of open calls: the parent of a call is
 * the innermost open one that contains it completely. Before every HTD_MARKth call, the open calls
 * are noted, so that samples can be regenerated from there (trace.c) without storing calls.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>

#include "formats/common/list.h"
#include "formats/common/steps.h"

/* An open call. */
struct frame {
	uint64_t start, duration, self;
	htd_place place;
	uint64_t hash; /* of its path's labels: see struct pm_step */
	uint32_t path;
	uint32_t step; /* assigned by the walker; PM_NONE: hash and path are known */
	uint32_t open; /* if it has been noted */
};

/* In a scratch arena of the walk. */
struct walker {
	struct pm_arena *a; /* the walk's own */
	struct pm_arena *scratch;
	struct htd_lane_walk *w;
	struct pm_guesses guesses;
	struct pm_step *steps; /* the calls since the last mark; HTD_MARK of them, as below */
	struct pm_duration *durations; /* by label of the walk */
	struct pm_amount *amounts;     /* if any are wanted: of the same calls */
	struct htd_wanted_places places;
	uint32_t n_steps;
	struct pm_text text;
	struct frame *stack;
	size_t depth, room;
	size_t n_noted; /* frames from the bottom that have been noted */
};

static void close_call(struct walker *k)
{
	const struct frame *f = &k->stack[--k->depth];
	if (f->open != HTD_NONE)
		k->w->lane.opens[f->open].self = f->self;
	if (k->n_noted > k->depth)
		k->n_noted = k->depth;
}

static void close_until(struct walker *k, uint64_t start, uint64_t duration)
{
	bool overlaps = false;
	while (k->depth) {
		const struct frame *f = &k->stack[k->depth - 1];
		if (htd_call_holds(f->start, f->duration, start, duration))
			break;
		overlaps = overlaps || start - f->start < f->duration;
		close_call(k);
	}
	k->w->overlapping += overlaps;
}

/* Adds a call with that label below the innermost open one. Paths are looked up in batches. */
static void step_add(struct walker *k, uint64_t duration, uint32_t label)
{
	struct pm_step *step = &k->steps[k->n_steps];
	*step = (struct pm_step){.key = label, .above = PM_NONE, .from = PM_NONE};
	if (k->depth) {
		struct frame *caller = &k->stack[k->depth - 1];
		caller->self = htd_self_without(caller->self, duration);
		step->above = caller->step;
		step->from = caller->path;
		step->hash = caller->hash;
	}
	k->durations[k->n_steps++] = (struct pm_duration){duration, label};
}

static void open_call(struct walker *k, const struct htd_sorted_event *sorted)
{
	const struct htd_event *e = &sorted->event;
	struct htd_lane *lane = &k->w->lane;
	uint64_t start = e->header.timestamp, duration, thread;
	if (!htd_event_call(e, &duration, &thread))
		pm_build_fail(k->a, -EIO);
	uint64_t end = htd_call_end(start, duration);
	lane->end = end > lane->end ? end : lane->end;
	uint32_t label = htd_labels_add(&k->w->labels, e, &k->text);
	close_until(k, start, duration);
	pm_list_grow(k->scratch, &k->stack, k->depth, &k->room, sizeof(*k->stack));
	if (k->depth == PM_LIMIT_DEPTH)
		pm_build_fail(k->a, -ENOTSUP);
	step_add(k, duration, label);
	if (k->amounts)
		htd_amounts_read(k->w->wanted, &k->places, e,
			&k->amounts[(size_t)(k->n_steps - 1) * k->w->wanted->n]);
	k->stack[k->depth++] = (struct frame){.start = start,
		.duration = duration,
		.self = htd_self_at_first(duration),
		.place = sorted->key.place,
		.step = k->n_steps - 1,
		.open = HTD_NONE};
}

/* Adds up the numbers of the calls since the last mark; `known` paths have sums. */
static void amounts_take(struct walker *k, uint32_t known)
{
	struct htd_lane_walk *w = k->w;
	uint32_t n = w->wanted->n;
	pm_list_grow(k->a, &w->amounts, w->tree.n, &w->amount_room, n * sizeof(*w->amounts));
	memset(w->amounts + (size_t)known * n, 0,
		(size_t)(w->tree.n - known) * n * sizeof(*w->amounts));
	for (uint32_t i = 0; i < k->n_steps; i++)
		for (uint32_t field = 0; field < n; field++)
			htd_amount_add(&w->amounts[(size_t)k->steps[i].path * n + field],
				&k->amounts[(size_t)i * n + field]);
}

/* Looks up the paths of the calls since the last mark, and adds these calls up. */
static void steps_take(struct walker *k)
{
	struct htd_lane_walk *w = k->w;
	const struct pm_measured paths = {w->paths, w->path_room, sizeof(*w->paths)};
	uint32_t known = w->tree.n, before = known;
	pm_build_check(k->a, pm_steps_take(&w->tree, &k->guesses, k->steps, k->n_steps, &paths));
	pm_list_grow(k->a, &w->paths, w->tree.n, &w->path_room, sizeof(*w->paths));
	for (; known < w->tree.n; known++)
		w->paths[known] = (struct htd_path){.min = UINT64_MAX};
	for (uint32_t i = 0; i < k->n_steps; i++) {
		const struct pm_step *step = &k->steps[i];
		uint32_t caller = step->above == PM_NONE ? step->from : k->steps[step->above].path;
		uint64_t duration = k->durations[i].ns;
		if (step->path == PM_PATHS_FULL)
			pm_build_fail(k->a, -ENOMEM);
		struct htd_path *path = &w->paths[step->path];
		path->calls++;
		path->min = duration < path->min ? duration : path->min;
		path->max = duration > path->max ? duration : path->max;
		path->incl += duration;
		path->excl += duration;
		if (caller != PM_NONE)
			w->paths[caller].excl -= duration;
	}
	pm_build_check(k->a, pm_durations_add_all(&w->durations, k->durations, k->n_steps));
	if (k->amounts)
		amounts_take(k, before);
	for (size_t i = k->depth; i-- > 0 && k->stack[i].step != PM_NONE;) {
		struct frame *f = &k->stack[i];
		f->path = k->steps[f->step].path;
		f->hash = k->steps[f->step].hash;
		f->step = PM_NONE;
	}
	k->n_steps = 0;
}

/* Notes the open calls that no earlier mark has, and the innermost one for this mark. */
static void mark(struct walker *k, const struct htd_sorted *cursor)
{
	struct htd_lane *lane = &k->w->lane;
	for (; k->n_noted < k->depth; k->n_noted++) {
		struct frame *f = &k->stack[k->n_noted];
		if (lane->n_opens >= PM_LIMIT_ITEMS)
			pm_build_fail(k->a, -ENOMEM);
		pm_list_grow(
			k->a, &lane->opens, lane->n_opens, &lane->opens_room, sizeof(*lane->opens));
		f->open = (uint32_t)lane->n_opens;
		lane->opens[lane->n_opens++] = (struct htd_open){
			.place = f->place,
			.context = f->path,
			.parent = k->n_noted ? k->stack[k->n_noted - 1].open : HTD_NONE,
		};
	}
	size_t n = lane->order.n_marks;
	pm_list_grow(k->a, &lane->open, n, &lane->open_room, sizeof(*lane->open));
	lane->open[n] = k->depth ? k->stack[k->depth - 1].open : HTD_NONE;
	htd_order_mark(k->a, &lane->order, cursor);
}

static void durations_done(void *durations)
{
	pm_durations_done(durations);
}

static void walk(void *context)
{
	struct htd_lane_walk *w = context;
	struct pm_arena *a = &w->arena, *scratch = pm_arena_scratch(a);
	struct walker *k = pm_arena_alloc(scratch, sizeof(*k));
	const struct htd_sorted_event *e;
	struct htd_sorted cursor;
	*k = (struct walker){.a = a,
		.scratch = scratch,
		.w = w,
		.guesses.arena = scratch,
		.steps = pm_arena_realloc(scratch, NULL, HTD_MARK * sizeof(*k->steps)),
		.durations = pm_arena_realloc(scratch, NULL, HTD_MARK * sizeof(*k->durations)),
		.text.arena = scratch};
	if (w->wanted->n)
		k->amounts = pm_arena_array(
			scratch, (size_t)HTD_MARK * w->wanted->n, sizeof(*k->amounts));
	pm_arena_owns(a, durations_done, &w->durations);
	pm_paths_init_in(a, &w->tree, PM_LIMIT_ITEMS);
	htd_order_borrow(a, &w->lane.order, w->late);
	pm_build_check(a, htd_sorted_start(&cursor, scratch, &w->lane.order, NULL));
	for (int more = 1; more > 0;) {
		pm_build_proceed(a);
		mark(k, &cursor);
		while (k->n_steps < HTD_MARK && (more = htd_sorted_next(&cursor, &e)) > 0)
			open_call(k, e);
		pm_build_check(a, more);
		steps_take(k);
	}
	while (k->depth)
		close_call(k);
	w->lane.n_contexts = w->tree.n;
	pm_arena_done(scratch);
}

int htd_lane_walk(struct htd_lane_walk *w, const struct htd_stream *s, uint32_t i,
	const struct htd_mapped *mapped)
{
	struct htd_thread *thread = &s->threads[i];
	w->late = &thread->late;
	w->labels = htd_labels_in(&w->arena, mapped);
	w->lane.order = (struct htd_order){
		.s = s,
		.filter = {.runs = &thread->calls, .calls = true, .what = thread->number},
		.by_id = true,
	};
	return pm_build(&w->arena, walk, w);
}
