/* Threads and what they did when. */
#include "fs/views/report/data.h"

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/model.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/pictures/timeline.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/threads.h"

/* ---- threads: their identities, and the costs of a context on each of them ---- */

static const struct pm_threads *threads_of(struct pmfs_report *r)
{
	const struct pm_threads *threads;
	pmfs_report_check(r, pmfs_model_threads(r->model, &threads, r->err));
	return threads;
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

void pmfs_report_threads(struct pmfs_report *r)
{
	const struct pm_threads *threads = threads_of(r);
	const struct pmfs_thread_names *names;
	pmfs_report_check(r, pmfs_model_thread_names(r->model, &names, r->err));
	uint64_t first = (uint64_t)r->n[0] * PMFS_REPORT_ROWS, end = first + PMFS_REPORT_ROWS;
	pm_json_open(&r->json, '[');
	for (uint64_t i = first; i < end && i < threads->n; i++)
		write_thread(r, threads, names->paths[i], (uint32_t)i);
	pm_json_close(&r->json, ']');
}

/* ---- costs ---- */

static void take_totals(
	struct pmfs_report *r, uint32_t of, uint32_t n, uint32_t column, pm_number *costs)
{
	(void)of;
	pm_number *cells = pmfs_cells_new(r->a, r->columns->n);
	for (uint32_t i = 0; i < n; i++) {
		pmfs_report_check(r, pmfs_thread_totals(r->model, i, cells, r->err));
		costs[i] = cells[column];
	}
}

/* Adds the values of a context by thread. */
static void add_values(struct pmfs_report *r, uint32_t context, bool flat, double sign, uint32_t n,
	uint32_t column, pm_number *costs)
{
	struct pmfs_values values;
	const struct pm_value *v;
	pmfs_values_start(
		&values, r->model, (struct pm_values_of){PM_OF_CONTEXT, context, false}, 0);
	while ((v = pmfs_values_take(r->a, &values, r->err)) != NULL)
		if (v->thread < n && pmfs_column_of(r->columns, v->metric, flat) == column)
			pmfs_add(&costs[v->thread], sign * pmfs_value_number(v));
}

static void take_context(
	struct pmfs_report *r, uint32_t context, uint32_t n, uint32_t column, pm_number *costs)
{
	add_values(r, context, false, 1, n, column, costs);
}

/* Where values are cheap by thread: the function's cells of each thread's functions.csv. */
static void take_function(
	struct pmfs_report *r, uint32_t row, uint32_t n, uint32_t column, pm_number *costs)
{
	const struct pmfs_functions *f;
	struct pm_arena *scratch = pm_arena_scratch(r->a);
	bool by_thread = r->profile->costs_by_thread;
	pmfs_report_check(r, pmfs_functions(r->model, &f, r->err));
	for (uint32_t i = 0; by_thread && i < n; i++) {
		pm_build_proceed(r->a);
		const struct pmfs_flat_profile *t =
			pmfs_thread_functions(scratch, r->model, i, r->err);
		if (t->contexts[row] > 0)
			costs[i] = t->cells[(size_t)row * r->columns->n + column];
		pm_arena_done(scratch);
	}
	enum pm_role role = r->columns->columns[column].role;
	uint32_t function = f->function[row];
	for (uint32_t i = 0; !by_thread && i < r->tree->n_contexts; i++) {
		struct pmfs_share share = pmfs_function_share(f->identity, i);
		bool above = share.nested && share.above == function;
		if (role == PM_ROLE_EXCLUSIVE ? above == (share.row == function)
					      : share.row != function)
			continue;
		if (role == PM_ROLE_INCLUSIVE && !(share.counts && share.outer))
			continue;
		add_values(r, i, true, share.row == function ? 1 : -1, n, column, costs);
	}
}

/* By thread: a number, or null where the thread has none; null if there is no such thing. */
static void write_costs(struct pmfs_report *r, bool exists,
	void (*take)(
		struct pmfs_report *r, uint32_t of, uint32_t n, uint32_t column, pm_number *costs),
	uint32_t of)
{
	const struct pm_threads *threads = threads_of(r);
	if (!exists || r->n[1] >= r->columns->n || !pm_profile_has(r->profile, threads)) {
		pm_json_null(&r->json);
		return;
	}
	pm_number *costs = pmfs_cells_new(r->a, threads->n);
	take(r, of, threads->n, r->n[1], costs);
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < threads->n; i++)
		pm_json_f64(&r->json, costs[i]);
	pm_json_close(&r->json, ']');
}

void pmfs_report_costs(struct pmfs_report *r)
{
	uint32_t of = r->n[0];
	write_costs(
		r, of <= r->tree->n_contexts, of == 0 ? take_totals : take_context, of - (of > 0));
}

void pmfs_report_function_costs(struct pmfs_report *r)
{
	const struct pmfs_functions *f;
	pmfs_report_check(r, pmfs_functions(r->model, &f, r->err));
	write_costs(r, r->n[0] < f->n, take_function, r->n[0]);
}

/*
 * ---- the timeline ----
 *
 * The timeline in tiles: a page of threads, and one of the binary parts of the run, of which 1
 * is all of it, 2 and 3 its halves, and so on. The page zooms by requesting smaller parts.
 */

enum { N = PMFS_TIMELINE_POINTS, INNERMOST = 63 };

struct tile {
	const struct pmfs_timeline *timeline;
	struct pm_strtab names;
	uint32_t *shown;   /* context → the one whose name is shown */
	uint32_t *name_of; /* context → name, PM_NONE while not asked for */
	struct pm_map numbers;
	uint32_t *contexts; /* those that are seen, by number; names are of theirs */
	size_t room;
};

/*
 * By context: the one whose name is shown, i.e. the function at this level of the call path or the
 * innermost one above it. One pass, because in a deep tree the paths up from all contexts are much
 * longer than the tree is large; none where nothing is seen, as a tile is one of many.
 */
static void find_shown(struct pmfs_report *r, uint32_t level, struct tile *t)
{
	const struct pm_tree *tree = r->tree;
	size_t n = (size_t)tree->n_contexts + 1;
	if (t->timeline->n_rows == 0)
		return;
	uint32_t *functions = pm_arena_array(r->a, n, sizeof(*functions)); /* down to each */
	t->shown = pm_arena_array(r->a, n, sizeof(*t->shown));
	t->name_of = pm_arena_array(r->a, n, sizeof(*t->name_of));
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i];
		bool part = pmfs_is_part(tree, i) && parent != PM_NONE;
		functions[i] = (parent == PM_NONE ? 0 : functions[parent]) + !part;
		bool below = level != INNERMOST && functions[i] > level + 1;
		t->shown[i] = part || (below && parent != PM_NONE) ? t->shown[parent] : i;
		t->name_of[i] = PM_NONE;
	}
}

/* The part of the run that a tile is. Tile 0 is none. */
static struct pmfs_timeline_part part_of(uint32_t tile)
{
	uint32_t level = 31 - (uint32_t)__builtin_clz(tile);
	return (struct pmfs_timeline_part){.part = tile - (1U << level), .level = level};
}

static struct tile *tile_of(
	struct pmfs_report *r, const struct pmfs_timeline_part *part, uint32_t level)
{
	struct tile *t = pm_arena_alloc(r->a, sizeof(*t));
	t->names = pm_strtab_in(r->a);
	t->numbers.arena = r->a;
	t->timeline = pmfs_timeline_read_part(r->a, r->model, part, r->err);
	find_shown(r, level, t);
	return t;
}

/* The name shown for a context. */
static uint32_t name_of(struct pmfs_report *r, struct tile *t, uint32_t context)
{
	uint32_t shown = t->shown[context];
	if (t->name_of[shown] == PM_NONE) {
		struct pm_text line = {.arena = r->a};
		pm_text_clear(&r->scratch);
		pm_text_line(&line,
			pmfs_stacks_name(r->tree, pm_tree_frame(r->tree, shown), &r->scratch));
		t->name_of[shown] = pm_strtab_add(&t->names, pm_text_view(&line));
		pm_text_done(&line);
	}
	return t->name_of[context] = t->name_of[shown];
}

/* The number of a context among those that are seen; `*ret_new`: it is the next one. */
static uint32_t number_of(struct pmfs_report *r, struct tile *t, uint32_t context, bool *ret_new)
{
	uint32_t n = *pm_map_put(&t->numbers, context, (uint32_t)t->numbers.n, ret_new);
	if (*ret_new) {
		pm_list_grow(r->a, &t->contexts, n, &t->room, sizeof(*t->contexts));
		t->contexts[n] = context;
	}
	return n;
}

/* Runs of equal cells: number of the context or -1, and how many cells. */
static void write_row(struct pmfs_report *r, struct tile *t, uint32_t row)
{
	const uint32_t *cells = t->timeline->context + (size_t)row * N;
	pm_json_open(&r->json, '[');
	pm_json_u64(&r->json, t->timeline->thread[row]);
	for (uint32_t i = 0, end; i < N; i = end) {
		int64_t number = -1;
		bool fresh = false;
		for (end = i + 1; end < N && cells[end] == cells[i];)
			end++;
		if (cells[i] != PM_NONE)
			number = number_of(r, t, cells[i], &fresh);
		if (fresh)
			name_of(r, t, cells[i]);
		pm_json_i64(&r->json, number);
		pm_json_u64(&r->json, end - i);
	}
	pm_json_close(&r->json, ']');
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

static void write_names(struct pmfs_report *r, const struct tile *t)
{
	const struct pmfs_colours *colours;
	pmfs_report_check(r, pmfs_colours(r->model, &colours, r->err));
	pm_json_key(&r->json, "names");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < t->names.n; i++) {
		pm_json_open(&r->json, '[');
		pm_json_text(&r->json, t->names.items[i]);
		pm_json_u64(&r->json, pmfs_colour_of(colours, t->names.items[i]));
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
}

/* ns since the origin of times. */
static double since_origin(uint64_t origin, uint64_t time)
{
	if (origin == PM_NO_TIME)
		return 0;
	return time >= origin ? (double)(time - origin) : -(double)(origin - time);
}

static bool has_times(const struct pmfs_report *r)
{
	return r->n[0] > 0 && pm_profile_has(r->profile, threads) && r->profile->ops->samples;
}

void pmfs_report_time(struct pmfs_report *r)
{
	uint64_t origin;
	if (!has_times(r)) {
		pm_json_null(&r->json);
		return;
	}
	struct pmfs_timeline_part part = part_of(r->n[0]);
	part.first_row = r->n[1] * PMFS_REPORT_THREADS;
	part.n_rows = PMFS_REPORT_THREADS;
	struct tile *t = tile_of(r, &part, r->n[2]);
	pmfs_report_check(r, pmfs_time_origin(r->model, &origin, r->err));
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "begin");
	pm_json_f64(&r->json, since_origin(origin, t->timeline->begin));
	pm_json_key(&r->json, "end");
	pm_json_f64(&r->json, since_origin(origin, t->timeline->end));
	pm_json_key(&r->json, "threads");
	pm_json_u64(&r->json, t->timeline->n_threads);
	pm_json_key(&r->json, "rows");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < t->timeline->n_rows; i++)
		write_row(r, t, i);
	pm_json_close(&r->json, ']');
	write_contexts(r, t);
	write_names(r, t);
	pm_json_close(&r->json, '}');
}

/* ---- one thread ---- */

/*
 * Adds a context, and what is above it, unless they are there: frames only, the functions of
 * pictures. Returns its number.
 */
static uint32_t add_path(struct pmfs_report *r, struct tile *t, uint32_t context)
{
	const struct pm_tree *tree = t->timeline->tree;
	bool fresh;
	uint32_t i = t->shown[context], ret = number_of(r, t, i, &fresh);
	while (fresh && tree->parent[i] != PM_NONE) {
		i = t->shown[tree->parent[i]];
		number_of(r, t, i, &fresh);
	}
	return ret;
}

/* [context, number of its caller or -1, name] of each, in no order. */
static void write_frames(struct pmfs_report *r, struct tile *t)
{
	const struct pm_tree *tree = t->timeline->tree;
	pm_json_key(&r->json, "frames");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < t->numbers.n; i++) {
		uint32_t context = t->contexts[i], parent = tree->parent[context];
		pm_json_u64(&r->json, context);
		pm_json_i64(&r->json,
			parent == PM_NONE ? -1
					  : (int64_t)*pm_map_find(&t->numbers, t->shown[parent]));
		pm_json_u64(&r->json, name_of(r, t, context));
	}
	pm_json_close(&r->json, ']');
}

static void write_stacks(struct pmfs_report *r, struct tile *t)
{
	const uint32_t *cells = t->timeline->context;
	const uint64_t *seq = t->timeline->seq;
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "cells");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0, end; t->timeline->n_rows > 0 && i < N; i = end) {
		uint32_t number = 0;
		for (end = i + 1;
			end < N && cells[end] == cells[i] && (!seq || seq[end] == seq[i]);)
			end++;
		if (cells[i] != PM_NONE)
			number = add_path(r, t, cells[i]);
		pm_json_i64(&r->json, cells[i] == PM_NONE ? -1 : (int64_t)number);
		pm_json_u64(&r->json, end - i);
		pm_json_i64(&r->json, cells[i] == PM_NONE ? -1 : (int64_t)cells[i]);
		pm_json_i64(&r->json, cells[i] == PM_NONE || !seq ? -1 : (int64_t)seq[i]);
	}
	pm_json_close(&r->json, ']');
	write_frames(r, t);
	write_names(r, t);
	pm_json_close(&r->json, '}');
}

/*
 * Of a thread: runs of cells as the innermost frame, how many cells, the context, and the number of
 * the call's event or -1; and how the frames lie within each other.
 */
void pmfs_report_stack(struct pmfs_report *r)
{
	const struct pm_threads *threads = threads_of(r);
	if (!has_times(r) || r->n[1] >= threads->n) {
		pm_json_null(&r->json);
		return;
	}
	struct pmfs_timeline_part part = part_of(r->n[0]);
	part.only = r->n[1];
	part.one = true;
	write_stacks(r, tile_of(r, &part, INNERMOST));
}
