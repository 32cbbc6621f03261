/*
 * Chrome trace events, for chrome://tracing, Perfetto, speedscope and the Firefox Profiler:
 * trace.json, and trace.chrome.json of a profile that is one trace.
 */
#include "fs/views/exports/export.h"

#include <string.h>

#include "formats/common/json.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/threads.h"
#include "profmount/limits.h"

struct chrome {
	struct pm_text *out;
	uint64_t n_events;
	struct pm_text args; /* of the event that is written */
};

struct chrome_slice {
	uint64_t pid, tid, start_ns, length_ns;
	struct pm_bytes name;
	struct pm_bytes cat;  /* category, or empty */
	struct pm_bytes args; /* a JSON object, or empty */
	/* Of calls of no thread: 'b' or 'e', the begin or end of one that nests in others of its
	 * id. */
	char phase;
	uint64_t id;
};

/* Maximum number of counters and instants; if there are more, only some are written. */
enum { MOST_SERIES_EVENTS = 100000 };

/* The fields of calls, as JSON objects. Zeroed, or filled. */
struct call_args {
	struct pm_text texts;
	struct call_arg *of; /* by slice; NULL: no call has any */
};

struct call_arg {
	size_t at, len; /* in texts; len 0: none */
};

/* Empty if the slice's call has none. */
static struct pm_bytes call_args_of(const struct call_args *a, size_t slice)
{
	if (!a->of || a->of[slice].len == 0)
		return (struct pm_bytes){NULL, 0};
	return (struct pm_bytes){(const uint8_t *)a->texts.p + a->of[slice].at, a->of[slice].len};
}

struct track {
	uint32_t process;
	uint32_t n_lanes;  /* 0 for threads that are not shown */
	uint64_t tid;      /* of the first lane */
	uint64_t more_tid; /* number of lane 1; the other lanes follow */
};

struct tracks {
	const struct pm_threads *threads;
	struct track *tracks;       /* by thread */
	struct pm_strtab processes; /* their names: `rank 3`; empty where threads have no more */
	struct pmfs_process *process_of; /* by index in processes */
	bool ranks;                      /* pids are ranks; otherwise indexes */
};

static uint64_t track_tid(const struct track *track, uint32_t lane)
{
	return lane == 0 ? track->tid : track->more_tid + lane - 1;
}

/*
 * ---- the writer ----
 *
 * Writes Chrome trace events, for chrome://tracing, Perfetto, speedscope and the Firefox
 * Profiler. Times are relative and in microseconds, because viewers store them as doubles.
 * Slices have args only if calls have fields of their own, because speedscope treats args as
 * part of the name. A slice without duration is written as an instant, because speedscope fails
 * on slices of length 0.
 *
 *     chrome_begin, other data as JSON, chrome_events, events, chrome_end
 *
 * Slices of one thread must nest, and must be in order of start, longest first.
 */

/* The caller then appends a JSON object that describes the file. */
static void chrome_begin(struct chrome *c)
{
	pm_text_str(c->out, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":");
}

static void chrome_events(struct chrome *c)
{
	pm_text_str(c->out, ",\n\"traceEvents\":[");
}

static void chrome_end(struct chrome *c)
{
	pm_text_str(c->out, "\n]}\n");
}

/* Begins an event, up to a value that the caller adds. */
static void start_event(struct chrome *c, char phase, uint64_t pid, uint64_t tid)
{
	pm_text_str(c->out, c->n_events++ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	pm_text_char(c->out, phase);
	pm_text_str(c->out, "\",\"pid\":");
	pm_text_u64(c->out, pid);
	pm_text_str(c->out, ",\"tid\":");
	pm_text_u64(c->out, tid);
}

static void add_us(struct chrome *c, const char *key, uint64_t ns)
{
	pm_text_str(c->out, key);
	pm_text_u64(c->out, ns / 1000);
	char decimals[] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
		(char)('0' + ns % 10)};
	pm_text_add(c->out, decimals, sizeof(decimals));
}

/* The name of a `process` or `thread`, and its sort order. */
static void chrome_name(
	struct chrome *c, const char *what, uint64_t pid, uint64_t tid, struct pm_bytes name)
{
	start_event(c, 'M', pid, tid);
	pm_text_str(c->out, ",\"name\":\"");
	pm_text_str(c->out, what);
	pm_text_str(c->out, "_name\",\"args\":{\"name\":");
	pm_text_json(c->out, name);
	pm_text_str(c->out, "}}");
}

static void chrome_place(
	struct chrome *c, const char *what, uint64_t pid, uint64_t tid, uint64_t place)
{
	start_event(c, 'M', pid, tid);
	pm_text_str(c->out, ",\"name\":\"");
	pm_text_str(c->out, what);
	pm_text_str(c->out, "_sort_index\",\"args\":{\"sort_index\":");
	pm_text_u64(c->out, place);
	pm_text_str(c->out, "}}");
}

/* The end of an event. */
static void end_event(struct chrome *c, struct pm_bytes name, struct pm_bytes args)
{
	pm_text_str(c->out, ",\"name\":");
	pm_text_json(c->out, name);
	if (args.len) {
		pm_text_str(c->out, ",\"args\":");
		pm_text_bytes(c->out, args);
	}
	pm_text_char(c->out, '}');
}

static void chrome_slice(struct chrome *c, const struct chrome_slice *slice)
{
	char phase = slice->phase ? slice->phase : slice->length_ns ? 'X' : 'i';
	start_event(c, phase, slice->pid, slice->tid);
	add_us(c, ",\"ts\":", slice->start_ns + (phase == 'e' ? slice->length_ns : 0));
	if (slice->phase)
		pm_text_printf(c->out, ",\"id\":%llu", (unsigned long long)slice->id);
	else if (slice->length_ns)
		add_us(c, ",\"dur\":", slice->length_ns);
	else
		pm_text_str(c->out, ",\"s\":\"t\"");
	if (slice->cat.len) {
		pm_text_str(c->out, ",\"cat\":");
		pm_text_json(c->out, slice->cat);
	}
	end_event(c, slice->name, slice->args);
}

/*
 * Numbers for processes and threads. Ranks and thread numbers are used unchanged, because
 * people look for them; others get the next free number.
 */

/* As a tid; viewers take numbers of 32 bits. */
#define NO_TID  UINT64_MAX
#define MAX_TID ((uint64_t)1 << 30)

struct pmfs_process {
	uint64_t value;    /* value of its last level: the rank */
	uint64_t next_tid; /* above all that are taken */
};

/* The number of levels of the identity that identify the process: up to the last of these. */
static uint32_t process_levels(const struct pm_threads *threads, const struct pm_thread *thread)
{
	static const char *const keys[] = {"node", "rank", "process"};
	uint32_t n = 0;
	for (uint32_t i = 0; i < thread->n_identity; i++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			if (strcmp(threads->keys[thread->identity[i].key], keys[k]) == 0)
				n = i + 1;
	return n;
}

/* `rank 3 thread 1`: levels from `first` up to `end`. */
static void add_levels(struct pm_text *out, const struct pm_threads *threads,
	const struct pm_thread *thread, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		if (i > first)
			pm_text_char(out, ' ');
		pm_text_line(out, pm_bytes_of(threads->keys[thread->identity[i].key]));
		pm_text_char(out, ' ');
		pm_text_u64(out, thread->identity[i].value);
	}
}

static void find_process(struct tracks *t, uint32_t i, struct pm_text *scratch)
{
	const struct pm_thread *thread = &t->threads->threads[i];
	uint32_t levels = process_levels(t->threads, thread);
	pm_text_clear(scratch);
	add_levels(scratch, t->threads, thread, 0, levels);
	uint32_t process = pm_strtab_add(&t->processes, pm_text_view(scratch));
	t->process_of[process].value = levels ? thread->identity[levels - 1].value : 0;
	t->tracks[i] = (struct track){.process = process, .n_lanes = 1};
}

/*
 * A thread identified by a single number has it as tid, unless another thread of its process has
 * the same.
 */
static void take_own_tid(struct tracks *t, struct pm_map *taken, uint32_t i)
{
	const struct pm_thread *thread = &t->threads->threads[i];
	struct track *track = &t->tracks[i];
	struct pmfs_process *process = &t->process_of[track->process];
	uint32_t levels = process_levels(t->threads, thread);
	bool is_new;
	track->tid = NO_TID;
	if (levels + 1 != thread->n_identity || thread->identity[levels].value >= MAX_TID)
		return;
	uint32_t tid = (uint32_t)thread->identity[levels].value;
	pm_map_put(taken, (uint64_t)track->process << 32 | tid, i, &is_new);
	if (is_new)
		track->tid = tid;
	if (tid >= process->next_tid)
		process->next_tid = tid + 1;
}

/* Ranks serve as pids if no two processes have the same. */
static bool ranks_are_pids(const struct tracks *t, struct pm_map *seen)
{
	bool is_new = true;
	for (uint32_t i = 0; is_new && i < t->processes.n; i++) {
		pm_map_put(seen, t->process_of[i].value, i, &is_new);
		is_new &= t->process_of[i].value <= INT32_MAX;
	}
	return is_new;
}

/* The other threads follow, then the lanes after the first one of each. */
static void place_rest(struct tracks *t, const struct pmfs_slices *slices)
{
	for (uint32_t i = 0; i < t->threads->n; i++) {
		struct track *track = &t->tracks[i];
		if (track->n_lanes > 0 && track->tid == NO_TID)
			track->tid = t->process_of[track->process].next_tid++;
	}
	for (size_t i = 0; i < slices->n; i++) {
		struct track *track = &t->tracks[slices->slices[i].thread];
		if (track->n_lanes <= slices->slices[i].lane)
			track->n_lanes = slices->slices[i].lane + 1;
	}
	for (uint32_t i = 0; i < t->threads->n; i++) {
		struct track *track = &t->tracks[i];
		if (track->n_lanes < 2)
			continue;
		track->more_tid = t->process_of[track->process].next_tid;
		t->process_of[track->process].next_tid += track->n_lanes - 1;
	}
}

/* Tracks of all threads with a trace (thread PM_NONE), or of one, with lanes for their slices. */
static struct tracks tracks_make(struct pm_arena *a, const struct pm_threads *threads,
	uint32_t thread, const struct pmfs_slices *slices)
{
	struct tracks t = {.threads = threads,
		.tracks = pm_arena_array(a, threads->n, sizeof(*t.tracks)),
		.process_of = pm_arena_array(a, threads->n, sizeof(*t.process_of)),
		.processes = pm_strtab_in(a)};
	struct pm_map taken = {.arena = a}, seen = {.arena = a};
	struct pm_text scratch = {.arena = a};
	for (uint32_t i = 0; i < threads->n; i++) {
		if (!threads->threads[i].has_trace || (thread != PM_NONE && thread != i))
			continue;
		find_process(&t, i, &scratch);
		take_own_tid(&t, &taken, i);
	}
	t.ranks = ranks_are_pids(&t, &seen);
	place_rest(&t, slices);
	return t;
}

static uint64_t tracks_pid(const struct tracks *t, uint32_t process)
{
	return t->ranks ? t->process_of[process].value : process;
}

/* `thread 1`, the name of a thread within its process; `main` if it has no name. */
static void tracks_add_name(const struct tracks *t, uint32_t thread, struct pm_text *out)
{
	const struct pm_thread *of = &t->threads->threads[thread];
	uint32_t levels = process_levels(t->threads, of);
	if (levels == of->n_identity)
		pm_text_str(out, "main");
	add_levels(out, t->threads, of, levels, of->n_identity);
}

/* ---- fields as JSON ---- */

static void write_cell(struct pm_json *j, const struct pm_cell *cell)
{
	struct pm_text text = {.arena = j->out->arena};
	switch (cell->kind) {
	case PM_CELL_U64: pm_json_u64(j, cell->u); break;
	case PM_CELL_I64: pm_json_i64(j, cell->i); break;
	case PM_CELL_F64: pm_json_f64(j, cell->f); break;
	case PM_CELL_TEXT: pm_json_text(j, cell->text); break;
	case PM_CELL_EMPTY: pm_json_null(j); break;
	case PM_CELL_HEX:
	case PM_CELL_ID:
		pm_text_str(&text, cell->kind == PM_CELL_HEX ? "0x" : "");
		pm_text_hex(&text, cell->u, cell->kind == PM_CELL_HEX ? 1 : cell->width);
		pm_json_text(j, pm_text_view(&text));
		pm_text_end(&text, j->out);
		break;
	}
}

/* One object with the fields that the row has. */
static void write_fields(
	struct pm_text *out, const struct pm_series *s, const struct pm_cell *cells)
{
	struct pm_json j = {.out = out, .first = true};
	pm_json_open(&j, '{');
	for (uint32_t i = 0; i < s->table.n_columns; i++) {
		if (!s->fields[i] || cells[i].kind == PM_CELL_EMPTY)
			continue;
		pm_json_key(&j, pm_table_column(&s->table, i));
		write_cell(&j, &cells[i]);
	}
	pm_json_close(&j, '}');
}

/* ---- counters and instants ---- */

static void add_event(
	struct chrome *c, uint64_t pid, const struct pm_series *s, const struct pm_cell *cells)
{
	bool counts = s->kind == PM_SERIES_COUNTER;
	pm_text_clear(&c->args);
	write_fields(&c->args, s, cells);
	start_event(c, counts ? 'C' : 'i', pid, 0);
	add_us(c, ",\"ts\":", cells[s->time].u);
	pm_text_str(c->out, counts ? "" : ",\"s\":\"p\"");
	end_event(c, s->name, pm_text_view(&c->args));
}

/* Appends counters and instants, every step-th. */
static void add_series(const struct pmfs_writing *to, struct chrome *c, uint64_t pid,
	const struct pm_series *series, size_t n_series, uint64_t step)
{
	uint64_t n = 0;
	for (size_t i = 0; i < n_series; i++) {
		const struct pm_series *s = &series[i];
		if (s->kind == PM_SERIES_CALLS)
			continue;
		struct pm_arena *a = pm_arena_scratch(to->a);
		struct pm_table_reader *r = pm_table_read(a, &s->table, 0, to->err);
		while (!c->out->failed && pm_table_next(a, r, to->err))
			if (r->cells[s->time].kind == PM_CELL_U64 && n++ % step == 0)
				add_event(c, pid, s, r->cells);
		pm_arena_done(a);
	}
}

/* ---- fields of calls ---- */

struct place {
	uint64_t seq;
	size_t slice;
};

static int by_seq(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Takes the fields of those calls of the series that are slices. */
static void take_calls(const struct pmfs_writing *to, struct call_args *args,
	const struct pm_series *s, const struct place *places, size_t n)
{
	struct pm_arena *a = pm_arena_scratch(to->a);
	struct pm_table_reader *r =
		pm_table_read(a, &s->table, s->table.type->dense && n ? places[0].seq : 0, to->err);
	size_t at = 0;
	while (at < n && pm_table_next(a, r, to->err)) {
		while (at < n && places[at].seq < r->cells[s->seq].u)
			at++;
		if (at == n || places[at].seq != r->cells[s->seq].u)
			continue;
		size_t before = args->texts.len;
		write_fields(&args->texts, s, r->cells);
		pm_build_check(a, pm_text_status(&args->texts));
		args->of[places[at].slice] = (struct call_arg){before, args->texts.len - before};
	}
	pm_arena_done(a);
}

static void find_call_args(const struct pmfs_writing *to, struct call_args *args,
	const struct pmfs_slices *slices, const struct pm_series *series, size_t n_series)
{
	struct place *places = NULL;
	for (size_t i = 0; i < n_series; i++) {
		if (series[i].kind != PM_SERIES_CALLS)
			continue;
		if (!places) {
			places = pm_arena_array(to->a, slices->n, sizeof(*places));
			for (size_t k = 0; k < slices->n; k++)
				places[k] = (struct place){slices->slices[k].seq, k};
			pm_build_check(to->a, pm_sort(places, slices->n, sizeof(*places), by_seq));
			args->of = pm_arena_array(to->a, slices->n, sizeof(*args->of));
		}
		take_calls(to, args, &series[i], places, slices->n);
	}
}

/* ---- trace.json: the traces of all threads, or of one ---- */

struct writing {
	const struct pmfs_writing *to;
	const struct pm_profile *profile;
	const struct pm_tree *tree;
	const struct pmfs_slices *slices;
	struct tracks tracks;
	struct call_args args;
	struct chrome chrome;
	struct pm_text scratch;
	size_t *open; /* async calls that have not ended, outermost first */
	size_t n_open;
};

/* ---- events ---- */

static void write_processes(struct writing *w)
{
	const struct tracks *t = &w->tracks;
	for (uint32_t i = 0; i < t->processes.n; i++) {
		struct pm_bytes name = t->processes.items[i];
		uint64_t pid = tracks_pid(t, i);
		pm_text_clear(&w->scratch);
		if (name.len == 0) {
			pmfs_export_title(w->to, PM_NONE, &w->scratch);
			name = pm_text_view(&w->scratch);
		}
		chrome_name(&w->chrome, "process", pid, 0, name);
		chrome_place(&w->chrome, "process", pid, 0, pid);
	}
}

/* A thread for each of its lanes, all at the place of the first. */
static void write_thread(struct writing *w, uint32_t thread)
{
	const struct track *track = &w->tracks.tracks[thread];
	uint64_t pid = tracks_pid(&w->tracks, track->process);
	for (uint32_t lane = 0; lane < track->n_lanes; lane++) {
		uint64_t tid = track_tid(track, lane);
		pm_text_clear(&w->scratch);
		tracks_add_name(&w->tracks, thread, &w->scratch);
		if (lane > 0)
			pm_text_printf(&w->scratch, " (%u)", lane + 1);
		chrome_name(&w->chrome, "thread", pid, tid, pm_text_view(&w->scratch));
		chrome_place(&w->chrome, "thread", pid, tid, track->tid);
	}
}

/* phase: 0, or of a call of no thread 'b' or 'e'. */
static void write_slice(struct writing *w, size_t i, char phase)
{
	const struct pmfs_slice *slice = &w->slices->slices[i];
	const struct track *track = &w->tracks.tracks[slice->thread];
	const struct pm_frame *frame = &w->tree->frames[slice->frame];
	/* Modules of recorded calls are the categories of their writer. */
	bool has_category = w->profile->traces_are_calls && w->profile->has_modules;
	pm_text_clear(&w->scratch);
	const struct chrome_slice event = {.pid = tracks_pid(&w->tracks, track->process),
		.tid = track_tid(track, slice->lane),
		.start_ns = slice->start_ns,
		.length_ns = slice->end_ns - slice->start_ns,
		.name = pmfs_stacks_name(w->tree, frame, &w->scratch),
		.cat = has_category ? w->tree->texts[frame->module] : (struct pm_bytes){0},
		.args = phase == 'e' ? (struct pm_bytes){0} : call_args_of(&w->args, i),
		.phase = phase,
		.id = (uint64_t)slice->thread * PMFS_MAX_LANES + slice->lane + 1};
	chrome_slice(&w->chrome, &event);
}

static void end_async(struct writing *w, const struct pmfs_slice *next)
{
	while (w->n_open > 0) {
		size_t i = w->open[w->n_open - 1];
		const struct pmfs_slice *last = &w->slices->slices[i];
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
		if (w->slices->slices[i].lane != lane)
			continue;
		end_async(w, &w->slices->slices[i]);
		write_slice(w, i, 'b');
		w->open[w->n_open++] = i;
	}
	end_async(w, NULL);
}

static void write_slices(struct writing *w)
{
	for (size_t i = 0, end; i < w->slices->n && !w->chrome.out->failed; i = end) {
		uint32_t thread = w->slices->slices[i].thread;
		bool async = pm_time_of(w->tracks.threads, thread) == PM_TIME_ASYNC;
		for (end = i; end < w->slices->n && w->slices->slices[end].thread == thread; end++)
			if (!async)
				write_slice(w, end, 0);
		for (uint32_t lane = 0; async && lane < w->tracks.tracks[thread].n_lanes; lane++)
			write_async_lane(w, i, end, lane);
	}
}

/* ---- the file ---- */

/* What the file is. Numbers beyond what a double holds are text. */
static void write_other_data(struct writing *w, uint32_t thread, uint64_t step)
{
	struct pm_json j = {.out = w->chrome.out, .first = true};
	uint64_t origin;
	pm_build_check(w->to->a, pmfs_time_origin(w->to->model, &origin, w->to->err));
	pm_text_clear(&w->scratch);
	pmfs_export_title(w->to, thread, &w->scratch);
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
	if (w->slices->max_depth != PM_NONE) {
		pm_json_key(&j, "max_depth");
		pm_json_u64(&j, w->slices->max_depth);
	}
	if (w->slices->n_left_out > 0) {
		pm_json_key(&j, "slices_left_out");
		pm_json_u64(&j, w->slices->n_left_out);
	}
	if (step > 1) {
		pm_json_key(&j, "counters_and_instants_one_of");
		pm_json_u64(&j, step);
	}
	pm_json_close(&j, '}');
}

static void write_file(const struct pmfs_writing *to)
{
	struct pmfs_model *m = to->model;
	struct writing w = {.to = to,
		.profile = pmfs_model_profile(m),
		.chrome = {.out = to->out, .args.arena = to->a},
		.args.texts.arena = to->a,
		.scratch.arena = to->a};
	uint32_t thread = pmfs_export_thread(to->doc);
	const struct pm_threads *threads;
	const struct pm_series *series;
	uint64_t n_events = 0;
	size_t n_series;
	pm_build_check(to->a, pmfs_model_tree(m, &w.tree, to->err));
	pm_build_check(to->a, pmfs_model_threads(m, &threads, to->err));
	w.slices = pmfs_slices_make(to, thread);
	w.tracks = tracks_make(to->a, threads, thread, w.slices);
	pm_build_check(to->a, pm_profile_series(w.profile, &series, &n_series, to->err));
	find_call_args(to, &w.args, w.slices, series, n_series);
	w.open = pm_arena_array(to->a, w.slices->n, sizeof(*w.open));
	for (size_t i = 0; i < n_series; i++)
		n_events += series[i].kind == PM_SERIES_CALLS ? 0 : series[i].n;
	uint64_t step = thread == PM_NONE ? n_events / MOST_SERIES_EVENTS + 1 : 0;
	chrome_begin(&w.chrome);
	write_other_data(&w, thread, step);
	chrome_events(&w.chrome);
	write_processes(&w);
	for (uint32_t i = 0; i < threads->n; i++)
		write_thread(&w, i);
	write_slices(&w);
	if (step > 0)
		add_series(to, &w.chrome, w.tracks.processes.n ? tracks_pid(&w.tracks, 0) : 0,
			series, n_series, step);
	chrome_end(&w.chrome);
}

int pmfs_chrome_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_file, out, err);
}

/*
 * trace.chrome.json: a profile that is one trace, call by call, as Chrome trace events on one
 * track. Unlike trace.json, it clips overlapping calls instead of putting them on lanes.
 */

struct writing_calls {
	const struct pm_profile *profile;
	const struct pm_tree *tree;
	uint64_t *end;        /* by context: when the call ends */
	uint64_t *busy_until; /* by context: when the last call directly below ended */
	uint64_t top;         /* the same of the calls at the top */
	uint32_t n;           /* calls written */
	struct chrome chrome;
	struct pm_text scratch;
};

/*
 * Slices of one track must nest: a call ends with its caller at the latest, and begins where the
 * call before it ended at the earliest.
 */
static void write_call(struct writing_calls *w, uint32_t context, const struct pm_sample *call)
{
	uint32_t parent = w->tree->parent[context];
	uint64_t limit = parent == PM_NONE ? UINT64_MAX : w->end[parent];
	uint64_t *before = parent == PM_NONE ? &w->top : &w->busy_until[parent];
	uint64_t start = call->time_ns, length = call->duration_ns, end;
	if (length == PM_NO_TIME || __builtin_add_overflow(start, length, &end))
		end = limit == UINT64_MAX ? start : limit;
	if (start < *before)
		start = *before;
	if (start > limit)
		start = limit;
	if (end > limit)
		end = limit;
	if (end < start)
		end = start;
	*before = w->end[context] = end;
	w->busy_until[context] = start;
	pm_text_clear(&w->scratch);
	const struct chrome_slice slice = {.pid = 1,
		.tid = 1,
		.start_ns = start,
		.length_ns = end - start,
		.name = pmfs_stacks_name(w->tree, pm_tree_frame(w->tree, context), &w->scratch)};
	chrome_slice(&w->chrome, &slice);
}

static void write_calls(struct writing_calls *w, const struct pmfs_writing *to)
{
	struct pm_sample batch[256];
	uint64_t at = 0;
	int64_t n = 1;
	while (n > 0 && w->n < PM_LIMIT_TRACE_SLICES) {
		n = w->profile->ops->samples(w->profile, 0, at, batch, 256, to->err);
		pm_build_check(to->a, (int)n);
		pm_build_proceed(to->a);
		for (int64_t i = 0; i < n && w->n < PM_LIMIT_TRACE_SLICES; i++) {
			uint32_t context = pm_tree_find(w->tree, batch[i].context);
			if (context == PM_NONE)
				continue;
			write_call(w, context, &batch[i]);
			w->n++;
		}
		at += (uint64_t)n;
	}
}

static void write_call_file(const struct pmfs_writing *to)
{
	struct pmfs_model *m = to->model;
	struct writing_calls w = {
		.profile = pmfs_model_profile(m), .chrome.out = to->out, .scratch.arena = to->a};
	struct pm_json j = {.out = to->out, .first = true};
	struct pm_bytes title;
	pm_build_check(to->a, pm_profile_title(w.profile, &title, to->err));
	pm_build_check(to->a, pmfs_model_tree(m, &w.tree, to->err));
	w.end = pm_arena_array(to->a, w.tree->n_contexts, sizeof(*w.end));
	w.busy_until = pm_arena_array(to->a, w.tree->n_contexts, sizeof(*w.busy_until));
	chrome_begin(&w.chrome);
	pm_json_open(&j, '{');
	pm_json_key(&j, "title");
	pm_json_text(&j, title);
	if (w.tree->n_contexts > PM_LIMIT_TRACE_SLICES) {
		pm_json_key(&j, "slices_left_out");
		pm_json_u64(&j, w.tree->n_contexts - PM_LIMIT_TRACE_SLICES);
	}
	pm_json_close(&j, '}');
	chrome_events(&w.chrome);
	chrome_name(&w.chrome, "process", 1, 0, title);
	write_calls(&w, to);
	chrome_end(&w.chrome);
}

int pmfs_calls_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_call_file, out, err);
}
