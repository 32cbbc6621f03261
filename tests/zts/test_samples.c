/*
 * All calls of a store as one trace, and durations of calls, against simple loops over the fixture.
 */
#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/cache.h"
#include "formats/zts/chunks.h"
#include "profmount/profile.h"
#include "tests/zts/drain.h"
#include "tests/zts/writer.h"

enum { TRACES = 40, METHODS = 5, LONG = 3000, TICK = 65536 };

static char folder[] = "/tmp/profmount-zts-XXXXXX";

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* What the fixture has, by method: 100 is that of the traces' own calls. */
struct expected {
	uint64_t n, n_ended;
	uint64_t calls[METHODS];
	uint64_t lengths[METHODS][TRACES * LONG];
	uint64_t n_lengths[METHODS];
};

/* The calls of a trace, below its own; some were ended by a clock that was set back. */
static void put_trace(struct pm_text *payload, struct expected *e, uint64_t i, uint64_t *random)
{
	uint64_t n = i == 7 ? LONG : next_random(random) % 60;
	zts_put_begin(payload, 0, 100);
	zts_put_info(payload, 0x05, 1558000000000ull + i * 10);
	for (uint64_t k = 0; k < n; k++) {
		uint64_t method = next_random(random) % METHODS, start = 100 + k;
		uint64_t ticks = next_random(random) % (k % 7 ? 40 : 4000);
		bool back = next_random(random) % 50 == 0;
		zts_put_begin(payload, start, 101 + method);
		zts_put_end(payload, back ? start - 1 : start + ticks, 1);
		e->calls[method]++;
		e->lengths[method][e->n_lengths[method]++] = back ? 0 : ticks * TICK;
	}
	zts_put_end(payload, 100000, n + 1);
	e->n += n + 1;
}

static struct pm_profile *open_traces(struct expected *e)
{
	struct pm_text traces = {0}, payload = {0};
	uint64_t random = 88172645463325252u;
	memset(e, 0, sizeof(*e));
	zts_put_file_header(&traces, 0x10);
	for (uint64_t i = 0; i < TRACES; i++) {
		pm_text_clear(&payload);
		put_trace(&payload, e, i, &random);
		zts_put_chunk(&traces, 0x10, pm_text_view(&payload));
	}
	struct pm_profile *p = zts_open_traces(folder, pm_text_view(&traces));
	assert_non_null(p);
	pm_text_done(&traces);
	pm_text_done(&payload);
	return p;
}

static void test_samples_are_the_calls(void **state)
{
	static struct expected e;
	static const size_t rooms[] = {1, 7, 512, 5000};
	const struct pm_threads *traces;
	const struct pm_tree *tree;
	struct pm_value values[4];
	struct pm_sample *first = NULL;
	struct pm_profile *p = open_traces(&e);
	assert_false(pm_profile_has(p, threads));
	assert_int_equal(pm_profile_traces(p, &traces, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(traces->n, 1);
	assert_int_equal(traces->threads[0].n_samples, e.n);
	for (size_t k = 0; k < sizeof(rooms) / sizeof(*rooms); k++) {
		struct pm_sample *all = calloc(e.n + rooms[k], sizeof(*all));
		uint64_t at = 0;
		int64_t n;
		while ((n = p->ops->samples(p, 0, at, all + at, rooms[k], NULL)) > 0)
			at += (uint64_t)n;
		assert_true(n == 0 && at == e.n);
		if (first)
			assert_memory_equal(first, all, e.n * sizeof(*all));
		free(first);
		first = all;
	}
	uint64_t *calls = calloc(tree->n_contexts, sizeof(*calls));
	for (uint64_t i = 0; i < e.n; i++) {
		uint32_t context = pm_tree_find(tree, first[i].context);
		assert_true(context != PM_NONE && first[i].seq == i);
		calls[context]++;
	}
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		assert_int_equal(p->ops->run_costs(p, i, values, 4, NULL), 4);
		assert_int_equal(values[2].u, calls[i]);
	}
	free(calls);
	free(first);
	pm_profile_close(p);
}

/* How often chunks are decompressed: every call of zts_chunk_read (meson.build). */
static unsigned n_reads;

int __real_zts_chunk_read(
	const struct zts_chunks *c, uint32_t i, uint8_t **ret, enum zts_status *ret_status);
int __wrap_zts_chunk_read(
	const struct zts_chunks *c, uint32_t i, uint8_t **ret, enum zts_status *ret_status);

int __wrap_zts_chunk_read(
	const struct zts_chunks *c, uint32_t i, uint8_t **ret, enum zts_status *ret_status)
{
	n_reads++;
	return __real_zts_chunk_read(c, i, ret, ret_status);
}

/*
 * Reads all samples of a store whose chunks have that many traces each; returns how much is in the
 * cache afterwards.
 */
static uint64_t read_chunks_of(uint64_t traces_of_a_chunk, size_t room)
{
	enum { CHUNKS = 10, CALLS = 5 };
	struct pm_open_options options = {.cache = pm_cache_new(1 << 20)};
	struct pm_text traces = {0}, payload = {0};
	const struct pm_threads *lanes;
	struct pm_profile *p;
	struct pm_sample samples[100];
	int64_t n;
	zts_put_file_header(&traces, 0x11);
	for (uint64_t i = 0; i < CHUNKS; i++) {
		pm_text_clear(&payload);
		for (uint64_t k = 0; k < traces_of_a_chunk; k++) { /* in time, one of each chunk */
			zts_put_begin(&payload, 0, 100);
			zts_put_info(&payload, 0x05, 1558000000000ull + (k * CHUNKS + i) * 10);
			for (uint64_t call = 1; call < CALLS; call++) {
				zts_put_begin(&payload, call, 101);
				zts_put_end(&payload, call + 1, 1);
			}
			zts_put_end(&payload, CALLS, CALLS);
		}
		zts_put_chunk(&traces, 0x11, pm_text_view(&payload));
	}
	assert_true(zts_write_file(folder, "traces.dat", pm_text_view(&traces)));
	assert_int_equal(pm_profile_open(folder, "zts", &options, &p, NULL), 0);
	assert_int_equal(pm_profile_traces(p, &lanes, NULL), 0);
	n_reads = 0;
	for (uint64_t at = 0; at < lanes->threads[0].n_samples; at += (uint64_t)n) {
		n = p->ops->samples(p, 0, at, samples, room, NULL);
		assert_true(n > 0);
	}
	assert_int_equal(n_reads, CHUNKS);
	uint64_t kept = pm_cache_bytes(options.cache);
	pm_profile_close(p);
	pm_cache_free(options.cache);
	pm_text_done(&traces);
	pm_text_done(&payload);
	return kept;
}

/* Each once, whether or not others need it; and what nobody else needs is not kept. */
static void test_chunks_are_read_once_and_kept_for_other_traces(void **state)
{
	assert_int_equal(read_chunks_of(1, 100), 0);
	assert_true(read_chunks_of(3, 100) > 0);
	read_chunks_of(1, 3);
	read_chunks_of(3, 3);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static uint64_t at_share(const struct expected *e, uint64_t method, uint64_t percent)
{
	uint64_t n = e->n_lengths[method], rank = (n * percent + 99) / 100;
	return e->lengths[method][rank - 1];
}

static void test_percentiles_are_exact(void **state)
{
	static struct expected e;
	struct pm_profile *p = open_traces(&e);
	const struct pm_call_times *times;
	const struct pm_tree *tree;
	unsigned seen = 0;
	assert_int_equal(pm_profile_call_times(p, &times, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	for (uint64_t m = 0; m < METHODS; m++) {
		char name[32];
		snprintf(name, sizeof(name), "#%llu", (unsigned long long)(101 + m));
		qsort(e.lengths[m], e.n_lengths[m], sizeof(uint64_t), by_value);
		for (uint32_t f = 0; f < tree->n_functions; f++) {
			struct pm_bytes text = tree->texts[tree->functions[f].name];
			if (!memmem(text.p, text.len, name, strlen(name)))
				continue;
			assert_true(times[f].known);
			assert_int_equal(times[f].p50_ns, at_share(&e, m, 50));
			assert_int_equal(times[f].p90_ns, at_share(&e, m, 90));
			assert_int_equal(times[f].p99_ns, at_share(&e, m, 99));
			assert_int_equal(times[f].max_ns, at_share(&e, m, 100));
			seen++;
		}
	}
	assert_int_equal(seen, METHODS);
	pm_profile_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_are_the_calls),
		cmocka_unit_test(test_chunks_are_read_once_and_kept_for_other_traces),
		cmocka_unit_test(test_percentiles_are_exact),
	};
	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	zts_remove_folder(folder);
	return failed;
}
