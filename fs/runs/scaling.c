/*
 * scaling.csv: the loss of functions with more threads, see docs/namespace.md. Costs are sums over
 * all threads: without a loss, strong scaling leaves them unchanged, and weak scaling multiplies
 * them. The rows are those of compare/NAME/functions.csv.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "fs/runs/loss.h"
#include "fs/runs/matrix.h"
#include "fs/runs/sides.h"
#include "fs/views/model/screen.h"

/* A row of scaling.csv. */
struct row {
	uint32_t group, place; /* in functions.csv */
	uint32_t name;         /* text */
	double own[2], incl[2], loss, loss_incl;
};

struct scaling {
	const char *const *header, *const *contexts_header;
	uint32_t n_header, n_contexts_header;
	struct row *rows;
	uint32_t n;
	size_t room;
	const char *quantity;           /* or NULL */
	struct pmfs_group_facts *facts; /* by group */
	bool has_incl;
	struct pm_strtab texts;
	struct pm_arena arena;
};

int pmfs_scales(const struct pmfs_ensemble *e, struct pm_error *err)
{
	const struct pmfs_facts *facts;
	if (e->runs.n > PMFS_MOST_OPENED)
		return 1;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return pmfs_threads_differ(e, facts);
}

/* ---- rows ---- */

/* Largest loss first; functions in the order of functions.csv. */
static int by_loss(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->loss != y->loss)
		return x->loss < y->loss ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

static double loss_of(const double cost[2], double factor)
{
	return (isfinite(cost[1]) ? cost[1] : 0) - (isfinite(cost[0]) ? cost[0] : 0) * factor;
}

static int add_rows(struct scaling *s, uint32_t group, const struct pmfs_compared *c, double factor)
{
	uint32_t first = s->n;
	for (uint32_t i = 0; i < c->n; i++) {
		struct pmfs_compared_row of = pmfs_compared_row(c, c->order[i]);
		struct row row = {.group = group,
			.place = i,
			.own = {of.own[0], of.own[1]},
			.incl = {of.incl[0], of.incl[1]},
			.loss = loss_of(of.own, factor),
			.loss_incl = loss_of(of.incl, factor)};
		if (isnan(of.own[0]) && isnan(of.own[1]) && isnan(of.incl[0]) && isnan(of.incl[1]))
			continue;
		s->has_incl |= !isnan(of.incl[0]) || !isnan(of.incl[1]);
		row.name = pm_strtab_add_lasting(&s->texts, of.name);
		if (pm_work_cancelled() || row.name == PM_NONE ||
			pm_list_room(&s->rows, s->n, &s->room, sizeof(*s->rows)) < 0)
			return -ENOMEM;
		s->rows[s->n++] = row;
	}
	pm_strtab_forget(&s->texts);
	return s->n > first ? pm_sort(s->rows + first, s->n - first, sizeof(*s->rows), by_loss) : 0;
}

/* The comparison with others[other]; one that cannot be read is left out. */
static int add_other(struct scaling *s, const struct pmfs_ensemble *e, uint32_t other)
{
	struct pm_error unused = {.offset = PM_NO_OFFSET};
	uint32_t group = e->others[other];
	struct pmfs_compared c;
	struct pm_profile *p;
	double factor;
	if (!s->quantity || !pmfs_loss_factor(e, &s->facts[e->base], &s->facts[group], &factor))
		return 0;
	int r = pmfs_ensemble_compare(e, other, false, NULL, &p, &unused);
	if (r < 0)
		return r;
	r = pmfs_compare_functions(p, s->quantity, &c, &unused);
	if (r == 0)
		r = add_rows(s, group, &c, factor);
	p->ops->close(p);
	return pmfs_is_lasting(r) ? 0 : r;
}

static int name_columns(struct scaling *s)
{
	static const char *const before[] = {"threads_base", "threads", "run", NULL};
	static const char *const after[] = {"loss_incl", "loss", "loss_share", "name", NULL};
	static const char *const contexts_before[] = {
		"threads_base", "threads", "run", "context_id", "parent_id", "depth", NULL};
	static const char *const contexts_after[] = {
		"loss_incl", "loss", "loss_share", "kind", "file", "name", NULL};
	static const char *const kinds[] = {"excl_base", "excl", "incl_base", "incl"};
	struct pm_strtab middle = {.arena = &s->arena};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char name[300];
		snprintf(name, sizeof(name), "%s_%s", s->quantity ? s->quantity : "none", kinds[i]);
		pm_strtab_add(&middle, pm_bytes_of(name));
	}
	s->header = pmfs_header_of(&s->arena, before, &middle, after, &s->n_header);
	s->contexts_header = pmfs_header_of(
		&s->arena, contexts_before, &middle, contexts_after, &s->n_contexts_header);
	pm_strtab_done(&middle);
	return s->header && s->contexts_header ? 0 : -ENOMEM;
}

static int scaling_fill(void *owner, void *part, struct pm_error *err)
{
	const struct pmfs_ensemble *e = owner;
	struct scaling *s = part;
	const struct pmfs_facts *facts;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0 || (r = pmfs_lead_name(e, &s->arena, &s->quantity, err)) < 0)
		return r;
	s->texts.arena = &s->arena;
	s->facts = pm_arena_array(&s->arena, e->runs.n_groups, sizeof(*s->facts));
	r = s->facts ? name_columns(s) : -ENOMEM;
	for (uint32_t g = 0; g < e->runs.n_groups && r == 0; g++)
		s->facts[g] = pmfs_group_facts(e, facts, g);
	for (uint32_t i = 0; i + 1 < e->runs.n_groups && r == 0; i++)
		r = add_other(s, e, i);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static void scaling_done(void *part)
{
	struct scaling *s = part;
	free(s->rows);
	pm_strtab_done(&s->texts);
	pm_arena_done(&s->arena);
}

static int get_scaling(
	const struct pmfs_ensemble *e, const struct scaling **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct scaling),
		.fill = scaling_fill,
		.done = scaling_done,
		.what = "what is lost with more threads"};
	struct pmfs_ensemble *owner = pmfs_ensemble_of(e);
	return pm_part_get(&owner->parts[PMFS_ENSEMBLE_SCALING], &type, owner, ret, err);
}

/* ---- scaling.csv ---- */

static int scaling_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(rows->table->self);
	const struct scaling *s;
	int r = get_scaling(e, &s, err);
	if (r < 0 || rows->at >= s->n)
		return r;
	const struct row *row = &s->rows[rows->at++];
	double whole = s->facts[row->group].whole;
	cells[0] = pm_cell_f64(s->facts[e->base].threads);
	cells[1] = pm_cell_f64(s->facts[row->group].threads);
	cells[2] = pm_cell_str(e->runs.groups[row->group].name);
	cells[3] = pm_cell_f64(row->own[0]);
	cells[4] = pm_cell_f64(row->own[1]);
	cells[5] = pm_cell_f64(row->incl[0]);
	cells[6] = pm_cell_f64(row->incl[1]);
	cells[7] = s->has_incl ? pm_cell_f64(row->loss_incl) : pm_cell_empty();
	cells[8] = pm_cell_f64(row->loss);
	cells[9] = whole != 0 ? pm_cell_f64(row->loss / whole) : pm_cell_empty();
	cells[10] = pm_cell_lasting(s->texts.items[row->name]);
	return 1;
}

int pmfs_scaling_columns(struct pm_table *table, struct pm_error *err)
{
	const struct scaling *s;
	int r = get_scaling(pmfs_ensemble_of(table->self), &s, err);
	if (r < 0)
		return r;
	table->columns = table->a ? s->contexts_header : s->header;
	table->n_columns = table->a ? s->n_contexts_header : s->n_header;
	return 0;
}

struct pm_table pmfs_scaling_table(const struct pmfs_ensemble *e)
{
	static const struct pm_table_type type = {
		.next = scaling_next, .columns = pmfs_scaling_columns, .dense = true};
	return (struct pm_table){.type = &type, .self = e};
}

int pmfs_scaling_lines(const struct pmfs_ensemble *e, uint32_t group, unsigned most,
	const struct pmfs_column *column, struct pm_text *out, struct pm_error *err)
{
	const struct scaling *s;
	int r = get_scaling(e, &s, err);
	if (r < 0)
		return r;
	double whole = s->facts[group].whole;
	for (uint32_t i = 0; i < s->n && most > 0; i++) {
		const struct row *row = &s->rows[i];
		if (row->group != group || !(row->loss > 1e-9 * whole))
			continue;
		pm_text_str(out, "  ");
		pmfs_add_amount(out, column, row->loss);
		pm_text_str(out, "  ");
		pmfs_add_share(out, row->loss, whole);
		pm_text_str(out, "  ");
		pmfs_add_cut(out, s->texts.items[row->name], 65);
		pm_text_char(out, '\n');
		most--;
	}
	return 0;
}
