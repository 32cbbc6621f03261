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

static const struct pmfs_unit *unit_for(const struct pmfs_unit *unit, double value)
{
	while (unit[1].name && fabs(value) < unit->size)
		unit++;
	return unit;
}

const struct pmfs_unit *pmfs_unit_of_time(double ns)
{
	return unit_for(times, ns);
}

static bool is_bytes(struct pm_bytes unit)
{
	return pm_bytes_equal(unit, pm_bytes_of("bytes")) ||
		pm_bytes_equal(unit, pm_bytes_of("byte")) || pm_bytes_equal(unit, pm_bytes_of("B"));
}

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

static void add_in(struct pm_text *out, double value, const struct pmfs_unit *unit)
{
	add_digits(out, value / unit->size);
	pm_text_char(out, ' ');
	pm_text_str(out, unit->name);
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
	double ns = pm_unit_ns(unit);
	if (ns > 0) {
		pmfs_print_ns(out, value * ns);
		return;
	}
	if (is_bytes(unit)) {
		add_in(out, value, unit_for(bytes, value));
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
	add_in(out, ns, pmfs_unit_of_time(ns));
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
