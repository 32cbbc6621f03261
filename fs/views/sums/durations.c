#include "fs/views/sums/durations.h"

#include <stdlib.h>

#include "formats/common/buckets.h"
#include "formats/common/list.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/functions.h"
#include "profmount/limits.h"

struct durations_part {
	struct pmfs_durations *rows;
};

/* ---- buckets ---- */

static void bucket_add(struct pm_arena *a, struct pmfs_durations *d, uint32_t index, uint64_t ns)
{
	size_t i = 0;
	while (i < d->n_buckets && d->buckets[i].index < index)
		i++;
	if (i == d->n_buckets || d->buckets[i].index != index) {
		pm_list_grow(a, &d->buckets, d->n_buckets, &d->room_buckets, sizeof(*d->buckets));
		memmove(d->buckets + i + 1, d->buckets + i,
			(d->n_buckets++ - i) * sizeof(*d->buckets));
		d->buckets[i] = (struct pm_call_bucket){.index = index};
	}
	d->buckets[i].calls++;
	d->buckets[i].ns += ns;
}

/* ---- the longest calls: a heap with the next to be dropped on top ---- */

static bool goes_before(const struct pmfs_slow_call *a, const struct pmfs_slow_call *b)
{
	return a->duration_ns != b->duration_ns ? a->duration_ns < b->duration_ns
						: a->order > b->order;
}

static void swap(struct pmfs_slow_call *a, struct pmfs_slow_call *b)
{
	struct pmfs_slow_call c = *a;
	*a = *b;
	*b = c;
}

static void slow_add(
	struct pm_arena *a, struct pmfs_durations *d, const struct pmfs_slow_call *call)
{
	size_t i = 0, n = d->n_slowest;
	if (n == PMFS_SLOWEST) {
		struct pmfs_slow_call *heap = d->slowest;
		if (goes_before(call, &heap[0]))
			return;
		heap[0] = *call;
		for (size_t child; (child = 2 * i + 1) < n; i = child) {
			if (child + 1 < n && goes_before(&heap[child + 1], &heap[child]))
				child++;
			if (!goes_before(&heap[child], &heap[i]))
				return;
			swap(&heap[child], &heap[i]);
		}
		return;
	}
	pm_list_grow(a, &d->slowest, n, &d->room_slowest, sizeof(*call));
	d->slowest[n] = *call;
	d->n_slowest++;
	for (i = n; i > 0 && goes_before(&d->slowest[i], &d->slowest[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&d->slowest[i], &d->slowest[(i - 1) / 2]);
}

static int longest_first(const void *a, const void *b)
{
	const struct pmfs_slow_call *x = a, *y = b;
	return goes_before(x, y) - goes_before(y, x);
}

/* ---- the part ---- */

static size_t bytes_of(const struct pmfs_durations *d)
{
	return d->room_buckets * sizeof(*d->buckets) + d->room_slowest * sizeof(*d->slowest);
}

static void build_durations(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct durations_part *part = p;
	struct pmfs_samples samples = {.profile = pmfs_model_profile(m)};
	const struct pmfs_functions *f;
	const struct pm_threads *threads;
	const struct pm_sample *s;
	uint64_t order = 0;
	size_t bytes = 0;
	pm_build_check(a, pmfs_functions(m, &f, err));
	pm_build_check(a, pm_profile_traces(samples.profile, &threads, err));
	part->rows = pm_arena_array(a, (size_t)f->n + 1, sizeof(*part->rows));
	for (uint32_t i = 0; i < threads->n; i++) {
		int r = 0;
		samples = (struct pmfs_samples){samples.profile, i};
		while (threads->threads[i].has_trace &&
			(r = pmfs_samples_next(&samples, &s, err)) > 0) {
			uint32_t context = pm_tree_find_sample(f->tree, s->context), row;
			if (context == PM_NONE || s->duration_ns == PM_NO_TIME)
				continue;
			row = f->row[pmfs_function_of(f->identity, context)];
			if (row == PM_NONE)
				continue;
			struct pmfs_durations *d = &part->rows[row];
			const struct pmfs_slow_call call = {.duration_ns = s->duration_ns,
				.time_ns = s->time_ns,
				.order = order++,
				.seq = s->seq,
				.context = context,
				.thread = i};
			bytes -= bytes_of(d);
			bucket_add(a, d, pm_bucket_of(s->duration_ns), s->duration_ns);
			slow_add(a, d, &call);
			bytes += bytes_of(d);
			if (bytes > PM_LIMIT_DURATIONS)
				pm_build_fail(a,
					pm_error_set(err, -ENOTSUP, NULL, PM_NO_OFFSET,
						"the calls of %u functions would take too much "
						"memory",
						f->n));
		}
		pm_build_check(a, r);
	}
	for (uint32_t i = 0; i < f->n; i++)
		if (part->rows[i].n_slowest > 1)
			qsort(part->rows[i].slowest, part->rows[i].n_slowest,
				sizeof(struct pmfs_slow_call), longest_first);
}

int pmfs_durations(
	struct pmfs_model *m, uint32_t row, const struct pmfs_durations **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct durations_part),
		.what = "the durations of calls", .build = build_durations};
	const struct durations_part *part;
	int r = pmfs_model_part(m, PMFS_PART_DURATIONS, &type, &part, err);
	*ret = r < 0 ? NULL : &part->rows[row];
	return r;
}

/* ---- what there is ---- */

static bool has_calls(const struct pm_profile *p)
{
	return p->traces_are_calls && p->ops->samples &&
		(pm_profile_has(p, threads) || pm_profile_has(p, traces));
}

int pmfs_has_slowest(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return has_calls(pmfs_model_profile(m));
}

int pmfs_has_histogram(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	return has_calls(pmfs_model_profile(m)) ? 1 : pmfs_functions_are_timed(m, err);
}

static int read_buckets(struct pmfs_model *m, uint32_t row, const struct pm_call_bucket **ret,
	size_t *ret_n, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_call_times *times;
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	if (r < 0 || (r = pm_profile_call_times(p, &times, err)) < 0)
		return r;
	bool is_inlined = f->function[row] >= f->tree->n_functions;
	*ret = is_inlined ? NULL : times[f->function[row]].buckets;
	*ret_n = is_inlined ? 0 : times[f->function[row]].n_buckets;
	return 0;
}

int pmfs_histogram(struct pmfs_model *m, uint32_t row, const struct pm_call_bucket **ret,
	size_t *ret_n, struct pm_error *err)
{
	const struct pmfs_durations *d;
	if (!has_calls(pmfs_model_profile(m)))
		return read_buckets(m, row, ret, ret_n, err);
	int r = pmfs_durations(m, row, &d, err);
	if (r < 0)
		return r;
	*ret = d->buckets;
	*ret_n = d->n_buckets;
	return 0;
}
