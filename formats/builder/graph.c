/*
 * Graphs of calls without call paths: contexts are functions, and below each what it called. The
 * inclusive cost of a function is its own and what passes through its calls of other functions.
 * Where functions call one another in a circle, that cost is known only of all of them together:
 * each circle becomes a context of its own, `<cycle N>`.
 */
#include <math.h>
#include <stdio.h>

#include "formats/builder/recording.h"
#include "formats/common/sort.h"

enum { BETWEEN_QUESTIONS = 1 << 14 };

/* While circles are looked for: everything by function. */
struct search {
	struct pm_recording *r;
	struct pm_arena *scratch;
	uint32_t n;       /* functions */
	uint32_t n_told;  /* paths, without those of circles */
	uint32_t *around; /* by path: the function that it is, or lies in */
	uint32_t *first;  /* calls of a function, n + 1 places in `to` */
	uint32_t *to;
	/* Tarjan's algorithm, with a stack of its own. */
	uint32_t *order, *low, *stack, *path, *next;
	uint32_t *circle; /* the circle of a function, from 0; PM_NONE: in none */
	uint32_t n_circles;
};

static bool is_edge(const struct pm_recording *r, uint32_t path)
{
	return r->paths.items[path].parent != PM_NONE &&
		pm_tree_interned(r->tree, r->paths.items[path].key)->kind == PM_KIND_FUNCTION;
}

/* ---- who calls whom ---- */

static void prepare(struct search *s)
{
	const struct pm_recording *r = s->r;
	uint32_t n_paths = r->paths.n;
	size_t n = s->n = (uint32_t)r->n_functions;
	s->around = pm_arena_array(s->scratch, n_paths, sizeof(*s->around));
	s->first = pm_arena_array(s->scratch, n + 2, sizeof(*s->first));
	s->to = pm_arena_array(s->scratch, n_paths, sizeof(*s->to));
	s->order = pm_arena_array(s->scratch, n, sizeof(*s->order));
	s->low = pm_arena_array(s->scratch, n, sizeof(*s->low));
	s->stack = pm_arena_array(s->scratch, n, sizeof(*s->stack));
	s->path = pm_arena_array(s->scratch, n, sizeof(*s->path));
	s->next = pm_arena_array(s->scratch, n, sizeof(*s->next));
	s->circle = pm_arena_array(s->scratch, n, sizeof(*s->circle));
	for (uint32_t i = 0; i < n_paths; i++) {
		uint32_t function = pm_tree_interned(r->tree, r->paths.items[i].key)->function;
		uint32_t parent = r->paths.items[i].parent;
		s->around[i] =
			function != PM_NONE || parent == PM_NONE ? function : s->around[parent];
		if (is_edge(r, i))
			s->first[s->around[parent] + 2]++;
	}
	for (size_t i = 2; i < n + 2; i++)
		s->first[i] += s->first[i - 1];
	for (uint32_t i = 0; i < n_paths; i++)
		if (is_edge(r, i))
			s->to[s->first[s->around[r->paths.items[i].parent] + 1]++] = s->around[i];
}

/* ---- circles ---- */

/* Everything above `function` on the stack, and it, call one another; alone it is no circle. */
static void close_circle(struct search *s, uint32_t function, uint32_t *n_stack)
{
	bool alone = s->stack[*n_stack - 1] == function;
	uint32_t member;
	do {
		member = s->stack[--*n_stack];
		s->circle[member] = alone ? PM_NONE : s->n_circles;
		s->order[member] = PM_NONE; /* done */
	} while (member != function);
	s->n_circles += !alone;
}

static void find_from(struct search *s, uint32_t start, uint32_t *counter)
{
	uint32_t n_stack = 0, depth = 0;
	s->path[depth++] = start;
	s->order[start] = s->low[start] = ++*counter;
	s->next[start] = s->first[start];
	s->stack[n_stack++] = start;
	while (depth > 0) {
		uint32_t at = s->path[depth - 1];
		if (s->next[at] < s->first[at + 1]) {
			uint32_t callee = s->to[s->next[at]++];
			if (s->order[callee] == 0) {
				s->path[depth++] = callee;
				s->order[callee] = s->low[callee] = ++*counter;
				s->next[callee] = s->first[callee];
				s->stack[n_stack++] = callee;
			} else if (s->order[callee] < s->low[at]) {
				s->low[at] = s->order[callee];
			}
			continue;
		}
		uint32_t low = s->low[at];
		if (low == s->order[at])
			close_circle(s, at, &n_stack);
		if (--depth > 0 && low < s->low[s->path[depth - 1]])
			s->low[s->path[depth - 1]] = low;
	}
}

/* ---- circles as contexts ---- */

struct ring {
	double own; /* of the leading quantity */
	uint32_t circle, function, context;
};

static int heaviest_first(const void *a, const void *b)
{
	const struct ring *x = a, *y = b;
	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	return (x->circle > y->circle) - (x->circle < y->circle);
}

/* The circles, in the order of their numbers; a context each. */
static struct ring *make_rings(struct search *s)
{
	struct pm_recording *r = s->r;
	uint32_t leading = r->primary == PM_NONE ? 0 : r->primary;
	struct ring *rings = pm_arena_array(s->scratch, s->n_circles, sizeof(*rings));
	for (uint32_t i = 0; i < s->n_circles; i++)
		rings[i].circle = i;
	for (size_t i = 0; i < r->n_cells; i++) {
		const struct pm_rec_cell *c = &r->cells[i];
		uint32_t function = s->around[c->context];
		if (c->quantity == leading && function != PM_NONE && s->circle[function] != PM_NONE)
			rings[s->circle[function]].own +=
				r->quantities[leading].real ? c->f : (double)c->i;
	}
	pm_build_check(s->scratch, pm_sort(rings, s->n_circles, sizeof(*rings), heaviest_first));
	for (uint32_t i = 0; i < s->n_circles; i++) {
		char name[32];
		snprintf(name, sizeof(name), "<cycle %u>", i + 1);
		rings[i].function =
			pm_rec_function(r, &(struct pm_rec_function){.name = pm_bytes_of(name)});
		rings[i].context = pm_rec_call(r, PM_REC_NONE, rings[i].function, 0);
	}
	return rings;
}

/* Which functions are in which circle, for those who ask later. */
static void keep_circles(struct search *s, const struct ring *rings)
{
	struct pm_recording *r = s->r;
	uint32_t *rank = pm_arena_array(s->scratch, s->n_circles, sizeof(*rank));
	r->circle_of = pm_arena_array(&r->arena, r->n_functions, sizeof(*r->circle_of));
	r->circles = pm_arena_array(&r->arena, s->n_circles, sizeof(*r->circles));
	r->n_circles = s->n_circles;
	for (uint32_t i = 0; i < s->n_circles; i++) {
		rank[rings[i].circle] = i;
		r->circles[i] = rings[i].function;
	}
	for (size_t i = 0; i < r->n_functions; i++)
		r->circle_of[i] =
			i < s->n && s->circle[i] != PM_NONE ? rank[s->circle[i]] : PM_NONE;
}

/* What the members cost themselves, and what passes through their calls of others. */
static void sum_rings(struct search *s, const struct ring *rings)
{
	struct pm_recording *r = s->r;
	uint32_t *context_of = pm_arena_array(s->scratch, s->n_circles, sizeof(*context_of));
	for (uint32_t i = 0; i < s->n_circles; i++)
		context_of[rings[i].circle] = rings[i].context;
	for (size_t i = 0, n = r->n_cells; i < n && pm_rec_goes_on(r); i++) {
		struct pm_rec_cell c = r->cells[i];
		uint32_t quantity = c.quantity & ~PM_REC_THROUGH, function = s->around[c.context];
		bool through = c.quantity & PM_REC_THROUGH;
		uint32_t parent = r->paths.items[c.context].parent;
		uint32_t spender = through ? s->around[parent] : function;
		if (r->quantities[quantity].count || spender == PM_NONE ||
			s->circle[spender] == PM_NONE ||
			(through && s->circle[function] == s->circle[spender]))
			continue;
		pm_rec_add_cell(r, c.thread, context_of[s->circle[spender]], &c);
	}
}

/* ---- what is known of a context ---- */

static void mark_contexts(struct search *s)
{
	struct pm_recording *r = s->r;
	uint8_t *known = r->known_of = pm_arena_zeroed(&r->arena, r->paths.n, 1);
	for (uint32_t i = 0; i < r->paths.n; i++) {
		uint32_t parent = r->paths.items[i].parent;
		uint32_t function = i < s->n_told ? s->around[i] : PM_NONE;
		if (i >= s->n_told) { /* a circle */
			known[i] = PM_REC_NO_OWN;
		} else if (is_edge(r, i)) {
			uint32_t caller = s->around[parent];
			bool within = s->circle[function] != PM_NONE &&
				s->circle[function] == s->circle[caller];
			known[i] =
				PM_REC_NO_OWN | (within || function == caller ? PM_REC_APART : 0);
		} else if (parent == PM_NONE && function != PM_NONE &&
			s->circle[function] != PM_NONE) {
			known[i] = PM_REC_NO_INCL;
		}
	}
}

void pm_rec_graph(struct pm_recording *r)
{
	struct search s = {.r = r, .scratch = pm_arena_scratch(&r->arena), .n_told = r->paths.n};
	uint32_t counter = 0;
	prepare(&s);
	for (uint32_t i = 0; i < s.n; i++) {
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(s.scratch);
		if (s.order[i] == 0)
			find_from(&s, i, &counter);
	}
	const struct ring *rings = make_rings(&s);
	sum_rings(&s, rings);
	pm_build_check(s.scratch, r->failed);
	keep_circles(&s, rings);
	mark_contexts(&s);
	pm_arena_done(s.scratch);
}

/* ---- flat costs ---- */

struct flat_part {
	struct pm_flat flat;
	struct pm_edges edges;
	struct pm_cycles cycles;
};

static pm_number value_at(const struct pm_rec_opened *o, uint32_t context, uint32_t metric)
{
	const struct pm_rec_whole *w = &o->whole;
	const union pm_rec_number *v = &w->sums[metric][context];
	if (!pm_rec_is_known(&o->recording, context, metric))
		return NAN;
	return w->real[metric] ? v->f : (pm_number)v->i;
}

static bool is_count(const struct pm_rec_opened *o, uint32_t metric)
{
	return o->recording.quantities[metric / PM_REC_N].count;
}

/* The call edge that a context is, and its row of values. */
static void fill_edge(
	const struct pm_rec_opened *o, uint32_t context, struct pm_edge *edge, pm_number *values)
{
	const struct pm_tree *tree = o->whole.tree;
	uint32_t site = tree->parent[context], caller = site;
	const struct pm_frame *place = pm_tree_frame(tree, site);
	if (place->kind == PM_KIND_LINE)
		caller = tree->parent[site];
	*edge = (struct pm_edge){.caller = pm_tree_frame(tree, caller)->function,
		.callee = pm_tree_frame(tree, context)->function};
	if (place->kind == PM_KIND_LINE) {
		edge->file = place->file;
		edge->line = place->line;
	}
	for (uint32_t k = 0; k < o->whole.metrics.n; k++) {
		uint32_t metric = o->whole.metric_list[k].id;
		values[k] = is_count(o, metric) ? NAN : value_at(o, context, metric);
		if (is_count(o, metric) && metric % PM_REC_N == PM_REC_EXCL)
			edge->calls += (uint64_t)value_at(o, context, metric);
	}
}

/* Costs of functions are those of their contexts at the top, their calls those of all edges. */
static void fill_functions(const struct pm_rec_opened *o, pm_number *values)
{
	const struct pm_tree *tree = o->whole.tree;
	uint32_t n = o->whole.metrics.n;
	for (size_t i = 0; i < (size_t)tree->n_functions * n; i++) {
		uint32_t metric = o->whole.metric_list[i % n].id;
		values[i] = metric % PM_REC_N == PM_REC_INCL || is_count(o, metric) ? NAN : 0;
	}
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t function = pm_tree_frame(tree, i)->function;
		for (uint32_t k = 0; k < n && function != PM_NONE; k++) {
			uint32_t metric = o->whole.metric_list[k].id;
			pm_number *to = &values[(size_t)function * n + k],
				  v = value_at(o, i, metric);
			if (is_count(o, metric))
				*to = v > 0 ? (isnan(*to) ? v : *to + v) : *to;
			else if (tree->parent[i] == PM_NONE)
				*to = v;
		}
	}
}

struct member {
	double own; /* of the leading quantity */
	uint32_t circle, function;
};

static int by_circle_heaviest_first(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->circle != y->circle)
		return x->circle < y->circle ? -1 : 1;
	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static struct pm_cycles list_cycles(
	struct pm_arena *a, const struct pm_rec_opened *o, const pm_number *function_values)
{
	const struct pm_recording *r = &o->recording;
	uint32_t n = 0, k = 0, metrics = o->whole.metrics.n, leads = o->whole.metrics.leads;
	struct member *members = pm_arena_zeroed(a, r->n_functions, sizeof(*members));
	uint32_t *functions = pm_arena_array(a, r->n_functions, sizeof(*functions));
	uint32_t *first = pm_arena_array(a, (size_t)r->n_circles + 1, sizeof(*first));
	while (k + 1 < metrics &&
		o->whole.metric_list[k].id != (leads ? leads - 1 : 0) * PM_REC_N + PM_REC_EXCL)
		k++;
	for (uint32_t i = 0; i < r->n_functions; i++)
		if (r->circle_of[i] != PM_NONE)
			members[n++] = (struct member){
				function_values[(size_t)i * metrics + k], r->circle_of[i], i};
	pm_build_check(a, pm_sort(members, n, sizeof(*members), by_circle_heaviest_first));
	for (uint32_t i = 0; i < n; i++) {
		functions[i] = members[i].function;
		first[members[i].circle + 1] = i + 1;
	}
	pm_arena_free(a, members);
	return (struct pm_cycles){r->n_circles, r->circles, first, functions};
}

static void flat_build(struct pm_arena *a, void *owner, void *built, struct pm_error *err)
{
	struct pm_rec_opened *o = owner;
	struct flat_part *part = built;
	const struct pm_tree *tree = o->whole.tree;
	uint32_t n = o->whole.metrics.n;
	(void)err;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		part->edges.n += tree->parent[i] != PM_NONE &&
			pm_tree_frame(tree, i)->kind == PM_KIND_FUNCTION;
	struct pm_edge *list = pm_arena_array(a, part->edges.n, sizeof(*list));
	pm_number *values = pm_arena_array(a, part->edges.n, n * sizeof(*values));
	pm_number *functions = pm_arena_array(a, tree->n_functions, n * sizeof(*functions));
	uint64_t at = 0;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		if (tree->parent[i] != PM_NONE &&
			pm_tree_frame(tree, i)->kind == PM_KIND_FUNCTION) {
			fill_edge(o, i, &list[at], values + at * n);
			at++;
		}
	fill_functions(o, functions);
	part->edges.edges = list;
	part->edges.values = values;
	part->cycles = list_cycles(a, o, functions);
	part->flat = (struct pm_flat){.edges = &part->edges,
		.functions = functions,
		.cycles = o->recording.n_circles ? &part->cycles : NULL};
	o->parts.flat.it = &part->flat;
}

int pm_rec_graph_flat(void *opened, struct pm_error *err)
{
	struct pm_rec_opened *o = opened;
	static const struct pm_part_type type = {
		.size = sizeof(struct flat_part), .build = flat_build, .what = "call edges"};
	return pm_part_build(&o->flat, &type, o, err);
}
