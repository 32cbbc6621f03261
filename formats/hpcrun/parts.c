/* Opens a measurement, and builds its parts, each once, on first need. */
#include "formats/hpcrun/parts.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/pipeline.h"
#include "profmount/limits.h"

/* Documents that are read while a view reads one thread per core. */
enum { READ_BESIDE = 2 };

static int build_who(void *self, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	return hpcrun_who_read(&o->who, &o->folder, err);
}

int hpcrun_get_who(struct hpcrun_opened *o, struct pm_error *err)
{
	return pm_lazy_get(&o->who_lazy, build_who, o, err);
}

/* The same for hpcrun_file_list. */
static int who_of(void *self, const struct hpcrun_who **ret, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	*ret = &o->who;
	return hpcrun_get_who(o, err);
}

static int build_merged(void *self, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	int r = hpcrun_get_who(o, err);
	if (r < 0)
		return r;
	r = hpcrun_merge(&o->merged, &o->folder, &o->who, &o->damage_list, err);
	if (r == 0)
		return 0;
	pm_damage_done(&o->damage_list); /* it may be tried again */
	o->damage_list = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	return r;
}

int hpcrun_get_merged(struct hpcrun_opened *o, struct pm_error *err)
{
	return pm_lazy_get(&o->merged_lazy, build_merged, o, err);
}

static int build_times(void *self, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	int r = hpcrun_get_who(o, err);
	if (r < 0)
		return r;
	r = hpcrun_times_read(&o->times, &o->folder, &o->who);
	if (r == 0)
		return 0;
	hpcrun_times_done(&o->times);
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the traces");
}

int hpcrun_get_times(struct hpcrun_opened *o, struct pm_error *err)
{
	return pm_lazy_get(&o->times_lazy, build_times, o, err);
}

/* Requires `merged`. */
static struct hpcrun_run run_of(struct hpcrun_opened *o)
{
	return (struct hpcrun_run){.merged = &o->merged, .folder = &o->folder};
}

struct pm_cache *hpcrun_decoded_new(uint64_t limit)
{
	struct pm_cache *cache = pm_cache_new(limit);
	if (cache)
		pm_cache_spare(cache, pm_crew_width() + READ_BESIDE, PM_LIMIT_DECODED_READ);
	return cache;
}

struct request {
	struct hpcrun_opened *opened;
	enum hpcrun_decoded what;
	uint32_t of;
};

static int decode(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct request *q = context;
	struct hpcrun_run run = run_of(q->opened);
	struct hpcrun_values_of_thread *values = NULL;
	struct hpcrun_costs_of_thread *costs = NULL;
	struct hpcrun_links_of_thread *links = NULL;
	struct hpcrun_across *across = NULL;
	int r = -EINVAL;
	__atomic_add_fetch(&q->opened->n_decoded, 1, __ATOMIC_RELAXED);
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

int hpcrun_get_decoded(struct hpcrun_opened *o, enum hpcrun_decoded what, uint32_t of,
	struct pm_cached **ret, struct pm_error *err)
{
	struct request q = {.opened = o, .what = what, .of = of};
	int r = hpcrun_get_merged(o, err);
	if (r < 0)
		return r;
	r = pm_cache_get(o->decoded, (uint64_t)what << 32 | of, decode, &q, ret, NULL);
	/* Whatever the error was, including cancellation, the part is tried again. */
	return r < 0 ? pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the costs")
		     : 0;
}

/* ---- facts and damage ---- */

static int build_facts(void *self, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	int r = hpcrun_facts_read(&o->facts, &o->folder);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory") : 0;
}

int hpcrun_get_facts(struct hpcrun_opened *o, struct pm_error *err)
{
	return pm_lazy_get(&o->facts_lazy, build_facts, o, err);
}

struct hpcrun_trace_place hpcrun_trace_place_of(struct hpcrun_opened *o, uint32_t thread)
{
	return (struct hpcrun_trace_place){.folder = &o->folder,
		.thread = &o->who.items[thread],
		.time = &o->times.items[thread],
		.merged = &o->merged,
		.index = thread};
}

/* Collects what is lost of a thread's trace in a list of its own. */
static int make_losses(void *context, uint32_t i, void *result)
{
	struct hpcrun_opened *o = context;
	struct pm_damage_list *list = result;
	const char *name = o->folder.sources[i].trace.name;
	struct hpcrun_run run = run_of(o);
	struct hpcrun_trace_place place = hpcrun_trace_place_of(o, i);
	struct hpcrun_report report = {.list = list, .file = name};
	struct hpcrun_links_of_thread *links;
	*list = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	int r = name ? hpcrun_links_of_thread(&run, i, &links) : 0;
	if (r < 0 || !name)
		return r;
	place.links = links;
	r = hpcrun_trace_report(&place, &report);
	links->cached.free(&links->cached);
	return r;
}

static int take_losses(void *context, uint32_t i, void *result)
{
	struct hpcrun_opened *o = context;
	struct pm_damages all = pm_damage_rows(result);
	(void)i;
	for (size_t k = 0; k < all.n; k++)
		pm_damage_add(&o->damage_list, all.rows[k].file, all.rows[k].offset,
			all.rows[k].bytes, "%s", all.rows[k].what);
	return 0;
}

static void drop_losses(void *result)
{
	pm_damage_done(result);
}

static int build_damage(void *self, struct pm_error *err)
{
	struct hpcrun_opened *o = self;
	int r = hpcrun_get_merged(o, err);
	if (r == 0)
		r = hpcrun_get_times(o, err);
	if (r < 0)
		return r;
	size_t before = o->damage_list.n;
	struct pm_pipeline pipeline = {.n = o->who.threads.n,
		.size = sizeof(struct pm_damage_list),
		.make = make_losses,
		.take = take_losses,
		.drop = drop_losses,
		.context = o};
	r = pm_pipeline_run(&pipeline);
	struct pm_damages runs = r == 0 ? pm_damage_rows(&o->who.damage) : (struct pm_damages){0};
	for (size_t i = 0; i < runs.n; i++)
		pm_damage_add(&o->damage_list, runs.rows[i].file, runs.rows[i].offset,
			runs.rows[i].bytes, "%s", runs.rows[i].what);
	if (r == 0)
		o->damages = pm_damage_rows(&o->damage_list);
	else
		o->damage_list.n = before; /* it may be tried again */
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory") : 0;
}

int hpcrun_get_damage(struct hpcrun_opened *o, struct pm_error *err)
{
	return pm_lazy_get(&o->damage_lazy, build_damage, o, err);
}

/* ---- opening and closing ---- */

int hpcrun_opened_new(struct hpcrun_folder *folder, const char *path, struct hpcrun_opened **ret,
	struct pm_error *err)
{
	struct hpcrun_opened *o = malloc(sizeof(*o));
	if (!o) {
		hpcrun_folder_close(folder);
		return pm_error_set(err, -ENOMEM, path, PM_NO_OFFSET, "no memory");
	}
	*o = (struct hpcrun_opened){.folder = *folder,
		.who_lazy = PM_LAZY_INIT,
		.merged_lazy = PM_LAZY_INIT,
		.times_lazy = PM_LAZY_INIT,
		.damage_lazy = PM_LAZY_INIT,
		.facts_lazy = PM_LAZY_INIT,
		.damage_list = PM_DAMAGE_LIST_INIT,
		.decoded = hpcrun_decoded_new(PM_LIMIT_DECODED)};
	int r = -ENOMEM;
	if (o->decoded)
		r = hpcrun_layout_find(&o->folder, o->layout, sizeof(o->layout));
	if (r <= 0) {
		pm_cache_free(o->decoded);
		hpcrun_folder_close(&o->folder);
		free(o);
		if (r < 0)
			return pm_error_plain(err, r);
		return pm_error_set(err, -EINVAL, path, PM_NO_OFFSET,
			"contains no readable hpcrun profile or trace");
	}
	o->files = (struct hpcrun_file_list){.folder = &o->folder, .who = who_of, .context = o};
	o->document = hpcrun_raw_files(&o->files);
	*ret = o;
	return 0;
}

void hpcrun_opened_free(struct hpcrun_opened *o)
{
	pm_cache_free(o->decoded);
	hpcrun_merged_done(&o->merged);
	hpcrun_times_done(&o->times);
	hpcrun_who_done(&o->who);
	pm_arena_done(&o->facts.arena);
	pm_damage_done(&o->damage_list);
	hpcrun_folder_close(&o->folder);
	free(o);
}
