/*
 * profile.speedscope.json: one profile for each metric of the whole run, then the same for each
 * thread, as many as the limits allow; the name of the file says how many were left out. A
 * sample is a frame with an exclusive cost. If traces consist of calls, those of each thread
 * follow in time order.
 */
#include "fs/views/exports/export.h"

#include <stdlib.h>

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
	struct pmfs_model *model;
	struct frame_places *places;
	struct pm_json *j;
	struct pmfs_slices slices;
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
		const struct pmfs_slice *last = &w->slices.slices[open->slice];
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
		const struct pmfs_slice *s = &w->slices.slices[i];
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

static int name_lane(struct evented *w, uint32_t thread, uint32_t lane, struct pm_error *err)
{
	struct pm_text name = {.p = NULL};
	const char *of;
	int r = pmfs_export_thread_name(w->model, thread, &of, err);
	if (r == 0)
		pm_text_printf(&name, "in order of time, %s", of);
	if (lane > 0)
		pm_text_printf(&name, " (%u)", lane + 1);
	if (w->slices.max_depth != PM_NONE)
		pm_text_printf(&name, " (the topmost %u levels)", w->slices.max_depth);
	if (w->slices.n_left_out > 0)
		pm_text_printf(&name, " (without %llu later calls of all threads)",
			(unsigned long long)w->slices.n_left_out);
	pm_json_key(w->j, "name");
	pm_json_text(w->j, pm_text_view(&name));
	if (r == 0)
		r = pm_text_status(&name);
	pm_text_done(&name);
	return r;
}

/* The calls of one thread are slices[from … to). */
static int write_lanes(struct evented *w, size_t from, size_t to, struct pm_error *err)
{
	const struct pmfs_slice *slices = w->slices.slices;
	uint64_t begin[MOST_LANES], end[MOST_LANES] = {0};
	bool used[MOST_LANES] = {false};
	int r = 0;
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
	for (uint32_t lane = 0; lane < MOST_LANES && r == 0; lane++) {
		if (!used[lane])
			continue;
		pm_json_open(w->j, '{');
		pm_json_key(w->j, "type");
		pm_json_str(w->j, "evented");
		r = name_lane(w, slices[from].thread, lane, err);
		pm_json_key(w->j, "unit");
		pm_json_str(w->j, "nanoseconds");
		pm_json_key(w->j, "startValue");
		pm_json_u64(w->j, begin[lane]);
		pm_json_key(w->j, "endValue");
		pm_json_u64(w->j, end[lane]);
		write_lane(w, from, to, lane);
		pm_json_close(w->j, '}');
	}
	return r;
}

/*
 * Appends a profile for each thread with calls, or for a single thread (unless PM_NONE), to the
 * open array; nothing if traces do not consist of calls. Contains as many calls as pmfs_slices_make
 * keeps; names say what is left out.
 */
static int evented_write(struct pmfs_model *m, uint32_t thread, struct frame_places *places,
	struct pm_json *j, struct pm_error *err)
{
	struct evented w = {.model = m, .places = places, .j = j};
	if (!pmfs_model_profile(m)->ops->samples)
		return 0;
	int r = pmfs_slices_make(m, thread, &w.slices, err);
	if (r < 0)
		return r;
	w.open = malloc((w.slices.n + 1) * sizeof(*w.open));
	if (!w.open)
		r = pmfs_no_memory(err);
	for (size_t from = 0, to; from < w.slices.n && r == 0; from = to) {
		for (to = from; to < w.slices.n &&
			w.slices.slices[to].thread == w.slices.slices[from].thread;)
			to++;
		r = write_lanes(&w, from, to, err);
	}
	free(w.open);
	pmfs_slices_done(&w.slices);
	return r;
}

/* ---- the file ---- */

struct writing {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	struct pm_json j;
	struct frame_places places;
	uint32_t *stack; /* of frames; as many as the tree has levels */
	uint32_t levels; /* of the deepest stack */
	bool has_profiles;
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

static int write_name(
	struct writing *w, const struct pmfs_column *column, uint32_t thread, struct pm_error *err)
{
	struct pm_text name = {.p = NULL};
	const char *of;
	int r = 0;
	pm_text_str(&name, column->export);
	if (thread != PM_NONE && (r = pmfs_export_thread_name(w->model, thread, &of, err)) == 0) {
		pm_text_str(&name, ", ");
		pm_text_str(&name, of);
	}
	pm_json_key(&w->j, "name");
	pm_json_text(&w->j, pm_text_view(&name));
	if (r == 0)
		r = pm_text_status(&name);
	pm_text_done(&name);
	return r;
}

static int write_profile(
	struct writing *w, struct pmfs_stacks *s, uint32_t thread, struct pm_error *err)
{
	uint64_t total = pmfs_stacks_total(s);
	uint32_t levels;
	uint64_t all;
	int r = pmfs_stacks_cut(s, &levels, err);
	if (r == 0)
		r = pmfs_stacks_count_levels(s, &all, err);
	if (r == 0) /* a level is a number and a comma at least */
		r = pmfs_export_check_length(w->j.out->len + 2 * all, err);
	if (r < 0)
		return r;
	w->levels = levels > w->levels ? levels : w->levels;
	w->has_profiles = true;
	pm_json_open(&w->j, '{');
	pm_json_key(&w->j, "type");
	pm_json_str(&w->j, "sampled");
	r = write_name(w, s->column, thread, err);
	pm_json_key(&w->j, "unit");
	pm_json_str(&w->j, pmfs_export_unit(s->column, "none"));
	pm_json_key(&w->j, "startValue");
	pm_json_u64(&w->j, 0);
	pm_json_key(&w->j, "endValue");
	pm_json_u64(&w->j, total);
	write_samples(w, s);
	pm_json_close(&w->j, '}');
	return r;
}

/* The profiles of the run or of one thread, one for each metric with a cost there. */
static int write_profiles(struct writing *w, uint32_t thread, struct pm_error *err)
{
	for (uint32_t i = 0; i < w->columns->n; i++) {
		struct pmfs_stacks s;
		if (!pmfs_column_is_first(&w->columns->columns[i]))
			continue;
		int r = pmfs_stacks_make(w->model, i, thread, PM_NONE, &s, err);
		if (r < 0)
			return r;
		if (pmfs_stacks_total(&s) > 0)
			r = write_profile(w, &s, thread, err);
		pmfs_stacks_done(&s);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A file without profiles is invalid: if nothing has a cost, there is one profile that says so. */
static int write_empty(struct writing *w, uint32_t thread, struct pm_error *err)
{
	struct pmfs_stacks s;
	int r = pmfs_stacks_make(w->model, 0, thread, PM_NONE, &s, err);
	if (r < 0)
		return r;
	r = write_profile(w, &s, thread, err);
	pmfs_stacks_done(&s);
	return r;
}

/* Those of each readable thread, as many as the limits allow. `*ret_left` are left out. */
static int write_threads(struct writing *w, uint32_t *ret_left, struct pm_error *err)
{
	const struct pm_threads *threads;
	int r = pmfs_model_threads(w->model, &threads, err);
	if (r < 0)
		return r;
	uint32_t n = threads->n < 2 ? 0 : threads->n, written = 0;
	for (uint32_t i = 0; i < n && written < PM_LIMIT_SPEEDSCOPE_THREADS &&
		w->j.out->len < PM_LIMIT_SPEEDSCOPE_BYTES;
		i++) {
		struct pm_error error = {.offset = PM_NO_OFFSET};
		r = write_profiles(w, i, &error);
		if (r == 0) {
			written++;
		} else if (!pmfs_is_unreadable(r)) {
			if (err && !err->code)
				*err = error;
			return r;
		}
	}
	*ret_left = n - written;
	return 0;
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

/* What samples refer to, and so what is known when they are all written. */
static int write_frames(struct writing *w)
{
	struct pm_text scratch = {.p = NULL};
	pm_json_key(&w->j, "shared");
	pm_json_open(&w->j, '{');
	pm_json_key(&w->j, "frames");
	pm_json_open(&w->j, '[');
	for (uint32_t i = 0; i < w->places.n; i++)
		write_frame(w, &w->tree->frames[w->places.frames[i]], &scratch);
	pm_json_close(&w->j, ']');
	pm_json_close(&w->j, '}');
	int r = pm_text_status(&scratch);
	pm_text_done(&scratch);
	return r;
}

static int write_title(struct writing *w, uint32_t thread, uint32_t left, struct pm_error *err)
{
	struct pm_text title = {.p = NULL};
	int r = pmfs_export_title(w->model, thread, &title, err);
	if (left > 0)
		pm_text_printf(&title, " (without %u threads: see their own export/)", left);
	pmfs_export_levels(w->levels, &title);
	pm_json_key(&w->j, "name");
	pm_json_text(&w->j, pm_text_view(&title));
	if (r == 0)
		r = pm_text_status(&title);
	pm_text_done(&title);
	return r;
}

static int write_file(struct writing *w, uint32_t thread, struct pm_error *err)
{
	uint32_t left = 0;
	pm_json_open(&w->j, '{');
	pm_json_key(&w->j, "$schema");
	pm_json_str(&w->j, "https://www.speedscope.app/file-format-schema.json");
	pm_json_key(&w->j, "exporter");
	pm_json_str(&w->j, PMFS_EXPORTER);
	pm_json_key(&w->j, "activeProfileIndex");
	pm_json_u64(&w->j, 0);
	pm_json_key(&w->j, "profiles");
	pm_json_open(&w->j, '[');
	int r = write_profiles(w, thread, err);
	if (r == 0 && !w->has_profiles && w->columns->n > 0)
		r = write_empty(w, thread, err);
	if (r == 0 && thread == PM_NONE)
		r = write_threads(w, &left, err);
	if (r == 0)
		r = evented_write(w->model, thread, &w->places, &w->j, err);
	if (r < 0)
		return r;
	pm_json_close(&w->j, ']');
	r = write_frames(w);
	if (r == 0)
		r = write_title(w, thread, left, err);
	pm_json_close(&w->j, '}');
	pm_text_char(w->j.out, '\n');
	return r;
}

int pmfs_speedscope_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct writing w = {
		.model = pmfs_model_of(doc->text.self), .j = {.out = out, .first = true}};
	int r = pmfs_model_tree(w.model, &w.tree, err);
	if (r < 0 || (r = pmfs_model_columns(w.model, &w.columns, err)) < 0)
		return r;
	w.places.place = malloc(((size_t)w.tree->n_frames + 1) * sizeof(uint32_t));
	w.places.frames = malloc(((size_t)w.tree->n_frames + 1) * sizeof(uint32_t));
	w.stack = malloc(((size_t)pmfs_tree_height(w.tree) + 1) * sizeof(*w.stack));
	if (w.places.place && w.places.frames && w.stack) {
		memset(w.places.place, 0xff, w.tree->n_frames * sizeof(uint32_t)); /* PM_NONE */
		r = write_file(&w, pmfs_export_thread(doc), err);
	} else {
		r = pmfs_no_memory(err);
	}
	free(w.places.place);
	free(w.places.frames);
	free(w.stack);
	return r < 0 ? r : pm_text_status(out);
}
