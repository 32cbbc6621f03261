#include "fs/views/sums/durations.h"

#include <stdlib.h>

#include "formats/common/buckets.h"
#include "formats/common/list.h"
#include "formats/common/work.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/functions.h"
#include "profmount/limits.h"

struct durations_part {
	struct pmfs_durations *rows;
	uint32_t n;
	size_t bytes;
};

static void durations_done(void *p)
{
	struct durations_part *part = p;
	for (uint32_t i = 0; part->rows && i < part->n; i++) {
		free(part->rows[i].slowest);
		free(part->rows[i].buckets);
	}
	free(part->rows);
}

/* ---- buckets ---- */

static int bucket_add(struct pmfs_durations *d, uint32_t index, uint64_t ns)
{
	size_t i = 0;
	while (i < d->n_buckets && d->buckets[i].index < index)
		i++;
	if (i == d->n_buckets || d->buckets[i].index != index) {
		if (pm_list_room(&d->buckets, d->n_buckets, &d->room_buckets, sizeof(*d->buckets)) <
			0)
			return -ENOMEM;
		memmove(d->buckets + i + 1, d->buckets + i,
			(d->n_buckets++ - i) * sizeof(*d->buckets));
		d->buckets[i] = (struct pm_call_bucket){.index = index};
	}
	d->buckets[i].calls++;
	d->buckets[i].ns += ns;
	return 0;
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

static void sink(struct pmfs_slow_call *heap, size_t n)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && goes_before(&heap[child + 1], &heap[child]))
			child++;
		if (!goes_before(&heap[child], &heap[i]))
			return;
		swap(&heap[child], &heap[i]);
	}
}

static int slow_add(struct pmfs_durations *d, const struct pmfs_slow_call *call)
{
	struct pmfs_slow_call *heap = d->slowest;
	if (d->n_slowest == PMFS_SLOWEST) {
		if (goes_before(call, &heap[0]))
			return 0;
		heap[0] = *call;
		sink(heap, d->n_slowest);
		return 0;
	}
	if (pm_list_room(&d->slowest, d->n_slowest, &d->room_slowest, sizeof(*call)) < 0)
		return -ENOMEM;
	heap = d->slowest;
	size_t i = d->n_slowest++;
	heap[i] = *call;
	for (; i > 0 && goes_before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
	return 0;
}

static int longest_first(const void *a, const void *b)
{
	const struct pmfs_slow_call *x = a, *y = b;
	return goes_before(x, y) - goes_before(y, x);
}

/* ---- the part ---- */

struct reading {
	const struct pm_profile *profile;
	const struct pmfs_functions *f;
	struct durations_part *part;
	uint64_t order;
};

static size_t bytes_of(const struct pmfs_durations *d)
{
	return d->room_buckets * sizeof(*d->buckets) + d->room_slowest * sizeof(*d->slowest);
}

static int take(struct reading *r, uint32_t thread, const struct pm_sample *s)
{
	uint32_t context = pm_tree_find_sample(r->f->tree, s->context);
	if (context == PM_NONE || s->duration_ns == PM_NO_TIME)
		return 0;
	uint32_t row = r->f->row[pmfs_function_of(r->f->identity, context)];
	if (row == PM_NONE)
		return 0;
	struct pmfs_durations *d = &r->part->rows[row];
	const struct pmfs_slow_call call = {.duration_ns = s->duration_ns,
		.time_ns = s->time_ns,
		.order = r->order++,
		.seq = s->seq,
		.context = context,
		.thread = thread};
	size_t before = bytes_of(d);
	if (bucket_add(d, pm_bucket_of(s->duration_ns), s->duration_ns) < 0 ||
		slow_add(d, &call) < 0)
		return -ENOMEM;
	r->part->bytes += bytes_of(d) - before;
	return r->part->bytes > PM_LIMIT_DURATIONS ? -ENOTSUP : 0;
}

static int read_thread(struct reading *r, uint32_t thread, struct pm_error *err)
{
	struct pm_sample batch[512];
	uint64_t at = 0;
	int64_t n;
	while ((n = r->profile->ops->samples(r->profile, thread, at, batch, 512, err)) > 0) {
		int e = pm_work_cancelled() ? PM_CANCELLED : 0;
		for (int64_t i = 0; e == 0 && i < n; i++)
			e = take(r, thread, &batch[i]);
		if (e == -ENOTSUP)
			return pm_error_set(err, e, NULL, PM_NO_OFFSET,
				"the calls of %u functions would take too much memory", r->part->n);
		if (e < 0)
			return pmfs_no_memory(err);
		at += (uint64_t)n;
	}
	return (int)n;
}

static int durations_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct durations_part *part = p;
	struct reading r = {.part = part, .profile = pmfs_model_profile(m)};
	const struct pm_threads *threads;
	int e = pmfs_functions(m, &r.f, err);
	if (e < 0 || (e = pm_profile_traces(r.profile, &threads, err)) < 0)
		return e;
	part->rows = calloc((size_t)r.f->n + 1, sizeof(*part->rows));
	if (!part->rows)
		return pmfs_no_memory(err);
	part->n = r.f->n;
	for (uint32_t i = 0; e == 0 && i < threads->n; i++)
		if (threads->threads[i].has_trace)
			e = read_thread(&r, i, err);
	for (uint32_t i = 0; e == 0 && i < part->n; i++)
		if (part->rows[i].n_slowest > 1)
			qsort(part->rows[i].slowest, part->rows[i].n_slowest,
				sizeof(struct pmfs_slow_call), longest_first);
	return e;
}

int pmfs_durations(
	struct pmfs_model *m, uint32_t row, const struct pmfs_durations **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct durations_part), durations_fill,
		durations_done, .what = "the durations of calls"};
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
