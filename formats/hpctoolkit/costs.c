/*
 * Costs, read in place from the value blocks. The tree remembers the position of each context in
 * the summary; the block of a context in cct.db is found by its number. If that is missing or
 * damaged, the same values are read from profile.db (summary.c).
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include "formats/common/search.h"

int64_t hpctk_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct hpctk_opened *db = hpctk_opened_of(p);
	const struct hpctk_tree *tree;
	struct hpctk_run_reader reader;
	int r = hpctk_tree_get(db, &tree, err);
	if (r == 0)
		r = hpctk_run_reader_init(&reader, db, err);
	return r < 0 ? r
		     : hpctk_run_all(&reader, tree->tree->number[context],
			       tree->in_summary[context], ret, room, err);
}

static int64_t values_of_thread(struct hpctk_opened *db, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	const struct hpctk_threads *threads;
	struct hpctk_block block;
	struct hpctk_run run;
	size_t n = 0;
	int r = hpctk_threads_get(db, &threads, err);
	if (r == 0)
		r = hpctk_profile_block(db, threads->list.threads[thread].id, &block, err);
	if (r < 0)
		return r;
	if (first >= block.n_values)
		return 0;
	for (uint32_t i = hpctk_block_entry_of(&block, first); i < block.n_index && n < room; i++) {
		r = hpctk_block_run(&block, i, &run, err);
		if (r < 0)
			return r;
		for (; first < run.end && n < room; first++) {
			struct hpctk_block_value value = hpctk_block_value(&block, first);
			ret[n++] = (struct pm_value){.context = run.key,
				.metric = value.sub,
				.thread = thread,
				.f = value.value};
		}
	}
	return (int64_t)n;
}

static int64_t values_from_cct(const struct hpctk_opened *db, const struct hpctk_threads *threads,
	const struct hpctk_block *block, uint64_t number, uint64_t first, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct hpctk_run run;
	size_t n = 0;
	if (first >= block->n_values)
		return 0;
	for (uint32_t i = hpctk_block_entry_of(block, first); i < block->n_index && n < room; i++) {
		int r = hpctk_block_run(block, i, &run, err);
		if (r < 0)
			return r;
		for (; first < run.end && n < room; first++) {
			struct hpctk_block_value value = hpctk_block_value(block, first);
			uint32_t thread = hpctk_thread_of(db, threads, value.sub);
			if (thread == PM_NONE)
				return pm_error_set(err, -EINVAL, "cct.db", block->values_at,
					"context %llu has a value of profile %u, which is not a thread",
					(unsigned long long)number, value.sub);
			ret[n++] = (struct pm_value){.context = number,
				.metric = run.key,
				.thread = thread,
				.f = value.value};
		}
	}
	return (int64_t)n;
}

static int64_t values_from_threads(const struct hpctk_opened *db,
	const struct hpctk_threads *threads, uint64_t number, uint64_t first, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	const struct hpctk_gathered *gathered;
	size_t n = 0, n_runs = 0;
	int r = hpctk_gathered_get(db, &gathered, err);
	if (r < 0)
		return r;
	const struct hpctk_gathered_run *runs = hpctk_gathered_of(gathered, number, &n_runs);
	size_t behind = PM_LOWER_BOUND(i, 0, n_runs, runs[i].before <= first);
	for (size_t i = behind ? behind - 1 : 0; i < n_runs && n < room; i++) {
		struct hpctk_block block;
		struct hpctk_run run;
		r = hpctk_gathered_open(db, threads, &runs[i], &block, &run, err);
		if (r < 0)
			return r;
		for (uint64_t v = run.first + (first + n - runs[i].before); v < run.end && n < room;
			v++) {
			struct hpctk_block_value value = hpctk_block_value(&block, v);
			ret[n++] = (struct pm_value){.context = number,
				.metric = value.sub,
				.thread = runs[i].thread,
				.f = value.value};
		}
	}
	return (int64_t)n;
}

static int64_t values_of_context(struct hpctk_opened *db, uint32_t context, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	const struct hpctk_tree *tree;
	const struct hpctk_threads *threads;
	struct hpctk_block block;
	int r = hpctk_tree_get(db, &tree, err);
	if (r < 0 || (r = hpctk_threads_get(db, &threads, err)) < 0)
		return r;
	uint64_t number = tree->tree->number[context];
	r = hpctk_context_block(db, number, &block, NULL);
	if (r == 0)
		return values_from_cct(db, threads, &block, number, first, ret, room, err);
	if (pm_is_passing(r))
		return pm_error_plain(err, r);
	return values_from_threads(db, threads, number, first, ret, room, err);
}

int64_t hpctk_values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct hpctk_opened *db = hpctk_opened_of(p);
	return of.what == PM_OF_THREAD ? values_of_thread(db, of.index, first, ret, room, err)
				       : values_of_context(db, of.index, first, ret, room, err);
}
