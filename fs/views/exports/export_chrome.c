/*
 * Chrome trace events, for chrome://tracing, Perfetto, speedscope and the Firefox Profiler:
 * trace.json, and trace.chrome.json of a profile that is one trace.
 */
#include "fs/views/exports/export.h"

#include <stdlib.h>

#include "formats/common/json.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/common/work.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/threads.h"
#include "profmount/limits.h"

struct chrome {
	struct pm_text *out;
	uint64_t n_events;
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

/* Maximum number of counters and instants; if there are more, every `*ret_step`-th is written. */
enum { PMFS_MOST_SERIES_EVENTS = 100000 };

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
	struct pm_arena arena;           /* of the names */
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

/* A counter event, and an instant event; `args` as above. */
static void chrome_counter(struct chrome *c, uint64_t pid, uint64_t time_ns, struct pm_bytes name,
	struct pm_bytes args)
{
	start_event(c, 'C', pid, 0);
	add_us(c, ",\"ts\":", time_ns);
	end_event(c, name, args);
}

static void chrome_instant(struct chrome *c, uint64_t pid, uint64_t time_ns, struct pm_bytes name,
	struct pm_bytes args)
{
	start_event(c, 'i', pid, 0);
	add_us(c, ",\"ts\":", time_ns);
	pm_text_str(c->out, ",\"s\":\"p\"");
	end_event(c, name, args);
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

static int find_process(struct tracks *t, uint32_t i, struct pm_text *scratch)
{
	const struct pm_thread *thread = &t->threads->threads[i];
	uint32_t levels = process_levels(t->threads, thread);
	pm_text_clear(scratch);
	add_levels(scratch, t->threads, thread, 0, levels);
	uint32_t process =
		scratch->failed ? PM_NONE : pm_strtab_add(&t->processes, pm_text_view(scratch));
	if (process == PM_NONE)
		return -ENOMEM;
	t->process_of[process].value = levels ? thread->identity[levels - 1].value : 0;
	t->tracks[i] = (struct track){.process = process, .n_lanes = 1};
	return 0;
}

/*
 * A thread identified by a single number has it as tid, unless another thread of its process has
 * the same.
 */
static int take_own_tid(struct tracks *t, struct pm_map *taken, uint32_t i)
{
	const struct pm_thread *thread = &t->threads->threads[i];
	struct track *track = &t->tracks[i];
	struct pmfs_process *process = &t->process_of[track->process];
	uint32_t levels = process_levels(t->threads, thread);
	bool is_new;
	track->tid = NO_TID;
	if (levels + 1 != thread->n_identity || thread->identity[levels].value >= MAX_TID)
		return 0;
	uint32_t tid = (uint32_t)thread->identity[levels].value;
	if (!pm_map_put(taken, (uint64_t)track->process << 32 | tid, i, &is_new))
		return -ENOMEM;
	if (is_new)
		track->tid = tid;
	if (tid >= process->next_tid)
		process->next_tid = tid + 1;
	return 0;
}

/* Ranks serve as pids if no two processes have the same. */
static int choose_pids(struct tracks *t)
{
	struct pm_map seen = {.n = 0};
	bool is_new = true, known = true;
	t->ranks = true;
	for (uint32_t i = 0; known && t->ranks && i < t->processes.n; i++) {
		known = pm_map_put(&seen, t->process_of[i].value, i, &is_new);
		t->ranks = is_new && t->process_of[i].value <= INT32_MAX;
	}
	pm_map_done(&seen);
	return known ? 0 : -ENOMEM;
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

static int place_all(struct tracks *t, uint32_t thread, const struct pmfs_slices *slices)
{
	struct pm_map taken = {.n = 0};
	struct pm_text scratch = {.p = NULL};
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < t->threads->n; i++) {
		if (!t->threads->threads[i].has_trace || (thread != PM_NONE && thread != i))
			continue;
		r = find_process(t, i, &scratch);
		if (r == 0)
			r = take_own_tid(t, &taken, i);
	}
	pm_map_done(&taken);
	pm_text_done(&scratch);
	if (r == 0)
		r = choose_pids(t);
	if (r == 0)
		place_rest(t, slices);
	return r;
}

/*
 * Tracks of all threads with a trace (thread PM_NONE), or of one, with lanes for their slices. The
 * caller frees `ret`, even after a failure.
 */
static int tracks_make(const struct pm_threads *threads, uint32_t thread,
	const struct pmfs_slices *slices, struct tracks *ret, struct pm_error *err)
{
	size_t n = (size_t)threads->n + 1;
	*ret = (struct tracks){
		.threads = threads,
		.tracks = calloc(n, sizeof(*ret->tracks)),
		.process_of = calloc(n, sizeof(*ret->process_of)),
	};
	ret->processes.arena = &ret->arena;
	if (!ret->tracks || !ret->process_of || place_all(ret, thread, slices) < 0)
		return pmfs_no_memory(err);
	return 0;
}

/* Accepts a zeroed one. */
static void tracks_done(struct tracks *t)
{
	free(t->tracks);
	free(t->process_of);
	pm_strtab_done(&t->processes);
	pm_arena_done(&t->arena);
	*t = (struct tracks){.threads = NULL};
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

/* ---- counters, instants, and fields of calls ---- */

/* ---- fields as JSON ---- */

static void write_cell(struct pm_json *j, const struct pm_cell *cell)
{
	struct pm_text text = {.p = NULL};
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

struct adding {
	struct chrome *chrome;
	uint64_t pid, step, n;
};

static void add_event(struct adding *a, const struct pm_series *s, const struct pm_cell *cells)
{
	const struct pm_cell *time = &cells[s->time];
	struct pm_text args = {.p = NULL};
	if (time->kind != PM_CELL_U64 || a->n++ % a->step != 0)
		return;
	write_fields(&args, s, cells);
	if (s->kind == PM_SERIES_COUNTER)
		chrome_counter(a->chrome, a->pid, time->u, s->name, pm_text_view(&args));
	else
		chrome_instant(a->chrome, a->pid, time->u, s->name, pm_text_view(&args));
	pm_text_end(&args, a->chrome->out);
}

static int add_events(struct adding *a, const struct pm_series *s, struct pm_error *err)
{
	struct pm_rows rows;
	struct pm_cell *cells = calloc(s->table.n_columns + 1, sizeof(*cells));
	if (!cells)
		return pmfs_no_memory(err);
	int r = pm_rows_start(&rows, &s->table, 0, err);
	while (r >= 0 && !a->chrome->out->failed && (r = pm_rows_next(&rows, cells, err)) > 0)
		add_event(a, s, cells);
	pm_rows_done(&rows);
	free(cells);
	return r < 0 ? r : 0;
}

static int chrome_series_step(struct pmfs_model *m, uint64_t *ret_step, struct pm_error *err)
{
	const struct pm_series *series;
	uint64_t all = 0;
	size_t n;
	int r = pm_profile_series(pmfs_model_profile(m), &series, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		all += series[i].kind == PM_SERIES_CALLS ? 0 : series[i].n;
	*ret_step = all / PMFS_MOST_SERIES_EVENTS + 1;
	return r;
}

/* Appends counters and instants, every step-th. */
static int chrome_add_series(
	struct pmfs_model *m, struct chrome *c, uint64_t pid, uint64_t step, struct pm_error *err)
{
	const struct pm_series *series;
	struct adding a = {.chrome = c, .pid = pid, .step = step};
	size_t n;
	int r = pm_profile_series(pmfs_model_profile(m), &series, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (series[i].kind != PM_SERIES_CALLS)
			r = add_events(&a, &series[i], err);
	return r;
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
static int take_calls(struct call_args *a, const struct pm_series *s, const struct place *places,
	size_t n, struct pm_error *err)
{
	struct pm_rows rows;
	struct pm_cell *cells = calloc(s->table.n_columns + 1, sizeof(*cells));
	size_t at = 0;
	if (!cells)
		return pmfs_no_memory(err);
	int r = pm_rows_start(&rows, &s->table, s->table.type->dense && n ? places[0].seq : 0, err);
	while (r >= 0 && at < n && !a->texts.failed && (r = pm_rows_next(&rows, cells, err)) > 0) {
		while (at < n && places[at].seq < cells[s->seq].u)
			at++;
		if (at == n || places[at].seq != cells[s->seq].u)
			continue;
		size_t before = a->texts.len;
		write_fields(&a->texts, s, cells);
		a->of[places[at].slice] = (struct call_arg){before, a->texts.len - before};
	}
	pm_rows_done(&rows);
	free(cells);
	return r < 0 ? r : pm_text_status(&a->texts) < 0 ? pmfs_no_memory(err) : 0;
}

static int call_args_make(struct pmfs_model *m, const struct pmfs_slices *slices,
	struct call_args *ret, struct pm_error *err)
{
	const struct pm_series *series;
	bool any = false;
	size_t n;
	*ret = (struct call_args){.of = NULL};
	int r = pm_profile_series(pmfs_model_profile(m), &series, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		any |= series[i].kind == PM_SERIES_CALLS;
	if (r < 0 || !any)
		return r;
	struct place *places = malloc((slices->n + 1) * sizeof(*places));
	ret->of = calloc(slices->n + 1, sizeof(*ret->of));
	if (!places || !ret->of)
		r = pmfs_no_memory(err);
	for (size_t i = 0; r == 0 && i < slices->n; i++)
		places[i] = (struct place){slices->slices[i].seq, i};
	if (r == 0 && pm_sort(places, slices->n, sizeof(*places), by_seq) < 0)
		r = pmfs_no_memory(err);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (series[i].kind == PM_SERIES_CALLS)
			r = take_calls(ret, &series[i], places, slices->n, err);
	free(places);
	return r;
}

/* ---- trace.json: the traces of all threads, or of one ---- */

struct writing {
	struct pmfs_model *model;
	const struct pm_tree *tree;
	struct pmfs_slices slices;
	struct tracks tracks;
	struct call_args args;
	uint64_t step; /* every so many counters and instants; 0: none */
	struct chrome chrome;
	struct pm_text scratch;
	size_t *open; /* async calls that have not ended, outermost first */
	size_t n_open;
};

/* ---- events ---- */

static int write_processes(struct writing *w, struct pm_error *err)
{
	const struct tracks *t = &w->tracks;
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < t->processes.n; i++) {
		struct pm_bytes name = t->processes.items[i];
		uint64_t pid = tracks_pid(t, i);
		pm_text_clear(&w->scratch);
		if (name.len == 0) {
			r = pmfs_export_title(w->model, PM_NONE, &w->scratch, err);
			name = pm_text_view(&w->scratch);
		}
		chrome_name(&w->chrome, "process", pid, 0, name);
		chrome_place(&w->chrome, "process", pid, 0, pid);
	}
	return r;
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
	const struct pmfs_slice *slice = &w->slices.slices[i];
	const struct track *track = &w->tracks.tracks[slice->thread];
	const struct pm_profile *p = pmfs_model_profile(w->model);
	const struct pm_frame *frame = &w->tree->frames[slice->frame];
	/* Modules of recorded calls are the categories of their writer. */
	bool has_category = p->traces_are_calls && p->has_modules;
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
		r = chrome_add_series(w->model, &w->chrome,
			w->tracks.processes.n ? tracks_pid(&w->tracks, 0) : 0, w->step, err);
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
	chrome_begin(&w->chrome);
	int r = write_other_data(w, thread, err);
	if (r < 0)
		return r;
	chrome_events(&w->chrome);
	r = write_events(w, err);
	chrome_end(&w->chrome);
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
	r = tracks_make(threads, thread, &w.slices, &w.tracks, err);
	if (r == 0)
		r = call_args_make(w.model, &w.slices, &w.args, err);
	w.open = malloc((w.slices.n + 1) * sizeof(*w.open));
	if (r == 0 && !w.open)
		r = pmfs_no_memory(err);
	if (r == 0 && thread == PM_NONE)
		r = chrome_series_step(w.model, &w.step, err);
	if (r == 0)
		r = write_file(&w, thread, err);
	pmfs_slices_done(&w.slices);
	tracks_done(&w.tracks);
	pm_text_done(&w.args.texts);
	free(w.args.of);
	free(w.open);
	pm_text_end(&w.scratch, out);
	return r < 0 ? r : pm_text_status(out);
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

static int write_calls(struct writing_calls *w, struct pm_error *err)
{
	struct pm_sample batch[256];
	uint64_t at = 0;
	int64_t n = 0;
	while (w->n < PM_LIMIT_TRACE_SLICES) {
		n = w->profile->ops->samples(w->profile, 0, at, batch, 256, err);
		if (n <= 0)
			break;
		if (pm_work_cancelled())
			return pmfs_no_memory(err);
		for (int64_t i = 0; i < n && w->n < PM_LIMIT_TRACE_SLICES; i++) {
			uint32_t context = pm_tree_find(w->tree, batch[i].context);
			if (context == PM_NONE)
				continue;
			write_call(w, context, &batch[i]);
			w->n++;
		}
		at += (uint64_t)n;
	}
	return n < 0 ? (int)n : 0;
}

static void write_about(struct writing_calls *w, struct pm_bytes title)
{
	struct pm_json j = {.out = w->chrome.out, .first = true};
	pm_json_open(&j, '{');
	pm_json_key(&j, "title");
	pm_json_text(&j, title);
	if (w->tree->n_contexts > PM_LIMIT_TRACE_SLICES) {
		pm_json_key(&j, "slices_left_out");
		pm_json_u64(&j, w->tree->n_contexts - PM_LIMIT_TRACE_SLICES);
	}
	pm_json_close(&j, '}');
}

int pmfs_calls_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	struct writing_calls w = {.profile = pmfs_model_profile(m), .chrome = {.out = out}};
	struct pm_bytes title;
	int r = pm_profile_title(w.profile, &title, err);
	if (r == 0)
		r = pmfs_model_tree(m, &w.tree, err);
	if (r < 0)
		return r;
	w.end = calloc((size_t)w.tree->n_contexts + 1, sizeof(*w.end));
	w.busy_until = calloc((size_t)w.tree->n_contexts + 1, sizeof(*w.busy_until));
	r = w.end && w.busy_until ? 0 : pmfs_no_memory(err);
	if (r == 0) {
		chrome_begin(&w.chrome);
		write_about(&w, title);
		chrome_events(&w.chrome);
		chrome_name(&w.chrome, "process", 1, 0, title);
		r = write_calls(&w, err);
		chrome_end(&w.chrome);
	}
	free(w.end);
	free(w.busy_until);
	pm_text_end(&w.scratch, out);
	return r;
}
