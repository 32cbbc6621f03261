/*
 * trace.json: the traces of all threads, or of one, as Chrome trace events.
 */
#include <stdlib.h>

#include "formats/common/json.h"
#include "fs/views/exports/chrome.h"
#include "fs/views/exports/chromeseries.h"
#include "fs/views/exports/export.h"
#include "fs/views/model/catalog.h"
#include "fs/views/sums/overlaps.h"
#include "fs/views/sums/processes.h"
#include "fs/views/sums/slices.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/threads.h"

struct writing {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	struct pmfs_slices slices;
	struct pmfs_tracks tracks;
	struct pmfs_call_args args;
	uint64_t step; /* every so many counters and instants; 0: none */
	struct pmfs_chrome chrome;
	struct pm_text scratch;
	size_t *open; /* async calls that have not ended, outermost first */
	size_t n_open;
};

/* ---- events ---- */

static int write_processes(struct writing *w, struct pm_error *err)
{
	const struct pmfs_tracks *t = &w->tracks;
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < t->processes.n; i++) {
		struct pm_bytes name = t->processes.items[i];
		uint64_t pid = pmfs_tracks_pid(t, i);
		pm_text_clear(&w->scratch);
		if (name.len == 0) {
			r = pmfs_export_title(w->model, PM_NONE, &w->scratch, err);
			name = pm_text_view(&w->scratch);
		}
		pmfs_chrome_name(&w->chrome, "process", pid, 0, name);
		pmfs_chrome_place(&w->chrome, "process", pid, 0, pid);
	}
	return r;
}

/* A thread for each of its lanes, all at the place of the first. */
static void write_thread(struct writing *w, uint32_t thread)
{
	const struct pmfs_track *track = &w->tracks.tracks[thread];
	uint64_t pid = pmfs_tracks_pid(&w->tracks, track->process);
	for (uint32_t lane = 0; lane < track->n_lanes; lane++) {
		uint64_t tid = pmfs_track_tid(track, lane);
		pm_text_clear(&w->scratch);
		pmfs_tracks_add_name(&w->tracks, thread, &w->scratch);
		if (lane > 0)
			pm_text_printf(&w->scratch, " (%u)", lane + 1);
		pmfs_chrome_name(&w->chrome, "thread", pid, tid, pm_text_view(&w->scratch));
		pmfs_chrome_place(&w->chrome, "thread", pid, tid, track->tid);
	}
}

/* phase: 0, or of a call of no thread 'b' or 'e' (chrome.h). */
static void write_slice(struct writing *w, size_t i, char phase)
{
	const struct pmfs_slice *slice = &w->slices.slices[i];
	const struct pmfs_track *track = &w->tracks.tracks[slice->thread];
	const struct pm_profile *p = pmfs_model_profile(w->model);
	const struct pm_frame *frame = &w->tree->frames[slice->frame];
	/* Modules of recorded calls are the categories of their writer. */
	bool has_category = p->traces_are_calls && p->has_modules;
	pm_text_clear(&w->scratch);
	const struct pmfs_chrome_slice event = {.pid = pmfs_tracks_pid(&w->tracks, track->process),
		.tid = pmfs_track_tid(track, slice->lane),
		.start_ns = slice->start_ns,
		.length_ns = slice->end_ns - slice->start_ns,
		.name = pmfs_stacks_name(w->tree, frame, &w->scratch),
		.cat = has_category ? w->tree->texts[frame->module] : (struct pm_bytes){0},
		.args = phase == 'e' ? (struct pm_bytes){0} : pmfs_call_args_of(&w->args, i),
		.phase = phase,
		.id = (uint64_t)slice->thread * PMFS_MAX_LANES + slice->lane + 1};
	pmfs_chrome_slice(&w->chrome, &event);
}

static void end_async(struct writing *w, const struct pmfs_slice *next)
{
	while (w->n_open > 0) {
		size_t i = w->open[w->n_open - 1];
		const struct pmfs_slice *last = &w->slices.slices[i];
		bool nests = next && next->thread == last->thread && next->lane == last->lane &&
			last->depth < next->depth && next->end_ns <= last->end_ns;
		if (nests)
			return;
		write_slice(w, i, 'e');
		w->n_open--;
	}
}

/* Calls of no thread: a begin and an end each, of one id on each lane. */
static void write_async_lane(struct writing *w, size_t from, size_t to, uint32_t lane)
{
	for (size_t i = from; i < to && !w->chrome.out->failed; i++) {
		if (w->slices.slices[i].lane != lane)
			continue;
		end_async(w, &w->slices.slices[i]);
		write_slice(w, i, 'b');
		w->open[w->n_open++] = i;
	}
	end_async(w, NULL);
}

static void write_slices(struct writing *w)
{
	for (size_t i = 0, end; i < w->slices.n && !w->chrome.out->failed; i = end) {
		uint32_t thread = w->slices.slices[i].thread;
		bool async = pm_time_of(w->tracks.threads, thread) == PM_TIME_ASYNC;
		for (end = i; end < w->slices.n && w->slices.slices[end].thread == thread; end++)
			if (!async)
				write_slice(w, end, 0);
		for (uint32_t lane = 0; async && lane < w->tracks.tracks[thread].n_lanes; lane++)
			write_async_lane(w, i, end, lane);
	}
}

static int write_events(struct writing *w, struct pm_error *err)
{
	int r = write_processes(w, err);
	for (uint32_t i = 0; i < w->tracks.threads->n; i++)
		write_thread(w, i);
	write_slices(w);
	if (r == 0 && w->step > 0)
		r = pmfs_chrome_add_series(w->model, &w->chrome,
			w->tracks.processes.n ? pmfs_tracks_pid(&w->tracks, 0) : 0, w->step, err);
	return r;
}

/* ---- the file ---- */

static void write_cuts(struct pm_json *j, const struct pmfs_slices *s)
{
	if (s->max_depth != PM_NONE) {
		pm_json_key(j, "max_depth");
		pm_json_u64(j, s->max_depth);
	}
	if (s->n_left_out > 0) {
		pm_json_key(j, "slices_left_out");
		pm_json_u64(j, s->n_left_out);
	}
}

/* What the file is. Numbers beyond what a double holds are text. */
static int write_other_data(struct writing *w, uint32_t thread, struct pm_error *err)
{
	struct pm_json j = {.out = w->chrome.out, .first = true};
	uint64_t origin;
	int r = pmfs_time_origin(w->model, &origin, err);
	pm_text_clear(&w->scratch);
	if (r == 0)
		r = pmfs_export_title(w->model, thread, &w->scratch, err);
	if (r < 0)
		return r;
	pm_json_open(&j, '{');
	pm_json_key(&j, "title");
	pm_json_text(&j, pm_text_view(&w->scratch));
	pm_json_key(&j, "exporter");
	pm_json_str(&j, PMFS_EXPORTER);
	if (origin != PM_NO_TIME) {
		pm_text_clear(&w->scratch);
		pm_text_u64(&w->scratch, origin);
		pm_json_key(&j, "time_origin_ns");
		pm_json_text(&j, pm_text_view(&w->scratch));
	}
	write_cuts(&j, &w->slices);
	if (w->step > 1) {
		pm_json_key(&j, "counters_and_instants_one_of");
		pm_json_u64(&j, w->step);
	}
	pm_json_close(&j, '}');
	return 0;
}

static int write_file(struct writing *w, uint32_t thread, struct pm_error *err)
{
	pmfs_chrome_begin(&w->chrome);
	int r = write_other_data(w, thread, err);
	if (r < 0)
		return r;
	pmfs_chrome_events(&w->chrome);
	r = write_events(w, err);
	pmfs_chrome_end(&w->chrome);
	return r;
}

int pmfs_chrome_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct writing w = {.model = pmfs_model_of(doc->text.self), .chrome = {.out = out}};
	uint32_t thread = pmfs_export_thread(doc);
	const struct pm_threads *threads;
	int r = pmfs_model_tree(w.model, &w.tree, err);
	if (r < 0 || (r = pmfs_model_threads(w.model, &threads, err)) < 0 ||
		(r = pmfs_slices_make(w.model, thread, &w.slices, err)) < 0)
		return r;
	r = pmfs_tracks_make(threads, thread, &w.slices, &w.tracks, err);
	if (r == 0)
		r = pmfs_call_args_make(w.model, &w.slices, &w.args, err);
	w.open = malloc((w.slices.n + 1) * sizeof(*w.open));
	if (r == 0 && !w.open)
		r = pmfs_no_memory(err);
	if (r == 0 && thread == PM_NONE)
		r = pmfs_chrome_series_step(w.model, &w.step, err);
	if (r == 0)
		r = write_file(&w, thread, err);
	pmfs_slices_done(&w.slices);
	pmfs_tracks_done(&w.tracks);
	pmfs_call_args_done(&w.args);
	free(w.open);
	pm_text_end(&w.scratch, out);
	return r < 0 ? r : pm_text_status(out);
}
