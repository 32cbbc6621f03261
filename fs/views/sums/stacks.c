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
#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
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

struct making {
	struct pmfs_model *model;
	const struct pmfs_columns *columns;
	uint32_t thread;
	struct pmfs_stacks *ret;
	struct pm_error *err;
};

static void read_run(struct making *k)
{
	struct pmfs_stacks *s = k->ret;
	pm_number *cells = pmfs_cells_new(&s->arena, k->columns->n);
	for (uint32_t i = s->first; i < s->end; i++) {
		pm_build_check(&s->arena, pmfs_run_cells(k->model, i, true, cells, k->err));
		s->value[i - s->first] = cells[s->column - k->columns->columns];
	}
	pm_arena_free(&s->arena, cells);
}

static void read_thread(struct making *k)
{
	struct pmfs_stacks *s = k->ret;
	struct pmfs_values values;
	const struct pm_value *v;
	for (uint32_t i = 0; i < s->end - s->first; i++)
		s->value[i] = NAN;
	pmfs_values_start(
		&values, k->model, (struct pm_values_of){PM_OF_THREAD, k->thread, false}, 0);
	while ((v = pmfs_values_take(&s->arena, &values, k->err)) != NULL) {
		uint32_t column = pmfs_column_of(k->columns, v->metric, true);
		if (column == PM_NONE || &k->columns->columns[column] != s->column)
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

static void build(void *context)
{
	struct making *k = context;
	struct pmfs_stacks *s = k->ret;
	size_t n = (size_t)(s->end - s->first) + 1;
	s->shown = pm_arena_array(&s->arena, n, sizeof(*s->shown));
	s->value = pm_arena_array(&s->arena, n, sizeof(*s->value));
	s->self = pm_arena_array(&s->arena, n, sizeof(*s->self));
	pmfs_stacks_find_frames(s->tree, s->first, s->end, s->shown);
	if (k->thread == PM_NONE)
		read_run(k);
	else
		read_thread(k);
	if (s->column->role == PM_ROLE_INCLUSIVE) {
		fill_values(s);
		subtract_frames_below(s);
	} else {
		keep_plain_values(s);
	}
	pm_build_proceed(&s->arena);
}

static int make(struct pmfs_model *m, uint32_t column, enum pm_role wanted, uint32_t thread,
	uint32_t context, struct pmfs_stacks *ret, struct pm_error *err)
{
	struct making k = {.model = m, .thread = thread, .ret = ret, .err = err};
	const struct pm_tree *tree;
	int r = pmfs_model_columns(m, &k.columns, err);
	if (r < 0 || (r = pmfs_model_tree(m, &tree, err)) < 0)
		return r;
	const struct pmfs_column *c = &k.columns->columns[column];
	if (c->pair != PM_NONE && c->role != wanted)
		c = &k.columns->columns[c->pair];
	*ret = (struct pmfs_stacks){.tree = tree, .column = c, .end = tree->n_contexts};
	if (context != PM_NONE) {
		ret->first = context;
		ret->end = tree->end[context];
	}
	r = pm_build(&ret->arena, build, &k);
	if (r < 0)
		pmfs_stacks_done(ret);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

int pmfs_stacks_make(struct pmfs_model *m, uint32_t column, uint32_t thread, uint32_t context,
	struct pmfs_stacks *ret, struct pm_error *err)
{
	enum pm_role wanted = pmfs_costs_overlap(m) ? PM_ROLE_EXCLUSIVE : PM_ROLE_INCLUSIVE;
	return make(m, column, wanted, thread, context, ret, err);
}

int pmfs_stacks_make_inclusive(struct pmfs_model *m, uint32_t column, uint32_t thread,
	struct pmfs_stacks *ret, struct pm_error *err)
{
	return make(m, column, PM_ROLE_INCLUSIVE, thread, PM_NONE, ret, err);
}

/* Parts of a frame come after it, and are merged into the same frame. */
int pmfs_stacks_cut(struct pmfs_stacks *s, uint32_t *ret_levels, struct pm_error *err)
{
	uint32_t *level = calloc((size_t)(s->end - s->first) + 1, sizeof(*level));
	if (!level)
		return pmfs_no_memory(err);
	*ret_levels = 0;
	for (uint32_t i = s->first; i < s->end; i++) {
		uint32_t at = i - s->first;
		if (at % BETWEEN_QUESTIONS == 0 && pm_work_cancelled()) {
			free(level);
			return pmfs_no_memory(err);
		}
		if (!pmfs_stacks_is_frame(s, i)) {
			s->shown[at] = s->shown[s->shown[at] - s->first];
			level[at] = level[s->tree->parent[i] - s->first];
			continue;
		}
		uint32_t caller = pmfs_stacks_caller(s, i);
		level[at] = caller == PM_NONE ? 1 : level[s->tree->parent[i] - s->first] + 1;
		if (level[at] > *ret_levels)
			*ret_levels = level[at];
		if (level[at] <= PM_LIMIT_STACK_LEVELS)
			continue;
		s->is_cut = true;
		s->shown[at] = caller;
		s->self[caller - s->first] += s->self[at];
		s->self[at] = 0;
	}
	free(level);
	return 0;
}

void pmfs_stacks_done(struct pmfs_stacks *s)
{
	pm_arena_done(&s->arena);
	*s = (struct pmfs_stacks){.tree = NULL};
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
int pmfs_stacks_count_levels(const struct pmfs_stacks *s, uint64_t *ret, struct pm_error *err)
{
	uint32_t *height = malloc(((size_t)(s->end - s->first) + 1) * sizeof(*height));
	if (!height)
		return pmfs_no_memory(err);
	*ret = 0;
	for (uint32_t i = s->first; i < s->end; i++) {
		if (!pmfs_stacks_is_frame(s, i))
			continue;
		uint32_t caller = pmfs_stacks_caller(s, i);
		height[i - s->first] = caller == PM_NONE ? 1 : height[caller - s->first] + 1;
		if (pmfs_stacks_own(s, i) > 0)
			*ret += height[i - s->first];
	}
	free(height);
	return 0;
}

struct pm_bytes pmfs_stacks_name(
	const struct pm_tree *tree, const struct pm_frame *frame, struct pm_text *scratch)
{
	struct pm_bytes name = pmfs_frame_name(tree, frame, scratch);
	return name.len ? name : pm_bytes_of("(unknown)");
}
