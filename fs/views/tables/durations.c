/* histogram.csv and slowest.csv of a function: how long its calls took. */
#include "fs/views/sums/durations.h"

#include "formats/common/buckets.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/threads.h"

/* ---- histogram.csv: a row's position is the bucket, from the shortest call's on ---- */

static void set_sum(struct pm_cell *cell, unsigned __int128 sum)
{
	if (sum <= UINT64_MAX)
		pm_set_u64(cell, (uint64_t)sum);
	else
		pm_set_f64(cell, (double)sum);
}

static const struct pm_call_bucket *bucket_at(
	const struct pm_call_bucket *buckets, size_t n, uint32_t index)
{
	for (size_t i = 0; i < n; i++)
		if (buckets[i].index == index)
			return &buckets[i];
	return NULL;
}

static int histogram_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_call_bucket *buckets;
	size_t n;
	int r = pmfs_histogram(
		pmfs_model_of(rows->table->self), (uint32_t)rows->table->a, &buckets, &n, err);
	if (r < 0 || n == 0)
		return r;
	uint32_t first = buckets[0].index, last = buckets[n - 1].index;
	for (; first + rows->at <= last; rows->at++) {
		uint32_t index = first + (uint32_t)rows->at;
		uint64_t start = pm_bucket_start(index);
		bool is_top = index + 1 == PM_BUCKETS;
		uint64_t end = is_top ? 0 : pm_bucket_start(index + 1);
		const struct pm_call_bucket *bucket = bucket_at(buckets, n, index);
		if (!is_top && start == end)
			continue; /* the bucket contains no integer */
		pm_set_u64(&cells[0], start);
		pmfs_set_known(&cells[1], end, 0);
		pm_set_u64(&cells[2], bucket ? bucket->calls : 0);
		set_sum(&cells[3], bucket ? bucket->ns : 0);
		rows->at++;
		return 1;
	}
	return 0;
}

int pmfs_function_histogram_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = histogram_next};
	static const char *const columns[] = {"from_ns", "to_ns", "calls", "time_ns", NULL};
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->a = item;
	return 0;
}

/* ---- slowest.csv: a row's position is its rank ---- */

/* The thread and its directory; without threads, the directory of the call. */
static int set_thread(struct pm_rows *rows, const struct pmfs_slow_call *call,
	struct pm_cell *thread, struct pm_cell *path, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pm_threads *threads;
	struct pm_bytes directory;
	pm_set_empty(thread);
	int r = pmfs_call_path(m, call->thread, call->seq, rows->scratch, &directory, err);
	if (r < 0 || (r = pmfs_model_threads(m, &threads, err)) < 0)
		return r;
	if (call->thread < threads->n)
		pm_set_u64(thread, threads->threads[call->thread].id);
	pm_set_text(path, directory);
	return 0;
}

static int slowest_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_durations *d;
	const struct pm_tree *tree;
	uint64_t origin;
	int r = pmfs_durations(m, (uint32_t)rows->table->a, &d, err);
	if (r < 0 || rows->at >= d->n_slowest)
		return r;
	const struct pmfs_slow_call *call = &d->slowest[rows->at++];
	if ((r = pmfs_model_tree(m, &tree, err)) < 0 ||
		(r = pmfs_time_origin(m, &origin, err)) < 0 ||
		(r = set_thread(rows, call, &cells[3], &cells[5], err)) < 0)
		return r;
	pm_set_u64(&cells[0], call->duration_ns);
	pmfs_set_time(&cells[1], call->time_ns, origin);
	pm_set_u64(&cells[2], call->time_ns);
	pm_set_u64(&cells[4], pm_tree_number(tree, call->context));
	return 1;
}

int pmfs_function_slowest_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = slowest_next, .dense = true};
	static const char *const columns[] = {
		"duration_ns", "time_ns", "timestamp_ns", "thread_id", "context_id", "path", NULL};
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->a = item;
	return 0;
}
