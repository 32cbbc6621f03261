/*
 * Keys come in any order, nodes refer to each other by any numbers, and the old form nests them in
 * each other. So nodes, samples and times are collected first, and become contexts at the end.
 */
#include "formats/builder/v8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/prints.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

enum {
	US = 3,           /* decimals of ns in a µs */
	SECONDS = 9,      /* in a second */
	DIRECT = 1 << 22, /* ids below are found without a map */
};

#define NO_NUMBER INT64_MIN

/* A function as nodes name it. */
struct frame {
	uint32_t name, url; /* texts */
	uint32_t line, column;
	uint32_t function;
};

struct node {
	int64_t id;             /* NO_NUMBER: none */
	uint32_t number, frame; /* PM_NONE: it has none */
	uint32_t parent;        /* a node, or PM_NONE */
	uint32_t parent_number; /* what it says itself */
	uint32_t context;
	uint32_t script, deopt; /* texts */
	enum { UNSEEN, ON_PATH, DONE } state;
	int64_t hits, bytes, ns; /* hits, bytes: NO_NUMBER if it has none */
	size_t first_tick, n_ticks;
};

struct tick {
	int64_t line, ticks;
};

/* An open node, while it is read. */
struct level {
	uint32_t node;
	bool in_children, has_frame;
	struct frame frame;
};

struct kid {
	uint32_t parent, number; /* a node, and what it calls its child */
};

struct moment {
	int64_t ns;
	uint32_t node; /* PM_NONE: one that is not there */
};

struct pm_v8 {
	struct pm_recording *r;
	struct pm_scan *s; /* while something is read */
	struct pm_arena arena;
	struct pm_text scratch;
	struct pm_strtab texts;
	/* Ids of nodes are numbered as they occur: by small id, + 1, and the others. */
	uint32_t *small, n_numbers;
	size_t n_small, small_room;
	struct pm_map large;
	uint32_t *node_of; /* by number; PM_NONE: none yet */
	size_t number_room;
	struct node *nodes;
	size_t n_nodes, node_room;
	struct kid *kids;
	size_t n_kids, kid_room;
	struct frame *frames;
	size_t n_frames, frame_room;
	struct pm_prints frame_index;
	struct tick *ticks;
	size_t n_ticks, tick_room;
	struct level *levels;
	size_t depth, level_room;
	uint32_t *samples; /* numbers of nodes; PM_NONE: not a number */
	size_t n_samples, sample_room;
	int64_t *times; /* NO_NUMBER: not a number */
	size_t n_times, time_room;
	int64_t start, end; /* as they stand there in 1/1000, then ns; NO_NUMBER: none */
	bool absolute;      /* the times are timestamps, not from one to the next */
	bool is_old;        /* nested, with hits */
	bool cut;           /* the text is broken or ends: what is missing is no damage besides */
	bool has_hits, has_bytes, has_nodes;
	uint32_t thread, no_stack;
	uint32_t time, hits, size; /* quantities */
	uint64_t n_lost, n_frameless, n_twins;
};

/* Room for one more item; false, and a failed recording, without memory. */
static bool room(struct pm_v8 *t, void *items, size_t n, size_t *have, size_t size)
{
	if (n < PM_LIMIT_ITEMS && pm_list_room(items, n, have, size) == 0)
		return true;
	pm_rec_fail(t->r, -ENOMEM, PM_NO_OFFSET, "no memory for the nodes");
	return false;
}

/* ---- values ---- */

static bool is(struct pm_bytes key, const char *name)
{
	return pm_bytes_equal(key, pm_bytes_of(name));
}

/* The next value in units of 10^-scale, NO_NUMBER if it is no number. Passes over it. */
static int64_t take_number(struct pm_v8 *t, int scale)
{
	struct pm_scan_value v;
	int64_t number;
	enum pm_scan_kind kind = pm_scan_value(t->s, &v);
	if (kind != PM_SCAN_NUMBER && kind != PM_SCAN_TEXT)
		return NO_NUMBER;
	enum pm_decimal how = pm_scan_decimal(v.text, scale, &number);
	return how == PM_DECIMAL_NONE || how == PM_DECIMAL_BEYOND ? NO_NUMBER : number;
}

/* The next value as a text of its own, 0 if it is none. */
static uint32_t take_text(struct pm_v8 *t)
{
	struct pm_scan_value v;
	pm_scan_value(t->s, &v);
	uint32_t i = pm_strtab_add(&t->texts, pm_rec_json_text(t->r, &v, &t->scratch));
	if (i == PM_NONE)
		pm_rec_fail(t->r, -ENOMEM, PM_NO_OFFSET, "no memory for the names");
	return i == PM_NONE ? 0 : i;
}

/* The number of a node's id. PM_NONE: not an id. */
static uint32_t number_of(struct pm_v8 *t, int64_t id)
{
	uint32_t *slot = NULL;
	bool fresh = false;
	if (id == NO_NUMBER)
		return PM_NONE;
	if (id >= 0 && id < DIRECT) {
		while (t->n_small <= (size_t)id) {
			if (!room(t, &t->small, t->n_small, &t->small_room, sizeof(*t->small)))
				return PM_NONE;
			t->small[t->n_small++] = 0;
		}
		slot = &t->small[id];
	} else {
		slot = pm_map_put(&t->large, (uint64_t)id, 0, &fresh);
	}
	if (slot && *slot)
		return *slot - 1;
	if (!slot || !room(t, &t->node_of, t->n_numbers, &t->number_room, sizeof(*t->node_of))) {
		pm_rec_fail(t->r, -ENOMEM, PM_NO_OFFSET, "no memory for the nodes");
		return PM_NONE;
	}
	t->node_of[t->n_numbers] = PM_NONE;
	*slot = ++t->n_numbers;
	return *slot - 1;
}

/* ---- nodes ---- */

/* `key` of a function: of callFrame, or of the node itself in the old form. */
static bool read_frame_key(struct pm_v8 *t, struct pm_bytes key, struct frame *f)
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

static void read_ticks(struct pm_v8 *t, struct node *n)
{
	struct pm_bytes key;
	n->first_tick = t->n_ticks;
	if (pm_scan_peek(t->s) != PM_SCAN_ARRAY) {
		pm_scan_skip(t->s);
		return;
	}
	pm_scan_enter(t->s);
	while (pm_scan_item(t->s)) {
		struct tick tick = {NO_NUMBER, NO_NUMBER};
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
		if (tick.line <= 0 || tick.line >= (int64_t)PM_NONE || tick.ticks < 0 ||
			!room(t, &t->ticks, t->n_ticks, &t->tick_room, sizeof(tick)))
			continue;
		t->ticks[t->n_ticks++] = tick;
	}
	n->n_ticks = t->n_ticks - n->first_tick;
}

static void read_call_frame(struct pm_v8 *t, struct level *l)
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
static void read_node_key(struct pm_v8 *t, struct pm_bytes key, struct level *l)
{
	struct node *n = &t->nodes[l->node];
	if (is(key, "id")) {
		n->id = take_number(t, 0);
		n->number = number_of(t, n->id);
	} else if (is(key, "parent")) {
		n->parent_number = number_of(t, take_number(t, 0));
	} else if (is(key, "hitCount")) {
		n->hits = take_number(t, 0);
		t->has_hits |= n->hits != NO_NUMBER;
	} else if (is(key, "selfSize")) {
		n->bytes = take_number(t, 0);
		t->has_bytes |= n->bytes != NO_NUMBER;
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

static bool same_place(const struct frame *a, const struct frame *b)
{
	return a->name == b->name && a->url == b->url && a->line == b->line;
}

static uint32_t intern_frame(struct pm_v8 *t, const struct frame *f)
{
	uint64_t key = pm_hash_u64((uint64_t)f->name << 32 | f->url) ^
		((uint64_t)f->line << 32 | f->column);
	uint32_t hash = (uint32_t)pm_hash_u64(key), i;
	if (pm_prints_room(&t->frame_index) < 0 ||
		!room(t, &t->frames, t->n_frames, &t->frame_room, sizeof(*f))) {
		pm_rec_fail(t->r, -ENOMEM, PM_NO_OFFSET, "no memory for the functions");
		return PM_NONE;
	}
	size_t at = pm_prints_first(&t->frame_index, hash);
	while ((i = pm_prints_at(&t->frame_index, hash, &at)) != PM_NONE &&
		!(same_place(&t->frames[i], f) && t->frames[i].column == f->column))
		at++;
	if (i != PM_NONE)
		return i;
	pm_prints_put(&t->frame_index, at, hash, (uint32_t)t->n_frames);
	t->frames[t->n_frames] = *f;
	return (uint32_t)t->n_frames++;
}

/* Begins the node that is next, an object; its parent is a node or PM_NONE. */
static bool open_node(struct pm_v8 *t, uint32_t parent)
{
	if (!room(t, &t->nodes, t->n_nodes, &t->node_room, sizeof(*t->nodes)) ||
		!room(t, &t->levels, t->depth, &t->level_room, sizeof(*t->levels)))
		return false;
	t->nodes[t->n_nodes] = (struct node){.id = NO_NUMBER,
		.number = PM_NONE,
		.frame = PM_NONE,
		.parent = parent,
		.parent_number = PM_NONE,
		.context = PM_NONE,
		.hits = NO_NUMBER,
		.bytes = NO_NUMBER};
	t->levels[t->depth++] = (struct level){.node = (uint32_t)t->n_nodes++};
	return pm_scan_enter(t->s);
}

/* A node that was cut is taken if it has a frame: what is missing of it is 0. */
static void close_node(struct pm_v8 *t)
{
	const struct level *l = &t->levels[--t->depth];
	struct node *n = &t->nodes[l->node];
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
	while (t->depth > 0 && pm_rec_goes_on(t->r)) {
		struct level *l = &t->levels[t->depth - 1];
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
			if (room(t, &t->kids, t->n_kids, &t->kid_room, sizeof(*t->kids)))
				t->kids[t->n_kids++] = (struct kid){l->node, number};
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
	while (pm_scan_item(t->s) && pm_rec_goes_on(t->r)) {
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
	while (pm_scan_item(t->s) && pm_rec_goes_on(t->r)) {
		int64_t id = take_number(t, 0);
		if (t->s->code ||
			!room(t, &t->samples, t->n_samples, &t->sample_room, sizeof(*t->samples)))
			return;
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
	while (pm_scan_item(t->s) && pm_rec_goes_on(t->r)) {
		int64_t ns = take_number(t, US);
		if (t->s->code || !room(t, &t->times, t->n_times, &t->time_room, sizeof(ns)))
			return;
		t->times[t->n_times++] = ns;
	}
}

/* ---- contexts ---- */

static bool is_root(const struct pm_v8 *t, const struct node *n)
{
	return n->parent == PM_NONE && n->frame != PM_NONE &&
		is(t->texts.items[t->frames[n->frame].name], "(root)");
}

static int frame_order(const void *a, const void *b, void *context)
{
	const struct pm_v8 *t = context;
	const struct frame *f = &t->frames[*(const uint32_t *)a];
	const struct frame *g = &t->frames[*(const uint32_t *)b];
	if (f->url != g->url)
		return f->url < g->url ? -1 : 1;
	if (f->name != g->name)
		return f->name < g->name ? -1 : 1;
	return f->line != g->line ? (f->line < g->line ? -1 : 1)
				  : (f->column > g->column) - (f->column < g->column);
}

/* Functions of one script with equal names and lines (minified code) have the column in theirs. */
static void make_functions(struct pm_v8 *t)
{
	uint32_t *order = malloc((t->n_frames + 1) * sizeof(*order));
	for (size_t i = 0; order && i < t->n_frames; i++)
		order[i] = (uint32_t)i;
	if (!order || pm_sort_with(order, t->n_frames, sizeof(*order), frame_order, t) < 0)
		pm_rec_fail(t->r, -ENOMEM, PM_NO_OFFSET, "no memory for the functions");
	for (size_t i = 0; order && i < t->n_frames && pm_rec_goes_on(t->r); i++) {
		struct frame *f = &t->frames[order[i]];
		bool shared = (i > 0 && same_place(f, &t->frames[order[i - 1]])) ||
			(i + 1 < t->n_frames && same_place(f, &t->frames[order[i + 1]]));
		pm_text_clear(&t->scratch);
		pm_text_bytes(&t->scratch, t->texts.items[f->name]);
		if (t->scratch.len == 0)
			pm_text_str(&t->scratch, "(anonymous)");
		if (shared)
			pm_text_printf(&t->scratch, "@%u", f->column);
		if (t->scratch.failed)
			pm_rec_fail(t->r, -ENOMEM, PM_NO_OFFSET, "no memory for the functions");
		f->function = pm_rec_function(t->r,
			&(struct pm_rec_function){.name = pm_text_view(&t->scratch),
				.file = t->texts.items[f->url],
				.line = f->line});
	}
	free(order);
}

/* Parents as nodes list them; the first one holds. */
static void settle_parents(struct pm_v8 *t)
{
	size_t n_absent = 0, n_twice = 0;
	for (size_t i = 0; i < t->n_kids && pm_rec_goes_on(t->r); i++) {
		uint32_t number = t->kids[i].number;
		uint32_t kid = number == PM_NONE ? PM_NONE : t->node_of[number];
		n_absent += kid == PM_NONE;
		n_twice += kid != PM_NONE && t->nodes[kid].parent != PM_NONE;
		if (kid != PM_NONE && t->nodes[kid].parent == PM_NONE)
			t->nodes[kid].parent = t->kids[i].parent;
	}
	for (size_t i = 0; i < t->n_nodes && pm_rec_goes_on(t->r); i++) {
		struct node *n = &t->nodes[i];
		if (n->parent != PM_NONE || n->parent_number == PM_NONE)
			continue;
		n->parent = t->node_of[n->parent_number];
		n_absent += n->parent == PM_NONE;
	}
	if (n_absent && !t->cut)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"nodes refer to %zu nodes that are not there", n_absent);
	if (n_twice)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%zu nodes are listed by a second parent: they are the first one's",
			n_twice);
	if (t->n_twins)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu nodes have the id of another one: samples are the first one's",
			(unsigned long long)t->n_twins);
	if (t->n_frameless)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu nodes without a function are left out, and their samples",
			(unsigned long long)t->n_frameless);
}

static uint32_t context_below(struct pm_v8 *t, const struct node *n, uint32_t parent)
{
	if (n->frame == PM_NONE || is_root(t, n))
		return parent;
	const struct frame *f = &t->frames[n->frame];
	bool idle = is(t->texts.items[f->name], "(idle)") && t->texts.items[f->url].len == 0;
	return pm_rec_call(t->r, parent, f->function, idle ? PM_REC_IDLE : 0);
}

/* Parents before their children, without recursion. */
static void make_contexts(struct pm_v8 *t)
{
	uint32_t *path = malloc((t->n_nodes + 1) * sizeof(*path));
	size_t n_cycles = 0;
	if (!path)
		pm_rec_fail(t->r, -ENOMEM, PM_NO_OFFSET, "no memory for the nodes");
	for (size_t i = 0; path && i < t->n_nodes && pm_rec_goes_on(t->r); i++) {
		size_t depth = 0;
		uint32_t at = (uint32_t)i, above = PM_REC_NONE;
		while (at != PM_NONE && t->nodes[at].state == UNSEEN) {
			t->nodes[at].state = ON_PATH;
			path[depth++] = at;
			at = t->nodes[at].parent;
		}
		if (at != PM_NONE && t->nodes[at].state == ON_PATH) {
			t->nodes[path[depth - 1]].parent = PM_NONE;
			n_cycles++;
		} else if (at != PM_NONE) {
			above = t->nodes[at].context;
		}
		while (depth > 0) {
			struct node *n = &t->nodes[path[--depth]];
			n->context = above = context_below(t, n, above);
			n->state = DONE;
		}
	}
	if (n_cycles)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%zu nodes are among their own ancestors: they are at the top", n_cycles);
	free(path);
}

/* ---- costs ---- */

/* Where samples of a node lie: the root's have no stack. */
static uint32_t place_of(struct pm_v8 *t, const struct node *n)
{
	if (n->context != PM_REC_NONE)
		return n->context;
	if (t->no_stack == PM_REC_NONE)
		t->no_stack = pm_rec_placeholder(t->r, PM_REC_NONE, "(no stack)");
	return t->no_stack;
}

/* Hits of a node, those of its lines on them. */
static void add_hits(struct pm_v8 *t, const struct node *n)
{
	int64_t rest = n->hits;
	for (size_t i = 0; i < n->n_ticks; i++) {
		const struct tick *tick = &t->ticks[n->first_tick + i];
		int64_t ticks = tick->ticks < rest ? tick->ticks : rest;
		rest -= ticks;
		if (ticks > 0)
			pm_rec_cost(t->r, t->thread,
				pm_rec_line(t->r, place_of(t, n), (struct pm_bytes){0},
					(uint32_t)tick->line),
				t->hits, ticks);
	}
	if (rest != 0)
		pm_rec_cost(t->r, t->thread, place_of(t, n), t->hits, rest);
}

static void add_costs(struct pm_v8 *t)
{
	for (size_t i = 0; i < t->n_nodes && pm_rec_goes_on(t->r); i++) {
		const struct node *n = &t->nodes[i];
		if (n->frame == PM_NONE)
			continue;
		if (n->ns != 0)
			pm_rec_cost(t->r, t->thread, place_of(t, n), t->time, n->ns);
		if (t->has_bytes && n->bytes != NO_NUMBER && n->bytes != 0)
			pm_rec_cost(t->r, t->thread, place_of(t, n), t->size, n->bytes);
		if (!t->has_bytes && n->hits != NO_NUMBER)
			add_hits(t, n);
	}
}

/* ---- times ---- */

static int moment_order(const void *a, const void *b)
{
	const struct moment *m = a, *n = b;
	return (m->ns > n->ns) - (m->ns < n->ns);
}

/* The samples in time order: ret[n], owned by the caller. `*ret_cut`: some have no times. */
static struct moment *make_moments(struct pm_v8 *t, size_t *ret_n, bool *ret_cut)
{
	bool first_is_start = t->absolute && t->n_times == t->n_samples + 1;
	size_t lead = first_is_start, n = t->n_times - lead;
	n = n < t->n_samples ? n : t->n_samples;
	struct moment *moments = malloc((n + 1) * sizeof(*moments));
	if (!moments)
		pm_rec_fail(t->r, -ENOMEM, PM_NO_OFFSET, "no memory for the samples");
	int64_t now = t->start == NO_NUMBER ? 0 : t->start;
	bool sorted = true;
	if (first_is_start && t->times[0] != NO_NUMBER)
		t->start = t->times[0];
	*ret_n = 0;
	for (size_t i = 0; moments && i < n && pm_rec_goes_on(t->r); i++) {
		int64_t time = t->times[i + lead];
		uint32_t number = t->samples[i],
			 node = number == PM_NONE ? PM_NONE : t->node_of[number];
		if (time == NO_NUMBER ||
			__builtin_add_overflow(t->absolute ? 0 : now, time, &now)) {
			t->n_lost++;
			continue;
		}
		sorted = sorted && (*ret_n == 0 || moments[*ret_n - 1].ns <= now);
		moments[(*ret_n)++] = (struct moment){now, node};
	}
	if (moments && !sorted && pm_sort(moments, *ret_n, sizeof(*moments), moment_order) < 0)
		pm_rec_fail(t->r, -ENOMEM, PM_NO_OFFSET, "no memory for the samples");
	*ret_cut = n < t->n_samples;
	if (t->n_samples != t->n_times - lead && !t->cut)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"there are %zu samples, but times of %zu", t->n_samples, t->n_times - lead);
	return moments;
}

/* ---- samples as they are ---- */

/* A sample lasts until the next one, the last one until the end. PM_NO_TIME: not known. */
static uint64_t length_of(
	const struct pm_v8 *t, const struct moment *moments, size_t i, size_t n, bool cut)
{
	int64_t end = i + 1 < n ? moments[i + 1].ns : t->end;
	if (i + 1 == n && (end == NO_NUMBER || cut))
		return PM_NO_TIME;
	return end > moments[i].ns ? (uint64_t)end - (uint64_t)moments[i].ns : 0;
}

/* The node of a sample, to which its time is added; NULL: it is lost. */
static struct node *take_moment(struct pm_v8 *t, const struct moment *m, uint64_t ns)
{
	struct node *node = m->node == PM_NONE ? NULL : &t->nodes[m->node];
	if (!node)
		t->n_lost++;
	else if (ns != PM_NO_TIME && __builtin_add_overflow(node->ns, ns, &node->ns))
		pm_rec_fail(t->r, -ENOTSUP, PM_NO_OFFSET, "times leave 63 bits");
	return node;
}

static void report_lost(struct pm_v8 *t)
{
	if (t->n_lost)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu samples of nodes that are not there, or without a time, are left out",
			(unsigned long long)t->n_lost);
}

static void add_samples(struct pm_v8 *t)
{
	size_t n = 0;
	bool cut = false;
	struct moment *moments = make_moments(t, &n, &cut);
	int64_t first = n > 0 ? moments[0].ns : 0, origin = t->start;
	if (origin == NO_NUMBER || (n > 0 && first < origin))
		origin = first;
	int64_t shift = origin < 0 ? origin : 0; /* times are not negative */
	pm_rec_origin(t->r, (uint64_t)origin - (uint64_t)shift);
	for (size_t i = 0; moments && i < n && pm_rec_goes_on(t->r); i++) {
		uint64_t ns = length_of(t, moments, i, n, cut);
		struct node *node = take_moment(t, &moments[i], ns);
		if (node)
			pm_rec_sample(t->r, t->thread, (uint64_t)moments[i].ns - (uint64_t)shift,
				ns, place_of(t, node));
	}
	report_lost(t);
	free(moments);
}

/* ---- samples as calls ---- */

/* A call that samples saw. */
struct visit {
	int64_t start, end, below; /* ns; below: what its children take */
	uint32_t context;
};

struct visits {
	struct visit *items; /* each behind the one that it is below */
	size_t n, room;
	uint32_t *open; /* items that have not ended, outermost first */
	size_t n_open, open_room;
	uint32_t *path; /* contexts of a sample, innermost first */
	size_t path_room;
	size_t budget; /* of levels: stacks may all be deep, and differ at the top */
};

static void close_visits(struct visits *v, size_t keep, int64_t now)
{
	while (v->n_open > keep) {
		struct visit *last = &v->items[v->open[--v->n_open]];
		last->end = now;
		if (v->n_open > 0)
			v->items[v->open[v->n_open - 1]].below += now - last->start;
	}
}

/* A sample of a node begins; NULL: of none. False if there are too many levels, or a failure. */
static bool visit(struct pm_v8 *t, struct visits *v, const struct node *node, int64_t now)
{
	size_t depth = 0, same = 0;
	for (const struct node *at = node; at; depth++) {
		if (v->budget-- == 0 || !room(t, &v->path, depth, &v->path_room, sizeof(*v->path)))
			return false;
		v->path[depth] = place_of(t, at);
		do /* the root has no context */
			at = at->parent == PM_NONE ? NULL : &t->nodes[at->parent];
		while (at && at->context == PM_REC_NONE);
	}
	while (same < depth && same < v->n_open &&
		v->items[v->open[same]].context == v->path[depth - 1 - same])
		same++;
	close_visits(v, same, now);
	for (; same < depth; same++) {
		if (!room(t, &v->items, v->n, &v->room, sizeof(*v->items)) ||
			!room(t, &v->open, v->n_open, &v->open_room, sizeof(*v->open)))
			return false;
		v->items[v->n] = (struct visit){
			.start = now, .end = now, .context = v->path[depth - 1 - same]};
		v->open[v->n_open++] = (uint32_t)v->n++;
	}
	return true;
}

static void tell_visits(struct pm_v8 *t, const struct visits *v, const struct pm_v8_calls *as)
{
	for (size_t i = 0; i < v->n && pm_rec_goes_on(t->r); i++) {
		const struct visit *call = &v->items[i];
		int64_t ns = call->end - call->start;
		pm_rec_cost(t->r, t->thread, call->context, as->calls, 1);
		pm_rec_called(t->r, t->thread,
			&(struct pm_rec_called){.time_ns = (uint64_t)call->start + as->base,
				.duration_ns = (uint64_t)ns,
				.self_ns = (uint64_t)(ns - call->below),
				.seq = as->seq,
				.context = call->context});
	}
}

static void add_visits(struct pm_v8 *t, const struct pm_v8_calls *as)
{
	enum { LEVELS_A_SAMPLE = 64 };
	size_t n = 0;
	bool cut = false, good = true;
	struct moment *moments = make_moments(t, &n, &cut);
	struct visits v = {.budget = (n + t->n_nodes) * LEVELS_A_SAMPLE};
	int64_t last = 0;
	uint32_t before = PM_REC_BAD; /* a node, or PM_NONE */
	for (size_t i = 0; moments && i < n && pm_rec_goes_on(t->r); i++) {
		uint64_t ns = length_of(t, moments, i, n, cut);
		if (moments[i].ns < 0) {
			t->n_lost++;
			continue;
		}
		const struct node *node = take_moment(t, &moments[i], ns);
		if (good && moments[i].node != before)
			good = visit(t, &v, node, moments[i].ns);
		if (good)
			last = moments[i].ns + (ns == PM_NO_TIME ? 0 : (int64_t)ns);
		before = moments[i].node;
	}
	close_visits(&v, 0, last);
	tell_visits(t, &v, as);
	if (!good)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"samples of V8 from %lld ns on are in no trace: their stacks are too deep",
			(long long)last);
	report_lost(t);
	free(moments);
	free(v.items);
	free(v.open);
	free(v.path);
}

/* ---- raw/nodes.csv ---- */

struct raw_node {
	int64_t id, parent;
	uint64_t hits, bytes, line, column; /* UINT64_MAX: none */
	struct pm_bytes script, deopt, url, name;
};

/* Ids may be negative. */
static struct pm_cell id_cell(struct pm_rows *rows, const void *field)
{
	int64_t n = *(const int64_t *)field;
	(void)rows;
	return n == NO_NUMBER ? pm_cell_empty() : pm_cell_i64(n);
}

static int raw_node(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	const struct raw_node *nodes = rows->table->self;
	(void)err;
	if (rows->at >= rows->table->end)
		return 0;
	ret->p = &nodes[rows->at];
	return 1;
}

static const struct pm_column node_columns[] = {
	PM_COLUMN_BY(struct raw_node, id, "node_id", id_cell),
	PM_COLUMN_BY(struct raw_node, parent, "parent_id", id_cell),
	PM_COLUMN_OR_NONE(struct raw_node, hits, "hits"),
	PM_COLUMN_OR_NONE(struct raw_node, bytes, "self_size_bytes"),
	PM_COLUMN_OR_NONE(struct raw_node, line, "line"),
	PM_COLUMN_OR_NONE(struct raw_node, column, "column"),
	PM_COLUMN(struct raw_node, script, "script_id"),
	PM_COLUMN(struct raw_node, deopt, "deopt_reason"),
	PM_COLUMN(struct raw_node, url, "file"),
	PM_COLUMN(struct raw_node, name, "name"),
};

static const struct pm_sheet node_sheet =
	PM_SHEET("raw/nodes.csv", node_columns, raw_node, .dense = true);

void pm_v8_node_table(struct pm_v8 *t)
{
	struct raw_node *raw = pm_rec_alloc(t->r, t->n_nodes * sizeof(*raw));
	struct pm_bytes *texts = pm_rec_alloc(t->r, t->texts.n * sizeof(*texts));
	for (uint32_t i = 0; raw && texts && i < t->texts.n && pm_rec_goes_on(t->r); i++)
		texts[i] = pm_rec_copy(t->r, t->texts.items[i]);
	for (size_t i = 0; raw && texts && i < t->n_nodes && pm_rec_goes_on(t->r); i++) {
		const struct node *n = &t->nodes[i];
		const struct frame *f = n->frame == PM_NONE ? NULL : &t->frames[n->frame];
		raw[i] = (struct raw_node){.id = n->id,
			.parent = n->parent == PM_NONE ? NO_NUMBER : t->nodes[n->parent].id,
			.hits = n->hits < 0 ? UINT64_MAX : (uint64_t)n->hits,
			.bytes = n->bytes < 0 ? UINT64_MAX : (uint64_t)n->bytes,
			.line = f && f->line ? f->line : UINT64_MAX,
			.column = f && f->column ? f->column : UINT64_MAX,
			.script = texts[n->script],
			.deopt = texts[n->deopt],
			.url = texts[f ? f->url : 0],
			.name = texts[f ? f->name : 0]};
	}
	if (!raw || !texts)
		return;
	/* raw/nodes.csv of the first file, raw/nodes-2.csv of the second one … */
	unsigned number = pm_rec_file_number(t->r) + 1;
	char name[64];
	struct pm_named_doc doc = pm_sheet_document(&node_sheet, raw, 0);
	doc.doc.table.end = t->n_nodes;
	int n = snprintf(name, sizeof(name), "raw/nodes-%u.csv", number);
	if (number > 1)
		doc.path = (const char *)pm_rec_copy(
			t->r, (struct pm_bytes){(const uint8_t *)name, (size_t)n + 1})
				   .p;
	if (doc.path)
		pm_rec_document(t->r, &doc);
}

/* ---- the whole ---- */

struct pm_v8 *pm_v8_new(struct pm_recording *r)
{
	struct pm_v8 *t = calloc(1, sizeof(*t));
	if (t) {
		t->r = r;
		t->start = t->end = NO_NUMBER;
		t->texts.arena = &t->arena;
	}
	/* Text 0: none. */
	if (!t || pm_strtab_add(&t->texts, (struct pm_bytes){0}) != 0) {
		pm_rec_fail(r, -ENOMEM, PM_NO_OFFSET, "no memory for the names");
		pm_v8_free(t);
		return NULL;
	}
	return t;
}

void pm_v8_free(struct pm_v8 *t)
{
	if (!t)
		return;
	free(t->small);
	free(t->node_of);
	free(t->nodes);
	free(t->kids);
	free(t->frames);
	free(t->ticks);
	free(t->levels);
	free(t->samples);
	free(t->times);
	pm_map_done(&t->large);
	pm_prints_done(&t->frame_index);
	pm_strtab_done(&t->texts);
	pm_text_done(&t->scratch);
	pm_arena_done(&t->arena);
	free(t);
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

/* One quantity for all profiles of the source. */
static uint32_t metric(struct pm_recording *r, const char *name, const char *unit)
{
	uint32_t known = pm_rec_known_metric(r, name);
	return known != PM_REC_NONE ? known
				    : pm_rec_metric(r, pm_bytes_of(name), pm_bytes_of(unit));
}

/* Contexts, before anything is told of them. */
static void settle(struct pm_v8 *t, uint32_t thread)
{
	/* Beside timestamps these are seconds. */
	int64_t unit = t->absolute ? 1000000 : 1;
	if (t->start != NO_NUMBER && __builtin_mul_overflow(t->start, unit, &t->start))
		t->start = NO_NUMBER;
	if (t->end != NO_NUMBER && __builtin_mul_overflow(t->end, unit, &t->end))
		t->end = NO_NUMBER;
	t->thread = thread;
	t->no_stack = PM_REC_NONE;
	if (t->n_samples > 0 && t->n_times == 0 && !t->has_bytes && !t->cut)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"there are %zu samples, but no times", t->n_samples);
	settle_parents(t);
	make_functions(t);
	make_contexts(t);
}

void pm_v8_place(struct pm_v8 *t, uint32_t thread)
{
	bool timed = pm_v8_has_samples(t);
	if (timed)
		t->time = metric(t->r, "time", "ns");
	if (t->has_hits && !t->has_bytes)
		t->hits = metric(t->r, "hits", "");
	if (t->has_bytes)
		t->size = pm_rec_metric(t->r, pm_bytes_of("size"), pm_bytes_of("bytes"));
	settle(t, thread);
	if (timed)
		add_samples(t);
	add_costs(t);
}

void pm_v8_place_calls(struct pm_v8 *t, const struct pm_v8_calls *as)
{
	t->time = as->time;
	t->has_hits = false; /* samples are not counted where calls are */
	for (size_t i = 0; i < t->n_nodes; i++)
		t->nodes[i].hits = NO_NUMBER;
	settle(t, as->thread);
	add_visits(t, as);
	add_costs(t);
}
