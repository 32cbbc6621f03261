/* Costs and shares in readable form, for pictures; tables have the exact numbers. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_AMOUNTS_H
#define PROFMOUNT_FS_VIEWS_MODEL_AMOUNTS_H

#include <math.h>

#include "formats/common/text.h"

/*
 * The one way in which texts and pictures write an amount: four digits and a suitable unit for
 * times and bytes (12.34 ms), counts exact below 100,000 and with three digits above it (13.2 G),
 * followed by the unit if it is another one. The unit is chosen after rounding: 1.000 s, never
 * 1000 ms. Less than half a thousandth of a ns or byte is 0.
 */
void pmfs_print_amount(struct pm_text *out, double value, struct pm_bytes unit);

/* 12.34 ms, for a time in ns. */
void pmfs_print_ns(struct pm_text *out, double ns);

/*
 * Whether a part of the whole is a cost. What is smaller is a rest of adding and subtracting, or
 * of another sum, and is shown nowhere; also true if there is no whole.
 */
static inline bool pmfs_is_cost(double part, double whole)
{
	return part != 0 && !(fabs(part) < fabs(whole) * 0x1p-40);
}

/* A unit and its size, in ns for times. */
struct pmfs_unit {
	double size;
	const char *name;
};

/* The unit in which pmfs_print_ns shows a time. */
const struct pmfs_unit *pmfs_unit_of_time(double ns);

/* 45.6%, 0.12%, ≈0% if less than 0.005%; 0% if the whole is 0. */
void pmfs_print_share(struct pm_text *out, double part, double whole);

/* 1,234,567 */
void pmfs_print_count(struct pm_text *out, uint64_t count);

#endif
