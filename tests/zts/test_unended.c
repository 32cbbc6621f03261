/*
 * Calls that never end, and those whose clock was set back, anywhere in a trace: costs of contexts,
 * and what samples() says of the calls below them, against a simple recursion.
 */
#include "tests/unittest.h"

#include <stdlib.h>
#include <string.h>

#include "profmount/limits.h"
#include "profmount/profile.h"
#include "tests/zts/drain.h"
#include "tests/zts/writer.h"

enum { TRACES = 60, CALLS = 50, TICK = 65536 };
enum kind { ENDED, UNENDED, SET_BACK };

static char folder[] = "/tmp/profmount-zts-XXXXXX";

/* A call's method is its number in its trace plus that of the trace, so each is a context. */
struct call {
	enum kind kind;
	unsigned parent;
	int64_t ticks, inclusive, exclusive;
};

static struct call calls[TRACES][CALLS];

static uint64_t next_random(void)
{
	static uint64_t random = 88172645463325252u;
	random ^= random << 13;
	random ^= random >> 7;
	random ^= random << 17;
	return random;
}

static uint64_t method_of(unsigned trace, unsigned call)
{
	return 1000 + trace * CALLS + call;
}

static void put_call(struct pm_text *out, unsigned trace, unsigned i)
{
	const struct call *c = &calls[trace][i];
	zts_put_begin(out, 5000 + i, method_of(trace, i));
	if (i == 0)
		zts_put_info(out, 0x05, 1558000000000ull + trace * 1000);
	for (unsigned k = i + 1; k < CALLS; k++)
		if (calls[trace][k].parent == i)
			put_call(out, trace, k);
	if (c->kind == UNENDED)
		zts_put_break(out);
	else
		zts_put_end(out, (uint64_t)(5000 + (int64_t)i + c->ticks), 1);
}

/* In pre-order: the parent of a call is the one before it, or one around that. */
static void make_trace(unsigned trace)
{
	struct call *all = calls[trace];
	for (unsigned i = 0; i < CALLS; i++) {
		struct call *c = &all[i];
		*c = (struct call){.ticks = (int64_t)(next_random() % 100)};
		uint64_t luck = next_random() % 8;
		c->kind = luck < 2 + trace % 4 ? UNENDED : luck == 7 ? SET_BACK : ENDED;
		if (c->kind == SET_BACK)
			c->ticks = -1 - c->ticks;
		c->parent = i ? i - 1 : CALLS;
		while (i && c->parent > 0 && next_random() % 3 == 0)
			c->parent = all[c->parent].parent;
	}
	for (unsigned i = CALLS; i-- > 0;) {
		struct call *c = &all[i];
		int64_t below = 0;
		for (unsigned k = i + 1; k < CALLS; k++)
			below += all[k].parent == i ? all[k].inclusive : 0;
		c->inclusive = c->kind == UNENDED ? below : c->ticks;
		c->exclusive = c->inclusive - below;
	}
}

static struct pm_profile *open_traces(void)
{
	struct pm_text traces = {0}, payload = {0};
	zts_put_file_header(&traces, 0x10);
	for (unsigned i = 0; i < TRACES; i++) {
		make_trace(i);
		pm_text_clear(&payload);
		put_call(&payload, i, 0);
		zts_put_chunk(&traces, 0x10, pm_text_view(&payload));
	}
	struct pm_profile *p = zts_open_traces(folder, pm_text_view(&traces));
	assert_non_null(p);
	pm_text_done(&traces);
	pm_text_done(&payload);
	return p;
}

/* The number in a name like #1234. */
static uint64_t method_in(const struct pm_tree *tree, uint32_t context)
{
	uint32_t function = pm_tree_frame(tree, context)->function;
	struct pm_bytes name = tree->texts[tree->functions[function].name];
	char digits[12] = {0};
	assert_true(name.len > 4 && name.len < 20 && name.p[name.len - 5] == '#');
	memcpy(digits, name.p + name.len - 4, 4);
	return strtoull(digits, NULL, 10);
}

static void test_costs(void **state)
{
	struct pm_profile *p = open_traces();
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(tree->n_contexts, TRACES * CALLS);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		struct pm_value values[4];
		uint64_t method = method_in(tree, i) - 1000;
		const struct call *c = &calls[method / CALLS][method % CALLS];
		assert_int_equal(p->ops->run_costs(p, i, values, 4, NULL), 4);
		assert_int_equal((int64_t)values[0].u, c->inclusive * TICK);
		assert_int_equal((int64_t)values[1].u, c->exclusive * TICK);
	}
	pm_profile_close(p);
}

/* The nearest call around it that has a time. */
static uint64_t within(const struct pm_tree *tree, uint32_t context)
{
	uint64_t method = method_in(tree, context) - 1000;
	const struct call *all = calls[method / CALLS];
	unsigned call = (unsigned)(method % CALLS), up = all[call].parent;
	if (up == CALLS || all[up].kind == ENDED)
		return 0;
	for (; up != CALLS && all[up].kind != ENDED; up = all[up].parent)
		context = tree->parent[context];
	return up == CALLS ? PM_IN_NO_CALL : pm_tree_number(tree, tree->parent[context]);
}

static void test_samples(void **state)
{
	static struct pm_sample samples[TRACES * CALLS + 1];
	struct pm_profile *p = open_traces();
	const struct pm_tree *tree;
	size_t n_within = 0;
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(
		p->ops->samples(p, 0, 0, samples, TRACES * CALLS + 1, NULL), TRACES * CALLS);
	for (size_t i = 0; i < TRACES * CALLS; i++) {
		uint32_t context = pm_tree_find(tree, samples[i].context);
		assert_int_equal(samples[i].within, within(tree, context));
		n_within += samples[i].within != 0;
	}
	assert_true(n_within > TRACES);
	pm_profile_close(p);
}

static uint64_t run_of(const char *path)
{
	struct pm_profile *p = NULL;
	struct pm_error err = {0};
	uint64_t origin_ns, run_ns;
	if (pm_profile_open(path, "zts", NULL, &p, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(pm_profile_span(p, &origin_ns, &run_ns, NULL), 0);
	pm_profile_close(p);
	return run_ns;
}

/* The index has a record of a trace from its beginning on, with a duration of 0. */
static void test_index_of_an_unended_trace(void **state)
{
	const struct zts_record record = {.trace_id = {1, 2},
		.timestamp_ns = 1558000000000000000,
		.data_offset = 16,
		.tstart = 5000,
		.method_key = 1,
		.method = 2};
	struct pm_text traces = {0}, payload = {0}, meta = {0};
	zts_put_file_header(&traces, 0x10);
	zts_put_begin(&payload, 5000, 1);
	zts_put_info(&payload, 0x05, 1558000000000);
	zts_put_begin(&payload, 5010, 2);
	zts_put_end(&payload, 5110, 1);
	zts_put_chunk(&traces, 0x10, pm_text_view(&payload));
	assert_true(zts_write_file(folder, "traces.dat", pm_text_view(&traces)));
	assert_int_equal(run_of(folder), 110 * TICK);
	zts_put_meta(&meta, &record);
	assert_true(zts_write_file(folder, "meta.db.p", pm_text_view(&meta)));
	assert_int_equal(run_of(folder), 110 * TICK);
	assert_true(zts_write_file(folder, "meta.db.p", (struct pm_bytes){(const uint8_t *)"", 0}));
	pm_text_done(&traces);
	pm_text_done(&payload);
	pm_text_done(&meta);
}

/* More of them in a chunk than may be read again, each as if it took the whole chunk. */
static void test_many_unended_traces_in_a_chunk(void **state)
{
	enum { MANY = 1 << 16 };
	struct pm_text traces = {0}, payload = {0};
	for (unsigned i = 0; i < MANY; i++) {
		zts_put_begin(&payload, 5000, 1);
		zts_put_info(&payload, 0x05, 1558000000000 + i);
		zts_put_begin(&payload, 5010, 2);
		zts_put_end(&payload, i + 1 < MANY ? 5011 : 1005000, 1);
		zts_put_break(&payload);
	}
	assert_true(payload.len * MANY > PM_LIMIT_PAYLOAD + payload.len * 16);
	zts_put_file_header(&traces, 0x10);
	zts_put_chunk(&traces, 0x10, pm_text_view(&payload));
	assert_true(zts_write_file(folder, "traces.dat", pm_text_view(&traces)));
	assert_int_equal(run_of(folder), (MANY - 1) * 1000000ull + 1000000ull * TICK);
	pm_text_done(&traces);
	pm_text_done(&payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_index_of_an_unended_trace),
		cmocka_unit_test(test_many_unended_traces_in_a_chunk),
	};
	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	zts_remove_folder(folder);
	return failed;
}
