/* Costs and shares in readable form, for pictures; tables have the exact numbers. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_AMOUNTS_H
#define PROFMOUNT_FS_VIEWS_MODEL_AMOUNTS_H

#include "formats/common/text.h"

/* Four digits and a suitable unit for times and bytes (12.34 ms); 1,234,567 cycles for counts. */
void pmfs_print_amount(struct pm_text *out, double value, struct pm_bytes unit);

/* 12.34 ms, for a time in ns. */
void pmfs_print_ns(struct pm_text *out, double ns);

/* A unit and its size, in ns for times. */
struct pmfs_unit {
	double size;
	const char *name;
};

/* The largest of s, ms, µs and ns that is not larger than the time; ns for less than 1 ns. */
const struct pmfs_unit *pmfs_unit_of_time(double ns);

/* 45.6%, 0.12%, ≈0% if less than 0.005%; 0% if the whole is 0. */
void pmfs_print_share(struct pm_text *out, double part, double whole);

/* 1,234,567 */
void pmfs_print_count(struct pm_text *out, uint64_t count);

#endif
