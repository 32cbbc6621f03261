/* The builder: what a reader tells is what the profile says. Readers are scripts of the tests. */
#include "tests/unittest.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/builder/builder.h"
#include "profmount/limits.h"

static char path[64];
static struct pm_profile profile;

/* Opens a source of these bytes with the reader. */
static int open_with(int (*read)(struct pm_recording *, struct pm_error *), const char *bytes,
	struct pm_error *err)
{
	static struct pm_reader reader;
	static const struct pm_open_options options;
	reader = (struct pm_reader){.contexts_are = "samples", .layout = "text", .read = read};
	snprintf(path, sizeof(path), "/tmp/test_builder-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	struct pm_candidate c = {.path = path, .fd = fd, .size = strlen(bytes)};
	int r = pm_rec_open(&reader, &c, &options, &profile, err);
	close(fd);
	unlink(path);
	return r;
}

static void open_ok(int (*read)(struct pm_recording *, struct pm_error *))
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	assert_int_equal(open_with(read, "x\n", &err), 0);
}

static const struct pm_tree *tree(void)
{
	const struct pm_tree *t;
	assert_int_equal(pm_profile_tree(&profile, &t, NULL), 0);
	return t;
}

static const char *name_of(uint32_t context)
{
	static char name[64];
	const struct pm_tree *t = tree();
	struct pm_bytes b = t->texts[pm_tree_frame(t, context)->name];
	snprintf(name, sizeof(name), "%.*s", (int)b.len, (const char *)b.p);
	return name;
}

/* The value of a metric of the run at a context. */
static struct pm_value value(uint32_t context, uint32_t metric)
{
	struct pm_value v[16];
	int64_t n = profile.ops->run_costs(&profile, context, v, 16, NULL);
	for (int64_t i = 0; i < n; i++)
		if (v[i].metric == metric)
			return v[i];
	fail();
	return v[0];
}

static uint32_t call(struct pm_recording *r, uint32_t parent, const char *name)
{
	struct pm_rec_function f = {.name = pm_bytes_of(name)};
	return pm_rec_call(r, parent, pm_rec_function(r, &f), 0);
}

/* ---- quantities ---- */

static int read_costs(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t time = pm_rec_metric(r, pm_bytes_of("cpu"), pm_bytes_of("Milliseconds"));
	uint32_t count = pm_rec_metric(r, pm_bytes_of("samples"), pm_bytes_of("count"));
	uint32_t main = call(r, PM_REC_NONE, "main"), a = call(r, main, "a");
	uint32_t b = call(r, main, "b");
	pm_rec_cost(r, PM_REC_NONE, a, time, 2);
	pm_rec_cost(r, PM_REC_NONE, a, time, 3);
	pm_rec_cost(r, PM_REC_NONE, b, time, 9);
	pm_rec_cost(r, PM_REC_NONE, main, count, INT64_C(9007199254740993));
	pm_rec_cost(r, PM_REC_NONE, a, count, 1);
	return 0;
}

static void test_costs_are_exact_in_ns_and_add_up(void **state)
{
	const struct pm_metrics *m;
	open_ok(read_costs);
	assert_int_equal(pm_profile_metrics(&profile, &m, NULL), 0);
	assert_int_equal(m->n, 4);
	assert_true(pm_bytes_equal(m->metrics[0].unit, pm_bytes_of("ns")));
	assert_int_equal(m->metrics[2].unit.len, 0);
	assert_int_equal(tree()->n_contexts, 3);
	assert_string_equal(name_of(1), "b"); /* costs more time than a */
	assert_int_equal(value(0, 0).i, 14000000);
	assert_int_equal(value(2, 1).i, 5000000);
	assert_true(value(0, 3).whole);
	assert_int_equal(value(0, 3).i, INT64_C(9007199254740994));
	assert_false(pm_profile_has(&profile, threads));
	pm_rec_close(&profile);
}

static int read_files(struct pm_recording *r, struct pm_error *err)
{
	struct pm_rec_function f = {.name = pm_bytes_of("f"), .file = pm_bytes_of("/src/a.js")};
	uint32_t count = pm_rec_metric(r, pm_bytes_of("samples"), pm_bytes_of("count"));
	(void)err;
	pm_rec_cost(
		r, PM_REC_NONE, pm_rec_call(r, PM_REC_NONE, pm_rec_function(r, &f), 0), count, 1);
	return 0;
}

static void test_functions_have_files_where_no_line_has_a_cost(void **state)
{
	open_ok(read_files);
	assert_true(profile.has_files);
	assert_false(profile.has_lines);
	pm_rec_close(&profile);
	open_ok(read_costs);
	assert_false(profile.has_files);
	pm_rec_close(&profile);
}

static int read_decimals(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t q = pm_rec_metric(r, pm_bytes_of("count"), pm_bytes_of(""));
	uint32_t main = call(r, PM_REC_NONE, "main"), a = call(r, main, "a");
	pm_rec_cost_decimal(r, PM_REC_NONE, main, q, 1, 1); /* 0.1 + 0.2 */
	pm_rec_cost_decimal(r, PM_REC_NONE, a, q, 20, 2);
	return 0;
}

static void test_decimals_are_summed_as_written(void **state)
{
	open_ok(read_decimals);
	assert_false(value(0, 0).whole);
	assert_true(value(0, 0).f == 0.3);
	pm_rec_close(&profile);
}

static int read_huge(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t q = pm_rec_metric(r, pm_bytes_of("count"), pm_bytes_of(""));
	uint32_t main = call(r, PM_REC_NONE, "main");
	for (int i = 0; i < 3; i++)
		pm_rec_cost(r, PM_REC_NONE, main, q, INT64_MAX);
	return 0;
}

static void test_sums_beyond_64_bits_are_doubles(void **state)
{
	open_ok(read_huge);
	assert_false(value(0, 0).whole);
	assert_true(value(0, 0).f == 3.0 * 9223372036854775807.0);
	pm_rec_close(&profile);
}

/* ---- contexts ---- */

static int read_lines(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t q = pm_rec_metric(r, pm_bytes_of("count"), pm_bytes_of(""));
	struct pm_rec_function f = {.name = pm_bytes_of("work"),
		.file = pm_bytes_of("/src/a.c"),
		.module = pm_bytes_of("/bin/app"),
		.line = 3};
	uint32_t work = pm_rec_call(r, PM_REC_NONE, pm_rec_function(r, &f), 0);
	assert_int_equal(pm_rec_call(r, PM_REC_NONE, pm_rec_function(r, &f), 0), work);
	uint32_t line = pm_rec_line(r, work, pm_bytes_of(""), 7);
	assert_int_equal(pm_rec_line(r, work, pm_bytes_of(""), 0), work);
	pm_rec_cost(r, PM_REC_NONE, line, q, 5);
	pm_rec_cost(r, PM_REC_NONE, work, q, 2);
	uint32_t at = pm_rec_address(r, line, pm_bytes_of("/bin/app"), 0x1f0, 0);
	pm_rec_cost(r, PM_REC_NONE, at, q, 1);
	assert_int_equal(pm_rec_call(r, PM_REC_BAD, 0, 0), PM_REC_BAD);
	return 0;
}

static void test_lines_are_parts_and_addresses_functions(void **state)
{
	open_ok(read_lines);
	const struct pm_tree *t = tree();
	assert_true(profile.has_lines && profile.has_modules);
	assert_int_equal(t->n_contexts, 3);
	assert_int_equal(pm_tree_frame(t, 1)->kind, PM_KIND_LINE);
	assert_true(pm_tree_frame(t, 1)->nested);
	assert_string_equal(name_of(2), "app+0x1f0");
	assert_int_equal(value(0, 1).i, 2); /* own */
	assert_int_equal(value(0, 2).i, 7); /* in flat tables: with its line's */
	assert_int_equal(value(0, 0).i, 8);
	pm_rec_close(&profile);
}

/* ---- threads ---- */

static uint32_t thread(struct pm_recording *r, const char *id, const char *name)
{
	struct pm_rec_key key = {.key = "thread", .text = pm_bytes_of(id)};
	return pm_rec_thread(r, &key, 1, pm_bytes_of(name));
}

static int read_threads(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t q = pm_rec_metric(r, pm_bytes_of("count"), pm_bytes_of(""));
	uint32_t main = call(r, PM_REC_NONE, "main"), a = call(r, main, "a");
	pm_rec_cost(r, thread(r, "GPU 0", ""), a, q, 3);
	pm_rec_cost(r, thread(r, "1.0", "worker"), a, q, 4);
	pm_rec_cost(r, thread(r, "1", ""), main, q, 5);
	pm_rec_cost(r, thread(r, "7", ""), main, q, 6);
	return 0;
}

static void test_text_ids_are_names_with_free_numbers(void **state)
{
	const struct pm_threads *t;
	struct pm_value v[8];
	open_ok(read_threads);
	assert_int_equal(pm_profile_threads(&profile, &t, NULL), 0);
	assert_int_equal(t->n, 3);
	assert_true(t->has_names);
	assert_int_equal(t->threads[0].identity[0].value, 2);
	assert_true(pm_bytes_equal(t->threads[0].name, pm_bytes_of("GPU 0")));
	assert_int_equal(t->threads[1].identity[0].value, 1);
	assert_true(pm_bytes_equal(t->threads[1].name, pm_bytes_of("worker")));
	assert_int_equal(t->threads[2].identity[0].value, 7);
	struct pm_values_of of = {PM_OF_THREAD, 1, false};
	int64_t n = profile.ops->values(&profile, of, 0, v, 8, NULL);
	assert_int_equal(n, 4); /* own and inclusive of main, of a */
	int64_t inclusive = 0;
	for (int64_t i = 0; i < n; i++)
		if (v[i].metric == 0)
			inclusive = v[i].i > inclusive ? v[i].i : inclusive;
	assert_int_equal(inclusive, 9);
	of = (struct pm_values_of){PM_OF_CONTEXT, 0, false};
	assert_int_equal(profile.ops->values(&profile, of, 0, v, 8, NULL), 6);
	struct pm_thread_counts counts;
	assert_int_equal(profile.ops->thread_counts(&profile, 0, &counts, NULL), 0);
	assert_int_equal(counts.contexts, 2);
	pm_rec_close(&profile);
}

static int read_some_threads(struct pm_recording *r, struct pm_error *err)
{
	read_threads(r, err);
	pm_rec_cost(r, PM_REC_NONE, call(r, PM_REC_NONE, "main"), 0, 1);
	return 0;
}

static void test_a_cost_without_thread_means_no_threads(void **state)
{
	open_ok(read_some_threads);
	assert_false(pm_profile_has(&profile, threads));
	assert_int_equal(value(0, 0).i, 19);
	pm_rec_close(&profile);
}

/* ---- graphs ---- */

static uint32_t edge(
	struct pm_recording *r, const char *caller, const char *callee, int64_t calls, int64_t cost)
{
	uint32_t to = call(
		r, pm_rec_line(r, call(r, PM_REC_NONE, caller), pm_bytes_of("a.c"), 7), callee);
	pm_rec_cost(r, PM_REC_NONE, to, 1, calls);
	pm_rec_cost(r, PM_REC_NONE, to, pm_rec_through(0), cost);
	return to;
}

/* main calls f, which calls itself, and a, which is in a circle with b; both call leaf. */
static int read_graph(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t q = pm_rec_metric(r, pm_bytes_of("Ir"), pm_bytes_of(""));
	pm_rec_count(r, "calls");
	pm_rec_contexts_are(r, "edges");
	pm_rec_cost(r, PM_REC_NONE, call(r, PM_REC_NONE, "main"), q, 10);
	pm_rec_cost(r, PM_REC_NONE, call(r, PM_REC_NONE, "f"), q, 20);
	pm_rec_cost(r, PM_REC_NONE, call(r, PM_REC_NONE, "a"), q, 7);
	pm_rec_cost(r, PM_REC_NONE, call(r, PM_REC_NONE, "b"), q, 30);
	pm_rec_cost(r, PM_REC_NONE, call(r, PM_REC_NONE, "leaf"), q, 13);
	edge(r, "main", "f", 1, 20);
	edge(r, "f", "f", 4, 18);
	edge(r, "main", "a", 1, 50);
	edge(r, "a", "b", 3, 60);
	edge(r, "b", "a", 2, 55);
	edge(r, "b", "leaf", 5, 13);
	edge(r, "leaf", "unseen", 1, 2);
	return 0;
}

static uint32_t function_named(const char *name)
{
	const struct pm_tree *t = tree();
	for (uint32_t i = 0; i < t->n_functions; i++)
		if (pm_bytes_equal(t->texts[t->functions[i].name], pm_bytes_of(name)))
			return i;
	fail();
	return 0;
}

/* Cells of a function: inclusive, own, own with lines, calls. */
static const pm_number *flat_of(const struct pm_flat *flat, const char *name)
{
	const struct pm_metrics *m;
	pm_profile_metrics(&profile, &m, NULL);
	assert_int_equal(m->n, 5);
	return flat->functions + (size_t)function_named(name) * m->n;
}

static void test_graphs_have_inclusive_costs_outside_of_circles(void **state)
{
	const struct pm_flat *flat;
	open_ok(read_graph);
	assert_int_equal(pm_profile_flat(&profile, &flat, NULL), 0);
	assert_true(flat_of(flat, "main")[0] == 80);
	assert_true(flat_of(flat, "f")[0] == 20); /* without its calls of itself */
	assert_true(flat_of(flat, "f")[2] == 20);
	assert_true(flat_of(flat, "f")[4] == 5);
	assert_true(isnan(flat_of(flat, "main")[4]));
	assert_true(isnan(flat_of(flat, "a")[0]));
	assert_true(flat_of(flat, "b")[2] == 30);
	assert_true(isnan(flat_of(flat, "unseen")[0])); /* only called */
	assert_true(flat_of(flat, "unseen")[2] == 0);
	assert_int_equal(flat->cycles->n, 1);
	assert_int_equal(flat->cycles->first[1], 2);
	assert_int_equal(flat->cycles->functions[0], function_named("<cycle 1>"));
	assert_true(flat_of(flat, "<cycle 1>")[0] == 50); /* 7 + 30 and leaf's 13 */
	assert_true(isnan(flat_of(flat, "<cycle 1>")[2]));
	assert_int_equal(flat->edges->n, 7);
	for (uint64_t i = 0; i < flat->edges->n; i++)
		if (flat->edges->edges[i].callee == function_named("leaf")) {
			assert_int_equal(flat->edges->edges[i].calls, 5);
			assert_int_equal(flat->edges->edges[i].line, 7);
			assert_true(flat->edges->values[i * 5] == 13);
		}
	pm_rec_close(&profile);
}

/* ---- time ---- */

static uint32_t thread_number(struct pm_recording *r, uint64_t number)
{
	struct pm_rec_key key = {.key = "thread", .number = number};
	return pm_rec_thread(r, &key, 1, pm_bytes_of(""));
}

static int read_samples(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t q = pm_rec_metric(r, pm_bytes_of("time"), pm_bytes_of("ns"));
	uint32_t a = call(r, PM_REC_NONE, "a"), b = call(r, a, "b");
	uint32_t quiet = thread_number(r, 1), busy = thread_number(r, 2);
	pm_rec_cost(r, quiet, a, q, 1);
	pm_rec_cost(r, busy, b, q, 9);
	pm_rec_origin(r, 50);
	pm_rec_sample(r, busy, 300, PM_NO_TIME, b);
	pm_rec_sample(r, busy, 100, 200, a);
	pm_rec_sample(r, busy, 300, UINT64_MAX - 1, PM_REC_NONE);
	return 0;
}

static void test_samples_are_in_the_order_of_time(void **state)
{
	const struct pm_threads *t;
	struct pm_sample s[4];
	uint64_t origin, duration, first, last;
	open_ok(read_samples);
	assert_int_equal(pm_profile_threads(&profile, &t, NULL), 0);
	assert_false(t->threads[0].has_trace);
	assert_int_equal(t->threads[1].n_samples, 3);
	assert_int_equal(profile.ops->samples(&profile, 1, 0, s, 4, NULL), 3);
	assert_int_equal(s[0].time_ns, 100);
	assert_int_equal(s[0].duration_ns, 200);
	assert_int_equal(s[0].context, 1);
	assert_int_equal(s[1].context, 2);
	assert_true(s[1].duration_ns == PM_NO_TIME);
	assert_int_equal(s[2].context, 0); /* nothing ran; the order of equal times is kept */
	assert_int_equal(profile.ops->samples(&profile, 1, 2, s, 4, NULL), 1);
	assert_int_equal(profile.ops->samples(&profile, 1, 3, s, 4, NULL), 0);
	assert_int_equal(profile.ops->samples(&profile, 0, 0, s, 4, NULL), 0);
	assert_int_equal(profile.ops->trace_ends(&profile, 1, &first, &last, NULL), 0);
	assert_int_equal(first, 100);
	assert_true(last == UINT64_MAX - 1); /* the last one's end */
	assert_int_equal(pm_profile_span(&profile, &origin, &duration, NULL), 0);
	assert_int_equal(origin, 50);
	assert_false(profile.traces_are_calls);
	assert_false(pm_profile_has(&profile, call_times));
	pm_rec_close(&profile);
}

enum { MANY = 1000 };

/* Calls of `even` and `odd`, whose lengths are 1 … MANY, in a call of `main`. */
static int read_calls(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t q = pm_rec_metric(r, pm_bytes_of("time"), pm_bytes_of("ns"));
	uint32_t main = call(r, PM_REC_NONE, "main"), t = thread_number(r, 1);
	uint32_t child[] = {call(r, main, "even"), call(r, main, "odd")};
	struct pm_rec_called whole = {.time_ns = 5,
		.duration_ns = 1000000,
		.self_ns = (uint64_t)-7,
		.seq = 77,
		.context = main};
	pm_rec_cost(r, t, main, q, 1);
	pm_rec_called(r, t, &whole);
	for (uint64_t i = 1; i <= MANY; i++)
		pm_rec_called(r, t,
			&(struct pm_rec_called){.time_ns = 5 + 1000 * i,
				.duration_ns = i,
				.self_ns = i,
				.seq = MANY - i,
				.context = child[i % 2]});
	return 0;
}

static void test_calls_are_found_at_any_position(void **state)
{
	struct pm_sample s[300];
	const struct pm_call_times *times;
	struct pm_thread_counts counts;
	open_ok(read_calls);
	assert_true(profile.traces_are_calls);
	for (uint64_t first = 0; first < MANY + 2; first += 97) {
		int64_t n = profile.ops->samples(&profile, 0, first, s, 300, NULL);
		assert_int_equal(n, MANY + 1 - first < 300 ? MANY + 1 - first : 300);
		for (int64_t i = first == 0; i < n; i++) {
			uint64_t k = first + (uint64_t)i;
			assert_int_equal(s[i].time_ns, 5 + 1000 * k);
			assert_int_equal(s[i].duration_ns, k);
			assert_int_equal(s[i].self_ns, k);
			assert_int_equal(s[i].seq, MANY - k);
		}
	}
	profile.ops->samples(&profile, 0, 0, s, 1, NULL);
	assert_int_equal((int64_t)s[0].self_ns, -7);
	assert_int_equal(s[0].seq, 77);
	assert_int_equal(pm_profile_call_times(&profile, &times, NULL), 0);
	assert_int_equal(times[0].max_ns, 1000000);
	assert_int_equal(times[1].p50_ns, 500); /* of 2, 4 … 1000 */
	assert_int_equal(times[2].p99_ns, 989); /* of 1, 3 … 999 */
	assert_int_equal(profile.ops->thread_counts(&profile, 0, &counts, NULL), 0);
	assert_int_equal(counts.last_ns, 1001005); /* the end of the last one */
	pm_rec_close(&profile);
}

/* ---- JSON ---- */

static int read_json(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	struct pm_scan s = pm_rec_json(r);
	pm_rec_metric(r, pm_bytes_of("count"), pm_bytes_of(""));
	while (pm_scan_top_item(&s) && pm_scan_skip(&s))
		;
	assert_true(pm_rec_json_ends(r, &s));
	return 0;
}

static size_t damage_of(const char *text)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	const struct pm_damages *damages;
	assert_int_equal(open_with(read_json, text, &err), 0);
	assert_int_equal(pm_profile_damage(&profile, &damages, NULL), 0);
	size_t n = damages->n;
	pm_rec_close(&profile);
	return n;
}

static void test_json_that_is_cut_is_damage(void **state)
{
	assert_int_equal(damage_of("{\"a\":[1,2]}\n"), 0);
	assert_int_equal(damage_of("{\"a\":[1,2"), 1);
	assert_int_equal(damage_of("{} ]"), 1);
}

/* ---- instants ---- */

static int read_instants(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t q = pm_rec_metric(r, pm_bytes_of("samples"), pm_bytes_of(""));
	uint32_t main = call(r, PM_REC_NONE, "main"), t = thread(r, "7", "");
	uint32_t cycles = pm_rec_event(r, pm_bytes_of("cycles"), PM_REC_NONE, q);
	uint32_t faults = pm_rec_event(r, pm_bytes_of("faults"), PM_REC_NONE, q);
	for (int i = 0; i < 600; i++) /* in more than one block, the last one first */
		pm_rec_instant(r, t, 1000000 - 1000 * (uint64_t)i, main, i % 2 ? faults : cycles,
			i % 2 ? PM_NO_WEIGHT : i);
	pm_rec_cost(r, t, main, q, 600);
	return 0;
}

static void test_instants_are_in_order_with_event_and_weight(void **state)
{
	struct pm_sample s[600];
	open_ok(read_instants);
	assert_true(profile.samples_are_weighed);
	assert_int_equal(profile.ops->samples(&profile, 0, 0, s, 600, NULL), 600);
	for (int i = 0; i < 600; i++) {
		int told = 599 - i;
		assert_int_equal(s[i].time_ns, 1000000 - 1000 * told);
		assert_int_equal(s[i].duration_ns, PM_NO_TIME);
		assert_int_equal(s[i].weight, told % 2 ? PM_NO_WEIGHT : told);
		assert_true(pm_bytes_equal(profile.events[s[i].event].name,
			pm_bytes_of(told % 2 ? "faults" : "cycles")));
		assert_int_equal(s[i].drawn_ns, i == 599 ? 0 : 1000);
	}
	assert_int_equal(profile.ops->samples(&profile, 0, 300, s, 2, NULL), 2);
	assert_int_equal(s[0].weight, PM_NO_WEIGHT);
	pm_rec_close(&profile);
}

/* Costs of many samples at a time, others between them, and frames told once. */
static int read_sample_costs(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t cycles = pm_rec_metric(r, pm_bytes_of("cycles"), pm_bytes_of(""));
	uint32_t samples = pm_rec_metric(r, pm_bytes_of("samples"), pm_bytes_of(""));
	uint32_t main = call(r, PM_REC_NONE, "main"), work = call(r, main, "work");
	uint32_t event = pm_rec_event(r, pm_bytes_of("cycles"), cycles, samples);
	uint32_t nested = pm_rec_like(r, work, work);
	assert_int_equal(pm_rec_parent(r, nested), work);
	assert_int_equal(pm_rec_parent(r, main), PM_REC_NONE);
	for (int i = 0; i < 200; i++) {
		pm_rec_sample_cost(r, PM_REC_NONE, i % 2 ? nested : main, event, i);
		if (i == 100)
			pm_rec_cost(r, PM_REC_NONE, work, cycles, 7);
	}
	pm_rec_sample_cost(r, PM_REC_NONE, work, event + 1, 1); /* no such event */
	return 0;
}

static void test_costs_of_samples_are_those_of_their_event(void **state)
{
	open_ok(read_sample_costs);
	assert_int_equal(tree()->n_contexts, 3);
	assert_string_equal(name_of(2), "work");
	assert_int_equal(value(0, 0).i, 199 * 200 / 2 + 7);
	assert_int_equal(value(0, 1).i, 99 * 100);
	assert_int_equal(value(1, 1).i, 7);
	assert_int_equal(value(2, 1).i, 100 * 100);
	assert_int_equal(value(0, 4).i, 100);
	assert_int_equal(value(2, 4).i, 100);
	pm_rec_close(&profile);
}

/* ---- depth ---- */

static int read_deep(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	uint32_t q = pm_rec_metric(r, pm_bytes_of("count"), pm_bytes_of("")), at = PM_REC_NONE;
	for (int i = 0; i < PM_LIMIT_DEPTH + 10; i++)
		at = call(r, at, i % 2 ? "even" : "odd");
	pm_rec_cost(r, PM_REC_NONE, at, q, 3);
	return 0;
}

static void test_what_is_too_deep_is_cut_and_said(void **state)
{
	const struct pm_damages *d;
	open_ok(read_deep);
	assert_int_equal(tree()->n_contexts, PM_LIMIT_DEPTH);
	assert_int_equal(value(0, 0).i, 3);
	assert_int_equal(pm_profile_damage(&profile, &d, NULL), 0);
	assert_int_equal(d->n, 1);
	pm_rec_close(&profile);
}

/* ---- failure ---- */

static int read_failing(struct pm_recording *r, struct pm_error *err)
{
	uint32_t q = pm_rec_metric(r, pm_bytes_of("count"), pm_bytes_of(""));
	(void)err;
	pm_rec_fail(r, -ENOTSUP, 16, "is of version %d", 9);
	assert_false(pm_rec_goes_on(r));
	uint32_t c = call(r, PM_REC_NONE, "main");
	assert_int_equal(c, PM_REC_BAD);
	pm_rec_cost(r, PM_REC_NONE, c, q, 1);
	return 0;
}

static void test_failure_is_sticky_and_refuses_the_source(void **state)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	assert_int_equal(open_with(read_failing, "x", &err), -ENOTSUP);
	assert_string_equal(err.text, "is of version 9");
	assert_int_equal(err.offset, 16);
}

static int folder;
static const char *changes; /* the file that changes while the last one is read */

static int read_while_one_changes(struct pm_recording *r, struct pm_error *err)
{
	(void)err;
	if (pm_rec_is_last_file(r)) {
		int fd = openat(folder, changes, O_WRONLY | O_TRUNC);
		assert_true(fd >= 0);
		close(fd);
	}
	return 0;
}

static void test_an_earlier_file_may_change_while_a_later_one_is_read(void **state)
{
	static const struct pm_reader reader = {
		.contexts_are = "samples", .layout = "text", .read = read_while_one_changes};
	static const struct pm_open_options options;
	static const char *const names[] = {"0", "1", "2"};
	for (size_t k = 0; k < 3; k++) {
		struct pm_error err = {.offset = PM_NO_OFFSET};
		snprintf(path, sizeof(path), "/tmp/test_builder-XXXXXX");
		assert_non_null(mkdtemp(path));
		folder = open(path, O_RDONLY | O_DIRECTORY);
		for (size_t i = 0; i < 3; i++) {
			int fd = openat(folder, names[i], O_WRONLY | O_CREAT, 0600);
			assert_int_equal(write(fd, "text", 4), 4);
			close(fd);
		}
		changes = names[k];
		struct pm_candidate c = {
			.path = path, .fd = folder, .folder = true, .files = names, .n_files = 3};
		int r = pm_rec_open(&reader, &c, &options, &profile, &err);
		assert_int_equal(r, -EIO);
		assert_string_equal(err.text, "has changed while it was read");
		assert_string_equal(err.file, changes);
		for (size_t i = 0; i < 3; i++)
			unlinkat(folder, names[i], 0);
		close(folder);
		rmdir(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs_are_exact_in_ns_and_add_up),
		cmocka_unit_test(test_functions_have_files_where_no_line_has_a_cost),
		cmocka_unit_test(test_decimals_are_summed_as_written),
		cmocka_unit_test(test_sums_beyond_64_bits_are_doubles),
		cmocka_unit_test(test_lines_are_parts_and_addresses_functions),
		cmocka_unit_test(test_text_ids_are_names_with_free_numbers),
		cmocka_unit_test(test_a_cost_without_thread_means_no_threads),
		cmocka_unit_test(test_graphs_have_inclusive_costs_outside_of_circles),
		cmocka_unit_test(test_samples_are_in_the_order_of_time),
		cmocka_unit_test(test_calls_are_found_at_any_position),
		cmocka_unit_test(test_json_that_is_cut_is_damage),
		cmocka_unit_test(test_instants_are_in_order_with_event_and_weight),
		cmocka_unit_test(test_costs_of_samples_are_those_of_their_event),
		cmocka_unit_test(test_what_is_too_deep_is_cut_and_said),
		cmocka_unit_test(test_failure_is_sticky_and_refuses_the_source),
		cmocka_unit_test(test_an_earlier_file_may_change_while_a_later_one_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
