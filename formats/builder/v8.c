/*
 * Keys come in any order, nodes refer to each other by any numbers, and the old form nests them in
 * each other. So nodes, samples and times are collected first.
 */
#include <string.h>

#include "formats/builder/v8_private.h"

enum {
	US = 3,           /* decimals of ns in a µs */
	DIRECT = 1 << 22, /* ids below are found without a map */
};

static bool is(struct pm_bytes key, const char *name)
{
	return pm_bytes_equal(key, pm_bytes_of(name));
}

/* ---- values ---- */

/* The next value in units of 10^-scale, PM_V8_NO_NUMBER if it is no number. Passes over it. */
static int64_t take_number(struct pm_v8 *t, int scale)
{
	struct pm_scan_value v;
	int64_t number;
	enum pm_scan_kind kind = pm_scan_value(t->s, &v);
	if (kind != PM_SCAN_NUMBER && kind != PM_SCAN_TEXT)
		return PM_V8_NO_NUMBER;
	enum pm_decimal how = pm_scan_decimal(v.text, scale, &number);
	return how == PM_DECIMAL_NONE || how == PM_DECIMAL_BEYOND ? PM_V8_NO_NUMBER : number;
}

/* The next value as a text of its own, 0 if it is none. */
static uint32_t take_text(struct pm_v8 *t)
{
	struct pm_scan_value v;
	pm_scan_value(t->s, &v);
	return pm_strtab_add(&t->texts, pm_rec_json_text(&v, &t->scratch));
}

/* The number of a node's id. PM_NONE: not an id. */
static uint32_t number_of(struct pm_v8 *t, int64_t id)
{
	uint32_t *slot;
	bool fresh;
	if (id == PM_V8_NO_NUMBER)
		return PM_NONE;
	if (id >= 0 && id < DIRECT) {
		while (t->n_small <= (size_t)id) {
			pm_items_grow(
				t->arena, &t->small, t->n_small, &t->small_room, sizeof(*t->small));
			t->small[t->n_small++] = 0;
		}
		slot = &t->small[id];
	} else {
		slot = pm_map_put(&t->large, (uint64_t)id, 0, &fresh);
	}
	if (*slot)
		return *slot - 1;
	pm_items_grow(t->arena, &t->node_of, t->n_numbers, &t->number_room, sizeof(*t->node_of));
	t->node_of[t->n_numbers] = PM_NONE;
	*slot = ++t->n_numbers;
	return *slot - 1;
}

/* ---- nodes ---- */

/* `key` of a function: of callFrame, or of the node itself in the old form. */
static bool read_frame_key(struct pm_v8 *t, struct pm_bytes key, struct pm_v8_frame *f)
{
	int64_t number;
	if (is(key, "functionName")) {
		f->name = take_text(t);
	} else if (is(key, "url")) {
		f->url = take_text(t);
	} else if (is(key, "lineNumber") || is(key, "columnNumber")) {
		/* From 0, and -1 for none. */
		number = take_number(t, 0);
		number = number >= 0 && number < (int64_t)PM_NONE - 1 ? number + 1 : 0;
		*(is(key, "lineNumber") ? &f->line : &f->column) = (uint32_t)number;
	} else {
		return false;
	}
	return true;
}

static void read_ticks(struct pm_v8 *t, struct pm_v8_node *n)
{
	struct pm_bytes key;
	n->first_tick = t->n_ticks;
	if (pm_scan_peek(t->s) != PM_SCAN_ARRAY) {
		pm_scan_skip(t->s);
		return;
	}
	pm_scan_enter(t->s);
	while (pm_scan_item(t->s)) {
		struct pm_v8_tick tick = {PM_V8_NO_NUMBER, PM_V8_NO_NUMBER};
		if (pm_scan_peek(t->s) != PM_SCAN_OBJECT) {
			pm_scan_skip(t->s);
			continue;
		}
		pm_scan_enter(t->s);
		while (pm_scan_key(t->s, &key)) {
			bool line = is(key, "line"), ticks = is(key, "ticks");
			int64_t number = take_number(t, 0);
			tick.line = line ? number : tick.line;
			tick.ticks = ticks ? number : tick.ticks;
		}
		if (tick.line <= 0 || tick.line >= (int64_t)PM_NONE || tick.ticks < 0)
			continue;
		pm_items_grow(t->arena, &t->ticks, t->n_ticks, &t->tick_room, sizeof(tick));
		t->ticks[t->n_ticks++] = tick;
	}
	n->n_ticks = t->n_ticks - n->first_tick;
}

static void read_call_frame(struct pm_v8 *t, struct pm_v8_level *l)
{
	struct pm_bytes key;
	if (pm_scan_peek(t->s) != PM_SCAN_OBJECT) {
		pm_scan_skip(t->s);
		return;
	}
	l->has_frame = true;
	pm_scan_enter(t->s);
	while (pm_scan_key(t->s, &key)) {
		if (is(key, "scriptId"))
			t->nodes[l->node].script = take_text(t);
		else if (!read_frame_key(t, key, &l->frame))
			pm_scan_skip(t->s);
	}
}

/* The next key of the innermost open node; not its children. */
static void read_node_key(struct pm_v8 *t, struct pm_bytes key, struct pm_v8_level *l)
{
	struct pm_v8_node *n = &t->nodes[l->node];
	if (is(key, "id")) {
		n->id = take_number(t, 0);
		n->number = number_of(t, n->id);
	} else if (is(key, "parent")) {
		n->parent_number = number_of(t, take_number(t, 0));
	} else if (is(key, "hitCount")) {
		n->hits = take_number(t, 0);
		t->has_hits |= n->hits != PM_V8_NO_NUMBER;
	} else if (is(key, "selfSize")) {
		n->bytes = take_number(t, 0);
		t->has_bytes |= n->bytes != PM_V8_NO_NUMBER;
	} else if (is(key, "positionTicks")) {
		read_ticks(t, n);
	} else if (is(key, "deoptReason") || is(key, "bailoutReason")) {
		n->deopt = take_text(t);
	} else if (is(key, "scriptId")) {
		n->script = take_text(t);
	} else if (is(key, "callFrame")) {
		read_call_frame(t, l);
	} else if (read_frame_key(t, key, &l->frame)) {
		l->has_frame |= is(key, "functionName");
	} else {
		pm_scan_skip(t->s);
	}
}

static uint32_t intern_frame(struct pm_v8 *t, const struct pm_v8_frame *f)
{
	uint64_t key = pm_hash_u64((uint64_t)f->name << 32 | f->url) ^
		((uint64_t)f->line << 32 | f->column);
	uint32_t hash = (uint32_t)pm_hash_u64(key), i;
	pm_fingerprints_room(&t->frame_index);
	size_t at = pm_fingerprints_first(&t->frame_index, hash);
	while ((i = pm_fingerprints_at(&t->frame_index, hash, &at)) != PM_NONE &&
		!(pm_v8_same_place(&t->frames[i], f) && t->frames[i].column == f->column))
		at++;
	if (i != PM_NONE)
		return i;
	pm_items_grow(t->arena, &t->frames, t->n_frames, &t->frame_room, sizeof(*f));
	pm_fingerprints_put(&t->frame_index, at, hash, (uint32_t)t->n_frames);
	t->frames[t->n_frames] = *f;
	return (uint32_t)t->n_frames++;
}

static struct pm_v8_node *add_node(struct pm_v8 *t, uint32_t parent)
{
	pm_items_grow(t->arena, &t->nodes, t->n_nodes, &t->node_room, sizeof(*t->nodes));
	struct pm_v8_node *n = &t->nodes[t->n_nodes++];
	*n = (struct pm_v8_node){.id = PM_V8_NO_NUMBER,
		.number = PM_NONE,
		.frame = PM_NONE,
		.parent = parent,
		.parent_number = PM_NONE,
		.context = PM_NONE,
		.hits = PM_V8_NO_NUMBER,
		.bytes = PM_V8_NO_NUMBER};
	return n;
}

/* Begins the node that is next, an object; its parent is a node or PM_NONE. */
static void open_node(struct pm_v8 *t, uint32_t parent)
{
	pm_items_grow(t->arena, &t->levels, t->depth, &t->level_room, sizeof(*t->levels));
	t->levels[t->depth++] = (struct pm_v8_level){.node = (uint32_t)t->n_nodes};
	add_node(t, parent);
	pm_scan_enter(t->s);
}

/* A node that was cut is taken if it has a frame: what is missing of it is 0. */
static void close_node(struct pm_v8 *t)
{
	const struct pm_v8_level *l = &t->levels[--t->depth];
	struct pm_v8_node *n = &t->nodes[l->node];
	if (l->has_frame)
		n->frame = intern_frame(t, &l->frame);
	t->n_frameless += !l->has_frame;
	if (n->number == PM_NONE || !l->has_frame)
		return;
	if (t->node_of[n->number] == PM_NONE)
		t->node_of[n->number] = l->node;
	else
		t->n_twins++;
}

/* A node and all that it nests: the old form, heaps. The one that is next is an object. */
static void read_node(struct pm_v8 *t)
{
	struct pm_bytes key;
	open_node(t, PM_NONE);
	while (t->depth > 0) {
		struct pm_v8_level *l = &t->levels[t->depth - 1];
		pm_rec_proceed(t->r, t->arena);
		if (l->in_children) {
			l->in_children = pm_scan_item(t->s);
			if (!l->in_children)
				continue;
			if (pm_scan_peek(t->s) == PM_SCAN_OBJECT) {
				t->is_old = true;
				open_node(t, l->node);
				continue;
			}
			uint32_t number = number_of(t, take_number(t, 0));
			pm_items_grow(t->arena, &t->children, t->n_children, &t->child_room,
				sizeof(*t->children));
			t->children[t->n_children++] = (struct pm_v8_child){l->node, number};
		} else if (!pm_scan_key(t->s, &key)) {
			/* Of a text that ends in it, only the whole is a node. */
			if (t->s->code && !l->has_frame)
				t->n_frameless--;
			close_node(t);
		} else if (is(key, "children") && pm_scan_peek(t->s) == PM_SCAN_ARRAY) {
			l->in_children = pm_scan_enter(t->s);
		} else {
			read_node_key(t, key, l);
		}
	}
}

static void read_nodes(struct pm_v8 *t)
{
	t->has_nodes = true;
	if (pm_scan_peek(t->s) == PM_SCAN_OBJECT) {
		read_node(t);
		return;
	}
	pm_scan_enter(t->s);
	while (pm_scan_item(t->s)) {
		pm_rec_proceed(t->r, t->arena);
		if (pm_scan_peek(t->s) == PM_SCAN_OBJECT) {
			read_node(t);
			continue;
		}
		pm_rec_damage(t->r, pm_scan_where(t->s), PM_NO_OFFSET,
			"something that is no node is left out");
		pm_scan_skip(t->s);
	}
}

/* ---- samples ---- */

static void read_samples(struct pm_v8 *t, bool more)
{
	if (pm_scan_peek(t->s) != PM_SCAN_ARRAY || t->has_bytes) {
		pm_scan_skip(t->s);
		return;
	}
	t->n_samples = more ? t->n_samples : 0;
	pm_scan_enter(t->s);
	while (pm_scan_item(t->s)) {
		pm_rec_proceed(t->r, t->arena);
		int64_t id;
		if (!pm_scan_integer(t->s, &id))
			id = take_number(t, 0);
		if (t->s->code)
			return;
		pm_items_grow(
			t->arena, &t->samples, t->n_samples, &t->sample_room, sizeof(*t->samples));
		t->samples[t->n_samples++] = number_of(t, id);
	}
}

static void read_times(struct pm_v8 *t, bool absolute, bool more)
{
	if (pm_scan_peek(t->s) != PM_SCAN_ARRAY) {
		pm_scan_skip(t->s);
		return;
	}
	t->n_times = more ? t->n_times : 0;
	t->absolute = absolute;
	pm_scan_enter(t->s);
	while (pm_scan_item(t->s)) {
		pm_rec_proceed(t->r, t->arena);
		int64_t ns;
		if (!pm_scan_integer(t->s, &ns))
			ns = take_number(t, US);
		else if (__builtin_mul_overflow(ns, 1000, &ns))
			ns = PM_V8_NO_NUMBER;
		if (t->s->code)
			return;
		pm_items_grow(t->arena, &t->times, t->n_times, &t->time_room, sizeof(ns));
		t->times[t->n_times++] = ns;
	}
}

/* ---- the whole ---- */

struct pm_v8 *pm_v8_new(struct pm_arena *a, struct pm_recording *r)
{
	struct pm_v8 *t = pm_arena_alloc(a, sizeof(*t));
	*t = (struct pm_v8){.arena = a,
		.r = r,
		.scratch = {.arena = a},
		.texts = pm_strtab_in(a),
		.large = {.arena = a},
		.frame_index = {.arena = a},
		.start = PM_V8_NO_NUMBER,
		.end = PM_V8_NO_NUMBER};
	pm_strtab_add(&t->texts, (struct pm_bytes){0}); /* text 0: none */
	return t;
}

bool pm_v8_read(struct pm_v8 *t, struct pm_scan *s, struct pm_bytes key, bool more)
{
	enum pm_scan_kind kind = pm_scan_peek(s);
	bool nodes = (is(key, "nodes") && kind == PM_SCAN_ARRAY) ||
		(is(key, "head") && kind == PM_SCAN_OBJECT);
	t->s = s;
	if (nodes && (more || !t->has_nodes))
		read_nodes(t);
	else if (is(key, "samples"))
		read_samples(t, more);
	else if (is(key, "timeDeltas") || is(key, "timestamps"))
		read_times(t, is(key, "timestamps"), more);
	else if (is(key, "startTime"))
		t->start = take_number(t, US);
	else if (is(key, "endTime"))
		t->end = take_number(t, US);
	else
		return false;
	t->cut |= s->code != 0;
	return true;
}

bool pm_v8_has_functions(const struct pm_v8 *t)
{
	return t->n_frames > 0;
}

bool pm_v8_has_samples(const struct pm_v8 *t)
{
	return t->n_samples > 0 && t->n_times > 0 && !t->has_bytes;
}

bool pm_v8_is_heap(const struct pm_v8 *t)
{
	return t->has_bytes;
}

const char *pm_v8_layout(const struct pm_v8 *t)
{
	return t->has_bytes ? "heap" : t->is_old ? "nested nodes" : "list of nodes";
}

void pm_v8_add_node(
	struct pm_v8 *t, int64_t id, int64_t parent, const struct pm_rec_function *function)
{
	struct pm_v8_frame frame = {.name = pm_strtab_add(&t->texts, function->name),
		.url = pm_strtab_add(&t->texts, function->file),
		.line = function->line,
		.column = function->column};
	struct pm_v8_node *n = add_node(t, PM_NONE);
	n->id = id;
	n->number = number_of(t, id);
	n->parent_number = parent < 0 ? PM_NONE : number_of(t, parent);
	n->frame = intern_frame(t, &frame);
	if (n->number != PM_NONE)
		t->node_of[n->number] = (uint32_t)(n - t->nodes);
}

void pm_v8_add_sample(struct pm_v8 *t, int64_t id, int64_t time_ns)
{
	pm_items_grow(t->arena, &t->samples, t->n_samples, &t->sample_room, sizeof(*t->samples));
	pm_items_grow(t->arena, &t->times, t->n_times, &t->time_room, sizeof(*t->times));
	t->absolute = true;
	t->samples[t->n_samples++] = id < 0 ? PM_NONE : number_of(t, id);
	t->times[t->n_times++] = time_ns;
}
