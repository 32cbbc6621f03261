/*
 * Own costs are taken from the unfiltered profile, hung where the filter puts them, and added up
 * again: integers stay exact as long as they fit into 64 bits.
 */
#include <math.h>

#include "formats/common/list.h"
#include "formats/common/quantity.h"
#include "formats/common/sort.h"
#include "fs/filters/internal.h"

/* ---- which metrics, made of what ---- */

enum { N_LIKELY = sizeof(((struct pmfs_slots *)0)->likely) / sizeof(uint32_t) };

/* Of a group of metrics. */
struct group {
	uint32_t in_tree, in_flat, self, own_slot, flat_slot;
};

static bool counts_calls(const struct pm_metric *m)
{
	return m->role == PM_ROLE_COUNT &&
		(pm_bytes_equal(m->name, pm_bytes_of("calls")) ||
			pm_bytes_equal(m->name, pm_bytes_of("errors")));
}

static enum pmfs_roll roll_of(const struct pm_metric *m, const struct group *g)
{
	if (m->role == PM_ROLE_INCLUSIVE)
		return PMFS_ROLL_SUBTREE;
	if (counts_calls(m))
		return PMFS_ROLL_STAYS;
	if (m->role != PM_ROLE_EXCLUSIVE)
		return PMFS_ROLL_OWN;
	bool apart = g->in_tree != g->in_flat;
	if (g->self != PM_NONE)
		return apart && m->in_tree ? PMFS_ROLL_LEXICAL : PMFS_ROLL_FUNCTION;
	return apart && m->in_flat ? PMFS_ROLL_FUNCTION : PMFS_ROLL_OWN;
}

static void find_roles(struct group *groups, const struct pm_metrics *of)
{
	for (uint32_t i = 0; i < of->n; i++) {
		const struct pm_metric *m = &of->metrics[i];
		struct group *g = &groups[m->group];
		if (m->is_self)
			g->self = i;
		if (m->role == PM_ROLE_EXCLUSIVE && m->in_tree)
			g->in_tree = i;
		if (m->role == PM_ROLE_EXCLUSIVE && m->in_flat)
			g->in_flat = i;
	}
}

/*
 * Where the costs of a context of its own are stored (scope `point`), loops and lines often have
 * none, for the instructions that have them are no contexts; that of the function, without what is
 * nested, is the same, and complete.
 */
static void take_groups(struct pmfs_slots *s, struct group *groups, uint32_t n_groups)
{
	for (uint32_t i = 0; i < n_groups; i++) {
		struct group *g = &groups[i];
		uint32_t from = g->self != PM_NONE && g->in_flat != PM_NONE ? g->in_flat
			: g->in_tree != PM_NONE                             ? g->in_tree
									    : g->in_flat;
		g->own_slot = PM_NONE;
		if (from == PM_NONE)
			continue;
		g->own_slot = s->n;
		s->slots[s->n++] = (struct pmfs_slot){
			.roll = PMFS_ROLL_OWN, .own = g->own_slot, .metric = PM_NONE};
		s->intake[from] = (struct pmfs_intake){g->own_slot, g->self != PM_NONE,
			g->self == PM_NONE && g->in_tree == g->in_flat};
		s->takes_away |= g->self != PM_NONE;
	}
}

static void take_metrics(struct pmfs_slots *s, struct group *groups, const struct pm_metrics *of)
{
	bool fresh;
	for (uint32_t i = 0; i < of->n; i++) {
		const struct pm_metric *m = &of->metrics[i];
		uint32_t own = groups[m->group].own_slot;
		enum pmfs_roll roll = roll_of(m, &groups[m->group]);
		pm_map_put(&s->by_id, m->id, i, &fresh);
		if (fresh)
			s->likely[m->id % N_LIKELY] = i;
		bool counts = m->role == PM_ROLE_COUNT;
		if ((m->role == PM_ROLE_OTHER && !m->is_self) || (!counts && own == PM_NONE))
			continue;
		if (counts) {
			own = s->n;
			s->intake[i] = (struct pmfs_intake){own, false, false};
		}
		if (roll == PMFS_ROLL_FUNCTION)
			groups[m->group].flat_slot = s->n;
		s->slots[s->n++] =
			(struct pmfs_slot){.roll = roll, .own = own, .metric = s->metrics.n};
		s->list[s->metrics.n++] = *m;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		struct pmfs_slot *slot = &s->slots[i];
		bool is_own = slot->own != i &&
			(slot->roll == PMFS_ROLL_OWN || slot->roll == PMFS_ROLL_STAYS);
		slot->cell = is_own ? s->slots[slot->own].cell : s->n_cells++;
		if (slot->roll == PMFS_ROLL_LEXICAL)
			slot->flat = groups[s->list[slot->metric].group].flat_slot;
	}
}

void pmfs_slots_make(
	struct pm_arena *a, struct pmfs_slots *s, const struct pm_metrics *of, struct pm_error *err)
{
	uint32_t n_groups = pm_metrics_groups(of);
	struct group *groups = pm_arena_array(a, (size_t)n_groups + 1, sizeof(*groups));
	*s = (struct pmfs_slots){.list = pm_arena_array(a, (size_t)of->n + 1, sizeof(*s->list)),
		.slots = pm_arena_array(a, (size_t)of->n + n_groups + 1, sizeof(*s->slots)),
		.of = of->metrics,
		.by_id.arena = a,
		.intake = pm_arena_array(a, (size_t)of->n + 1, sizeof(*s->intake))};
	if ((size_t)of->n + n_groups > UINT16_MAX)
		pm_build_fail(a, pm_error_plain(err, -EFBIG));
	for (uint32_t i = 0; i < N_LIKELY; i++)
		s->likely[i] = PM_NONE;
	for (uint32_t i = 0; i < n_groups; i++)
		groups[i] = (struct group){PM_NONE, PM_NONE, PM_NONE, PM_NONE, PM_NONE};
	for (uint32_t i = 0; i < of->n; i++)
		s->intake[i].slot = PM_NONE;
	find_roles(groups, of);
	take_groups(s, groups, n_groups);
	take_metrics(s, groups, of);
	s->metrics.metrics = s->list;
	s->metrics.n_derived = of->n_derived; /* of groups, which are the same */
	s->metrics.derived = of->derived;
}

/* ---- adding up ---- */

/* Of the unfiltered profile; PM_NONE if there is none with that id. */
static uint32_t metric_of(const struct pmfs_slots *s, uint32_t id)
{
	uint32_t likely = s->likely[id % N_LIKELY];
	if (likely != PM_NONE && s->of[likely].id == id)
		return likely;
	const uint32_t *metric = pm_map_find(&s->by_id, id);
	return metric ? *metric : PM_NONE;
}

enum state { NO_VALUE, WHOLE, REAL };

struct amount {
	union {
		double f;
		int64_t i;
	};
	uint8_t state;
	bool taken; /* something was taken away */
};

struct pmfs_gather {
	struct pm_arena *a, *scratch;
	const struct pmfs_slots *slots;
	struct pmfs_shape_of shape;
	uint32_t *place; /* by context: in `list`, + 1 */
	uint32_t *list;
	uint32_t n_contexts;
	size_t n, room, room_amounts, n_costs;
	struct amount *amounts; /* by place and cell */
	double *sizes;          /* the same, of all that was added: where something is taken away */
	size_t room_sizes;
	bool *seen; /* by slot that values go to, or NULL */
};

struct pmfs_gather *pmfs_gather_new(struct pm_arena *a, struct pm_arena *scratch,
	const struct pmfs_slots *s, const struct pmfs_shape_of *shape, uint32_t n, bool *seen)
{
	struct pmfs_gather *g = pm_arena_alloc(a, sizeof(*g));
	*g = (struct pmfs_gather){.a = a,
		.scratch = scratch,
		.slots = s,
		.shape = *shape,
		.n_contexts = n,
		.place = pm_arena_array(scratch, (size_t)n + 1, sizeof(*g->place)),
		.seen = seen};
	return g;
}

/* The amounts of a context, whose ancestors get places, too. */
static struct amount *amounts_of(struct pmfs_gather *g, uint32_t context)
{
	size_t n_cells = g->slots->n_cells;
	for (uint32_t at = context; at != PM_NONE && !g->place[at]; at = g->shape.parent[at]) {
		pm_list_grow(g->scratch, &g->list, g->n, &g->room, sizeof(*g->list));
		pm_list_grow(
			g->a, &g->amounts, g->n, &g->room_amounts, n_cells * sizeof(*g->amounts));
		memset(&g->amounts[g->n * n_cells], 0, n_cells * sizeof(*g->amounts));
		if (g->slots->takes_away) {
			pm_list_grow(g->scratch, &g->sizes, g->n, &g->room_sizes,
				n_cells * sizeof(*g->sizes));
			memset(&g->sizes[g->n * n_cells], 0, n_cells * sizeof(*g->sizes));
		}
		g->list[g->n++] = at;
		g->place[at] = (uint32_t)g->n;
	}
	return &g->amounts[(g->place[context] - 1) * n_cells];
}

static void become_real(struct amount *a)
{
	if (a->state == WHOLE)
		a->f = (double)a->i;
	a->state = REAL;
}

static void add_real(struct amount *to, double f)
{
	if (to->state == NO_VALUE)
		to->f = 0;
	become_real(to);
	to->f += f;
}

static void add_whole(struct amount *to, int64_t i)
{
	int64_t sum;
	if (to->state == NO_VALUE)
		*to = (struct amount){.i = 0, .state = WHOLE};
	if (to->state == WHOLE && !__builtin_add_overflow(to->i, i, &sum)) {
		to->i = sum;
	} else {
		add_real(to, (double)i);
	}
}

static void add_amount(struct amount *to, const struct amount *by)
{
	if (by->state == WHOLE)
		add_whole(to, by->i);
	else if (by->state == REAL)
		add_real(to, by->f);
}

static void add_value(
	struct pmfs_gather *g, uint32_t context, uint32_t slot, const struct pm_value *v, int sign)
{
	struct amount *to = &amounts_of(g, context)[g->slots->slots[slot].cell];
	if (!v->whole)
		add_real(to, sign * v->f);
	else if (v->negative && v->i == INT64_MIN)
		add_real(to, sign * (double)v->i);
	else if (v->negative)
		add_whole(to, sign * v->i);
	else if (v->u <= INT64_MAX)
		add_whole(to, sign * (int64_t)v->u);
	else
		add_real(to, sign * (double)v->u);
	to->taken |= sign < 0;
	if (g->sizes)
		g->sizes[to - g->amounts] += fabsl(pmfs_value_number(v));
}

static const struct pm_frame *frame_of(const struct pmfs_shape_of *shape, uint32_t context)
{
	static const struct pm_frame made = {.kind = PM_KIND_PLACEHOLDER};
	uint32_t frame = shape->frame[context];
	return frame < shape->n_frames ? &shape->frames[frame] : &made;
}

void pmfs_gather_add(struct pmfs_gather *g, const struct pm_value *value, uint32_t to,
	uint32_t same, uint32_t above)
{
	const struct pmfs_slots *s = g->slots;
	uint32_t metric = metric_of(s, value->metric);
	if (metric == PM_NONE || s->intake[metric].slot == PM_NONE)
		return;
	const struct pmfs_intake *in = &s->intake[metric];
	if (g->seen)
		g->seen[in->slot] = true;
	if (s->slots[in->slot].roll == PMFS_ROLL_STAYS)
		to = same;
	while (in->of_frames && to != same && to != PM_NONE && frame_of(&g->shape, to)->nested)
		to = g->shape.parent[to];
	if (to != PM_NONE)
		add_value(g, to, in->slot, value, 1);
	if (in->with_nested && above != PM_NONE)
		add_value(g, above, in->slot, value, -1);
}

static int ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Of what was added and taken away again, no more than rounding errors may be left. */
static void settle(struct pmfs_gather *g)
{
	for (size_t i = 0; g->sizes && i < g->n * g->slots->n_cells; i++) {
		struct amount *a = &g->amounts[i];
		if (a->taken && a->state == REAL && fabs(a->f) <= ldexp(g->sizes[i], -40))
			*a = (struct amount){.state = NO_VALUE};
	}
}

/* The contexts in order: by a look at each if they are many, for that is quicker than sorting. */
static void list_in_order(struct pmfs_gather *g)
{
	enum { MANY = 16 };
	size_t n = 0;
	if (g->n < g->n_contexts / MANY) {
		pm_build_check(g->a, pm_sort(g->list, g->n, sizeof(*g->list), ascending));
		return;
	}
	for (uint32_t i = 0; i < g->n_contexts; i++)
		if (g->place[i])
			g->list[n++] = i;
}

static const struct amount *result(
	const struct pmfs_gather *g, uint32_t context, const struct amount *all, uint32_t slot)
{
	const struct pmfs_slot *s = &g->slots->slots[slot];
	if (s->roll != PMFS_ROLL_LEXICAL)
		return &all[s->cell];
	uint8_t kind = frame_of(&g->shape, context)->kind;
	bool is_part = kind == PM_KIND_LOOP || kind == PM_KIND_LINE;
	return &all[is_part ? s->cell : g->slots->slots[s->flat].cell];
}

/* The sums of contexts, from what is below them and their own; parents come later. */
static void add_up(struct pmfs_gather *g)
{
	const struct pmfs_slots *s = g->slots;
	for (size_t k = g->n; k-- > 0;) {
		uint32_t context = g->list[k], parent = g->shape.parent[context];
		struct amount *own = amounts_of(g, context);
		struct amount *above = parent == PM_NONE ? NULL : amounts_of(g, parent);
		const struct pm_frame *frame = frame_of(&g->shape, context);
		bool nested = frame->nested, is_loop = frame->kind == PM_KIND_LOOP;
		if (k % PMFS_FILTER_STEP == 0)
			pm_build_proceed(g->a);
		for (uint32_t i = 0; i < s->n; i++) {
			const struct pmfs_slot *slot = &s->slots[i];
			enum pmfs_roll roll = slot->roll;
			if (roll == PMFS_ROLL_OWN || roll == PMFS_ROLL_STAYS)
				continue;
			add_amount(&own[slot->cell], &own[s->slots[slot->own].cell]);
			bool rises = roll == PMFS_ROLL_SUBTREE ||
				(nested && !(roll == PMFS_ROLL_LEXICAL && is_loop));
			if (above && rises)
				add_amount(&above[slot->cell], &own[slot->cell]);
		}
		for (uint32_t i = 0; i < s->n; i++)
			g->n_costs += s->slots[i].metric != PM_NONE &&
				result(g, context, own, i)->state != NO_VALUE;
	}
}

void pmfs_gather_roll(struct pmfs_gather *g)
{
	settle(g);
	list_in_order(g);
	add_up(g);
}

/* ---- sums ---- */

bool pmfs_gather_get(const struct pmfs_gather *g, uint32_t context, uint32_t slot,
	struct pmfs_filtered_cost *ret)
{
	if (!g->place[context] || g->slots->slots[slot].metric == PM_NONE)
		return false;
	const struct amount *all = &g->amounts[(g->place[context] - 1) * (size_t)g->slots->n_cells];
	const struct amount *a = result(g, context, all, slot);
	*ret = (struct pmfs_filtered_cost){
		.context = context, .slot = (uint16_t)slot, .whole = a->state == WHOLE, .i = a->i};
	return a->state != NO_VALUE;
}

bool pmfs_gather_has(const struct pmfs_gather *g, uint32_t context)
{
	struct pmfs_filtered_cost cost;
	bool has = false;
	for (uint32_t i = 0; g->place[context] && !has && i < g->slots->n; i++)
		has = pmfs_gather_get(g, context, i, &cost);
	return has;
}

void pmfs_gather_list(
	struct pm_arena *a, const struct pmfs_gather *g, struct pmfs_filtered_costs *ret)
{
	size_t bytes = (g->n_costs + 1) * sizeof(*ret->items);
	*ret = (struct pmfs_filtered_costs){.items = pm_arena_realloc(a, NULL, bytes)};
	pm_use_huge_pages(ret->items, bytes);
	for (size_t k = 0; k < g->n; k++)
		for (uint32_t i = 0; i < g->slots->n; i++)
			ret->n += pmfs_gather_get(g, g->list[k], i, &ret->items[ret->n]);
}

void pmfs_gather_renumber(
	struct pmfs_gather *g, const struct pmfs_shape_of *shape, const uint32_t *order, uint32_t n)
{
	uint32_t *place = pm_arena_array(g->a, (size_t)n + 1, sizeof(*place));
	for (uint32_t i = 0; i < n; i++)
		place[i] = g->place[order[i]];
	g->place = place;
	g->list = NULL;
	g->sizes = NULL;
	g->shape = *shape;
}

struct pm_value pmfs_cost_value(const struct pmfs_slots *s, const struct pmfs_filtered_cost *cost,
	const struct pm_tree *tree, uint32_t thread)
{
	const struct pm_metric *m = &s->list[s->slots[cost->slot].metric];
	return (struct pm_value){.context = pm_tree_number(tree, cost->context),
		.metric = m->id,
		.thread = thread,
		.whole = cost->whole,
		.negative = cost->whole && cost->i < 0,
		.i = cost->i};
}
