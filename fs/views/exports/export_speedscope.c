/*
 * profile.speedscope.json: one profile for each metric of the whole run, then the same for each
 * thread, as many as the limits allow; the name of the file says how many were left out. A
 * sample is a frame with an exclusive cost. If traces consist of calls, those of each thread
 * follow in time order.
 */
#include "fs/views/exports/export.h"

#include <string.h>

#include "formats/common/json.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/model.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/threads.h"
#include "profmount/limits.h"

/* Frames of the tree in the file, numbered on first use. */
struct frame_places {
	uint32_t *place;  /* by frame of the tree: its index in the file, or PM_NONE */
	uint32_t *frames; /* frames of the tree, by index in the file */
	uint32_t n;
};

static uint32_t frame_place(struct frame_places *p, uint32_t frame)
{
	if (p->place[frame] == PM_NONE) {
		p->frames[p->n] = frame;
		p->place[frame] = p->n++;
	}
	return p->place[frame];
}

/*
 * ---- calls in the order of time, as evented profiles ----
 *
 * speedscope shows the contexts of a sampled profile in the order of the file; only evented
 * profiles have times. Overlapping calls of a thread are in lanes, with one profile per lane.
 */

/* More lanes mean that the program traces something other than calls. */
enum { MOST_LANES = 8 };

struct open_slice {
	size_t slice;
	uint64_t end; /* not after those around it */
};

struct evented {
	const struct pmfs_writing *to;
	struct frame_places *places;
	struct pm_json *j;
	const struct pmfs_slices *slices;
	struct open_slice *open; /* that have not ended, outermost first */
	size_t n_open;
	uint64_t now; /* time of the previous event */
};

static void write_event(
	struct evented *w, const char *type, const struct pmfs_slice *s, uint64_t at)
{
	w->now = at > w->now ? at : w->now; /* never decreases */
	pm_json_open(w->j, '{');
	pm_json_key(w->j, "type");
	pm_json_str(w->j, type);
	pm_json_key(w->j, "frame");
	pm_json_u64(w->j, frame_place(w->places, s->frame));
	pm_json_key(w->j, "at");
	pm_json_u64(w->j, w->now);
	pm_json_close(w->j, '}');
}

/* Ends the open slices that do not contain the slice; with NULL, all of them. */
static void close_until(struct evented *w, const struct pmfs_slice *next)
{
	while (w->n_open > 0) {
		const struct open_slice *open = &w->open[w->n_open - 1];
		const struct pmfs_slice *last = &w->slices->slices[open->slice];
		/* On one lane, what begins before it ends nests in it. */
		bool nests = next && last->depth < next->depth &&
			(next->end_ns <= last->end_ns || next->start_ns < last->end_ns);
		if (nests)
			return;
		write_event(w, "C", last, open->end);
		w->n_open--;
	}
}

static void write_lane(struct evented *w, size_t from, size_t to, uint32_t lane)
{
	w->now = 0;
	pm_json_key(w->j, "events");
	pm_json_open(w->j, '[');
	for (size_t i = from; i < to && !w->j->out->failed; i++) {
		const struct pmfs_slice *s = &w->slices->slices[i];
		if (s->lane != lane)
			continue;
		close_until(w, s);
		write_event(w, "O", s, s->start_ns);
		uint64_t around = w->n_open ? w->open[w->n_open - 1].end : UINT64_MAX;
		w->open[w->n_open++] =
			(struct open_slice){i, s->end_ns < around ? s->end_ns : around};
	}
	close_until(w, NULL);
	pm_json_close(w->j, ']');
}

static void name_lane(struct evented *w, uint32_t thread, uint32_t lane)
{
	struct pm_text name = {.arena = w->to->a};
	pm_text_printf(&name, "in order of time, %s", pmfs_export_thread_name(w->to, thread));
	if (lane > 0)
		pm_text_printf(&name, " (%u)", lane + 1);
	if (w->slices->max_depth != PM_NONE)
		pm_text_printf(&name, " (the topmost %u levels)", w->slices->max_depth);
	if (w->slices->n_left_out > 0)
		pm_text_printf(&name, " (without %llu later calls of all threads)",
			(unsigned long long)w->slices->n_left_out);
	pm_json_key(w->j, "name");
	pm_json_text(w->j, pm_text_view(&name));
}

/* The calls of one thread are slices[from … to). */
static void write_lanes(struct evented *w, size_t from, size_t to)
{
	const struct pmfs_slice *slices = w->slices->slices;
	uint64_t begin[MOST_LANES], end[MOST_LANES] = {0};
	bool used[MOST_LANES] = {false};
	for (size_t i = from; i < to; i++) {
		uint32_t lane = slices[i].lane;
		if (lane >= MOST_LANES)
			continue;
		if (!used[lane])
			begin[lane] = slices[i].start_ns;
		if (slices[i].end_ns > end[lane])
			end[lane] = slices[i].end_ns;
		used[lane] = true;
	}
	for (uint32_t lane = 0; lane < MOST_LANES; lane++) {
		if (!used[lane])
			continue;
		pm_json_open(w->j, '{');
		pm_json_key(w->j, "type");
		pm_json_str(w->j, "evented");
		name_lane(w, slices[from].thread, lane);
		pm_json_key(w->j, "unit");
		pm_json_str(w->j, "nanoseconds");
		pm_json_key(w->j, "startValue");
		pm_json_u64(w->j, begin[lane]);
		pm_json_key(w->j, "endValue");
		pm_json_u64(w->j, end[lane]);
		write_lane(w, from, to, lane);
		pm_json_close(w->j, '}');
	}
}

/*
 * Appends a profile for each thread with calls, or for a single thread (unless PM_NONE), to the
 * open array; nothing if traces do not consist of calls. Contains as many calls as pmfs_slices_make
 * keeps; names say what is left out.
 */
static void write_evented(const struct pmfs_writing *to, uint32_t thread,
	struct frame_places *places, struct pm_json *j)
{
	struct evented w = {.to = to, .places = places, .j = j};
	if (!pmfs_model_profile(to->model)->ops->samples)
		return;
	w.slices = pmfs_slices_make(to, thread);
	w.open = pm_arena_array(to->a, w.slices->n, sizeof(*w.open));
	for (size_t from = 0, end; from < w.slices->n; from = end) {
		for (end = from; end < w.slices->n &&
			w.slices->slices[end].thread == w.slices->slices[from].thread;)
			end++;
		write_lanes(&w, from, end);
	}
}

/* ---- the file ---- */

struct writing {
	const struct pmfs_writing *to;
	struct pmfs_model *model;
	struct pm_arena *scratch; /* of a profile */
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	struct pm_json j;
	struct frame_places places;
	uint32_t *stack; /* of frames; as many as the tree has levels */
	uint32_t levels; /* of the deepest stack */
	bool has_profiles;
	uint32_t thread; /* whose profiles are written; PM_NONE: the run's */
};

/* ---- profiles ---- */

/* The frames from the top to the context as one JSON array. */
static void write_stack(struct writing *w, const struct pmfs_stacks *s, uint32_t context)
{
	uint32_t n = 0;
	for (uint32_t i = context; i != PM_NONE; i = pmfs_stacks_caller(s, i))
		w->stack[n++] = w->tree->frame[i];
	pm_json_open(&w->j, '[');
	while (n > 0)
		pm_json_u64(&w->j, frame_place(&w->places, w->stack[--n]));
	pm_json_close(&w->j, ']');
}

static void write_samples(struct writing *w, const struct pmfs_stacks *s)
{
	pm_json_key(&w->j, "samples");
	pm_json_open(&w->j, '[');
	for (uint32_t i = 0; i < w->tree->n_contexts && !w->j.out->failed; i++)
		if (pmfs_stacks_own(s, i) > 0)
			write_stack(w, s, i);
	pm_json_close(&w->j, ']');
	pm_json_key(&w->j, "weights");
	pm_json_open(&w->j, '[');
	for (uint32_t i = 0; i < w->tree->n_contexts; i++)
		if (pmfs_stacks_own(s, i) > 0)
			pm_json_u64(&w->j, pmfs_stacks_own(s, i));
	pm_json_close(&w->j, ']');
}

static void write_profile(struct writing *w, struct pmfs_stacks *s)
{
	uint64_t total = pmfs_stacks_total(s);
	uint32_t levels = pmfs_stacks_cut(w->scratch, s);
	struct pm_text name = {.arena = w->scratch};
	/* A level is a number and a comma at least. */
	pmfs_export_check_length(
		w->to, w->j.out->len + 2 * pmfs_stacks_count_levels(w->scratch, s));
	w->levels = levels > w->levels ? levels : w->levels;
	w->has_profiles = true;
	pm_text_str(&name, s->column->export);
	if (w->thread != PM_NONE)
		pm_text_printf(&name, ", %s", pmfs_export_thread_name(w->to, w->thread));
	pm_json_open(&w->j, '{');
	pm_json_key(&w->j, "type");
	pm_json_str(&w->j, "sampled");
	pm_json_key(&w->j, "name");
	pm_json_text(&w->j, pm_text_view(&name));
	pm_json_key(&w->j, "unit");
	pm_json_str(&w->j, pmfs_export_unit(s->column, "none"));
	pm_json_key(&w->j, "startValue");
	pm_json_u64(&w->j, 0);
	pm_json_key(&w->j, "endValue");
	pm_json_u64(&w->j, total);
	write_samples(w, s);
	pm_json_close(&w->j, '}');
}

/* The profile of a metric, unless it has no cost. */
static void write_metric(struct writing *w, uint32_t column, bool even_empty, struct pm_error *err)
{
	struct pmfs_stacks *s =
		pmfs_stacks_make(w->scratch, w->model, column, w->thread, PM_NONE, err);
	if (even_empty || pmfs_stacks_total(s) > 0)
		write_profile(w, s);
	pm_arena_done(w->scratch);
}

/* The profiles of the run or of one thread, one for each metric with a cost there. */
static void write_profiles(struct writing *w, struct pm_error *err)
{
	for (uint32_t i = 0; i < w->columns->n; i++)
		if (pmfs_column_is_first(&w->columns->columns[i]))
			write_metric(w, i, false, err);
}

/* An attempt: the thread may be one that cannot be read. */
struct attempt {
	struct writing *w;
	struct pm_error error;
};

static void write_thread(void *context)
{
	struct attempt *t = context;
	write_profiles(t->w, &t->error);
}

/* Those of each readable thread, as many as the limits allow. Returns how many are left out. */
static uint32_t write_threads(struct writing *w)
{
	const struct pm_threads *threads;
	struct pm_arena *a = w->to->a;
	pm_build_check(a, pmfs_model_threads(w->model, &threads, w->to->err));
	uint32_t n = threads->n < 2 ? 0 : threads->n, written = 0;
	for (uint32_t i = 0; i < n && written < PM_LIMIT_SPEEDSCOPE_THREADS &&
		w->j.out->len < PM_LIMIT_SPEEDSCOPE_BYTES;
		i++) {
		struct attempt t = {w, {.offset = PM_NO_OFFSET}};
		w->thread = i;
		int r = pm_build(a, write_thread, &t);
		pm_arena_done(w->scratch);
		written += r == 0;
		if (r < 0 && !pmfs_is_unreadable(r)) {
			if (w->to->err && !w->to->err->code)
				*w->to->err = t.error;
			pm_build_fail(a, r);
		}
	}
	return n - written;
}

/* ---- the file ---- */

static void write_frame(struct writing *w, const struct pm_frame *frame, struct pm_text *scratch)
{
	struct pm_bytes file = w->tree->texts[frame->file];
	pm_text_clear(scratch);
	pm_json_open(&w->j, '{');
	pm_json_key(&w->j, "name");
	pm_json_text(&w->j, pmfs_stacks_name(w->tree, frame, scratch));
	if (file.len) {
		pm_json_key(&w->j, "file");
		pm_json_text(&w->j, file);
	}
	if (frame->line) {
		pm_json_key(&w->j, "line");
		pm_json_u64(&w->j, frame->line);
	}
	pm_json_close(&w->j, '}');
}

static void write_file(const struct pmfs_writing *to)
{
	struct writing w = {.to = to,
		.model = to->model,
		.scratch = pm_arena_scratch(to->a),
		.j = {.out = to->out, .first = true},
		.thread = pmfs_export_thread(to->doc)};
	uint32_t thread = w.thread, left = 0;
	struct pm_text scratch = {.arena = to->a}, title = {.arena = to->a};
	pm_build_check(to->a, pmfs_model_tree(w.model, &w.tree, to->err));
	pm_build_check(to->a, pmfs_model_columns(w.model, &w.columns, to->err));
	w.places.place = pm_arena_array(to->a, w.tree->n_frames, sizeof(uint32_t));
	w.places.frames = pm_arena_array(to->a, w.tree->n_frames, sizeof(uint32_t));
	w.stack = pm_arena_array(to->a, (size_t)pmfs_tree_height(w.tree) + 1, sizeof(*w.stack));
	memset(w.places.place, 0xff, w.tree->n_frames * sizeof(uint32_t)); /* PM_NONE */
	pm_json_open(&w.j, '{');
	pm_json_key(&w.j, "$schema");
	pm_json_str(&w.j, "https://www.speedscope.app/file-format-schema.json");
	pm_json_key(&w.j, "exporter");
	pm_json_str(&w.j, PMFS_EXPORTER);
	pm_json_key(&w.j, "activeProfileIndex");
	pm_json_u64(&w.j, 0);
	pm_json_key(&w.j, "profiles");
	pm_json_open(&w.j, '[');
	write_profiles(&w, to->err);
	/* A file without profiles is invalid: if nothing has a cost, one says so. */
	if (!w.has_profiles && w.columns->n > 0)
		write_metric(&w, 0, true, to->err);
	if (thread == PM_NONE)
		left = write_threads(&w);
	write_evented(to, thread, &w.places, &w.j);
	pm_json_close(&w.j, ']');
	/* What samples refer to is known when they are all written. */
	pm_json_key(&w.j, "shared");
	pm_json_open(&w.j, '{');
	pm_json_key(&w.j, "frames");
	pm_json_open(&w.j, '[');
	for (uint32_t i = 0; i < w.places.n; i++)
		write_frame(&w, &w.tree->frames[w.places.frames[i]], &scratch);
	pm_json_close(&w.j, ']');
	pm_json_close(&w.j, '}');
	pmfs_export_title(to, thread, &title);
	if (left > 0)
		pm_text_printf(&title, " (without %u threads: see their own export/)", left);
	pmfs_export_levels(w.levels, &title);
	pm_json_key(&w.j, "name");
	pm_json_text(&w.j, pm_text_view(&title));
	pm_json_close(&w.j, '}');
	pm_text_char(w.j.out, '\n');
}

int pmfs_speedscope_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_file, out, err);
}
