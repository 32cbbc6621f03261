/* The four sequences of values that a profile has, read in one way. */
#include "fs/views/model/valuereader.h"

#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/parts.h"

void pmfs_values_start(struct pmfs_values *v, const struct pm_profile *profile,
	enum pmfs_values_of of, uint64_t key, uint64_t at)
{
	v->profile = profile;
	v->of = of;
	v->key = key;
	v->at = at;
	v->n = v->i = 0;
}

int pmfs_values_rows_start(struct pm_rows *rows, enum pmfs_values_of of, struct pm_error *err)
{
	struct pmfs_values *values = malloc(sizeof(*values));
	if (!values)
		return pmfs_no_memory(err);
	rows->own = values;
	pmfs_values_start(
		values, pmfs_model_profile(rows->table->self), of, rows->table->a, rows->at);
	return 0;
}

int pmfs_values_fetch(struct pmfs_values *v, struct pm_error *err)
{
	const struct pm_profile *p = v->profile;
	const struct pm_profile_ops *ops = p->ops;
	size_t room = sizeof(v->batch) / sizeof(v->batch[0]);
	uint32_t thread = (uint32_t)v->key;
	int64_t n = 0;
	if (pm_work_cancelled())
		return pmfs_no_memory(err);
	switch (v->of) {
	case PMFS_COSTS_OF_THREAD:
		n = ops->thread_costs(p, thread, v->at, v->batch, room, err);
		break;
	case PMFS_VALUES_OF_THREAD:
		n = (ops->thread_values ? ops->thread_values : ops->thread_costs)(
			p, thread, v->at, v->batch, room, err);
		break;
	case PMFS_COSTS_OF_CONTEXT:
		n = ops->context_costs(p, v->key, v->at, v->batch, room, err);
		break;
	case PMFS_VALUES_OF_CONTEXT:
		n = (ops->context_values ? ops->context_values : ops->context_costs)(
			p, v->key, v->at, v->batch, room, err);
		break;
	}
	v->i = 0;
	v->n = n > 0 ? (uint32_t)n : 0;
	return n < 0 ? (int)n : n > 0;
}
