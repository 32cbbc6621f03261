/*
 * All events are read in the order of the file: functions and threads are interned, and of each
 * call 24 bytes are kept. The rest is made of these when all are known (place.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "formats/traceevents/traceevents.h"
#include "profmount/limits.h"

enum { BETWEEN_SPOTS = 4096 }; /* events */

static bool is(struct pm_bytes text, const char *name)
{
	return pm_bytes_equal(text, pm_bytes_of(name));
}

static bool begins(struct pm_bytes text, const char *with)
{
	size_t n = strlen(with);
	return text.len >= n && memcmp(text.p, with, n) == 0;
}

static uint32_t intern(struct tev_reading *t, struct pm_strtab *table, struct pm_bytes text)
{
	uint32_t i = pm_strtab_add(table, text);
	if (i == PM_NONE)
		tev_no_memory(t);
	return i;
}

/* The text of a value that lasts; empty if it is none. */
static struct pm_bytes text_of(struct tev_reading *t, const struct pm_scan_value *v)
{
	return pm_rec_copy(t->r, pm_rec_json_text(t->r, v, &t->scratch));
}

/* ---- functions ---- */

static bool is_category(struct pm_bytes cat, const char *name)
{
	return cat.len == strlen(name) && strncasecmp((const char *)cat.p, name, cat.len) == 0;
}

static bool is_gpu(struct pm_bytes cat)
{
	static const char *const cats[] = {
		"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "concurrent_kernel"};
	for (size_t i = 0; i < sizeof(cats) / sizeof(*cats); i++)
		if (is_category(cat, cats[i]))
			return true;
	return false;
}

/* Runtime and driver calls: cuda_runtime, cuda_driver, and as older writers call them. */
static bool may_launch(struct pm_bytes cat)
{
	return memmem(cat.p, cat.len, "untime", 6) || memmem(cat.p, cat.len, "driver", 6);
}

/* clang's events of which the detail says what they are about. */
static bool has_detail(struct pm_bytes name)
{
	return is(name, "Source") || is(name, "ParseClass") || is(name, "OptFunction") ||
		begins(name, "Instantiate");
}

static uint32_t add_function(struct tev_reading *t, uint32_t index, const struct tev_event *e,
	struct pm_bytes name, struct pm_bytes file)
{
	if (!tev_room(t, &t->functions, index, &t->function_room, sizeof(*t->functions)))
		return PM_NONE;
	struct tev_function *f = &t->functions[index];
	t->n_functions = index + 1u;
	*f = (struct tev_function){.plain = index,
		.recorded = PM_REC_BAD,
		.cat = text_of(t, &e->cat),
		.file = pm_rec_copy(t->r, file),
		.raw_name = pm_arena_copy(&t->arena, e->name.text),
		.raw_cat = pm_arena_copy(&t->arena, e->cat.text)};
	f->name = pm_rec_copy(t->r, name.len ? name : pm_bytes_of("(unknown)"));
	f->name_id = intern(t, &t->names, f->name);
	f->is_annotation = is_category(f->cat, "gpu_user_annotation");
	f->is_gpu = f->is_annotation || is_gpu(f->cat);
	f->is_launch = may_launch(f->cat);
	f->is_compiler = is(f->name, "ExecuteCompiler");
	f->has_detail = has_detail(f->name);
	f->is_total = begins(name, "Total ") && e->phase == 'X';
	if (!f->raw_name.p || !f->raw_cat.p)
		tev_no_memory(t);
	return index;
}

/* The function with this key, which is composed of raw texts. */
static uint32_t function_of_key(struct tev_reading *t, const struct tev_event *e,
	struct pm_bytes detail, struct pm_bytes file, struct pm_bytes name)
{
	pm_text_clear(&t->key);
	pm_text_char(&t->key, (char)('0' + (int)e->name.kind));
	pm_text_bytes(&t->key, e->name.text);
	pm_text_char(&t->key, '\0');
	pm_text_bytes(&t->key, e->cat.text);
	pm_text_char(&t->key, '\0');
	pm_text_bytes(&t->key, detail);
	pm_text_char(&t->key, '\0');
	pm_text_bytes(&t->key, file);
	if (t->key.failed) {
		tev_no_memory(t);
		return PM_NONE;
	}
	uint32_t known = t->function_keys.n;
	uint32_t index = intern(t, &t->function_keys, pm_text_view(&t->key));
	if (index == known && index != PM_NONE)
		index = add_function(t, index, e, name, file);
	return index < t->n_functions ? index : PM_NONE; /* none after a failure */
}

/* The function of an event with arguments that are a part of it. */
static uint32_t particular_function(
	struct tev_reading *t, const struct tev_event *e, uint32_t plain)
{
	struct pm_bytes none = {0};
	if (t->functions[plain].has_detail) {
		struct pm_scan_value detail = tev_member(&e->args, "detail");
		if (detail.kind != PM_SCAN_TEXT)
			return plain;
		struct pm_text name = {NULL};
		pm_text_bytes(&name, t->functions[plain].name);
		pm_text_char(&name, ' ');
		pm_text_bytes(&name, pm_rec_json_text(t->r, &detail, &t->scratch));
		uint32_t f = name.failed
			? PM_NONE
			: function_of_key(t, e, detail.text, none, pm_text_view(&name));
		if (name.failed)
			tev_no_memory(t);
		pm_text_done(&name);
		if (f != PM_NONE)
			t->functions[f].plain = plain;
		return f;
	}
	struct pm_scan_value url = tev_member(&e->args, "url");
	if (url.kind != PM_SCAN_TEXT || tev_member(&e->args, "line").kind == PM_SCAN_NOTHING ||
		tev_member(&e->args, "column").kind == PM_SCAN_NOTHING)
		return plain;
	struct pm_text file = {NULL};
	pm_text_bytes(&file, pm_rec_json_text(t->r, &url, &t->scratch));
	uint32_t f = PM_NONE;
	if (!file.failed)
		f = function_of_key(t, e, url.text, pm_text_view(&file), t->functions[plain].name);
	else
		tev_no_memory(t);
	pm_text_done(&file);
	if (f != PM_NONE)
		t->functions[f].plain = f;
	return f;
}

/* The function of an event; PM_NONE only after a failure. */
static uint32_t function_of(struct tev_reading *t, const struct tev_event *e)
{
	struct pm_bytes name = e->name.text, cat = e->cat.text;
	uint64_t h = name.len ^ cat.len << 20;
	for (size_t i = 0, step = name.len / 8 + 1; i < name.len; i += step)
		h = h * 31 + name.p[i];
	if (name.len)
		h = h * 31 + name.p[name.len - 1];
	uint32_t *slot = &t->recent[pm_hash_u64(h) % RECENT];
	const struct tev_function *recent = *slot ? &t->functions[*slot - 1] : NULL;
	uint32_t plain;
	if (recent && e->name.kind == PM_SCAN_TEXT && pm_bytes_equal(recent->raw_name, name) &&
		pm_bytes_equal(recent->raw_cat, cat)) {
		plain = *slot - 1;
	} else {
		struct pm_bytes none = {0}, text = pm_rec_json_text(t->r, &e->name, &t->scratch);
		plain = function_of_key(t, e, none, none, text);
		if (plain == PM_NONE || t->functions[plain].plain != plain)
			return plain;
		*slot = e->name.kind == PM_SCAN_TEXT ? plain + 1 : 0;
	}
	bool particular = e->args.kind == PM_SCAN_OBJECT &&
		(t->functions[plain].has_detail ||
			memmem(e->args.text.p, e->args.text.len, "\"url\"", 5));
	return particular ? particular_function(t, e, plain) : plain;
}

/* ---- events ---- */

static void read_metadata(struct tev_reading *t, const struct tev_event *e)
{
	bool process = is(e->name.text, "process_name");
	if (!process && !is(e->name.text, "thread_name"))
		return;
	uint32_t thread = tev_thread_of(t, e);
	struct pm_scan_value name = tev_member(&e->args, "name");
	if (thread == PM_NONE || name.kind != PM_SCAN_TEXT)
		return;
	if (process)
		t->processes[t->threads[thread].process].name = text_of(t, &name);
	else
		t->threads[thread].name = text_of(t, &name);
}

/* The calls that an async event belongs to: by id, over all processes unless it is local. */
static uint32_t async_key(struct tev_reading *t, const struct tev_event *e, uint32_t thread)
{
	bool old = e->phase == 'S' || e->phase == 'F', local = e->local_id.kind != PM_SCAN_NOTHING;
	pm_text_clear(&t->key);
	pm_text_bytes(&t->key, e->cat.text);
	pm_text_char(&t->key, '\0');
	pm_text_bytes(&t->key, e->scope.text);
	pm_text_char(&t->key, '\0');
	pm_text_bytes(&t->key, local ? e->local_id.text : e->id.text);
	pm_text_char(&t->key, '\0');
	if (local)
		pm_text_u64(&t->key, t->threads[thread].process);
	pm_text_char(&t->key, old ? 'o' : 'n');
	if (old)
		pm_text_bytes(&t->key, e->name.text);
	if (t->key.failed)
		tev_no_memory(t);
	return intern(t, &t->async_keys, pm_text_view(&t->key));
}

static void take_mark(struct tev_reading *t, const struct tev_event *e, uint32_t thread)
{
	bool async = e->phase != 'B' && e->phase != 'E';
	bool ends = e->phase == 'E' || e->phase == 'e' || e->phase == 'F';
	uint32_t function = function_of(t, e);
	if (function == PM_NONE)
		return;
	struct tev_mark m = {.ts = e->ts,
		.function = function,
		.name = t->functions[t->functions[function].plain].name_id,
		.thread = thread,
		.seq = t->n_events,
		.ends = ends};
	if (ends && e->name.kind != PM_SCAN_TEXT && e->name.kind != PM_SCAN_NUMBER)
		m.name = PM_NONE;
	if (async)
		m.key = async_key(t, e, thread);
	if (async ? !tev_room(t, &t->async, t->n_async, &t->async_room, sizeof(m))
		  : !tev_room(t, &t->marks, t->n_marks, &t->mark_room, sizeof(m)))
		return;
	t->processes[t->threads[thread].process].has_async |= async && !ends;
	if (async)
		t->async[t->n_async++] = m;
	else
		t->marks[t->n_marks++] = m;
	if (!async && !ends && t->threads[thread].first_call == PM_NONE)
		t->threads[thread].first_call = t->n_events;
}

/* What ties a call on a GPU, the last one that was added, to the one that launched it. */
static void take_link(struct tev_reading *t, const struct tev_event *e, bool is_gpu)
{
	struct pm_scan_value v = tev_member(&e->args, "correlation");
	int64_t correlation;
	if (v.kind != PM_SCAN_NUMBER ||
		pm_scan_decimal(v.text, 0, &correlation) != PM_DECIMAL_EXACT || correlation <= 0 ||
		!tev_room(t, &t->links, t->n_links, &t->link_room, sizeof(*t->links)))
		return;
	t->links[t->n_links++] = (struct tev_link){correlation, (uint32_t)(t->calls.n - 1), is_gpu};
}

/* Its end, or its time if it has no duration. */
static int64_t take_complete(struct tev_reading *t, const struct tev_event *e, uint32_t thread)
{
	int64_t dur = e->dur, end;
	if (dur < 0 || __builtin_add_overflow(e->ts, dur, &end)) {
		tev_note(&t->no_dur, e->at);
		dur = 0;
		end = e->ts;
	}
	uint32_t function = function_of(t, e);
	if (function == PM_NONE)
		return end;
	t->is_clang |= t->functions[function].is_compiler;
	struct tev_call call = {
		.ts = e->ts, .function = function, .thread = thread, .seq = t->n_events};
	if (tev_calls_add(&t->calls, &call, dur, PM_NONE) < 0)
		tev_no_memory(t);
	else if (t->functions[function].is_gpu || t->functions[function].is_launch)
		take_link(t, e, t->functions[function].is_gpu);
	if (t->threads[thread].first_call == PM_NONE)
		t->threads[thread].first_call = t->n_events;
	return end;
}

static void take_event(struct tev_reading *t, const struct tev_event *e)
{
	bool total = e->phase == 'X' && begins(e->name.text, "Total ");
	if (e->phase == 'M') {
		read_metadata(t, e);
		return;
	}
	if (e->ts < 0) {
		tev_note(&t->no_ts, e->at);
		return;
	}
	uint32_t thread = tev_thread_of(t, e);
	if (thread == PM_NONE)
		return;
	if (t->processes[t->threads[thread].process].is_comment ||
		is(e->cat.text, "critical path component")) {
		t->n_comments++;
		return;
	}
	int64_t *origin = total ? &t->total_origin : &t->origin;
	*origin = *origin == TEV_NO_NUMBER || e->ts < *origin ? e->ts : *origin;
	int64_t end = e->ts;
	if (t->values && strchr("XBEbeSF", e->phase))
		tev_values_take(t, e);
	switch (e->phase) {
	case 'X': end = take_complete(t, e, thread); break;
	case 'B':
	case 'E':
	case 'b':
	case 'e':
	case 'S':
	case 'F': take_mark(t, e, thread); break;
	case 'C': tev_count(t, e, t->threads[thread].process); break;
	default:
		if (tev_is_sampled(e))
			tev_sampled_take(t, e, thread);
	}
	if (!t->has_fractions && strchr("XBEbeSF", e->phase) &&
		(!e->is_exact || e->ts % 1000 != 0 ||
			(e->dur != TEV_NO_NUMBER && e->dur % 1000 != 0)))
		t->has_fractions = true;
	struct tev_thread *of = &t->threads[thread];
	struct tev_process *in = &t->processes[of->process];
	if (total)
		return;
	of->last = end > of->last ? end : of->last;
	in->last = end > in->last ? end : in->last;
}

/* Where raw/ may begin to read again. */
static void note_spot(struct tev_reading *t)
{
	if (tev_room(t, &t->spots, t->n_spots, &t->spot_room, sizeof(*t->spots)))
		t->spots[t->n_spots++] = (struct tev_spot){pm_scan_where(&t->s), t->n_events};
}

static void add_raw(struct tev_reading *t)
{
	struct tev_raw *raw = pm_rec_alloc(t->r, sizeof(*raw));
	struct tev_spot *spots = pm_rec_alloc(t->r, t->n_spots * sizeof(*spots) + 1);
	if (!raw || !spots)
		return;
	if (t->n_spots > 0)
		memcpy(spots, t->spots, t->n_spots * sizeof(*spots));
	*raw = (struct tev_raw){.bytes = pm_rec_bytes(t->r),
		.spots = spots,
		.n_spots = t->n_spots,
		.n_events = t->n_events,
		.origin = t->origin,
		.lines = t->lines};
	tev_raw_add(t->r, raw, t->phase_end);
}

/* The elements of a list, or of the text itself. False if none of the first ones is an event. */
static bool read_events(struct tev_reading *t, bool lines)
{
	uint64_t n_elements = 0, n_found = 0;
	for (struct tev_event e; pm_rec_goes_on(t->r);) {
		if (lines ? !pm_scan_top_item(&t->s) : !pm_scan_item(&t->s)) {
			t->at_end = true;
			break;
		}
		if (t->n_events >= PM_LIMIT_ITEMS) {
			t->is_full = true;
			pm_rec_damage(t->r, pm_scan_where(&t->s), PM_NO_OFFSET,
				"there are more than %u events: what follows is not read",
				PM_LIMIT_ITEMS);
			break;
		}
		if (t->n_events % BETWEEN_SPOTS == 0 || n_elements == 0)
			note_spot(t);
		if (!tev_event_read(&t->s, &e))
			break;
		n_elements++;
		t->phase_end[(unsigned char)e.phase & 127] = t->n_events + 1;
		if (e.phase == 0 && !e.is_empty)
			tev_note(&t->no_event, e.at);
		if (e.phase != 0) {
			n_found++;
			take_event(t, &e);
		}
		t->n_events++;
		if (n_found == 0 && n_elements >= 50)
			return false;
	}
	return n_found > 0;
}

/* ---- the file ---- */

/* What is known of the file besides events; the value of `key` is next. */
static void read_top_key(struct tev_reading *t, struct pm_bytes key)
{
	struct pm_scan_value v;
	bool base = is(key, "baseTimeNanoseconds"), unit = is(key, "displayTimeUnit");
	bool name = is(key, "traceName");
	if (is(key, "stackFrames")) {
		tev_stack_frames(t);
		return;
	}
	if (is(key, "samples")) {
		tev_stack_samples(t);
		return;
	}
	if (!base && !unit && !name) {
		pm_scan_skip(&t->s);
		return;
	}
	pm_scan_value(&t->s, &v);
	if (base && pm_scan_decimal(v.text, 0, &t->base) != PM_DECIMAL_EXACT)
		t->base = TEV_NO_NUMBER;
	if (unit)
		pm_rec_fact(t->r, "display_time_unit", pm_cell_text(text_of(t, &v)));
	if (name)
		pm_rec_fact(t->r, "trace_name", pm_cell_text(text_of(t, &v)));
}

static bool read_object(struct tev_reading *t)
{
	struct pm_bytes key;
	bool found = false;
	pm_scan_enter(&t->s);
	while (!t->is_full && pm_scan_key(&t->s, &key) && pm_rec_goes_on(t->r)) {
		if (!is(key, "traceEvents") || pm_scan_peek(&t->s) != PM_SCAN_ARRAY) {
			read_top_key(t, key);
			continue;
		}
		found = true;
		pm_scan_enter(&t->s);
		read_events(t, false);
	}
	return found;
}

/* Whether the object that is next is an event: then each line of the text is one. */
static bool is_line(const struct tev_reading *t)
{
	struct pm_scan s = t->s;
	struct pm_bytes key;
	s.more = NULL;
	pm_scan_enter(&s);
	while (pm_scan_key(&s, &key)) {
		if (is(key, "ph"))
			return true;
		if (is(key, "traceEvents") || !pm_scan_skip(&s))
			return false;
	}
	return false;
}

/* Reads all events; -EINVAL if these are none. */
static int read_file(struct tev_reading *t, struct pm_error *err)
{
	t->s = pm_rec_json(t->r);
	enum pm_scan_kind kind = pm_scan_peek(&t->s);
	bool good = false;
	if (kind == PM_SCAN_ARRAY) {
		pm_scan_enter(&t->s);
		pm_rec_layout(t->r, "array of events");
		good = pm_scan_peek(&t->s) == PM_SCAN_OBJECT && read_events(t, false);
		/* An array needs no end. */
		if (t->s.code == -EINVAL && t->s.cut && t->at_end)
			t->s.code = 0;
	} else if (kind == PM_SCAN_OBJECT && is_line(t)) {
		pm_rec_layout(t->r, "an event a line");
		t->lines = true;
		good = read_events(t, true);
	} else if (kind == PM_SCAN_OBJECT) {
		pm_rec_layout(t->r, "object with events");
		good = read_object(t);
	}
	if (t->is_full || !pm_rec_json_ends(t->r, &t->s) || good)
		return 0;
	return pm_error_set(err, -EINVAL, pm_rec_file(t->r), PM_NO_OFFSET,
		"has no trace events: neither `traceEvents` nor a list of objects with `ph`");
}

/* ---- the whole ---- */

static void reading_done(struct tev_reading *t)
{
	tev_calls_done(&t->calls);
	pm_text_done(&t->scratch);
	pm_text_done(&t->key);
	pm_strtab_done(&t->function_keys);
	pm_strtab_done(&t->names);
	pm_strtab_done(&t->thread_keys);
	pm_strtab_done(&t->process_keys);
	pm_strtab_done(&t->async_keys);
	pm_strtab_done(&t->counter_keys);
	pm_map_done(&t->numbered);
	pm_arena_done(&t->arena);
	tev_values_free(t->values);
	tev_sampled_done(t);
	tev_stacks_done(t);
	free(t->counters);
	free(t->numbers);
	free(t->links);
	free(t->spots);
	free(t->functions);
	free(t->processes);
	free(t->threads);
	free(t->key_threads);
	free(t->marks);
	free(t->async);
	free(t);
}

int tev_read(struct pm_recording *r, struct pm_error *err)
{
	struct tev_reading *t = calloc(1, sizeof(*t));
	if (!t)
		return pm_error_plain(err, -ENOMEM);
	t->r = r;
	t->base = t->origin = t->total_origin = TEV_NO_NUMBER;
	t->function_keys.arena = t->thread_keys.arena = &t->arena;
	t->process_keys.arena = t->async_keys.arena = &t->arena;
	t->counter_keys.arena = t->sampled_keys.arena = &t->arena;
	t->frame_keys.arena = &t->arena;
	t->values = tev_values_new(t);
	int e = read_file(t, err);
	if (e == 0 && pm_rec_goes_on(r))
		e = tev_values_check(t, err);
	tev_stacks_end(t);
	if (e == 0 && pm_rec_goes_on(r))
		tev_place(t);
	if (e == 0 && pm_rec_goes_on(r))
		tev_counter_series(t);
	if (e == 0 && pm_rec_goes_on(r))
		add_raw(t);
	reading_done(t);
	return e;
}
