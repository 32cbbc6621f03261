/* Sums are the same whether traces are added up by the scan or in a separate pass. */
#include "tests/unittest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/zts/drain.h"
#include "tests/zts/writer.h"

enum { TRACES = 97, METHODS = 7, FLAG_FIRST = 0x20, FLAG_LAST = 0x40, FLAG_WHOLE = 0x60 };

/* What the index says: of one trace another time, whose calls count nevertheless; or there is none.
 */
enum index { RIGHT, WRONG, MISSING };

#define BEGIN_MS 1558000000000ull

static char folder[] = "/tmp/profmount-zts-XXXXXX";

/* Traces stand in the file in an order of their own. Every path takes the same time: the order of
 * contexts is that of first use. */
static uint64_t time_of(unsigned i)
{
	return BEGIN_MS + i * 31 % TRACES;
}

static void put_trace(struct pm_text *payload, unsigned i)
{
	zts_put_begin(payload, i, 1);
	zts_put_info(payload, 0x05, time_of(i));
	for (unsigned k = 0; k < 3; k++) {
		zts_put_begin(payload, 0, 2 + (i * (k + 1) + k) % METHODS);
		zts_put_end(payload, 0, 1);
	}
	if (i % 5 == 0)
		zts_put_exception(payload, 1 + i % 3);
	zts_put_end(payload, i, 4);
}

static uint32_t seed; /* 0: payloads are not damaged */

/* Changes some bytes: some traces end early, others have other calls or cannot be read. */
static void damage(struct pm_text *payload)
{
	for (unsigned i = 0; seed && i < 3; i++) {
		seed = seed * 1103515245 + 12345;
		if (seed >> 31)
			payload->p[(seed >> 16) % payload->len] = (char)(seed >> 8);
	}
}

static void write_files(const struct pm_text *traces, const struct pm_text *meta, enum index index)
{
	zts_remove_folder(folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_true(zts_write_file(folder, "traces.dat", pm_text_view(traces)));
	if (index != MISSING)
		assert_true(zts_write_file(folder, "meta.db.p", pm_text_view(meta)));
}

static void write_store(enum index index)
{
	struct pm_text traces = {0}, meta = {0};
	zts_put_file_header(&traces, 0x11);
	for (unsigned i = 0; i < TRACES; i += 2) {
		struct pm_text payload = {0};
		size_t begins[2] = {0};
		for (unsigned k = 0; k < 2 && i + k < TRACES; k++) {
			begins[k] = payload.len;
			put_trace(&payload, i + k);
		}
		damage(&payload);
		size_t at = zts_put_chunk(&traces, 0x11, pm_text_view(&payload));
		for (unsigned k = 0; k < 2 && i + k < TRACES; k++) {
			uint64_t ms = time_of(i + k) + (index == WRONG && i + k == 40 ? 1000 : 0);
			const struct zts_record record = {.trace_id = {1, i + k + 1},
				.flags = FLAG_WHOLE,
				.timestamp_ns = ms * 1000000,
				.data_offset = at,
				.start_offset = begins[k],
				.calls = 4,
				.records = 4};
			zts_put_meta(&meta, &record);
		}
		pm_text_done(&payload);
	}
	write_files(&traces, &meta, index);
	pm_text_done(&traces);
	pm_text_done(&meta);
}

static struct pm_profile *open_store(void)
{
	struct pm_profile *p = NULL;
	struct pm_error err = {0};
	if (pm_profile_open(folder, "zts", NULL, &p, &err) < 0)
		fail_msg("%s", err.text);
	return p;
}

/* Documents of sums, and the tree with its costs, as text. */
static void describe(struct pm_profile *p, struct pm_text *out)
{
	const struct pm_tree *tree;
	struct pm_value values[4];
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		assert_int_equal(p->ops->run_costs(p, i, values, 4, NULL), 4);
		pm_text_printf(out, "%u %u %u %llu %llu\n", tree->parent[i], tree->frame[i],
			tree->rank[i], (unsigned long long)values[0].u,
			(unsigned long long)values[2].u);
	}
	assert_int_equal(zts_drain_path(p, "methods.csv", out), 0);
	assert_int_equal(zts_drain_path(p, "exceptions.csv", out), 0);
	pm_text_char(out, '\0');
}

/* `calls`: what a line of methods.csv begins with, or NULL. */
static void compare(const char *calls)
{
	struct pm_text at_once = {0}, later = {0}, traces = {0};
	struct pm_profile *p = open_store();
	describe(p, &at_once);
	pm_profile_close(p);
	p = open_store();
	assert_int_equal(zts_drain_path(p, "traces.csv", &traces), 0); /* the scan, without sums */
	describe(p, &later);
	pm_profile_close(p);
	assert_string_equal(at_once.p, later.p);
	assert_true(!calls || strstr(later.p, calls));
	pm_text_done(&at_once);
	pm_text_done(&later);
	pm_text_done(&traces);
}

static void test_sums_of_the_scan_are_those_of_a_pass(void **state)
{
	write_store(RIGHT);
	compare("\n97,0,"); /* all traces count */
}

static void test_a_trace_that_is_not_as_expected_counts(void **state)
{
	write_store(WRONG);
	compare("\n97,0,");
}

static void test_traces_that_no_index_has_are_added_up_by_the_scan(void **state)
{
	write_store(MISSING);
	compare("\n97,0,");
}

/* The second part of a trace has another trace, with a record of its own in the index. */
static void test_a_trace_in_a_part_of_another_one_counts_once(void **state)
{
	struct pm_text traces = {0}, meta = {0}, parts[2] = {{0}};
	zts_put_file_header(&traces, 0x11);
	zts_put_begin(&parts[0], 1, 1);
	zts_put_info(&parts[0], 0x05, BEGIN_MS);
	zts_put_begin(&parts[1], 1, 3);
	zts_put_end(&parts[1], 2, 1);
	size_t inner_at = parts[1].len;
	zts_put_begin(&parts[1], 2, 2);
	zts_put_info(&parts[1], 0x05, BEGIN_MS);
	zts_put_info(&parts[1], 0x12, 7); /* a span */
	zts_put_end(&parts[1], 3, 1);
	zts_put_end(&parts[1], 4, 2);
	size_t at[2];
	for (unsigned i = 0; i < 2; i++)
		at[i] = zts_put_chunk(&traces, 0x11, pm_text_view(&parts[i]));
	const struct zts_record records[] = {
		{.trace_id = {1, 1}, .flags = FLAG_FIRST, .data_offset = at[0]},
		{.trace_id = {1, 1}, .flags = FLAG_LAST, .data_offset = at[1]},
		{.trace_id = {1, 2},
			.span_id = 7,
			.flags = FLAG_WHOLE,
			.data_offset = at[1],
			.start_offset = inner_at},
	};
	for (unsigned i = 0; i < 3; i++) {
		struct zts_record record = records[i];
		record.timestamp_ns = BEGIN_MS * 1000000;
		zts_put_meta(&meta, &record);
	}
	write_files(&traces, &meta, RIGHT);
	compare("\n1,0,65536,65536,");
	for (unsigned i = 0; i < 2; i++)
		pm_text_done(&parts[i]);
	pm_text_done(&traces);
	pm_text_done(&meta);
}

static void test_sums_of_damaged_traces_are_those_of_a_pass(void **state)
{
	(void)state;
	for (uint32_t round = 1; round <= 40; round++) {
		seed = round;
		write_store(round % 3);
		compare(NULL);
	}
	seed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_of_the_scan_are_those_of_a_pass),
		cmocka_unit_test(test_a_trace_that_is_not_as_expected_counts),
		cmocka_unit_test(test_traces_that_no_index_has_are_added_up_by_the_scan),
		cmocka_unit_test(test_a_trace_in_a_part_of_another_one_counts_once),
		cmocka_unit_test(test_sums_of_damaged_traces_are_those_of_a_pass),
	};
	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	zts_remove_folder(folder);
	return failed;
}
