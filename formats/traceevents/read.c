/*
 * All events are read in the order of the file: functions and threads are interned, and of each
 * call 24 bytes are kept. The rest is made of these when all are known (place.c).
 */
#include <string.h>
#include <strings.h>

#include "formats/traceevents/traceevents.h"
#include "profmount/limits.h"

enum { BETWEEN_SPOTS = 4096 /* events */, RECENT = 4096 /* functions */ };

static bool is(struct pm_bytes text, const char *name)
{
	return pm_bytes_equal(text, pm_bytes_of(name));
}

static bool begins(struct pm_bytes text, const char *with)
{
	size_t n = strlen(with);
	return text.len >= n && memcmp(text.p, with, n) == 0;
}

/* The text of a value that lasts; empty if it is none. */
static struct pm_bytes text_of(struct tev_reading *t, const struct pm_scan_value *v)
{
	return pm_rec_copy(t->r, pm_rec_json_text(v, &t->scratch));
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

/* clang's events of which the detail says what they are about. */
static bool has_detail(struct pm_bytes name)
{
	return is(name, "Source") || is(name, "ParseClass") || is(name, "OptFunction") ||
		begins(name, "Instantiate");
}

static void add_function(struct tev_reading *t, uint32_t index, const struct tev_event *e,
	struct pm_bytes name, struct pm_bytes file)
{
	pm_items_grow(&t->arena, &t->functions, index, &t->function_room, sizeof(*t->functions));
	struct tev_function *f = &t->functions[index];
	t->n_functions = index + 1u;
	*f = (struct tev_function){.plain = index,
		.recorded = PM_REC_BAD,
		.cat = text_of(t, &e->cat),
		.file = pm_rec_copy(t->r, file),
		.raw_name = pm_arena_copy(&t->arena, e->name.text),
		.raw_cat = pm_arena_copy(&t->arena, e->cat.text)};
	f->name = pm_rec_copy(t->r, name.len ? name : pm_bytes_of("(unknown)"));
	f->name_id = pm_strtab_add(&t->names, f->name);
	f->is_annotation = is_category(f->cat, "gpu_user_annotation");
	f->is_gpu = f->is_annotation || is_gpu(f->cat);
	/* Runtime and driver calls: cuda_runtime, cuda_driver, and as older writers call them. */
	f->is_launch = memmem(f->cat.p, f->cat.len, "untime", 6) ||
		memmem(f->cat.p, f->cat.len, "driver", 6);
	f->is_compiler = is(f->name, "ExecuteCompiler");
	f->has_detail = has_detail(f->name);
	f->is_total = begins(name, "Total ") && e->phase == 'X';
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
	uint32_t index = pm_strtab_add(&t->function_keys, pm_text_view(&t->key));
	if (index == t->n_functions)
		add_function(t, index, e, name, file);
	return index;
}

/* The function of an event with arguments that are a part of it. */
static uint32_t particular_function(
	struct tev_reading *t, const struct tev_event *e, uint32_t plain)
{
	struct pm_text text = {.arena = &t->arena};
	bool detailed = t->functions[plain].has_detail;
	struct pm_scan_value v = tev_member(&e->args, detailed ? "detail" : "url");
	uint32_t f;
	if (v.kind != PM_SCAN_TEXT ||
		(!detailed &&
			(tev_member(&e->args, "line").kind == PM_SCAN_NOTHING ||
				tev_member(&e->args, "column").kind == PM_SCAN_NOTHING)))
		return plain;
	if (detailed) {
		pm_text_bytes(&text, t->functions[plain].name);
		pm_text_char(&text, ' ');
	}
	pm_text_bytes(&text, pm_rec_json_text(&v, &t->scratch));
	if (detailed) {
		f = function_of_key(t, e, v.text, (struct pm_bytes){0}, pm_text_view(&text));
		t->functions[f].plain = plain;
	} else {
		f = function_of_key(t, e, v.text, pm_text_view(&text), t->functions[plain].name);
		t->functions[f].plain = f;
	}
	pm_text_done(&text);
	return f;
}

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
		struct pm_bytes none = {0}, text = pm_rec_json_text(&e->name, &t->scratch);
		plain = function_of_key(t, e, none, none, text);
		if (t->functions[plain].plain != plain)
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
	if (name.kind != PM_SCAN_TEXT)
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
	return pm_strtab_add(&t->async_keys, pm_text_view(&t->key));
}

static void take_mark(struct tev_reading *t, const struct tev_event *e, uint32_t thread)
{
	bool async = e->phase != 'B' && e->phase != 'E';
	bool ends = e->phase == 'E' || e->phase == 'e' || e->phase == 'F';
	uint32_t function = function_of(t, e);
	struct tev_mark m = {.ts = e->ts,
		.function = function,
		.name = t->functions[t->functions[function].plain].name_id,
		.thread = thread,
		.seq = t->n_events,
		.ends = ends};
	if (ends && e->name.kind != PM_SCAN_TEXT && e->name.kind != PM_SCAN_NUMBER)
		m.name = PM_NONE;
	if (async) {
		m.key = async_key(t, e, thread);
		pm_items_grow(&t->arena, &t->async, t->n_async, &t->async_room, sizeof(m));
		t->async[t->n_async++] = m;
		t->processes[t->threads[thread].process].has_calls |= !ends;
		return;
	}
	pm_items_grow(&t->arena, &t->marks, t->n_marks, &t->mark_room, sizeof(m));
	t->marks[t->n_marks++] = m;
	if (!ends && t->threads[thread].first_call == PM_NONE)
		t->threads[thread].first_call = t->n_events;
}

/* What ties a call on a GPU, the last one that was added, to the one that launched it. */
static void take_link(struct tev_reading *t, const struct tev_event *e, bool is_gpu)
{
	struct pm_scan_value v = tev_member(&e->args, "correlation");
	int64_t correlation;
	if (v.kind != PM_SCAN_NUMBER ||
		pm_scan_decimal(v.text, 0, &correlation) != PM_DECIMAL_EXACT || correlation <= 0)
		return;
	pm_items_grow(&t->arena, &t->links, t->n_links, &t->link_room, sizeof(*t->links));
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
	t->is_clang |= t->functions[function].is_compiler;
	struct tev_call call = {
		.ts = e->ts, .function = function, .thread = thread, .seq = t->n_events};
	tev_calls_add(&t->calls, &call, dur, PM_NONE);
	if (t->functions[function].is_gpu || t->functions[function].is_launch)
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

static void add_raw(struct tev_reading *t)
{
	struct tev_raw *raw = pm_rec_keep(t->r, &t->arena, sizeof(*raw));
	struct tev_spot *spots = pm_rec_keep(t->r, &t->arena, t->n_spots * sizeof(*spots));
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
	for (struct tev_event e;;) {
		pm_rec_proceed(t->r, &t->arena);
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
		if (t->n_events % BETWEEN_SPOTS == 0 || n_elements == 0) {
			/* Where raw/ may begin to read again. */
			pm_items_grow(
				&t->arena, &t->spots, t->n_spots, &t->spot_room, sizeof(*t->spots));
			t->spots[t->n_spots++] =
				(struct tev_spot){pm_scan_where(&t->s), t->n_events};
		}
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
	while (!t->is_full && pm_scan_key(&t->s, &key)) {
		pm_rec_proceed(t->r, &t->arena);
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

/* Reads all events; fails if these are none. */
static void read_file(struct tev_reading *t)
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
	if (t->is_full)
		return;
	if (!pm_rec_json_ends(t->r, &t->s))
		pm_build_fail(&t->arena, PM_NO_MEMORY);
	if (!good)
		pm_build_check(&t->arena,
			pm_error_set(t->err, -EINVAL, pm_rec_file(t->r), PM_NO_OFFSET,
				"has no trace events: neither `traceEvents` nor a list of objects "
				"with `ph`"));
}

/* ---- the whole ---- */

static void read_all(void *reading)
{
	struct tev_reading *t = reading;
	struct pm_strtab *const tables[] = {&t->function_keys, &t->thread_keys, &t->process_keys,
		&t->async_keys, &t->counter_keys, &t->sampled_keys, &t->frame_keys};
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		*tables[i] = pm_strtab_in(&t->arena);
	t->names.home = t->numbered.arena = t->scratch.arena = t->key.arena = &t->arena;
	t->recent = pm_arena_array(&t->arena, RECENT, sizeof(*t->recent));
	t->calls = tev_calls_in(&t->arena);
	t->values = tev_values_new(t);
	read_file(t);
	tev_values_check(t);
	tev_stacks_end(t);
	tev_place(t);
	tev_counter_series(t);
	add_raw(t);
}

int tev_read(struct pm_recording *r, struct pm_error *err)
{
	struct tev_reading t = {.r = r,
		.err = err,
		.base = TEV_NO_NUMBER,
		.origin = TEV_NO_NUMBER,
		.total_origin = TEV_NO_NUMBER};
	int e = pm_build(&t.arena, read_all, &t);
	pm_arena_done(&t.arena);
	return e;
}
