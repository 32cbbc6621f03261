/* Threads and what they did when. */
#include "fs/views/report/data.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/work.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/model.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/pictures/timeline.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/threads.h"

/* ---- threads: their identities, and the costs of a context on each of them ---- */

static int get_threads(struct pmfs_report *r, const struct pm_threads **ret, struct pm_error *err)
{
	*ret = NULL;
	return pmfs_model_threads(r->model, ret, err);
}

/* [id, path, [[key, value] …], samples, name of the thread, and of its process] */
static void write_thread(
	struct pmfs_report *r, const struct pm_threads *threads, const char *path, uint32_t thread)
{
	const struct pm_thread *t = &threads->threads[thread];
	pm_json_open(&r->json, '[');
	pm_json_u64(&r->json, t->id);
	pm_json_str(&r->json, path);
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < t->n_identity; i++) {
		pm_json_open(&r->json, '[');
		pm_json_str(&r->json, threads->keys[t->identity[i].key]);
		pm_json_i64(&r->json, (int64_t)t->identity[i].value);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	pm_json_u64(&r->json, t->n_samples);
	pm_json_text(&r->json, t->name);
	pm_json_text(&r->json, t->process);
	pm_json_close(&r->json, ']');
}

int pmfs_report_threads(struct pmfs_report *r, struct pm_error *err)
{
	const struct pm_threads *threads;
	const struct pmfs_thread_names *names;
	int e = get_threads(r, &threads, err);
	if (e == 0)
		e = pmfs_model_thread_names(r->model, &names, err);
	if (e < 0)
		return e;
	uint64_t first = (uint64_t)r->n[0] * PMFS_REPORT_ROWS, end = first + PMFS_REPORT_ROWS;
	pm_json_open(&r->json, '[');
	for (uint64_t i = first; i < end && i < threads->n; i++)
		write_thread(r, threads, names->paths[i], (uint32_t)i);
	pm_json_close(&r->json, ']');
	return 0;
}

/* ---- costs ---- */

static int take_totals(struct pmfs_report *r, uint32_t of, uint32_t n, uint32_t column,
	pm_number *costs, struct pm_error *err)
{
	(void)of;
	pm_number *cells = pmfs_cells_new(NULL, r->columns->n);
	int e = cells ? 0 : pmfs_no_memory(err);
	for (uint32_t i = 0; e == 0 && i < n; i++) {
		e = pmfs_thread_totals(r->model, i, cells, err);
		costs[i] = cells[column];
	}
	free(cells);
	return e;
}

static int take_context(struct pmfs_report *r, uint32_t context, uint32_t n, uint32_t column,
	pm_number *costs, struct pm_error *err)
{
	struct pmfs_values values;
	const struct pm_value *v;
	int e;
	pmfs_values_start(
		&values, r->model, (struct pm_values_of){PM_OF_CONTEXT, context, false}, 0);
	for (; (e = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values))
		if (v->thread < n && pmfs_column_of(r->columns, v->metric, false) == column)
			costs[v->thread] = pmfs_value_number(v);
	return e;
}

/* The function's cells of each thread's functions.csv, where values are cheap by thread. */
static int take_by_thread(struct pmfs_report *r, uint32_t row, uint32_t n, uint32_t column,
	pm_number *costs, struct pm_error *err)
{
	struct pmfs_flat_profile *t;
	int e = 0;
	for (uint32_t i = 0; e == 0 && i < n; i++) {
		e = pm_work_cancelled() ? pmfs_no_memory(err)
					: pmfs_thread_functions(r->model, i, &t, err);
		if (e < 0)
			break;
		if (t->contexts[row] > 0)
			costs[i] = t->cells[(size_t)row * r->columns->n + column];
		pmfs_flat_profile_free(t);
	}
	return e;
}

/* The same where they are cheap by context. */
static int take_function(struct pmfs_report *r, uint32_t row, uint32_t n, uint32_t column,
	pm_number *costs, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int e = pmfs_functions(r->model, &f, err);
	if (e < 0)
		return e;
	if (r->profile->costs_by_thread)
		return take_by_thread(r, row, n, column, costs, err);
	enum pm_role role = r->columns->columns[column].role;
	uint32_t function = f->function[row];
	for (uint32_t i = 0; e >= 0 && i < r->tree->n_contexts; i++) {
		struct pmfs_share share = pmfs_function_share(f->identity, i);
		double sign = share.row == function ? 1 : -1;
		struct pmfs_values values;
		const struct pm_value *v;
		bool above = share.nested && share.above == function;
		if (role == PM_ROLE_EXCLUSIVE ? above == (share.row == function)
					      : share.row != function)
			continue;
		if (role == PM_ROLE_INCLUSIVE && !(share.counts && share.outer))
			continue;
		pmfs_values_start(
			&values, r->model, (struct pm_values_of){PM_OF_CONTEXT, i, false}, 0);
		for (; (e = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values))
			if (v->thread < n && pmfs_column_of(r->columns, v->metric, true) == column)
				pmfs_add(&costs[v->thread], sign * pmfs_value_number(v));
	}
	return e;
}

/* By thread: a number, or null where the thread has none; null if there is no such thing. */
static int write_costs(struct pmfs_report *r, bool exists,
	int (*take)(struct pmfs_report *r, uint32_t of, uint32_t n, uint32_t column,
		pm_number *costs, struct pm_error *err),
	uint32_t of, struct pm_error *err)
{
	const struct pm_threads *threads;
	int e = get_threads(r, &threads, err);
	if (e < 0)
		return e;
	if (!exists || r->n[1] >= r->columns->n || !pm_profile_has(r->profile, threads)) {
		pm_json_null(&r->json);
		return 0;
	}
	pm_number *costs = pmfs_cells_new(NULL, threads->n);
	if (!costs)
		return pmfs_no_memory(err);
	e = take(r, of, threads->n, r->n[1], costs, err);
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; e == 0 && i < threads->n; i++)
		pm_json_f64(&r->json, costs[i]);
	pm_json_close(&r->json, ']');
	free(costs);
	return e;
}

int pmfs_report_costs(struct pmfs_report *r, struct pm_error *err)
{
	uint32_t of = r->n[0];
	return write_costs(r, of <= r->tree->n_contexts, of == 0 ? take_totals : take_context,
		of - (of > 0), err);
}

int pmfs_report_function_costs(struct pmfs_report *r, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int e = pmfs_functions(r->model, &f, err);
	return e < 0 ? e : write_costs(r, r->n[0] < f->n, take_function, r->n[0], err);
}

/*
 * ---- the timeline ----
 *
 * The timeline in tiles: a page of threads, and one of the binary parts of the run, of which 1
 * is all of it, 2 and 3 its halves, and so on. The page zooms by requesting smaller parts.
 */

enum { N = PMFS_TIMELINE_POINTS, INNERMOST = 63 };

struct tile {
	struct pmfs_timeline timeline;
	struct pm_strtab names;
	struct pm_arena arena;
	uint32_t *shown;   /* context → the one whose name is shown */
	uint32_t *name_of; /* context → name, PM_NONE while not asked for */
	struct pm_map numbers;
	uint32_t *contexts; /* those that are seen, by number; names are of theirs */
	size_t room;
};

static void tile_done(struct tile *t)
{
	pmfs_timeline_done(&t->timeline);
	pm_strtab_done(&t->names);
	pm_arena_done(&t->arena);
	free(t->shown);
	free(t->name_of);
	pm_map_done(&t->numbers);
	free(t->contexts);
}

/*
 * By context: the one whose name is shown, i.e. the function at this level of the call path or the
 * innermost one above it. One pass, because in a deep tree the paths up from all contexts are much
 * longer than the tree is large; none where nothing is seen, as a tile is one of many.
 */
static int find_shown(const struct pm_tree *tree, uint32_t level, struct tile *t)
{
	if (t->timeline.n_rows == 0)
		return 0;
	size_t n = (size_t)tree->n_contexts + 1;
	uint32_t *functions = malloc(n * sizeof(*functions)); /* from the top to each context */
	t->shown = malloc(n * sizeof(*t->shown));
	t->name_of = malloc(n * sizeof(*t->name_of));
	bool made = functions && t->shown && t->name_of;
	for (uint32_t i = 0; made && i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i];
		bool part = pmfs_is_part(tree, i) && parent != PM_NONE;
		functions[i] = (parent == PM_NONE ? 0 : functions[parent]) + !part;
		bool below = level != INNERMOST && functions[i] > level + 1;
		t->shown[i] = part || (below && parent != PM_NONE) ? t->shown[parent] : i;
		t->name_of[i] = PM_NONE;
	}
	free(functions);
	return made ? 0 : -ENOMEM;
}

/* The name shown for a context, or PM_NONE if out of memory. */
static uint32_t name_of(struct pmfs_report *r, struct tile *t, uint32_t context)
{
	if (t->name_of[context] != PM_NONE)
		return t->name_of[context];
	uint32_t shown = t->shown[context];
	if (t->name_of[shown] != PM_NONE)
		return t->name_of[context] = t->name_of[shown];
	struct pm_text line = {.p = NULL};
	pm_text_clear(&r->scratch);
	pm_text_line(&line, pmfs_stacks_name(r->tree, pm_tree_frame(r->tree, shown), &r->scratch));
	if (!line.failed)
		t->name_of[shown] = pm_strtab_add(&t->names, pm_text_view(&line));
	pm_text_done(&line);
	return t->name_of[context] = t->name_of[shown];
}

/* The number of a context among those that are seen, or PM_NONE if out of memory. */
static uint32_t number_of(struct pmfs_report *r, struct tile *t, uint32_t context)
{
	bool fresh;
	uint32_t n = (uint32_t)t->numbers.n, *number = pm_map_put(&t->numbers, context, n, &fresh);
	if (!number || (fresh && pm_list_room(&t->contexts, n, &t->room, sizeof(*t->contexts)) < 0))
		return PM_NONE;
	if (!fresh)
		return *number;
	t->contexts[n] = context;
	return name_of(r, t, context) == PM_NONE ? PM_NONE : n;
}

/* Runs of equal cells: number of the context or -1, and how many cells. */
static int write_row(struct pmfs_report *r, struct tile *t, uint32_t row, struct pm_error *err)
{
	const uint32_t *cells = t->timeline.context + (size_t)row * N;
	pm_json_open(&r->json, '[');
	pm_json_u64(&r->json, t->timeline.thread[row]);
	for (uint32_t i = 0, end; i < N; i = end) {
		for (end = i + 1; end < N && cells[end] == cells[i];)
			end++;
		uint32_t number = cells[i] == PM_NONE ? PM_NONE : number_of(r, t, cells[i]);
		if (cells[i] != PM_NONE && number == PM_NONE)
			return pmfs_no_memory(err);
		pm_json_i64(&r->json, number == PM_NONE ? -1 : (int64_t)number);
		pm_json_u64(&r->json, end - i);
	}
	pm_json_close(&r->json, ']');
	return 0;
}

/* By number of a context: the context, and its name. */
static void write_contexts(struct pmfs_report *r, const struct tile *t)
{
	pm_json_key(&r->json, "contexts");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < t->numbers.n; i++) {
		pm_json_u64(&r->json, t->contexts[i]);
		pm_json_u64(&r->json, t->name_of[t->contexts[i]]);
	}
	pm_json_close(&r->json, ']');
}

static int write_names(struct pmfs_report *r, const struct tile *t, struct pm_error *err)
{
	const struct pmfs_colours *colours;
	int e = pmfs_colours(r->model, &colours, err);
	if (e < 0)
		return e;
	pm_json_key(&r->json, "names");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < t->names.n; i++) {
		pm_json_open(&r->json, '[');
		pm_json_text(&r->json, t->names.items[i]);
		pm_json_u64(&r->json, pmfs_colour_of(colours, t->names.items[i]));
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	return 0;
}

/* ns since the origin of times. */
static double since_origin(uint64_t origin, uint64_t time)
{
	if (origin == PM_NO_TIME)
		return 0;
	return time >= origin ? (double)(time - origin) : -(double)(origin - time);
}

static int write_tile(struct pmfs_report *r, struct tile *t, struct pm_error *err)
{
	uint64_t origin;
	int e = pmfs_time_origin(r->model, &origin, err);
	if (e < 0)
		return e;
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "begin");
	pm_json_f64(&r->json, since_origin(origin, t->timeline.begin));
	pm_json_key(&r->json, "end");
	pm_json_f64(&r->json, since_origin(origin, t->timeline.end));
	pm_json_key(&r->json, "threads");
	pm_json_u64(&r->json, t->timeline.n_threads);
	pm_json_key(&r->json, "rows");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; e == 0 && i < t->timeline.n_rows; i++)
		e = write_row(r, t, i, err);
	if (e < 0)
		return e; /* the last context may have no number, or no name */
	pm_json_close(&r->json, ']');
	write_contexts(r, t);
	e = write_names(r, t, err);
	pm_json_close(&r->json, '}');
	return e;
}

/* The part of the run that a tile is. Tile 0 is none. */
static struct pmfs_timeline_part part_of(uint32_t tile)
{
	uint32_t level = 31 - (uint32_t)__builtin_clz(tile);
	return (struct pmfs_timeline_part){.part = tile - (1U << level), .level = level};
}

static bool has_times(const struct pmfs_report *r)
{
	return r->n[0] > 0 && pm_profile_has(r->profile, threads) && r->profile->ops->samples;
}

int pmfs_report_time(struct pmfs_report *r, struct pm_error *err)
{
	struct tile t = {.timeline = {.tree = NULL}};
	if (!has_times(r)) {
		pm_json_null(&r->json);
		return 0;
	}
	struct pmfs_timeline_part part = part_of(r->n[0]);
	part.first_row = r->n[1] * PMFS_REPORT_THREADS;
	part.n_rows = PMFS_REPORT_THREADS;
	t.names.arena = &t.arena;
	int e = pmfs_timeline_read_part(r->model, &part, &t.timeline, err);
	if (e == 0 && find_shown(r->tree, r->n[2], &t) < 0)
		e = pmfs_no_memory(err);
	if (e == 0)
		e = write_tile(r, &t, err);
	tile_done(&t);
	return e;
}

/* ---- one thread ---- */

/*
 * Adds a context, and what is above it, unless they are there: frames only, the functions of
 * pictures. Sets `*ret` to its number.
 */
static int add_path(struct tile *t, uint32_t context, uint32_t *ret)
{
	const struct pm_tree *tree = t->timeline.tree;
	for (uint32_t i = t->shown[context]; i != PM_NONE;
		i = tree->parent[i] == PM_NONE ? PM_NONE : t->shown[tree->parent[i]]) {
		bool fresh;
		uint32_t n = (uint32_t)t->numbers.n,
			 *number = pm_map_put(&t->numbers, i, n, &fresh);
		if (!number ||
			(fresh &&
				pm_list_room(&t->contexts, n, &t->room, sizeof(*t->contexts)) < 0))
			return -ENOMEM;
		if (i == t->shown[context])
			*ret = *number;
		if (!fresh)
			break;
		t->contexts[n] = i;
	}
	return 0;
}

/* [context, number of its caller or -1, name] of each, in no order. */
static int write_frames(struct pmfs_report *r, struct tile *t, struct pm_error *err)
{
	const struct pm_tree *tree = t->timeline.tree;
	pm_json_key(&r->json, "frames");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < t->numbers.n; i++) {
		uint32_t context = t->contexts[i], parent = tree->parent[context];
		uint32_t name = name_of(r, t, context);
		if (name == PM_NONE)
			return pmfs_no_memory(err);
		pm_json_u64(&r->json, context);
		pm_json_i64(&r->json,
			parent == PM_NONE ? -1
					  : (int64_t)*pm_map_find(&t->numbers, t->shown[parent]));
		pm_json_u64(&r->json, name);
	}
	pm_json_close(&r->json, ']');
	return 0;
}

static int write_stacks(struct pmfs_report *r, struct tile *t, struct pm_error *err)
{
	const uint32_t *cells = t->timeline.context;
	const uint64_t *seq = t->timeline.seq;
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "cells");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0, end; t->timeline.n_rows > 0 && i < N; i = end) {
		uint32_t number = 0;
		for (end = i + 1;
			end < N && cells[end] == cells[i] && (!seq || seq[end] == seq[i]);)
			end++;
		if (cells[i] != PM_NONE && add_path(t, cells[i], &number) < 0)
			return pmfs_no_memory(err);
		pm_json_i64(&r->json, cells[i] == PM_NONE ? -1 : (int64_t)number);
		pm_json_u64(&r->json, end - i);
		pm_json_i64(&r->json, cells[i] == PM_NONE ? -1 : (int64_t)cells[i]);
		pm_json_i64(&r->json, cells[i] == PM_NONE || !seq ? -1 : (int64_t)seq[i]);
	}
	pm_json_close(&r->json, ']');
	int e = write_frames(r, t, err);
	if (e == 0)
		e = write_names(r, t, err);
	pm_json_close(&r->json, '}');
	return e;
}

/*
 * Of a thread: runs of cells as the innermost frame, how many cells, the context, and the number of
 * the call's event or -1; and how the frames lie within each other.
 */
int pmfs_report_stack(struct pmfs_report *r, struct pm_error *err)
{
	struct tile t = {.timeline = {.tree = NULL}};
	const struct pm_threads *threads;
	int e = pmfs_model_threads(r->model, &threads, err);
	if (e < 0)
		return e;
	if (!has_times(r) || r->n[1] >= threads->n) {
		pm_json_null(&r->json);
		return 0;
	}
	struct pmfs_timeline_part part = part_of(r->n[0]);
	part.only = r->n[1];
	part.one = true;
	t.names.arena = &t.arena;
	e = pmfs_timeline_read_part(r->model, &part, &t.timeline, err);
	if (e == 0 && find_shown(r->tree, INNERMOST, &t) < 0)
		e = pmfs_no_memory(err);
	if (e == 0)
		e = write_stacks(r, &t, err);
	tile_done(&t);
	return e;
}
