/*
 * scaling.csv: the loss of functions with more threads, see docs/namespace.md. Costs are sums over
 * all threads: without a loss, strong scaling leaves them unchanged, and weak scaling multiplies
 * them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "fs/runs/loss.h"
#include "fs/runs/matrix.h"
#include "fs/runs/sides.h"

/* Runs that are opened to find out whether there is a scaling.csv. */
enum { MOST_OPENED = 200 };

/* A row of scaling.csv. */
struct row {
	uint32_t group, function;
	double own_base, own, incl_base, incl, loss, loss_incl;
};

struct scaling {
	const char *const *header, *const *contexts_header;
	uint32_t n_header, n_contexts_header;
	struct row *rows;
	uint32_t n;
	struct pm_arena arena;
};

int pmfs_scales(const struct pmfs_ensemble *e, struct pm_error *err)
{
	const struct pmfs_facts *facts;
	if (e->runs.n > MOST_OPENED)
		return 1;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	uint32_t known = 0;
	for (uint32_t i = 0; i < e->runs.n; i++) {
		uint32_t busy = facts->of[i].broken ? 0 : facts->of[i].busy;
		if (busy && known && busy != known)
			return 1;
		known = busy ? busy : known;
	}
	return 0;
}

/* ---- rows ---- */

/* Largest loss first; functions in the order of the matrix. */
static int by_loss(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->loss != y->loss)
		return x->loss < y->loss ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

static double or_zero(double value)
{
	return isfinite(value) ? value : 0;
}

static int add_group(struct scaling *s, size_t *room, const struct pmfs_ensemble *e,
	const struct pmfs_matrix *m, uint32_t group, double factor)
{
	const struct pmfs_group *base = &e->runs.groups[e->base], *g = &e->runs.groups[group];
	uint32_t first = s->n;
	for (uint32_t i = 0; i < m->n; i++) {
		struct row row = {.group = group, .function = i};
		row.own_base = pmfs_matrix_mean(m, base, i, false);
		row.own = pmfs_matrix_mean(m, g, i, false);
		row.incl_base = pmfs_matrix_mean(m, base, i, true);
		row.incl = pmfs_matrix_mean(m, g, i, true);
		if (isnan(row.own_base) && isnan(row.own) && isnan(row.incl_base) &&
			isnan(row.incl))
			continue;
		row.loss = or_zero(row.own) - or_zero(row.own_base) * factor;
		row.loss_incl = or_zero(row.incl) - or_zero(row.incl_base) * factor;
		if (pm_work_cancelled() || pm_list_room(&s->rows, s->n, room, sizeof(*s->rows)) < 0)
			return -ENOMEM;
		s->rows[s->n++] = row;
	}
	return s->n > first ? pm_sort(s->rows + first, s->n - first, sizeof(*s->rows), by_loss) : 0;
}

static int name_columns(struct scaling *s, const struct pmfs_matrix *m)
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
		snprintf(name, sizeof(name), "%s_%s", m->quantity ? m->quantity : "none", kinds[i]);
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
	const struct pmfs_matrix *m;
	const struct pmfs_facts *facts;
	size_t room = 0;
	int r = pmfs_matrix(e, &m, err);
	if (r < 0 || (r = pmfs_facts(e, &facts, err)) < 0)
		return r;
	r = name_columns(s, m);
	for (uint32_t g = 0; g < e->runs.n_groups && r == 0; g++) {
		double factor;
		if (g != e->base && pmfs_loss_factor(e, facts, g, &factor))
			r = add_group(s, &room, e, m, g, factor);
	}
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static void scaling_done(void *part)
{
	struct scaling *s = part;
	free(s->rows);
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
	const struct pmfs_facts *facts;
	const struct pmfs_matrix *m;
	const struct scaling *s;
	int r = get_scaling(e, &s, err);
	if (r < 0 || rows->at >= s->n)
		return r;
	if ((r = pmfs_matrix(e, &m, err)) < 0 || (r = pmfs_facts(e, &facts, err)) < 0)
		return r;
	const struct row *row = &s->rows[rows->at++];
	const struct pmfs_group *g = &e->runs.groups[row->group];
	double whole = pmfs_matrix_whole(m, g);
	cells[0] = pm_cell_f64(pmfs_busy_threads(e, facts, e->base));
	cells[1] = pm_cell_f64(pmfs_busy_threads(e, facts, row->group));
	cells[2] = pm_cell_str(g->name);
	cells[3] = pm_cell_f64(row->own_base);
	cells[4] = pm_cell_f64(row->own);
	cells[5] = pm_cell_f64(row->incl_base);
	cells[6] = pm_cell_f64(row->incl);
	cells[7] = m->has_incl ? pm_cell_f64(row->loss_incl) : pm_cell_empty();
	cells[8] = pm_cell_f64(row->loss);
	cells[9] = whole != 0 ? pm_cell_f64(row->loss / whole) : pm_cell_empty();
	cells[10] = pm_cell_lasting(m->functions[row->function].name);
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
