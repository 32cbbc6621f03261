/*
 * Metric columns, in their order: the primary quantity first. Which metrics exist and what they
 * mean is up to the format.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/views/model/columnnames.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/primary.h"
#include "profmount/limits.h"

struct pmfs_metric_slot {
	uint32_t id;
	uint32_t tree, flat; /* columns; both PM_NONE in a free slot */
};

struct columns_part {
	struct pmfs_columns columns;
	struct pm_arena arena;
};

/* ---- columns ---- */

static bool has_column(const struct pm_metric *m)
{
	return m->has_values && m->role < PM_ROLE_OTHER && (m->in_tree || m->in_flat);
}

static int make_columns(
	struct pmfs_column_naming *n, bool all, struct pmfs_columns *c, struct pmfs_column *columns)
{
	uint32_t *of = pm_arena_array(&n->scratch, n->n_groups, PMFS_N_ROLES * sizeof(*of));
	if (!columns || !of)
		return -ENOMEM;
	c->columns = columns;
	for (uint32_t i = 0; i < n->metrics->n; i++) {
		const struct pm_metric *metric = &n->metrics->metrics[i];
		if (!has_column(metric))
			continue;
		uint32_t *place = &of[(size_t)metric->group * PMFS_N_ROLES + metric->role];
		if (*place == 0) {
			if (c->n == PM_LIMIT_COLUMNS)
				return -EFBIG;
			if (pmfs_naming_column(n, metric, &columns[c->n]) < 0)
				return -ENOMEM;
			columns[c->n].hidden = metric->hidden && !all;
			columns[c->n].minor = metric->minor;
			*place = ++c->n;
		}
		struct pmfs_column *column = &columns[*place - 1];
		if (metric->in_tree && !column->tree)
			column->tree = metric;
		if (metric->in_flat && !column->flat)
			column->flat = metric;
	}
	return 0;
}

/* ---- order ---- */

static int by_lead(const void *a, const void *b, void *lead)
{
	const struct pmfs_column *x = a, *y = b;
	if (x->hidden != y->hidden)
		return x->hidden ? 1 : -1;
	bool x_leads = x->group == *(uint32_t *)lead, y_leads = y->group == *(uint32_t *)lead;
	if (x_leads != y_leads)
		return x_leads ? -1 : 1;
	if (x->minor != y->minor)
		return x->minor ? 1 : -1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	static const int place[PMFS_N_ROLES] = {
		[PM_ROLE_EXCLUSIVE] = 0, [PM_ROLE_INCLUSIVE] = 1, [PM_ROLE_COUNT] = 2};
	return place[x->role] - place[y->role];
}

static void pair_columns(struct pmfs_columns *c, struct pmfs_column *columns)
{
	for (uint32_t i = 0; i + 1 < c->n; i++)
		if (columns[i].group == columns[i + 1].group &&
			columns[i].role == PM_ROLE_EXCLUSIVE &&
			columns[i + 1].role == PM_ROLE_INCLUSIVE) {
			columns[i].pair = i + 1;
			columns[i + 1].pair = i;
		}
}

static void put_in_order(struct pmfs_columns *c, struct pmfs_column *columns, uint32_t lead)
{
	if (c->n > 0)
		qsort_r(columns, c->n, sizeof(*columns), by_lead, &lead);
	pair_columns(c, columns);
	c->first_incl = c->first_excl = c->calls = PM_NONE;
	for (uint32_t i = c->n; i-- > 0;) {
		if (columns[i].group == lead && columns[i].role == PM_ROLE_INCLUSIVE)
			c->first_incl = i;
		else if (columns[i].group == lead)
			c->first_excl = i;
		if (strcmp(columns[i].name, "calls") == 0)
			c->calls = i;
		c->has_counts |= columns[i].role == PM_ROLE_COUNT;
		c->n_shown += !columns[i].hidden;
	}
	c->lead = c->n_shown > 0 ? columns[0].base : NULL;
}

/* Of the quantities that are sorted into functions and lines differently. */
static int list_self(
	const struct pm_metrics *metrics, struct pm_arena *arena, struct pmfs_columns *c)
{
	struct pmfs_self_column *self = pm_arena_array(arena, metrics->n, sizeof(*self));
	if (!self)
		return -ENOMEM;
	c->self = self;
	for (uint32_t i = 0; i < c->n_shown; i++) {
		uint32_t k = 0;
		while (k < metrics->n &&
			(!metrics->metrics[k].is_self || !metrics->metrics[k].has_values ||
				metrics->metrics[k].group != c->columns[i].group))
			k++;
		bool first = i == 0 || c->columns[i].group != c->columns[i - 1].group;
		if (k == metrics->n || !first)
			continue;
		self[c->n_self].metric = metrics->metrics[k].id;
		self[c->n_self].own = c->columns[i].role == PM_ROLE_EXCLUSIVE || i + 1 == c->n
			? i
			: c->columns[i].pair;
		self[c->n_self].name = pm_arena_printf(arena, "%s_self", c->columns[i].base);
		if (!self[c->n_self++].name)
			return -ENOMEM;
	}
	return 0;
}

/* ---- metric id → column ---- */

static struct pmfs_metric_slot *slot_of(
	struct pmfs_metric_slot *slots, uint32_t n_slots, uint32_t id)
{
	uint32_t at = (uint32_t)pm_hash_u64(id) & (n_slots - 1);
	while ((slots[at].tree != PM_NONE || slots[at].flat != PM_NONE) && slots[at].id != id)
		at = (at + 1) & (n_slots - 1);
	slots[at].id = id;
	return &slots[at];
}

static int make_slots(struct pm_arena *arena, struct pmfs_columns *c)
{
	uint32_t n = 8;
	while (n < 4 * (uint64_t)c->n)
		n *= 2;
	struct pmfs_metric_slot *slots = pm_arena_array(arena, n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		slots[i].tree = slots[i].flat = PM_NONE;
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->columns[i].tree)
			slot_of(slots, n, c->columns[i].tree->id)->tree = i;
		if (c->columns[i].flat)
			slot_of(slots, n, c->columns[i].flat->id)->flat = i;
	}
	c->slots = slots;
	c->n_slots = n;
	return 0;
}

uint32_t pmfs_column_of(const struct pmfs_columns *c, uint32_t metric_id, bool flat)
{
	uint32_t at = (uint32_t)pm_hash_u64(metric_id) & (c->n_slots - 1);
	const struct pmfs_metric_slot *slot = &c->slots[at];
	while ((slot->tree != PM_NONE || slot->flat != PM_NONE) && slot->id != metric_id) {
		at = (at + 1) & (c->n_slots - 1);
		slot = &c->slots[at];
	}
	return flat ? slot->flat : slot->tree;
}

uint32_t pmfs_place_of(const struct pmfs_columns *c, uint32_t metric_id)
{
	uint32_t column = pmfs_column_of(c, metric_id, false);
	for (uint32_t i = 0; column == PM_NONE && i < c->n_self; i++)
		if (c->self[i].metric == metric_id)
			return c->n + i;
	return column;
}

/* ---- the part ---- */

static void columns_done(void *p)
{
	struct columns_part *part = p;
	pm_arena_done(&part->arena);
}

/* `by_cost`: the primary quantity comes first, for which costs have to be read. */
static int fill_columns(struct pmfs_model *m, struct pmfs_column_naming *n, bool by_cost,
	struct columns_part *part, struct pm_error *err)
{
	struct pmfs_columns *c = &part->columns;
	struct pmfs_column *columns = pm_arena_array(n->arena, n->metrics->n, sizeof(*columns));
	const struct pmfs_definitions *definitions = pmfs_model_definitions(m);
	uint32_t lead = PM_NONE;
	int r = columns ? pmfs_naming_groups(n) : -ENOMEM;
	if (r == 0)
		r = make_columns(n, definitions && definitions->all_metrics, c, columns);
	if (r == -EFBIG)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET,
			"its metrics would have more than %d columns", PM_LIMIT_COLUMNS);
	if (r < 0)
		return pmfs_no_memory(err);
	const char *wish = pmfs_model_wish(m);
	if (by_cost)
		r = wish ? pmfs_primary_by_name(c, wish, &lead, err)
			 : pmfs_primary_by_rule(m, &lead, err);
	if (r < 0)
		return r;
	put_in_order(c, columns, lead);
	bool good = make_slots(&part->arena, c) == 0 &&
		list_self(n->metrics, &part->arena, c) == 0 &&
		pmfs_derive(n->metrics, definitions, &part->arena, c) == 0;
	return good ? 0 : pmfs_no_memory(err);
}

static int fill_part(
	struct pmfs_model *m, bool by_cost, struct columns_part *part, struct pm_error *err)
{
	const struct pm_metrics *metrics;
	struct pmfs_column_naming n;
	int r = pmfs_model_metrics(m, &metrics, err);
	if (r < 0)
		return r;
	pmfs_naming_init(&n, metrics, &part->arena);
	r = fill_columns(m, &n, by_cost, part, err);
	pmfs_naming_done(&n);
	return r;
}

static int columns_fill(void *owner, void *part, struct pm_error *err)
{
	return fill_part(owner, true, part, err);
}

static int names_fill(void *owner, void *part, struct pm_error *err)
{
	return fill_part(owner, false, part, err);
}

int pmfs_model_columns(struct pmfs_model *m, const struct pmfs_columns **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct columns_part), columns_fill, columns_done, .what = "the columns"};
	return pmfs_model_part(m, PMFS_PART_COLUMNS, &type, ret, err);
}

int pmfs_model_column_names(
	struct pmfs_model *m, const struct pmfs_columns **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct columns_part), names_fill, columns_done, .what = "the columns"};
	return pmfs_model_part(m, PMFS_PART_COLUMN_NAMES, &type, ret, err);
}

int pmfs_model_lead_with(struct pmfs_model *m, const char *name, struct pm_error *err)
{
	const struct pmfs_columns *c;
	pmfs_model_set_wish(m, name);
	return pmfs_model_columns(m, &c, err);
}
