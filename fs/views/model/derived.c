/*
 * Derived columns. Nothing is stored for them: whoever fills the cells of a row has them computed
 * from these. So they are right in sums, too, which no sum of theirs would be.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

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
static bool is_taken(const struct pmfs_columns *c, const struct pmfs_definition *d)
{
	uint32_t leaf;
	if (find_leaf(c, d->name, PM_ROLE_COUNT, &leaf) >= 0)
		return true;
	for (uint32_t i = 0; i < c->n; i++) {
		struct pm_bytes name = pm_bytes_of(c->columns[i].name);
		if (name.len == d->name.len + 5 && memcmp(name.p, d->name.p, d->name.len) == 0 &&
			(strcmp(c->columns[i].name + d->name.len, "_incl") == 0 ||
				strcmp(c->columns[i].name + d->name.len, "_excl") == 0))
			return true;
	}
	return false;
}

/* ---- columns ---- */

/* Adds the column of a role, if all names have such a one. */
static int add_side(const struct pmfs_definition *d, enum pm_role role, struct pm_arena *arena,
	struct pmfs_columns *c, struct pmfs_derived *derived)
{
	struct pm_op *ops = pm_arena_array(arena, d->formula.n, sizeof(*ops));
	const char *text = pm_arena_printf(arena, "%.*s = %.*s", (int)d->name.len,
		(const char *)d->name.p, (int)d->text.len, (const char *)d->text.p);
	if (!ops || !text)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->formula.n; i++) {
		ops[i] = d->formula.ops[i];
		if (ops[i].kind == PM_OP_NAME && find_leaf(c, ops[i].name, role, &ops[i].leaf) != 1)
			return 0;
	}
	derived->name = pm_arena_printf(
		arena, "%.*s%s", (int)d->name.len, (const char *)d->name.p, suffixes[role]);
	derived->base = pm_arena_printf(arena, "%.*s", (int)d->name.len, (const char *)d->name.p);
	derived->text = pm_bytes_of(text);
	derived->role = role;
	derived->formula = (struct pm_formula){d->formula.n, ops};
	c->n_derived++;
	return derived->name && derived->base ? 0 : -ENOMEM;
}

int pmfs_derive(const struct pmfs_definitions *d, struct pm_arena *arena, struct pmfs_columns *c)
{
	uint32_t n = d ? d->n : 0;
	struct pmfs_derived *derived = pm_arena_array(arena, 2 * n, sizeof(*derived));
	int r = derived ? 0 : -ENOMEM;
	c->derived = derived;
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		if (is_taken(c, &d->items[i]))
			continue;
		r = add_side(&d->items[i], PM_ROLE_EXCLUSIVE, arena, c, &derived[c->n_derived]);
		if (r == 0)
			r = add_side(
				&d->items[i], PM_ROLE_INCLUSIVE, arena, c, &derived[c->n_derived]);
	}
	return r;
}

/* ---- cells ---- */

struct row {
	const struct pmfs_columns *columns;
	const double *numbers;       /* or NULL */
	const struct pm_cell *cells; /* without them */
	const struct pm_cell *derived;
};

static double value_of(const void *self, uint32_t leaf)
{
	const struct row *row = self;
	if (leaf >= row->columns->n)
		return pmfs_cell_number(&row->derived[leaf - row->columns->n]);
	return row->numbers ? row->numbers[leaf] : pmfs_cell_number(&row->cells[leaf]);
}

void pmfs_derived_cells(const struct pmfs_columns *c, const double *numbers,
	const struct pm_cell *cells, struct pm_cell *derived)
{
	struct row row = {c, numbers, cells, derived};
	for (uint32_t i = 0; i < c->n_derived; i++)
		derived[i] = pmfs_cell(pm_formula_value(&c->derived[i].formula, value_of, &row));
}

double pmfs_cell_number(const struct pm_cell *cell)
{
	return cell->kind == PM_CELL_F64    ? cell->f
		: cell->kind == PM_CELL_U64 ? (double)cell->u
		: cell->kind == PM_CELL_I64 ? (double)cell->i
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
			is_taken(c, d) ? "there is a metric named"
				       : "own and inclusive costs cannot be mixed in",
			is_taken(c, d) ? d->name : d->text, err);
	}
	return r;
}
