/*
 * Derived columns. Nothing is stored for them: whoever fills the cells of a row has them computed
 * from these. So they are right in sums, too, which no sum of theirs would be.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "formats/common/slug.h"
#include "fs/views/model/columnnames.h"
#include "fs/views/model/primary.h"

/* ---- names ---- */

static const char *const suffixes[] = {
	[PM_ROLE_INCLUSIVE] = "_incl", [PM_ROLE_EXCLUSIVE] = "_excl"};

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

/* ---- columns ---- */

/* The column of a group in that role, or a count; PM_NONE: it has none. */
static uint32_t column_of_group(const struct pmfs_columns *c, uint32_t group, enum pm_role role)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->columns[i].group == group &&
			(c->columns[i].role == role || c->columns[i].role == PM_ROLE_COUNT))
			return i;
	return PM_NONE;
}

struct deriving {
	struct pm_arena *arena;
	struct pmfs_columns *c;
	struct pmfs_derived *derived;
};

/*
 * Adds the column of a role, if all names have such a one. Leaves of formulas of the source are
 * groups, and have no names.
 */
static int add_side(struct deriving *d, struct pm_bytes base, struct pm_bytes text,
	struct pm_bytes unit, const struct pm_formula *formula, enum pm_role role)
{
	struct pmfs_derived *derived = &d->derived[d->c->n_derived];
	struct pm_op *ops = pm_arena_array(d->arena, formula->n, sizeof(*ops));
	if (!ops)
		return -ENOMEM;
	for (uint32_t i = 0; i < formula->n; i++) {
		ops[i] = formula->ops[i];
		if (ops[i].kind != PM_OP_NAME)
			continue;
		if (ops[i].name.len && find_leaf(d->c, ops[i].name, role, &ops[i].leaf) != 1)
			return 0;
		if (!ops[i].name.len)
			ops[i].leaf = column_of_group(d->c, ops[i].leaf, role);
		if (ops[i].leaf == PM_NONE)
			return 0;
	}
	derived->name = pm_arena_printf(
		d->arena, "%.*s%s", (int)base.len, (const char *)base.p, suffixes[role]);
	derived->base = pm_arena_printf(d->arena, "%.*s", (int)base.len, (const char *)base.p);
	derived->text = text;
	derived->unit = unit;
	derived->role = role;
	derived->formula = (struct pm_formula){formula->n, ops};
	d->c->n_derived++;
	return derived->name && derived->base ? 0 : -ENOMEM;
}

/* Of the source: the name is the slug of its own. */
static int add_own(struct deriving *d, const struct pm_derived *of)
{
	struct pm_text text = {.p = NULL};
	struct pm_metric named = {.name = of->name, .unit = of->unit};
	int r = 0;
	struct pm_bytes base = pm_metric_slug(&text, &named);
	if (text.failed)
		r = -ENOMEM;
	else if (is_taken(d->c, base)) {
		const char *other = pm_arena_printf(
			d->arena, "%.*s_derived", (int)base.len, (const char *)base.p);
		base = pm_bytes_of(other);
		r = other ? 0 : -ENOMEM;
	}
	bool fits = r == 0 && !is_taken(d->c, base);
	const char *said = pm_arena_printf(d->arena, "%.*s%s%.*s", (int)of->name.len,
		(const char *)of->name.p, of->description.len ? ": " : "", (int)of->description.len,
		(const char *)of->description.p);
	if (!said)
		r = -ENOMEM;
	if (fits && r == 0 && of->own)
		r = add_side(d, base, pm_bytes_of(said), of->unit, of->own, PM_ROLE_EXCLUSIVE);
	if (fits && r == 0 && of->inclusive)
		r = add_side(
			d, base, pm_bytes_of(said), of->unit, of->inclusive, PM_ROLE_INCLUSIVE);
	pm_text_done(&text);
	return r;
}

static int add_definition(struct deriving *d, const struct pmfs_definition *of)
{
	const struct pm_bytes none = {NULL, 0};
	const char *text = pm_arena_printf(d->arena, "%.*s = %.*s", (int)of->name.len,
		(const char *)of->name.p, (int)of->text.len, (const char *)of->text.p);
	if (!text)
		return -ENOMEM;
	if (is_taken(d->c, of->name))
		return 0;
	int r = add_side(d, of->name, pm_bytes_of(text), none, &of->formula, PM_ROLE_EXCLUSIVE);
	return r < 0
		? r
		: add_side(d, of->name, pm_bytes_of(text), none, &of->formula, PM_ROLE_INCLUSIVE);
}

int pmfs_derive(const struct pm_metrics *metrics, const struct pmfs_definitions *definitions,
	struct pm_arena *arena, struct pmfs_columns *c)
{
	uint32_t n = definitions ? definitions->n : 0;
	struct deriving d = {.arena = arena, .c = c};
	d.derived = pm_arena_array(arena, 2 * ((size_t)n + metrics->n_derived), sizeof(*d.derived));
	int r = d.derived ? 0 : -ENOMEM;
	c->derived = d.derived;
	for (uint32_t i = 0; r == 0 && i < metrics->n_derived; i++)
		r = add_own(&d, &metrics->derived[i]);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = add_definition(&d, &definitions->items[i]);
	return r;
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
	pmfs_list_stems(c, &stems);
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
