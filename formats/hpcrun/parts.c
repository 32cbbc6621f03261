/* Builds the parts of a measurement, each once, on first need. */
#include "formats/hpcrun/parts.h"

#include <errno.h>

#include "formats/common/crew.h"
#include "formats/hpcrun/gpunames.h"
#include "profmount/limits.h"

/* Documents that are read while a view reads one thread per core. */
enum { READ_BESIDE = 2 };

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

static int build_gpu_names(void *self, struct pm_error *err)
{
	struct hpcrun_model *m = self;
	int r = hpcrun_has_gpu_names(&m->folder);
	m->has_gpu_names = r == 1;
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the metrics") : 0;
}

int hpcrun_get_gpu_names(struct hpcrun_model *m, struct pm_error *err)
{
	int r = pm_lazy_get(&m->gpu_lazy, build_gpu_names, m, err);
	return r < 0 ? r : m->has_gpu_names;
}

struct hpcrun_run hpcrun_run_of(struct hpcrun_model *m)
{
	return (struct hpcrun_run){.merged = &m->merged, .folder = &m->folder};
}

struct pm_cache *hpcrun_decoded_new(uint64_t limit)
{
	struct pm_cache *cache = pm_cache_new(limit);
	if (cache)
		pm_cache_spare(cache, pm_crew_width() + READ_BESIDE, PM_LIMIT_DECODED_READ);
	return cache;
}

struct request {
	struct hpcrun_model *model;
	enum hpcrun_decoded what;
	uint32_t of;
};

static int decode(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct request *q = context;
	struct hpcrun_run run = hpcrun_run_of(q->model);
	struct hpcrun_values_of_thread *values = NULL;
	struct hpcrun_costs_of_thread *costs = NULL;
	struct hpcrun_links_of_thread *links = NULL;
	struct hpcrun_across *across = NULL;
	int r = -EINVAL;
	__atomic_add_fetch(&q->model->n_decoded, 1, __ATOMIC_RELAXED);
	switch (q->what) {
	case HPCRUN_THREAD_VALUES: r = hpcrun_values_of_thread(&run, q->of, &values); break;
	case HPCRUN_THREAD_COSTS: r = hpcrun_costs_of_thread(&run, q->of, &costs); break;
	case HPCRUN_THREAD_LINKS: r = hpcrun_links_of_thread(&run, q->of, &links); break;
	case HPCRUN_CONTEXT_VALUES:
		r = hpcrun_across_read(&run, q->of, HPCRUN_ACROSS_VALUES, &across);
		break;
	case HPCRUN_CONTEXT_COSTS:
		r = hpcrun_across_read(&run, q->of, HPCRUN_ACROSS_COSTS, &across);
		break;
	}
	if (r < 0)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the costs");
	*ret = values   ? &values->cached
		: costs ? &costs->cached
		: links ? &links->cached
			: &across->cached;
	return 0;
}

int hpcrun_get_decoded(struct hpcrun_model *m, enum hpcrun_decoded what, uint32_t of,
	struct pm_cached **ret, struct pm_error *err)
{
	struct request q = {.model = m, .what = what, .of = of};
	int r = hpcrun_get_merged(m, err);
	if (r < 0)
		return r;
	r = pm_cache_get(m->decoded, (uint64_t)what << 32 | of, decode, &q, ret, NULL);
	/* Whatever the error was, including cancellation, the part is tried again. */
	return r < 0 ? pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the costs")
		     : 0;
}
