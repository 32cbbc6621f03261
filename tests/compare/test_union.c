/* fs/compare: the union of trees, pictures, exports and the summary of profiles in memory. */
#include "pair.h"

#include <stdio.h>
#include <string.h>

#include "formats/common/text.h"
#include "fs/compare/internal.h"

#define COSTS(own, all) ((const double[]){(own), (all)})

/* main calls work from a loop, and `third`; the loop and its line begin at `line`. */
static struct fake *run(double work, const char *third, double cost, uint32_t line)
{
	struct fake *f = run_new();
	struct pm_frame loop = {.kind = PM_KIND_LOOP,
		.function = PM_NONE,
		.file = fake_text(f, "/src/main.c"),
		.line = line};
	run_call(f, 1, 0, "main", "/src/main.c", COSTS(10, 10 + work + cost));
	fake_context(f, 2, 1, &loop);
	fake_value(f, 0, 2, 1, work);
	run_line(f, 3, 2, "/src/main.c", line + 2, COSTS(0, work));
	run_call(f, 4, 3, "work", "/src/work.c", COSTS(work, work));
	run_call(f, 5, 1, third, "/src/work.c", COSTS(cost, cost));
	return f;
}

static struct pair open_two(struct pair *p)
{
	pair_open(p, 1, 1, (struct fake *[]){run(100, "old", 5, 20), run(140, "fresh", 7, 31)});
	return *p;
}

static void test_the_union(void **state)
{
	struct pair p = {.held = 0};
	open_two(&p);
	assert_pair(&p, "contexts.csv",
		"context_id|parent_id|depth|"
		"time_ns_excl_base|time_ns_excl|time_ns_excl_diff|time_ns_excl_ratio|"
		"time_ns_incl_base|time_ns_incl|time_ns_incl_diff|time_ns_incl_ratio|"
		"line_base|line|kind|only_in|file|name\n"
		"1||0|10|10|0|1|115|157|42|1.3652173913043477|||function||/src/main.c|main\n"
		"2|1|1|||0||100|140|40|1.4|20|31|loop||/src/main.c|loop@main.c:31\n"
		"3|2|2|0|0|0|1|100|140|40|1.4|22|33|line||/src/main.c|main.c:33\n"
		"4|3|3|100|140|40|1.4|100|140|40|1.4|||function||/src/work.c|work\n"
		"5|1|1||7|7|||7|7||||function|new|/src/work.c|fresh\n"
		"6|1|1|5||-5||5||-5||||function|base|/src/work.c|old\n");
	pair_close(&p);
}

static void add_placeholder(struct fake *f, uint32_t number, uint32_t parent, const char *name)
{
	struct pm_frame frame = {.kind = PM_KIND_PLACEHOLDER,
		.is_root = parent == 0,
		.function = PM_NONE,
		.name = fake_text(f, name)};
	fake_context(f, number, parent, &frame);
}

/* As in a measurement: main below a root, whose costs are `own` and those of its two children. */
static struct fake *measured_run(double own, double main_cost)
{
	struct fake *f = run_new();
	add_placeholder(f, 1, 0, "<primary root>");
	fake_value(f, 0, 1, 2, own);
	fake_value(f, 0, 1, 1, own + main_cost + 3);
	add_placeholder(f, 2, 1, "<program root>");
	fake_value(f, 0, 2, 1, main_cost);
	run_call(f, 3, 2, "main", "/src/main.c", COSTS(main_cost, main_cost));
	add_placeholder(f, 4, 1, "<thread root>");
	fake_value(f, 0, 4, 1, 3);
	run_call(f, 5, 4, "work", "/src/work.c", COSTS(3, 3));
	return f;
}

/* The same as in a database. */
static struct fake *stored_run(void)
{
	struct fake *f = run_new();
	struct pm_frame entry = {
		.kind = PM_KIND_ENTRY, .function = PM_NONE, .name = fake_text(f, "main thread")};
	fake_context(f, 1, 0, &entry);
	fake_value(f, 0, 1, 1, 20);
	run_call(f, 2, 1, "main", "/src/main.c", COSTS(20, 20));
	entry.name = fake_text(f, "application thread");
	fake_context(f, 3, 0, &entry);
	fake_value(f, 0, 3, 1, 3);
	run_call(f, 4, 3, "work", "/src/work.c", COSTS(3, 3));
	return f;
}

/* Depth, inclusive costs, and the side that has it alone: of each context. */
static void assert_contexts(struct fake *base, struct fake *other, const char *want)
{
	struct pair p = {.held = 0};
	struct pm_text got = {.p = NULL};
	const struct pmfs_union *u;
	pair_open(&p, 1, 1, (struct fake *[]){base, other});
	assert_int_equal(pmfs_compare_contexts(p.profile, &u, NULL), 0);
	for (uint32_t i = 0; i < u->tree->n_contexts; i++) {
		const struct pm_frame *frame = pm_tree_frame(u->tree, i);
		pm_text_printf(&got, "%u %g %g ", u->tree->depth[i], (double)u->base[2 * i + 1],
			(double)u->other[2 * i + 1]);
		pm_text_bytes(&got, u->tree->texts[frame->name]);
		pm_text_char(&got, '\n');
	}
	pm_text_char(&got, '\0');
	assert_string_equal(got.p, want);
	pm_text_done(&got);
	pair_close(&p);
}

static void test_a_root_that_one_side_lacks(void **state)
{
	assert_contexts(stored_run(), measured_run(0, 25),
		"0 20 25 <program root>\n1 20 25 main\n0 3 3 <thread root>\n1 3 3 work\n");
	assert_contexts(measured_run(0, 25), stored_run(),
		"0 25 20 main thread\n1 25 20 main\n0 3 3 application thread\n1 3 3 work\n");
}

static void test_a_root_that_both_sides_have(void **state)
{
	assert_contexts(measured_run(0, 20), measured_run(0, 25),
		"0 23 28 <primary root>\n1 20 25 <program root>\n2 20 25 main\n"
		"1 3 3 <thread root>\n2 3 3 work\n");
}

static void test_a_root_with_costs_of_its_own_stays(void **state)
{
	assert_contexts(stored_run(), measured_run(1, 25),
		"0 nan 29 <primary root>\n1 nan 25 <program root>\n2 nan 25 main\n"
		"1 nan 3 <thread root>\n2 nan 3 work\n"
		"0 20 nan main thread\n1 20 nan main\n"
		"0 3 nan application thread\n1 3 nan work\n");
}

static void test_a_broken_base_has_nothing(void **state)
{
	struct pair p = {.held = 0};
	const struct pmfs_union *u;
	pair_open(&p, 1, 1, (struct fake *[]){NULL, run(140, "fresh", 7, 31)});
	assert_int_equal(pmfs_compare_contexts(p.profile, &u, NULL), 0);
	assert_int_equal(u->tree->n_contexts, 5);
	assert_string_equal(u->columns[0], "time_ns_excl");
	assert_true(u->base[1] != u->base[1]);
	assert_true(u->other[1] == 157);
	pair_close(&p);
}

static void test_folded_stacks_have_both_costs(void **state)
{
	struct pair p = {.held = 0};
	open_two(&p);
	assert_pair(&p, "export/time_ns.collapsedstack.txt",
		"main 10 10\nmain;fresh 0 7\nmain;old 5 0\nmain;work 100 140\n");
	pair_close(&p);
}

/* A third each, in three repetitions. */
static void test_folded_stacks_of_means_add_up(void **state)
{
	static const char *const names[] = {"a", "b", "c"};
	struct pair p = {.held = 0};
	struct fake *runs[4];
	for (uint32_t i = 0; i < 3; i++) {
		runs[i] = run_new();
		run_call(runs[i], 1, 0, names[i], "/src/f.c", (const double[]){1, 1});
	}
	runs[3] = run_new();
	for (uint32_t i = 0; i < 3; i++)
		run_call(runs[3], i + 1, 0, names[i], "/src/f.c", (const double[]){2, 2});
	pair_open(&p, 3, 1, runs);
	assert_pair(&p, "export/time_ns.collapsedstack.txt", "a 0 2\nb 1 2\nc 0 2\n");
	pair_close(&p);
}

static void test_the_summary(void **state)
{
	struct pair p = {.held = 0};
	open_two(&p);
	char *text = pair_text(&p, "summary.txt");
	assert_non_null(strstr(text, "new against old\n"));
	assert_non_null(strstr(text, "noise is unknown"));
	assert_non_null(strstr(text, "+40.00%  work\n"));
	assert_non_null(strstr(text, "new  fresh\n"));
	assert_non_null(strstr(text, "gone  old\n"));
	free(text);
	pair_close(&p);
}

static void test_the_summary_of_equal_runs(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 1, 1, (struct fake *[]){run(100, "x", 5, 20), run(100, "x", 5, 20)});
	char *text = pair_text(&p, "summary.txt");
	assert_non_null(strstr(text, "The own cost of every function is the same.\n"));
	free(text);
	pair_close(&p);
	open_two(&p);
	text = pair_text(&p, "summary.txt");
	assert_null(strstr(text, "is the same"));
	free(text);
	pair_close(&p);
}

/* main, which costs that much with all that it calls: its own cost is not known. */
static struct fake *run_of_inclusive_costs(double cost)
{
	struct fake *f = fake_new();
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "time", "ns");
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", "/src/main.c", 10));
	fake_value(f, 0, 1, 1, cost);
	return f;
}

static void test_own_costs_that_one_side_lacks_are_not_compared(void **state)
{
	struct pair p = {.held = 0};
	struct pm_text lines = {.p = NULL};
	pair_open(&p, 1, 1, (struct fake *[]){run_of_inclusive_costs(100), run(100, "x", 5, 20)});
	char *text = pair_text(&p, "summary.txt");
	assert_non_null(strstr(text, "100 ns          115 ns    +15.00%\n"));
	assert_null(strstr(text, "cost more"));
	free(text);
	assert_pair(&p, "metrics.csv",
		"quantity|base|value|diff|ratio\n"
		"time_ns|100|115|15|1.15\n");
	assert_int_equal(pmfs_compare_summary_lines(p.profile, 8, &lines, NULL), 0);
	pm_text_char(&lines, '\0');
	assert_string_equal(lines.p, "  no own cost in common\n");
	pm_text_done(&lines);
	pair_close(&p);
	pair_open(&p, 1, 1, (struct fake *[]){run(0, "x", 0, 20), run_of_inclusive_costs(10)});
	text = pair_text(&p, "summary.txt");
	assert_null(strstr(text, "is the same"));
	free(text);
	pair_close(&p);
}

/* The fill of the box with that name. */
static unsigned fill_of(const char *svg, const char *name)
{
	char title[64];
	snprintf(title, sizeof(title), "<title>%s\n", name);
	const char *box = strstr(svg, title), *fill = box ? strstr(box, "fill=\"#") : NULL;
	assert_non_null(fill);
	return (unsigned)strtoul(fill + 7, NULL, 16);
}

static int redness(unsigned colour)
{
	return (int)(colour >> 16) - (int)(colour & 0xff);
}

static void test_pictures(void **state)
{
	struct pair p = {.held = 0};
	open_two(&p);
	char *after = pair_text(&p, "flamegraph.svg"), *gone = pair_text(&p, "gone.svg");
	assert_true(redness(fill_of(after, "work")) > 60);
	assert_true(redness(fill_of(after, "fresh")) > 24);
	assert_true(abs(redness(fill_of(after, "main"))) < 12);
	assert_null(strstr(after, "<title>old"));
	assert_true(redness(fill_of(gone, "old")) < -24);
	assert_null(strstr(gone, "<title>fresh"));
	free(after);
	free(gone);
	char *page = pair_text(&p, "flamegraph.html");
	assert_non_null(strstr(page, "\"time, widths of new\""));
	assert_non_null(strstr(page, "\"time, widths of old\""));
	assert_non_null(strstr(page, "\"shades\":\""));
	free(page);
	pair_close(&p);
}

static void test_noise_is_grey(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 2, 2,
		(struct fake *[]){run(100, "x", 5, 20), run(130, "x", 6, 20), run(110, "x", 50, 20),
			run(125, "x", 51, 20)});
	char *svg = pair_text(&p, "flamegraph.svg");
	assert_true(abs(redness(fill_of(svg, "work"))) < 12);
	assert_true(redness(fill_of(svg, "x")) > 60);
	free(svg);
	pair_close(&p);
}

/* A difference that is beyond the noise by itself, and not among several functions. */
static void test_colours_are_those_of_many_tests(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 2, 2,
		(struct fake *[]){run(100, "x", 5, 20), run(102, "x", 6, 20), run(110, "x", 5, 20),
			run(112, "x", 6, 20)});
	char *table = pair_text(&p, "functions.csv"), *svg = pair_text(&p, "flamegraph.svg");
	assert_non_null(strstr(table, "|0.019419324309079"));
	assert_true(abs(redness(fill_of(svg, "work"))) < 12);
	free(table);
	free(svg);
	pair_close(&p);
}

/* The same costs, added up in another order. */
static void test_rounding_is_no_change(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 1, 1,
		(struct fake *[]){run(100, "x", 5, 20), run(100 + 1e-10, "x", 5 - 1e-12, 20)});
	char *text = pair_text(&p, "summary.txt"), *svg = pair_text(&p, "flamegraph.svg");
	assert_non_null(strstr(text, "The own cost of every function is the same.\n"));
	assert_null(strstr(text, "cost more"));
	assert_true(abs(redness(fill_of(svg, "work"))) < 12);
	free(text);
	free(svg);
	pair_close(&p);
}

/* x costs as much as before, in a run that is longer for another reason. */
static void test_pictures_of_shares(void **state)
{
	struct pair p = {.of.normalize = true};
	pair_open(&p, 1, 1, (struct fake *[]){run(100, "x", 50, 20), run(300, "x", 50, 20)});
	char *svg = pair_text(&p, "flamegraph.svg");
	assert_true(redness(fill_of(svg, "work")) > 60);
	assert_true(redness(fill_of(svg, "x")) < -24);
	assert_non_null(strstr(svg, "time, share of the total"));
	assert_non_null(strstr(svg, "<title>all\n100"));
	free(svg);
	pair_close(&p);
}

static struct fake *run_of_cycles(void)
{
	struct fake *f = fake_new();
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "cycles", "");
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", "/src/main.c", 1));
	fake_value(f, 0, 1, 1, 1000);
	return f;
}

static void test_no_mean_of_what_a_repetition_lacks(void **state)
{
	struct pair p = {.held = 0};
	struct fake *runs[] = {run(100, "x", 5, 20), run_of_cycles(), run(100, "x", 5, 20)};
	pair_open(&p, 2, 1, runs);
	char *text = pair_text(&p, "summary.txt");
	assert_non_null(strstr(text, "no quantity in common"));
	free(text);
	text = pair_text(&p, "functions.csv");
	assert_non_null(strstr(text, "time_ns_excl_base|time_ns_excl_base_stddev|time_ns_excl|"));
	assert_non_null(strstr(text, "\n||100||||||100|||"));
	free(text);
	assert_pair(&p, "metrics.csv",
		"quantity|base|base_stddev|value|value_stddev|diff|ratio|p\ntime_ns|||115||||\ncycles|||||||\n");
	text = pair_text(&p, "flamegraph.svg");
	assert_null(strstr(text, "work"));
	free(text);
	pair_close(&p);
}

static void test_no_quantity_in_common(void **state)
{
	struct pair p = {.held = 0};
	pair_open(&p, 1, 1, (struct fake *[]){run(100, "x", 5, 20), run_of_cycles()});
	char *text = pair_text(&p, "summary.txt");
	assert_non_null(strstr(text, "no quantity in common"));
	assert_null(strstr(text, "cost more")); /* main, which has no cost of the same quantity */
	assert_null(strstr(text, "is the same"));
	free(text);
	text = pair_text(&p, "functions.csv");
	assert_non_null(strstr(text, "cycles_incl_base|cycles_incl|cycles_incl_diff|"));
	assert_non_null(strstr(text, "\n|1000|||10||||115||||||"));
	free(text);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_union),
		cmocka_unit_test(test_a_root_that_one_side_lacks),
		cmocka_unit_test(test_a_root_that_both_sides_have),
		cmocka_unit_test(test_a_root_with_costs_of_its_own_stays),
		cmocka_unit_test(test_a_broken_base_has_nothing),
		cmocka_unit_test(test_folded_stacks_have_both_costs),
		cmocka_unit_test(test_folded_stacks_of_means_add_up),
		cmocka_unit_test(test_the_summary),
		cmocka_unit_test(test_the_summary_of_equal_runs),
		cmocka_unit_test(test_own_costs_that_one_side_lacks_are_not_compared),
		cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_noise_is_grey),
		cmocka_unit_test(test_colours_are_those_of_many_tests),
		cmocka_unit_test(test_rounding_is_no_change),
		cmocka_unit_test(test_pictures_of_shares),
		cmocka_unit_test(test_no_mean_of_what_a_repetition_lacks),
		cmocka_unit_test(test_no_quantity_in_common),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
