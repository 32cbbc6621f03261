/* scaling/contexts.csv: the loss by context, for the contexts of both sides' comparison. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fs/runs/loss.h"
#include "fs/runs/matrix.h"
#include "fs/runs/sides.h"

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
	return r == 0 ? 1 : pmfs_is_lasting(r) ? 0 : pm_error_plain(err, r);
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
		.columns = pmfs_scaling_columns,
		.done = contexts_done};
	return (struct pm_table){.type = &type, .self = e, .a = 1};
}
