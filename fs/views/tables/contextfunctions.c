/*
 * A context's functions.csv: the flat profile of its subtree. Summed when a cursor starts; a row's
 * position is its number.
 */
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/groups.h"
#include "fs/views/tables/functions.h"

struct subtree {
	const struct pmfs_functions *functions; /* of the whole run */
	uint32_t root;
	struct pmfs_sums sums;
	struct pm_map rows; /* row of functions.csv → row here */
	uint32_t *whole;    /* row here → that of functions.csv */
	uint32_t *contexts; /* row here → how many */
	uint32_t *order;    /* most own cost first */
	size_t room_whole, room_contexts;
};

static void subtree_free(struct subtree *s)
{
	pmfs_sums_done(&s->sums);
	pm_map_done(&s->rows);
	free(s->whole);
	free(s->contexts);
	free(s->order);
	free(s);
}

/* The subtree of a line or an instruction begins inside of a function: there it stands for it. */
static int place(void *self, uint32_t context, struct pmfs_share *share)
{
	struct subtree *s = self;
	const struct pmfs_functions *f = s->functions;
	uint32_t whole = f->row[pmfs_function_of(f->identity, context)];
	bool is_call = pmfs_is_call(f->identity, context), fresh;
	share->row = PM_NONE;
	if (whole == PM_NONE ||
		(!is_call && pm_tree_frame(f->tree, context)->kind == PM_KIND_ENTRY))
		return 0;
	uint32_t *row = pm_map_put(&s->rows, whole, s->sums.n, &fresh);
	if (!row)
		return -ENOMEM;
	share->row = *row;
	share->counts = is_call || context == s->root;
	if (fresh) {
		if (pm_list_room(&s->whole, s->sums.n, &s->room_whole, sizeof(*s->whole)) < 0 ||
			pm_list_room(&s->contexts, s->sums.n, &s->room_contexts,
				sizeof(*s->contexts)) < 0)
			return -ENOMEM;
		s->whole[s->sums.n] = whole;
		s->contexts[s->sums.n] = 0;
		if (pmfs_sums_row(&s->sums, &share->row) < 0)
			return -ENOMEM;
	}
	s->contexts[share->row] += share->counts;
	return 0;
}

static int sum_up(struct pmfs_model *m, uint32_t context, struct subtree *s, struct pm_error *err)
{
	int r = pmfs_functions(m, &s->functions, err);
	if (r < 0)
		return r;
	const struct pmfs_functions *f = s->functions;
	struct pmfs_grouping g = {.model = m,
		.tree = f->tree,
		.first = context,
		.end = f->tree->end[context],
		.place = place,
		.self = s};
	s->sums.columns = f->columns;
	s->root = context;
	r = pmfs_group(&g, &s->sums, err);
	if (r < 0)
		return r;
	s->order =
		pmfs_order(s->sums.cells, s->sums.n, f->columns->n, pmfs_order_column(f->columns));
	return s->order ? 0 : pmfs_no_memory(err);
}

static int rows_start(struct pm_rows *rows, struct pm_error *err)
{
	struct subtree *s = calloc(1, sizeof(*s));
	if (!s)
		return pmfs_no_memory(err);
	int r = sum_up(pmfs_model_of(rows->table->self), (uint32_t)rows->table->a, s, err);
	if (r < 0)
		subtree_free(s);
	else
		rows->own = s;
	return r;
}

static void rows_done(struct pm_rows *rows)
{
	if (rows->own)
		subtree_free(rows->own);
}

static int rows_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct subtree *s = rows->own;
	(void)err;
	if (rows->at >= s->sums.n)
		return 0;
	uint32_t row = s->order[rows->at++];
	pmfs_function_row(s->functions, s->whole[row], s->contexts[row],
		s->sums.cells + (size_t)row * s->sums.columns->n, cells);
	return 1;
}

int pmfs_context_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = rows_start, .next = rows_next, .done = rows_done};
	int r = pmfs_function_table(m, &type, ret, err);
	ret->a = item;
	return r;
}
