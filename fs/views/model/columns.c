/*
 * Names of metric columns, by the rules of docs/namespace.md §1: a slug of the metric's name, its
 * unit, a number where names clash, `_incl` or `_excl`; and their order: the primary quantity
 * first. Which metrics exist and what they mean is the format's.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/map.h"
#include "formats/common/quantity.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/primary.h"
#include "fs/views/model/slug.h"
#include "profmount/limits.h"

struct pmfs_metric_slot {
	uint32_t id;
	uint32_t tree, flat; /* columns; both PM_NONE in a free slot */
};

struct columns_part {
	struct pmfs_columns columns;
	struct pm_arena arena;
};

enum { N_ROLES = PM_ROLE_OTHER }; /* roles that have columns */

/* What is known of each group while names are made. */
struct naming {
	const struct pm_metrics *metrics;
	uint32_t n_groups;
	uint32_t *first;      /* group → its first metric */
	uint8_t *roles;       /* group → bits of the roles that its metrics have */
	const char **base;    /* group → name without _incl, _excl */
	const char **exports; /* group → name in exports, NULL before its first column */
	uint32_t *numbers;    /* slug → how many groups have it */
	struct pm_strtab slugs;
	struct pm_strtab taken; /* every base, every column, every fixed column of a table */
	struct pm_strtab taken_exports;
	struct pm_text text;
	struct pm_arena *arena; /* of names that stay */
	struct pm_arena scratch;
};

static const char *const role_suffixes[N_ROLES] = {
	[PM_ROLE_INCLUSIVE] = "_incl",
	[PM_ROLE_EXCLUSIVE] = "_excl",
	[PM_ROLE_COUNT] = "",
};

/* Names of other columns in tables with metric columns, which a plain count must not have. */
static const char *const fixed_columns[] = {"callee", "callee_id", "caller", "caller_id",
	"category", "context_id", "contexts", "depth", "file", "first_ns", "function_id",
	"functions", "imbalance", "kind", "last_ns", "line", "lost", "module", "name", "offset",
	"parent_id", "path", "samples", "share", "slowest_thread_id", "thread_id", "threads",
	"values"};

/* ---- bases: one name a group, unlike any other ---- */

static bool is_taken(const struct naming *n, const char *name)
{
	return pm_strtab_find(&n->taken, pm_bytes_of(name)) != UINT32_MAX;
}

/* Reserves the base and its columns if all are free; 1 if so, 0 if not. */
static int try_base(struct naming *n, uint32_t group, const char *base)
{
	const char *columns[N_ROLES];
	if (is_taken(n, base))
		return 0;
	for (unsigned role = 0; role < N_ROLES; role++) {
		columns[role] = pm_arena_printf(&n->scratch, "%s%s", base, role_suffixes[role]);
		if (!columns[role])
			return -ENOMEM;
		if (n->roles[group] & 1u << role && is_taken(n, columns[role]))
			return 0;
	}
	n->base[group] = base;
	for (unsigned role = 0; role < N_ROLES; role++)
		if (n->roles[group] & 1u << role &&
			pm_strtab_add(&n->taken, pm_bytes_of(columns[role])) == UINT32_MAX)
			return -ENOMEM;
	return pm_strtab_add(&n->taken, pm_bytes_of(base)) == UINT32_MAX ? -ENOMEM : 1;
}

static int name_group(struct naming *n, uint32_t group)
{
	struct pm_bytes slug = pmfs_metric_slug(&n->text, &n->metrics->metrics[n->first[group]]);
	uint32_t known = n->text.failed ? UINT32_MAX : pm_strtab_add(&n->slugs, slug);
	int r = known == UINT32_MAX ? -ENOMEM : 0;
	while (r == 0) {
		uint32_t number = ++n->numbers[known];
		const char *base = number == 1
			? pm_arena_printf(n->arena, "%.*s", (int)slug.len, (const char *)slug.p)
			: pm_arena_printf(
				  n->arena, "%.*s_%u", (int)slug.len, (const char *)slug.p, number);
		r = base ? try_base(n, group, base) : -ENOMEM;
	}
	return r < 0 ? r : 0;
}

static int look_at_groups(struct naming *n)
{
	const struct pm_metric *m = n->metrics->metrics;
	for (uint32_t i = 0; i < n->metrics->n; i++)
		if (m[i].group >= n->n_groups)
			n->n_groups = m[i].group + 1;
	n->first = pm_arena_array(&n->scratch, n->n_groups, sizeof(*n->first));
	n->roles = pm_arena_array(&n->scratch, n->n_groups, sizeof(*n->roles));
	n->base = pm_arena_array(&n->scratch, n->n_groups, sizeof(*n->base));
	n->exports = pm_arena_array(&n->scratch, n->n_groups, sizeof(*n->exports));
	n->numbers = pm_arena_array(&n->scratch, n->n_groups, sizeof(*n->numbers));
	if (!n->first || !n->roles || !n->base || !n->exports || !n->numbers)
		return -ENOMEM;
	for (uint32_t i = n->metrics->n; i-- > 0;) {
		n->first[m[i].group] = i;
		n->roles[m[i].group] |= (uint8_t)(1u << m[i].role);
	}
	return 0;
}

static int name_groups(struct naming *n)
{
	int r = look_at_groups(n);
	for (size_t i = 0; r == 0 && i < sizeof(fixed_columns) / sizeof(*fixed_columns); i++)
		if (pm_strtab_add(&n->taken, pm_bytes_of(fixed_columns[i])) == UINT32_MAX)
			r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n->metrics->n; i++)
		if (n->first[n->metrics->metrics[i].group] == i)
			r = name_group(n, n->metrics->metrics[i].group);
	return r;
}

/* ---- columns ---- */

/*
 * The name that exports use: a unit of time at the base's end (a clash number may follow) becomes
 * ns, and `*scale` what makes ns of a value.
 */
static const char *export_name(
	struct naming *n, const char *base, const struct pm_metric *metric, double *scale)
{
	pm_text_clear(&n->text);
	struct pm_bytes slug = pmfs_metric_slug(&n->text, metric);
	double ns = pm_unit_ns(metric->unit);
	size_t len = metric->unit.len;
	*scale = 1;
	if (n->text.failed || ns <= 1 || slug.len <= len || slug.p[slug.len - len - 1] != '_' ||
		memcmp(slug.p + slug.len - len, metric->unit.p, len) != 0)
		return base;
	*scale = ns;
	return pm_arena_printf(n->arena, "%.*sns%s", (int)(slug.len - len), base, base + slug.len);
}

static bool has_column(const struct pm_metric *m)
{
	return m->has_values && m->role < PM_ROLE_OTHER && (m->in_tree || m->in_flat);
}

/* `cputime_sec` and `cputime_usec` are both cputime_ns: the second gets a number. */
static int name_export(struct naming *n, uint32_t group, const char *wanted)
{
	for (unsigned number = 1; !n->exports[group]; number++) {
		const char *name =
			number == 1 ? wanted : pm_arena_printf(n->arena, "%s_%u", wanted, number);
		if (!name)
			return -ENOMEM;
		if (pm_strtab_find(&n->taken_exports, pm_bytes_of(name)) != UINT32_MAX)
			continue;
		if (pm_strtab_add(&n->taken_exports, pm_bytes_of(name)) == UINT32_MAX)
			return -ENOMEM;
		n->exports[group] = name;
	}
	return 0;
}

static int make_column(struct naming *n, const struct pm_metric *metric, struct pmfs_column *ret)
{
	const char *base = n->base[metric->group];
	*ret = (struct pmfs_column){
		.name = pm_arena_printf(n->arena, "%s%s", base, role_suffixes[metric->role]),
		.base = base,
		.role = metric->role,
		.group = metric->group,
		.pair = PM_NONE,
	};
	const char *export = export_name(n, base, metric, &ret->export_scale);
	if (!ret->name || n->text.failed || name_export(n, metric->group, export) < 0)
		return -ENOMEM;
	ret->export = n->exports[metric->group];
	return 0;
}

static int make_columns(struct naming *n, struct pmfs_columns *c, struct pmfs_column *columns)
{
	uint32_t *of = pm_arena_array(&n->scratch, n->n_groups, N_ROLES * sizeof(*of));
	if (!columns || !of)
		return -ENOMEM;
	c->columns = columns;
	for (uint32_t i = 0; i < n->metrics->n; i++) {
		const struct pm_metric *metric = &n->metrics->metrics[i];
		if (!has_column(metric))
			continue;
		uint32_t *place = &of[(size_t)metric->group * N_ROLES + metric->role];
		if (*place == 0) {
			if (c->n == PM_LIMIT_COLUMNS)
				return -EFBIG;
			if (make_column(n, metric, &columns[c->n]) < 0)
				return -ENOMEM;
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
	bool x_leads = x->group == *(uint32_t *)lead, y_leads = y->group == *(uint32_t *)lead;
	if (x_leads != y_leads)
		return x_leads ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	static const int place[N_ROLES] = {
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
	}
	c->lead = c->n > 0 ? columns[0].base : NULL;
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

/* ---- the part ---- */

static void columns_free(void *p)
{
	struct columns_part *part = p;
	pm_arena_done(&part->arena);
	free(part);
}

/* `by_cost`: the primary quantity comes first, for which costs have to be read. */
static int fill_columns(struct pmfs_model *m, struct naming *n, bool by_cost,
	struct columns_part *part, struct pm_error *err)
{
	struct pmfs_columns *c = &part->columns;
	struct pmfs_column *columns = pm_arena_array(n->arena, n->metrics->n, sizeof(*columns));
	uint32_t lead = PM_NONE;
	int r = columns ? name_groups(n) : -ENOMEM;
	if (r == 0)
		r = make_columns(n, c, columns);
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
	return make_slots(&part->arena, c) < 0 ? pmfs_no_memory(err) : 0;
}

static int build_part(struct pmfs_model *m, bool by_cost, void **ret, struct pm_error *err)
{
	struct naming n = {.metrics = NULL};
	int r = pmfs_model_metrics(m, &n.metrics, err);
	if (r < 0)
		return r;
	struct columns_part *part = calloc(1, sizeof(*part));
	if (!part)
		return pmfs_no_memory(err);
	n.arena = &part->arena;
	n.slugs.arena = n.taken.arena = n.taken_exports.arena = &n.scratch;
	r = fill_columns(m, &n, by_cost, part, err);
	pm_strtab_done(&n.slugs);
	pm_strtab_done(&n.taken);
	pm_strtab_done(&n.taken_exports);
	pm_text_done(&n.text);
	pm_arena_done(&n.scratch);
	if (r < 0)
		columns_free(part);
	else
		*ret = part;
	return r;
}

static int columns_build(struct pmfs_model *m, void **ret, struct pm_error *err)
{
	return build_part(m, true, ret, err);
}

static int names_build(struct pmfs_model *m, void **ret, struct pm_error *err)
{
	return build_part(m, false, ret, err);
}

int pmfs_model_columns(struct pmfs_model *m, const struct pmfs_columns **ret, struct pm_error *err)
{
	static const struct pmfs_part_type type = {columns_build, columns_free};
	void *part;
	int r = pmfs_model_part(m, PMFS_PART_COLUMNS, &type, &part, err);
	if (r < 0)
		return r;
	*ret = &((struct columns_part *)part)->columns;
	return 0;
}

int pmfs_model_column_names(
	struct pmfs_model *m, const struct pmfs_columns **ret, struct pm_error *err)
{
	static const struct pmfs_part_type type = {names_build, columns_free};
	void *part;
	int r = pmfs_model_part(m, PMFS_PART_COLUMN_NAMES, &type, &part, err);
	if (r < 0)
		return r;
	*ret = &((struct columns_part *)part)->columns;
	return 0;
}

int pmfs_model_lead_with(struct pmfs_model *m, const char *name, struct pm_error *err)
{
	const struct pmfs_columns *c;
	pmfs_model_set_wish(m, name);
	return pmfs_model_columns(m, &c, err);
}
