/* flamegraph.svg, flamegraph.html, and the data behind both. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fs/views/pictures/flame.h"
#include "profmount/limits.h"
#include "xml.h"

#define EXPORT PMFS_PLACE_EXPORT

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("there is no `%s`", part);
}

static void assert_order(const char *text, const char *first, const char *second)
{
	const char *a = strstr(text, first), *b = strstr(text, second);
	assert_non_null(a);
	assert_non_null(b);
	assert_true(a < b);
}

/* The picture of a tree, NUL-terminated, for free(). */
static char *draw(const struct pmfs_flame *flame, const struct pmfs_caption *caption)
{
	struct pm_text out = {.p = NULL};
	struct pm_arena arena = {.block = NULL};
	pmfs_flamegraph_draw(&arena, flame, caption, &out);
	pm_arena_done(&arena);
	pm_text_char(&out, '\0');
	assert_int_equal(pm_text_status(&out), 0);
	assert_xml(out.p);
	return out.p;
}

static const struct pmfs_caption plain = {.whole = {(const uint8_t *)"all", 3}};

/* n boxes below the whole, each with a cost of 1 and a name of its own; or each below the last. */
struct wide {
	uint32_t *parent, *name;
	struct pm_bytes *names;
	double *self;
	char (*texts)[8];
};

static struct pmfs_flame many_boxes(struct wide *w, uint32_t n, bool deep)
{
	w->parent = malloc((n + 1) * sizeof(*w->parent));
	w->name = malloc((n + 1) * sizeof(*w->name));
	w->names = malloc((n + 1) * sizeof(*w->names));
	w->self = malloc((n + 1) * sizeof(*w->self));
	w->texts = malloc((n + 1) * sizeof(*w->texts));
	assert_true(w->parent && w->name && w->names && w->self && w->texts);
	for (uint32_t i = 0; i <= n; i++) {
		w->parent[i] = i == 0 ? PM_NONE : deep ? i - 1 : 0;
		w->name[i] = i;
		snprintf(w->texts[i], sizeof(w->texts[i]), "%07x", i & 0xfffffff);
		w->names[i] = (struct pm_bytes){(const uint8_t *)w->texts[i], 7};
		w->self[i] = i > 0 && (!deep || i == n);
	}
	return (struct pmfs_flame){n + 1, w->parent, w->name, w->names, n + 1, w->self};
}

static void wide_done(struct wide *w)
{
	free(w->parent);
	free(w->name);
	free(w->names);
	free(w->self);
	free(w->texts);
}

/* ---- any tree ---- */

static void test_layout_puts_siblings_in_the_order_of_names(void **state)
{
	static const uint32_t parent[] = {PM_NONE, 0, 1, 0, 3, 0}, name[] = {0, 3, 1, 1, 2, 2};
	static const double self[] = {0, 1, 2, 4, 8, NAN};
	const struct pm_bytes names[] = {
		pm_bytes_of(""), pm_bytes_of("a"), pm_bytes_of("b"), pm_bytes_of("c")};
	const struct pmfs_flame flame = {6, parent, name, names, 4, self};
	const uint32_t order[] = {0, 3, 4, 5, 1, 2};
	const double start[] = {0, 12, 12, 0, 0, 12};
	struct pm_arena arena = {.block = NULL};
	const struct pmfs_flame_layout *l = pmfs_flame_lay_out(&arena, &flame);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(l->order[i], order[i]);
		assert_int_equal(l->place[order[i]], i);
		assert_true(l->start[i] == start[i]);
	}
	assert_true(l->total[0] == 15 && l->total[1] == 3 && l->total[3] == 12 && l->total[5] == 0);
	assert_int_equal(l->depth[2], 2);
	pm_arena_done(&arena);
}

static void test_narrow_boxes_are_left_out_and_counted(void **state)
{
	struct wide w;
	struct pmfs_flame flame = many_boxes(&w, 9999, false);
	w.self[5] = 9998e5; /* the others have 1e-9 each: less than can be seen */
	char *svg = draw(&flame, &plain);
	assert_int_equal(count_of(svg, "<g class=\"box\">"), 2);
	assert_has(svg, "9,998 boxes");
	assert_has(svg, "together ≈0% of all");
	free(svg);
	wide_done(&w);
}

static void test_shares_too_small_for_digits_are_well_formed(void **state)
{
	static const uint32_t parent[] = {PM_NONE, 0, 0}, name[] = {0, 1, 2};
	static const double self[] = {0, 1e9, 1};
	const struct pm_bytes names[] = {pm_bytes_of(""), pm_bytes_of("a"), pm_bytes_of("b")};
	const struct pmfs_flame flame = {3, parent, name, names, 3, self};
	char *svg = draw(&flame, &plain);
	assert_has(svg, "1 box, too narrow or too deep, is not drawn: ≈0% of all.");
	free(svg);
}

static void test_the_widest_boxes_win_where_there_are_too_many(void **state)
{
	enum { LEVELS = 8, EACH = 1500 };
	static uint32_t parent[LEVELS * EACH + 1], name[LEVELS * EACH + 1];
	static double self[LEVELS * EACH + 1];
	const struct pm_bytes names[] = {pm_bytes_of("f")};
	struct pmfs_flame flame = {LEVELS * EACH + 1, parent, name, names, 1, self};
	parent[0] = PM_NONE;
	for (uint32_t i = 0; i < LEVELS * EACH; i++) {
		parent[i + 1] = i < EACH ? 0 : i + 1 - EACH;
		self[i + 1] = i < (LEVELS - 1) * EACH ? 0 : 1;
	}
	char *svg = draw(&flame, &plain);
	assert_true(count_of(svg, "<rect") <= PM_LIMIT_SVG_RECTS);
	assert_true(count_of(svg, "<rect") > PM_LIMIT_SVG_RECTS - 50);
	assert_has(svg, "are not drawn: together ");
	free(svg);
}

static void test_a_million_levels_are_drawn_without_recursion(void **state)
{
	struct wide w;
	struct pmfs_flame flame = many_boxes(&w, 1000000, true);
	char *svg = draw(&flame, &plain);
	assert_int_equal(count_of(svg, "<g class=\"box\">"), 1000);
	assert_has(svg, "too narrow or too deep, are not drawn: together 100% of all");
	free(svg);
	wide_done(&w);
}

static void test_a_million_siblings_are_drawn(void **state)
{
	struct wide w;
	struct pmfs_flame flame = many_boxes(&w, 1000000, false);
	char *svg = draw(&flame, &plain);
	assert_int_equal(count_of(svg, "<g class=\"box\">"), 1);
	free(svg);
	wide_done(&w);
}

static void test_costs_that_are_no_costs_count_as_nothing(void **state)
{
	static const uint32_t parent[] = {PM_NONE, 0, 0, 0, 0}, name[] = {0, 1, 2, 3, 4};
	static const double self[] = {0, -5, NAN, INFINITY, 1e308};
	const struct pm_bytes names[] = {pm_bytes_of(""), pm_bytes_of("negative"),
		pm_bytes_of("nan"), pm_bytes_of("infinite"), pm_bytes_of("huge")};
	const struct pmfs_flame flame = {5, parent, name, names, 5, self};
	char *svg = draw(&flame, &plain);
	assert_null(strstr(svg, "negative"));
	assert_null(strstr(svg, "<title>nan"));
	assert_has(svg, "50% of all");
	assert_null(strstr(svg, "=\"\"")); /* what a number that is none would leave */
	free(svg);
}

static void test_labels_are_cut_to_their_boxes(void **state)
{
	static const uint32_t parent[] = {PM_NONE, 0, 0, 0}, name[] = {0, 1, 2, 3};
	static const double self[] = {0, 1, 98, 1};
	const struct pm_bytes names[] = {pm_bytes_of(""), pm_bytes_of("much_too_long"),
		pm_bytes_of("wide"), pm_bytes_of("日本語")};
	const struct pmfs_flame flame = {4, parent, name, names, 4, self};
	char *svg = draw(&flame, &plain); /* 11.8 px */
	assert_null(strstr(svg, ">much_too_long</text>"));
	assert_null(strstr(svg, ">日本語</text>"));
	assert_has(svg, ">wide</text>");
	assert_has(svg, "<title>much_too_long\n1, 1% of all</title>");
	free(svg);
}

/* ---- pictures of profiles ---- */

/* main → { b, a → b, a (again) }, own costs 10, 20, 30, 40; with another, empty metric before. */
static struct fake *fake_with_calls(void)
{
	struct fake *f = fake_new();
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "events", "");
	fake_metric(f, PM_ROLE_INCLUSIVE, 1, "time", "ns");
	fake_thread(f, 0, 0);
	fake_thread(f, 1, 0);
	uint32_t main = fake_function(f, "main", "main.c", 1);
	uint32_t a = fake_function(f, "a", "a.c", 1), b = fake_function(f, "b", "b.c", 1);
	fake_call(f, 1, 0, main);
	fake_call(f, 2, 1, b);
	fake_call(f, 3, 1, a);
	fake_line(f, 4, 3, "a.c", 7);
	fake_call(f, 5, 4, b);
	fake_call(f, 6, 1, a);
	static const double costs[] = {100, 10, 50, 50, 20, 30};
	for (uint32_t i = 0; i < 6; i++)
		fake_value(f, 0, i + 1, 2, costs[i]);
	fake_value(f, 1, 1, 2, 900);
	return f;
}

static void test_picture_of_a_run_merges_siblings_of_one_name(void **state)
{
	struct fake *f = fake_with_calls();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = view_text(m, EXPORT, "flamegraph.svg", 0);
	assert_xml(svg);
	assert_int_equal(count_of(svg, "<g class=\"box\">"), 5); /* all, main, a, a → b, b */
	assert_has(svg, "<title>all\n1 µs</title>");
	assert_has(svg, "<title>main\n1 µs, 100% of all; 910 ns its own</title>");
	assert_has(svg, "<title>a\n80 ns, 8% of all, 8% of its caller; 60 ns its own</title>");
	assert_has(svg, "<title>b\n20 ns, 2% of all, 25% of its caller</title>");
	assert_order(svg, "<title>a\n", "<title>b\n10 ns");
	assert_has(svg, "Every box is drawn.");
	free(svg);
	views_done(m, f);
}

static void test_picture_of_a_context_shows_its_callers_faded(void **state)
{
	struct fake *f = fake_with_calls();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pm_tree *tree;
	assert_int_equal(pmfs_model_tree(m, &tree, NULL), 0);
	char *svg = view_text(m, PMFS_PLACE_CONTEXT, "flamegraph.svg", pm_tree_find(tree, 5));
	assert_xml(svg);
	assert_int_equal(count_of(svg, "box faded"), 2); /* a line is a part of its function */
	assert_order(svg, "<title>main\na caller", "<title>a\na caller");
	assert_has(svg, "<title>b\n20 ns, 100% of all</title>");
	assert_null(strstr(svg, "<title>all"));
	free(svg);
	views_done(m, f);
}

static void test_picture_of_a_thread_has_its_costs_alone(void **state)
{
	struct fake *f = fake_with_calls();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = view_text(m, PMFS_PLACE_THREAD_EXPORT, "flamegraph.svg", 1);
	assert_xml(svg);
	assert_has(svg, "900 ns in all · rank=1/thread=0");
	assert_int_equal(count_of(svg, "<g class=\"box\">"), 2);
	free(svg);
	views_done(m, f);
}

static void test_a_deep_context_names_its_nearest_callers(void **state)
{
	struct fake *f = fake_with_time();
	char name[16];
	fake_thread(f, 0, 0);
	for (uint32_t i = 1; i <= 50; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		fake_call(f, i, i - 1, fake_function(f, name, NULL, i));
	}
	fake_value(f, 0, 50, 1, 7);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = view_text(m, PMFS_PLACE_CONTEXT, "flamegraph.svg", 49);
	assert_xml(svg);
	assert_int_equal(count_of(svg, "box faded"), PMFS_MAX_ABOVE);
	assert_has(svg, "<title>… 30 callers above\n");
	assert_order(svg, "<title>f31\n", "<title>f49\n");
	free(svg);
	views_done(m, f);
}

static void test_hostile_names_stay_names(void **state)
{
	static const char *const names[] = {"</script><!--<script>", "]]><svg onload=\"x\"&amp;",
		"\x01\xff\"'\n\t{{data}}", "", "\\u003c\\"};
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	for (uint32_t i = 0; i < 5; i++) {
		fake_call(f, i + 1, i, fake_function(f, names[i], names[i], 1));
		fake_value(f, 0, i + 1, 1, 100.0 - i);
	}
	f->profile.title = pm_bytes_of(names[0]);
	for (uint32_t id = 1; id <= 2; id++)
		fake_metric_of(f, id)->unit = fake_metric_of(f, id)->name = pm_bytes_of("<&\"\x02");
	f->profile.source = names[1];
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = view_text(m, EXPORT, "flamegraph.svg", 0);
	assert_xml(svg);
	assert_has(svg, "<title>&lt;/script&gt;");
	assert_has(svg, "<title>(unknown)\n");
	free(svg);
	char *html = view_text(m, EXPORT, "flamegraph.html", 0);
	assert_int_equal(count_of(html, "</script"), 2);
	assert_null(strstr(html, "<!--"));
	assert_has(html, "\"\\u003c/script>\\u003c!--\\u003cscript>\"");
	assert_has(html, "{{data}}"); /* a name is no mark */
	free(html);
	views_done(m, f);
}

static void test_pictures_of_nothing_say_so(void **state)
{
	struct fake *empty = fake_new(), *idle = fake_with_time();
	struct pmfs_model *m = pmfs_model_new(&empty->profile);
	char *svg = view_text(m, EXPORT, "flamegraph.svg", 0);
	assert_xml(svg);
	assert_has(svg, "There are no values to draw.");
	free(svg);
	char *html = view_text(m, EXPORT, "flamegraph.html", 0);
	assert_has(html, "\"tree\":[]");
	assert_has(html, "\"metrics\":[]");
	free(html);
	pmfs_model_free(m);
	fake_free(empty);

	fake_thread(idle, 0, 0);
	fake_call(idle, 1, 0, fake_function(idle, "main", NULL, 1));
	m = pmfs_model_new(&idle->profile);
	svg = view_text(m, PMFS_PLACE_CONTEXT, "flamegraph.svg", 0);
	assert_xml(svg);
	assert_has(svg, "no values");
	free(svg);
	pmfs_model_free(m);
	fake_free(idle);
}

static void test_page_has_every_metric_and_begins_with_the_best(void **state)
{
	struct fake *f = fake_with_calls();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *html = view_text(m, EXPORT, "flamegraph.html", 0);
	assert_has(html, "\"tree\":[1,0,2,0,3,0,3,2]");
	assert_has(
		html, "{\"name\":\"events\",\"unit\":\"\",\"column\":\"events\",\"values\":[-5]}");
	assert_has(html,
		"{\"name\":\"time\",\"unit\":\"ns\",\"column\":\"time_ns\",\"first\":true,"
		"\"values\":[-1,910,60,20,10,0]}");
	char *again = view_text(m, EXPORT, "flamegraph.html", 0);
	assert_string_equal(html, again);
	free(again);
	free(html);
	views_done(m, f);
}

static void test_a_tree_that_cannot_be_read_is_no_picture(void **state)
{
	struct fake *f = fake_with_time();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	f->tree_error = -EIO;
	assert_view(m, EXPORT, "flamegraph.svg", 0, "!-5");
	assert_view(m, EXPORT, "flamegraph.html", 0, "!-5");
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout_puts_siblings_in_the_order_of_names),
		cmocka_unit_test(test_narrow_boxes_are_left_out_and_counted),
		cmocka_unit_test(test_shares_too_small_for_digits_are_well_formed),
		cmocka_unit_test(test_the_widest_boxes_win_where_there_are_too_many),
		cmocka_unit_test(test_a_million_levels_are_drawn_without_recursion),
		cmocka_unit_test(test_a_million_siblings_are_drawn),
		cmocka_unit_test(test_costs_that_are_no_costs_count_as_nothing),
		cmocka_unit_test(test_labels_are_cut_to_their_boxes),
		cmocka_unit_test(test_picture_of_a_run_merges_siblings_of_one_name),
		cmocka_unit_test(test_picture_of_a_context_shows_its_callers_faded),
		cmocka_unit_test(test_picture_of_a_thread_has_its_costs_alone),
		cmocka_unit_test(test_a_deep_context_names_its_nearest_callers),
		cmocka_unit_test(test_hostile_names_stay_names),
		cmocka_unit_test(test_pictures_of_nothing_say_so),
		cmocka_unit_test(test_page_has_every_metric_and_begins_with_the_best),
		cmocka_unit_test(test_a_tree_that_cannot_be_read_is_no_picture),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
