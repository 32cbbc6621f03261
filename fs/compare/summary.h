/* summary.txt of a comparison: one screen of what changed. */
#ifndef PROFMOUNT_FS_COMPARE_SUMMARY_H
#define PROFMOUNT_FS_COMPARE_SUMMARY_H

#include "fs/compare/join.h"

/*
 * summary.txt, and functions.txt, a hundred of its functions. As pm_doc.text.render;
 * doc->text.self is the comparison.
 */
int pmfs_compare_summary_render(
	const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

int pmfs_compare_functions_render(
	const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

#endif
