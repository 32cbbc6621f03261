/* Numbers for people: few digits, suitable units. Not used for calculations. */
#include "fs/views/model/amounts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "formats/common/quantity.h"

static const struct pmfs_unit times[] = {
	{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}, {0, NULL}};
static const struct pmfs_unit bytes[] = {
	{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}, {0, NULL}};
static const struct pmfs_unit counts[] = {
	{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {0, NULL}};

/* Decimals that make `digits` significant ones, of a number from 1 on. */
static int decimals(double size, int digits)
{
	for (double limit = 10; digits > 1 && size >= limit - 5 * pow(10, -digits); limit *= 10)
		digits--;
	return digits - 1;
}

/* The largest unit in which the value, as it will be shown, is at least 1; else the last. */
static const struct pmfs_unit *unit_for(const struct pmfs_unit *unit, double value, int digits)
{
	for (; unit[1].name; unit++) {
		double shown = fabs(value) / unit[1].size;
		double scale = pow(10, decimals(shown, digits));
		if (round(shown * scale) / scale * unit[1].size >= unit->size)
			break;
	}
	return unit;
}

const struct pmfs_unit *pmfs_unit_of_time(double ns)
{
	return unit_for(times, ns, 4);
}

static bool is_bytes(struct pm_bytes unit)
{
	return pm_bytes_equal(unit, pm_bytes_of("bytes")) ||
		pm_bytes_equal(unit, pm_bytes_of("byte")) || pm_bytes_equal(unit, pm_bytes_of("B"));
}

/* Whole numbers have no decimals. */
static void add_in(struct pm_text *out, double value, const struct pmfs_unit *units, int digits)
{
	const struct pmfs_unit *unit = unit_for(units, value, digits);
	double number = value / unit->size;
	if (fabs(value) < 0.0005)
		pm_text_printf(out, "0 %s", unit == times + 3 ? "s" : unit->name);
	else if (fabs(number) >= 1e9)
		pm_text_printf(out, "%.3e %s", number, unit->name);
	else
		pm_text_printf(out, "%.*f %s",
			number == floor(number) ? 0 : decimals(fabs(number), digits), number,
			unit->name);
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

/* A number without a unit of its own: 12,345, 13.2 G, 0.00123. */
static void add_number(struct pm_text *out, double value)
{
	enum { SHORT = 100000 };
	if (value == floor(value) && value >= 0 && value < SHORT)
		pmfs_print_count(out, (uint64_t)value);
	else if (fabs(value) >= SHORT && fabs(value) < 1e18)
		add_in(out, value, counts, 3);
	else
		pm_text_printf(out, fabs(value) < SHORT ? "%.4g" : "%.3e", value);
}

void pmfs_print_amount(struct pm_text *out, double value, struct pm_bytes unit)
{
	double ns = pm_unit_ns(unit);
	if (ns > 0) {
		pmfs_print_ns(out, value * ns);
		return;
	}
	if (is_bytes(unit)) {
		add_in(out, value, bytes, 4);
		return;
	}
	add_number(out, value);
	if (unit.len)
		pm_text_char(out, ' ');
	pm_text_line(out, unit);
}

void pmfs_print_ns(struct pm_text *out, double ns)
{
	add_in(out, ns, times, 4);
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
