/* What was read of V8's nodes and samples becomes contexts, costs, samples or calls. */
#include <stdio.h>
#include <string.h>

#include "formats/builder/v8_private.h"
#include "formats/common/sort.h"

struct moment {
	int64_t ns;
	uint32_t node; /* PM_NONE: one that is not there */
};

static bool is(struct pm_bytes key, const char *name)
{
	return pm_bytes_equal(key, pm_bytes_of(name));
}

/* ---- contexts ---- */

static int frame_order(const void *a, const void *b, void *context)
{
	const struct pm_v8 *t = context;
	const struct pm_v8_frame *f = &t->frames[*(const uint32_t *)a];
	const struct pm_v8_frame *g = &t->frames[*(const uint32_t *)b];
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
	uint32_t *order = pm_arena_realloc(t->arena, NULL, t->n_frames * sizeof(*order));
	for (size_t i = 0; i < t->n_frames; i++)
		order[i] = (uint32_t)i;
	pm_build_check(t->arena, pm_sort_with(order, t->n_frames, sizeof(*order), frame_order, t));
	for (size_t i = 0; i < t->n_frames; i++) {
		struct pm_v8_frame *f = &t->frames[order[i]];
		bool shared = (i > 0 && pm_v8_same_place(f, &t->frames[order[i - 1]])) ||
			(i + 1 < t->n_frames && pm_v8_same_place(f, &t->frames[order[i + 1]]));
		pm_rec_proceed(t->r, t->arena);
		pm_text_clear(&t->scratch);
		pm_text_bytes(&t->scratch, t->texts.items[f->name]);
		if (t->scratch.len == 0)
			pm_text_str(&t->scratch, "(anonymous)");
		if (shared)
			pm_text_printf(&t->scratch, "@%u", f->column);
		f->function = pm_rec_function(t->r,
			&(struct pm_rec_function){.name = pm_text_view(&t->scratch),
				.file = t->texts.items[f->url],
				.line = f->line});
	}
	pm_arena_free(t->arena, order);
}

/* Parents as nodes list them; the first one holds. */
static void settle_parents(struct pm_v8 *t)
{
	size_t n_absent = 0, n_twice = 0;
	for (size_t i = 0; i < t->n_children; i++) {
		pm_rec_proceed(t->r, t->arena);
		uint32_t number = t->children[i].number;
		uint32_t child = number == PM_NONE ? PM_NONE : t->node_of[number];
		n_absent += child == PM_NONE;
		n_twice += child != PM_NONE && t->nodes[child].parent != PM_NONE;
		if (child != PM_NONE && t->nodes[child].parent == PM_NONE)
			t->nodes[child].parent = t->children[i].parent;
	}
	for (size_t i = 0; i < t->n_nodes; i++) {
		struct pm_v8_node *n = &t->nodes[i];
		pm_rec_proceed(t->r, t->arena);
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

static uint32_t context_below(struct pm_v8 *t, const struct pm_v8_node *n, uint32_t parent)
{
	if (n->frame == PM_NONE)
		return parent;
	const struct pm_v8_frame *f = &t->frames[n->frame];
	struct pm_bytes name = t->texts.items[f->name];
	if (n->parent == PM_NONE && is(name, "(root)"))
		return parent;
	bool idle = is(name, "(idle)") && t->texts.items[f->url].len == 0;
	return pm_rec_call(t->r, parent, f->function, idle ? PM_REC_IDLE : 0);
}

/* Parents before their children, without recursion. */
static void make_contexts(struct pm_v8 *t)
{
	uint32_t *path = pm_arena_realloc(t->arena, NULL, t->n_nodes * sizeof(*path));
	size_t n_cycles = 0;
	for (size_t i = 0; i < t->n_nodes; i++) {
		size_t depth = 0;
		pm_rec_proceed(t->r, t->arena);
		uint32_t at = (uint32_t)i, above = PM_REC_NONE;
		while (at != PM_NONE && t->nodes[at].state == PM_V8_UNSEEN) {
			t->nodes[at].state = PM_V8_ON_PATH;
			path[depth++] = at;
			at = t->nodes[at].parent;
		}
		if (at != PM_NONE && t->nodes[at].state == PM_V8_ON_PATH) {
			t->nodes[path[depth - 1]].parent = PM_NONE;
			n_cycles++;
		} else if (at != PM_NONE) {
			above = t->nodes[at].context;
		}
		while (depth > 0) {
			struct pm_v8_node *n = &t->nodes[path[--depth]];
			n->context = above = context_below(t, n, above);
			n->state = PM_V8_DONE;
		}
	}
	if (n_cycles)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%zu nodes are among their own ancestors: they are at the top", n_cycles);
	pm_arena_free(t->arena, path);
}

/* ---- costs ---- */

/* Where samples of a node lie: the root's have no stack. */
static uint32_t place_of(struct pm_v8 *t, const struct pm_v8_node *n)
{
	if (n->context != PM_REC_NONE)
		return n->context;
	if (t->no_stack == PM_REC_NONE)
		t->no_stack = pm_rec_placeholder(t->r, PM_REC_NONE, "(no stack)");
	return t->no_stack;
}

/* Hits of a node, those of its lines on them. Adds up the ticks of lines that are no hits of it. */
static void add_hits(struct pm_v8 *t, const struct pm_v8_node *n, uint64_t *lost)
{
	int64_t rest = n->hits != PM_V8_NO_NUMBER ? n->hits : 0;
	for (size_t i = 0; i < n->n_ticks; i++) {
		const struct pm_v8_tick *tick = &t->ticks[n->first_tick + i];
		int64_t ticks = rest <= 0 ? 0 : tick->ticks < rest ? tick->ticks : rest;
		rest -= ticks;
		*lost += (uint64_t)(tick->ticks - ticks);
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
	uint64_t lost = 0;
	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct pm_v8_node *n = &t->nodes[i];
		pm_rec_proceed(t->r, t->arena);
		if (n->frame == PM_NONE)
			continue;
		if (n->ns != 0)
			pm_rec_cost(t->r, t->thread, place_of(t, n), t->time, n->ns);
		if (t->has_bytes && n->bytes != PM_V8_NO_NUMBER && n->bytes != 0)
			pm_rec_cost(t->r, t->thread, place_of(t, n), t->size, n->bytes);
		if (!t->has_bytes)
			add_hits(t, n, &lost);
	}
	if (lost)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu ticks of lines are more than their function has hits: these are left out",
			(unsigned long long)lost);
}

/* ---- times ---- */

static int moment_order(const void *a, const void *b)
{
	const struct moment *m = a, *n = b;
	return (m->ns > n->ns) - (m->ns < n->ns);
}

/* In place: samples become nodes, PM_NONE if there is none, and times sums. */
static void make_moments(struct pm_v8 *t)
{
	bool first_is_start = t->absolute && t->n_times == t->n_samples + 1;
	size_t lead = first_is_start, n = t->n_times - lead;
	n = n < t->n_samples ? n : t->n_samples;
	int64_t now = t->start == PM_V8_NO_NUMBER ? 0 : t->start, before = INT64_MIN;
	bool sorted = true;
	if (first_is_start && t->times[0] != PM_V8_NO_NUMBER)
		t->start = t->times[0];
	for (size_t i = 0; i < n; i++) {
		pm_rec_proceed(t->r, t->arena);
		int64_t time = t->times[i + lead];
		uint32_t number = t->samples[i];
		if (time == PM_V8_NO_NUMBER ||
			__builtin_add_overflow(t->absolute ? 0 : now, time, &now)) {
			t->n_lost++;
			continue;
		}
		sorted = sorted && before <= now;
		before = now;
		t->times[t->n_moments] = now;
		t->samples[t->n_moments++] = number == PM_NONE ? PM_NONE : t->node_of[number];
	}
	if (!sorted) {
		/* Samples that go back in time are put into its order. */
		struct moment *moments =
			pm_arena_realloc(t->arena, NULL, t->n_moments * sizeof(*moments));
		for (size_t i = 0; i < t->n_moments; i++)
			moments[i] = (struct moment){t->times[i], t->samples[i]};
		pm_build_check(
			t->arena, pm_sort(moments, t->n_moments, sizeof(*moments), moment_order));
		for (size_t i = 0; i < t->n_moments; i++) {
			t->times[i] = moments[i].ns;
			t->samples[i] = moments[i].node;
		}
		pm_arena_free(t->arena, moments);
	}
	t->ends_unknown = n < t->n_samples;
	if (t->n_samples != t->n_times - lead && !t->cut)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"there are %zu samples, but times of %zu", t->n_samples, t->n_times - lead);
}

/* ---- samples as they are ---- */

/* A sample lasts until the next one, the last one until the end. PM_NO_TIME: not known. */
static uint64_t length_of(const struct pm_v8 *t, size_t i)
{
	bool last = i + 1 == t->n_moments;
	int64_t end = last ? t->end : t->times[i + 1];
	if (last && (end == PM_V8_NO_NUMBER || t->ends_unknown))
		return PM_NO_TIME;
	return end > t->times[i] ? (uint64_t)end - (uint64_t)t->times[i] : 0;
}

/* The node of a sample, to which its time is added; NULL: it is lost. */
static struct pm_v8_node *take_moment(struct pm_v8 *t, size_t i, uint64_t ns)
{
	struct pm_v8_node *node = t->samples[i] == PM_NONE ? NULL : &t->nodes[t->samples[i]];
	if (!node)
		t->n_lost++;
	else if (ns != PM_NO_TIME && __builtin_add_overflow(node->ns, ns, &node->ns))
		pm_rec_fail(t->r, -ENOTSUP, PM_NO_OFFSET, "times leave 63 bits");
	return node;
}

/* Samples and times are needed no more. */
static void end_moments(struct pm_v8 *t)
{
	if (t->n_lost)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu samples of nodes that are not there, or without a time, are left out",
			(unsigned long long)t->n_lost);
	pm_arena_free(t->arena, t->samples);
	pm_arena_free(t->arena, t->times);
}

static void add_samples(struct pm_v8 *t)
{
	make_moments(t);
	int64_t first = t->n_moments > 0 ? t->times[0] : 0, origin = t->start;
	if (origin == PM_V8_NO_NUMBER || (t->n_moments > 0 && first < origin))
		origin = first;
	int64_t shift = origin < 0 ? origin : 0; /* times are not negative */
	pm_rec_origin(t->r, (uint64_t)origin - (uint64_t)shift);
	enum { AHEAD = 16 }; /* millions of samples are of nodes anywhere in memory */
	for (size_t i = 0; i < t->n_moments; i++) {
		uint64_t ns = length_of(t, i);
		pm_rec_proceed(t->r, t->arena);
		if (i + AHEAD < t->n_moments && t->samples[i + AHEAD] != PM_NONE)
			__builtin_prefetch(&t->nodes[t->samples[i + AHEAD]].ns, 1);
		struct pm_v8_node *node = take_moment(t, i, ns);
		if (node)
			pm_rec_sample(t->r, t->thread, (uint64_t)t->times[i] - (uint64_t)shift, ns,
				place_of(t, node));
	}
	end_moments(t);
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

/* A sample of a node begins; NULL: of none. False if there are too many levels. */
static bool visit(struct pm_v8 *t, struct visits *v, const struct pm_v8_node *node, int64_t now)
{
	size_t depth = 0, same = 0;
	for (const struct pm_v8_node *at = node; at; depth++) {
		if (v->budget-- == 0)
			return false;
		pm_rec_proceed(t->r, t->arena);
		pm_items_grow(t->arena, &v->path, depth, &v->path_room, sizeof(*v->path));
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
		pm_items_grow(t->arena, &v->items, v->n, &v->room, sizeof(*v->items));
		pm_items_grow(t->arena, &v->open, v->n_open, &v->open_room, sizeof(*v->open));
		v->items[v->n] = (struct visit){
			.start = now, .end = now, .context = v->path[depth - 1 - same]};
		v->open[v->n_open++] = (uint32_t)v->n++;
	}
	return true;
}

static void add_visits(struct pm_v8 *t, const struct pm_v8_calls *as)
{
	make_moments(t);
	struct visits v = {.budget = (t->n_moments + t->n_nodes) * PM_LIMIT_SAMPLED_LEVELS};
	bool good = true;
	int64_t last = 0;
	uint32_t before = PM_REC_BAD; /* a node, or PM_NONE */
	for (size_t i = 0; i < t->n_moments; i++) {
		uint64_t ns = length_of(t, i);
		pm_rec_proceed(t->r, t->arena);
		if (t->times[i] < 0) {
			t->n_lost++;
			continue;
		}
		const struct pm_v8_node *node = take_moment(t, i, ns);
		if (good && t->samples[i] != before)
			good = visit(t, &v, node, t->times[i]);
		if (good)
			last = t->times[i] + (ns == PM_NO_TIME ? 0 : (int64_t)ns);
		before = t->samples[i];
	}
	close_visits(&v, 0, last);
	for (size_t i = 0; i < v.n; i++) {
		const struct visit *call = &v.items[i];
		int64_t ns = call->end - call->start;
		pm_rec_proceed(t->r, t->arena);
		pm_rec_cost(t->r, t->thread, call->context, as->calls, 1);
		pm_rec_called(t->r, t->thread,
			&(struct pm_rec_called){.time_ns = (uint64_t)call->start + as->base,
				.duration_ns = (uint64_t)ns,
				.self_ns = (uint64_t)(ns - call->below),
				.seq = as->seq,
				.context = call->context});
	}
	if (!good)
		pm_rec_damage(t->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"samples of V8 from %lld ns on are in no trace: their stacks are too deep",
			(long long)last);
	end_moments(t);
	pm_arena_free(t->arena, v.items);
	pm_arena_free(t->arena, v.open);
	pm_arena_free(t->arena, v.path);
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
	return n == PM_V8_NO_NUMBER ? pm_cell_empty() : pm_cell_i64(n);
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
	for (uint32_t i = 0; i < t->texts.n; i++) {
		pm_rec_proceed(t->r, t->arena);
		texts[i] = pm_rec_copy(t->r, t->texts.items[i]);
	}
	for (size_t i = 0; i < t->n_nodes; i++) {
		pm_rec_proceed(t->r, t->arena);
		const struct pm_v8_node *n = &t->nodes[i];
		const struct pm_v8_frame *f = n->frame == PM_NONE ? NULL : &t->frames[n->frame];
		raw[i] = (struct raw_node){.id = n->id,
			.parent = n->parent == PM_NONE ? PM_V8_NO_NUMBER : t->nodes[n->parent].id,
			.hits = n->hits < 0 ? UINT64_MAX : (uint64_t)n->hits,
			.bytes = n->bytes < 0 ? UINT64_MAX : (uint64_t)n->bytes,
			.line = f && f->line ? f->line : UINT64_MAX,
			.column = f && f->column ? f->column : UINT64_MAX,
			.script = texts[n->script],
			.deopt = texts[n->deopt],
			.url = texts[f ? f->url : 0],
			.name = texts[f ? f->name : 0]};
	}
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
	pm_rec_document(t->r, &doc);
}

/* ---- the whole ---- */

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
	if (t->start != PM_V8_NO_NUMBER && __builtin_mul_overflow(t->start, unit, &t->start))
		t->start = PM_V8_NO_NUMBER;
	if (t->end != PM_V8_NO_NUMBER && __builtin_mul_overflow(t->end, unit, &t->end))
		t->end = PM_V8_NO_NUMBER;
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
	for (size_t i = 0; i < t->n_nodes; i++) {
		t->nodes[i].hits = PM_V8_NO_NUMBER;
		t->nodes[i].n_ticks = 0;
	}
	settle(t, as->thread);
	add_visits(t, as);
	add_costs(t);
}
