/* The sequences of values and samples that a profile has, read in one way. */
#include "fs/views/model/valuereader.h"

#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"

void pmfs_values_start(
	struct pmfs_values *v, struct pmfs_model *m, struct pm_values_of of, uint64_t at)
{
	v->model = m;
	v->of = of;
	v->at = at;
	v->n = v->i = 0;
}

int pmfs_values_rows_start(struct pm_rows *rows, struct pm_values_of of, struct pm_error *err)
{
	struct pmfs_values *values = malloc(sizeof(*values));
	if (!values)
		return pmfs_no_memory(err);
	rows->own = values;
	pmfs_values_start(values, pmfs_model_of(rows->table->self), of, rows->at);
	return 0;
}

int pmfs_values_fetch(struct pmfs_values *v, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(v->model);
	size_t room = sizeof(v->batch) / sizeof(v->batch[0]);
	struct pm_values_of of = v->of;
	int r = pm_work_cancelled() ? pmfs_no_memory(err) : 0;
	if (r == 0 && of.what == PM_OF_CONTEXT)
		r = pmfs_own_context(v->model, of.index, &of.index, err);
	int64_t n = r < 0 ? r : p->ops->values(p, of, v->at, v->batch, room, err);
	v->i = 0;
	v->n = n > 0 ? (uint32_t)n : 0;
	return n < 0 ? (int)n : n > 0;
}

/* Values of one context come one after the other. */
void pmfs_values_by_context(struct pm_arena *a, struct pmfs_model *m, uint32_t thread,
	void (*each)(void *self, uint32_t context, const pm_number *cells), void *self,
	struct pm_error *err)
{
	const struct pmfs_columns *c;
	const struct pm_tree *tree;
	struct pmfs_values values;
	const struct pm_value *v;
	uint64_t number = PM_NO_TIME;
	uint32_t context = PM_NONE;
	pm_build_check(a, pmfs_model_columns(m, &c, err));
	pm_build_check(a, pmfs_model_tree(m, &tree, err));
	pm_number *cells = pmfs_cells_new(a, c->n);
	pmfs_values_start(&values, m, (struct pm_values_of){PM_OF_THREAD, thread, false}, 0);
	do {
		v = pmfs_values_take(a, &values, err);
		if (!v || v->context != number) {
			if (context != PM_NONE)
				each(self, context, cells);
			for (uint32_t i = 0; i < c->n; i++)
				cells[i] = NAN;
			number = v ? v->context : PM_NO_TIME;
			context = v ? pm_tree_find(tree, number) : PM_NONE;
		}
		uint32_t column = context == PM_NONE ? PM_NONE : pmfs_column_of(c, v->metric, true);
		if (column != PM_NONE)
			pmfs_add(&cells[column], pmfs_value_number(v));
	} while (v);
	pm_arena_free(a, cells);
}

int pmfs_samples_fetch(struct pmfs_samples *s, struct pm_error *err)
{
	size_t room = sizeof(s->batch) / sizeof(s->batch[0]);
	int64_t n = pm_work_cancelled()
		? pmfs_no_memory(err)
		: s->profile->ops->samples(s->profile, s->thread, s->at, s->batch, room, err);
	s->i = 0;
	s->n = n > 0 ? (uint32_t)n : 0;
	s->at += s->n;
	return n < 0 ? (int)n : n > 0;
}
