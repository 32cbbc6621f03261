/*
 * What is lost with more threads, see docs/namespace.md: scaling.csv by function,
 * scaling/contexts.csv by context. Costs are sums over all threads: without a loss, strong
 * scaling leaves them unchanged, and weak scaling multiplies them. The rows are those of
 * functions.csv and contexts.csv in compare/NAME.
 */
#include "fs/runs/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "fs/views/model/screen.h"

/*
 * scaling.csv: the loss of functions with more threads, see docs/namespace.md. Costs are sums
 * over all threads: without a loss, strong scaling leaves them unchanged, and weak scaling
 * multiplies them. The rows are those of compare/NAME/functions.csv.
 */

/* A row of scaling.csv. */
struct row {
	uint32_t group, place; /* in functions.csv */
	uint32_t name;         /* text */
	double own[2], incl[2], loss, loss_incl;
};

struct scaling {
	struct pm_arena *a; /* while it is built */
	const char *const *header, *const *contexts_header;
	uint32_t n_header, n_contexts_header;
	struct row *rows;
	uint32_t n;
	size_t room;
	const char *quantity;           /* or NULL */
	struct pmfs_group_facts *facts; /* by group */
	bool has_incl;
	struct pm_strtab texts;
};

int pmfs_scales(const struct pmfs_ensemble *e, struct pm_error *err)
{
	const struct pmfs_facts *facts;
	if (e->runs.n > PMFS_MOST_OPENED)
		return 1;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0)
		return pm_is_passing(r) ? r : 0;
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

/* A comparison that is read, in an attempt of its own. */
struct adding {
	struct scaling *s;
	const struct pm_profile *p;
	uint32_t group;
	double factor;
};

static void add_rows(void *context)
{
	const struct adding *adding = context;
	struct scaling *s = adding->s;
	struct pmfs_compared c;
	uint32_t first = s->n;
	pm_build_check(s->a, pmfs_compare_functions(adding->p, s->quantity, &c, NULL));
	for (uint32_t i = 0; i < c.n; i++) {
		struct pmfs_compared_row of = pmfs_compared_row(&c, c.order[i]);
		struct row row = {.group = adding->group,
			.place = i,
			.own = {of.own[0], of.own[1]},
			.incl = {of.incl[0], of.incl[1]},
			.loss = loss_of(of.own, adding->factor),
			.loss_incl = loss_of(of.incl, adding->factor)};
		if (isnan(of.own[0]) && isnan(of.own[1]) && isnan(of.incl[0]) && isnan(of.incl[1]))
			continue;
		s->has_incl |= !isnan(of.incl[0]) || !isnan(of.incl[1]);
		pm_build_proceed(s->a);
		pm_list_grow(s->a, &s->rows, s->n, &s->room, sizeof(*s->rows));
		row.name = pm_strtab_add_lasting(&s->texts, of.name);
		s->rows[s->n++] = row;
	}
	pm_strtab_forget(&s->texts);
	if (s->n > first)
		pm_build_check(
			s->a, pm_sort(s->rows + first, s->n - first, sizeof(*s->rows), by_loss));
}

/* The comparison with others[other]; one that cannot be read is left out. */
static void add_other(struct scaling *s, const struct pmfs_ensemble *e, uint32_t other)
{
	struct adding adding = {.s = s, .group = e->others[other]};
	struct pm_profile *p;
	if (!s->quantity ||
		!pmfs_loss_factor(e, &s->facts[e->base], &s->facts[adding.group], &adding.factor))
		return;
	pm_build_check(s->a, pmfs_ensemble_compare(e, other, false, NULL, &p, NULL));
	adding.p = p;
	int r = pm_build(s->a, add_rows, &adding);
	p->ops->close(p);
	if (pm_is_passing(r))
		pm_build_fail(s->a, r);
}

static void name_columns(struct scaling *s)
{
	static const char *const before[] = {"threads_base", "threads", "run", NULL};
	static const char *const after[] = {"loss_incl", "loss", "loss_share", "name", NULL};
	static const char *const contexts_before[] = {
		"threads_base", "threads", "run", "context_id", "parent_id", "depth", NULL};
	static const char *const contexts_after[] = {
		"loss_incl", "loss", "loss_share", "kind", "file", "name", NULL};
	static const char *const kinds[] = {"excl_base", "excl", "incl_base", "incl"};
	struct pm_strtab middle = pm_strtab_in(s->a);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char name[300];
		snprintf(name, sizeof(name), "%s_%s", s->quantity ? s->quantity : "none", kinds[i]);
		pm_strtab_add(&middle, pm_bytes_of(name));
	}
	s->header = pmfs_header_of(s->a, before, &middle, after, &s->n_header);
	s->contexts_header = pmfs_header_of(
		s->a, contexts_before, &middle, contexts_after, &s->n_contexts_header);
}

static void scaling_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	const struct pmfs_ensemble *e = owner;
	struct scaling *s = part;
	const struct pmfs_facts *facts;
	s->a = a;
	pm_build_check(a, pmfs_facts(e, &facts, err));
	pm_build_check(a, pmfs_lead_name(e, a, &s->quantity, err));
	s->texts = pm_strtab_in(a);
	s->facts = pm_arena_array(a, e->runs.n_groups, sizeof(*s->facts));
	name_columns(s);
	for (uint32_t g = 0; g < e->runs.n_groups; g++)
		s->facts[g] = pmfs_group_facts(e, facts, g);
	for (uint32_t i = 0; i + 1 < e->runs.n_groups; i++)
		add_other(s, e, i);
}

static int get_scaling(
	const struct pmfs_ensemble *e, const struct scaling **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct scaling),
		.what = "what is lost with more threads",
		.build = scaling_build};
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

/* The columns of one of them; for that of contexts, a = 1. */
static int scaling_columns(struct pm_table *table, struct pm_error *err)
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
		.next = scaling_next, .columns = scaling_columns, .dense = true};
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

/*
 * ---- scaling/contexts.csv: the loss by context, for the contexts of the comparison of both
 * sides ----
 */

static double or_zero(double value)
{
	return isfinite(value) ? value : 0;
}

/* The comparison of a cursor. */
struct reader {
	struct pm_profile *profile; /* NULL: none is open */
	const struct pmfs_union *both;
	uint32_t own, incl; /* columns of both; PM_NONE: they lack it */
	uint32_t other;
	double factor, whole;
	double threads_base, threads;
	struct pm_text kind;
	struct pm_arena arena;
};

static void leave(struct reader *reader)
{
	if (reader->profile)
		reader->profile->ops->close(reader->profile);
	reader->profile = NULL;
}

/* The column of a quantity; PM_NONE if there is none. */
static uint32_t column_of(const struct pmfs_union *both, const char *quantity, const char *suffix)
{
	size_t len = strlen(quantity);
	for (uint32_t i = 0; i < both->n_columns; i++)
		if (strncmp(both->columns[i], quantity, len) == 0 &&
			strcmp(both->columns[i] + len, suffix) == 0)
			return i;
	return PM_NONE;
}

/* 1 if the comparison can be read, 0 if it is left out. */
static int enter(
	struct reader *reader, const struct pmfs_ensemble *e, uint32_t other, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	const struct pmfs_facts *facts;
	const char *quantity;
	uint32_t group = e->others[other];
	leave(reader);
	reader->other = other;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0 || (r = pmfs_lead_name(e, &reader->arena, &quantity, err)) < 0)
		return r;
	struct pmfs_group_facts base = pmfs_group_facts(e, facts, e->base);
	struct pmfs_group_facts of_group = pmfs_group_facts(e, facts, group);
	if (!quantity || !pmfs_loss_factor(e, &base, &of_group, &reader->factor))
		return 0;
	reader->whole = of_group.whole;
	reader->threads_base = base.threads;
	reader->threads = of_group.threads;
	r = pmfs_ensemble_compare(e, other, false, NULL, &reader->profile, &why);
	if (r < 0)
		reader->profile = NULL;
	else if ((r = pmfs_compare_contexts(reader->profile, &reader->both, &why)) < 0)
		leave(reader);
	if (r == 0) {
		uint32_t excl = column_of(reader->both, quantity, "_excl");
		reader->own = excl != PM_NONE ? excl : column_of(reader->both, quantity, "");
		reader->incl = column_of(reader->both, quantity, "_incl");
	}
	return r == 0 ? 1 : pm_is_lasting(r) ? 0 : pm_error_plain(err, r);
}

static int contexts_start(struct pm_rows *rows, struct pm_error *err)
{
	rows->own = calloc(1, sizeof(struct reader));
	return rows->own ? 0 : pmfs_ensemble_no_memory(err);
}

static void contexts_done(struct pm_rows *rows)
{
	struct reader *reader = rows->own;
	if (!reader)
		return;
	leave(reader);
	pm_text_done(&reader->kind);
	pm_arena_done(&reader->arena);
	free(reader);
	rows->own = NULL;
}

static void set_costs(const struct reader *reader, uint32_t context, struct pm_cell *cells)
{
	const struct pmfs_union *u = reader->both;
	const uint32_t columns[] = {reader->own, reader->incl};
	size_t at = (size_t)context * u->n_columns;
	double losses[2];
	for (uint32_t k = 0; k < 2; k++) {
		double base = columns[k] == PM_NONE ? NAN : u->base[at + columns[k]];
		double other = columns[k] == PM_NONE ? NAN : u->other[at + columns[k]];
		cells[2 * k] = pm_cell_f64(base);
		cells[2 * k + 1] = pm_cell_f64(other);
		losses[k] = or_zero(other) - or_zero(base) * reader->factor;
	}
	cells[4] = reader->incl == PM_NONE ? pm_cell_empty() : pm_cell_f64(losses[1]);
	cells[5] = pm_cell_f64(losses[0]);
	cells[6] = reader->whole != 0 ? pm_cell_f64(losses[0] / reader->whole) : pm_cell_empty();
}

static void set_context(struct reader *reader, const struct pmfs_ensemble *e, uint32_t context,
	struct pm_text *scratch, struct pm_cell *cells)
{
	const struct pm_tree *tree = reader->both->tree;
	const struct pm_frame *frame = pm_tree_frame(tree, context);
	uint32_t parent = tree->parent[context];
	cells[0] = pm_cell_f64(reader->threads_base);
	cells[1] = pm_cell_f64(reader->threads);
	cells[2] = pm_cell_str(e->runs.groups[e->others[reader->other]].name);
	cells[3] = pm_cell_u64(pm_tree_number(tree, context));
	cells[4] = parent == PM_NONE ? pm_cell_empty() : pm_cell_u64(pm_tree_number(tree, parent));
	cells[5] = pm_cell_u64(tree->depth[context]);
	set_costs(reader, context, cells + 6);
	pm_text_clear(&reader->kind);
	cells[13] = pm_cell_text(pmfs_frame_kind(frame, &reader->kind));
	cells[14] = pm_cell_text(tree->texts[frame->file]);
	cells[15] = pm_cell_text(pmfs_frame_name(tree, frame, scratch));
}

static int contexts_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(rows->table->self);
	struct reader *reader = rows->own;
	for (;;) {
		uint32_t other = (uint32_t)(rows->at >> 32), context = (uint32_t)rows->at;
		if (other + 1 >= e->runs.n_groups)
			return 0;
		int r = reader->profile && reader->other == other ? 1
								  : enter(reader, e, other, err);
		if (r < 0)
			return r;
		if (r > 0 && context < reader->both->tree->n_contexts) {
			rows->row = rows->at++;
			set_context(reader, e, context, rows->scratch, cells);
			return 1;
		}
		rows->at = (uint64_t)(other + 1) << 32;
	}
}

struct pm_table pmfs_scaling_contexts_table(const struct pmfs_ensemble *e)
{
	static const struct pm_table_type type = {.next = contexts_next,
		.start = contexts_start,
		.columns = scaling_columns,
		.done = contexts_done};
	return (struct pm_table){.type = &type, .self = e, .a = 1};
}
