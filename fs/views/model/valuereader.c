/* The sequences of values that a profile has, read in one way. */
#include "fs/views/model/valuereader.h"

#include <stdlib.h>

#include "formats/common/work.h"
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
