/*
 * Reads what V8 writes of processors and heaps: docs/formats/cpuprofile.md.
 *
 * Keys come in any order, nodes refer to each other by any numbers, and the old form nests them in
 * each other. So nodes, samples and times are collected first, and become contexts at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/builder/builder.h"
#include "formats/common/folder.h"
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

struct reading {
	struct pm_recording *r;
	struct pm_scan s;
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
	int64_t start, end; /* ns; NO_NUMBER: none */
	bool absolute;      /* the times are timestamps, not from one to the next */
	bool is_old;        /* nested, with hits */
	bool has_hits, has_bytes, has_nodes;
	uint32_t thread, no_stack;
	uint32_t time, hits, size; /* quantities */
	uint64_t n_lost, n_frameless, n_twins;
};

/* Room for one more item; false, and a failed recording, without memory. */
static bool room(struct reading *t, void *items, size_t n, size_t *have, size_t size)
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
static int64_t take_number(struct reading *t, int scale)
{
	struct pm_scan_value v;
	int64_t number;
	enum pm_scan_kind kind = pm_scan_value(&t->s, &v);
	if (kind != PM_SCAN_NUMBER && kind != PM_SCAN_TEXT)
		return NO_NUMBER;
	enum pm_decimal how = pm_scan_decimal(v.text, scale, &number);
	return how == PM_DECIMAL_NONE || how == PM_DECIMAL_BEYOND ? NO_NUMBER : number;
}

/* The next value as a text of its own, 0 if it is none. */
static uint32_t take_text(struct reading *t)
{
	struct pm_scan_value v;
	pm_scan_value(&t->s, &v);
	uint32_t i = pm_strtab_add(&t->texts, pm_rec_json_text(t->r, &v, &t->scratch));
	if (i == PM_NONE)
		pm_rec_fail(t->r, -ENOMEM, PM_NO_OFFSET, "no memory for the names");
	return i == PM_NONE ? 0 : i;
}

/* The number of a node's id. PM_NONE: not an id. */
static uint32_t number_of(struct reading *t, int64_t id)
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
static bool read_frame_key(struct reading *t, struct pm_bytes key, struct frame *f)
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

static void read_ticks(struct reading *t, struct node *n)
{
	struct pm_bytes key;
	n->first_tick = t->n_ticks;
	if (pm_scan_peek(&t->s) != PM_SCAN_ARRAY) {
		pm_scan_skip(&t->s);
		return;
	}
	pm_scan_enter(&t->s);
	while (pm_scan_item(&t->s)) {
		struct tick tick = {NO_NUMBER, NO_NUMBER};
		if (pm_scan_peek(&t->s) != PM_SCAN_OBJECT) {
			pm_scan_skip(&t->s);
			continue;
		}
		pm_scan_enter(&t->s);
		while (pm_scan_key(&t->s, &key)) {
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

static void read_call_frame(struct reading *t, struct level *l)
{
	struct pm_bytes key;
	if (pm_scan_peek(&t->s) != PM_SCAN_OBJECT) {
		pm_scan_skip(&t->s);
		return;
	}
	l->has_frame = true;
	pm_scan_enter(&t->s);
	while (pm_scan_key(&t->s, &key)) {
		if (is(key, "scriptId"))
			t->nodes[l->node].script = take_text(t);
		else if (!read_frame_key(t, key, &l->frame))
			pm_scan_skip(&t->s);
	}
}

/* The next key of the innermost open node; not its children. */
static void read_node_key(struct reading *t, struct pm_bytes key, struct level *l)
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
		pm_scan_skip(&t->s);
	}
}

static bool same_place(const struct frame *a, const struct frame *b)
{
	return a->name == b->name && a->url == b->url && a->line == b->line;
}

static uint32_t intern_frame(struct reading *t, const struct frame *f)
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
static bool open_node(struct reading *t, uint32_t parent)
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
	return pm_scan_enter(&t->s);
}

/* A node that was cut is taken if it has a frame: what is missing of it is 0. */
static void close_node(struct reading *t)
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
static void read_node(struct reading *t)
{
	struct pm_bytes key;
	open_node(t, PM_NONE);
	while (t->depth > 0 && pm_rec_goes_on(t->r)) {
		struct level *l = &t->levels[t->depth - 1];
		if (l->in_children) {
			l->in_children = pm_scan_item(&t->s);
			if (!l->in_children)
				continue;
			if (pm_scan_peek(&t->s) == PM_SCAN_OBJECT) {
				t->is_old = true;
				open_node(t, l->node);
				continue;
			}
			uint32_t number = number_of(t, take_number(t, 0));
			if (room(t, &t->kids, t->n_kids, &t->kid_room, sizeof(*t->kids)))
				t->kids[t->n_kids++] = (struct kid){l->node, number};
		} else if (!pm_scan_key(&t->s, &key)) {
			/* Of a text that ends in it, only the whole is a node. */
			if (t->s.code && !l->has_frame)
				t->n_frameless--;
			close_node(t);
		} else if (is(key, "children") && pm_scan_peek(&t->s) == PM_SCAN_ARRAY) {
			l->in_children = pm_scan_enter(&t->s);
		} else {
			read_node_key(t, key, l);
		}
	}
}

static void read_nodes(struct reading *t)
{
	t->has_nodes = true;
	if (pm_scan_peek(&t->s) == PM_SCAN_OBJECT) {
		read_node(t);
		return;
	}
	pm_scan_enter(&t->s);
	while (pm_scan_item(&t->s) && pm_rec_goes_on(t->r)) {
		if (pm_scan_peek(&t->s) == PM_SCAN_OBJECT) {
			read_node(t);
			continue;
		}
		pm_rec_damage(t->r, pm_scan_where(&t->s), PM_NO_OFFSET,
			"something that is no node is left out");
		pm_scan_skip(&t->s);
	}
}

/* ---- samples ---- */

static void read_samples(struct reading *t)
{
	if (pm_scan_peek(&t->s) != PM_SCAN_ARRAY || t->has_bytes) {
		pm_scan_skip(&t->s);
		return;
	}
	t->n_samples = 0;
	pm_scan_enter(&t->s);
	while (pm_scan_item(&t->s) && pm_rec_goes_on(t->r)) {
		int64_t id = take_number(t, 0);
		if (t->s.code ||
			!room(t, &t->samples, t->n_samples, &t->sample_room, sizeof(*t->samples)))
			return;
		t->samples[t->n_samples++] = number_of(t, id);
	}
}

static void read_times(struct reading *t, bool absolute)
{
	if (pm_scan_peek(&t->s) != PM_SCAN_ARRAY) {
		pm_scan_skip(&t->s);
		return;
	}
	t->n_times = 0;
	t->absolute = absolute;
	pm_scan_enter(&t->s);
	while (pm_scan_item(&t->s) && pm_rec_goes_on(t->r)) {
		int64_t ns = take_number(t, US);
		if (t->s.code || !room(t, &t->times, t->n_times, &t->time_room, sizeof(ns)))
			return;
		t->times[t->n_times++] = ns;
	}
}

/* ---- contexts ---- */

static bool is_root(const struct reading *t, const struct node *n)
{
	return n->parent == PM_NONE && n->frame != PM_NONE &&
		is(t->texts.items[t->frames[n->frame].name], "(root)");
}

static int frame_order(const void *a, const void *b, void *context)
{
	const struct reading *t = context;
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
static void make_functions(struct reading *t)
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
static void settle_parents(struct reading *t)
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
	if (n_absent && !t->s.code)
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

static uint32_t context_below(struct reading *t, const struct node *n, uint32_t parent)
{
	if (n->frame == PM_NONE || is_root(t, n))
		return parent;
	const struct frame *f = &t->frames[n->frame];
	bool idle = is(t->texts.items[f->name], "(idle)") && t->texts.items[f->url].len == 0;
	return pm_rec_call(t->r, parent, f->function, idle ? PM_REC_IDLE : 0);
}

/* Parents before their children, without recursion. */
static void make_contexts(struct reading *t)
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
static uint32_t place_of(struct reading *t, const struct node *n)
{
	if (n->context != PM_REC_NONE)
		return n->context;
	if (t->no_stack == PM_REC_NONE)
		t->no_stack = pm_rec_placeholder(t->r, PM_REC_NONE, "(no stack)");
	return t->no_stack;
}

/* Hits of a node, those of its lines on them. */
static void add_hits(struct reading *t, const struct node *n)
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

static void add_costs(struct reading *t)
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
static struct moment *make_moments(struct reading *t, size_t *ret_n, bool *ret_cut)
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
	if (t->n_samples != t->n_times - lead && !t->s.code)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"there are %zu samples, but times of %zu", t->n_samples, t->n_times - lead);
	return moments;
}

/* A sample lasts until the next one, the last one until the end. */
static void add_samples(struct reading *t)
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
		uint64_t ns = PM_NO_TIME;
		int64_t end = i + 1 < n ? moments[i + 1].ns : t->end;
		if (i + 1 < n || (end != NO_NUMBER && !cut))
			ns = end > moments[i].ns ? (uint64_t)end - (uint64_t)moments[i].ns : 0;
		if (moments[i].node == PM_NONE) {
			t->n_lost++;
			continue;
		}
		struct node *node = &t->nodes[moments[i].node];
		if (ns != PM_NO_TIME && __builtin_add_overflow(node->ns, ns, &node->ns))
			pm_rec_fail(t->r, -ENOTSUP, PM_NO_OFFSET, "times leave 63 bits");
		pm_rec_sample(t->r, t->thread, (uint64_t)moments[i].ns - (uint64_t)shift, ns,
			place_of(t, node));
	}
	if (t->n_lost)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu samples of nodes that are not there, or without a time, are left out",
			(unsigned long long)t->n_lost);
	free(moments);
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

static void keep_nodes(struct reading *t)
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

/* ---- the file ---- */

/* CPU.DATE.TIME.PID.TID.SEQ.cpuprofile, as node names them. */
static uint32_t add_thread(struct pm_recording *r)
{
	unsigned pid, tid;
	int n = 0;
	const char *name = pm_rec_file(r);
	if (sscanf(name, "CPU.%*[0-9].%*[0-9].%9u.%9u.%*[0-9].cpuprofile%n", &pid, &tid, &n) >= 2 &&
		n > 0) {
		struct pm_rec_key keys[] = {{"process", pid, {0}}, {"thread", tid, {0}}};
		return pm_rec_thread(r, keys, 2, (struct pm_bytes){0});
	}
	struct pm_rec_key key = {"thread", 1, {0}};
	return pm_rec_thread(r, &key, 1, (struct pm_bytes){0});
}

static void read_profile(struct reading *t)
{
	struct pm_bytes key;
	int64_t start = NO_NUMBER, end = NO_NUMBER;
	pm_scan_enter(&t->s);
	while (pm_scan_key(&t->s, &key) && pm_rec_goes_on(t->r)) {
		enum pm_scan_kind kind = pm_scan_peek(&t->s);
		bool nodes = (is(key, "nodes") && kind == PM_SCAN_ARRAY) ||
			(is(key, "head") && kind == PM_SCAN_OBJECT);
		if (nodes && !t->has_nodes)
			read_nodes(t);
		else if (is(key, "samples"))
			read_samples(t);
		else if (is(key, "timeDeltas") || is(key, "timestamps"))
			read_times(t, is(key, "timestamps"));
		else if (is(key, "startTime"))
			start = take_number(t, US);
		else if (is(key, "endTime"))
			end = take_number(t, US);
		else
			pm_scan_skip(&t->s);
	}
	/* Beside timestamps these are seconds. */
	int64_t unit = t->absolute ? 1000000 : 1;
	t->start = t->end = NO_NUMBER;
	if (start != NO_NUMBER && __builtin_mul_overflow(start, unit, &t->start))
		t->start = NO_NUMBER;
	if (end != NO_NUMBER && __builtin_mul_overflow(end, unit, &t->end))
		t->end = NO_NUMBER;
}

/* One quantity for all files of the source. */
static uint32_t metric(struct pm_recording *r, const char *name, const char *unit)
{
	uint32_t known = pm_rec_known_metric(r, name);
	return known != PM_REC_NONE ? known
				    : pm_rec_metric(r, pm_bytes_of(name), pm_bytes_of(unit));
}

static void make_profile(struct reading *t)
{
	struct pm_recording *r = t->r;
	bool timed = t->n_samples > 0 && t->n_times > 0 && !t->has_bytes;
	t->thread = t->has_bytes ? PM_REC_NONE : add_thread(r);
	t->no_stack = PM_REC_NONE;
	if (timed)
		t->time = metric(r, "time", "ns");
	if (t->has_hits && !t->has_bytes)
		t->hits = metric(r, "hits", "");
	if (t->has_bytes)
		t->size = pm_rec_metric(r, pm_bytes_of("size"), pm_bytes_of("bytes"));
	if (t->n_samples > 0 && t->n_times == 0 && !t->has_bytes && !t->s.code)
		pm_rec_damage(r, PM_NO_OFFSET, PM_NO_OFFSET, "there are %zu samples, but no times",
			t->n_samples);
	settle_parents(t);
	make_functions(t);
	make_contexts(t);
	if (timed)
		add_samples(t);
	add_costs(t);
	keep_nodes(t);
	pm_rec_layout(r, t->has_bytes ? "heap" : t->is_old ? "nested nodes" : "list of nodes");
}

static int read(struct pm_recording *r, struct pm_error *err)
{
	struct reading *t = calloc(1, sizeof(*t));
	if (!t)
		return pm_error_plain(err, -ENOMEM);
	t->r = r;
	t->texts.arena = &t->arena;
	if (pm_strtab_add(&t->texts, (struct pm_bytes){0}) != 0) /* 0: none */
		pm_rec_fail(r, -ENOMEM, PM_NO_OFFSET, "no memory for the names");
	t->s = pm_rec_json(r);
	read_profile(t);
	bool failed = !pm_rec_json_ends(r, &t->s);
	int e = 0;
	if (!failed && t->n_frames == 0)
		e = pm_error_set(err, -EINVAL, pm_rec_file(r), pm_scan_where(&t->s),
			"is no profile of V8: it has no nodes with functions");
	else if (!failed)
		make_profile(t);
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
	return e;
}

/* ---- the format ---- */

static const struct pm_reader reader = {
	.contexts_are = "samples",
	.layout = "list of nodes",
	.read = read,
};

/* Whether a list of nodes, or a node, begins like V8's: with a function. */
static bool has_function(struct pm_scan s)
{
	struct pm_bytes key;
	if (pm_scan_peek(&s) == PM_SCAN_ARRAY && (!pm_scan_enter(&s) || !pm_scan_item(&s)))
		return false;
	if (pm_scan_peek(&s) != PM_SCAN_OBJECT || !pm_scan_enter(&s))
		return false;
	while (pm_scan_key(&s, &key)) {
		if (is(key, "callFrame") || is(key, "functionName"))
			return true;
		if (!pm_scan_skip(&s))
			return false;
	}
	return false;
}

/* The process whose profiles a folder has. */
struct process {
	unsigned pid;
	bool known;
};

/* The names that node gives to the profiles of one process's threads. */
static int is_of_process(void *context, int folder, const char *name)
{
	struct process *p = context;
	unsigned pid;
	int n = 0;
	(void)folder;
	if (sscanf(name, "CPU.%*[0-9].%*[0-9].%9u.%*9u.%*[0-9].cpuprofile%n", &pid, &n) != 1 ||
		n == 0 || name[n] || (p->known && pid != p->pid))
		return -1;
	*p = (struct process){pid, true};
	return 1;
}

static int list_files(int folder, struct pm_names *ret)
{
	return pm_folder_names(
		folder, is_of_process, &(struct process){.known = false}, PM_LIMIT_RUNS, ret);
}

static int probe(const struct pm_candidate *c)
{
	struct pm_scan s = pm_scan_of(c->text);
	struct pm_names files = {.n = 0};
	struct pm_bytes key;
	if (c->folder)
		return pm_rec_probe_files(list_files(c->fd, &files), &files);
	if (pm_scan_peek(&s) != PM_SCAN_OBJECT || !pm_scan_enter(&s))
		return PM_PROBE_NO;
	while (pm_scan_key(&s, &key)) {
		if ((is(key, "nodes") || is(key, "head")) && has_function(s))
			return PM_PROBE_CERTAIN;
		if (!pm_scan_skip(&s))
			break;
	}
	bool named = strstr(c->path, ".cpuprofile") || strstr(c->path, ".heapprofile");
	return named && s.cut ? PM_PROBE_BY_CONTENT : PM_PROBE_NO;
}

static int open_source(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	struct pm_names names = {.n = 0};
	if (!c->folder)
		return pm_rec_open(&reader, c, options, ret, err);
	int e = list_files(c->fd, &names);
	if (e == 0 && (names.n == 0 || names.others))
		e = pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET,
			"is no folder of profiles of one process "
			"(CPU.DATE.TIME.PID.TID.SEQ.cpuprofile)");
	if (e == 0)
		e = pm_rec_open_with(&reader, c, options,
			&(struct pm_rec_with){
				.names = (const char *const *)names.items, .n_names = names.n},
			ret, err);
	pm_names_done(&names);
	return pm_error_plain(err, e);
}

const struct pm_format cpup_format = {
	.name = "cpuprofile",
	.summary = "V8: .cpuprofile of node, Chrome, Deno and others, old and new; .heapprofile",
	.probe = probe,
	.open = open_source,
	.close = pm_rec_close,
};
