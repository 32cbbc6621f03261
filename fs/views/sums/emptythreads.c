#include "fs/views/sums/emptythreads.h"

#include <math.h>
#include <stdlib.h>

#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/threads.h"

struct busy_part {
	struct pmfs_empty_threads busy;
	bool *empty;
};

/* State while threads are examined. */
struct looking {
	struct pmfs_model *model;
	const struct pmfs_columns *columns;
	const struct pm_threads *threads;
	bool *empty; /* by thread, until a cost is found */
};

static void busy_done(void *p)
{
	struct busy_part *part = p;
	free(part->empty);
}

static bool costs(double value)
{
	return !isnan(value) && value != 0;
}

static int look_at_context(struct looking *l, uint32_t context, struct pm_error *err)
{
	struct pmfs_values values;
	const struct pm_value *v;
	int r;
	pmfs_values_start(
		&values, l->model, (struct pm_values_of){PM_OF_CONTEXT, context, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		uint32_t column = pmfs_column_of(l->columns, v->metric, false);
		double value = pmfs_value_number(v);
		if (column != PM_NONE && v->thread < l->threads->n && costs(value))
			l->empty[v->thread] = false;
	}
	return r;
}

static int look_at_tops(struct looking *l, struct pm_error *err)
{
	const struct pm_tree *tree;
	int r = pmfs_model_tree(l->model, &tree, err);
	for (uint32_t i = 0; r == 0 && i < tree->n_contexts; i = tree->end[i]) {
		struct pm_error why = {.code = 0};
		if (look_at_context(l, i, &why) == -ENOMEM)
			r = pmfs_no_memory(err);
	}
	return r;
}

static bool has_lone_columns(const struct pmfs_columns *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->columns[i].role != PM_ROLE_INCLUSIVE && c->columns[i].pair == PM_NONE)
			return true;
	return false;
}

/* An unreadable thread counts as empty here; damage.csv lists it. */
static int look_at_totals(struct looking *l, struct pm_error *err)
{
	uint32_t n = l->columns->n;
	double *cells = pmfs_cells_new(n);
	int r = cells ? 0 : pmfs_no_memory(err);
	for (uint32_t t = 0; r == 0 && t < l->threads->n; t++) {
		struct pm_error why = {.code = 0};
		int known = pmfs_thread_totals(l->model, t, cells, &why);
		if (known == -ENOMEM)
			r = pmfs_no_memory(err);
		for (uint32_t i = 0; known == 0 && i < n; i++)
			if (costs(cells[i]))
				l->empty[t] = false;
	}
	free(cells);
	return r;
}

static int busy_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct busy_part *part = p;
	struct looking l = {.model = m};
	int r = pmfs_model_columns(m, &l.columns, err);
	if (r < 0 || (r = pmfs_model_threads(m, &l.threads, err)) < 0)
		return r;
	part->empty = malloc((size_t)l.threads->n + 1);
	if (!part->empty)
		return pmfs_no_memory(err);
	memset(part->empty, true, (size_t)l.threads->n + 1);
	l.empty = part->empty;
	r = look_at_tops(&l, err);
	if (r == 0 && has_lone_columns(l.columns))
		r = look_at_totals(&l, err);
	if (r < 0)
		return r;
	for (uint32_t t = 0; t < l.threads->n; t++)
		part->busy.n_empty += part->empty[t] && !l.threads->threads[t].is_lane;
	part->busy.n_threads = l.threads->n - l.threads->n_lanes;
	part->busy.empty = part->empty;
	return 0;
}

int pmfs_empty_threads(
	struct pmfs_model *m, const struct pmfs_empty_threads **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct busy_part), busy_fill, busy_done, .what = "the empty threads"};
	struct pmfs_model *whole;
	int r = pmfs_model_whole(m, &whole, err);
	if (r < 0)
		return r;
	/* With how many threads it ran, does not depend on a filter. */
	if (whole)
		return pmfs_empty_threads(whole, ret, err);
	return pmfs_model_part(m, PMFS_PART_EMPTY_THREADS, &type, ret, err);
}
