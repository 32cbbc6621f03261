#include "formats/hpctoolkit/gathered.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "formats/hpctoolkit/block.h"
#include "formats/hpctoolkit/threads.h"

/*
 * The runs of one thread, up to the first that is out of order; for now `before` is their length.
 */
static int thread_add(
	struct hpctk_gathered *g, size_t *room, const struct hpctk_block *block, uint32_t thread)
{
	uint64_t reach = 0;
	for (uint32_t i = 0; i < block->n_index; i++) {
		struct hpctk_run run;
		if (hpctk_block_run(block, i, &run, NULL) < 0 || run.first < reach)
			break;
		reach = run.end;
		if (run.first == run.end)
			continue;
		if (pm_list_room(&g->runs, g->n, room, sizeof(*g->runs)) < 0)
			return -ENOMEM;
		g->runs[g->n++] = (struct hpctk_gathered_run){.number = run.key,
			.thread = thread,
			.entry = i,
			.before = run.end - run.first};
	}
	return 0;
}

/* Sorts by 16 bits of the number; stable. */
static void sort_pass(const struct hpctk_gathered_run *from, struct hpctk_gathered_run *to,
	size_t n, unsigned shift, size_t *at)
{
	memset(at, 0, ((size_t)UINT16_MAX + 2) * sizeof(*at));
	for (size_t i = 0; i < n; i++)
		at[(from[i].number >> shift & UINT16_MAX) + 1]++;
	for (size_t k = 0; k <= UINT16_MAX; k++)
		at[k + 1] += at[k];
	for (size_t i = 0; i < n; i++)
		to[at[from[i].number >> shift & UINT16_MAX]++] = from[i];
}

static int sort(struct hpctk_gathered *g)
{
	size_t *at = malloc(((size_t)UINT16_MAX + 2) * sizeof(*at));
	struct hpctk_gathered_run *other = malloc(g->n * sizeof(*other) + 1);
	int r = at && other ? 0 : -ENOMEM;
	if (r == 0 && g->n) {
		sort_pass(g->runs, other, g->n, 0, at);
		sort_pass(other, g->runs, g->n, 16, at);
	}
	free(at);
	free(other);
	return r;
}

static void add_up(struct hpctk_gathered *g)
{
	uint64_t before = 0;
	for (size_t i = 0; i < g->n; i++) {
		uint64_t own = g->runs[i].before;
		if (i > 0 && g->runs[i].number != g->runs[i - 1].number)
			before = 0;
		g->runs[i].before = before;
		before += own;
	}
}

static int gather(void *owner, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = owner;
	struct hpctk_gathered *g = part;
	const struct hpctk_threads *threads;
	size_t room = 0;
	int r = hpctk_threads_get(db, &threads, err);
	for (uint32_t t = 0; r == 0 && t < threads->list.n; t++) {
		struct hpctk_block block;
		if (pm_work_cancelled())
			return pm_error_plain(err, -ENOMEM);
		r = hpctk_profile_block(db, threads->list.threads[t].id, &block, err);
		if (r == 0 && thread_add(g, &room, &block, t) < 0)
			return pm_error_plain(err, -ENOMEM);
	}
	if (r == 0 && sort(g) < 0)
		return pm_error_plain(err, -ENOMEM);
	add_up(g);
	return r;
}

static void gathered_done(void *part)
{
	struct hpctk_gathered *g = part;
	free(g->runs);
}

static const struct pm_part_type type = {.size = sizeof(struct hpctk_gathered),
	.fill = gather,
	.done = gathered_done,
	.file = NULL,
	.what = "the values of contexts"};

int hpctk_gathered_get(
	const struct hpctk_opened *db, const struct hpctk_gathered **ret, struct pm_error *err)
{
	struct hpctk_opened *own = hpctk_opened_of(db->profile);
	return pm_part_get(&own->gathered, &type, own, ret, err);
}

static size_t first_from(const struct hpctk_gathered *g, uint64_t number)
{
	return PM_LOWER_BOUND(i, 0, g->n, g->runs[i].number < number);
}

const struct hpctk_gathered_run *hpctk_gathered_of(
	const struct hpctk_gathered *g, uint64_t number, size_t *ret_n)
{
	size_t first = first_from(g, number);
	*ret_n = 0;
	if (number > UINT32_MAX)
		return NULL;
	*ret_n = first_from(g, number + 1) - first;
	return g->runs ? &g->runs[first] : NULL;
}

int hpctk_gathered_open(const struct hpctk_opened *db, const struct hpctk_threads *threads,
	const struct hpctk_gathered_run *run, struct hpctk_block *block, struct hpctk_run *ret,
	struct pm_error *err)
{
	int r = hpctk_profile_block(db, threads->list.threads[run->thread].id, block, err);
	return r < 0 ? r : hpctk_block_run(block, run->entry, ret, err);
}
