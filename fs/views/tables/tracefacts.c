#include "fs/views/tables/tracefacts.h"

#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/categories.h"
#include "fs/views/sums/threads.h"
#include "fs/views/sums/tracelength.h"

enum { BATCH = 512, CHECK_EVERY = 4096 };

uint32_t pmfs_trace_category(struct pmfs_model *m)
{
	return pmfs_model_profile(m)->traces_are_calls ? PMFS_TRACE_CALL_CATEGORY
						       : PMFS_TRACE_CATEGORY;
}

/* Each text is reported once: there are far fewer frames and functions than contexts. */
struct telling {
	struct pmfs_trace_contexts contexts;
	uint32_t column; /* of the category */
	pm_text_fn *each;
	void *context;
	struct pm_text scratch;
	bool *functions, *frames; /* already reported */
};

static int context_texts(struct telling *t, uint32_t i)
{
	const struct pm_tree *tree = t->contexts.tree;
	uint32_t function = pmfs_function_of(t->contexts.identity, i), frame = tree->frame[i];
	int r = 0;
	if (!t->functions[function])
		r = t->each(
			t->context, t->column + 1, function, pmfs_trace_function(&t->contexts, i));
	t->functions[function] = true;
	if (r < 0 || t->frames[frame])
		return r;
	t->frames[frame] = true;
	pm_text_clear(&t->scratch);
	struct pm_bytes name = pmfs_frame_name(tree, pm_tree_frame(tree, i), &t->scratch);
	return t->scratch.failed ? -ENOMEM : t->each(t->context, t->column + 2, frame, name);
}

static int all_texts(struct telling *t)
{
	const struct pm_tree *tree = t->contexts.tree;
	int r = t->functions && t->frames ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < PMFS_N_CATEGORIES; i++)
		r = t->each(t->context, t->column, i, pmfs_category_name((enum pmfs_category)i));
	for (uint32_t i = 0; r == 0 && i < tree->n_contexts; i++)
		r = i % CHECK_EVERY == 0 && pm_work_cancelled() ? -ENOMEM : context_texts(t, i);
	return r;
}

int pmfs_trace_texts(struct pmfs_model *m, uint32_t before, pm_text_fn *each, void *context,
	struct pm_error *err)
{
	struct telling t = {
		.column = before + pmfs_trace_category(m), .each = each, .context = context};
	int r = pmfs_trace_contexts(m, &t.contexts, err);
	if (r < 0)
		return r;
	t.functions = calloc(t.contexts.identity->n + (size_t)1, sizeof(*t.functions));
	t.frames = calloc(t.contexts.tree->n_frames + (size_t)1, sizeof(*t.frames));
	r = all_texts(&t);
	free(t.functions);
	free(t.frames);
	pm_text_done(&t.scratch);
	return r;
}

/* ---- bounds ---- */

static void widen(uint64_t *least, uint64_t *greatest, uint64_t n_before, uint64_t value)
{
	if (n_before == 0 || value < *least)
		*least = value;
	if (n_before == 0 || value > *greatest)
		*greatest = value;
}

static void add_sample(struct pmfs_trace_range *range, const struct pm_sample *s)
{
	widen(&range->first, &range->last, range->n++, s->time_ns);
	if (s->time_ns != PM_NO_TIME)
		widen(&range->first_known, &range->last_known, range->n_times++, s->time_ns);
	if (s->duration_ns != PM_NO_TIME)
		widen(&range->shortest, &range->longest, range->n_durations++, s->duration_ns);
}

static int add_samples(struct pmfs_trace_range *range, struct pmfs_model *m, uint32_t thread,
	uint64_t from, uint64_t to, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pm_sample batch[BATCH];
	while (from < to) {
		size_t room = to - from < BATCH ? (size_t)(to - from) : BATCH;
		if (pm_work_cancelled())
			return pm_error_plain(err, -ENOMEM);
		int64_t n = p->ops->samples(p, thread, from, batch, room, err);
		if (n <= 0)
			return (int)n;
		for (int64_t i = 0; i < n; i++)
			add_sample(range, &batch[i]);
		from += (uint64_t)n;
	}
	return 0;
}

/* Calls are decoded: to read all of them takes as long as to read the whole trace. */
static int add_ends(struct pmfs_trace_range *range, struct pmfs_model *m, uint32_t thread,
	uint64_t from, uint64_t to, struct pm_error *err)
{
	if (!pmfs_model_profile(m)->calls_in_order || from >= to)
		return 0;
	int r = add_samples(range, m, thread, from, from + 1, err);
	if (r == 0)
		r = add_samples(range, m, thread, to - 1, to, err);
	range->n_durations = 0;
	return r;
}

int pmfs_trace_range_add(struct pmfs_trace_range *range, struct pmfs_model *m, uint32_t thread,
	uint64_t from, uint64_t to, struct pm_error *err)
{
	bool calls = pmfs_model_profile(m)->traces_are_calls;
	return calls ? add_ends(range, m, thread, from, to, err)
		     : add_samples(range, m, thread, from, to, err);
}

/* Leaves them empty where strips() has no such cells: int64 cannot hold them. */
static void set_range(
	struct pm_cell *least, struct pm_cell *greatest, uint64_t first, uint64_t last)
{
	if (last > INT64_MAX)
		return;
	pm_set_u64(least, first);
	pm_set_u64(greatest, last);
}

/* Whether all times are within 63 bits of the origin. */
static bool is_near(const struct pmfs_trace_range *range, uint64_t origin)
{
	return pmfs_is_time(range->first_known, origin) &&
		(range->last_known <= origin || range->last_known - origin <= INT64_MAX);
}

int pmfs_trace_range_cells(const struct pmfs_trace_range *range, struct pmfs_model *m,
	struct pm_cell *least, struct pm_cell *greatest, struct pm_error *err)
{
	uint64_t origin;
	int r = pmfs_time_origin(m, &origin, err);
	if (r < 0 || range->n == 0)
		return r;
	set_range(&least[PMFS_TRACE_TIMESTAMP], &greatest[PMFS_TRACE_TIMESTAMP], range->first,
		range->last);
	if (range->n_times > 0 && is_near(range, origin)) {
		pmfs_set_time(&least[PMFS_TRACE_TIME], range->first_known, origin);
		pmfs_set_time(&greatest[PMFS_TRACE_TIME], range->last_known, origin);
	}
	if (range->n_durations > 0)
		set_range(&least[PMFS_TRACE_DURATION], &greatest[PMFS_TRACE_DURATION],
			range->shortest, range->longest);
	return 0;
}
