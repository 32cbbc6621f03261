/*
 * Metric columns: their names, by the rules of docs/namespace.md §1, their order, the primary
 * quantity first, and those derived of others. Which metrics exist and what they mean is up to the
 * format.
 *
 * The primary quantity is a group of metrics. Its columns come first in every table, siblings,
 * functions, lines and callers are ordered by its cost, and pictures and texts show it. It is
 * chosen here, once; other files see it as the first columns and the order of the tree.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/map.h"
#include "formats/common/quantity.h"
#include "formats/common/slug.h"
#include "fs/views/model/parts.h"
#include "profmount/limits.h"

/* ---- names: a slug of the metric's name, its unit, a number where names clash, a suffix ---- */

enum { N_ROLES = PM_ROLE_OTHER }; /* number of roles that have columns */

/* Data of each group while names are made. */
struct naming {
	const struct pm_metrics *metrics;
	uint32_t n_groups;
	uint32_t *first;      /* group → its first metric */
	uint8_t *roles;       /* group → bits of the roles that its metrics have */
	const char **base;    /* group → name without _incl, _excl */
	const char **exports; /* group → name in exports, NULL before its first column */
	uint32_t *numbers;    /* slug → how many groups have it */
	struct pm_strtab slugs;
	struct pm_strtab bases;
	struct pm_strtab taken; /* every column, and every fixed column of a table */
	struct pm_strtab taken_exports;
	struct pm_text text;
	struct pm_arena *arena; /* of the final names */
	struct pm_arena *scratch;
};

static const char *const role_suffixes[N_ROLES] = {
	[PM_ROLE_INCLUSIVE] = "_incl",
	[PM_ROLE_EXCLUSIVE] = "_excl",
	[PM_ROLE_COUNT] = "",
};

/*
 * Names of the other columns in tables with metric columns; a plain count must not have one of
 * them. A quantity may: `samples` has the columns samples_excl and samples_incl.
 */
static const char *const fixed_columns[] = {"callee", "callee_id", "caller", "caller_id",
	"category", "context_id", "contexts", "depth", "file", "first_ns", "function_id",
	"functions", "imbalance", "kind", "last_ns", "line", "lost", "module", "name", "offset",
	"parent_id", "path", "peers", "rank_lost", "samples", "share", "slowest_rank",
	"slowest_thread_id", "thread_id", "threads", "values", "waiting"};

static bool has(const struct pm_strtab *names, const char *name)
{
	return pm_strtab_find(names, pm_bytes_of(name)) != PM_NONE;
}

static const char *copy_of(struct pm_arena *a, struct pm_bytes text)
{
	return pm_arena_printf(a, "%.*s", (int)text.len, (const char *)text.p);
}

/* Reserves the base and its columns if all are free. */
static bool try_base(struct naming *n, uint32_t group, const char *base)
{
	const char *columns[N_ROLES];
	if (has(&n->bases, base))
		return false;
	for (unsigned role = 0; role < N_ROLES; role++) {
		columns[role] = pm_arena_printf(n->scratch, "%s%s", base, role_suffixes[role]);
		if (n->roles[group] & 1u << role && has(&n->taken, columns[role]))
			return false;
	}
	n->base[group] = base;
	for (unsigned role = 0; role < N_ROLES; role++)
		if (n->roles[group] & 1u << role)
			pm_strtab_add(&n->taken, pm_bytes_of(columns[role]));
	pm_strtab_add(&n->bases, pm_bytes_of(base));
	return true;
}

/* Gives each group a name. */
static void name_groups(struct naming *n)
{
	const struct pm_metric *m = n->metrics->metrics;
	for (uint32_t i = 0; i < n->metrics->n; i++)
		if (m[i].group >= n->n_groups)
			n->n_groups = m[i].group + 1;
	n->first = pm_arena_array(n->scratch, n->n_groups, sizeof(*n->first));
	n->roles = pm_arena_array(n->scratch, n->n_groups, sizeof(*n->roles));
	n->base = pm_arena_array(n->scratch, n->n_groups, sizeof(*n->base));
	n->exports = pm_arena_array(n->scratch, n->n_groups, sizeof(*n->exports));
	n->numbers = pm_arena_array(n->scratch, n->n_groups, sizeof(*n->numbers));
	for (uint32_t i = n->metrics->n; i-- > 0;) {
		n->first[m[i].group] = i;
		n->roles[m[i].group] |= (uint8_t)(1u << m[i].role);
	}
	for (size_t i = 0; i < sizeof(fixed_columns) / sizeof(*fixed_columns); i++)
		pm_strtab_add(&n->taken, pm_bytes_of(fixed_columns[i]));
	for (uint32_t i = 0; i < n->metrics->n; i++) {
		if (n->first[m[i].group] != i)
			continue;
		struct pm_bytes slug = pm_metric_slug(&n->text, &m[i]);
		uint32_t *number = &n->numbers[pm_strtab_add(&n->slugs, slug)];
		const char *name = copy_of(n->arena, slug), *base = name;
		if (++*number > 1)
			base = pm_arena_printf(n->arena, "%s_%u", name, *number);
		while (!try_base(n, m[i].group, base))
			base = pm_arena_printf(n->arena, "%s_%u", name, ++*number);
	}
}

/*
 * The name that exports use: a unit of time at the base's end (a clash number may follow) becomes
 * ns, and `*scale` what makes ns of a value.
 */
static const char *export_name(
	struct naming *n, const char *base, const struct pm_metric *metric, double *scale)
{
	pm_text_clear(&n->text);
	struct pm_bytes slug = pm_metric_slug(&n->text, metric);
	double ns = pm_unit_ns(metric->unit);
	size_t len = metric->unit.len;
	*scale = 1;
	if (ns <= 1 || slug.len <= len || slug.p[slug.len - len - 1] != '_' ||
		memcmp(slug.p + slug.len - len, metric->unit.p, len) != 0)
		return base;
	*scale = ns;
	return pm_arena_printf(n->arena, "%.*sns%s", (int)(slug.len - len), base, base + slug.len);
}

/* The column of a metric, without `tree`, `flat` and `pair`. */
static struct pmfs_column column_of(struct naming *n, const struct pm_metric *metric)
{
	const char *base = n->base[metric->group], **export = &n->exports[metric->group];
	struct pmfs_column ret = {
		.name = pm_arena_printf(n->arena, "%s%s", base, role_suffixes[metric->role]),
		.base = base,
		.role = metric->role,
		.group = metric->group,
		.decreases = metric->decreases,
		.fractions = metric->fractions,
		.minor = metric->minor,
		.pair = PM_NONE,
	};
	const char *wanted = export_name(n, base, metric, &ret.export_scale), *name = wanted;
	/* `cputime_sec` and `cputime_usec` are both cputime_ns: the second gets a number. */
	for (unsigned number = 2; !*export && has(&n->taken_exports, name); number++)
		name = pm_arena_printf(n->arena, "%s_%u", wanted, number);
	if (!*export) {
		pm_strtab_add(&n->taken_exports, pm_bytes_of(name));
		*export = name;
	}
	ret.export = *export;
	return ret;
}

/* ---- the primary quantity, by name ---- */

/* Appends `there are a, b, c`: as many stems as an error has room for. */
static void list_stems(const struct pmfs_columns *c, struct pm_text *out)
{
	enum { ROOM = 420 };
	for (uint32_t i = 0, n = 0; i < c->n; i++) {
		bool same = i > 0 && c->columns[i].group == c->columns[i - 1].group;
		if (same || c->columns[i].hidden)
			continue;
		pm_text_str(out, n++ == 0 ? "there are " : ", ");
		if (out->len + strlen(c->columns[i].base) > ROOM) {
			pm_text_str(out, "… (see metrics.csv)");
			return;
		}
		pm_text_str(out, c->columns[i].base);
	}
	if (c->n == 0)
		pm_text_str(out, "there are none with values");
}

/* The group with a column of this name or stem. -EINVAL: there is none; `err` lists the stems. */
static int primary_by_name(
	const struct pmfs_columns *c, const char *name, uint32_t *ret, struct pm_error *err)
{
	struct pm_text stems = {.p = NULL};
	for (uint32_t i = 0; i < c->n; i++)
		if (!c->columns[i].hidden &&
			(strcmp(name, c->columns[i].name) == 0 ||
				strcmp(name, c->columns[i].base) == 0)) {
			*ret = c->columns[i].group;
			return 0;
		}
	list_stems(c, &stems);
	struct pm_bytes list = pm_text_view(&stems);
	int r = pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET, "no metric is named %.60s: %.*s",
		name, (int)list.len, (const char *)list.p);
	pm_text_done(&stems);
	return r;
}

/*
 * ---- the primary quantity, by rule ----
 *
 * Chosen by the stored values: see pm_quantity_leading. The total of a quantity with inclusive
 * costs is that of the top-level contexts. Counts have no inclusive costs, and those of some
 * profiles overlap at the top (inclusive_overlaps): these are added up over all contexts, if they
 * matter. If the tree cannot be built, or the profile wants it so, names and units decide.
 */

enum { BETWEEN_QUESTIONS = 1 << 12 /* contexts */ };

struct totals {
	struct pm_arena *a;
	struct pm_error *err;
	const struct pm_profile *profile;
	const struct pm_tree *tree; /* of the profile; its order does not matter here */
	const struct pm_metrics *metrics;
	struct pm_map of_id; /* metric id → index in metrics */
	struct pm_value *values;
	double *of_group;
	bool *at_the_top; /* by group: inclusive costs at the top are the whole */
	uint32_t n_groups;
};

/* Adds the costs of a context: inclusive ones if it is a context at the `top`, else the others. */
static int add_context(struct totals *w, uint32_t context, bool top, struct pm_error *err)
{
	int64_t n = w->profile->ops->run_costs(w->profile, context, w->values, w->metrics->n, err);
	for (int64_t i = 0; i < n; i++) {
		const uint32_t *index = pm_map_find(&w->of_id, w->values[i].metric);
		const struct pm_metric *metric = index ? &w->metrics->metrics[*index] : NULL;
		double value = pmfs_value_number(&w->values[i]);
		if (!metric || !isfinite(value) || w->at_the_top[metric->group] != top ||
			(metric->role == PM_ROLE_INCLUSIVE) != top)
			continue;
		w->of_group[metric->group] += value;
	}
	return n < 0 ? (int)n : 0;
}

/* An unreadable context counts as 0 here; the error is reported where it is shown. */
static uint32_t add_contexts(struct totals *w, bool tops)
{
	uint32_t n = w->tree->n_contexts;
	uint32_t added = 0;
	for (uint32_t i = 0; i < n; i = tops ? w->tree->end[i] : i + 1) {
		struct pm_error why = {.code = 0};
		if (++added % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(w->a);
		if (pm_is_passing(add_context(w, i, tops, &why)))
			pm_build_fail(w->a,
				pm_error_set(
					w->err, -ENOMEM, why.file, why.offset, "%s", why.text));
	}
	return pm_quantity_leading(w->metrics, w->of_group);
}

static uint32_t sum_quantities(struct totals *w)
{
	const struct pm_metrics *metrics = w->metrics;
	const struct pm_flat *flat = NULL;
	bool fresh;
	w->n_groups = pm_metrics_groups(metrics);
	w->values = pm_arena_array(w->a, (size_t)metrics->n + 1, sizeof(*w->values));
	w->of_group = pm_arena_array(w->a, (size_t)w->n_groups + 1, sizeof(*w->of_group));
	w->at_the_top = pm_arena_array(w->a, (size_t)w->n_groups + 1, sizeof(*w->at_the_top));
	for (uint32_t i = 0; i < metrics->n; i++) {
		const struct pm_metric *metric = &metrics->metrics[i];
		pm_map_put(&w->of_id, metric->id, i, &fresh);
		if (metric->role == PM_ROLE_INCLUSIVE && metric->has_values)
			w->at_the_top[metric->group] = !w->profile->inclusive_overlaps;
	}
	int r = pm_profile_flat(w->profile, &flat, w->err);
	if (pm_is_passing(r))
		pm_build_fail(w->a, r);
	if (r == 0 && flat && flat->statements) /* contexts have none */
		w->of_group[metrics->metrics[flat->statements->metric].group] =
			flat->statements->whole_ns;
	uint32_t leading = add_contexts(w, true);
	/* Might a group with an unknown total lead, if the total is not 0? */
	double *maybe = pm_arena_array(w->a, (size_t)w->n_groups + 1, sizeof(*maybe));
	for (uint32_t i = 0; i < w->n_groups; i++)
		maybe[i] = w->at_the_top[i] ? w->of_group[i] : 1;
	return pm_quantity_leading(metrics, maybe) == leading ? leading : add_contexts(w, false);
}

/*
 * PM_NONE if no metric has a column. Reads the costs of top-level contexts, and of all contexts
 * only if a quantity without inclusive cost could be primary.
 */
static uint32_t primary_by_rule(struct pm_arena *scratch, struct pmfs_model *m,
	const struct pm_metrics *metrics, struct pm_error *err)
{
	struct totals w = {.a = scratch,
		.err = err,
		.profile = pmfs_model_profile(m),
		.metrics = metrics,
		.of_id.arena = scratch};
	struct pm_error why = {.code = 0};
	uint32_t leading = PM_NONE;
	if (metrics->leads)
		return metrics->leads - 1;
	int r = w.profile->lead_by_name ? -ENODATA : pm_profile_tree(w.profile, &w.tree, &why);
	if (pm_is_passing(r))
		pm_build_fail(scratch, pm_error_set(err, r, why.file, why.offset, "%s", why.text));
	if (r == 0)
		leading = sum_quantities(&w);
	return leading != PM_NONE ? leading : pm_quantity_leading(metrics, NULL);
}

/* ---- columns ---- */

struct pmfs_metric_slot {
	uint32_t id;
	uint32_t tree, flat; /* columns; both PM_NONE in a free slot */
};

/* While columns are made. */
struct making {
	struct pm_arena *a;
	const struct pm_metrics *metrics;
	struct pmfs_columns *c;
	struct pmfs_column *columns;  /* c->columns */
	struct pmfs_derived *derived; /* c->derived */
};

static void make_columns(struct making *k, struct naming *n, bool all, struct pm_error *err)
{
	struct pmfs_columns *c = k->c;
	uint32_t *of = pm_arena_array(n->scratch, n->n_groups, N_ROLES * sizeof(*of));
	c->columns = k->columns = pm_arena_array(k->a, k->metrics->n, sizeof(*k->columns));
	for (uint32_t i = 0; i < k->metrics->n; i++) {
		const struct pm_metric *metric = &k->metrics->metrics[i];
		if (!metric->has_values || metric->role >= PM_ROLE_OTHER ||
			(!metric->in_tree && !metric->in_flat))
			continue;
		uint32_t *place = &of[(size_t)metric->group * N_ROLES + metric->role];
		if (*place == 0) {
			if (c->n == PM_LIMIT_COLUMNS)
				pm_build_fail(k->a,
					pm_error_set(err, -EFBIG, NULL, PM_NO_OFFSET,
						"its metrics would have more than %d columns",
						PM_LIMIT_COLUMNS));
			k->columns[c->n] = column_of(n, metric);
			k->columns[c->n].hidden = metric->hidden && !all;
			*place = ++c->n;
		}
		struct pmfs_column *column = &k->columns[*place - 1];
		if (metric->in_tree && !column->tree)
			column->tree = metric;
		if (metric->in_flat && !column->flat)
			column->flat = metric;
	}
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
	static const int place[N_ROLES] = {
		[PM_ROLE_EXCLUSIVE] = 0, [PM_ROLE_INCLUSIVE] = 1, [PM_ROLE_COUNT] = 2};
	return place[x->role] - place[y->role];
}

static void put_in_order(struct pmfs_columns *c, struct pmfs_column *columns, uint32_t lead)
{
	if (c->n > 0)
		qsort_r(columns, c->n, sizeof(*columns), by_lead, &lead);
	for (uint32_t i = 0; i + 1 < c->n; i++)
		if (columns[i].group == columns[i + 1].group &&
			columns[i].role == PM_ROLE_EXCLUSIVE &&
			columns[i + 1].role == PM_ROLE_INCLUSIVE) {
			columns[i].pair = i + 1;
			columns[i + 1].pair = i;
		}
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
static void list_self(struct making *k)
{
	const struct pm_metric *m = k->metrics->metrics;
	struct pmfs_columns *c = k->c;
	struct pmfs_self_column *self = pm_arena_array(k->a, k->metrics->n, sizeof(*self));
	c->self = self;
	for (uint32_t i = 0; i < c->n_shown; i++) {
		const struct pmfs_column *column = &c->columns[i];
		uint32_t j = 0;
		while (j < k->metrics->n &&
			(!m[j].is_self || !m[j].has_values || m[j].group != column->group))
			j++;
		if (j == k->metrics->n || (i > 0 && column[-1].group == column->group))
			continue;
		self[c->n_self++] = (struct pmfs_self_column){
			.name = pm_arena_printf(k->a, "%s_self", column->base),
			.metric = m[j].id,
			.own = column->role == PM_ROLE_EXCLUSIVE || i + 1 == c->n ? i
										  : column->pair,
		};
	}
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

static void make_slots(struct pm_arena *arena, struct pmfs_columns *c)
{
	uint32_t n = 8;
	while (n < 4 * (uint64_t)c->n)
		n *= 2;
	struct pmfs_metric_slot *slots = pm_arena_array(arena, n, sizeof(*slots));
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

/*
 * ---- derived columns ----
 *
 * Nothing is stored for them: whoever fills the cells of a row has them computed from these. So
 * they are right in sums, too, which no sum of theirs would be.
 */

/*
 * What a name stands for in columns of that role: 1, 0 if it has none of that role, or -ENOENT if
 * nothing has the name.
 */
static int find_leaf(
	const struct pmfs_columns *c, struct pm_bytes name, enum pm_role role, uint32_t *ret)
{
	int r = -ENOENT;
	for (uint32_t i = 0; i < c->n; i++)
		if (pm_bytes_equal(name, pm_bytes_of(c->columns[i].base))) {
			*ret = i;
			r = 0;
			if (c->columns[i].role == role || c->columns[i].role == PM_ROLE_COUNT)
				return 1;
		}
	for (uint32_t i = 0; i < c->n_derived; i++)
		if (pm_bytes_equal(name, pm_bytes_of(c->derived[i].base))) {
			*ret = c->n + i;
			r = 0;
			if (c->derived[i].role == role)
				return 1;
		}
	return r;
}

/* Whether a table could not have that column, since it has one of the name. */
static bool is_taken(const struct pmfs_columns *c, struct pm_bytes base)
{
	uint32_t leaf;
	if (find_leaf(c, base, PM_ROLE_COUNT, &leaf) >= 0)
		return true;
	for (uint32_t i = 0; i < c->n; i++) {
		struct pm_bytes name = pm_bytes_of(c->columns[i].name);
		if (name.len == base.len + 5 && memcmp(name.p, base.p, base.len) == 0 &&
			(strcmp(c->columns[i].name + base.len, "_incl") == 0 ||
				strcmp(c->columns[i].name + base.len, "_excl") == 0))
			return true;
	}
	return false;
}

/* The column of a group in that role, or a count; PM_NONE: it has none. */
static uint32_t column_of_group(const struct pmfs_columns *c, uint32_t group, enum pm_role role)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->columns[i].group == group &&
			(c->columns[i].role == role || c->columns[i].role == PM_ROLE_COUNT))
			return i;
	return PM_NONE;
}

/*
 * Whether a formula is a sum of quantities with constant factors: all of them costs, or all counts,
 * which on the inclusive side are not those of what is below.
 */
static void find_sum(const struct making *k, struct pmfs_derived *d)
{
	enum { CONSTANT, SUM, OTHER };
	uint8_t *stack = pm_arena_array(k->a, d->formula.n, sizeof(*stack));
	uint32_t top = 0, n_columns = k->c->n, counts = 0, costs = 0;
	for (uint32_t i = 0; i < d->formula.n; i++) {
		const struct pm_op *op = &d->formula.ops[i];
		uint32_t sums = 0, others = 0;
		top -= op->n;
		const uint8_t *operands = &stack[top];
		for (uint32_t j = 0; j < op->n; j++) {
			sums += operands[j] == SUM;
			others += operands[j] == OTHER;
		}
		bool sum = others == 0 && sums > 0;
		if (op->kind == PM_OP_NAME) {
			const struct pmfs_derived *of =
				&k->derived[op->leaf < n_columns ? 0 : op->leaf - n_columns];
			bool stored = op->leaf < n_columns;
			bool count =
				stored ? k->columns[op->leaf].role == PM_ROLE_COUNT : of->is_count;
			sum = stored || of->is_sum;
			counts += count;
			costs += !count;
		} else if (op->kind == PM_OP_MULTIPLY || op->kind == PM_OP_PRODUCT)
			sum = sum && sums == 1;
		else if (op->kind == PM_OP_DIVIDE)
			sum = sum && sums == 1 && operands[0] == SUM;
		else
			sum = sum && sums == op->n &&
				(op->kind == PM_OP_NEGATE || op->kind == PM_OP_ADD ||
					op->kind == PM_OP_SUBTRACT || op->kind == PM_OP_SUM);
		bool constant = others + sums == 0 && op->kind != PM_OP_NAME;
		stack[top++] = sum ? SUM : constant ? CONSTANT : OTHER;
	}
	d->is_sum = stack[0] == SUM && (counts == 0 || costs == 0);
	d->is_count = d->is_sum && counts > 0;
}

/*
 * Adds the column of a role, if all names have such a one. Leaves of formulas of the source are
 * groups, and have no names.
 */
static void add_side(struct making *k, struct pm_bytes base, const char *text, struct pm_bytes unit,
	const struct pm_formula *formula, enum pm_role role)
{
	struct pm_op *ops = pm_arena_array(k->a, formula->n, sizeof(*ops));
	for (uint32_t i = 0; i < formula->n; i++) {
		ops[i] = formula->ops[i];
		if (ops[i].kind != PM_OP_NAME)
			continue;
		if (ops[i].name.len && find_leaf(k->c, ops[i].name, role, &ops[i].leaf) != 1)
			return;
		if (!ops[i].name.len)
			ops[i].leaf = column_of_group(k->c, ops[i].leaf, role);
		if (ops[i].leaf == PM_NONE)
			return;
	}
	const char *stem = copy_of(k->a, base);
	struct pmfs_derived *d = &k->derived[k->c->n_derived++];
	*d = (struct pmfs_derived){
		.name = pm_arena_printf(k->a, "%s%s", stem, role_suffixes[role]),
		.base = stem,
		.text = pm_bytes_of(text),
		.unit = unit,
		.role = role,
		.formula = {formula->n, ops},
	};
	find_sum(k, d);
}

/* Of the source: the name is the slug of its own. */
static void add_own(struct making *k, struct naming *n, const struct pm_derived *of)
{
	struct pm_metric named = {.name = of->name, .unit = of->unit};
	struct pm_bytes base = pm_metric_slug(&n->text, &named);
	const char *text = pm_arena_printf(k->a, "%.*s%s%.*s", (int)of->name.len,
		(const char *)of->name.p, of->description.len ? ": " : "", (int)of->description.len,
		(const char *)of->description.p);
	if (is_taken(k->c, base)) {
		pm_text_str(&n->text, "_derived");
		base = pm_text_view(&n->text);
	}
	bool fits = !is_taken(k->c, base);
	if (fits && of->own)
		add_side(k, base, text, of->unit, of->own, PM_ROLE_EXCLUSIVE);
	if (fits && of->inclusive)
		add_side(k, base, text, of->unit, of->inclusive, PM_ROLE_INCLUSIVE);
}

static void add_definition(struct making *k, const struct pmfs_definition *of)
{
	const struct pm_bytes none = {NULL, 0};
	const char *text = pm_arena_printf(k->a, "%.*s = %.*s", (int)of->name.len,
		(const char *)of->name.p, (int)of->text.len, (const char *)of->text.p);
	if (is_taken(k->c, of->name))
		return;
	add_side(k, of->name, text, none, &of->formula, PM_ROLE_EXCLUSIVE);
	add_side(k, of->name, text, none, &of->formula, PM_ROLE_INCLUSIVE);
}

/* ---- cells ---- */

struct row {
	const struct pmfs_columns *columns;
	const pm_number *numbers;
	const struct pm_cell *derived;
};

static double value_of(const void *self, uint32_t leaf)
{
	const struct row *row = self;
	return leaf < row->columns->n ? row->numbers[leaf]
				      : pmfs_cell_number(&row->derived[leaf - row->columns->n]);
}

void pmfs_derived_cells(
	const struct pmfs_columns *c, const pm_number *numbers, struct pm_cell *derived)
{
	struct row row = {c, numbers, derived};
	for (uint32_t i = 0; i < c->n_derived; i++)
		derived[i] = pmfs_cell(pm_formula_value(&c->derived[i].formula, value_of, &row));
}

pm_number pmfs_cell_number(const struct pm_cell *cell)
{
	return cell->kind == PM_CELL_F64    ? cell->f
		: cell->kind == PM_CELL_U64 ? (pm_number)cell->u
		: cell->kind == PM_CELL_I64 ? (pm_number)cell->i
					    : NAN;
}

/* ---- definitions that nothing can be computed of ---- */

static int refuse(const struct pmfs_columns *c, const struct pmfs_definition *d, const char *why,
	struct pm_bytes name, struct pm_error *err)
{
	struct pm_text stems = {.p = NULL};
	list_stems(c, &stems);
	struct pm_bytes list = pm_text_view(&stems);
	int r = pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET, "-o derive=%.*s: %s %.*s: %.*s",
		(int)d->name.len, (const char *)d->name.p, why,
		(int)(name.len < 60 ? name.len : 60), (const char *)name.p, (int)list.len,
		(const char *)list.p);
	pm_text_done(&stems);
	return r;
}

int pmfs_definitions_check(
	const struct pmfs_definitions *all, const struct pmfs_columns *c, struct pm_error *err)
{
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < all->n; i++) {
		const struct pmfs_definition *d = &all->items[i];
		uint32_t leaf;
		if (find_leaf(c, d->name, PM_ROLE_COUNT, &leaf) >= 0 && leaf >= c->n)
			continue;
		for (uint32_t k = 0; k < d->formula.n; k++)
			if (d->formula.ops[k].kind == PM_OP_NAME &&
				find_leaf(c, d->formula.ops[k].name, PM_ROLE_COUNT, &leaf) < 0)
				return refuse(
					c, d, "no metric is named", d->formula.ops[k].name, err);
		r = refuse(c, d,
			is_taken(c, d->name) ? "there is a metric named"
					     : "own and inclusive costs cannot be mixed in",
			is_taken(c, d->name) ? d->name : d->text, err);
	}
	return r;
}

/* ---- the part ---- */

/* `by_cost`: the primary quantity comes first, for which costs have to be read. */
static void build(struct pm_arena *a, struct pmfs_model *m, bool by_cost, struct pmfs_columns *c,
	struct pm_error *err)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct pm_strtab names = pm_strtab_in(scratch);
	const struct pmfs_definitions *definitions = pmfs_model_definitions(m);
	uint32_t n_definitions = definitions ? definitions->n : 0, lead = PM_NONE;
	const char *wish = pmfs_model_wish(m);
	struct making k = {.a = a, .c = c};
	pm_build_check(a, pmfs_model_metrics(m, &k.metrics, err));
	struct naming n = {.metrics = k.metrics,
		.slugs = names,
		.bases = names,
		.taken = names,
		.taken_exports = names,
		.text.arena = scratch,
		.arena = a,
		.scratch = scratch};
	name_groups(&n);
	make_columns(&k, &n, definitions && definitions->all_metrics, err);
	if (by_cost && wish)
		pm_build_check(a, primary_by_name(c, wish, &lead, err));
	else if (by_cost)
		lead = primary_by_rule(scratch, m, k.metrics, err);
	put_in_order(c, k.columns, lead);
	make_slots(a, c);
	list_self(&k);
	c->derived = k.derived = pm_arena_array(
		a, 2 * ((size_t)n_definitions + k.metrics->n_derived), sizeof(*k.derived));
	for (uint32_t i = 0; i < k.metrics->n_derived; i++)
		add_own(&k, &n, &k.metrics->derived[i]);
	for (uint32_t i = 0; i < n_definitions; i++)
		add_definition(&k, &definitions->items[i]);
	pm_arena_done(scratch);
}

static void build_columns(struct pm_arena *a, void *m, void *part, struct pm_error *err)
{
	build(a, m, true, part, err);
}

static void build_names(struct pm_arena *a, void *m, void *part, struct pm_error *err)
{
	build(a, m, false, part, err);
}

int pmfs_model_columns(struct pmfs_model *m, const struct pmfs_columns **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_columns), .what = "the columns", .build = build_columns};
	return pmfs_model_part(m, PMFS_PART_COLUMNS, &type, ret, err);
}

int pmfs_model_column_names(
	struct pmfs_model *m, const struct pmfs_columns **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_columns), .what = "the columns", .build = build_names};
	return pmfs_model_part(m, PMFS_PART_COLUMN_NAMES, &type, ret, err);
}

int pmfs_model_lead_with(struct pmfs_model *m, const char *name, struct pm_error *err)
{
	const struct pmfs_columns *c;
	pmfs_model_set_wish(m, name);
	return pmfs_model_columns(m, &c, err);
}
