#include "fs/views/sums/peers.h"

#include <string.h>

#include "formats/common/map.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/threads.h"

/*
 * A set of kinds is a bit a kind. Where there are more, threads are not numbered alike on all
 * ranks, and a number says nothing about what a thread does.
 */
enum { MOST_KINDS = 1024, BETWEEN_QUESTIONS = 1024 /* threads */ };

/* The thread's value of a key: its rank; PM_NO_TIME if there is none. */
static uint64_t rank_of(const struct pm_threads *threads, const struct pm_thread *thread)
{
	for (uint32_t i = 0; i < thread->n_identity; i++)
		if (strcmp(threads->keys[thread->identity[i].key], "rank") == 0)
			return thread->identity[i].value;
	return PM_NO_TIME;
}

/* thread=1 gpucontext=2 gpustream=3 */
static void add_kind(
	struct pm_text *out, const struct pm_threads *threads, const struct pm_thread *thread)
{
	static const char *const keys[] = {"thread", "gpucontext", "gpustream"};
	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
		for (uint32_t i = 0; i < thread->n_identity; i++)
			if (strcmp(threads->keys[thread->identity[i].key], keys[k]) == 0)
				pm_text_printf(out, "%s=%llu ", keys[k],
					(unsigned long long)thread->identity[i].value);
}

/* Numbers ranks and kinds in the order of their first threads. */
static void number_threads(struct pm_arena *scratch, struct pmfs_peers *peers,
	const struct pm_threads *threads, uint32_t *rank, uint32_t *kind, uint64_t *number_of)
{
	struct pm_map ranks = {.arena = scratch};
	struct pm_strtab kinds = pm_strtab_in(scratch);
	struct pm_text text = {.arena = scratch};
	bool is_new;
	for (uint32_t i = 0; i < threads->n; i++) {
		uint64_t number = rank_of(threads, &threads->threads[i]);
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(scratch);
		rank[i] = kind[i] = PM_NONE;
		if (number == PM_NO_TIME || threads->threads[i].is_lane)
			continue;
		rank[i] = *pm_map_put(&ranks, number, peers->n_ranks, &is_new);
		number_of[rank[i]] = number;
		peers->n_ranks += is_new;
		pm_text_clear(&text);
		add_kind(&text, threads, &threads->threads[i]);
		kind[i] = pm_strtab_add(&kinds, pm_text_view(&text));
	}
	peers->n_kinds = kinds.n;
}

/* Lists `n` threads by a number below n_groups that each of them has, or PM_NONE. */
static void list_by(const uint32_t *number, const bool *left_out, uint32_t n, uint32_t n_groups,
	uint32_t *first, uint32_t *list)
{
	memset(first, 0, ((size_t)n_groups + 1) * sizeof(*first));
	for (uint32_t i = 0; i < n; i++)
		if (number[i] != PM_NONE && !(left_out && left_out[i]))
			first[number[i] + 1]++;
	for (uint32_t k = 0; k < n_groups; k++)
		first[k + 1] += first[k];
	for (uint32_t i = 0; i < n; i++)
		if (number[i] != PM_NONE && !(left_out && left_out[i]))
			list[first[number[i]]++] = i;
	memmove(first + 1, first, (size_t)n_groups * sizeof(*first));
	first[0] = 0;
}

static void build_peers(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct pmfs_peers *peers = p;
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct pmfs_empty_threads *empty;
	const struct pm_threads *threads;
	pm_build_check(a, pmfs_model_threads(m, &threads, err));
	pm_build_check(a, pmfs_empty_threads(m, &empty, err));
	size_t n = threads->n + (size_t)1, size = sizeof(uint32_t);
	uint32_t *rank = pm_arena_array(a, n, size);
	uint32_t *kind = pm_arena_array(a, n, size);
	uint64_t *number_of = pm_arena_array(a, n, sizeof(*number_of));
	uint32_t *by_rank = pm_arena_array(a, n, size);
	uint32_t *of_kind = pm_arena_array(a, n, size);
	uint32_t *first = pm_arena_array(a, n + 1, size);
	uint32_t *n_of = pm_arena_array(a, n, size);
	uint32_t *ranks_of = pm_arena_array(a, n, size);
	uint32_t *last = pm_arena_array(scratch, n, size); /* by rank: the last kind on it */
	number_threads(scratch, peers, threads, rank, kind, number_of);
	*peers = (struct pmfs_peers){threads->n - threads->n_lanes, threads->threads,
		peers->n_ranks, rank, number_of, by_rank, 0, peers->n_kinds, kind, n_of, of_kind,
		first, ranks_of};
	list_by(rank, NULL, threads->n, peers->n_ranks, first, by_rank);
	uint32_t n_ranked = first[peers->n_ranks];
	for (uint32_t i = 0; i < threads->n; i++)
		if (rank[i] == PM_NONE && !threads->threads[i].is_lane)
			by_rank[n_ranked++] = i;
	list_by(kind, empty->empty, threads->n, peers->n_kinds, first, of_kind);
	memset(last, 0xff, n * size);
	for (uint32_t k = 0; k < peers->n_kinds; k++) {
		n_of[k] = first[k + 1] - first[k];
		ranks_of[k] = 0;
		for (uint32_t i = first[k]; i < first[k + 1]; i++) {
			ranks_of[k] += last[rank[of_kind[i]]] != k;
			last[rank[of_kind[i]]] = k;
		}
	}
	if (peers->n_ranks > 1 && peers->n_kinds <= MOST_KINDS)
		peers->n_words = (peers->n_kinds + 63) / 64;
	pm_arena_done(scratch);
}

int pmfs_peers(struct pmfs_model *m, const struct pmfs_peers **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_peers), .what = "the peers of threads", .build = build_peers};
	struct pmfs_model *whole;
	int r = pmfs_model_whole(m, &whole, err);
	if (r < 0)
		return r;
	/* Who could have done what a filter shows does not depend on the filter. */
	if (whole)
		return pmfs_peers(whole, ret, err);
	return pmfs_model_part(m, PMFS_PART_PEERS, &type, ret, err);
}

/* Welford's method: the sum of squares about the mean stays accurate for large values. */
void pmfs_spread_add(struct pmfs_spread *s, double value, uint32_t thread)
{
	if (s->n == 0 || value < s->min)
		s->min = value;
	if (s->n == 0 || value > s->max || (value == s->max && thread < s->slowest)) {
		s->max = value;
		s->slowest = thread;
	}
	s->n++;
	double off = value - s->mean;
	s->mean += off / s->n;
	s->squares += off * (value - s->mean);
}

void pmfs_spread_extend(struct pmfs_spread *s, uint32_t n)
{
	if (s->n == 0 || n <= s->n)
		return;
	s->squares += s->mean * s->mean * s->n * (n - s->n) / n;
	s->mean = s->mean * s->n / n;
	s->min = s->min < 0 ? s->min : 0;
	s->max = s->max > 0 ? s->max : 0;
	s->n = n;
}

void pmfs_peers_add(const struct pmfs_peers *p, struct pmfs_spread *s, uint64_t *kinds,
	double value, uint32_t thread)
{
	if (p->threads[thread].is_lane)
		return;
	pmfs_spread_add(s, value, thread);
	if (p->n_words == 0 || p->kind[thread] == PM_NONE || !kinds)
		s->n_apart++;
	else
		kinds[p->kind[thread] / 64] |= UINT64_C(1) << p->kind[thread] % 64;
}

void pmfs_peers_complete(const struct pmfs_peers *p, struct pmfs_spread *s, const uint64_t *kinds)
{
	uint32_t n = s->n_apart;
	for (uint32_t i = 0; i < p->n_words; i++)
		for (uint64_t left = kinds[i]; left; left &= left - 1)
			n += p->n_of[i * 64 + (uint32_t)__builtin_ctzll(left)];
	pmfs_spread_extend(s, n);
}

uint32_t pmfs_peers_ranks(const struct pmfs_peers *p, const uint64_t *kinds, uint8_t *seen)
{
	uint32_t most = 0, n_kinds = 0, n = 0;
	for (uint32_t i = 0; i < p->n_words; i++)
		for (uint64_t left = kinds[i]; left; left &= left - 1, n_kinds++) {
			uint32_t ranks = p->ranks_of[i * 64 + (uint32_t)__builtin_ctzll(left)];
			most = ranks > most ? ranks : most;
		}
	if (n_kinds < 2 || most == p->n_ranks)
		return most;
	memset(seen, 0, p->n_ranks);
	for (uint32_t i = 0; i < p->n_words; i++)
		for (uint64_t left = kinds[i]; left; left &= left - 1) {
			uint32_t kind = i * 64 + (uint32_t)__builtin_ctzll(left);
			for (uint32_t k = p->kind_first[kind]; k < p->kind_first[kind + 1]; k++) {
				uint8_t *mark = &seen[p->rank[p->of_kind[k]]];
				n += !*mark;
				*mark = 1;
			}
		}
	return n;
}
