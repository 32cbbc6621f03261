/*
 * Stacks: the contexts that are frames, and their exclusive costs. All sums take one pass backwards
 * through pre-order, in which a context comes after everything below it.
 *
 * A frame's exclusive cost is its inclusive cost minus that of the frames directly below it, so
 * that exclusive costs add up to the total in every viewer, whatever the database calls exclusive.
 * Independent of viewers' file formats.
 */
#include "fs/views/sums/stacks.h"

#include <math.h>

#include "fs/views/model/flat.h"
#include "fs/views/model/valuereader.h"
#include "profmount/limits.h"

enum { BETWEEN_QUESTIONS = 1 << 12 };

void pmfs_stacks_find_frames(
	const struct pm_tree *tree, uint32_t first, uint32_t end, uint32_t *shown)
{
	for (uint32_t i = first; i < end; i++) {
		bool top = i == first || tree->parent[i] == PM_NONE;
		shown[i - first] =
			top || !pmfs_is_part(tree, i) ? i : shown[tree->parent[i] - first];
	}
}

/* ---- values ---- */

static void read_run(struct pm_arena *a, struct pmfs_stacks *s, struct pmfs_model *m,
	const struct pmfs_columns *columns, struct pm_error *err)
{
	pm_number *cells = pmfs_cells_new(a, columns->n);
	for (uint32_t i = s->first; i < s->end; i++) {
		pm_build_check(a, pmfs_run_cells(m, i, true, cells, err));
		s->value[i - s->first] = cells[s->column - columns->columns];
	}
	pm_arena_free(a, cells);
}

static void read_thread(struct pm_arena *a, struct pmfs_stacks *s, struct pmfs_model *m,
	const struct pmfs_columns *columns, uint32_t thread, struct pm_error *err)
{
	struct pmfs_values values;
	const struct pm_value *v;
	for (uint32_t i = 0; i < s->end - s->first; i++)
		s->value[i] = NAN;
	pmfs_values_start(&values, m, (struct pm_values_of){PM_OF_THREAD, thread, false}, 0);
	while ((v = pmfs_values_take(a, &values, err)) != NULL) {
		uint32_t column = pmfs_column_of(columns, v->metric, true);
		if (column == PM_NONE || &columns->columns[column] != s->column)
			continue;
		uint32_t context = pm_tree_find(s->tree, v->context);
		if (context != PM_NONE && context >= s->first && context < s->end)
			s->value[context - s->first] = pmfs_value_number(v);
	}
}

/* ---- own costs ---- */

/* A context without a valid value has the sum of its children. */
static void fill_values(struct pmfs_stacks *s)
{
	for (uint32_t i = s->end; i-- > s->first;) {
		double *value = &s->value[i - s->first];
		if (isfinite(*value) && (*value >= 0 || s->column->decreases))
			continue;
		*value = 0;
		for (uint32_t c = i + 1; c < s->tree->end[i]; c = s->tree->end[c])
			*value += s->value[c - s->first];
	}
}

/* When the loop comes to a frame, its `self` is the sum of the frames directly below it. */
static void subtract_frames_below(struct pmfs_stacks *s)
{
	for (uint32_t i = s->end; i-- > s->first;) {
		if (!pmfs_stacks_is_frame(s, i))
			continue;
		double value = s->value[i - s->first], *self = &s->self[i - s->first];
		uint32_t caller = pmfs_stacks_caller(s, i);
		*self = value > *self ? value - *self : 0;
		if (caller != PM_NONE)
			s->self[caller - s->first] += value;
	}
}

/*
 * Costs that are not inclusive are unchanged; counts of parts are added to their frame. What is
 * negative is no part of a picture.
 */
static void keep_plain_values(struct pmfs_stacks *s)
{
	for (uint32_t i = s->first; i < s->end; i++) {
		double *value = &s->value[i - s->first];
		if (!isfinite(*value) || (*value < 0 && !s->column->decreases))
			*value = 0;
		if (*value > 0 && (pmfs_stacks_is_frame(s, i) || s->column->role == PM_ROLE_COUNT))
			s->self[s->shown[i - s->first] - s->first] += *value;
	}
}

/* ---- making and giving back ---- */

static struct pmfs_stacks *make(struct pm_arena *a, struct pmfs_model *m, uint32_t column,
	enum pm_role wanted, uint32_t thread, uint32_t context, struct pm_error *err)
{
	struct pmfs_stacks *s = pm_arena_alloc(a, sizeof(*s));
	const struct pmfs_columns *columns;
	pm_build_check(a, pmfs_model_columns(m, &columns, err));
	pm_build_check(a, pmfs_model_tree(m, &s->tree, err));
	s->column = &columns->columns[column];
	if (s->column->pair != PM_NONE && s->column->role != wanted)
		s->column = &columns->columns[s->column->pair];
	s->first = context == PM_NONE ? 0 : context;
	s->end = context == PM_NONE ? s->tree->n_contexts : s->tree->end[context];
	size_t n = (size_t)(s->end - s->first) + 1;
	s->shown = pm_arena_array(a, n, sizeof(*s->shown));
	s->value = pm_arena_array(a, n, sizeof(*s->value));
	s->self = pm_arena_array(a, n, sizeof(*s->self));
	pmfs_stacks_find_frames(s->tree, s->first, s->end, s->shown);
	if (thread == PM_NONE)
		read_run(a, s, m, columns, err);
	else
		read_thread(a, s, m, columns, thread, err);
	if (s->column->role == PM_ROLE_INCLUSIVE) {
		fill_values(s);
		subtract_frames_below(s);
	} else {
		keep_plain_values(s);
	}
	pm_build_proceed(a);
	return s;
}

struct pmfs_stacks *pmfs_stacks_make(struct pm_arena *a, struct pmfs_model *m, uint32_t column,
	uint32_t thread, uint32_t context, struct pm_error *err)
{
	enum pm_role wanted = pmfs_costs_overlap(m) ? PM_ROLE_EXCLUSIVE : PM_ROLE_INCLUSIVE;
	return make(a, m, column, wanted, thread, context, err);
}

struct pmfs_stacks *pmfs_stacks_make_inclusive(struct pm_arena *a, struct pmfs_model *m,
	uint32_t column, uint32_t thread, struct pm_error *err)
{
	return make(a, m, column, PM_ROLE_INCLUSIVE, thread, PM_NONE, err);
}

/* Parts of a frame come after it, and are merged into the same frame. */
uint32_t pmfs_stacks_cut(struct pm_arena *a, struct pmfs_stacks *s)
{
	uint32_t *level = pm_arena_zeroed(a, (size_t)(s->end - s->first) + 1, sizeof(*level));
	uint32_t levels = 0;
	for (uint32_t i = s->first; i < s->end; i++) {
		uint32_t at = i - s->first;
		if (at % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(a);
		if (!pmfs_stacks_is_frame(s, i)) {
			s->shown[at] = s->shown[s->shown[at] - s->first];
			level[at] = level[s->tree->parent[i] - s->first];
			continue;
		}
		uint32_t caller = pmfs_stacks_caller(s, i);
		level[at] = caller == PM_NONE ? 1 : level[s->tree->parent[i] - s->first] + 1;
		if (level[at] > levels)
			levels = level[at];
		if (level[at] <= PM_LIMIT_STACK_LEVELS)
			continue;
		s->is_cut = true;
		s->shown[at] = caller;
		s->self[caller - s->first] += s->self[at];
		s->self[at] = 0;
	}
	pm_arena_free(a, level);
	return levels;
}

uint64_t pmfs_stacks_units(const struct pmfs_stacks *s, double cost)
{
	double scaled = round(cost * s->column->export_scale);
	if (!(scaled > 0))
		return 0;
	return scaled < 0x1p63 ? (uint64_t)scaled : INT64_MAX;
}

uint64_t pmfs_stacks_total(const struct pmfs_stacks *s)
{
	uint64_t total = 0;
	for (uint32_t i = s->first; i < s->end; i++)
		total = pmfs_stacks_add(total, pmfs_stacks_own(s, i));
	return total;
}

/* Cannot overflow: a tree has less than 2^32 contexts, and PM_LIMIT_DEPTH levels. */
uint64_t pmfs_stacks_count_levels(struct pm_arena *a, const struct pmfs_stacks *s)
{
	uint32_t *height = pm_arena_zeroed(a, (size_t)(s->end - s->first) + 1, sizeof(*height));
	uint64_t levels = 0;
	for (uint32_t i = s->first; i < s->end; i++) {
		if (!pmfs_stacks_is_frame(s, i))
			continue;
		uint32_t caller = pmfs_stacks_caller(s, i);
		height[i - s->first] = caller == PM_NONE ? 1 : height[caller - s->first] + 1;
		if (pmfs_stacks_own(s, i) > 0)
			levels += height[i - s->first];
	}
	pm_arena_free(a, height);
	return levels;
}

struct pm_bytes pmfs_stacks_name(
	const struct pm_tree *tree, const struct pm_frame *frame, struct pm_text *scratch)
{
	struct pm_bytes name = pmfs_frame_name(tree, frame, scratch);
	return name.len ? name : pm_bytes_of("(unknown)");
}

/* ---- stacks by name ---- */

struct merging {
	struct pm_arena *scratch;
	const struct pmfs_stacks *stacks;
	struct pmfs_name_paths *paths;
	void (*clean)(struct pm_text *out, struct pm_bytes name);
	uint32_t *name_of;      /* frame of the tree → name, or PM_NONE while unknown */
	uint32_t *name_of_text; /* text of the tree → name, or PM_NONE as above */
	uint32_t *node_of;      /* context → node; of frames */
	struct pm_map nodes;    /* parent << 32 | name → node */
	struct pm_text raw, cleaned;
};

static uint32_t name_of(struct merging *m, uint32_t frame)
{
	const struct pm_tree *tree = m->stacks->tree;
	uint32_t text = tree->frames[frame].name, *known = &m->name_of_text[text];
	if (m->name_of[frame] == PM_NONE && text != 0)
		m->name_of[frame] = *known;
	if (m->name_of[frame] != PM_NONE)
		return m->name_of[frame];
	pm_text_clear(&m->raw);
	pm_text_clear(&m->cleaned);
	m->clean(&m->cleaned, pmfs_stacks_name(tree, &tree->frames[frame], &m->raw));
	*known = pm_strtab_add(&m->paths->names, pm_text_view(&m->cleaned));
	return m->name_of[frame] = *known;
}

/* The node of that name below `parent`, a new one without a cost or known. */
static uint32_t child_of(
	struct pmfs_name_paths *p, struct pm_map *nodes, uint32_t parent, uint32_t name)
{
	bool is_new;
	uint32_t node = *pm_map_put(nodes, (uint64_t)parent << 32 | name, p->n, &is_new);
	if (!is_new)
		return node;
	p->parent[p->n] = parent;
	p->name[p->n] = name;
	p->self[p->n] = 0;
	return p->n++;
}

static void merge(struct merging *m)
{
	const struct pmfs_stacks *s = m->stacks;
	const struct pm_tree *tree = s->tree;
	m->name_of = pm_arena_array(m->scratch, tree->n_frames + 1u, sizeof(*m->name_of));
	m->name_of_text = pm_arena_array(m->scratch, tree->n_texts + 1u, sizeof(*m->name_of_text));
	m->node_of =
		pm_arena_array(m->scratch, (size_t)(s->end - s->first) + 1, sizeof(*m->node_of));
	for (uint32_t i = 0; i < tree->n_texts; i++)
		m->name_of_text[i] = PM_NONE;
	for (uint32_t i = 0; i < tree->n_frames; i++)
		m->name_of[i] = PM_NONE;
	for (uint32_t i = s->first; i < s->end; i++) {
		if (!pmfs_stacks_is_frame(s, i))
			continue;
		uint32_t caller = pmfs_stacks_caller(s, i);
		uint32_t parent = caller == PM_NONE ? 0 : m->node_of[caller - s->first];
		uint32_t node = child_of(m->paths, &m->nodes, parent, name_of(m, tree->frame[i]));
		m->paths->self[node] += s->self[i - s->first];
		m->node_of[i - s->first] = node;
	}
}

/* Counts are two cells ahead, so that filling moves each start into place. */
static void name_paths_end(struct pmfs_name_paths *p)
{
	for (uint32_t i = 1; i < p->n; i++)
		p->child_start[(size_t)p->parent[i] + 2]++;
	for (size_t i = 2; i <= p->n; i++)
		p->child_start[i] += p->child_start[i - 1];
	for (uint32_t i = 1; i < p->n; i++)
		p->children[p->child_start[p->parent[i] + 1]++] = i;
}

/* Only the root, and room for `room` nodes: then nodes are added, parents first. */
static struct pmfs_name_paths *name_paths_begin(
	struct pm_arena *a, struct pm_bytes root, size_t room)
{
	struct pmfs_name_paths *p = pm_arena_alloc(a, sizeof(*p));
	p->names = pm_strtab_in(a);
	p->parent = pm_arena_array(a, room, sizeof(*p->parent));
	p->name = pm_arena_array(a, room, sizeof(*p->name));
	p->self = pm_arena_array(a, room, sizeof(*p->self));
	p->child_start = pm_arena_array(a, room + 2, sizeof(*p->child_start));
	p->children = pm_arena_array(a, room, sizeof(*p->children));
	pm_strtab_add(&p->names, pm_bytes_of(""));
	p->parent[0] = PM_NONE;
	p->name[0] = pm_strtab_add(&p->names, root);
	p->n = 1;
	return p;
}

struct pmfs_name_paths *pmfs_name_paths_make(struct pm_arena *a, const struct pmfs_stacks *s,
	void (*clean)(struct pm_text *out, struct pm_bytes name))
{
	struct merging m = {.scratch = pm_arena_scratch(a),
		.stacks = s,
		.paths = name_paths_begin(a, pm_bytes_of(""), (size_t)(s->end - s->first) + 1),
		.clean = clean};
	m.nodes.arena = m.raw.arena = m.cleaned.arena = m.scratch;
	merge(&m);
	name_paths_end(m.paths);
	pm_arena_done(m.scratch);
	return m.paths;
}

/* ---- call paths around a function ---- */

/* The same for a name of `all`. */
static uint32_t copy_child(struct pmfs_name_paths *to, struct pm_map *nodes,
	const struct pmfs_name_paths *all, uint32_t parent, uint32_t name)
{
	uint32_t n = to->n, node = child_of(to, nodes, parent, name);
	if (node == n)
		to->name[n] = pm_strtab_add_lasting(&to->names, all->names.items[name]);
	return node;
}

/* Parents come before children, so the node of a caller is known. */
struct pmfs_name_paths *pmfs_callee_paths(
	struct pm_arena *a, const struct pmfs_name_paths *all, uint32_t name)
{
	struct pmfs_name_paths *to =
		name_paths_begin(a, all->names.items[name], (size_t)all->n + 1);
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct pm_map nodes = {.arena = scratch}; /* parent << 32 | name of `all` → node of `to` */
	uint32_t *node_of = pm_arena_array(scratch, all->n, sizeof(*node_of));
	node_of[0] = PM_NONE;
	for (uint32_t i = 1; i < all->n; i++) {
		uint32_t parent = node_of[all->parent[i]];
		node_of[i] = parent != PM_NONE ? copy_child(to, &nodes, all, parent, all->name[i])
			: all->name[i] == name ? 0
					       : PM_NONE;
		if (node_of[i] != PM_NONE)
			to->self[node_of[i]] += all->self[i];
	}
	name_paths_end(to);
	pm_arena_done(scratch);
	return to;
}

/* A path upwards from a call: its node in `all`, and in the merged paths. */
struct way {
	uint32_t call, at, node;
};

/* The function's outermost calls. `inside` is by node: whether it or a node above it is one. */
static uint32_t find_outermost(
	const struct pmfs_name_paths *all, uint32_t name, bool *inside, struct way *ways)
{
	uint32_t n = 0;
	inside[0] = false;
	for (uint32_t i = 1; i < all->n; i++) {
		bool below = inside[all->parent[i]];
		inside[i] = below || all->name[i] == name;
		if (inside[i] && !below)
			ways[n++] = (struct way){i, i, 0};
	}
	return n;
}

/* All paths are followed level by level, so that the levels furthest from the function are cut. */
struct pmfs_name_paths *pmfs_caller_paths(struct pm_arena *a, const struct pmfs_name_paths *all,
	uint32_t name, const double *total, uint32_t levels)
{
	struct pmfs_name_paths *to =
		name_paths_begin(a, all->names.items[name], (size_t)all->n + 1);
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct pm_map nodes = {.arena = scratch}; /* as above */
	bool *inside = pm_arena_array(scratch, all->n, sizeof(*inside)), moved = true;
	struct way *ways = pm_arena_array(scratch, all->n, sizeof(*ways));
	uint32_t n = find_outermost(all, name, inside, ways);
	for (; moved && levels > 0; levels--) {
		moved = false;
		for (uint32_t i = 0; i < n && to->n < all->n; i++) {
			uint32_t caller = all->parent[ways[i].at];
			if (caller == 0)
				continue;
			ways[i].node = copy_child(to, &nodes, all, ways[i].node, all->name[caller]);
			ways[i].at = caller;
			moved = true;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		to->self[ways[i].node] += total[ways[i].call];
	name_paths_end(to);
	pm_arena_done(scratch);
	return to;
}
