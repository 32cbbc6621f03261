/*
 * speedscope shows the contexts of a sampled profile in the order of the file; only evented
 * profiles have times. Overlapping calls of a thread are in lanes, with one profile per lane.
 */
#include "fs/views/exports/export_evented.h"

#include <stdlib.h>

#include "fs/views/exports/export.h"
#include "fs/views/sums/slices.h"

/* More lanes mean that the program traces something other than calls. */
enum { MOST_LANES = 8 };

struct open_slice {
	size_t slice;
	uint64_t end; /* not after those around it */
};

struct writing {
	struct pmfs_model *model;
	struct pmfs_frame_places *places;
	struct pm_json *j;
	struct pmfs_slices slices;
	struct open_slice *open; /* that have not ended, outermost first */
	size_t n_open;
	uint64_t now; /* time of the previous event */
};

static void write_event(
	struct writing *w, const char *type, const struct pmfs_slice *s, uint64_t at)
{
	w->now = at > w->now ? at : w->now; /* never decreases */
	pm_json_open(w->j, '{');
	pm_json_key(w->j, "type");
	pm_json_str(w->j, type);
	pm_json_key(w->j, "frame");
	pm_json_u64(w->j, pmfs_frame_place(w->places, s->frame));
	pm_json_key(w->j, "at");
	pm_json_u64(w->j, w->now);
	pm_json_close(w->j, '}');
}

/* Ends the open slices that do not contain the slice; with NULL, all of them. */
static void close_until(struct writing *w, const struct pmfs_slice *next)
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

static void write_events(struct writing *w, size_t from, size_t to, uint32_t lane)
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

static int write_name(struct writing *w, uint32_t thread, uint32_t lane, struct pm_error *err)
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
static int write_thread(struct writing *w, size_t from, size_t to, struct pm_error *err)
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
		r = write_name(w, slices[from].thread, lane, err);
		pm_json_key(w->j, "unit");
		pm_json_str(w->j, "nanoseconds");
		pm_json_key(w->j, "startValue");
		pm_json_u64(w->j, begin[lane]);
		pm_json_key(w->j, "endValue");
		pm_json_u64(w->j, end[lane]);
		write_events(w, from, to, lane);
		pm_json_close(w->j, '}');
	}
	return r;
}

int pmfs_evented_write(struct pmfs_model *m, uint32_t thread, struct pmfs_frame_places *places,
	struct pm_json *j, struct pm_error *err)
{
	struct writing w = {.model = m, .places = places, .j = j};
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
		r = write_thread(&w, from, to, err);
	}
	free(w.open);
	pmfs_slices_done(&w.slices);
	return r;
}
