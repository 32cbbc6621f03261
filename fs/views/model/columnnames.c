/*
 * Names of metric columns, by the rules of docs/namespace.md §1: a slug of the metric's name, its
 * unit, a number where names clash, `_incl` or `_excl`.
 */
#include "fs/views/model/columnnames.h"

#include <errno.h>
#include <string.h>

#include "formats/common/quantity.h"
#include "formats/common/slug.h"

static const char *const role_suffixes[PMFS_N_ROLES] = {
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

/* ---- bases: one name a group, unlike any other ---- */

static bool is_taken(const struct pmfs_column_naming *n, const char *name)
{
	return pm_strtab_find(&n->taken, pm_bytes_of(name)) != UINT32_MAX;
}

/* Reserves the base and its columns if all are free; 1 if so, 0 if not. */
static int try_base(struct pmfs_column_naming *n, uint32_t group, const char *base)
{
	const char *columns[PMFS_N_ROLES];
	if (pm_strtab_find(&n->bases, pm_bytes_of(base)) != UINT32_MAX)
		return 0;
	for (unsigned role = 0; role < PMFS_N_ROLES; role++) {
		columns[role] = pm_arena_printf(&n->scratch, "%s%s", base, role_suffixes[role]);
		if (!columns[role])
			return -ENOMEM;
		if (n->roles[group] & 1u << role && is_taken(n, columns[role]))
			return 0;
	}
	n->base[group] = base;
	for (unsigned role = 0; role < PMFS_N_ROLES; role++)
		if (n->roles[group] & 1u << role &&
			pm_strtab_add(&n->taken, pm_bytes_of(columns[role])) == UINT32_MAX)
			return -ENOMEM;
	return pm_strtab_add(&n->bases, pm_bytes_of(base)) == UINT32_MAX ? -ENOMEM : 1;
}

static int name_group(struct pmfs_column_naming *n, uint32_t group)
{
	struct pm_bytes slug = pm_metric_slug(&n->text, &n->metrics->metrics[n->first[group]]);
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

static int look_at_groups(struct pmfs_column_naming *n)
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

int pmfs_naming_groups(struct pmfs_column_naming *n)
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
static const char *export_name(struct pmfs_column_naming *n, const char *base,
	const struct pm_metric *metric, double *scale)
{
	pm_text_clear(&n->text);
	struct pm_bytes slug = pm_metric_slug(&n->text, metric);
	double ns = pm_unit_ns(metric->unit);
	size_t len = metric->unit.len;
	*scale = 1;
	if (n->text.failed || ns <= 1 || slug.len <= len || slug.p[slug.len - len - 1] != '_' ||
		memcmp(slug.p + slug.len - len, metric->unit.p, len) != 0)
		return base;
	*scale = ns;
	return pm_arena_printf(n->arena, "%.*sns%s", (int)(slug.len - len), base, base + slug.len);
}

/* `cputime_sec` and `cputime_usec` are both cputime_ns: the second gets a number. */
static int name_export(struct pmfs_column_naming *n, uint32_t group, const char *wanted)
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

int pmfs_naming_column(
	struct pmfs_column_naming *n, const struct pm_metric *metric, struct pmfs_column *ret)
{
	const char *base = n->base[metric->group];
	*ret = (struct pmfs_column){
		.name = pm_arena_printf(n->arena, "%s%s", base, role_suffixes[metric->role]),
		.base = base,
		.role = metric->role,
		.group = metric->group,
		.decreases = metric->decreases,
		.fractions = metric->fractions,
		.pair = PM_NONE,
	};
	const char *export = export_name(n, base, metric, &ret->export_scale);
	if (!ret->name || n->text.failed || name_export(n, metric->group, export) < 0)
		return -ENOMEM;
	ret->export = n->exports[metric->group];
	return 0;
}

void pmfs_naming_init(
	struct pmfs_column_naming *n, const struct pm_metrics *metrics, struct pm_arena *arena)
{
	*n = (struct pmfs_column_naming){.metrics = metrics, .arena = arena};
	n->slugs.arena = n->bases.arena = n->taken.arena = n->taken_exports.arena = &n->scratch;
}

void pmfs_naming_done(struct pmfs_column_naming *n)
{
	pm_strtab_done(&n->slugs);
	pm_strtab_done(&n->bases);
	pm_strtab_done(&n->taken);
	pm_strtab_done(&n->taken_exports);
	pm_text_done(&n->text);
	pm_arena_done(&n->scratch);
}
