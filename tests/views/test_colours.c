/* The colours of pictures, and the texts of boxes and legends. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fs/views/pictures/colours.h"
#include "fs/views/pictures/svg.h"

/* ---- CIEDE2000 ---- */

struct lab {
	double l, a, b;
};

#define PI 3.14159265358979323846

static double linear(unsigned byte)
{
	double c = byte / 255.0;
	return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double response(double t)
{
	return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* Of sRGB under D65. */
static struct lab lab_of(uint32_t colour)
{
	double r = linear(colour >> 16 & 255), g = linear(colour >> 8 & 255),
	       b = linear(colour & 255);
	double x = response((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
	double y = response(0.2126729 * r + 0.7151522 * g + 0.0721750 * b);
	double z = response((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883);
	return (struct lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static double degrees(double a, double b)
{
	double h = a == 0 && b == 0 ? 0 : atan2(b, a) * 180 / PI;
	return h < 0 ? h + 360 : h;
}

static double chroma_excess(double c)
{
	return sqrt(pow(c, 7) / (pow(c, 7) + pow(25, 7)));
}

static double cosine(double angle)
{
	return cos(angle * PI / 180);
}

static double distance_of(struct lab x, struct lab y)
{
	double g = 0.5 * (1 - chroma_excess((hypot(x.a, x.b) + hypot(y.a, y.b)) / 2));
	double c1 = hypot(x.a * (1 + g), x.b), c2 = hypot(y.a * (1 + g), y.b);
	double h1 = degrees(x.a * (1 + g), x.b), h2 = degrees(y.a * (1 + g), y.b), turn = h2 - h1;
	double hue = h1 + h2, l = (x.l + y.l) / 2, c = (c1 + c2) / 2;
	if (c1 * c2 == 0)
		turn = 0;
	else if (fabs(turn) > 180)
		turn += turn > 0 ? -360 : 360;
	if (c1 * c2 != 0)
		hue = fabs(h1 - h2) <= 180 ? hue / 2
			: hue < 360        ? (hue + 360) / 2
					   : (hue - 360) / 2;
	double t = 1 - 0.17 * cosine(hue - 30) + 0.24 * cosine(2 * hue) +
		0.32 * cosine(3 * hue + 6) - 0.20 * cosine(4 * hue - 63);
	double dl = (y.l - x.l) / (1 + 0.015 * pow(l - 50, 2) / sqrt(20 + pow(l - 50, 2)));
	double dc = (c2 - c1) / (1 + 0.045 * c);
	double dh = 2 * sqrt(c1 * c2) * sin(turn * PI / 360) / (1 + 0.015 * c * t);
	double twist = -2 * chroma_excess(c) * sin(60 * exp(-pow((hue - 275) / 25, 2)) * PI / 180);
	return sqrt(dl * dl + dc * dc + dh * dh + twist * dc * dh);
}

/* Pairs of Sharma, Wu and Dalal (2005) that take different ways through the formula. */
static void test_distance_is_that_of_the_literature(void **state)
{
	static const struct {
		struct lab x, y;
		double distance;
	} pairs[] = {
		{{50, 2.6772, -79.7751}, {50, 0, -82.7485}, 2.0425},
		{{50, 0, 0}, {50, -1, 2}, 2.3669},
		{{50, 2.49, -0.001}, {50, -2.49, 0.0011}, 7.2195},
		{{50, 2.5, 0}, {58, 24, 15}, 19.4535},
		{{22.7233, 20.0904, -46.694}, {23.0331, 14.973, -42.5619}, 2.0373},
		{{90.8027, -2.0831, 1.441}, {91.1528, -1.6435, 0.0447}, 1.4441},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		assert_true(fabs(distance_of(pairs[i].x, pairs[i].y) - pairs[i].distance) < 1e-4);
}

static double distance(uint32_t x, uint32_t y)
{
	return distance_of(lab_of(x), lab_of(y));
}

/* ---- the palette ---- */

/* Which hues, greys or family a colour belongs to: those of one group never look alike. */
static unsigned group_of(unsigned colour)
{
	unsigned first = PMFS_N_HUES + 2;
	return colour < first ? 0 : 1 + (colour - first) / PMFS_N_SHADES;
}

static void test_colours_that_look_alike_are_known(void **state)
{
	for (unsigned i = 0; i < PMFS_N_COLOURS; i++)
		for (unsigned k = 0; k < PMFS_N_COLOURS; k++) {
			bool near = pmfs_colours_near[i] >> k & 1;
			bool far = distance(pmfs_palette[i], pmfs_palette[k]) >= 15;
			if (i != k && (near == far || (near && group_of(i) == group_of(k))))
				fail_msg("%06x and %06x", (unsigned)pmfs_palette[i],
					(unsigned)pmfs_palette[k]);
		}
}

static void test_dark_text_can_be_read_on_all(void **state)
{
	for (unsigned i = 0; i < PMFS_N_COLOURS; i++)
		assert_true(lab_of(pmfs_palette[i]).l > 45);
}

/* Thirteen functions of the program, dearest first, and four of categories. */
static struct fake *fake_of_colours(void)
{
	static const char *const others[] = {
		"MPI_Wait", "sched_yield", "<omp barrier wait>", "malloc"};
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	for (uint32_t i = 0; i < 17; i++) {
		char name[] = {'f', (char)('a' + i), 0};
		fake_call(f, i + 1, 0, fake_function(f, i < 13 ? name : others[i - 13], NULL, 0));
		fake_value(f, 0, i + 1, 1, 100 - i);
		fake_value(f, 0, i + 1, 2, 100 - i);
		fake_sample(f, 0, 1000 + 100 * i, i + 1);
		fake_sample(f, 0, 1050 + 100 * i, 0);
	}
	return f;
}

static void test_hues_go_by_cost_and_categories_have_their_own(void **state)
{
	struct fake *f = fake_of_colours();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pmfs_colours *c;
	assert_int_equal(pmfs_colours(m, &c, NULL), 0);
	for (unsigned i = 0; i < 13; i++) {
		char name[] = {'f', (char)('a' + i), 0};
		assert_int_equal(pmfs_colour_of(c, pm_bytes_of(name)), i % PMFS_N_HUES);
	}
	unsigned wait = pmfs_colour_of(c, pm_bytes_of("sched_yield"));
	struct lab grey = lab_of(pmfs_palette[wait]);
	assert_true(hypot(grey.a, grey.b) < 1);
	assert_int_equal(pmfs_colour_of(c, pm_bytes_of("<omp barrier wait>")), wait);
	assert_true(pmfs_colour_of(c, pm_bytes_of("MPI_Wait")) > wait);
	assert_true(pmfs_colour_of(c, pm_bytes_of("malloc")) > wait);
	assert_int_equal(pmfs_colour_of(c, pm_bytes_of("of no function")), PMFS_N_COLOURS - 1);
	assert_true(pmfs_colour_of(NULL, pm_bytes_of("fa")) < PMFS_N_HUES);
	views_done(m, f);
}

/* A box's fill, found by its title; 0 where there is none. */
static unsigned fill_of(const char *svg, const char *name)
{
	char title[64];
	unsigned colour = 0;
	snprintf(title, sizeof(title), "<title>%s\n", name);
	const char *at = strstr(svg, title), *fill = at ? strstr(at, "fill=\"#") : NULL;
	if (fill)
		sscanf(fill, "fill=\"#%6x", &colour);
	return colour;
}

static void test_a_name_has_one_colour_in_every_picture(void **state)
{
	struct fake *f = fake_of_colours();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *flame = view_text(m, PMFS_PLACE_EXPORT, "flamegraph.svg", 0);
	char *line = view_text(m, PMFS_PLACE_EXPORT, "timeline.svg", 0);
	for (unsigned i = 0; i < 13; i++) {
		char name[] = {'f', (char)('a' + i), 0};
		assert_int_equal(fill_of(flame, name), pmfs_palette[i % PMFS_N_HUES]);
		assert_int_equal(fill_of(line, name), pmfs_palette[i % PMFS_N_HUES]);
	}
	free(flame);
	free(line);
	views_done(m, f);
}

static void test_neighbours_in_a_legend_differ(void **state)
{
	struct fake *f = fake_of_colours();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *svg = view_text(m, PMFS_PLACE_EXPORT, "timeline.svg", 0);
	unsigned before = 0, n = 0, colour;
	for (const char *at = svg; (at = strstr(at, "height=\"12\" rx=\"2\" fill=\"#")); at++) {
		assert_int_equal(sscanf(strstr(at, "fill"), "fill=\"#%6x", &colour), 1);
		assert_true(n++ == 0 || distance(colour, before) >= 15);
		before = colour;
	}
	assert_int_equal(n, 12);
	free(svg);
	views_done(m, f);
}

/* ---- labels ---- */

static void test_labels_keep_what_tells_names_apart(void **state)
{
	static const struct {
		const char *name;
		size_t columns;
		const char *label;
	} cases[] = {
		{"main", 4, "main"},
		{"main", 3, ""},
		{"abcdefgh", 5, "abcd…"},
		{"abcdefgh", 4, "abc…"},
		{"Mail::SpamAssassin::Conf::parse_rules", 37,
			"Mail::SpamAssassin::Conf::parse_rules"},
		{"Mail::SpamAssassin::Conf::parse_rules", 30, "…Conf::parse_rules"},
		{"Mail::SpamAssassin::Conf::parse_rules", 12, "…parse_rules"},
		{"Mail::SpamAssassin::Conf::parse_rules", 8, "parse_r…"},
		{"Mail::SpamAssassin::Conf::parse_rules", 3, ""},
		{"void a::b<int>(char, long)", 12, "a::b<int>"},
		{"void com.shop.Cart.add(int)", 9, "…Cart.add"},
		{"opal_progress [libopen-pal.so]", 20, "opal_progress"},
		{"main._omp_fn.0", 10, "main….0"},
		{"main._omp_fn.1", 7, "main….1"},
		{"main._omp_fn.1", 5, ""},
		{"a::f(Domain&, int) [clone ._omp_fn.10] [app]", 30, "a::f [clone ._omp_fn.10]"},
		{"a::f(Domain&, int) [clone ._omp_fn.10]", 12, "a::f….10"},
		{"a::force(Domain&, int) [clone .omp] [clone .1]", 20, "a::force….1"},
		{"a::calculate(Domain&) [clone ._omp_fn.10]", 14, "…calculate.10"},
		{"a::calculate(Domain&) [clone ._omp_fn.10]", 9, "calcu….10"},
		{"solve.constprop.0.isra.0", 12, "solve….0"},
		{"solve.lto_priv.1", 8, "solve….1"},
		{"solve.cold", 10, "solve.cold"},
		{"solve_it.constprop.1.cold", 14, "solve_….1.cold"},
		{"solve.constprop.0.cold", 9, "solve….0"},
		{"com.acme.cold.A.load", 12, "…cold.A.load"},
		{"com.acme.part.B.load", 12, "…part.B.load"},
		{"main.coldPath", 11, "…coldPath"},
		{"libuct_ib.so.0.0.0 (12 addresses)", 20, "libuct_ib.so.0.0.0 …"},
		{"/opt/libuct_ib.so.0.0.0", 20, "…libuct_ib.so.0.0.0"},
		{"app.bin (12 addresses)", 12, "app.bin (12…"},
		{"libucs.so.0.0.0+0x4f564", 12, "…+0x4f564"},
		{"libucs.so.0.0.0+0x4f564", 8, "libucs.…"},
		{"<unknown procedure> 0x15650 [libibverbs.so]", 12, "…0x15650"},
		{"größe", 4, "grö…"},
		{"", 10, ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pm_text label = {.p = NULL};
		pmfs_svg_cut(&label, pm_bytes_of(cases[i].name), cases[i].columns);
		if (!pm_bytes_equal(pm_text_view(&label), pm_bytes_of(cases[i].label)))
			fail_msg("%s in %zu: %.*s", cases[i].name, cases[i].columns, (int)label.len,
				label.p ? (const char *)label.p : "");
		pm_text_done(&label);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance_is_that_of_the_literature),
		cmocka_unit_test(test_colours_that_look_alike_are_known),
		cmocka_unit_test(test_dark_text_can_be_read_on_all),
		cmocka_unit_test(test_hues_go_by_cost_and_categories_have_their_own),
		cmocka_unit_test(test_a_name_has_one_colour_in_every_picture),
		cmocka_unit_test(test_neighbours_in_a_legend_differ),
		cmocka_unit_test(test_labels_keep_what_tells_names_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
