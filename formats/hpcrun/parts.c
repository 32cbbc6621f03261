/* Builds the parts of a measurement, each once and on first need. */
#include "formats/hpcrun/parts.h"

#include "formats/hpcrun/costs.h"

static int build_who(void *self, struct pm_error *err)
{
	struct hpcrun_model *m = self;
	return hpcrun_who_read(&m->who, &m->folder, err);
}

int hpcrun_get_who(struct hpcrun_model *m, struct pm_error *err)
{
	return pm_lazy_get(&m->who_lazy, build_who, m, err);
}

static int build_merged(void *self, struct pm_error *err)
{
	struct hpcrun_model *m = self;
	int r = hpcrun_get_who(m, err);
	if (r < 0)
		return r;
	r = hpcrun_merge(&m->merged, &m->folder, &m->who, &m->damage_list, err);
	if (r == 0)
		return 0;
	pm_damage_done(&m->damage_list); /* it may be tried again */
	m->damage_list = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	return r;
}

int hpcrun_get_merged(struct hpcrun_model *m, struct pm_error *err)
{
	return pm_lazy_get(&m->merged_lazy, build_merged, m, err);
}

static int build_costs(void *self, struct pm_error *err)
{
	struct hpcrun_model *m = self;
	int r = hpcrun_get_merged(m, err);
	if (r < 0)
		return r;
	r = hpcrun_spread(&m->costs, &m->merged, m->who.threads.n);
	if (r == 0)
		return 0;
	pm_costs_done(&m->costs);
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the costs");
}

int hpcrun_get_costs(struct hpcrun_model *m, struct pm_error *err)
{
	return pm_lazy_get(&m->costs_lazy, build_costs, m, err);
}

static int build_times(void *self, struct pm_error *err)
{
	struct hpcrun_model *m = self;
	int r = hpcrun_get_who(m, err);
	if (r < 0)
		return r;
	r = hpcrun_times_read(&m->times, &m->folder, &m->who);
	if (r == 0)
		return 0;
	hpcrun_times_done(&m->times);
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the traces");
}

int hpcrun_get_times(struct hpcrun_model *m, struct pm_error *err)
{
	return pm_lazy_get(&m->times_lazy, build_times, m, err);
}

static int build_by_context(void *self, struct pm_error *err)
{
	struct hpcrun_model *m = self;
	int r = hpcrun_get_merged(m, err);
	if (r < 0)
		return r;
	r = hpcrun_by_context_make(&m->by_context, &m->merged, m->who.threads.n);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the values") : 0;
}

int hpcrun_get_by_context(struct hpcrun_model *m, struct pm_error *err)
{
	return pm_lazy_get(&m->by_context_lazy, build_by_context, m, err);
}
