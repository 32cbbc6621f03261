/* Ticks of a time axis: at most ten, one, two or five of a decimal unit apart, in one unit. */
#include <math.h>

#include "fs/views/model/screen.h"
#include "fs/views/pictures/svg.h"

enum {
	MAX_TICKS = 10,
	EDGE = 12, /* px from an end within which a label would hang over it */
};

static double tick_step(double span)
{
	static const double nice[] = {1, 2, 5, 10};
	double step = pow(10, floor(log10(span / MAX_TICKS)));
	for (size_t i = 0; i < sizeof(nice) / sizeof(*nice); i++)
		if (span / (step * nice[i]) <= MAX_TICKS)
			return step * nice[i];
	return span;
}

static void draw_tick(struct pm_text *out, const struct pmfs_time_axis *a, double ns,
	const struct pmfs_unit *unit, double step)
{
	double part = (ns - a->begin_ns) / (a->end_ns - a->begin_ns);
	double x = a->left + (a->right - a->left) * part;
	double decimals = ceil(-log10(step / unit->size) - 1e-9);
	pm_text_str(out, "<path class=\"grid\" d=\"M");
	pmfs_svg_number(out, x);
	pm_text_char(out, ' ');
	pmfs_svg_number(out, a->top);
	pm_text_char(out, 'V');
	pmfs_svg_number(out, a->bottom);
	pm_text_str(out, "\"/>\n");
	const char *style = x < a->left + EDGE ? "small"
		: x > a->right - EDGE          ? "small right"
					       : "small middle";
	pmfs_svg_text(out, NULL, style, x, a->top - 5);
	pm_text_printf(
		out, "%.*f %s", decimals > 0 ? (int)decimals : 0, ns / unit->size, unit->name);
	pmfs_svg_text_end(out);
}

void pmfs_svg_time_axis(struct pm_text *out, const struct pmfs_time_axis *axis)
{
	if (!(axis->end_ns > axis->begin_ns))
		return;
	double step = tick_step(axis->end_ns - axis->begin_ns);
	double first = ceil(axis->begin_ns / step);
	const struct pmfs_unit *unit =
		pmfs_unit_of_time(fmax(fabs(axis->begin_ns), fabs(axis->end_ns)));
	for (int i = 0; i <= MAX_TICKS && (first + i) * step <= axis->end_ns; i++)
		draw_tick(out, axis, (first + i) * step + 0.0, unit, step);
}
