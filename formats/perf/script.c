/*
 * The text that `perf script` writes: a line for each sample, then a line a frame, innermost first.
 * docs/formats/perf.md has its dialects. The first pass finds the events, because quantities are
 * made in their order, those of samples after those of periods.
 */
#include <stdio.h>

#include "formats/common/affix.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/quantity.h"
#include "formats/perf/perf.h"

enum { MOST_EVENTS = 256 };

/* ---- words ---- */

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

static struct pm_bytes skip_blanks(struct pm_bytes b)
{
	while (b.len > 0 && is_blank(b.p[0])) {
		b.p++;
		b.len--;
	}
	return b;
}

static struct pm_bytes trimmed(struct pm_bytes b)
{
	b = skip_blanks(b);
	while (b.len > 0 && is_blank(b.p[b.len - 1]))
		b.len--;
	return b;
}

static struct pm_bytes take_word(struct pm_bytes *rest)
{
	struct pm_bytes b = skip_blanks(*rest);
	size_t n = 0;
	while (n < b.len && !is_blank(b.p[n]))
		n++;
	*rest = (struct pm_bytes){b.p + n, b.len - n};
	return (struct pm_bytes){b.p, n};
}

/* All of `b` as a number, with a sign or without. */
static bool number(struct pm_bytes b, uint64_t *ret)
{
	bool negative = b.len > 1 && b.p[0] == '-';
	uint64_t n = 0;
	for (size_t i = negative; i < b.len; i++)
		if (!is_digit(b.p[i]) || __builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, b.p[i] - '0', &n))
			return false;
	*ret = negative ? -n : n;
	return b.len > 0;
}

/* `12631.245939` in ns. */
static bool seconds(struct pm_bytes b, uint64_t *ret)
{
	const uint8_t *point = memchr(b.p, '.', b.len);
	uint64_t whole, part = 0, scale = 1000000000;
	if (!point)
		return false;
	struct pm_bytes digits = {point + 1, b.len - (size_t)(point + 1 - b.p)};
	if (!number((struct pm_bytes){b.p, (size_t)(point - b.p)}, &whole) || digits.len == 0 ||
		digits.len > 9)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		if (!is_digit(digits.p[i]))
			return false;
		scale /= 10;
		part += (uint64_t)(digits.p[i] - '0') * scale;
	}
	*ret = whole * 1000000000 + part;
	return whole < UINT64_MAX / 1000000001;
}

static bool ends_with_colon(struct pm_bytes b)
{
	return b.len > 1 && b.p[b.len - 1] == ':';
}

/* ---- the line of a sample ---- */

/* `-F misc`: the mode that was sampled and the kind of the record, `K`, `Uh`, `Sp`. */
static bool is_misc(struct pm_bytes word)
{
	for (size_t i = 0; i < word.len; i++)
		if (!memchr("KHUGgEMFSp", word.p[i], 10))
			return false;
	return word.len > 0;
}

/* PID/TID [CPU] MISC TIME: PERIOD EVENT: REST, of which only a number and EVENT must be. */
static bool head_from(struct pm_bytes rest, struct perf_head *h)
{
	struct pm_bytes word = take_word(&rest);
	const uint8_t *slash = memchr(word.p, '/', word.len);
	struct pm_bytes tid = word;
	uint64_t n;
	*h = (struct perf_head){.time_ns = PM_NO_TIME};
	if (slash) {
		tid = (struct pm_bytes){slash + 1, word.len - (size_t)(slash + 1 - word.p)};
		h->has_pid = number((struct pm_bytes){word.p, (size_t)(slash - word.p)}, &h->pid);
	}
	if (!number(tid, &h->tid) || (slash && !h->has_pid))
		return false;
	word = take_word(&rest);
	if (word.len > 2 && word.p[0] == '[' && word.p[word.len - 1] == ']' &&
		number((struct pm_bytes){word.p + 1, word.len - 2}, &n))
		word = take_word(&rest);
	if (is_misc(word))
		word = take_word(&rest);
	if (ends_with_colon(word) && seconds((struct pm_bytes){word.p, word.len - 1}, &h->time_ns))
		word = take_word(&rest);
	if (number(word, &h->period)) {
		h->has_period = true;
		word = take_word(&rest);
	}
	if (!ends_with_colon(word) || (word.p[0] | 32) < 'a' || (word.p[0] | 32) > 'z')
		return false;
	h->event = (struct pm_bytes){word.p, word.len - 1};
	h->rest = trimmed(rest);
	return true;
}

/*
 * The name of a thread may have blanks and digits: the first number that fits is its id. It may not
 * be there (-F pid,tid,time,event): its place is taken for an id where a thread of a process, or a
 * time, cannot be meant otherwise.
 */
bool perf_head_read(struct pm_bytes line, struct perf_head *ret)
{
	struct pm_bytes all = trimmed(line), rest = all;
	if (head_from(rest, ret) && (ret->has_pid || ret->time_ns != PM_NO_TIME))
		return true;
	take_word(&rest);
	while (rest.len > 0) {
		struct pm_bytes next = skip_blanks(rest);
		if (next.len > 0 && (is_digit(next.p[0]) || next.p[0] == '-') &&
			head_from(next, ret)) {
			ret->comm = trimmed((struct pm_bytes){all.p, (size_t)(next.p - all.p)});
			return true;
		}
		take_word(&rest);
	}
	return false;
}

/* ---- frames ---- */

struct frame {
	struct pm_bytes name, module, file;
	uint64_t address;
	uint32_t line;
	bool inlined, unknown, has_module;
};

static bool is_hex(struct pm_bytes b, uint64_t *ret)
{
	uint64_t n = 0;
	if (b.len == 0 || b.len > 16)
		return false;
	for (size_t i = 0; i < b.len; i++) {
		uint8_t c = is_digit(b.p[i]) ? b.p[i] : b.p[i] | 32;
		unsigned digit = (unsigned)(is_digit(c) ? c - '0' : c - 'a' + 10);
		if (digit > 15 || (!is_digit(b.p[i]) && (c < 'a' || c > 'f')))
			return false;
		n = n << 4 | digit;
	}
	*ret = n;
	return true;
}

static bool is_text(struct pm_bytes b, const char *s)
{
	return pm_bytes_equal(b, pm_bytes_of(s));
}

/* The place of the last ` (` before `end`; PM_NONE if there is none. */
static size_t last_group(struct pm_bytes b, size_t end)
{
	for (size_t at = end; at-- > 1;)
		if (b.p[at] == '(' && b.p[at - 1] == ' ')
			return at;
	return SIZE_MAX;
}

/* Takes ` (DSO)` off the end; what follows it, tokens of branches, is cut off. */
static void take_module(struct pm_bytes *b, struct frame *f)
{
	size_t at = last_group(*b, b->len);
	if (at == SIZE_MAX)
		return;
	const uint8_t *end = memrchr(b->p + at, ')', b->len - at);
	if (!end)
		return;
	struct pm_bytes group = {b->p + at + 1, (size_t)(end - b->p) - at - 1};
	const uint8_t *token = memmem(group.p, group.len, ") 0x", 4);
	if (token)
		group.len = (size_t)(token - group.p);
	if (is_text(group, "deleted)")) {
		size_t before = last_group(*b, at);
		if (before == SIZE_MAX)
			return;
		group = (struct pm_bytes){b->p + before + 1, (size_t)(end - b->p) - before - 1};
		at = before;
	}
	f->has_module = true;
	f->inlined = is_text(group, "inlined");
	f->module = f->inlined || is_text(group, "[unknown]") ? (struct pm_bytes){NULL, 0} : group;
	b->len = at;
	*b = trimmed(*b);
}

/* The symbol without its `+0x1f`. */
static struct pm_bytes without_offset(struct pm_bytes b)
{
	size_t at = b.len;
	while (at > 0 && (is_digit(b.p[at - 1]) || (b.p[at - 1] >= 'a' && b.p[at - 1] <= 'f')))
		at--;
	if (at < b.len && at >= 3 && memcmp(b.p + at - 3, "+0x", 3) == 0)
		b.len = at - 3;
	return b;
}

static bool read_frame(struct pm_bytes line, struct frame *f)
{
	struct pm_bytes rest = line, word = take_word(&rest);
	*f = (struct frame){.line = 0};
	if (!is_hex(word, &f->address))
		return false;
	rest = trimmed(rest);
	take_module(&rest, f);
	f->unknown = rest.len == 0 || is_text(rest, "[unknown]");
	f->name = without_offset(rest);
	return true;
}

/* Cuts off what stands before a frame behind the event: an address, `|OP LOAD|…|`, a weight. */
static struct pm_bytes without_fields(struct pm_bytes rest)
{
	enum { FEWEST_DIGITS = 5 }; /* of an address, so that it is no name such as `add` */
	const uint8_t *bar = rest.p && memmem(rest.p, rest.len, "|OP ", 4)
		? memrchr(rest.p, '|', rest.len)
		: NULL;
	uint64_t n;
	if (bar)
		rest = (struct pm_bytes){bar + 1, rest.len - (size_t)(bar + 1 - rest.p)};
	for (;;) {
		struct pm_bytes after = rest, field = take_word(&after), frame = after;
		struct pm_bytes address = take_word(&after), symbol = skip_blanks(after);
		bool is_field = !is_hex(field, &n) ? bar != NULL
						   : address.len >= FEWEST_DIGITS &&
				is_hex(address, &n) && symbol.len > 0 && symbol.p[0] != '(';
		if (!is_field || frame.len == 0)
			return rest;
		rest = frame;
	}
}

/* `[kernel.kallsyms][ffffffff817554ea]`: in place of a source line that is not known. */
static bool is_no_place(struct pm_bytes b)
{
	const uint8_t *open =
		b.p && b.len > 2 && b.p[b.len - 1] == ']' ? memrchr(b.p, '[', b.len) : NULL;
	uint64_t address;
	return open &&
		is_hex((struct pm_bytes){open + 1, b.len - (size_t)(open + 2 - b.p)}, &address);
}

/* `  FILE:LINE` below a frame, perhaps with `(inlined)`. */
static bool read_place(struct pm_bytes line, struct frame *f)
{
	struct pm_bytes b = trimmed(line);
	static const char inlined[] = " (inlined)";
	size_t n = sizeof(inlined) - 1;
	bool is_inlined = b.len > n && pm_ends_with(b, inlined);
	uint64_t number_of;
	b.len -= is_inlined ? n : 0;
	if (is_no_place(b)) {
		f->inlined |= is_inlined;
		return true;
	}
	const uint8_t *colon = b.p && b.len ? memrchr(b.p, ':', b.len) : NULL;
	if (!colon ||
		!number((struct pm_bytes){colon + 1, b.len - (size_t)(colon + 1 - b.p)},
			&number_of))
		return false;
	f->inlined |= is_inlined;
	if (colon > b.p && number_of > 0 && number_of <= UINT32_MAX) {
		f->line = (uint32_t)number_of;
		f->file = (struct pm_bytes){b.p, (size_t)(colon - b.p)};
	}
	return true;
}

/* ---- events ---- */

struct event {
	struct pm_bytes name;
	bool has_period;
	uint32_t cost, samples;
	uint32_t handle; /* of its samples in traces */
	double whole;
};

/* A build in its arena, which has all that is not the recording's. */
struct script {
	struct pm_arena arena;
	struct pm_recording *r;
	struct pm_error *err;
	const struct pm_textlines *lines;
	struct event *events;
	unsigned n_events;
	struct pm_arena *stack; /* of the sample at hand */
	struct frame *frames;
	size_t n_frames, frames_room;
	struct perf_head head;
	struct pm_bytes comm;
	bool is_open;    /* a sample has begun */
	bool is_on_head; /* its only frame stood behind the event */
	uint64_t n_samples, n_odd;
};

static struct event *event_of(struct script *s, struct pm_bytes name)
{
	for (unsigned i = 0; i < s->n_events; i++)
		if (pm_bytes_equal(s->events[i].name, name))
			return &s->events[i];
	if (s->n_events == MOST_EVENTS)
		return NULL;
	s->events[s->n_events] = (struct event){.name = pm_arena_copy(&s->arena, name)};
	return &s->events[s->n_events++];
}

static bool is_clock(struct pm_bytes event)
{
	static const char *const clocks[] = {"cpu-clock", "task-clock"};
	for (unsigned i = 0; i < 2; i++) {
		size_t n = strlen(clocks[i]);
		if (event.len >= n && memcmp(event.p, clocks[i], n) == 0 &&
			(event.len == n || event.p[n] == ':'))
			return true;
	}
	return false;
}

/* Of periods, the first of the best class leads; of samples alone, those of the first event. */
static void make_metrics(struct script *s)
{
	enum pm_quantity best = PM_N_QUANTITIES;
	uint32_t primary = PM_REC_NONE;
	for (unsigned i = 0; i < s->n_events; i++) {
		struct event *e = &s->events[i];
		struct pm_bytes unit = pm_bytes_of(is_clock(e->name) ? "ns" : "");
		if (!e->has_period)
			continue;
		e->cost = pm_rec_metric(s->r, e->name, unit);
		if (e->whole != 0 && pm_quantity_of(e->name, unit) < best) {
			best = pm_quantity_of(e->name, unit);
			primary = e->cost;
		}
	}
	for (unsigned i = 0; i < s->n_events; i++) {
		char name[300];
		struct event *e = &s->events[i];
		snprintf(name, sizeof(name), s->n_events > 1 ? "samples_%.*s" : "samples",
			(int)(e->name.len < 250 ? e->name.len : 250), (const char *)e->name.p);
		e->samples = pm_rec_metric(s->r, pm_bytes_of(name), pm_bytes_of(""));
		e->handle = pm_rec_event(
			s->r, e->name, e->has_period ? e->cost : PM_REC_NONE, e->samples);
	}
	if (s->n_events)
		pm_rec_primary(s->r, primary == PM_REC_NONE ? s->events[0].samples : primary);
}

/* ---- samples ---- */

enum perf_role perf_role_of(struct pm_bytes name)
{
	static const char *const loops[] = {
		"do_idle", "cpu_startup_entry", "cpu_idle", "secondary_startup_64", "default_idle"};
	static const char *const work[] = {"irq_exit", "do_IRQ", "interrupt", "softirq", "sysvec_",
		"handle_irq", "ret_from_intr", "call_function"};
	for (unsigned k = 0; k < sizeof(loops) / sizeof(loops[0]); k++)
		if (is_text(name, loops[k]))
			return PERF_IDLE_LOOP;
	for (unsigned k = 0; k < sizeof(work) / sizeof(work[0]); k++)
		if (name.len && memmem(name.p, name.len, work[k], strlen(work[k])))
			return PERF_INTERRUPT;
	return PERF_OTHER;
}

static bool is_idle(const struct script *s)
{
	bool below = false;
	if (s->head.tid != 0)
		return false;
	for (size_t i = s->n_frames; i-- > 0;) {
		enum perf_role role = perf_role_of(s->frames[i].name);
		if (below && role == PERF_INTERRUPT)
			return false;
		below |= role == PERF_IDLE_LOOP;
	}
	return true;
}

static uint32_t stack_context(struct script *s)
{
	uint32_t context = PM_REC_NONE;
	uint64_t address = 0;
	struct pm_bytes module = {NULL, 0};
	bool idle = is_idle(s);
	if (s->n_frames == 0)
		return pm_rec_placeholder(s->r, PM_REC_NONE, "(no stack)");
	for (size_t i = s->n_frames; i-- > 0;) {
		const struct frame *f = &s->frames[i];
		pm_rec_proceed(s->r, &s->arena);
		/* An inlined function is in the module of the code around it, at its address. */
		if (!f->inlined)
			module = f->module;
		else if (f->address != address)
			module = (struct pm_bytes){NULL, 0};
		address = f->address;
		if (f->unknown) {
			context = pm_rec_address(s->r, context, module, f->address,
				idle && i == 0 ? PM_REC_IDLE : 0);
		} else {
			struct pm_rec_function function = {.name = f->name, .module = module};
			unsigned flags = (f->inlined ? PM_REC_INLINED : 0) |
				(idle && i == 0 ? PM_REC_IDLE : 0);
			context =
				pm_rec_call(s->r, context, pm_rec_function(s->r, &function), flags);
		}
		context = pm_rec_line(s->r, context, f->file, f->line);
	}
	return context;
}

static void end_sample(struct script *s)
{
	if (!s->is_open)
		return;
	struct event *e = event_of(s, s->head.event);
	struct pm_rec_key keys[2];
	unsigned n = 0;
	if (s->head.has_pid)
		keys[n++] = (struct pm_rec_key){.key = "process", .number = s->head.pid};
	keys[n++] = (struct pm_rec_key){.key = "thread", .number = s->head.tid};
	uint32_t thread = pm_rec_thread(s->r, keys, n, s->comm);
	uint32_t context = stack_context(s);
	s->is_open = false;
	s->n_samples++;
	if (!e)
		return;
	if (s->head.has_period)
		pm_rec_cost(s->r, thread, context, e->cost, (int64_t)s->head.period);
	pm_rec_cost(s->r, thread, context, e->samples, 1);
	if (s->head.time_ns != PM_NO_TIME)
		pm_rec_instant(s->r, thread, s->head.time_ns, context, e->handle,
			s->head.has_period ? (int64_t)s->head.period : PM_NO_WEIGHT);
}

static void add_frame(struct script *s, const struct frame *f)
{
	pm_list_grow(&s->arena, &s->frames, s->n_frames, &s->frames_room, sizeof(*f));
	struct frame *kept = &s->frames[s->n_frames++];
	*kept = *f;
	kept->name = pm_arena_copy(s->stack, f->name);
	kept->module = pm_arena_copy(s->stack, f->module);
}

static void begin_sample(struct script *s, const struct perf_head *h)
{
	struct frame f;
	end_sample(s);
	pm_arena_done(s->stack);
	s->head = *h;
	s->head.event = pm_arena_copy(s->stack, h->event);
	s->comm = pm_arena_copy(s->stack, h->comm);
	s->n_frames = 0;
	s->is_on_head = false;
	s->is_open = true;
	if (h->rest.len > 0 && read_frame(without_fields(h->rest), &f)) {
		add_frame(s, &f);
		s->is_on_head = true;
	}
}

/* ---- lines ---- */

static bool is_passed_over(struct pm_bytes line)
{
	struct pm_bytes b = trimmed(line);
	return b.len == 0 || line.p[0] == '#' || memmem(b.p, b.len, "PERF_RECORD_", 12);
}

/* `# hostname : vm`, at the top. */
static void read_fact(struct script *s, struct pm_bytes line)
{
	static const char *const known[][2] = {{"hostname", "host"}, {"os release", "os_release"},
		{"perf version", "perf_version"}, {"arch", "arch"}, {"cmdline", "command"},
		{"captured on", "captured_on"}};
	const uint8_t *colon = memchr(line.p, ':', line.len);
	if (!colon || line.len < 3 || line.p[0] != '#')
		return;
	struct pm_bytes key = trimmed((struct pm_bytes){line.p + 1, (size_t)(colon - line.p) - 1});
	struct pm_bytes value =
		trimmed((struct pm_bytes){colon + 1, line.len - (size_t)(colon + 1 - line.p)});
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (is_text(key, known[i][0]) && value.len > 0)
			pm_rec_fact(s->r, known[i][1], pm_cell_text(value));
}

static void take_line(struct script *s, struct pm_bytes line)
{
	struct perf_head h;
	struct frame f;
	if (is_passed_over(line)) {
		read_fact(s, line);
		return;
	}
	bool is_frame = s->is_open && read_frame(line, &f);
	if (is_frame && (is_blank(line.p[0]) || f.has_module)) {
		/* With frames below, it was an address or a weight that stood there. */
		s->n_frames -= s->is_on_head;
		s->is_on_head = false;
		add_frame(s, &f);
		return;
	}
	if (perf_head_read(line, &h)) {
		begin_sample(s, &h);
		return;
	}
	if (s->n_frames > 0 && s->is_open && read_place(line, &f)) {
		struct frame *last = &s->frames[s->n_frames - 1];
		f = *last;
		read_place(line, &f);
		last->inlined = f.inlined;
		last->line = f.line;
		last->file = pm_arena_copy(s->stack, f.file);
		return;
	}
	s->n_odd++;
	pm_rec_damage(s->r, s->lines->offset, line.len, "line %llu is neither a sample nor a frame",
		(unsigned long long)s->lines->number);
}

static void look_for_event(struct script *s, struct pm_bytes line)
{
	struct perf_head h;
	struct frame f;
	if (is_passed_over(line) ||
		(read_frame(line, &f) && (is_blank(line.p[0]) || f.has_module)) ||
		!perf_head_read(line, &h))
		return;
	struct event *e = event_of(s, h.event);
	if (e) {
		e->has_period |= h.has_period;
		e->whole += (double)h.period;
	}
}

static void read_all(void *script)
{
	struct script *s = script;
	struct pm_bytes line;
	s->events = pm_arena_array(&s->arena, MOST_EVENTS, sizeof(*s->events));
	s->stack = pm_arena_scratch(&s->arena);
	s->lines = pm_rec_lines(s->r);
	while (pm_rec_next_line(s->r, &line))
		look_for_event(s, line);
	make_metrics(s);
	pm_rec_lines(s->r);
	while (pm_rec_next_line(s->r, &line))
		take_line(s, line);
	end_sample(s);
	if (s->n_samples == 0 || s->n_odd > s->n_samples + 3)
		pm_build_check(&s->arena,
			pm_error_set(s->err, -EINVAL, pm_rec_file(s->r), 0,
				"is no text of perf script: lines `COMM PID/TID [CPU] TIME: PERIOD "
				"EVENT:` with frames below them were expected"));
}

int perf_script_read(struct pm_recording *r, struct pm_error *err)
{
	struct script s = {.r = r, .err = err};
	int e = pm_build(&s.arena, read_all, &s);
	pm_arena_done(&s.arena);
	return e;
}
