/*
 * Walks the calls of a thread in time order, with a stack of open calls: the parent of a call is
 * the innermost open one that contains it completely. Before every HTD_MARKth call, the open calls
 * are noted, so that samples can be regenerated from there (trace.c) without storing calls.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/steps.h"
#include "formats/common/work.h"

/* An open call. */
struct frame {
	uint64_t start, duration, self;
	htd_place place;
	uint64_t hash; /* of its path's labels: see struct pm_step */
	uint32_t path;
	uint32_t step; /* assigned by the walker; PM_NONE: hash and path are known */
	uint32_t open; /* if it has been noted */
};

struct walker {
	struct htd_lane_walk *w;
	struct pm_guesses guesses;
	struct pm_step *steps; /* the calls since the last mark; HTD_MARK of them, as below */
	struct pm_duration *durations; /* by label of the walk */
	struct pm_amount *amounts;     /* if any are wanted: of the same calls */
	struct htd_wanted_places places;
	uint32_t n_steps;
	struct pm_text scratch;
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

static void path_count(struct htd_path *path, uint64_t duration)
{
	path->calls++;
	path->min = duration < path->min ? duration : path->min;
	path->max = duration > path->max ? duration : path->max;
	path->incl += duration;
	path->excl += duration;
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

static int open_call(struct walker *k, const struct htd_sorted_event *sorted)
{
	const struct htd_event *e = &sorted->event;
	struct htd_lane *lane = &k->w->lane;
	uint64_t start = e->header.timestamp, duration, thread;
	if (!htd_event_call(e, &duration, &thread))
		return -EIO;
	uint64_t end = htd_call_end(start, duration);
	lane->end = end > lane->end ? end : lane->end;
	uint32_t label = htd_labels_add(&k->w->labels, e, &k->scratch);
	if (label == HTD_NONE)
		return -ENOMEM;
	close_until(k, start, duration);
	if (pm_list_room(&k->stack, k->depth, &k->room, sizeof(*k->stack)) < 0)
		return -ENOMEM;
	if (k->depth == PM_LIMIT_DEPTH)
		return -ENOTSUP;
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
	return 0;
}

/* Adds up the numbers of the calls since the last mark; `known` paths have sums. */
static int amounts_take(struct walker *k, uint32_t known)
{
	struct htd_lane_walk *w = k->w;
	uint32_t n = w->wanted->n;
	if (pm_list_room(&w->amounts, w->tree.n, &w->amount_room, n * sizeof(*w->amounts)) < 0)
		return -ENOMEM;
	memset(w->amounts + (size_t)known * n, 0,
		(size_t)(w->tree.n - known) * n * sizeof(*w->amounts));
	for (uint32_t i = 0; i < k->n_steps; i++)
		for (uint32_t field = 0; field < n; field++)
			htd_amount_add(&w->amounts[(size_t)k->steps[i].path * n + field],
				&k->amounts[(size_t)i * n + field]);
	return 0;
}

/* Looks up the paths of the calls since the last mark, and adds these calls up. */
static int steps_take(struct walker *k)
{
	struct htd_lane_walk *w = k->w;
	const struct pm_measured paths = {w->paths, w->path_room, sizeof(*w->paths)};
	uint32_t known = w->tree.n, before = known;
	if (pm_steps_take(&w->tree, &k->guesses, k->steps, k->n_steps, &paths) < 0 ||
		pm_list_room(&w->paths, w->tree.n, &w->path_room, sizeof(*w->paths)) < 0)
		return -ENOMEM;
	for (; known < w->tree.n; known++)
		w->paths[known] = (struct htd_path){.min = UINT64_MAX};
	for (uint32_t i = 0; i < k->n_steps; i++) {
		const struct pm_step *step = &k->steps[i];
		uint32_t caller = step->above == PM_NONE ? step->from : k->steps[step->above].path;
		if (step->path == PM_PATHS_FULL)
			return -ENOMEM;
		path_count(&w->paths[step->path], k->durations[i].ns);
		if (caller != PM_NONE)
			w->paths[caller].excl -= k->durations[i].ns;
	}
	if (pm_durations_add_all(&w->durations, k->durations, k->n_steps) < 0 ||
		(k->amounts && amounts_take(k, before) < 0))
		return -ENOMEM;
	for (size_t i = k->depth; i-- > 0 && k->stack[i].step != PM_NONE;) {
		struct frame *f = &k->stack[i];
		f->path = k->steps[f->step].path;
		f->hash = k->steps[f->step].hash;
		f->step = PM_NONE;
	}
	k->n_steps = 0;
	return 0;
}

/* Notes the open calls that no earlier mark has, and the innermost one for this mark. */
static int mark(struct walker *k, const struct htd_sorted *cursor)
{
	struct htd_lane *lane = &k->w->lane;
	for (; k->n_noted < k->depth; k->n_noted++) {
		struct frame *f = &k->stack[k->n_noted];
		if (lane->n_opens >= PM_LIMIT_ITEMS ||
			pm_list_room(&lane->opens, lane->n_opens, &lane->opens_room,
				sizeof(*lane->opens)) < 0)
			return -ENOMEM;
		f->open = (uint32_t)lane->n_opens;
		lane->opens[lane->n_opens++] = (struct htd_open){
			.place = f->place,
			.context = f->path,
			.parent = k->n_noted ? k->stack[k->n_noted - 1].open : HTD_NONE,
		};
	}
	size_t n = lane->order.n_marks;
	if (pm_list_room(&lane->open, n, &lane->open_room, sizeof(*lane->open)) < 0)
		return -ENOMEM;
	lane->open[n] = k->depth ? k->stack[k->depth - 1].open : HTD_NONE;
	return htd_order_mark(&lane->order, cursor);
}

/* The calls up to the next mark: 1, or 0 if there are no more. */
static int walk_on(struct walker *k, struct htd_sorted *cursor)
{
	const struct htd_sorted_event *e;
	int r = 1;
	while (r > 0 && k->n_steps < HTD_MARK) {
		r = htd_sorted_next(cursor, &e);
		if (r > 0 && (r = open_call(k, e)) == 0)
			r = 1;
	}
	int taken = r < 0 ? r : steps_take(k);
	return taken < 0 ? taken : r;
}

static int walk(struct walker *k)
{
	struct htd_sorted cursor;
	int r = htd_sorted_start(&cursor, &k->w->lane.order, NULL);
	while (r >= 0) {
		r = pm_work_cancelled() ? PM_CANCELLED : mark(k, &cursor);
		if (r >= 0)
			r = walk_on(k, &cursor);
		if (r == 0)
			break;
	}
	htd_sorted_done(&cursor);
	while (k->depth)
		close_call(k);
	k->w->lane.n_contexts = k->w->tree.n;
	return r;
}

static int walker_init(struct walker *k)
{
	k->steps = malloc(HTD_MARK * sizeof(*k->steps));
	k->durations = malloc(HTD_MARK * sizeof(*k->durations));
	uint32_t wanted = k->w->wanted->n;
	if (wanted)
		k->amounts = malloc((size_t)HTD_MARK * wanted * sizeof(*k->amounts));
	int r = pm_paths_init(&k->w->tree, PM_LIMIT_ITEMS);
	return k->steps && k->durations && (k->amounts || !wanted) ? r : -ENOMEM;
}

int htd_lane_walk(struct htd_lane_walk *w, const struct htd_stream *s, uint32_t i,
	const struct htd_mapped *mapped)
{
	struct walker k = {.w = w};
	struct htd_thread *thread = &s->threads[i];
	w->labels.mapped = mapped;
	w->lane.order = (struct htd_order){
		.s = s,
		.filter = {.runs = &thread->calls, .calls = true, .what = thread->number},
		.by_id = true,
	};
	int r = htd_order_borrow(&w->lane.order, &thread->late);
	if (r == 0)
		r = walker_init(&k);
	if (r == 0)
		r = walk(&k);
	pm_guesses_done(&k.guesses);
	free(k.steps);
	free(k.durations);
	free(k.amounts);
	pm_text_done(&k.scratch);
	free(k.stack);
	return r;
}

void htd_lane_done(struct htd_lane *lane)
{
	htd_order_done(&lane->order);
	free(lane->opens);
	free(lane->open);
}

void htd_lane_walk_done(struct htd_lane_walk *w)
{
	htd_lane_done(&w->lane);
	pm_paths_done(&w->tree);
	free(w->paths);
	free(w->amounts);
	htd_labels_done(&w->labels);
	pm_durations_done(&w->durations);
}
