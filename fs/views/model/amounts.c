/* Numbers for people: few digits, units that fit. Nothing that is computed with comes from here. */
#include "fs/views/model/amounts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct step {
	double size;
	const char *name;
};

static const struct step times[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}, {0, NULL}};
static const struct step bytes[] = {
	{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}, {0, NULL}};

/* Units that stand for a step of one of the scales. */
static const struct {
	const char *unit;
	const struct step *steps;
	double size;
} scales[] = {{"sec", times, 1e9}, {"s", times, 1e9}, {"seconds", times, 1e9}, {"msec", times, 1e6},
	{"ms", times, 1e6}, {"usec", times, 1e3}, {"us", times, 1e3}, {"nsec", times, 1},
	{"ns", times, 1}, {"bytes", bytes, 1}, {"byte", bytes, 1}, {"B", bytes, 1}};

/* Four significant digits; whole from 1000 up. */
static void add_digits(struct pm_text *out, double value)
{
	double size = fabs(value);
	if (size >= 1e15)
		pm_text_printf(out, "%.3e", value);
	else if (size >= 999.95 || value == floor(value))
		pm_text_printf(out, "%.0f", value);
	else
		pm_text_printf(out, "%.*f", size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3, value);
}

static void add_stepped(struct pm_text *out, double value, const struct step *step)
{
	while (step[1].name && fabs(value) < step->size)
		step++;
	add_digits(out, value / step->size);
	pm_text_char(out, ' ');
	pm_text_str(out, step->name);
}

void pmfs_print_count(struct pm_text *out, uint64_t count)
{
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			pm_text_char(out, ',');
		pm_text_char(out, digits[i]);
	}
}

void pmfs_print_amount(struct pm_text *out, double value, struct pm_bytes unit)
{
	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++)
		if (pm_bytes_equal(unit, pm_bytes_of(scales[i].unit))) {
			add_stepped(out, value * scales[i].size, scales[i].steps);
			return;
		}
	if (value >= 0 && value < 1e15 && value == floor(value))
		pmfs_print_count(out, (uint64_t)value);
	else
		add_digits(out, value);
	if (unit.len)
		pm_text_char(out, ' ');
	pm_text_line(out, unit);
}

void pmfs_print_ns(struct pm_text *out, double ns)
{
	add_stepped(out, ns, times);
}

void pmfs_print_share(struct pm_text *out, double part, double whole)
{
	double share = whole > 0 ? 100 * (part / whole) : 0;
	if (share > 0 && share < 0.005)
		pm_text_str(out, "≈0%");
	else if (share == floor(share))
		pm_text_printf(out, "%.0f%%", share);
	else
		pm_text_printf(out, "%.*f%%", share < 0.995 ? 2 : 1, share);
}
