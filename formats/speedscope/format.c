/*
 * Reads speedscope's JSON: docs/formats/speedscope.md.
 *
 * Keys come in any order, and frames may stand behind the profiles that refer to them. So the text
 * is read twice: what there is, which passes over samples quickly, and then the samples.
 */
#include <math.h>

#include "formats/builder/builder.h"
#include "formats/common/list.h"
#include "formats/common/paths.h"
#include "profmount/limits.h"

enum unit { UNIT_TIME, UNIT_BYTES, UNIT_NONE, N_UNITS };

struct frame {
	uint32_t function, line;
	uint32_t open; /* of an evented profile: how many are open */
};

/* What the first pass learns of a profile. */
struct profile {
	bool sampled, evented;
	bool is_part; /* of another one: adds nothing */
	enum unit unit;
	int scale;         /* decimals of a unit, if it is a time: to ns */
	uint32_t quantity; /* PM_REC_BAD: none */
	uint32_t thread;
	struct pm_bytes name, unit_name;
	int64_t start, end; /* ns of evented ones with times; INT64_MIN: none */
};

/* A weight in ns, bytes or units. */
struct weight {
	enum { NO_WEIGHT, EXACT, REAL } kind;
	unsigned decimals; /* of an exact one */
	union {
		int64_t n;
		double f;
	};
};

/* A call of an evented profile. */
struct call {
	int64_t at, end, below;     /* below: what its children took */
	uint32_t function, context; /* contexts: of the call, and its line */
	uint32_t frame;
	uint32_t above; /* the call that it lies in */
};

/* While it is read: a build in its arena, which has all that is not the recording's. */
struct reading {
	struct pm_arena arena;
	struct pm_recording *r;
	struct pm_error *err;
	struct pm_scan s;
	struct pm_text scratch;
	bool has_schema, is_own; /* own: written by profmount */
	struct frame *frames;
	size_t n_frames, frame_room;
	struct profile *profiles;
	size_t n_profiles, profile_room;
	uint32_t samples, calls; /* quantities */
	uint32_t no_stack;
	int64_t shift; /* to times that are not negative */

	/* Stacks of all sampled profiles by their frames, and the context of each. */
	struct pm_paths paths;
	uint32_t *contexts;
	size_t context_room;

	/* Of the profile at hand: */
	uint32_t *stacks; /* contexts; PM_REC_BAD: refers to what is not there */
	size_t n_stacks, stack_room;
	struct weight *weights;
	size_t n_weights, weight_room;
	struct call *open_calls;
	size_t n_calls, call_room;
	uint32_t open; /* the innermost open call, PM_NONE */
	int64_t now;
	uint64_t n_lost, n_back, n_crossed, n_closed;
	uint64_t n_rounded; /* times of events in all profiles */
	uint64_t lost_at;   /* of the first one */
};

static bool is(struct pm_bytes key, const char *name)
{
	return pm_bytes_equal(key, pm_bytes_of(name));
}

/* The next value as a text that lasts; empty if it is none. */
static struct pm_bytes take_text(struct reading *t)
{
	struct pm_scan_value v;
	pm_scan_value(&t->s, &v);
	return pm_rec_copy(t->r, pm_rec_json_text(&v, &t->scratch));
}

/* Enters the list that is next; false, and passes over it, if it is something else. */
static bool enter_list(struct reading *t)
{
	if (pm_scan_peek(&t->s) == PM_SCAN_ARRAY)
		return pm_scan_enter(&t->s);
	pm_scan_skip(&t->s);
	return false;
}

static bool enter_object(struct reading *t)
{
	if (pm_scan_peek(&t->s) == PM_SCAN_OBJECT)
		return pm_scan_enter(&t->s);
	pm_scan_skip(&t->s);
	return false;
}

/* An index below n, PM_NONE if the value is none. */
static uint32_t index_of(const struct pm_scan_value *v, size_t n)
{
	int64_t i;
	if (v->kind != PM_SCAN_NUMBER || pm_scan_decimal(v->text, 0, &i) != PM_DECIMAL_EXACT ||
		i < 0 || (uint64_t)i >= n)
		return PM_NONE;
	return (uint32_t)i;
}

/* ---- what there is ---- */

static void read_frame(struct reading *t)
{
	struct pm_rec_function f = {.line = 0};
	struct pm_bytes key;
	int64_t line = 0;
	pm_items_grow(&t->arena, &t->frames, t->n_frames, &t->frame_room, sizeof(*t->frames));
	t->frames[t->n_frames] = (struct frame){.function = PM_REC_BAD};
	bool good = enter_object(t);
	while (good && pm_scan_key(&t->s, &key)) {
		struct pm_scan_value v;
		if (is(key, "name"))
			f.name = take_text(t);
		else if (is(key, "file"))
			f.file = take_text(t);
		else if (!is(key, "line"))
			pm_scan_skip(&t->s);
		else if (pm_scan_value(&t->s, &v) != PM_SCAN_NUMBER ||
			pm_scan_decimal(v.text, 0, &line) != PM_DECIMAL_EXACT)
			line = 0;
	}
	if (!good || t->s.code)
		return;
	if (f.name.len == 0)
		f.name = pm_bytes_of("(unknown)");
	t->frames[t->n_frames].function = pm_rec_function(t->r, &f);
	t->frames[t->n_frames].line = line > 0 && line < PM_NONE ? (uint32_t)line : 0;
	t->n_frames++;
}

static void read_shared(struct reading *t)
{
	struct pm_bytes key;
	if (!enter_object(t))
		return;
	while (pm_scan_key(&t->s, &key)) {
		if (!is(key, "frames") || !enter_list(t)) {
			if (!is(key, "frames"))
				pm_scan_skip(&t->s);
			continue;
		}
		t->n_frames = 0;
		while (pm_scan_item(&t->s)) {
			pm_rec_proceed(t->r, &t->arena);
			read_frame(t);
		}
	}
}

static void set_unit(struct profile *p)
{
	static const struct {
		const char *name;
		enum unit unit;
		int scale;
	} units[] = {{"nanoseconds", UNIT_TIME, 0}, {"microseconds", UNIT_TIME, 3},
		{"milliseconds", UNIT_TIME, 6}, {"seconds", UNIT_TIME, 9},
		{"bytes", UNIT_BYTES, 0}};
	p->unit = UNIT_NONE;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (is(p->unit_name, units[i].name)) {
			p->unit = units[i].unit;
			p->scale = units[i].scale;
		}
}

/* A time in the profile's unit, INT64_MIN if it is no number. */
static int64_t time_of(const struct profile *p, struct pm_bytes text)
{
	int64_t ns;
	enum pm_decimal how = pm_scan_decimal(text, p->scale, &ns);
	return how == PM_DECIMAL_NONE || how == PM_DECIMAL_BEYOND ? INT64_MIN : ns;
}

static void learn_profile(struct reading *t)
{
	struct profile p = {.quantity = PM_REC_BAD, .start = INT64_MIN, .end = INT64_MIN};
	struct pm_bytes key, start = {0}, end = {0};
	pm_items_grow(&t->arena, &t->profiles, t->n_profiles, &t->profile_room, sizeof(p));
	bool good = enter_object(t);
	while (good && pm_scan_key(&t->s, &key)) {
		struct pm_scan_value v;
		bool is_start = is(key, "startValue"), is_end = is(key, "endValue");
		if (is(key, "type")) {
			struct pm_bytes type = take_text(t);
			p.sampled = is(type, "sampled");
			p.evented = is(type, "evented");
		} else if (is(key, "name")) {
			p.name = take_text(t);
		} else if (is(key, "unit")) {
			p.unit_name = take_text(t);
		} else if (!is_start && !is_end) {
			pm_scan_skip(&t->s);
		} else if (pm_scan_value(&t->s, &v) == PM_SCAN_NUMBER) {
			*(is_start ? &start : &end) = pm_rec_copy(t->r, v.text);
		}
	}
	set_unit(&p);
	p.start = time_of(&p, start);
	p.end = time_of(&p, end);
	t->profiles[t->n_profiles++] = p;
}

static void learn(struct reading *t)
{
	struct pm_bytes key;
	pm_scan_enter(&t->s);
	while (pm_scan_key(&t->s, &key)) {
		pm_rec_proceed(t->r, &t->arena);
		if (is(key, "$schema")) {
			struct pm_bytes schema = take_text(t);
			t->has_schema = memmem(schema.p, schema.len, "speedscope", 10);
		} else if (is(key, "exporter")) {
			struct pm_bytes exporter = take_text(t);
			t->is_own = exporter.len >= 10 && memcmp(exporter.p, "profmount@", 10) == 0;
			pm_rec_fact(t->r, "exporter", pm_cell_text(exporter));
		} else if (is(key, "name")) {
			struct pm_bytes name = take_text(t);
			if (name.len)
				pm_rec_title(t->r, name);
		} else if (is(key, "shared")) {
			read_shared(t);
		} else if (!is(key, "profiles")) {
			pm_scan_skip(&t->s);
		} else if (enter_list(t)) {
			t->n_profiles = 0;
			while (pm_scan_item(&t->s)) {
				pm_rec_proceed(t->r, &t->arena);
				learn_profile(t);
			}
		}
	}
}

/* ---- quantities and threads ---- */

/*
 * Of profmount's own exports, the profile `M` is the quantity M of the whole run. `M, THREAD` and
 * evented ones are parts of them.
 */
static void own_quantities(struct reading *t)
{
	struct pm_bytes *wholes = NULL; /* there are only so many quantities */
	size_t n_wholes = 0, whole_room = 0;
	for (size_t i = 0; i < t->n_profiles; i++) {
		struct profile *p = &t->profiles[i];
		struct pm_bytes name = p->name;
		pm_rec_proceed(t->r, &t->arena);
		p->thread = PM_REC_NONE;
		p->is_part = !p->sampled;
		for (size_t k = 0; k < n_wholes && !p->is_part; k++)
			p->is_part = wholes[k].len > 0 && name.len > wholes[k].len + 2 &&
				memcmp(name.p, wholes[k].p, wholes[k].len) == 0 &&
				memcmp(name.p + wholes[k].len, ", ", 2) == 0;
		if (p->is_part)
			continue;
		pm_items_grow(&t->arena, &wholes, n_wholes, &whole_room, sizeof(*wholes));
		wholes[n_wholes++] = name;
		const char *unit = p->unit == UNIT_TIME ? "ns"
			: p->unit == UNIT_BYTES         ? "bytes"
							: "";
		size_t n = strlen(unit);
		if (n && name.len > n && name.p[name.len - n - 1] == '_' &&
			memcmp(name.p + name.len - n, unit, n) == 0)
			name.len -= n + 1;
		p->quantity = pm_rec_metric(t->r, name, pm_bytes_of(unit));
	}
}

/* One quantity a unit; times come first. Each profile is a thread. */
static void unit_quantities(struct reading *t)
{
	static const char *const names[] = {"time", "weight", "weight"};
	static const char *const units[] = {"ns", "bytes", ""};
	uint32_t of[N_UNITS] = {PM_REC_BAD, PM_REC_BAD, PM_REC_BAD};
	bool has[N_UNITS] = {false}, sampled = false, evented = false;
	for (size_t i = 0; i < t->n_profiles; i++) {
		has[t->profiles[i].unit] |= t->profiles[i].sampled || t->profiles[i].evented;
		sampled |= t->profiles[i].sampled;
		evented |= t->profiles[i].evented;
	}
	for (unsigned u = 0; u < N_UNITS; u++)
		if (has[u])
			of[u] = pm_rec_metric(t->r, pm_bytes_of(names[u]), pm_bytes_of(units[u]));
	if (sampled)
		t->samples = pm_rec_metric(t->r, pm_bytes_of("samples"), (struct pm_bytes){0});
	if (evented)
		t->calls = pm_rec_count(t->r, "calls");
	for (size_t i = 0; i < t->n_profiles; i++) {
		struct profile *p = &t->profiles[i];
		struct pm_rec_key key = {"thread", i + 1, {0}};
		p->quantity = of[p->unit];
		p->thread = pm_rec_thread(t->r, &key, 1, p->name);
		bool timed = p->evented && p->unit == UNIT_TIME && p->start != INT64_MIN;
		if (timed && p->start < t->shift)
			t->shift = p->start;
	}
	for (size_t i = 0; i < t->n_profiles; i++) {
		const struct profile *p = &t->profiles[i];
		if (p->evented && p->unit == UNIT_TIME && p->start != INT64_MIN)
			pm_rec_origin(t->r, (uint64_t)p->start - (uint64_t)t->shift);
	}
	pm_rec_contexts_are(t->r, evented && !sampled ? "calls" : "samples");
}

/* ---- costs ---- */

/* Exact if it is a whole number of units, or has up to nine decimals. */
static struct weight weight_of(const struct profile *p, struct pm_bytes text)
{
	struct weight w = {.kind = EXACT};
	enum pm_decimal how = pm_scan_decimal(text, p->scale, &w.n);
	while (how == PM_DECIMAL_ROUNDED && w.decimals < 9)
		how = pm_scan_decimal(text, p->scale + (int)++w.decimals, &w.n);
	if (how == PM_DECIMAL_EXACT)
		return w;
	w.kind = how == PM_DECIMAL_NONE ? NO_WEIGHT : REAL;
	w.f = pm_scan_double(text) * pow(10, p->scale);
	return w;
}

static uint32_t no_stack(struct reading *t)
{
	if (t->no_stack == PM_REC_NONE)
		t->no_stack = pm_rec_placeholder(t->r, PM_REC_NONE, "(no stack)");
	return t->no_stack;
}

static void lose(struct reading *t)
{
	if (t->n_lost++ == 0)
		t->lost_at = pm_scan_where(&t->s);
}

static uint32_t enter_frame(struct reading *t, uint32_t parent, uint32_t frame)
{
	uint32_t context = pm_rec_call(t->r, parent, t->frames[frame].function, 0);
	return pm_rec_line(t->r, context, (struct pm_bytes){0}, t->frames[frame].line);
}

/* ---- sampled profiles ---- */

/* The next value as an index below n, PM_NONE if it is none. */
static uint32_t take_index(struct reading *t, size_t n)
{
	struct pm_scan_value v;
	int64_t i;
	if (pm_scan_integer(&t->s, &i))
		return i >= 0 && (uint64_t)i < n ? (uint32_t)i : PM_NONE;
	pm_scan_value(&t->s, &v);
	return index_of(&v, n);
}

/*
 * The context of a stack with one frame more, `*path` and then `path` again; both PM_REC_BAD after
 * a frame that is not there. What a stack becomes is looked up by frame, once a call path: there
 * are two contexts a frame, and a stack has many.
 */
static void add_frame(struct reading *t, uint32_t frame, uint32_t *path)
{
	uint32_t above = *path, known = t->paths.n;
	if (frame == PM_NONE || above == PM_REC_BAD) {
		*path = PM_REC_BAD;
		return;
	}
	uint32_t at = pm_paths_child(&t->paths, above, frame); /* or PM_PATHS_FULL: too many */
	pm_items_grow(&t->arena, &t->contexts, at, &t->context_room, sizeof(*t->contexts));
	if (at == known)
		t->contexts[at] = enter_frame(
			t, above == PM_REC_NONE ? PM_REC_NONE : t->contexts[above], frame);
	*path = at;
}

/* The stacks of the list that is next. */
static void read_stacks(struct reading *t)
{
	t->n_stacks = 0;
	if (!enter_list(t))
		return;
	while (pm_scan_item(&t->s)) {
		uint32_t path = PM_REC_NONE;
		bool good = enter_list(t);
		pm_rec_proceed(t->r, &t->arena);
		while (good && pm_scan_item(&t->s)) {
			pm_rec_proceed(t->r, &t->arena);
			add_frame(t, take_index(t, t->n_frames), &path);
		}
		if (t->s.code)
			return;
		pm_items_grow(
			&t->arena, &t->stacks, t->n_stacks, &t->stack_room, sizeof(*t->stacks));
		t->stacks[t->n_stacks++] = !good || path == PM_REC_BAD ? PM_REC_BAD
			: path == PM_REC_NONE                          ? no_stack(t)
								       : t->contexts[path];
	}
}

static void read_weights(struct reading *t, const struct profile *p)
{
	t->n_weights = 0;
	if (!enter_list(t))
		return;
	while (pm_scan_item(&t->s)) {
		struct pm_scan_value v;
		pm_rec_proceed(t->r, &t->arena);
		pm_scan_value(&t->s, &v);
		if (t->s.code)
			return;
		pm_items_grow(
			&t->arena, &t->weights, t->n_weights, &t->weight_room, sizeof(*t->weights));
		t->weights[t->n_weights++] = v.kind == PM_SCAN_NUMBER ? weight_of(p, v.text)
								      : (struct weight){NO_WEIGHT};
	}
}

static void add_sampled(struct reading *t, const struct profile *p)
{
	size_t n = t->n_stacks < t->n_weights ? t->n_stacks : t->n_weights;
	for (size_t i = 0; i < n; i++) {
		const struct weight *w = &t->weights[i];
		pm_rec_proceed(t->r, &t->arena);
		if (t->stacks[i] == PM_REC_BAD || w->kind == NO_WEIGHT) {
			lose(t);
			continue;
		}
		if (w->kind == REAL)
			pm_rec_cost_f64(t->r, p->thread, t->stacks[i], p->quantity, w->f);
		else
			pm_rec_cost_decimal(
				t->r, p->thread, t->stacks[i], p->quantity, w->n, w->decimals);
		if (!t->is_own)
			pm_rec_cost(t->r, p->thread, t->stacks[i], t->samples, 1);
	}
	if (t->n_stacks != t->n_weights && !t->s.code)
		pm_rec_damage(t->r, pm_scan_where(&t->s), PM_NO_OFFSET,
			"profile %zu has %zu samples and %zu weights",
			(size_t)(p - t->profiles) + 1, t->n_stacks, t->n_weights);
}

/* ---- evented profiles ---- */

/*
 * Times of units that are none have six decimals; the costs are shown without those that are not
 * needed.
 */
enum { DECIMALS = 6 };

static void close_call(struct reading *t)
{
	struct call *c = &t->open_calls[t->open];
	c->end = t->now;
	t->frames[c->frame].open--;
	t->open = c->above;
	if (t->open != PM_NONE)
		t->open_calls[t->open].below += c->end - c->at;
}

static void open_call(struct reading *t, uint32_t frame)
{
	pm_items_grow(&t->arena, &t->open_calls, t->n_calls, &t->call_room, sizeof(*t->open_calls));
	uint32_t parent = t->open == PM_NONE ? PM_REC_NONE : t->open_calls[t->open].context;
	t->open_calls[t->n_calls] = (struct call){.at = t->now,
		.frame = frame,
		.function = pm_rec_call(t->r, parent, t->frames[frame].function, 0),
		.context = enter_frame(t, parent, frame),
		.above = t->open};
	t->open = (uint32_t)t->n_calls++;
	t->frames[frame].open++;
}

/* One that goes back in time is taken at the time of the last one. */
static void take_event(struct reading *t, bool opens, uint32_t frame, int64_t at)
{
	if (frame == PM_NONE || at == INT64_MIN) {
		lose(t);
		return;
	}
	t->n_back += at < t->now;
	t->now = at < t->now ? t->now : at;
	if (opens) {
		open_call(t, frame);
		return;
	}
	if (t->frames[frame].open == 0) {
		t->n_closed++;
		return;
	}
	t->n_crossed += t->open_calls[t->open].frame != frame;
	while (t->open_calls[t->open].frame != frame)
		close_call(t);
	close_call(t);
}

static void read_events(struct reading *t, const struct profile *p)
{
	bool first = true;
	if (!enter_list(t))
		return;
	while (pm_scan_item(&t->s)) {
		struct pm_bytes key;
		struct pm_scan_value v;
		uint32_t frame = PM_NONE;
		int64_t at = INT64_MIN;
		enum pm_decimal how = PM_DECIMAL_NONE;
		char type = 0;
		pm_rec_proceed(t->r, &t->arena);
		bool good = enter_object(t);
		while (good && pm_scan_key(&t->s, &key)) {
			bool is_type = is(key, "type"), is_frame = is(key, "frame");
			if (!is_type && !is_frame && !is(key, "at")) {
				pm_scan_skip(&t->s);
				continue;
			}
			enum pm_scan_kind kind = pm_scan_value(&t->s, &v);
			if (is_type)
				type = kind == PM_SCAN_TEXT && v.text.len == 1 ? (char)v.text.p[0]
									       : 0;
			else if (is_frame)
				frame = index_of(&v, t->n_frames);
			else
				how = kind == PM_SCAN_NUMBER
					? pm_scan_decimal(v.text,
						  p->unit == UNIT_TIME ? p->scale
								       : p->scale + DECIMALS,
						  &at)
					: PM_DECIMAL_NONE;
		}
		at = how >= PM_DECIMAL_BEYOND ? INT64_MIN : at;
		t->n_rounded += how == PM_DECIMAL_ROUNDED;
		if (t->s.code)
			return;
		/* Differences of times stay within 64 bits. */
		at = at > INT64_MAX / 2 || at < -INT64_MAX / 2 ? INT64_MIN : at;
		if (first && at != INT64_MIN)
			t->now = at;
		first = first && at == INT64_MIN;
		take_event(t, type == 'O', type == 'O' || type == 'C' ? frame : PM_NONE, at);
	}
}

/* The calls of the profile, in the order in which they were opened. */
static void add_calls(struct reading *t, const struct profile *p)
{
	int64_t end = p->end;
	uint64_t n_open = 0;
	if (p->unit != UNIT_TIME && end != INT64_MIN && __builtin_mul_overflow(end, 1000000, &end))
		end = INT64_MIN;
	if (end != INT64_MIN && end < INT64_MAX / 2 && end > t->now)
		t->now = end;
	for (; t->open != PM_NONE; n_open++)
		close_call(t);
	for (size_t i = 0; i < t->n_calls; i++) {
		const struct call *c = &t->open_calls[i];
		int64_t ns = c->end - c->at, self = ns - c->below;
		pm_rec_proceed(t->r, &t->arena);
		pm_rec_cost(t->r, p->thread, c->function, t->calls, 1);
		if (p->unit != UNIT_TIME && self % 1000000 != 0) {
			pm_rec_cost_decimal(
				t->r, p->thread, c->context, p->quantity, self, DECIMALS);
			continue;
		}
		pm_rec_cost(t->r, p->thread, c->context, p->quantity,
			p->unit == UNIT_TIME ? self : self / 1000000);
		if (p->unit == UNIT_TIME)
			pm_rec_called(t->r, p->thread,
				&(struct pm_rec_called){.time_ns = c->at < t->shift
						? 0
						: (uint64_t)c->at - (uint64_t)t->shift,
					.duration_ns = (uint64_t)ns,
					.self_ns = (uint64_t)self,
					.seq = i,
					.context = c->function});
	}
	size_t number = (size_t)(p - t->profiles) + 1;
	if (n_open)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"profile %zu: %llu calls are not closed: they last to its end", number,
			(unsigned long long)n_open);
	if (t->n_back)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"profile %zu: %llu events go back in time: they are taken as simultaneous "
			"with the one before",
			number, (unsigned long long)t->n_back);
	if (t->n_crossed)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"profile %zu: %llu events close frames with others open in them: these end "
			"there, too",
			number, (unsigned long long)t->n_crossed);
	if (t->n_closed)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"profile %zu: %llu events close frames that are not open: they are left out",
			number, (unsigned long long)t->n_closed);
}

/* ---- the file ---- */

static void read_profile(struct reading *t, const struct profile *p)
{
	struct pm_bytes key;
	t->n_stacks = t->n_weights = t->n_calls = 0;
	t->n_lost = t->n_back = t->n_crossed = t->n_closed = 0;
	t->now = 0;
	t->open = PM_NONE;
	if (p->is_part || (!p->sampled && !p->evented) || !enter_object(t)) {
		if (p->is_part || (!p->sampled && !p->evented))
			pm_scan_skip(&t->s);
		return;
	}
	while (pm_scan_key(&t->s, &key)) {
		pm_rec_proceed(t->r, &t->arena);
		if (p->sampled && is(key, "samples"))
			read_stacks(t);
		else if (p->sampled && is(key, "weights"))
			read_weights(t, p);
		else if (p->evented && is(key, "events"))
			read_events(t, p);
		else
			pm_scan_skip(&t->s);
	}
	if (p->sampled)
		add_sampled(t, p);
	else
		add_calls(t, p);
	if (t->n_lost)
		pm_rec_damage(t->r, t->lost_at, PM_NO_OFFSET,
			"profile %zu: %llu %s refer to what is not there: they are left out",
			(size_t)(p - t->profiles) + 1, (unsigned long long)t->n_lost,
			p->sampled ? "samples" : "events");
}

static void read_profiles(struct reading *t)
{
	struct pm_bytes key;
	pm_scan_enter(&t->s);
	while (pm_scan_key(&t->s, &key)) {
		pm_rec_proceed(t->r, &t->arena);
		if (!is(key, "profiles")) {
			pm_scan_skip(&t->s);
			continue;
		}
		bool good = enter_list(t);
		for (size_t i = 0; good && pm_scan_item(&t->s) && i < t->n_profiles; i++)
			read_profile(t, &t->profiles[i]);
	}
}

static void read_all(void *reading)
{
	struct reading *t = reading;
	struct pm_recording *r = t->r;
	t->scratch.arena = &t->arena;
	pm_paths_init_in(&t->arena, &t->paths, PM_LIMIT_ITEMS);
	t->s = pm_rec_json(r);
	learn(t);
	if (t->s.code && t->s.code != -EINVAL)
		pm_build_fail(&t->arena, PM_NO_MEMORY);
	if (!t->has_schema || t->n_profiles == 0)
		pm_build_check(&t->arena,
			pm_error_set(t->err, -EINVAL, pm_rec_file(r), PM_NO_OFFSET,
				t->has_schema
					? "has no profiles"
					: "has no $schema of speedscope: it may be another format"));
	if (t->is_own)
		own_quantities(t);
	else
		unit_quantities(t);
	t->s = pm_rec_json(r);
	read_profiles(t);
	if (t->n_rounded)
		pm_rec_remark(r,
			"%llu times of events are between two nanoseconds, or millionths of another "
			"unit: they are rounded",
			(unsigned long long)t->n_rounded);
	pm_rec_json_ends(r, &t->s);
}

static int read(struct pm_recording *r, struct pm_error *err)
{
	struct reading t = {.r = r, .err = err, .no_stack = PM_REC_NONE};
	int e = pm_build(&t.arena, read_all, &t);
	pm_arena_done(&t.arena);
	return e;
}

/* ---- the format ---- */

static const struct pm_reader reader = {
	.contexts_are = "samples",
	.layout = "speedscope 0.0.1",
	.read = read,
};

/* The schema is in the head, or behind what does not fit into it. */
static int probe(const struct pm_candidate *c)
{
	struct pm_scan s = pm_scan_of(c->text);
	struct pm_scan_value v;
	struct pm_bytes key;
	if (c->folder || pm_scan_peek(&s) != PM_SCAN_OBJECT || !pm_scan_enter(&s))
		return PM_PROBE_NO;
	while (pm_scan_key(&s, &key)) {
		if (!is(key, "$schema")) {
			pm_scan_skip(&s);
			continue;
		}
		if (pm_scan_value(&s, &v) != PM_SCAN_TEXT)
			break; /* the head may end in it */
		return memmem(v.text.p, v.text.len, "speedscope", 10) ? PM_PROBE_CERTAIN
								      : PM_PROBE_NO;
	}
	const char *name = strstr(c->path, ".speedscope.json");
	return name && s.cut ? PM_PROBE_BY_CONTENT : PM_PROBE_NO;
}

static int open_source(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	return pm_rec_open(&reader, c, options, ret, err);
}

const struct pm_format spsc_format = {
	.name = "speedscope",
	.summary = "speedscope JSON, sampled and evented: py-spy, rbspy, dotnet-trace and others",
	.probe = probe,
	.open = open_source,
	.close = pm_rec_close,
};
