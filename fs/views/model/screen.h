/* Numbers and names in readable texts: rounded, with units, limited to a width. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_SCREEN_H
#define PROFMOUNT_FS_VIEWS_MODEL_SCREEN_H

#include <math.h>

#include "formats/common/text.h"
#include "fs/views/model/model.h"

enum { PMFS_SCREEN_WIDTH = 100 };

/*
 * The text on one line with at most `width` characters. A longer text has `…` in the middle,
 * because names differ at their ends as often as at their beginnings.
 */
void pmfs_add_cut(struct pm_text *out, struct pm_bytes text, unsigned width);

/*
 * The name without return type and arguments, but with what tells it from other functions that a
 * compiler made of the same one: `f [clone .isra.0]`.
 */
void pmfs_add_bare(struct pm_text *out, struct pm_bytes name);

/* The same, cut as by pmfs_add_cut. */
void pmfs_add_bare_cut(struct pm_text *out, struct pm_bytes name, unsigned width);

/*
 * Name i of a list, at most `width` characters, so that it differs from the others if it does so in
 * full: a name that does not fit loses its return type and arguments first, then its middle, and
 * where others look the same then, what they have in common.
 */
void pmfs_add_told_apart(
	struct pm_text *out, const struct pm_bytes *names, uint32_t n, uint32_t i, unsigned width);

/* The same as pmfs_add_cut, padded with blanks. */
void pmfs_add_cut_padded(struct pm_text *out, struct pm_bytes text, unsigned width);

/* The same, right-aligned. */
void pmfs_add_right(struct pm_text *out, struct pm_bytes text, unsigned width);

/* pmfs_print_amount of a column's value, right-aligned in PMFS_AMOUNT_WIDTH; blank for NaN. */
enum { PMFS_AMOUNT_WIDTH = 14 };
void pmfs_add_amount(struct pm_text *out, const struct pmfs_column *column, double value);

/*
 * As pmfs_print_tenths, right-aligned in 6 columns (-100.0% has 7), and >999%, <-999% beyond these;
 * blank if the whole is 0.
 */
void pmfs_add_share(struct pm_text *out, double part, double whole);

/* `FILE:LINE` on one line, as far as known. */
void pmfs_add_place(struct pm_text *out, struct pm_bytes file, uint32_t line);

/* `KEY: VALUE` as a line; nothing if the value is empty. */
void pmfs_add_fact(struct pm_text *out, const char *key, struct pm_bytes value);

/* The name of a frame on one line. `scratch` is emptied; its owner frees it. */
void pmfs_add_name(struct pm_text *out, const struct pm_tree *tree, const struct pm_frame *frame,
	struct pm_text *scratch);

/* A step of a call path as a line: the name of its frame, a tab, FILE:LINE. */
void pmfs_add_stop(
	struct pm_text *out, const struct pm_tree *tree, uint32_t context, struct pm_text *scratch);

/* ---- amounts, shares and counts, for texts and pictures; tables have the exact numbers ---- */

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

/* The same, but with one digit behind the point from 0.05% on: 50.0%. */
void pmfs_print_tenths(struct pm_text *out, double part, double whole);

/* 1,234,567 */
void pmfs_print_count(struct pm_text *out, uint64_t count);

#endif
